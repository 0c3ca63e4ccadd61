// SPDX-License-Identifier: Apache-2.0
// State shared by the engines of the functional model: the architectural state
// and the fault that ends a stream.
#ifndef HEDDLE_SIMULATOR_MODEL_CORE_H_
#define HEDDLE_SIMULATOR_MODEL_CORE_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "simulator/model/model.h"

namespace heddle::model {

// Channels of an activation word.
inline constexpr uint32_t kBlock = isa::kWordBytes;

// kOk, or why a command cannot go on. `address` as errors.toml says.
struct Fault {
  isa::Error status = isa::Error::kOk;
  uint32_t region = 0;
  uint64_t address = 0;

  bool ok() const { return status == isa::Error::kOk; }
};

struct Core {
  Core(const isa::Config& config_in, Memory* memory_in,
       const Options& options_in)
      : config(config_in),
        memory(memory_in),
        options(options_in),
        sram(config_in.sram_bytes),
        acc(static_cast<size_t>(config_in.acc_pixels) * config_in.lanes_out) {}

  template <typename T>
  T Get(uint64_t address) const {
    T value;
    std::memcpy(&value, sram.data() + address, sizeof(T));
    return value;
  }
  template <typename T>
  void Set(uint64_t address, T value) {
    std::memcpy(sram.data() + address, &value, sizeof(T));
  }

  isa::Config config;
  Memory* memory;
  Options options;
  std::vector<uint8_t> sram;
  // Entry p, lane k at p * lanes_out + k.
  std::vector<int32_t> acc;
  RegionTable regions = {};
  // Counters and fault fields of the stream that runs.
  RunResult result;
};

// a / b rounded up.
template <typename T>
constexpr T CeilDiv(T a, T b) {
  return (a + b - 1) / b;
}

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_CORE_H_
