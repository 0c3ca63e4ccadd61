#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# refusals.sh PROGRAM: what is refused is told to who asks for DRM's debug messages: field, value and
# limit, then card, client and call.
. tests/guest/cases/common.sh
echo 2 >/sys/module/drm/parameters/debug
"$1" --gtest_filter='QueryTest.RefusesPad:SubmitStepsTest.RefusesCopies*:StreamTest.Refuses*:BoTest.RefusesSizeZero' >/dev/null ||
  fail "the refusals themselves"
echo 0 >/sys/module/drm/parameters/debug
dmesg >/tmp/log
has() { grep -q -- "$1" /tmp/log || fail "no '$1' in: $(tail -n 30 /tmp/log)"; }
has 'heddle: pad is 1, limit 0$'
has 'heddle: size is 0, limit 1$'
has "heddle $(basename "$(card 0)"): .*HEDDLE_QUERY of client [0-9]*: -22\$"
has 'HEDDLE_BO_CREATE of client [0-9]*: -22$'
