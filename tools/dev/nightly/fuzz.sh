#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libFuzzer with AddressSanitizer and UBSan on everything that reads untrusted
# files or messages: the importer, the package loader with its host segments, reports
# of packages, packages of several shapes, entries of the compile cache, timing records; both ends
# of heddle-hosted's protocol, the daemon with a client, the daemon with a card; the
# card with a host, over vfio-user and vhost-user. Seconds for each target: $1
# (60). A crash file goes to tests/crashers/<target>/.
set -eu
cd "$(dirname "$0")/../../.."
seconds=${1:-60}
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
# A valid package to start from; the others start from the checked-in seeds.
bazel build //tools/heddle-compile
mkdir "$corpus/package"
"$(bazel info bazel-bin)/tools/heddle-compile/heddle-compile" \
  tools/demo/digits/digits_int8.onnx -o "$corpus/package/digits.hpk"
status=0
for name in protocol hosted device vfio vhost timing_record shape_set package_report; do
  mkdir -p "$corpus/$name"
done
cp kmd/hosted/fuzz_seeds/call_* "$corpus/protocol/"
cp kmd/hosted/fuzz_seeds/[gjo]* "$corpus/hosted/"
cp kmd/hosted/fuzz_seeds/card* "$corpus/device/"
cp simulator/platform/fuzz_seeds/vfio_* "$corpus/vfio/"
cp simulator/platform/fuzz_seeds/vhost_* "$corpus/vhost/"
cp tools/heddle-timing/fuzz_seeds/* "$corpus/timing_record/"
cp compiler/package/fuzz_seeds/* "$corpus/package/"
cp compiler/package/shape_set_seeds/* "$corpus/shape_set/"
cp "$corpus"/package/* "$corpus"/shape_set/* compiler/report/fuzz_seeds/* "$corpus/package_report/"
for target in compiler/import:import_fuzz compiler/package:package_fuzz \
  compiler/package:shape_set_fuzz compiler/report:package_report_fuzz compiler/cache:file_cache_fuzz \
  kmd/hosted:protocol_fuzz kmd/hosted:hosted_fuzz kmd/hosted:device_fuzz \
  simulator/platform:vfio_user_fuzz simulator/platform:vhost_user_fuzz \
  tools/heddle-timing:timing_record_fuzz; do
  name=${target#*:}
  kind=${name%_fuzz}
  kind=${kind%_user}
  mkdir -p "$corpus/$kind"
  cp tests/crashers/"$kind"/* tools/demo/digits/*.onnx "$corpus/$kind/" 2>/dev/null || true
  bazel build --config=fuzz "//${target}_libfuzzer"
  "$(bazel info --config=fuzz bazel-bin)/${target%:*}/${name}_libfuzzer" \
    -max_total_time="$seconds" -artifact_prefix="$kind-" "$corpus/$kind" || status=1
done
exit $status
