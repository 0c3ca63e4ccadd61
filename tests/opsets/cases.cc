// SPDX-License-Identifier: Apache-2.0
#include "tests/opsets/cases.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"
#include "tests/opsets/random.h"
#include "tests/verdict/random_model.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::Int64s;
using compiler::ModelBuilder;
using compiler::SetInt;
using compiler::SetInts;
using compiler::Shape;
using compiler::TensorData;

// A model with the input "x" (if it has data) and the output "y".
OpsetCase Finish(ModelBuilder* b, DataType type,
                 const std::vector<TensorData>& values) {
  b->Output("y");
  auto* output = b->proto().mutable_graph()->mutable_output(0);
  output->mutable_type()->mutable_tensor_type()->set_elem_type(
      static_cast<int>(type));
  OpsetCase result;
  result.model = b->Bytes();
  if (!values.empty()) result.inputs = {"x"};
  result.outputs = {"y"};
  result.values = values;
  return result;
}

OpsetCase ShapeCase(const std::string& op, int opset, Random* r) {
  ModelBuilder b(opset);
  const TensorData x = r->Values(DataType::kFloat, r->AnyShape(0));
  b.Input("x", x.type, x.shape);
  auto* node = b.Node(op, {"x"}, {"y"});
  if (op == "Shape" && r->OneIn(2)) SetInt(node, "start", r->Between(-5, 5));
  if (op == "Shape" && r->OneIn(2)) SetInt(node, "end", r->Between(-5, 5));
  return Finish(&b, DataType::kInt64, {x});
}

// The constant is added to an input, so that something is computed.
OpsetCase ConstantCase(int opset, Random* r) {
  ModelBuilder b(opset);
  const TensorData x = r->Values(DataType::kFloat, {});
  b.Input("x", x.type, x.shape);
  auto* node = b.Node("Constant", {}, {"c"});
  const auto value = static_cast<float>(r->Between(-99, 99));
  if (r->OneIn(2)) {
    compiler::SetFloat(node, "value_float", value);
  } else {
    auto* attribute = node->add_attribute();
    attribute->set_name("value_floats");
    attribute->set_type(onnx::AttributeProto::FLOATS);
    for (int64_t i = r->Between(1, 5); i > 0; --i) {
      attribute->add_floats(value + static_cast<float>(i));
    }
  }
  b.Node("Add", {"x", "c"}, {"y"});
  return Finish(&b, DataType::kFloat, {x});
}

OpsetCase ConstantOfShapeCase(int opset, Random* r) {
  ModelBuilder b(opset);
  const TensorData x = r->Values(DataType::kInt32, {});
  b.Input("x", x.type, x.shape);
  const Shape shape = r->AnyShape(0);
  b.Constant("s", Int64s({static_cast<int64_t>(shape.size())}, shape));
  auto* attribute = b.Node("ConstantOfShape", {"s"}, {"c"})->add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  attribute->mutable_t()->add_dims(1);
  attribute->mutable_t()->set_data_type(onnx::TensorProto::INT32);
  attribute->mutable_t()->add_int32_data(
      static_cast<int32_t>(r->Between(-99, 99)));
  b.Node("Add", {"x", "c"}, {"y"});
  return Finish(&b, DataType::kInt32, {x});
}

OpsetCase BoolReduceCase(const std::string& op, int opset, Random* r) {
  ModelBuilder b(opset);
  const TensorData x = r->Values(DataType::kBool, r->AnyShape(1));
  b.Input("x", x.type, x.shape);
  b.Constant("a",
             Int64s({1}, {r->Below(static_cast<int64_t>(x.shape.size()))}));
  SetInt(b.Node(op, {"x", "a"}, {"y"}), "keepdims", r->Below(2));
  return Finish(&b, DataType::kBool, {x});
}

// Scales of some axes only, and the attributes that come with opset 18.
OpsetCase ResizeCase(int opset, Random* r) {
  ModelBuilder b(opset);
  const TensorData x =
      r->Values(DataType::kFloat,
                {1, r->Between(1, 3), r->Between(2, 7), r->Between(2, 7)});
  b.Input("x", x.type, x.shape);
  const std::vector<int64_t> axes =
      r->Pick<std::vector<int64_t>>({{2, 3}, {3, 2}, {-1, -2}, {2}, {3}, {-1}});
  std::vector<float> scales;
  for (size_t i = 0; i < axes.size(); ++i) {
    scales.push_back(r->Pick({0.5f, 0.75f, 1.0f, 1.5f, 2.0f, 2.4f}));
  }
  b.Constant("s", Floats({static_cast<int64_t>(scales.size())}, scales));
  auto* node = b.Node("Resize", {"x", "", "s"}, {"y"});
  SetInts(node, "axes", axes);
  const bool linear = r->OneIn(2);
  if (!linear && r->OneIn(2)) SetInt(node, "antialias", 0);
  compiler::SetString(node, "mode", linear ? "linear" : "nearest");
  compiler::SetString(
      node, "coordinate_transformation_mode",
      opset >= 19 && r->OneIn(2)
          ? "half_pixel_symmetric"
          : r->Pick({"half_pixel", "asymmetric", "align_corners"}));
  return Finish(&b, DataType::kFloat, {x});
}

