#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# heddle-run on the card of heddle.ko and on a private one behind heddle-hosted: right, and equal bytes.
. tests/guest/cases/common.sh
model=../shared/models/mnist_tiny_int8
[ -e "$model/model.onnx" ] || {
  echo "SKIPPED: trained models: no folder ../shared beside the repository"
  exit 0
}
# The programs behind a private card.
export HEDDLE_BIN_DIR=simulator/platform:kmd/hosted
for device in drm:serial=1 sim; do
  tools/heddle-run/heddle-run "$model/model.onnx" --device "$device" --data "$model/test_data_set_0" \
    --check --outputs "/tmp/outputs-${device%%:*}" || fail "$device"
done
for file in /tmp/outputs-sim/*; do
  cmp "$file" "/tmp/outputs-drm/$(basename "$file")" || fail "$file differs"
done
[ -s /tmp/outputs-sim/output_0.pb ] || fail "outputs: $(ls /tmp/outputs-sim)"
