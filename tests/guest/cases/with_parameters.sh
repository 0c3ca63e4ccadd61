#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Loads the driver anew with parameters, and goes on with a program:
#   with_parameters.sh MODULE "PARAMETERS" PROGRAM [ARGUMENTS]
. tests/guest/cases/common.sh
module="$1" parameters="$2"
shift 2
until_true 10 rmmod heddle 2>/dev/null || fail "the driver stays"
# shellcheck disable=SC2086  # parameters is a list
insmod "$module" $parameters
until_true 5 node_count "$(cards | wc -l)" || fail "a card is missing"
exec "$@"
