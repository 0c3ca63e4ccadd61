// SPDX-License-Identifier: Apache-2.0
// Bytes in a folder, found again by a key of 32 bytes: what the compiler has
// made, for the next process. The folder is bounded: what was used least
// recently goes. Any number of processes may use it at once, without locks: an
// entry is written under another name, and gets its own when it is complete and
// on the disk.
//
// An entry is a file of that name:
//   0    8 bytes   magic "HEDDLECE"
//   8    u32       format version, 1
//   12   u32       reserved, zero
//   16   u64       file size
//   24   32 bytes  key
//   56   32 bytes  SHA-256 of the file with these 32 bytes zero
//   88   the bytes
// Untrusted: every one of these is compared before anybody sees the bytes, and
// what does not agree is removed. The checksum is against accidents, not
// against who may write to the folder: so it must belong to the user, and
// nobody else may write there.
#ifndef HEDDLE_COMPILER_CACHE_FILE_CACHE_H_
#define HEDDLE_COMPILER_CACHE_FILE_CACHE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/sha256.h"

namespace heddle::compiler {

using CacheKey = Sha256Digest;

// The bytes of an entry's file, and those in it: DataLoss, with what is wrong,
// if the file is not the whole entry of that key.
std::string PackCacheEntry(const CacheKey& key, absl::string_view bytes);
absl::StatusOr<absl::string_view> UnpackCacheEntry(const CacheKey& key,
                                                   absl::string_view file);

class FileCache {
 public:
  static constexpr uint64_t kDefaultMostBytes = uint64_t{2} << 30;

  // Makes the folder, and those above it, if it is not there. InvalidArgument:
  // it cannot be made, is no folder, or somebody else may write to it.
  static absl::StatusOr<FileCache> Open(
      const std::string& folder, uint64_t most_bytes = kDefaultMostBytes);

  const std::string& folder() const { return folder_; }

  // NotFound: there is no such entry. DataLoss: there was one, damaged, which
  // is removed if the folder can be written. Others: it cannot be read.
  absl::StatusOr<std::string> Find(const CacheKey& key) const;

  // Keeps the bytes, and removes other entries if they are too many. After an
  // error (no room, a folder that cannot be written) nothing is left behind.
  absl::Status Store(const CacheKey& key, absl::string_view bytes) const;

 private:
  FileCache(std::string folder, uint64_t most_bytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}
  std::string PathOf(const CacheKey& key) const;
  // Makes room for so many more bytes.
  void Evict(uint64_t room) const;

  std::string folder_;
  uint64_t most_bytes_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_CACHE_FILE_CACHE_H_
