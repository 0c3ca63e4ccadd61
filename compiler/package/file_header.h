// SPDX-License-Identifier: Apache-2.0
// The header of package files, of one shape (package.h) and of several
// (shape_set.h), which differ in their magic and versions:
//
//   0  8 bytes  magic
//   8  u32      format version
//   12 u32      metadata size, of what follows the header
//   16 u64      file size
//   24 u64      reserved, zero
//   32 32 bytes SHA-256 of the file with these 32 bytes zero
#ifndef HEDDLE_COMPILER_PACKAGE_FILE_HEADER_H_
#define HEDDLE_COMPILER_PACKAGE_FILE_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "flatbuffers/flatbuffers.h"

namespace heddle::package {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kMagicBytes = 8;
constexpr char kShapeSetMagic[] = "HEDDLEPS";

bool HasMagic(absl::string_view file, absl::string_view magic);
// Of a file that is as long as a header.
uint32_t VersionIn(absl::string_view file);
uint32_t MetadataSizeIn(absl::string_view file);

// What is wrong with the sizes, the reserved field or the checksum of a file
// that is as long as a header, as a clause; "" if nothing is.
std::string WhatIsWrongWithHeader(absl::string_view file);

// Into the first bytes of a complete file.
void WriteHeader(absl::string_view magic, uint32_t version,
                 uint32_t metadata_size, std::string* file);

// The verifier compares the alignment of a vector's length, not that of its
// elements: int64 in a shape may lie anywhere.
inline bool IsAligned(const flatbuffers::Vector<int64_t>* numbers) {
  return numbers == nullptr ||
         reinterpret_cast<uintptr_t>(numbers->Data()) % alignof(int64_t) == 0;
}

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_FILE_HEADER_H_
