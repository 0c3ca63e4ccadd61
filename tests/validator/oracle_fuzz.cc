// SPDX-License-Identifier: Apache-2.0
// libFuzzer on the validator's oracle: the input is a command stream, its first
// byte chooses the configuration.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/validator/oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const heddle::isa::Config configs[] = {heddle::isa::kH256, heddle::isa::kH512,
                                         heddle::isa::kH1024};
  std::vector<uint32_t> words((size - 1) / 4);
  if (!words.empty()) std::memcpy(words.data(), data + 1, words.size() * 4);
  const heddle::validator::Verdict v =
      heddle::validator::Check(configs[data[0] % 3], words, true);
  if (!v.failure.empty()) {
    std::fprintf(stderr, "%s\n", v.failure.c_str());
    std::abort();
  }
  return 0;
}
