// SPDX-License-Identifier: Apache-2.0
// Generators of nodes: operators that are made of others.
#include <map>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16;
}

bool AddLogSum(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.empty()) return false;
  std::vector<int64_t> axes;
  const auto rank = static_cast<int64_t>(s.size());
  for (int64_t i = 0; i < rank; ++i) {
    if (b->OneIn(2)) axes.push_back(b->OneIn(3) ? i - rank : i);
  }
  std::map<std::string, Attribute> attributes;
  if (b->OneIn(2)) attributes["keepdims"] = b->Below(2);
  const char* op = b->PickOp({"ReduceLogSum", "ReduceLogSumExp"});
  if (axes.empty()) return b->Append("", op, {x}, attributes);
  return b->AppendWithLists(18, op, x, {{"axes", axes}}, attributes);
}

bool AddAlongAxis(RandomGraphBuilder* b, TensorId x) {
  const auto rank = static_cast<int64_t>(b->T(x).shape.size());
  if (!IsReal(b->T(x).type) || rank == 0) return false;
  std::map<std::string, Attribute> attributes = {
      {"axis", b->Below(2 * rank) - rank}};
  const std::string op = b->PickOp({"Hardmax", "LpNormalization"});
  if (op == "LpNormalization" && b->OneIn(2))
    attributes["p"] = b->Between(1, 2);
  return b->Append("", op, {x}, attributes);
}

bool AddMeanVariance(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.size() < 2) return false;
  std::map<std::string, Attribute> attributes;
  if (s.size() != 4 || b->OneIn(2)) {
    attributes["axes"] =
        b->OneIn(2) ? std::vector<int64_t>{-1} : std::vector<int64_t>{0, 1};
  }
  return b->Append("", "MeanVarianceNormalization", {x}, attributes);
}

bool AddGroupOrRms(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (!IsReal(type) || s.size() < 2) return false;
  if (b->Takes("RMSNormalization", 2)) {
    return b->Append("", "RMSNormalization",
                     {x, b->Constant(b->Values(type, {s.back()}, 1, false))});
  }
  const int64_t groups = s[1] % 2 == 0 && b->OneIn(2) ? 2
                         : b->OneIn(2)                ? 1
                                                      : s[1];
  const int64_t count = b->opset() < 21 ? groups : s[1];
  return b->Append("", "GroupNormalization",
                   {x, b->Constant(b->Values(type, {count}, 1, false)),
                    b->Constant(b->Values(type, {count}, 1, false))},
                   {{"num_groups", groups}});
}

bool AddLpPool(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.size() < 3) return false;
  std::map<std::string, Attribute> attributes;
  if (b->OneIn(2)) attributes["p"] = b->Between(1, 3);
  if (b->Takes("GlobalLpPool", 2)) {
    return b->Append("", "GlobalLpPool", {x}, attributes);
  }
  if (s.size() > 4) return false;
  const Shape kernel = b->Kernel(s.size() - 2);
  auto windows = b->WindowAttributes(kernel);
  if (b->opset() < 18) windows.erase("dilations");
  windows["kernel_shape"] = kernel;
  windows.insert(attributes.begin(), attributes.end());
  return b->Append("", "LpPool", {x}, windows);
}

bool AddPlaces(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (t.type == DataType::kInt64 || t.shape.size() < 2) return false;
  std::map<std::string, Attribute> attributes;
  if (b->OneIn(2)) attributes["upper"] = b->Below(2);
  std::vector<TensorId> in = {x};
  if (b->OneIn(2)) in.push_back(b->Constant(Int64s({}, {b->Between(-9, 9)})));
  return b->Append("", "Trilu", in, attributes);
}

bool AddOneHot(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  const auto rank = static_cast<int64_t>(t.shape.size());
  const DataType type = b->Pick({DataType::kFloat, DataType::kFloat16});
  return b->Append("", "OneHot",
                   {x, b->Constant(Int64s({1}, {b->Between(1, 20)})),
                    b->Constant(b->Values(type, {2}, 1, b->specials()))},
                   {{"axis", b->Between(-rank - 1, rank)}});
}

bool AddCumSum(RandomGraphBuilder* b, TensorId x) {
  const auto rank = static_cast<int64_t>(b->T(x).shape.size());
  if (rank == 0) return false;
  std::map<std::string, Attribute> attributes;
  if (b->OneIn(2)) attributes["exclusive"] = b->Below(2);
  if (b->OneIn(2)) attributes["reverse"] = b->Below(2);
  return b->Append("", "CumSum",
                   {x, b->Constant(Int64s({}, {b->Between(-rank, rank - 1)}))},
                   attributes);
}

const NodeGeneratorRegistration kLogSum("expanded_log_sum",
                                        {"ReduceLogSum", "ReduceLogSumExp"},
                                        AddLogSum);
const NodeGeneratorRegistration kAlongAxis("expanded_axis",
                                           {"Hardmax", "LpNormalization"},
                                           AddAlongAxis);
const NodeGeneratorRegistration kMeanVariance("expanded_mean_variance",
                                              {"MeanVarianceNormalization"},
                                              AddMeanVariance);
const NodeGeneratorRegistration kGroupOrRms("expanded_norms",
                                            {"GroupNormalization",
                                             "RMSNormalization"},
                                            AddGroupOrRms);
const NodeGeneratorRegistration kLpPool("expanded_lp_pool",
                                        {"LpPool", "GlobalLpPool"}, AddLpPool);
const NodeGeneratorRegistration kTrilu("expanded_trilu", {"Trilu"}, AddPlaces);
const NodeGeneratorRegistration kOneHot("expanded_one_hot", {"OneHot"},
                                        AddOneHot);
const NodeGeneratorRegistration kCumSum("expanded_cum_sum", {"CumSum"},
                                        AddCumSum);

}  // namespace
}  // namespace heddle::compiler
