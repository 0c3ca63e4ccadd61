// SPDX-License-Identifier: Apache-2.0
// GlobalLpPool and LpPool, made of other operators in fp32 or double, rounded
// once at the end: (sum of |x|^p)^(1/p). The sum of GlobalLpPool is a
// reduction, that of LpPool a convolution of each channel with ones, to which
// padding adds nothing.
#include <algorithm>
#include <cmath>

#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/rank_rule.h"
#include "compiler/ops/window.h"

namespace heddle::compiler {
namespace {

// |x|^p, by a product for 2.
TensorId Power(Expansion* e, TensorId x, int64_t p) {
  if (p == 2) return e->Add("Mul", {x, x});
  const TensorId a = e->Add("Abs", {x});
  return p == 1 ? a : e->Add("Pow", {a, e->Number(static_cast<double>(p))});
}
TensorId Root(Expansion* e, TensorId x, int64_t p) {
  if (p == 1) return x;
  return p == 2 ? e->Add("Sqrt", {x})
                : e->Add("Pow", {x, e->Number(1.0 / static_cast<double>(p))});
}

absl::Status ExpandGlobal(Expansion* e) {
  const DataType type = e->T(e->In(0)).type;
  const int64_t p = e->node().IntAttribute("p", 2);
  const TensorId x = e->Wide(e->In(0));
  std::vector<int64_t> axes;
  for (size_t i = 2; i < e->T(x).shape.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  const TensorId powers = Power(e, x, p);
  const TensorId sum =
      axes.empty() ? powers : e->Add("ReduceSum", {powers, e->Ints(axes)});
  e->Return(0, Root(e, sum, p), type);
  return absl::OkStatus();
}

// The attributes of the convolution, whose windows are those of the pool.
absl::StatusOr<std::map<std::string, Attribute>> WindowsOf(const Expansion& e,
                                                           const Shape& x) {
  const Node& node = e.node();
  const size_t rank = x.size() - 2;
  const Shape ones(rank, 1);
  const Shape kernel = node.IntsAttribute("kernel_shape", {});
  const Shape strides = node.IntsAttribute("strides", ones);
  const Shape dilations = node.IntsAttribute("dilations", ones);
  Shape pads = node.IntsAttribute("pads", Shape(2 * rank, 0));
  if (kernel.size() != rank || strides.size() != rank ||
      dilations.size() != rank || pads.size() != 2 * rank ||
      std::any_of(kernel.begin(), kernel.end(),
                  [](int64_t k) { return k < 1; })) {
    return RejectNode(Rejection::kInvalidModel, node, "kernel_shape, strides, ",
                      "dilations and pads do not fit a tensor of rank ",
                      x.size());
  }
  std::map<std::string, Attribute> attributes = {{"group", x[1]},
                                                 {"kernel_shape", kernel},
                                                 {"strides", strides},
                                                 {"dilations", dilations}};
  const std::string automatic = node.StringAttribute("auto_pad", "NOTSET");
  if (automatic != "NOTSET") {
    attributes["auto_pad"] = automatic;
    return attributes;
  }
  for (size_t i = 0; i < rank && node.IntAttribute("ceil_mode", 0) != 0; ++i) {
    // As much more padding as the last window needs, which begins in the input
    // or the padding before it.
    if (strides[i] < 1) continue;
    const int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
    const int64_t room = x[i + 2] + pads[i] + pads[i + rank];
    if (room < reach) continue;
    int64_t last = (room - reach + strides[i] - 1) / strides[i] * strides[i];
    if (last >= x[i + 2] + pads[i]) last -= strides[i];
    pads[i + rank] += std::max<int64_t>(0, last + reach - room);
  }
  attributes["pads"] = pads;
  return attributes;
}

absl::Status ExpandPool(Expansion* e) {
  const DataType type = e->T(e->In(0)).type;
  const int64_t p = e->node().IntAttribute("p", 2);
  const TensorId x = e->Wide(e->In(0));
  ASSIGN_OR_RETURN(auto windows, WindowsOf(*e, e->T(x).shape));
  Shape shape = {e->T(x).shape[1], 1};
  const Shape kernel = e->node().IntsAttribute("kernel_shape", {});
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  RETURN_IF_ERROR(CheckTable(e->node(), shape[0], ElementCount(kernel)));
  const std::vector<double> ones(static_cast<size_t>(ElementCount(shape)), 1);
  const TensorId sum =
      e->Add("Conv", {Power(e, x, p), e->Numbers(shape, ones)}, windows, 11);
  e->Return(0, Root(e, sum, p), type);
  return absl::OkStatus();
}

bool HasPower(const Graph&, const Node& node, std::string* detail) {
  const int64_t p = node.IntAttribute("p", 2);
  *detail = absl::StrCat("p = ", p);
  return p >= 1;
}

bool HasWindows(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= 3 && shape.size() <= 5;
}

Define LpPool(int since, int until) {
  Define define("LpPool", since, until);
  // All but the first, which is of the rank.
  std::vector<Constraint> windows = WindowRules();
  windows.erase(windows.begin());
  define.Inputs(1, 1, kRealsAndDouble)
      .Attr("kernel_shape", AttributeKind::kInts, true)
      .Attr("auto_pad", AttributeKind::kString)
      .Attr("pads", AttributeKind::kInts)
      .Attr("strides", AttributeKind::kInts)
      .Attr("p", AttributeKind::kInt)
      .Rule(Rejection::kInvalidModel, "p is positive", HasPower)
      .Rule(Rejection::kUnsupportedShape, "input has rank 3 to 5", HasWindows)
      .Rules(windows);
  return define;
}

const ExpandedOperator kGlobalLpPool(Define("GlobalLpPool", 2, kMaxOpset)
                                         .Inputs(1, 1, kRealsAndDouble)
                                         .Attr("p", AttributeKind::kInt)
                                         .Rule(Rejection::kInvalidModel,
                                               "p is positive", HasPower)
                                         .Rule(Rejection::kUnsupportedShape,
                                               "input has rank 2 or more",
                                               RankIs<2>),
                                     ExpandGlobal);
const ExpandedOperator kLpPool(LpPool(2, 17), ExpandPool);
const ExpandedOperator kLpPool18(LpPool(18, kMaxOpset)
                                     .Attr("ceil_mode", AttributeKind::kInt)
                                     .Attr("dilations", AttributeKind::kInts),
                                 ExpandPool);

}  // namespace
}  // namespace heddle::compiler