// A tensor's scale, one for each channel, or one for each block of an axis.
struct Parameters {
  Shape shape;
  int64_t axis = 1, block = 0;
};
Parameters ParametersOf(const Shape& x, Random* r) {
  Parameters p;
  const auto rank = static_cast<int64_t>(x.size());
  p.axis = r->Below(rank);
  const int64_t form = r->Below(3), n = x[p.axis];
  if (form == 1) p.shape = {n};
  if (form == 2) {
    p.block = r->Between(1, n);
    p.shape = x;
    p.shape[p.axis] = (n + p.block - 1) / p.block;
  }
  if (r->OneIn(3)) p.axis -= rank;
  return p;
}

void Set(const Parameters& p, onnx::NodeProto* node) {
  SetInt(node, "axis", p.axis);
  if (p.block != 0) SetInt(node, "block_size", p.block);
}

DataType AnyCode(Random* r) {
  return r->Pick(
      {DataType::kUint8, DataType::kInt8, DataType::kUint16, DataType::kInt16});
}

OpsetCase QuantizeCase(int opset, Random* r) {
  ModelBuilder b(opset);
  const TensorData x = r->Values(DataType::kFloat, r->AnyShape(1));
  const Parameters p = ParametersOf(x.shape, r);
  const DataType type = AnyCode(r);
  b.Input("x", x.type, x.shape);
  b.Constant("s", r->Scales(p.shape));
  std::vector<std::string> inputs = {"x", "s"};
  const bool zero = r->OneIn(2);
  if (zero) {
    b.Constant("z", r->Values(type, p.shape));
    inputs.push_back("z");
  }
  auto* node = b.Node("QuantizeLinear", inputs, {"y"});
  Set(p, node);
  if (!zero || r->OneIn(3)) {
    SetInt(node, "output_dtype", static_cast<int>(type));
  }
  if (opset >= 23 && r->OneIn(3)) SetInt(node, "precision", 1);
  return Finish(&b, type, {x});
}

OpsetCase DequantizeCase(int opset, Random* r) {
  ModelBuilder b(opset);
  const DataType type = AnyCode(r);
  const TensorData x = r->Values(type, r->AnyShape(1));
  const Parameters p = ParametersOf(x.shape, r);
  b.Input("x", x.type, x.shape);
  b.Constant("s", r->Scales(p.shape));
  std::vector<std::string> inputs = {"x", "s"};
  if (r->OneIn(2)) {
    b.Constant("z", r->Values(type, p.shape));
    inputs.push_back("z");
  }
  auto* node = b.Node("DequantizeLinear", inputs, {"y"});
  Set(p, node);
  if (opset >= 23 && r->OneIn(3)) SetInt(node, "output_dtype", 1);
  return Finish(&b, DataType::kFloat, {x});
}

bool IsContinuous(const std::string& domain, const std::string& op) {
  static const auto* ops =
      new std::set<std::string>{"Abs",           "Add",
                                "AveragePool",   "BatchNormalization",
                                "Celu",          "Clip",
                                "Concat",        "Conv",
                                "ConvTranspose", "DepthToSpace",
                                "Dropout",       "Elu",
                                "Erf",           "Expand",
                                "Flatten",       "Gather",
                                "Gemm",          "GlobalAveragePool",
                                "GlobalMaxPool", "HardSigmoid",
                                "HardSwish",     "Identity",
                                "LeakyRelu",     "LogSoftmax",
                                "MatMul",        "Max",
                                "MaxPool",       "Mean",
                                "Min",           "Mul",
                                "Neg",           "PRelu",
                                "Pad",           "ReduceL1",
                                "ReduceMax",     "ReduceMean",
                                "ReduceMin",     "ReduceSum",
                                "Relu",          "Reshape",
                                "Selu",          "Sigmoid",
                                "Slice",         "Softmax",
                                "Softplus",      "Softsign",
                                "SpaceToDepth",  "Split",
                                "Squeeze",       "Sub",
                                "Sum",           "Tanh",
                                "Tile",          "Transpose",
                                "Unsqueeze"};
  return domain.empty() && ops->count(op) != 0;
}

