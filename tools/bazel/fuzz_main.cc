// SPDX-License-Identifier: Apache-2.0
// Runs a libFuzzer target without libFuzzer: the empty input, every seed, and
// deterministic mutations of each seed (bit flips, overwritten bytes, cuts,
// insertions, copies of a part to another place).
//
// Arguments: number of mutations per seed, then seed files.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()),
                         bytes.size());
}

std::string Mutate(std::string bytes, std::mt19937* random) {
  static constexpr unsigned char kInteresting[] = {0,    1,    0x7f, 0x80,
                                                   0xff, 0xfe, 0x10, 0x40};
  const int changes = 1 + static_cast<int>((*random)() % 8);
  for (int i = 0; i < changes; ++i) {
    const size_t at = bytes.empty() ? 0 : (*random)() % bytes.size();
    switch ((*random)() % 6) {
      case 0:
        if (!bytes.empty())
          bytes[at] ^= static_cast<char>(1 << (*random)() % 8);
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>((*random)());
        break;
      case 2:
        if (!bytes.empty()) {
          bytes[at] = static_cast<char>(kInteresting[(*random)() % 8]);
        }
        break;
      case 3:
        bytes.insert(at, 1 + (*random)() % 4,
                     static_cast<char>(kInteresting[(*random)() % 8]));
        break;
      case 4:
        bytes.erase(at, 1 + (*random)() % 16);
        break;
      case 5: {
        const std::string part = bytes.substr(at, 1 + (*random)() % 32);
        bytes.insert(bytes.empty() ? 0 : (*random)() % bytes.size(), part);
        break;
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const int mutations = argc > 1 ? std::atoi(argv[1]) : 0;
  Run("");
  std::mt19937 random(1);
  for (int i = 0; i < mutations; ++i)
    Run(Mutate(std::string(64, '\0'), &random));
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read seed %s\n", argv[i]);
      return 1;
    }
    const std::string seed((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    Run(seed);
    for (int n = 0; n < mutations; ++n) Run(Mutate(seed, &random));
  }
  std::printf("%d seeds, %d mutations of each\n", argc - 2, mutations);
  return 0;
}
