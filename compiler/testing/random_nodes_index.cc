// SPDX-License-Identifier: Apache-2.0
// Generators of nodes that choose elements by indices: GatherElements,
// GatherND, Scatter, ScatterElements, ScatterND, ReverseSequence; and TopK,
// which finds them.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMostPlaces = 600;  // of updates, which are constants

// Indices of `shape` into dimensions of `sizes`, in turn, from either end.
TensorId Indices(RandomGraphBuilder* b, const Shape& shape,
                 const Shape& sizes) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < ElementCount(shape); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i) % sizes.size()];
    indices.push_back(b->Between(-size, size - 1));
  }
  return b->Constant(Int64s(shape, indices));
}

// As most numbers, and none of bool or int64, of which the card has no sums.
const char* Reduction(RandomGraphBuilder* b, DataType type) {
  if (b->opset() < 16 || b->OneIn(3)) return nullptr;
  if (type == DataType::kBool || type == DataType::kInt64) return nullptr;
  if (b->opset() >= 18 && b->OneIn(2)) return b->OneIn(2) ? "max" : "min";
  return b->OneIn(2) ? "add" : "mul";
}

bool AddGatherElements(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.empty()) return false;
  const int64_t axis = b->Below(static_cast<int64_t>(s.size()));
  Shape to = s;
  for (int64_t& n : to) {
    if (b->OneIn(4)) n = b->Between(1, n);
  }
  if (b->OneIn(2)) to[axis] = b->Between(1, 2 * s[axis]);
  return b->Append("", "GatherElements", {x, Indices(b, to, {s[axis]})},
                   {{"axis", axis}});
}

bool AddScatterElements(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (t.shape.empty()) return false;
  const int64_t axis = b->Below(static_cast<int64_t>(t.shape.size()));
  Shape places = t.shape;
  for (int64_t& n : places) {
    if (b->OneIn(3)) n = b->Between(1, n);
  }
  if (b->OneIn(2)) places[axis] = b->Between(1, 2 * t.shape[axis]);
  if (ElementCount(places) > kMostPlaces) return false;
  std::map<std::string, Attribute> attributes = {{"axis", axis}};
  const char* op = b->opset() < 11 ? "Scatter" : "ScatterElements";
  if (const char* reduction = Reduction(b, t.type)) {
    attributes["reduction"] = std::string(reduction);
  }
  return b->Append("", b->PickOp({op}),
                   {x, Indices(b, places, {t.shape[axis]}),
                    b->Constant(b->Values(t.type, places, 3, b->specials()))},
                   attributes);
}

// The first `count` dimensions after `from`.
Shape Part(const Shape& shape, size_t from, size_t count) {
  const auto first = shape.begin() + static_cast<int64_t>(from);
  return Shape(first, first + static_cast<int64_t>(count));
}

bool AddGatherNd(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.empty()) return false;
  const auto rank = static_cast<int64_t>(s.size());
  const int64_t batches = b->opset() >= 12 && b->OneIn(2) ? b->Below(rank) : 0;
  const int64_t depth = b->Between(1, rank - batches);
  Shape to = Part(s, 0, static_cast<size_t>(batches));
  for (int64_t i = b->Below(3); i > 0; --i) to.push_back(b->Between(1, 7));
  to.push_back(depth);
  const Shape sizes =
      Part(s, static_cast<size_t>(batches), static_cast<size_t>(depth));
  std::map<std::string, Attribute> attributes;
  if (batches > 0) attributes["batch_dims"] = batches;
  return b->Append("", "GatherND", {x, Indices(b, to, sizes)}, attributes);
}

bool AddScatterNd(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (t.shape.empty()) return false;
  const auto rank = static_cast<int64_t>(t.shape.size());
  const auto depth = static_cast<size_t>(b->Between(1, rank));
  Shape to, updates;
  for (int64_t i = b->Below(3); i > 0; --i) to.push_back(b->Between(1, 7));
  updates = to;
  to.push_back(static_cast<int64_t>(depth));
  for (int64_t n : Part(t.shape, depth, t.shape.size() - depth)) {
    updates.push_back(n);
  }
  if (ElementCount(updates) > kMostPlaces) return false;
  std::map<std::string, Attribute> attributes;
  if (const char* reduction = Reduction(b, t.type)) {
    attributes["reduction"] = std::string(reduction);
  }
  return b->Append("", "ScatterND",
                   {x, Indices(b, to, Part(t.shape, 0, depth)),
                    b->Constant(b->Values(t.type, updates, 3, b->specials()))},
                   attributes);
}

bool AddReverseSequence(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.size() < 2) return false;
  const int64_t time = b->Below(2);
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < s[1 - time]; ++i) {
    lengths.push_back(b->Between(1, s[time]));
  }
  return b->Append("", "ReverseSequence",
                   {x, b->Constant(Int64s({s[1 - time]}, lengths))},
                   {{"time_axis", time}, {"batch_axis", 1 - time}});
}

bool AddTopK(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (t.shape.empty() || t.type == DataType::kBool) return false;
  if (t.type == DataType::kInt64 && !b->any_int64()) return false;
  const auto rank = static_cast<int64_t>(t.shape.size());
  const int64_t axis = b->Below(rank);
  const int64_t k = b->Between(1, std::min<int64_t>(t.shape[axis], 64));
  std::map<std::string, Attribute> attributes = {
      {"axis", b->OneIn(2) ? axis : axis - rank}};
  if (b->opset() < 10) {
    attributes["k"] = k;
    return b->Append("", "TopK", {x}, attributes, 2);
  }
  if (b->opset() >= 11 && b->OneIn(2)) attributes["largest"] = int64_t{0};
  if (b->opset() >= 11 && b->OneIn(4)) attributes["sorted"] = int64_t{0};
  return b->Append("", "TopK", {x, b->Constant(Int64s({1}, {k}))}, attributes,
                   2);
}

const NodeGeneratorRegistration kGatherElements("index_gather_elements",
                                                {"GatherElements"},
                                                AddGatherElements);
const NodeGeneratorRegistration kScatterElements("index_scatter_elements",
                                                 {"Scatter", "ScatterElements"},
                                                 AddScatterElements);
const NodeGeneratorRegistration kGatherNd("index_gather_nd", {"GatherND"},
                                          AddGatherNd);
const NodeGeneratorRegistration kScatterNd("index_scatter_nd", {"ScatterND"},
                                           AddScatterNd);
const NodeGeneratorRegistration kReverseSequence("index_reverse_sequence",
                                                 {"ReverseSequence"},
                                                 AddReverseSequence);
const NodeGeneratorRegistration kTopK("index_top_k", {"TopK"}, AddTopK);

}  // namespace
}  // namespace heddle::compiler
