// SPDX-License-Identifier: Apache-2.0
#include "compiler/shapes/cut_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace heddle::compiler {
namespace {

// Opset from which Softmax and the like work along one axis, not from it on.
constexpr int kSoftmaxOneAxis = 13;

const Shape& ShapeOf(const CutNode& cut, size_t input) {
  return cut.graph.tensors[cut.node.inputs[input]].shape;
}

const Shape& OutputShape(const CutNode& cut) {
  return cut.graph.tensors[cut.node.outputs[0]].shape;
}

bool IsCut(const CutNode& cut, size_t input) {
  return input < cut.inputs.size() && cut.inputs[input].axis >= 0;
}

// None but `input` is cut.
bool OnlyCut(const CutNode& cut, size_t input) {
  for (size_t i = 0; i < cut.inputs.size(); ++i) {
    if (IsCut(cut, i) != (i == input)) return false;
  }
  return true;
}

// Every output is cut there, or none of them is.
bool OutputsCutAt(const CutNode& cut, int axis, int64_t inner) {
  return std::all_of(cut.outputs.begin(), cut.outputs.end(),
                     [&](const CutAxis& output) {
                       return output.axis == axis && output.inner == inner;
                     });
}

int64_t Normal(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

// Values of a constant operand of int64; false if it is none.
bool Ints(const CutNode& cut, size_t input, std::vector<int64_t>* values) {
  const TensorId id = cut.node.input(input);
  if (id == kNoTensor || !cut.graph.tensors[id].is_constant()) return false;
  const TensorData& data = *cut.graph.tensors[id].constant;
  if (data.type != DataType::kInt64) return false;
  values->assign(data.as<int64_t>(), data.as<int64_t>() + data.count());
  return true;
}

// Each element of the result is made of one of each operand, which are
// broadcast: an operand that is not cut has one index there.
bool Elementwise(const CutNode& cut) {
  const auto rank = static_cast<int>(OutputShape(cut).size());
  for (size_t i = 0; i < cut.inputs.size(); ++i) {
    if (!IsCut(cut, i)) continue;
    const auto own = static_cast<int>(ShapeOf(cut, i).size());
    if (!OutputsCutAt(cut, cut.inputs[i].axis + rank - own,
                      cut.inputs[i].inner)) {
      return false;
    }
  }
  return true;
}

// The first operand element by element; the others are parameters.
bool FirstElementwise(const CutNode& cut) {
  return OnlyCut(cut, 0) &&
         OutputsCutAt(cut, cut.inputs[0].axis, cut.inputs[0].inner);
}

// Along axis 0 images follow each other, and each is worked on by itself.
bool Pictures(const CutNode& cut) {
  return OnlyCut(cut, 0) && cut.inputs[0].axis == 0 &&
         OutputsCutAt(cut, 0, cut.inputs[0].inner);
}

// Indices of a MaxPool count from the first element of the tensor on.
bool MaxPool(const CutNode& cut) {
  return Pictures(cut) && cut.node.IntAttribute("storage_order", 0) == 0;
}

// Images are not resized into each other: by sizes axis 0 stays as it is, by
// scales only if its own says so, as sizes may be equal by rounding.
bool Resize(const CutNode& cut) {
  const bool sizes = cut.node.input(3) != kNoTensor;
  const TensorId id = cut.node.input(
      cut.node.op == "Upsample" || cut.node.inputs.size() == 2 ? 1 : 2);
  if (!sizes) {
    if (id == kNoTensor || !cut.graph.tensors[id].is_constant()) return false;
    const TensorData& scales = *cut.graph.tensors[id].constant;
    if (scales.type != DataType::kFloat || scales.count() < 1 ||
        *scales.as<float>() != 1 ||
        scales.count() != static_cast<int64_t>(ShapeOf(cut, 0).size())) {
      return false;
    }
  }
  return Pictures(cut) &&
         cut.node.StringAttribute("coordinate_transformation_mode", "") !=
             "tf_crop_and_resize";
}

int64_t Before(const Shape& shape, int axis) {
  int64_t product = 1;
  for (int i = 0; i < axis; ++i) product *= shape[i];
  return product;
}

// The elements stay in order: the cut stays where as many blocks are before it.
bool Reshape(const CutNode& cut) {
  const CutAxis& out = cut.outputs[0];
  return OnlyCut(cut, 0) && out.axis >= 0 &&
         Before(ShapeOf(cut, 0), cut.inputs[0].axis) ==
             Before(OutputShape(cut), out.axis);
}

bool Transpose(const CutNode& cut) {
  const auto rank = static_cast<int64_t>(ShapeOf(cut, 0).size());
  std::vector<int64_t> reversed;
  for (int64_t i = rank - 1; i >= 0; --i) reversed.push_back(i);
  const auto perm = cut.node.IntsAttribute("perm", reversed);
  const auto at = std::find(perm.begin(), perm.end(), cut.inputs[0].axis);
  return at != perm.end() &&
         OutputsCutAt(cut, static_cast<int>(at - perm.begin()),
                      cut.inputs[0].inner);
}

bool Concat(const CutNode& cut) {
  const int64_t axis =
      Normal(cut.node.IntAttribute("axis", 1), OutputShape(cut).size());
  for (size_t i = 0; i < cut.inputs.size(); ++i) {
    if (!IsCut(cut, i) || cut.inputs[i].axis == axis ||
        !OutputsCutAt(cut, cut.inputs[i].axis, cut.inputs[i].inner)) {
      return false;
    }
  }
  return true;
}

bool Split(const CutNode& cut) {
  const int64_t axis =
      Normal(cut.node.IntAttribute("axis", 0), ShapeOf(cut, 0).size());
  return axis != cut.inputs[0].axis && FirstElementwise(cut);
}

bool Slice(const CutNode& cut) {
  std::vector<int64_t> axes;
  if (!FirstElementwise(cut) || !Ints(cut, 3, &axes)) return false;
  return std::none_of(axes.begin(), axes.end(), [&](int64_t axis) {
    return Normal(axis, ShapeOf(cut, 0).size()) == cut.inputs[0].axis;
  });
}

// Copies of the whole follow each other along an axis that is tiled.
bool Tile(const CutNode& cut) {
  std::vector<int64_t> repeats;
  return FirstElementwise(cut) && Ints(cut, 1, &repeats) &&
         repeats[cut.inputs[0].axis] == 1;
}

// The shape is that of the output. An operand that is not cut has one index
// where the output is.
bool Expand(const CutNode& cut) {
  const auto rank = static_cast<int>(OutputShape(cut).size());
  const int front = rank - static_cast<int>(ShapeOf(cut, 0).size());
  if (IsCut(cut, 0)) {
    return OutputsCutAt(cut, cut.inputs[0].axis + front, cut.inputs[0].inner);
  }
  const int at = cut.outputs[0].axis - front;
  return at < 0 || ShapeOf(cut, 0)[at] == 1;
}

// Along another axis: of the elements in line, those that are picked, or sums.
bool AlongAnother(const CutNode& cut, int64_t axis) {
  return Normal(axis, ShapeOf(cut, 0).size()) != cut.inputs[0].axis &&
         FirstElementwise(cut);
}

// The axis of ONNX's operator is an input, that of the card's an attribute.
bool CumSum(const CutNode& cut) {
  std::vector<int64_t> axis = {cut.node.IntAttribute("axis", 0)};
  if (cut.node.domain.empty() && (!Ints(cut, 1, &axis) || axis.size() != 1)) {
    return false;
  }
  return AlongAnother(cut, axis[0]);
}

bool TopK(const CutNode& cut) {
  return AlongAnother(cut, cut.node.IntAttribute("axis", -1));
}

bool GatherElements(const CutNode& cut) {
  const int64_t axis =
      Normal(cut.node.IntAttribute("axis", 0), ShapeOf(cut, 0).size());
  const CutAxis& data = cut.inputs[0];
  const CutAxis& indices = cut.inputs[1];
  return IsCut(cut, 0) && IsCut(cut, 1) && data.axis == indices.axis &&
         data.inner == indices.inner && data.axis != axis &&
         OutputsCutAt(cut, data.axis, data.inner);
}

// Depth and values are no indices.
bool OneHot(const CutNode& cut) {
  const int64_t axis =
      Normal(cut.node.IntAttribute("axis", -1), OutputShape(cut).size());
  const int at = cut.inputs[0].axis;
  return OnlyCut(cut, 0) &&
         OutputsCutAt(cut, at < axis ? at : at + 1, cut.inputs[0].inner);
}

bool Pad(const CutNode& cut) {
  std::vector<int64_t> pads;
  const size_t rank = ShapeOf(cut, 0).size();
  if (!FirstElementwise(cut) || cut.node.input(3) != kNoTensor ||
      !Ints(cut, 1, &pads) || pads.size() != 2 * rank) {
    return false;
  }
  const int axis = cut.inputs[0].axis;
  return pads[axis] == 0 && pads[axis + rank] == 0;
}

bool Gather(const CutNode& cut) {
  const auto rank = ShapeOf(cut, 0).size();
  const auto axis =
      static_cast<int>(Normal(cut.node.IntAttribute("axis", 0), rank));
  if (OnlyCut(cut, 1)) {
    return OutputsCutAt(cut, axis + cut.inputs[1].axis, cut.inputs[1].inner);
  }
  const int at = cut.inputs[0].axis;
  if (!OnlyCut(cut, 0) || at == axis) return false;
  const auto indices = static_cast<int>(ShapeOf(cut, 1).size());
  return OutputsCutAt(cut, at < axis ? at : at + indices - 1,
                      cut.inputs[0].inner);
}

// Operands `a` and `b`: along the contracted axis nothing may be cut.
bool Product(const CutNode& cut, size_t a, size_t b) {
  const auto rank = static_cast<int>(OutputShape(cut).size());
  for (size_t i = 0; i < cut.inputs.size(); ++i) {
    if (!IsCut(cut, i)) continue;
    if (i != a && i != b) return false;
    const auto own = static_cast<int>(ShapeOf(cut, i).size());
    const int contracted = i == a ? own - 1 : own - 2;
    if (own < 2 || cut.inputs[i].axis == contracted ||
        !OutputsCutAt(cut, cut.inputs[i].axis + rank - own,
                      cut.inputs[i].inner)) {
      return false;
    }
  }
  return ShapeOf(cut, a).size() >= 2 && ShapeOf(cut, b).size() >= 2;
}
bool MatMul(const CutNode& cut) { return Product(cut, 0, 1); }
bool QLinearMatMul(const CutNode& cut) { return Product(cut, 0, 3); }

bool Gemm(const CutNode& cut) {
  return OnlyCut(cut, 0) && cut.node.IntAttribute("transA", 0) == 0 &&
         cut.inputs[0].axis == 0 && OutputsCutAt(cut, 0, cut.inputs[0].inner);
}

bool Softmax(const CutNode& cut) {
  const bool one = cut.node.opset >= kSoftmaxOneAxis;
  const int64_t axis = Normal(cut.node.IntAttribute("axis", one ? -1 : 1),
                              ShapeOf(cut, 0).size());
  const int at = cut.inputs[0].axis;
  return FirstElementwise(cut) && (one ? at != axis : at < axis);
}

// Rows from `axis` on.
bool Normalization(const CutNode& cut) {
  const int64_t axis =
      Normal(cut.node.IntAttribute("axis", -1), ShapeOf(cut, 0).size());
  return OnlyCut(cut, 0) && cut.inputs[0].axis < axis &&
         OutputsCutAt(cut, cut.inputs[0].axis, cut.inputs[0].inner);
}

// Without the axes that go; -1 if the cut goes with them.
int Behind(const CutNode& cut, const std::set<int64_t>& axes, bool keep) {
  const int at = cut.inputs[0].axis;
  if (axes.count(at) > 0) return -1;
  if (keep) return at;
  return at -
         static_cast<int>(std::distance(axes.begin(), axes.lower_bound(at)));
}

bool Reduction(const CutNode& cut) {
  std::vector<int64_t> list = cut.node.IntsAttribute("axes", {});
  if (list.empty() && !Ints(cut, 1, &list)) return false;
  if (!OnlyCut(cut, 0) || list.empty()) return false;
  std::set<int64_t> axes;
  for (int64_t axis : list) axes.insert(Normal(axis, ShapeOf(cut, 0).size()));
  const int at = Behind(cut, axes, cut.node.IntAttribute("keepdims", 1) != 0);
  return at >= 0 && OutputsCutAt(cut, at, cut.inputs[0].inner);
}

bool Arg(const CutNode& cut) {
  const std::set<int64_t> axes = {
      Normal(cut.node.IntAttribute("axis", 0), ShapeOf(cut, 0).size())};
  const int at = Behind(cut, axes, cut.node.IntAttribute("keepdims", 1) != 0);
  return OnlyCut(cut, 0) && at >= 0 &&
         OutputsCutAt(cut, at, cut.inputs[0].inner);
}

// Sequences of a recurrence: X and its outputs have the batch behind the time.
bool Recurrence(const CutNode& cut) {
  constexpr int kBatchOf[] = {1, -1, -1, -1, 0, 1, 1, -1};
  if (cut.node.IntAttribute("layout", 0) != 0 || !IsCut(cut, 0)) return false;
  const int64_t inner = cut.inputs[0].inner;
  for (size_t i = 0; i < cut.inputs.size(); ++i) {
    if (!IsCut(cut, i)) continue;
    if (i >= std::size(kBatchOf) || cut.inputs[i].axis != kBatchOf[i] ||
        cut.inputs[i].inner != inner) {
      return false;
    }
  }
  for (size_t i = 0; i < cut.outputs.size(); ++i) {
    if (cut.node.outputs[i] == kNoTensor) continue;
    if (cut.outputs[i].axis != (i == 0 ? 2 : 1)) return false;
  }
  return true;
}

using Rule = bool (*)(const CutNode&);

const std::map<std::string, Rule>& Rules() {
  static const auto* const rules = [] {
    auto* made = new std::map<std::string, Rule>;
    const auto add = [made](Rule rule, std::initializer_list<const char*> ops) {
      for (const char* op : ops) made->emplace(op, rule);
    };
    add(Elementwise, {"Abs",
                      "Acos",
                      "Acosh",
                      "Add",
                      "And",
                      "Asin",
                      "Asinh",
                      "Atan",
                      "Atanh",
                      "BitCast",
                      "BitShift",
                      "BitwiseAnd",
                      "BitwiseNot",
                      "BitwiseOr",
                      "BitwiseXor",
                      "Cast",
                      "Ceil",
                      "Celu",
                      "Clip",
                      "Cos",
                      "Cosh",
                      "Div",
                      "Elu",
                      "Equal",
                      "Erf",
                      "Exp",
                      "Floor",
                      "Gelu",
                      "Greater",
                      "GreaterOrEqual",
                      "HardSigmoid",
                      "HardSwish",
                      "Identity",
                      "IsInf",
                      "IsNaN",
                      "LeakyRelu",
                      "Less",
                      "LessOrEqual",
                      "Log",
                      "Max",
                      "Mean",
                      "Min",
                      "Mish",
                      "Mod",
                      "Mul",
                      "Neg",
                      "Not",
                      "Or",
                      "PRelu",
                      "Pow",
                      "Reciprocal",
                      "Relu",
                      "Round",
                      "Selu",
                      "Shrink",
                      "Sigmoid",
                      "Sign",
                      "Sin",
                      "Sinh",
                      "Softplus",
                      "Softsign",
                      "Sqrt",
                      "Sub",
                      "Sum",
                      "Swish",
                      "Tan",
                      "Tanh",
                      "ThresholdedRelu",
                      "Where",
                      "Xor",
                      "com.microsoft.BiasGelu",
                      "com.microsoft.FastGelu",
                      "com.microsoft.Gelu",
                      "com.microsoft.QLinearAdd",
                      "com.microsoft.QLinearMul",
                      "com.microsoft.QuickGelu",
                      "heddle.Elementwise",
                      "heddle.Gelu"});
    add(FirstElementwise,
        {"CastLike", "QuantizeLinear", "DequantizeLinear", "heddle.Table",
         "com.microsoft.QLinearSigmoid", "com.microsoft.QLinearLeakyRelu"});
    add(Pictures, {"AveragePool", "BatchNormalization", "Conv", "ConvInteger",
                   "ConvTranspose", "DepthToSpace", "GlobalAveragePool",
                   "GlobalLpPool", "GlobalMaxPool", "GroupNormalization",
                   "InstanceNormalization", "LRN", "LpPool", "QLinearConv",
                   "SpaceToDepth", "com.microsoft.QLinearAveragePool",
                   "com.microsoft.QLinearGlobalAveragePool"});
    add(MaxPool, {"MaxPool"});
    add(Resize, {"Resize", "Upsample"});
    add(Reshape, {"Flatten", "Reshape", "Squeeze", "Unsqueeze"});
    add(Transpose, {"Transpose"});
    add(Concat, {"Concat"});
    add(Split, {"Split"});
    add(Slice, {"Slice"});
    add(Tile, {"Tile"});
    add(CumSum, {"CumSum", "heddle.CumSum"});
    add(TopK, {"TopK", "heddle.TopK"});
    add(GatherElements, {"GatherElements"});
    add(OneHot, {"OneHot"});
    add(Expand, {"Expand"});
    add(Pad, {"Pad"});
    add(Gather, {"Gather"});
    add(MatMul, {"MatMul", "MatMulInteger"});
    add(QLinearMatMul, {"QLinearMatMul"});
    add(Gemm, {"Gemm", "com.microsoft.QGemm"});
    add(Softmax, {"Hardmax", "LogSoftmax", "Softmax"});
    add(Normalization,
        {"LayerNormalization", "RMSNormalization", "heddle.LayerNorm"});
    add(Reduction, {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
                    "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                    "ReduceSum", "ReduceSumSquare"});
    add(Arg, {"ArgMax", "ArgMin"});
    add(Recurrence, {"GRU", "LSTM", "RNN"});
    return made;
  }();
  return *rules;
}

}  // namespace

bool KeepsCut(const CutNode& cut) {
  const Node& node = cut.node;
  const auto rule =
      Rules().find(node.domain.empty() ? node.op : node.domain + "." + node.op);
  return rule != Rules().end() && rule->second(cut);
}

}  // namespace heddle::compiler
