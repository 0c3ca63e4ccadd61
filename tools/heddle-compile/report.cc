// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-compile/report.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_format.h"

namespace heddle::compile {
namespace {

using nlohmann::ordered_json;

uint64_t PageUp(uint64_t bytes) {
  return (bytes + package::kPageBytes - 1) / package::kPageBytes *
         package::kPageBytes;
}

ordered_json Tensors(const std::vector<package::TensorInfo>& tensors) {
  ordered_json list = ordered_json::array();
  for (const package::TensorInfo& tensor : tensors) {
    list.push_back({{"name", tensor.name},
                    {"type", compiler::DataTypeName(tensor.type)},
                    {"shape", tensor.shape},
                    {"bytes", tensor.size}});
  }
  return list;
}

}  // namespace

uint64_t DeviceBytes(const package::Package& package) {
  uint64_t sum = PageUp(package.weights.size()) +
                 PageUp(package.scratch_bytes) + PageUp(package.io_bytes);
  for (const auto& stream : package.streams) {
    sum += PageUp(stream.size() * sizeof(uint32_t));
  }
  return sum;
}

std::string TextReport(const package::Package& package,
                       const compiler::CompileReport& report) {
  std::string text;
  absl::StrAppendFormat(&text, "%-40s %-16s %-7s %14s %12s %12s\n", "layer",
                        "operator", "engine", "MACs", "DRAM bytes", "cycles*");
  for (const compiler::LayerReport& layer : report.layers) {
    absl::StrAppendFormat(&text, "%-40s %-16s %-7s %14d %12d %12d\n",
                          layer.name, layer.op, layer.engine, layer.macs,
                          layer.dram_bytes, layer.estimated_cycles);
  }
  absl::StrAppendFormat(
      &text,
      "model             %s for %s\n"
      "MACs              %d\n"
      "weights           %d bytes\n"
      "scratch           %d bytes\n"
      "inputs, outputs   %d bytes\n"
      "command streams   %d bytes, %d commands\n"
      "device memory     %d bytes\n"
      "SRAM peak         %d bytes\n"
      "cycles*           %d\n"
      "utilisation*      %.1f %%\n"
      "* estimated by the compiler, not calibrated\n",
      package.model_name, package.config, report.macs, report.weight_bytes,
      report.scratch_bytes, report.io_bytes, report.stream_bytes,
      report.commands, DeviceBytes(package), report.sram_peak_bytes,
      report.estimated_cycles, 100 * report.estimated_utilisation);
  return text;
}

std::string JsonReport(const package::Package& package,
                       const compiler::CompileReport& report) {
  ordered_json layers = ordered_json::array();
  for (const compiler::LayerReport& layer : report.layers) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"engine", layer.engine},
                      {"shape", layer.output_shape},
                      {"macs", layer.macs},
                      {"dram_bytes", layer.dram_bytes},
                      {"estimated_cycles", layer.estimated_cycles}});
  }
  const ordered_json json = {
      {"schema", "heddle-compile/1"},
      {"model", package.model_name},
      {"config", package.config},
      {"macs", report.macs},
      {"weight_bytes", report.weight_bytes},
      {"scratch_bytes", report.scratch_bytes},
      {"io_bytes", report.io_bytes},
      {"stream_bytes", report.stream_bytes},
      {"device_bytes", DeviceBytes(package)},
      {"commands", report.commands},
      {"sram_peak_bytes", report.sram_peak_bytes},
      {"estimated_cycles", report.estimated_cycles},
      {"estimated_utilisation", report.estimated_utilisation},
      {"inputs", Tensors(package.inputs)},
      {"outputs", Tensors(package.outputs)},
      {"taps", Tensors(package.taps)},
      {"layers", std::move(layers)}};
  // Names are the user's bytes: what is no UTF-8 is replaced.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace heddle::compile
