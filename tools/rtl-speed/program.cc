// SPDX-License-Identifier: Apache-2.0
#include "tools/rtl-speed/program.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace heddle::rtl {
namespace {

uint64_t Align(uint64_t v) {
  return (v + package::kPageBytes - 1) / package::kPageBytes *
         package::kPageBytes;
}

void Fill(const package::TensorInfo& info, std::mt19937* random, uint8_t* to) {
  if (info.type == compiler::DataType::kFloat) {
    for (uint64_t i = 0; i + 4 <= info.size; i += 4) {
      const float value = static_cast<float>((*random)() >> 8) / (1 << 23) - 1;
      std::memcpy(to + i, &value, 4);
    }
    return;
  }
  const uint32_t mask = info.type == compiler::DataType::kBool ? 1 : 255;
  for (uint64_t i = 0; i < info.size; ++i) {
    to[i] = static_cast<uint8_t>((*random)() >> 8 & mask);
  }
}

}  // namespace

Program ProgramOf(const package::Package& package) {
  Program program;
  const uint64_t scratch = Align(package.weights.size());
  const uint64_t io = scratch + Align(package.scratch_bytes);
  uint64_t end = io + Align(package.io_bytes);
  program.memory.resize(end);
  std::copy(package.weights.begin(), package.weights.end(),
            program.memory.begin());
  std::mt19937 random(1);
  for (const package::TensorInfo& info : package.inputs) {
    Fill(info, &random, &program.memory[io + info.offset]);
    program.inputs.push_back({io + info.offset, info.size});
  }
  for (const package::TensorInfo& info : package.outputs) {
    program.outputs.push_back({io + info.offset, info.size});
  }
  program.regions[0] = {0, package.weights.size(), false};
  program.regions[1] = {scratch, package.scratch_bytes, true};
  program.regions[2] = {io, package.io_bytes, true};
  for (const std::vector<uint32_t>& words : package.streams) {
    const uint64_t bytes = words.size() * sizeof(uint32_t);
    program.memory.resize(end + Align(bytes));
    std::memcpy(&program.memory[end], words.data(), bytes);
    program.streams.push_back({end, bytes});
    end = program.memory.size();
  }
  return program;
}

}  // namespace heddle::rtl
