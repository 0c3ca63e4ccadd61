#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line of heddle-asm: help, both directions, both file forms, exit statuses.
set -eu
asm=$1
tmp=$(mktemp -d "${TEST_TMPDIR:-/tmp}/asm.XXXXXX")
fail() { echo "FAILED: $*" >&2; exit 1; }

[ "$("$asm" --help | head -n 1)" = "Example:" ] || fail "--help starts with an example"

cat >"$tmp/a.s" <<'TEXT'
load region=2 n0=16 s0=1 t0=1 signal0_enable=true signal0_sem=3 signal0_count=1
    signal0_point=output_visible   # for the next one
conv wait0_enable=1 wait0_sem=3, wait0_count=1 res_a=0.1
end
TEXT
"$asm" "$tmp/a.s" -o "$tmp/a.bin"
"$asm" -d "$tmp/a.bin" -o "$tmp/b.s"
"$asm" "$tmp/b.s" -o "$tmp/b.bin"
cmp "$tmp/a.bin" "$tmp/b.bin" || fail "text and words differ after a round trip"
"$asm" -d "$tmp/b.bin" | cmp - "$tmp/b.s" || fail "disassembly is not canonical"
grep -q 'res_a=0.1$' "$tmp/b.s" || fail "floats are written in their shortest form"

"$asm" --hex <"$tmp/a.s" | "$asm" -d --hex | cmp - "$tmp/b.s" || fail "hexadecimal form"
printf 'mov v0, imm, imm=0x40000000\nfmul out, stream_a, v0\n' >"$tmp/m.s"
"$asm" --micro "$tmp/m.s" | "$asm" --micro -d | cmp - "$tmp/m.s" || fail "microprogram"

head -c 6 "$tmp/a.bin" >"$tmp/cut.bin"
"$asm" -d "$tmp/cut.bin" 2>"$tmp/err" && fail "half a word is accepted"
grep -q 'multiple of 4' "$tmp/err" || fail "message for half a word"
echo "load x=1" | "$asm" -o "$tmp/no" 2>"$tmp/err" && fail "an error exits with 0"
grep -q '^heddle-asm: error: <stdin>:1:6: ' "$tmp/err" || fail "position of the error"
[ ! -e "$tmp/no" ] || fail "an output is written in spite of an error"
"$asm" --hx 2>"$tmp/near" && fail "an unknown option is accepted"
status=0; "$asm" --nonsense >/dev/null 2>&1 || status=$?
[ $status = 2 ] || fail "wrong usage exits with $status"
grep -q 'did you mean --hex?' "$tmp/near" || fail "nearest option"
echo ok
