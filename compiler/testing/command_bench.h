// SPDX-License-Identifier: Apache-2.0
// For tests: commands under construction and a core to run them on. Regions 0
// to 2 are the same writable device memory.
#ifndef HEDDLE_COMPILER_TESTING_COMMAND_BENCH_H_
#define HEDDLE_COMPILER_TESTING_COMMAND_BENCH_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "compiler/schedule/device_graph.h"
#include "simulator/model/model.h"

namespace heddle::compiler {

class CommandBench {
 public:
  explicit CommandBench(const isa::Config& config = isa::kH256,
                        size_t dram_bytes = 1 << 20)
      : sram(config.sram_bytes),
        dram(dram_bytes),
        config_(config),
        stream_(config) {
    emitter_.config = &config_;
    emitter_.stream = &stream_;
    emitter_.program_address = &programs_;
  }
  CommandBench(const CommandBench&) = delete;

  Emitter* emitter() { return &emitter_; }
  StreamBuilder& stream() { return stream_; }
  // Puts a microprogram at `address`.
  void Load(const Microprogram& program, uint32_t address) {
    const std::vector<uint8_t> bytes = program.Bytes();
    std::memcpy(&sram[address], bytes.data(), bytes.size());
    programs_[bytes] = address;
  }
  template <typename T>
  void Put(uint32_t address, const std::vector<T>& values) {
    std::memcpy(&sram[address], values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> Get(uint32_t address, size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), &sram[address], count * sizeof(T));
    return values;
  }
  // Executes everything appended; "" or the error.
  std::string Run() {
    auto encoded = stream_.Finish();
    if (!encoded.ok()) return std::string(encoded.status().message());
    model::FlatMemory memory(dram.data(), dram.size());
    model::Model model(config_, &memory, {});
    std::memcpy(model.sram(), sram.data(), sram.size());
    model::RegionTable regions = {};
    for (int i = 0; i < 3; ++i) regions[i] = {0, dram.size(), true};
    const model::RunResult result =
        model.Run(encoded->words.data(), encoded->words.size() * 4, regions);
    std::memcpy(sram.data(), model.sram(), sram.size());
    if (result.status == isa::Error::kOk) return "";
    return "fault " + std::to_string(static_cast<int>(result.status)) + " at " +
           std::to_string(result.fault_offset);
  }

  std::vector<uint8_t> sram, dram;

 private:
  isa::Config config_;
  StreamBuilder stream_;
  Emitter emitter_;
  std::map<std::vector<uint8_t>, uint32_t> programs_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_COMMAND_BENCH_H_
