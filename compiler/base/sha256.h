// SPDX-License-Identifier: Apache-2.0
// SHA-256 in pieces (libcrypto).
#ifndef HEDDLE_COMPILER_BASE_SHA256_H_
#define HEDDLE_COMPILER_BASE_SHA256_H_

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>

#include "absl/strings/string_view.h"

namespace heddle::compiler {

using Sha256Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    // Without memory, and for no other reason.
    if (context_ == nullptr ||
        EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
      throw std::bad_alloc();
    }
  }
  void Update(absl::string_view bytes) {
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }
  // Once.
  Sha256Digest Finish() {
    Sha256Digest digest{};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return digest;
  }

 private:
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_SHA256_H_
