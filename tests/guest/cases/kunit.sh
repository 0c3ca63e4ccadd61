#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Loads a module of KUnit suites and reports each of their cases in GoogleTest's form:
#   kunit.sh MODULE           GTEST_OUTPUT=xml:FILE says where the report goes
#   kunit.sh MODULE must_fail the cases of suite heddle_must_fail, and no others, fail and say why
set -eu
module=$1 mode=${2:-}
results=/sys/kernel/debug/kunit
report=${GTEST_OUTPUT:-xml:/dev/null}
report=${report#xml:}

fail() {
  echo "FAILED: $*"
  exit 1
}

if [ ! -s "$module" ]; then
  echo "SKIPPED: CONFIG_KUNIT is off in $(uname -r)"
  echo '<testsuites><testcase classname="kunit" name="all"><skipped message="CONFIG_KUNIT is off"/></testcase></testsuites>' >"$report"
  exit 0
fi
insmod "$module" ${mode:+must_fail=1}
trap 'rmmod heddle_kunit' EXIT

for suite in "$results"/heddle_*; do
  echo "suite ${suite##*/}"
  cat "$suite/results"
done >/tmp/ktap
cat /tmp/ktap
[ "$(grep -c '^suite ' /tmp/ktap)" = 11 ] || fail "there are not 11 suites"

if [ "$mode" = must_fail ]; then
  awk '
    /^suite / { suite = $2 }
    / not ok [0-9]+ run(_must_fail)?$/ || /^not ok/ { next }
    / not ok / { if (suite != "heddle_must_fail") others = others " " $0; else failed++ }
    / ok / && suite == "heddle_must_fail" { passed++ }
    END { if (failed != 4 || passed != 4 || others) { print failed, passed, others; exit 1 } }
  ' /tmp/ktap || fail "not the four cases failed that must"
  for wanted in 'heddle_must_fail_cases.c:[0-9]*: 7 == -EINVAL' 'left: 7 (0x7)' \
    'right: -22 (0xffffffffffffffea)' 'row: third of three, 2'; do
    grep -q "$wanted" /tmp/ktap || fail "missing: $wanted"
  done
  exit 0
fi

awk -v report="$report" '
  function escape(text) {
    gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/"/, "\\&quot;", text)
    gsub(/\n/, "\\&#10;", text)
    return text
  }
  function entry(inner) {
    seen++
    # Nobody asked for those.
    if (suite == "heddle_must_fail" && inner ~ /^<skipped/) return
    print "<testcase classname=\"" suite "\" name=\"" name "\">" inner "</testcase>" >report
  }
  BEGIN { print "<testsuites>" >report }
  /^suite / { suite = $2; text = ""; next }
  # Of the suite, not of a function or a case.
  /^# Totals:/ || /^    # Totals:/ {
    for (i = 1; i <= NF; i++) if ($i ~ /^total:/) { split($i, part, ":"); totals += part[2] }
    next
  }
  / (not )?ok [0-9]+ run(_must_fail)?( # SKIP.*)?$/ || /^ *(not )?ok [0-9]+ heddle_/ { text = ""; next }
  / ok [0-9]+ / {
    match($0, / ok [0-9]+ /)
    name = substr($0, RSTART + RLENGTH)
    if (name ~ / # SKIP/) {
      reason = name; sub(/.* # SKIP */, "", reason); sub(/ # SKIP.*/, "", name)
      entry("<skipped message=\"" escape(reason) "\"/>")
    } else if ($0 ~ /not ok [0-9]+ /) {
      entry("<failure message=\"" escape(text $0) "\"/>"); failures++
    } else entry("")
    text = ""; next
  }
  { text = text $0 "\n" }
  END {
    print "</testsuites>" >report
    print seen + 0, "cases, those that must fail among them,", failures + 0, "failed"
    if (seen != totals || !seen) print "FAILED: KUnit speaks of", totals + 0
    exit failures || seen != totals || !seen
  }
' /tmp/ktap
