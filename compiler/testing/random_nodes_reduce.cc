// SPDX-License-Identifier: Apache-2.0
// Generators of nodes: reductions, global pools, softmax, normalisations.
#include <algorithm>
#include <string>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16;
}

bool AddReduce(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  const char* op =
      b->PickOp({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin",
                 "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"});
  const bool any_type =
      std::string(op) == "ReduceMax" || std::string(op) == "ReduceMin";
  if (!IsReal(t.type) && !(any_type && IsCode(t.type))) return false;
  const auto rank = static_cast<int64_t>(t.shape.size());
  Shape axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (b->OneIn(2)) axes.push_back(b->OneIn(3) ? i - rank : i);
  }
  std::map<std::string, Attribute> attributes = {
      {"keepdims", b->OneIn(3) ? int64_t{0} : int64_t{1}}};
  std::vector<TensorId> in = {x};
  if (b->opset() >= (std::string(op) == "ReduceSum" ? 13 : 18)) {
    if (b->OneIn(4)) attributes["noop_with_empty_axes"] = int64_t{1};
    if (!axes.empty()) {
      in.push_back(
          b->Constant(Int64s({static_cast<int64_t>(axes.size())}, axes)));
    }
  } else if (!axes.empty()) {
    attributes["axes"] = axes;
  }
  return b->Append("", op, in, attributes);
}

bool AddGlobalPool(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (!IsReal(t.type) || t.shape.size() < 3 || t.shape.size() > 5) return false;
  return b->Append("", b->PickOp({"GlobalAveragePool", "GlobalMaxPool"}), {x});
}

bool AddAveragePool(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (!IsReal(t.type) || t.shape.size() < 3 || t.shape.size() > 4) return false;
  const Shape kernel = b->Kernel(t.shape.size() - 2);
  auto attributes = b->WindowAttributes(kernel);
  if (b->opset() < 19) attributes.erase("dilations");
  attributes["kernel_shape"] = kernel;
  if (b->opset() >= 10 && b->OneIn(3)) attributes["ceil_mode"] = int64_t{1};
  if (b->OneIn(3)) attributes["count_include_pad"] = int64_t{1};
  return b->Append("", "AveragePool", {x}, attributes);
}

bool AddSoftmax(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (!IsReal(t.type) || t.shape.empty()) return false;
  const auto rank = static_cast<int64_t>(t.shape.size());
  return b->Append("", b->PickOp({"LogSoftmax", "Softmax"}), {x},
                   {{"axis", b->Between(-rank, rank - 1)}});
}

bool AddLayerNormalization(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (t.type != DataType::kFloat || t.shape.empty()) return false;
  const auto rank = static_cast<int64_t>(t.shape.size());
  const int64_t axis = b->Below(rank);
  const Shape row(t.shape.begin() + axis, t.shape.end());
  std::vector<TensorId> in = {x};
  for (int64_t i = b->OneIn(3) ? 1 : 0; i < 2; ++i) {
    in.push_back(
        b->Constant(b->Values(t.type, row, 2, b->specials() && b->OneIn(3))));
  }
  return b->Append("", "LayerNormalization", in,
                   {{"axis", b->OneIn(2) ? axis : axis - rank},
                    {"epsilon", b->Pick<float>({1e-5f, 0.1f})}});
}

bool AddNormalization(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (!IsReal(t.type) || t.shape.size() < 2) return false;
  if (b->Takes("LRN", 4)) {
    return b->Append("", "LRN", {x},
                     {{"size", b->Between(1, 6)},
                      {"alpha", b->Pick<float>({1e-4f, 0.5f})},
                      {"beta", b->Pick<float>({0.75f, 0.5f, 1})}});
  }
  auto parameter = [&] {
    return b->Constant(
        b->Values(t.type, {t.shape[1]}, 2, b->specials() && b->OneIn(3)));
  };
  const float epsilon = b->Pick<float>({1e-5f, 0.1f});
  if (b->Takes("InstanceNormalization", 2)) {
    return b->Append("", "InstanceNormalization", {x, parameter(), parameter()},
                     {{"epsilon", epsilon}});
  }
  return b->Append("", "BatchNormalization",
                   {x, parameter(), parameter(), parameter(), parameter()},
                   {{"epsilon", epsilon}});
}

bool AddArg(RandomGraphBuilder* b, TensorId x) {
  const auto rank = static_cast<int64_t>(b->T(x).shape.size());
  if (rank == 0) return false;
  if (b->T(x).type == DataType::kInt64 && !b->any_int64()) return false;
  std::map<std::string, Attribute> attributes = {
      {"axis", b->Between(b->opset() >= 11 ? -rank : 0, rank - 1)},
      {"keepdims", b->OneIn(2) ? int64_t{0} : int64_t{1}}};
  if (b->opset() >= 12 && b->OneIn(2)) {
    attributes["select_last_index"] = int64_t{1};
  }
  return b->Append("", b->PickOp({"ArgMax", "ArgMin"}), {x}, attributes);
}

const NodeGeneratorRegistration kReduce("reduce",
                                        {"ReduceSum", "ReduceMean", "ReduceMax",
                                         "ReduceMin", "ReduceProd", "ReduceL1",
                                         "ReduceL2", "ReduceSumSquare"},
                                        AddReduce);
const NodeGeneratorRegistration kGlobal("reduce_global_pool",
                                        {"GlobalAveragePool", "GlobalMaxPool"},
                                        AddGlobalPool);
const NodeGeneratorRegistration kAverage("reduce_average_pool", {"AveragePool"},
                                         AddAveragePool);
const NodeGeneratorRegistration kSoftmax("reduce_softmax",
                                         {"LogSoftmax", "Softmax"}, AddSoftmax);
const NodeGeneratorRegistration kLayerNormalization(
    "reduce_layer_normalization", {"LayerNormalization"},
    AddLayerNormalization);
const NodeGeneratorRegistration kNormalization("reduce_normalization",
                                               {"LRN", "InstanceNormalization",
                                                "BatchNormalization"},
                                               AddNormalization);
const NodeGeneratorRegistration kArg("reduce_arg", {"ArgMax", "ArgMin"},
                                     AddArg);

}  // namespace
}  // namespace heddle::compiler
