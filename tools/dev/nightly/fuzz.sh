#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libFuzzer with AddressSanitizer and UBSan on everything that reads untrusted
# files: the importer, the package loader. Seconds
# for each target: $1 (60). A crash file goes to tests/crashers/<target>/.
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
for target in compiler/import:import_fuzz compiler/package:package_fuzz; do
  name=${target#*:}
  kind=${name%_fuzz}
  mkdir -p "$corpus/$kind"
  cp tests/crashers/"$kind"/* tools/demo/digits/*.onnx "$corpus/$kind/" 2>/dev/null || true
  bazel build --config=fuzz "//${target}_libfuzzer"
  "$(bazel info --config=fuzz bazel-bin)/${target%:*}/${name}_libfuzzer" \
    -max_total_time="$seconds" -artifact_prefix="$kind-" "$corpus/$kind" || status=1
done
exit $status
