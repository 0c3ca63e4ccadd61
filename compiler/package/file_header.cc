// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/file_header.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include <cstring>
#include <memory>
#include <new>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

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
  std::string digest(kHashBytes, '\0');
  // What OpenSSL says of a failure would stay in its queue of this thread.
  ERR_set_mark();
  absl::Cleanup drop_errors = [] { ERR_pop_to_mark(); };
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
      EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> sha256(
      EVP_MD_fetch(nullptr, "SHA256", nullptr), &EVP_MD_free);
  if (sha256 == nullptr) {
    // The algorithm is missing, or the memory to find it.
    if (ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE) {
      throw std::bad_alloc();
    }
    return "";
  }
  // Found, it fails for want of memory only.
  if (EVP_DigestInit_ex(context.get(), sha256.get(), nullptr) != 1) {
    throw std::bad_alloc();
  }
  const absl::string_view rest = bytes.substr(kHashAt + kHashBytes);
  if (EVP_DigestUpdate(context.get(), bytes.data(), kHashAt) != 1 ||
      EVP_DigestUpdate(context.get(), kZeros, kHashBytes) != 1 ||
      EVP_DigestUpdate(context.get(), rest.data(), rest.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(),
                         reinterpret_cast<unsigned char*>(&digest[0]),
                         nullptr) != 1) {
    return "";
  }
  return digest;
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

absl::StatusOr<std::string> WhatIsWrongWithHeader(absl::string_view file) {
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
    return std::string("the reserved field is not zero");
  }
  const std::string hash = Hash(file);
  if (hash.empty()) return absl::InternalError("OpenSSL has no SHA-256");
  if (hash != file.substr(kHashAt, kHashBytes)) {
    return std::string("the SHA-256 checksum does not match");
  }
  return std::string();
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
