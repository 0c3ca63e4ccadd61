// SPDX-License-Identifier: Apache-2.0
// Operators that ONNX tried out and dropped with opset 10, which converters of
// 2017 and 2018 wrote (Core ML's, Caffe2's) and ONNX Runtime still runs: what
// they are in today's. Definitions: onnx 1.2, docs/Operators.md,
// "experimental"; where it leaves a default open, ONNX Runtime demands the
// attribute, and so do we.
//
//   Affine             alpha x + beta
//   Crop               without border [left, top, right, bottom] or, with
//                      scale [height, width], that much from its corner
//   DynamicSlice       Slice
//   ImageScaler        scale x + bias[channel]
//   MeanVarianceNormalization   with across_channels over dimensions 0 to 3,
//                      else without 1; normalize_variance=0: the mean only
//   ParametricSoftplus alpha log(exp(beta x) + 1)
//   Scale              scale x
//   ScaledTanh         alpha tanh(beta x)
//   ThresholdedRelu    as later
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/form_writer.h"
#include "compiler/ops/rank_rule.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using Nodes = absl::StatusOr<std::vector<Node>>;

// The last opset that has them.
constexpr int kLast = 9;
constexpr int64_t kMostPixels = int64_t{1} << 31;

// Writes with numbers of the type of the node's input.
class Writer : public FormWriter {
 public:
  Writer(Graph* graph, const Node& node)
      : FormWriter(graph, node), type_(InputOf(*graph, node, 0).type) {}

  TensorId Numbers(const std::vector<float>& values, Shape shape) {
    TensorData data = TensorData::Zeros(type_, std::move(shape));
    for (size_t i = 0; i < values.size(); ++i) {
      switch (type_) {
        case DataType::kFloat16:
          data.as<uint16_t>()[i] = model::F32ToF16(values[i]);
          break;
        case DataType::kDouble:
          data.as<double>()[i] = values[i];
          break;
        default:
          data.as<float>()[i] = values[i];
      }
    }
    return Constant(std::move(data));
  }
  TensorId Number(float value) { return Numbers({value}, {}); }

 private:
  const DataType type_;
};

Nodes ConvertAffine(Graph* graph, const Node& node) {
  Writer w(graph, node);
  const TensorId scaled = w.Add(
      "Mul", 7, {node.inputs[0], w.Number(node.FloatAttribute("alpha", 1))});
  return w.Finish("Add", 7, {scaled, w.Number(node.FloatAttribute("beta", 0))});
}

Nodes ConvertCrop(Graph* graph, const Node& node) {
  const Shape shape = InputOf(*graph, node, 0).shape;
  const auto border = node.IntsAttribute("border", {}),
             scale = node.IntsAttribute("scale", {});
  const int64_t left = border[0], top = border[1];
  const int64_t right = scale.empty() ? shape[3] - border[2] : left + scale[1],
                bottom = scale.empty() ? shape[2] - border[3] : top + scale[0];
  if (right < left || bottom < top || right > shape[3] || bottom > shape[2]) {
    return RejectNode(Rejection::kInvalidModel, node, "columns ", left, " to ",
                      right, " and rows ", top, " to ", bottom,
                      " are not inside of its input, which has shape ",
                      ShapeToString(shape));
  }
  FormWriter w(graph, node);
  return w.Finish("Slice", 10,
                  {node.inputs[0], w.Ints({top, left}), w.Ints({bottom, right}),
                   w.Ints({2, 3})});
}

Nodes ConvertDynamicSlice(Graph* graph, const Node& node) {
  return FormWriter(graph, node).Finish("Slice", 10, node.inputs);
}

Nodes ConvertImageScaler(Graph* graph, const Node& node) {
  Writer w(graph, node);
  const auto& bias =
      std::get<std::vector<float>>(node.attributes.find("bias")->second);
  const Shape& shape = InputOf(*graph, node, 0).shape;
  const auto channels = static_cast<int64_t>(bias.size());
  if (channels != shape[1]) {
    return RejectNode(Rejection::kInvalidModel, node, "bias has ", channels,
                      " values, its input has ", shape[1], " channels");
  }
  const TensorId scaled = w.Add(
      "Mul", 7, {node.inputs[0], w.Number(node.FloatAttribute("scale", 1))});
  return w.Finish("Add", 7, {scaled, w.Numbers(bias, {channels, 1, 1})});
}

