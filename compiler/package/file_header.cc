// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/file_header.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/base/sha256.h"

namespace heddle::package {
namespace {

constexpr size_t kVersionAt = kMagicBytes;
constexpr size_t kMetadataSizeAt = 12;
constexpr size_t kFileSizeAt = 16;
constexpr size_t kReservedAt = 24;
constexpr size_t kHashAt = 32;
constexpr size_t kHashBytes = 32;
// Far above any real package; far below FlatBuffers' own limit of 2 GiB.
constexpr uint32_t kMaxMetadataBytes = 256u << 20;

template <typename T>
T Load(absl::string_view bytes, size_t at) {
  T value;  // the host is little-endian, as is the file
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

template <typename T>
void Store(std::string* bytes, size_t at, T value) {
  std::memcpy(&(*bytes)[at], &value, sizeof(value));
}

// SHA-256 of the file with the hash field taken as zero.
std::string Hash(absl::string_view bytes) {
  static constexpr char kZeros[kHashBytes] = {};
  compiler::Sha256 sha256;
  sha256.Update(bytes.substr(0, kHashAt));
  sha256.Update(absl::string_view(kZeros, kHashBytes));
  sha256.Update(bytes.substr(kHashAt + kHashBytes));
  const compiler::Sha256Digest digest = sha256.Finish();
  return std::string(digest.begin(), digest.end());
}

}  // namespace

bool HasMagic(absl::string_view file, absl::string_view magic) {
  return file.substr(0, kMagicBytes) == magic;
}

uint32_t VersionIn(absl::string_view file) {
  return Load<uint32_t>(file, kVersionAt);
}

uint32_t MetadataSizeIn(absl::string_view file) {
  return Load<uint32_t>(file, kMetadataSizeAt);
}

std::string WhatIsWrongWithHeader(absl::string_view file) {
  const auto size = Load<uint64_t>(file, kFileSizeAt);
  if (size != file.size()) {
    return absl::StrCat("file size is ", file.size(), ", the header says ",
                        size);
  }
  const uint32_t metadata = MetadataSizeIn(file);
  if (metadata > file.size() - kHeaderBytes || metadata > kMaxMetadataBytes) {
    return absl::StrCat("metadata size is ", metadata, " in a file of ",
                        file.size());
  }
  if (Load<uint64_t>(file, kReservedAt) != 0) {
    return "the reserved field is not zero";
  }
  if (Hash(file) != file.substr(kHashAt, kHashBytes)) {
    return "the SHA-256 checksum does not match";
  }
  return "";
}

void WriteHeader(absl::string_view magic, uint32_t version,
                 uint32_t metadata_size, std::string* file) {
  std::memcpy(&(*file)[0], magic.data(), kMagicBytes);
  Store<uint32_t>(file, kVersionAt, version);
  Store<uint32_t>(file, kMetadataSizeAt, metadata_size);
  Store<uint64_t>(file, kFileSizeAt, file->size());
  const std::string hash = Hash(*file);
  file->replace(kHashAt, hash.size(), hash);
}

}  // namespace heddle::package