// See the header.
bool IsComputedOtherwise(const compiler::Graph& graph,
                         const compiler::Node& node) {
  if (node.op == "AveragePool" || node.op == "MaxPool" || node.op == "LpPool") {
    if (node.attributes.count("auto_pad") == 0) return false;
    if (node.attributes.count("dilations") != 0) return true;
    // Strides that leave gaps between windows: by the formula the padding is
    // less than nothing, which the runtime takes as beginning in a gap.
    const compiler::Shape kernel = node.IntsAttribute("kernel_shape", {});
    const compiler::Shape strides =
        node.IntsAttribute("strides", compiler::Shape(kernel.size(), 1));
    for (size_t i = 0; i < kernel.size(); ++i) {
      if (kernel[i] < strides[i]) return true;
    }
    return false;
  }
  // In which order what is not sorted comes, ONNX leaves open.
  if (node.op == "TopK" && node.IntAttribute("sorted", 1) == 0) return true;
  // "The output tensor would be equivalent to input tensor": the runtime's is
  // of absolute values, or squares.
  if (node.op == "ReduceL1" || node.op == "ReduceL2" ||
      node.op == "ReduceSumSquare") {
    return node.IntAttribute("noop_with_empty_axes", 0) != 0;
  }
  if (node.op == "ConvTranspose" && node.attributes.count("auto_pad") != 0) {
    // Which side has more padding was the other way round before opset 11.
    if (node.opset < 11) return true;
    // The runtime infers another shape than ONNX's, input times stride, where
    // the output is padded or strides leave gaps between windows.
    if (node.attributes.count("output_padding") != 0) return true;
    const compiler::Shape& w = graph.tensors[node.inputs[1]].shape;
    const compiler::Shape ones(w.size() - 2, 1);
    const compiler::Shape strides = node.IntsAttribute("strides", ones),
                          dilations = node.IntsAttribute("dilations", ones);
    for (size_t i = 0; i < ones.size(); ++i) {
      if ((w[i + 2] - 1) * dilations[i] + 1 < strides[i]) return true;
    }
  }
  return node.op == "QLinearMatMul" && graph.tensors[node.inputs[0]].type !=
                                           graph.tensors[node.inputs[3]].type;
}

OpsetCase FromGraph(const compiler::RandomGraph& random) {
  OpsetCase result;
  if (random.graph.nodes.empty()) return result;
  for (const compiler::Node& node : random.graph.nodes) {
    if (IsComputedOtherwise(random.graph, node)) return result;
  }
  onnx::ModelProto model = ToModel(random);
  for (const auto& input : model.graph().input()) {
    result.inputs.push_back(input.name());
  }
  for (const auto& output : model.graph().output()) {
    result.outputs.push_back(output.name());
  }
  result.values = random.inputs;
  result.model = model.SerializeAsString();
  return result;
}

}  // namespace

OpsetCase NodeCase(const std::string& op, int opset, uint64_t seed) {
  Random r(seed);
  if (op == "Shape" || op == "Size") return ShapeCase(op, opset, &r);
  if (op == "Constant") return ConstantCase(opset, &r);
  if (op == "ConstantOfShape") return ConstantOfShapeCase(opset, &r);
  if ((op == "ReduceMax" || op == "ReduceMin") && opset >= 20 && r.OneIn(2)) {
    return BoolReduceCase(op, opset, &r);
  }
  if (op == "Resize" && opset >= 18 && r.OneIn(2)) return ResizeCase(opset, &r);
  if (op == "QuantizeLinear" && opset >= 21 && !r.OneIn(4)) {
    return QuantizeCase(opset, &r);
  }
  if (op == "DequantizeLinear" && opset >= 21 && !r.OneIn(4)) {
    return DequantizeCase(opset, &r);
  }
  compiler::RandomGraphOptions options;
  options.seed = seed;
  options.min_nodes = options.max_nodes = 1;
  options.max_elements = 2000;
  options.only = op.c_str();
  options.opset = opset;
  options.plain = true;
  return FromGraph(compiler::MakeRandomGraph(options));
}

OpsetCase GraphCase(int opset, uint64_t seed) {
  compiler::RandomGraphOptions options;
  options.seed = seed;
  options.min_nodes = 2;
  options.max_nodes = 8;
  options.max_elements = 2000;
  options.opset = opset;
  options.plain = true;
  options.allowed = IsContinuous;
  return FromGraph(compiler::MakeRandomGraph(options));
}

}  // namespace heddle::tests