Nodes ConvertMeanVariance(Graph* graph, const Node& node) {
  std::vector<int64_t> axes = {0, 2, 3};
  if (node.IntAttribute("across_channels", 0) != 0) axes = {0, 1, 2, 3};
  FormWriter w(graph, node);
  if (node.IntAttribute("normalize_variance", 1) != 0) {
    return w.Finish("MeanVarianceNormalization", 9, node.inputs,
                    {{"axes", axes}});
  }
  const TensorId mean = w.Add("ReduceMean", 1, {node.inputs[0]},
                              {{"axes", axes}, {"keepdims", int64_t{1}}});
  return w.Finish("Sub", 7, {node.inputs[0], mean});
}

// alpha f(beta x)
template <const char* f>
Nodes ConvertParametric(Graph* graph, const Node& node) {
  Writer w(graph, node);
  const TensorId in = w.Add(
      "Mul", 7, {node.inputs[0], w.Number(node.FloatAttribute("beta", 1))});
  const TensorId out = w.Add(f, 6, {in});
  return w.Finish("Mul", 7, {out, w.Number(node.FloatAttribute("alpha", 1))});
}

Nodes ConvertScale(Graph* graph, const Node& node) {
  Writer w(graph, node);
  return w.Finish("Mul", 7,
                  {node.inputs[0], w.Number(node.FloatAttribute("scale", 1))});
}

Nodes ConvertThresholdedRelu(Graph* graph, const Node& node) {
  return FormWriter(graph, node)
      .Finish("ThresholdedRelu", 10, node.inputs, node.attributes);
}

bool IsBorder(const Graph&, const Node& node, std::string* detail) {
  const auto border = node.IntsAttribute("border", {}),
             scale = node.IntsAttribute("scale", {});
  *detail = absl::StrCat("border has ", border.size(), " values, scale ",
                         scale.size());
  const auto is_size = [&](int64_t value) {
    if (value >= 0 && value <= kMostPixels) return true;
    *detail = absl::StrCat("one is ", value);
    return false;
  };
  return border.size() == 4 &&
         (node.attributes.count("scale") == 0 || scale.size() == 2) &&
         std::all_of(border.begin(), border.end(), is_size) &&
         std::all_of(scale.begin(), scale.end(), is_size);
}

constexpr char kSoftplus[] = "Softplus", kTanh[] = "Tanh";

Define Of(const char* op, decltype(OperatorInfo::convert) convert) {
  Define define(op, 1, kLast);
  define.Inputs(1, 1, kRealsAndDouble).Converts(convert);
  return define;
}

OperatorInfo Run(Define define) {
  return define.Run(InferNothing, EvaluateNothing);
}

Define WithImage(Define define) {
  define.Rule(Rejection::kInvalidModel, "the input has rank 4", RankIs<4, 4>);
  return define;
}

// With alpha and beta, which may have to be given.
Define WithFactors(Define define, bool required) {
  define.Attr("alpha", AttributeKind::kFloat, required)
      .Attr("beta", AttributeKind::kFloat, required);
  return define;
}

const OperatorRegistration kAffine(Run(WithFactors(Of("Affine", ConvertAffine),
                                                   false)));
const OperatorRegistration kCrop(
    Run(WithImage(Of("Crop", ConvertCrop))
            .Attr("border", AttributeKind::kInts, true)
            .Attr("scale", AttributeKind::kInts)
            .Rule(Rejection::kInvalidModel,
                  "border has 4 values, scale 2 if it is given, from 0 to 2^31",
                  IsBorder)));
const OperatorRegistration kDynamicSlice(
    Run(Define("DynamicSlice", 1, kLast)
            .Inputs(3, 4, kMovable, kIndices)
            .Converts(ConvertDynamicSlice)));
const OperatorRegistration kImageScaler(
    Run(WithImage(Of("ImageScaler", ConvertImageScaler))
            .Attr("bias", AttributeKind::kFloats, true)
            .Attr("scale", AttributeKind::kFloat)));
const OperatorRegistration kMeanVarianceNormalization(
    Run(WithImage(Define("MeanVarianceNormalization", 1, 8)
                      .Inputs(1, 1, kRealsAndDouble)
                      .Converts(ConvertMeanVariance))
            .Attr("across_channels", AttributeKind::kInt)
            .Attr("normalize_variance", AttributeKind::kInt)));
const OperatorRegistration kParametricSoftplus(Run(
    WithFactors(Of("ParametricSoftplus", ConvertParametric<kSoftplus>), true)));
const OperatorRegistration kScale(
    Run(Of("Scale", ConvertScale).Attr("scale", AttributeKind::kFloat)));
const OperatorRegistration kScaledTanh(
    Run(WithFactors(Of("ScaledTanh", ConvertParametric<kTanh>), true)));
const OperatorRegistration kThresholdedRelu(
    Run(Of("ThresholdedRelu", ConvertThresholdedRelu)
            .Attr("alpha", AttributeKind::kFloat)));

}  // namespace
}  // namespace heddle::compiler
