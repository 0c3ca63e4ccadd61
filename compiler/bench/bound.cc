// SPDX-License-Identifier: Apache-2.0
#include "compiler/bench/bound.h"

#include <algorithm>
#include <map>
#include <string>

namespace heddle::compiler {

double LayerBound(const CompileReport& report, const package::Package& package,
                  const isa::Config& config) {
  std::map<std::string, uint64_t> inputs, outputs;
  for (const package::TensorInfo& t : package.inputs) inputs[t.name] = t.size;
  for (const package::TensorInfo& t : package.outputs) outputs[t.name] = t.size;
  // Each moves once, however many layers read it.
  const auto take = [](std::map<std::string, uint64_t>* tensors,
                       const std::string& name) {
    const auto it = tensors->find(name);
    if (it == tensors->end()) return uint64_t{0};
    const uint64_t bytes = it->second;
    tensors->erase(it);
    return bytes;
  };
  double sum = 0;
  for (const LayerReport& layer : report.layers) {
    const bool matrix = layer.engine == "matrix";
    const double rate =
        matrix ? config.lanes_in * config.lanes_out : double{isa::kVectorLanes};
    uint64_t bytes = layer.constant_bytes + take(&outputs, layer.output.tensor);
    for (const OperandReport& input : layer.inputs) {
      bytes += take(&inputs, input.tensor);
    }
    double cycles =
        std::max(static_cast<double>(layer.macs) / rate,
                 static_cast<double>(bytes) / config.dram_bytes_per_cycle);
    if (!matrix) {
      cycles = std::max(
          cycles, static_cast<double>(ElementCount(layer.output_shape)) / rate);
    }
    sum += cycles;
  }
  return sum;
}

}  // namespace heddle::compiler
