// SPDX-License-Identifier: Apache-2.0
//
// Small command streams for tests, encoded with the generated structs.
#ifndef HEDDLE_SIMULATOR_PLATFORM_TEST_STREAM_H_
#define HEDDLE_SIMULATOR_PLATFORM_TEST_STREAM_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::platform {

// Commands put together to a stream; the end command and the padding that makes
// the length a multiple of a word come with Bytes().
class TestStream {
 public:
  template <typename Command>
  TestStream& Add(const Command& command) {
    const size_t at = words_.size();
    words_.resize(at + Command::kWords);
    command.Encode(words_.data() + at);
    return *this;
  }
  // The next command sees all that was written before.
  TestStream& Barrier() { return Add(isa::Barrier()); }
  // Contiguous bytes, a multiple of 16, between region and SRAM.
  TestStream& Load(uint32_t region, uint32_t offset, uint32_t sram,
                   uint32_t bytes) {
    return Add(Move<isa::Load>(region, offset, sram, bytes));
  }
  TestStream& Store(uint32_t region, uint32_t offset, uint32_t sram,
                    uint32_t bytes) {
    return Add(Move<isa::Store>(region, offset, sram, bytes));
  }
  // Runs a microprogram of one instruction at `program` over no streams; the
  // number of executions is 65535 to the power of `loops`.
  TestStream& Spin(uint32_t program, int loops) {
    isa::Vrun run;
    run.prog_addr = program / isa::kWordBytes;
    run.body = 1;
    uint32_t* counts[] = {&run.n_r1, &run.n_r2, &run.n_r3,
                          &run.n_o1, &run.n_o2, &run.n_o3};
    for (int i = 0; i < loops; ++i) *counts[i] = 65535;
    return Add(run);
  }
  size_t bytes() const { return words_.size() * sizeof(uint32_t); }

  std::vector<uint8_t> Bytes(bool end = true) {
    if (end) Add(isa::End());
    std::vector<uint8_t> out(bytes());
    std::memcpy(out.data(), words_.data(), out.size());
    return out;
  }

 private:
  template <typename Command>
  static Command Move(uint32_t region, uint32_t offset, uint32_t sram,
                      uint32_t bytes) {
    Command c;
    c.region = region;
    c.elem_log2 = 4;
    c.dram_offset = offset;
    c.sram_addr = sram;
    c.n0 = bytes / 16;
    c.s0 = 16;
    c.t0 = 16;
    return c;
  }
  std::vector<uint32_t> words_;
};

// The bytes of a microprogram.
inline std::vector<uint8_t> Program(
    const std::vector<isa::MicroInstruction>& code) {
  std::vector<uint8_t> out(code.size() * 8);
  for (size_t i = 0; i < code.size(); ++i) {
    const uint64_t word = code[i].Encode();
    std::memcpy(out.data() + i * 8, &word, sizeof(word));
  }
  out.resize((out.size() + 15) / 16 * 16);
  return out;
}

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_TEST_STREAM_H_
