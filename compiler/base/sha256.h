// SPDX-License-Identifier: Apache-2.0
// Incremental SHA-256 (Nettle, which neither allocates nor fails).
#ifndef HEDDLE_COMPILER_BASE_SHA256_H_
#define HEDDLE_COMPILER_BASE_SHA256_H_

#include <nettle/sha2.h>

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace heddle::compiler {

using Sha256Digest = std::array<uint8_t, SHA256_DIGEST_SIZE>;

class Sha256 {
 public:
  Sha256() { sha256_init(&context_); }
  void Update(absl::string_view bytes) {
    sha256_update(&context_, bytes.size(),
                  reinterpret_cast<const uint8_t*>(bytes.data()));
  }
  // What was added since the last digest.
  Sha256Digest Finish() {
    Sha256Digest digest{};
    sha256_digest(&context_, digest.size(), digest.data());
    return digest;
  }

 private:
  sha256_ctx context_;
};

// The 32 bytes of the digest of all of `bytes`.
inline std::string Sha256Of(absl::string_view bytes) {
  Sha256 sha256;
  sha256.Update(bytes);
  const Sha256Digest digest = sha256.Finish();
  return std::string(digest.begin(), digest.end());
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_SHA256_H_
