#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# version_header.sh VERSION: heddle/version.h, for C, C++ and the preprocessor alone, on standard output. All programs
# and libraries include it, so what they cannot run on is refused there.
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

/* Packages, commands and what drivers and cards exchange are little-endian words, and models are mapped as a whole. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Heddle needs a little-endian processor, such as amd64 or arm64; this one is big-endian"
#endif
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ != 8
#error "Heddle needs a 64-bit processor, such as amd64 or arm64; this one is a 32-bit one"
#endif

#define HEDDLE_VERSION "$version"
#define HEDDLE_VERSION_MAJOR $major
#define HEDDLE_VERSION_MINOR $minor
#define HEDDLE_VERSION_PATCH $patch

#endif
END
