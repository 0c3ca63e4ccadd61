// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fold_pad.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMaxPad = 65535;  // as Conv's constraint

bool IsPositiveZero(const TensorData& data) {
  return data.count() == 1 && std::all_of(data.bytes.begin(), data.bytes.end(),
                                          [](uint8_t b) { return b == 0; });
}

// Pads of spatial dimensions, begins then ends, or nothing.
std::optional<std::vector<int64_t>> ZeroPads(const Rewriter& r,
                                             const Node& node) {
  if (node.StringAttribute("mode", "constant") != "constant") {
    return std::nullopt;
  }
  std::vector<int64_t> pads;
  if (node.inputs.size() == 1) {
    const float value = node.FloatAttribute("value", 0);
    if (value != 0 || std::signbit(value)) return std::nullopt;
    pads = node.IntsAttribute("pads", node.IntsAttribute("paddings", {}));
  } else {
    if (node.inputs.size() > 3) return std::nullopt;  // axes
    const TensorId id = node.inputs[1];
    if (id == kNoTensor || !r.tensor(id).is_constant() ||
        r.tensor(id).type != DataType::kInt64) {
      return std::nullopt;
    }
    if (const TensorId value = node.input(2); value != kNoTensor) {
      if (!r.tensor(value).is_constant() ||
          !IsPositiveZero(*r.tensor(value).constant)) {
        return std::nullopt;
      }
    }
    const TensorData& data = *r.tensor(id).constant;
    pads.assign(data.as<int64_t>(), data.as<int64_t>() + data.count());
  }
  const size_t rank = r.tensor(node.inputs[0]).shape.size();
  if (rank < 3 || pads.size() != 2 * rank) return std::nullopt;
  std::vector<int64_t> spatial;
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || pads[i] > kMaxPad) return std::nullopt;
    if (i % rank >= 2) {
      spatial.push_back(pads[i]);
    } else if (pads[i] != 0) {
      return std::nullopt;
    }
  }
  return spatial;
}

void Fold(Rewriter* r, int n) {
  Node conv = r->node(n);
  const int p = r->Producer(conv.inputs[0]);
  if (!r->IsOp(p, "Pad") || !r->OnlyUse(conv.inputs[0]) ||
      std::count(conv.inputs.begin(), conv.inputs.end(), conv.inputs[0]) > 1) {
    return;
  }
  const std::string mode = conv.StringAttribute("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID") return;
  auto pads = ZeroPads(*r, r->node(p));
  if (!pads) return;
  if (mode == "NOTSET") {
    const std::vector<int64_t> own =
        conv.IntsAttribute("pads", std::vector<int64_t>(pads->size(), 0));
    if (own.size() != pads->size()) return;
    for (size_t i = 0; i < own.size(); ++i) {
      (*pads)[i] += own[i];
      if ((*pads)[i] > kMaxPad) return;
    }
  }
  conv.attributes.erase("auto_pad");
  conv.attributes["pads"] = *pads;
  conv.inputs[0] = r->node(p).inputs[0];
  const std::vector<std::string> sources = r->node(p).sources;
  conv.sources.insert(conv.sources.begin(), sources.begin(), sources.end());
  r->Remove(n);
  r->Remove(p);
  r->Add(std::move(conv));
}

}  // namespace

absl::Status FoldPad(Graph* graph) {
  Rewriter rewriter(graph);
  const int count = rewriter.size();
  for (int n = 0; n < count; ++n) {
    if (rewriter.alive(n) && rewriter.IsOp(n, "Conv")) Fold(&rewriter, n);
  }
  return rewriter.Finish();
}

}  // namespace heddle::compiler
