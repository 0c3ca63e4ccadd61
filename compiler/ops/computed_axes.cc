// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/computed_axes.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_codes.h"
#include "compiler/ops/computed_moves.h"

namespace heddle::compiler {
namespace {

constexpr size_t kMostAxes = 8;   // of which all sets are tried
constexpr size_t kMostSets = 16;  // that are computed

// Sets of `count` axes, as bits, that lead from `in` to `out`; by what they are
// of dimensions other than 1, which alone make a difference.
std::map<uint32_t, std::vector<uint32_t>> SetsBetween(const Shape& in,
                                                      const Shape& out,
                                                      bool keep,
                                                      int64_t count) {
  std::map<uint32_t, std::vector<uint32_t>> sets;
  for (uint32_t set = 1; set < (uint32_t{1} << in.size()); ++set) {
    Shape shape;
    uint32_t counts = 0;
    int64_t axes = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      if (((set >> i) & 1) == 0) {
        shape.push_back(in[i]);
        continue;
      }
      if (keep) shape.push_back(1);
      if (in[i] != 1) counts |= uint32_t{1} << i;
      ++axes;
    }
    if (shape == out && axes == count) sets[counts].push_back(set);
  }
  return sets;
}

TensorId Number(Expansion* e, int32_t value) {
  TensorData data = TensorData::Zeros(DataType::kInt32, {});
  *data.as<int32_t>() = value;
  return e->Constant(std::move(data));
}

// The sum of 2^axis, of axes that may count from the end.
TensorId SetOf(Expansion* e, TensorId axes, size_t rank) {
  TensorData bits =
      TensorData::Zeros(DataType::kInt32, {static_cast<int64_t>(rank)});
  for (size_t i = 0; i < rank; ++i) bits.as<int32_t>()[i] = 1 << i;
  const TensorId named = e->Add("Gather", {e->Constant(std::move(bits)), axes});
  return e->Add("ReduceSum", {named}, {{"keepdims", int64_t{0}}});
}

}  // namespace

bool HasComputedAxes(const Graph& graph, const Node& node) {
  return AnyComputed(graph, node, {1});
}

absl::Status ExpandComputedAxes(Expansion* e) {
  const Node& node = e->node();
  const Shape in = e->T(e->In(0)).shape, list = e->T(e->In(1)).shape;
  const Shape* declared = e->DeclaredShape(0);
  if (declared == nullptr || list.size() != 1 || in.size() > kMostAxes) {
    return RejectNode(Rejection::kUnsupportedShape, node, "axes '",
                      e->T(e->In(1)).name,
                      "' are computed at run time, and the model does not "
                      "declare the shape of the result; declare it, or make "
                      "them an initializer");
  }
  const Shape out = *declared;
  const bool keep = node.IntAttribute("keepdims", 1) != 0;
  const auto sets = SetsBetween(in, out, keep, list[0]);
  if (sets.empty() || sets.size() > kMostSets) {
    return RejectNode(sets.empty() ? Rejection::kMismatchingShape
                                   : Rejection::kUnsupportedShape,
                      node, sets.size(), " choices of ", list[0],
                      " axes lead from ", ShapeToString(in), " to ",
                      ShapeToString(out),
                      sets.empty() ? "" : ", at most 16 are supported");
  }
  const TensorId named = SetOf(e, e->In(1), in.size());
  TensorId y = kNoTensor, known = kNoTensor;
  for (const auto& [counts, alike] : sets) {
    std::vector<int64_t> axes;
    TensorId here = kNoTensor;
    for (uint32_t set : alike) {
      const TensorId equal =
          e->Add("Equal", {named, Number(e, static_cast<int32_t>(set))});
      here = here == kNoTensor ? equal : e->Add("Or", {here, equal});
    }
    for (size_t i = 0; i < in.size(); ++i) {
      if ((alike[0] >> i) & 1) axes.push_back(static_cast<int64_t>(i));
    }
    const TensorId reduced =
        e->Add(node.op, {e->In(0), e->Ints(axes)},
               {{"keepdims", static_cast<int64_t>(keep)}}, node.opset);
    y = y == kNoTensor ? reduced : e->Add("Where", {here, reduced, y});
    known = known == kNoTensor ? here : e->Add("Or", {known, here});
  }
  RETURN_IF_ERROR(e->status());
  // Of one row, where there is none for axes that are none of these.
  const TensorId row =
      e->Reshape(e->Cast(e->Add("Not", {known}), DataType::kInt32), {1});
  y = GatherAlong(e, e->Reshape(y, {1, ElementCount(out)}), 0, row);
  e->Return(0, e->Reshape(y, out), e->T(e->In(0)).type);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
