#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# refusals.sh PROGRAM: what is refused is told to who asks for DRM's debug messages: field, value and
# limit, then card, client and call. PROGRAM is the suite of the user interface.
. tests/guest/cases/common.sh
echo 2 >/sys/module/drm/parameters/debug
# The log keeps less than the whole suite has to say.
for suite in Bo Context Limits Memory Query Sharing Stream Submit SubmitRegions SubmitSteps SubmitSyncs Wait; do
  "$1" --gtest_filter="${suite}Test.*Refuses*:${suite}Test.*AreTheFilesOwn:${suite}Test.BoundsTheContexts*:${suite}Test.IsRefused*" \
    >/tmp/suite || fail "the refusals themselves: $(grep FAILED /tmp/suite)"
  { echo "begin"; dmesg; } >>/tmp/log
done
echo 0 >/sys/module/drm/parameters/debug
has() { grep -qE -- "$1" /tmp/log || fail "no '$1' in: $(tail -n 10 /tmp/log)"; }
has 'heddle: pad is 1, limit 0$'
has 'heddle: size is 0, limit 1$'
has 'heddle: handle is [0-9]+, limit: those there are$'
has 'heddle: context is [0-9]+, limit: those there are$'
has 'heddle: stream is [0-9]+, limit: those there are$'
has 'heddle: syncobj is [0-9]+, limit: those there are$'
has 'heddle: seqno is [0-9]+, limit [0-9]+$'
has 'heddle: number of contexts is 257, limit 256$'
has 'heddle: cycles that the job may take is [0-9]+, limit [0-9]+$'
has 'heddle: word with reserved bits is [0-9]+, limit [0-9]+$'
has 'heddle: command at byte [0-9]+ of [0-9]+: error [0-9]+$'
has "heddle $(basename "$(card 0)"): .*HEDDLE_QUERY of client [0-9]*: -22\$"
has 'HEDDLE_BO_CREATE of client [0-9]*: -22$'
# No call is refused because of what it asks for (-ETIME, -ENODEV, -ENOMEM are not) without a reason before it.
awk '/^begin$/ { reason = 1 } # anywhere
     /heddle: .*(, limit|: error)/ { reason = 1 }
     /HEDDLE_[A-Z_]* of client [0-9]*: -/ { if (!reason && !/: -(62|19|12)$/) print; reason = 0 }' /tmp/log >/tmp/mute
[ ! -s /tmp/mute ] || fail "refused without a word: $(sort /tmp/mute | sed 's/.*HEDDLE/HEDDLE/' | sort | uniq -c)"
