#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# version_header.sh VERSION: heddle/version.h, for C, C++ and the preprocessor alone, on standard output.
set -eu
read -r version <"$1"
IFS=. read -r major minor patch <<END
$version
END
cat <<END
/* SPDX-License-Identifier: Apache-2.0
 * The release that these headers belong to. Generated from VERSION, do not edit. */
#ifndef HEDDLE_VERSION_H_
#define HEDDLE_VERSION_H_

#define HEDDLE_VERSION "$version"
#define HEDDLE_VERSION_MAJOR $major
#define HEDDLE_VERSION_MINOR $minor
#define HEDDLE_VERSION_PATCH $patch

#endif
END
