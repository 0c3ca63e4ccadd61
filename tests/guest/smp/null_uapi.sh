#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# null_uapi.sh PROGRAM: the cases of the user interface that need nobody who computes: all but those of
# needs_engine.txt.
without="$(sed '/^#/d' tests/guest/smp/needs_engine.txt | tr '\n' ':')"
exec "$1" "--gtest_filter=-$without"
