// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/taps.h"

#include <map>

#include "compiler/schedule/matrix_op.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kIoAlign = 64;

}  // namespace

DeviceGraph MakeTapGraph(DeviceGraph* graph, std::vector<uint32_t>* owners) {
  DeviceGraph taps;
  std::map<int, int> storages;
  // The value in `taps` that stands for `value`, in region 2.
  auto external = [&](int value, bool result) {
    const int from = graph->values[value].storage;
    auto [it, fresh] = storages.try_emplace(from, -1);
    if (fresh) {
      Storage& s = graph->storages[from];
      if (!s.dram_dense() && s.tap_offset < 0) {
        s.tap_offset = graph->io_bytes;
        const Extent& e = s.extent;
        const uint64_t bytes = e.n * e.c * e.h * e.w * ElementBytes(s.type);
        graph->io_bytes += (bytes + kIoAlign - 1) / kIoAlign * kIoAlign;
      }
      Storage copy;
      copy.name = s.name;
      copy.layout = s.layout;
      copy.type = s.type;
      copy.extent = s.extent;
      copy.region = s.dram_dense() ? s.region : kIoRegion;
      copy.dram_offset = s.dram_dense() ? s.dram_offset : s.tap_offset;
      copy.constant = s.constant;
      (result ? copy.is_output : copy.is_input) = true;
      it->second = taps.storages.size();
      taps.storages.push_back(copy);
    }
    Value v = graph->values[value];
    v.storage = it->second;
    taps.values.push_back(v);
    return static_cast<int>(taps.values.size()) - 1;
  };
  for (size_t i = 0; i < graph->ops.size(); ++i) {
    MatrixOp* op = graph->ops[i]->AsMatrix();
    if (op == nullptr) continue;
    for (size_t count = 0; count < op->stages().size(); ++count) {
      auto prefix = op->Prefix(count);
      if (graph->StorageOf(prefix->output).tap_offset < 0) continue;
      for (OpInput& in : prefix->inputs) in.value = external(in.value, false);
      prefix->output = external(prefix->output, true);
      prefix->macs = 0;  // not of the model
      taps.ops.push_back(std::move(prefix));
      owners->push_back(static_cast<uint32_t>(i));
    }
  }
  return taps;
}

}  // namespace heddle::compiler
