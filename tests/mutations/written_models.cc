// SPDX-License-Identifier: Apache-2.0
// Models of the operators that no random generator makes.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "tests/mutations/valid_models.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::Int32s;
using compiler::Int64s;
using compiler::ModelBuilder;
using compiler::SetFloat;
using compiler::SetInt;
using compiler::SetInts;
using compiler::SetString;
using compiler::Shape;
using compiler::TensorData;

constexpr DataType kFloat = DataType::kFloat;
constexpr char kMicrosoft[] = "com.microsoft";
// A model of an operator of com.microsoft is of any opset of ONNX.
constexpr int kAnyOpset = 17;

// Writes inputs and the node, whose first output is "y".
using Writer =
    std::function<void(ModelBuilder*, const compiler::OperatorInfo&)>;

TensorData Zeros(DataType type, const Shape& shape) {
  return TensorData::Zeros(type, shape);
}

// One input x of `type` and `shape`, and attributes.
Writer Of(DataType type, const Shape& shape,
          const std::function<void(onnx::NodeProto*)>& attributes = {}) {
  return [=](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", type, shape);
    onnx::NodeProto* node = b->Node(info.op, {"x"}, {"y"}, info.domain);
    if (attributes) attributes(node);
  };
}

// Two inputs, the second one broadcast as the opset has it, or of equal shape.
Writer OfTwo(DataType type, bool broadcast) {
  return [=](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", type, {2, 3, 4});
    b->Input("b", type,
             !broadcast                ? Shape{2, 3, 4}
             : info.since_version >= 7 ? Shape{3, 1}
                                       : Shape{3});
    onnx::NodeProto* node = b->Node(info.op, {"x", "b"}, {"y"});
    if (!broadcast) return;
    SetInt(node, "broadcast", 1);
    SetInt(node, "axis", 1);
  };
}

void SetTensor(onnx::NodeProto* node, const std::string& name,
               const std::vector<float>& values, bool scalar) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::TENSOR);
  attribute->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  if (!scalar) {
    attribute->mutable_t()->add_dims(static_cast<int64_t>(values.size()));
  }
  for (float value : values) attribute->mutable_t()->add_float_data(value);
}

void Losses(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {3, 5, 2});
  b->Constant("t", Int64s({3, 2}, {0, 1, 2, 3, 4, 0}));
  b->Constant("w", Floats({5}, {1, 2, 3, 4, 5}));
  SetString(b->Node(info.op, {"x", "t", "w"}, {"y"}), "reduction", "mean");
}

void TfIdf(onnx::NodeProto* node) {
  SetInt(node, "max_gram_length", 2);
  SetInt(node, "min_gram_length", 1);
  SetInt(node, "max_skip_count", 1);
  SetString(node, "mode", "TF");
  SetInts(node, "ngram_counts", {0, 2});
  SetInts(node, "ngram_indexes", {0, 1, 2, 3, 4, 5});
  SetInts(node, "pool_int64s", {2, 3, 5, 4, 5, 6, 7, 8, 6, 7});
}

void Suppression(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {1, 6, 4});
  b->Input("s", kFloat, {1, 2, 6});
  b->Constant("n", Int64s({1}, {3}));
  b->Constant("iou", Floats({1}, {0.5}));
  b->Node(info.op, {"x", "s", "n", "iou"}, {"y"});
}

void Deform(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {1, 2, 5, 5});
  b->Constant("w", Zeros(kFloat, {3, 2, 3, 3}));
  b->Input("o", kFloat, {1, 18, 3, 3});
  b->Node(info.op, {"x", "w", "o"}, {"y"});
}

void Mel(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Constant("n", Int64s({}, {4}));
  b->Constant("length", Int64s({}, {16}));
  b->Constant("rate", Int64s({}, {8000}));
  b->Constant("low", Floats({}, {0}));
  b->Constant("high", Floats({}, {4000}));
  b->Node(info.op, {"n", "length", "rate", "low", "high"}, {"y"});
}

void NBits(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 32});
  b->Constant("w", Zeros(DataType::kUint8, {3, 2, 8}));
  b->Constant("s", Zeros(kFloat, {6}));
  auto* node = b->Node(info.op, {"x", "w", "s"}, {"y"}, kMicrosoft);
  SetInt(node, "K", 32);
  SetInt(node, "N", 3);
  SetInt(node, "bits", 4);
  SetInt(node, "block_size", 16);
}

void QuantizedAttention(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", DataType::kUint8, {2, 3, 5});
  b->Constant("w", Zeros(DataType::kInt8, {5, 12}));
  b->Constant("bias", Zeros(kFloat, {12}));
  b->Constant("sx", Floats({}, {0.1f}));
  b->Constant("sw", Floats({}, {0.1f}));
  SetInt(b->Node(info.op, {"x", "w", "bias", "sx", "sw"}, {"y"}, kMicrosoft),
         "num_heads", 2);
}

void GroupQuery(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {1, 3, 32});
  b->Input("k", kFloat, {1, 3, 16});
  b->Input("v", kFloat, {1, 3, 16});
  b->Constant("lengths", Int32s({1}, {2}));
  b->Constant("total", Int32s({1}, {3}));
  auto* node = b->Node(info.op, {"x", "k", "v", "", "", "lengths", "total"},
                       {"y", "pk", "pv"}, kMicrosoft);
  SetInt(node, "num_heads", 2);
  SetInt(node, "kv_num_heads", 1);
}

void Weights(ModelBuilder* b, const std::string& name, const Shape& shape) {
  const auto count = static_cast<size_t>(compiler::ElementCount(shape));
  b->Constant(name, Floats(shape, std::vector<float>(count, 0.5f)));
}

void Embedding(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", DataType::kInt32, {2, 3});
  Weights(b, "words", {7, 5});
  Weights(b, "places", {4, 5});
  Weights(b, "g", {5});
  b->Node(info.op, {"x", "", "words", "places", "", "g", "g"}, {"y", "count"},
          kMicrosoft);
}

void QuantizedEmbedding(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", DataType::kInt32, {2, 3});
  b->Constant("words", Zeros(DataType::kUint8, {7, 5}));
  b->Constant("places", Zeros(DataType::kUint8, {4, 5}));
  b->Constant("g", Zeros(DataType::kUint8, {5}));
  b->Constant("s", Floats({}, {0.1f}));
  b->Constant("z", Zeros(DataType::kUint8, {}));
  b->Node(info.op,
          {"x", "", "words", "places", "", "g", "g", "", "s", "s", "", "s", "s",
           "z", "z", "", "z", "z"},
          {"y", "count"}, kMicrosoft);
}

void MicrosoftAttention(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 3, 5});
  Weights(b, "w", {5, 12});
  Weights(b, "bias", {12});
  SetInt(b->Node(info.op, {"x", "w", "bias"}, {"y"}, kMicrosoft), "num_heads",
         2);
}

void MultiHead(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 3, 8});
  b->Input("k", kFloat, {2, 4, 8});
  b->Input("v", kFloat, {2, 4, 8});
  SetInt(b->Node(info.op, {"x", "k", "v"}, {"y"}, kMicrosoft), "num_heads", 2);
}

void Simplified(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 3, 5});
  Weights(b, "s", {5});
  SetInt(b->Node(info.op, {"x", "s"}, {"y"}), "axis", -1);
}

void FusedProduct(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 3});
  Weights(b, "w", {3, 5});
  auto* node = b->Node(info.op, {"x", "w"}, {"y"}, kMicrosoft);
  SetFloat(node, "alpha", 0.5f);
  SetString(node, "activation", "Relu");
}

void FusedConvolution(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {1, 2, 5, 5});
  Weights(b, "w", {3, 2, 3, 3});
  auto* node = b->Node(info.op, {"x", "w"}, {"y"}, kMicrosoft);
  SetInts(node, "pads", {1, 1, 1, 1});
  SetString(node, "activation", "Relu");
}

// BiasAdd, BiasSplitGelu, BiasSoftmax.
void Biased(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 3, 4});
  Weights(b, "b", {4});
  std::vector<std::string> in = {"x", "b"};
  if (info.min_inputs == 3) {
    b->Input("skip", kFloat, {2, 3, 4});
    in.push_back("skip");
  }
  auto* node = b->Node(info.op, in, {"y"}, kMicrosoft);
  SetInt(node, "axis", 2);
  SetInt(node, "is_inner_broadcast", 0);
}

void Groups(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {1, 2, 3, 4});
  Weights(b, "g", {4});
  std::vector<std::string> in = {"x", "g", "g"};
  if (info.min_inputs == 4) {
    b->Input("skip", kFloat, {1, 2, 3, 4});
    in.push_back("skip");
  }
  auto* node = b->Node(info.op, in, {"y"}, kMicrosoft);
  SetInt(node, "activation", 1);
  SetInt(node, "groups", 2);
}

void DynamicMatMul(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 3});
  b->Constant("w", Zeros(DataType::kUint8, {3, 5}));
  b->Constant("s", Floats({}, {0.1f}));
  b->Node(info.op, {"x", "w", "s"}, {"y"}, kMicrosoft);
}

void DynamicLstm(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 1, 3});
  b->Constant("w", Zeros(DataType::kInt8, {1, 3, 8}));
  b->Constant("r", Zeros(DataType::kInt8, {1, 2, 8}));
  b->Constant("s", Floats({1}, {0.1f}));
  b->Constant("z", Zeros(DataType::kInt8, {1}));
  auto* node =
      b->Node(info.op, {"x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"},
              {"y"}, kMicrosoft);
  SetInt(node, "hidden_size", 2);
}

void GatheredBlocks(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Constant("w", Zeros(DataType::kUint8, {5, 16}));
  b->Input("x", DataType::kInt32, {3});
  Weights(b, "s", {5, 2});
  auto* node = b->Node(info.op, {"w", "x", "s"}, {"y"}, kMicrosoft);
  SetInt(node, "bits", 4);
  SetInt(node, "block_size", 16);
}

void Bnb4(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 32});
  b->Constant("w", Zeros(DataType::kUint8, {48}));
  Weights(b, "s", {6});
  auto* node = b->Node(info.op, {"x", "w", "s"}, {"y"}, kMicrosoft);
  SetInt(node, "K", 32);
  SetInt(node, "N", 3);
  SetInt(node, "block_size", 16);
  SetInt(node, "quant_type", 1);
}

void MicrosoftCodes(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", info.op[0] == 'Q' ? kFloat : DataType::kUint16, {2, 3});
  b->Constant("s", Floats({}, {0.1f}));
  b->Constant("z", Zeros(DataType::kUint16, {}));
  SetInt(b->Node(info.op, {"x", "s", "z"}, {"y"}, kMicrosoft), "axis", 1);
}

void QuantizedChoice(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("c", DataType::kBool, {2, 3});
  b->Input("x", DataType::kUint8, {2, 3});
  b->Input("z", DataType::kUint8, {3});
  b->Constant("s", Floats({}, {0.1f}));
  b->Constant("p", Zeros(DataType::kUint8, {}));
  b->Node(info.op, {"c", "x", "s", "p", "z", "s", "p", "s", "p"}, {"y"},
          kMicrosoft);
}

void QuantizedSoftmax(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", DataType::kUint8, {2, 3});
  b->Constant("s", Floats({}, {0.1f}));
  b->Constant("p", Zeros(DataType::kUint8, {}));
  auto* node = b->Node(info.op, {"x", "s", "p", "s", "p"}, {"y"}, kMicrosoft);
  SetInt(node, "axis", -1);
  SetInt(node, "opset", 13);
}

void Constants(ModelBuilder* b, const compiler::OperatorInfo& info) {
  auto* node = b->Node(info.op, {}, {"y"});
  if (info.since_version < 12) {
    SetTensor(node, "value", {1, 2, 3}, false);
  } else {
    SetInts(node, "value_ints", {1, 2, 3});
  }
}

void Batch(ModelBuilder* b, const compiler::OperatorInfo& info) {
  b->Input("x", kFloat, {2, 3, 4, 4});
  for (const char* name : {"s", "b", "m", "v"}) {
    b->Constant(name, Floats({3}, {1, 2, 3}));
  }
  auto* node = b->Node(info.op, {"x", "s", "b", "m", "v"}, {"y"});
  if (info.since_version < 7) SetInt(node, "is_test", 1);
  if (info.since_version < 6) SetInts(node, "consumed_inputs", {0, 0, 0, 1, 1});
}

// As opsets 1 to 9 had them.
void AddExperimental(std::map<std::string, Writer>* all) {
  const Shape image = {2, 3, 4, 4};
  for (const char* op :
       {"Affine", "ParametricSoftplus", "ScaledTanh", "ThresholdedRelu"}) {
    (*all)[op] = Of(kFloat, image, [](onnx::NodeProto* node) {
      SetFloat(node, "alpha", 0.5f);
      SetFloat(node, "beta", 2);
    });
  }
  (*all)["Crop"] = Of(kFloat, image, [](onnx::NodeProto* node) {
    SetInts(node, "border", {1, 0, 0, 0});
    SetInts(node, "scale", {2, 3});
  });
  (*all)["ImageScaler"] = Of(kFloat, image, [](onnx::NodeProto* node) {
    SetFloat(node, "scale", 0.5f);
    auto* bias = node->add_attribute();
    bias->set_name("bias");
    bias->set_type(onnx::AttributeProto::FLOATS);
    for (const float value : {1, 2, 3}) bias->add_floats(value);
  });
  (*all)["MeanVarianceNormalization"] =
      Of(kFloat, image, [](onnx::NodeProto* node) {
        SetInt(node, "across_channels", 1);
        SetInt(node, "normalize_variance", 0);
        SetInts(node, "axes", {0, 2, 3});
      });
  (*all)["Scale"] = Of(kFloat, image, [](onnx::NodeProto* node) {
    SetFloat(node, "scale", 0.5f);
  });
  (*all)["DynamicSlice"] = [image](ModelBuilder* b,
                                   const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, image);
    b->Constant("from", Int64s({2}, {0, 1}))
        .Constant("to", Int64s({2}, {2, 4}));
    b->Constant("axes", Int64s({2}, {1, 3}));
    b->Node(info.op, {"x", "from", "to", "axes"}, {"y"});
  };
}

std::map<std::string, Writer> Writers() {
  const Shape x = {2, 3, 4};
  std::map<std::string, Writer> all;
  // As opsets 1 to 6 had them.
  for (const char* op :
       {"Abs", "Ceil", "Elu", "Exp", "Floor", "HardSigmoid", "LeakyRelu", "Log",
        "Neg", "Reciprocal", "Relu", "Selu", "Sigmoid", "Sqrt", "Tanh"}) {
    all[op] = Of(kFloat, x, [](onnx::NodeProto* node) {
      SetInts(node, "consumed_inputs", {0});
    });
  }
  for (const char* op :
       {"Add", "Div", "Greater", "Less", "Mul", "Pow", "Sub"}) {
    all[op] = OfTwo(kFloat, true);
  }
  all["Equal"] = OfTwo(DataType::kInt32, true);
  for (const char* op : {"And", "Or", "Xor"}) {
    all[op] = OfTwo(DataType::kBool, true);
  }
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    all[op] = OfTwo(kFloat, false);
  }
  all["Clip"] = Of(kFloat, x, [](onnx::NodeProto* node) {
    SetFloat(node, "min", -1);
    SetFloat(node, "max", 1);
  });
  all["Cast"] = Of(
      kFloat, x, [](onnx::NodeProto* node) { SetString(node, "to", "INT32"); });
  all["Concat"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {2, 3, 4});
    b->Input("b", kFloat, {2, 5, 4});
    SetInt(b->Node(info.op, {"x", "b"}, {"y"}), "axis", 1);
  };
  all["Dropout"] = Of(kFloat, x, [](onnx::NodeProto* node) {
    SetInt(node, "is_test", 1);
    SetFloat(node, "ratio", 0.25f);
  });
  all["Gemm"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {2, 3});
    b->Constant("w", Zeros(kFloat, {3, 5}));
    b->Constant("c", Zeros(kFloat, {5}));
    SetInt(b->Node(info.op, {"x", "w", "c"}, {"y"}), "broadcast", 1);
  };
  all["GlobalLpPool"] =
      Of(kFloat, x, [](onnx::NodeProto* node) { SetFloat(node, "p", 2); });
  all["LpPool"] = Of(kFloat, {2, 3, 6, 6}, [](onnx::NodeProto* node) {
    SetFloat(node, "p", 2);
    SetInts(node, "kernel_shape", {2, 2});
    SetInts(node, "pads", {1, 0, 0, 1});
    SetInts(node, "strides", {2, 1});
  });
  all["InstanceNormalization"] = [](ModelBuilder* b,
                                    const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {2, 3, 4, 4});
    b->Constant("s", Floats({3}, {1, 2, 3}));
    b->Constant("b", Floats({3}, {1, 2, 3}));
    b->Node(info.op, {"x", "s", "b"}, {"y"});
  };
  all["PRelu"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {2, 3, 4});
    b->Constant("s", Floats({3}, {1, 2, 3}));
    b->Node(info.op, {"x", "s"}, {"y"});
  };
  all["Reshape"] = Of(kFloat, x, [](onnx::NodeProto* node) {
    SetInts(node, "shape", {6, -1});
  });
  all["Pad"] = Of(kFloat, {2, 3}, [](onnx::NodeProto* node) {
    SetInts(node, "paddings", {0, 1, 2, 0});
    SetString(node, "mode", "constant");
  });
  all["Upsample"] = Of(kFloat, {1, 2, 3, 4}, [](onnx::NodeProto* node) {
    SetFloat(node, "height_scale", 2);
    SetFloat(node, "width_scale", 2);
    SetString(node, "mode", "nearest");
    auto* scales = node->add_attribute();
    scales->set_name("scales");
    scales->set_type(onnx::AttributeProto::FLOATS);
    for (float scale : {1, 1, 2, 2}) scales->add_floats(scale);
  });
  all["BatchNormalization"] = Batch;
  all["Not"] = Of(DataType::kBool, x);
  all["Transpose"] = Of(kFloat, x, [](onnx::NodeProto* node) {
    SetInts(node, "perm", {2, 0, 1});
  });
  all["Split"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {2, 6});
    auto* node = b->Node(info.op, {"x"}, {"y", "z"});
    SetInt(node, "axis", 1);
    SetInts(node, "split", {2, 4});
  };
  all["Tile"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {2, 3});
    if (info.since_version < 6) {
      b->Constant("n", Floats({1}, {2}));
      b->Constant("axis", Floats({1}, {1}));
      b->Node(info.op, {"x", "n", "axis"}, {"y"});
    } else {
      b->Constant("n", Int64s({2}, {1, 2}));
      b->Node(info.op, {"x", "n"}, {"y"});
    }
  };
  // As they are now.
  all["NegativeLogLikelihoodLoss"] = all["SoftmaxCrossEntropyLoss"] = Losses;
  for (const char* op : {"BlackmanWindow", "HammingWindow", "HannWindow"}) {
    all[op] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
      b->Constant("n", Int64s({}, {10}));
      SetInt(b->Node(info.op, {"n"}, {"y"}), "periodic", 1);
    };
  }
  all["CenterCropPad"] = [](ModelBuilder* b,
                            const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {2, 5, 4});
    b->Constant("n", Int64s({2}, {3, 7}));
    SetInts(b->Node(info.op, {"x", "n"}, {"y"}), "axes", {1, 2});
  };
  all["Col2Im"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {1, 8, 9});
    b->Constant("image", Int64s({2}, {4, 4}));
    b->Constant("block", Int64s({2}, {2, 2}));
    SetInts(b->Node(info.op, {"x", "image", "block"}, {"y"}), "strides",
            {1, 1});
  };
  all["Compress"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {2, 3});
    b->Constant("c",
                compiler::MakeData<uint8_t>(DataType::kBool, {3}, {1, 0, 1}));
    SetInt(b->Node(info.op, {"x", "c"}, {"y"}), "axis", 1);
  };
  all["Constant"] = Constants;
  all["ConstantOfShape"] = [](ModelBuilder* b,
                              const compiler::OperatorInfo& info) {
    b->Constant("n", Int64s({2}, {2, 3}));
    SetTensor(b->Node(info.op, {"n"}, {"y"}), "value", {2}, false);
  };
  all["DeformConv"] = Deform;
  all["EyeLike"] = Of(kFloat, {3, 4}, [](onnx::NodeProto* node) {
    SetInt(node, "k", 1);
    SetInt(node, "dtype", 6);
  });
  all["MaxRoiPool"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, {1, 2, 6, 6});
    b->Input("r", kFloat, {3, 5});
    SetInts(b->Node(info.op, {"x", "r"}, {"y"}), "pooled_shape", {2, 2});
  };
  all["MelWeightMatrix"] = Mel;
  all["NonMaxSuppression"] = Suppression;
  all["NonZero"] = Of(kFloat, {2, 3});
  all["Range"] = [](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Constant("from", Int64s({}, {1}));
    b->Constant("to", Int64s({}, {9}));
    b->Constant("by", Int64s({}, {2}));
    b->Node(info.op, {"from", "to", "by"}, {"y"});
  };
  all["Shape"] = all["Size"] = Of(kFloat, x);
  all["TfIdfVectorizer"] = Of(DataType::kInt32, {2, 8}, TfIdf);
  all["Unique"] = Of(kFloat, {2, 8}, [](onnx::NodeProto* node) {
    SetInt(node, "axis", 1);
    SetInt(node, "sorted", 1);
  });
  all["Attention"] = MicrosoftAttention;
  all["BiasAdd"] = all["BiasSoftmax"] = all["BiasSplitGelu"] = Biased;
  all["DequantizeLinear"] = all["QuantizeLinear"] = MicrosoftCodes;
  all["DynamicQuantizeMatMul"] = DynamicMatMul;
  all["DynamicQuantizeLSTM"] = DynamicLstm;
  all["EmbedLayerNormalization"] = Embedding;
  all["FusedConv"] = FusedConvolution;
  all["FusedGemm"] = all["FusedMatMul"] = FusedProduct;
  all["TransposeMatMul"] = FusedProduct;
  all["GatherBlockQuantized"] = GatheredBlocks;
  all["GroupNorm"] = all["SkipGroupNorm"] = Groups;
  all["GroupQueryAttention"] = GroupQuery;
  all["MultiHeadAttention"] = MultiHead;
  all["NhwcMaxPool"] =
      Of(DataType::kUint8, {1, 5, 5, 2}, [](onnx::NodeProto* node) {
        SetInts(node, "kernel_shape", {2, 2});
      });
  all["QEmbedLayerNormalization"] = QuantizedEmbedding;
  all["SimplifiedLayerNormalization"] = Simplified;
  all["MatMulBnb4"] = Bnb4;
  all["MatMulNBits"] = NBits;
  all["QAttention"] = QuantizedAttention;
  all["QLinearSoftmax"] = QuantizedSoftmax;
  all["QLinearWhere"] = QuantizedChoice;
  all["Swish"] = Of(
      kFloat, x, [](onnx::NodeProto* node) { SetFloat(node, "alpha", 0.5f); });
  all["BitCast"] = Of(kFloat, x, [](onnx::NodeProto* node) {
    SetInt(node, "to", static_cast<int64_t>(DataType::kInt32));
  });
  all["CumProd"] = [x](ModelBuilder* b, const compiler::OperatorInfo& info) {
    b->Input("x", kFloat, x).Constant("axis", Int64s({}, {1}));
    SetInt(b->Node(info.op, {"x", "axis"}, {"y"}), "reverse", 1);
  };
  all["TensorScatter"] = [](ModelBuilder* b,
                            const compiler::OperatorInfo& info) {
    b->Input("cache", kFloat, {2, 3, 6, 4})
        .Input("update", kFloat, {2, 3, 2, 4});
    b->Constant("at", Int64s({2}, {1, 3}));
    auto* node = b->Node(info.op, {"cache", "update", "at"}, {"y"});
    SetInt(node, "axis", -2);
    SetString(node, "mode", "circular");
  };
  AddExperimental(&all);
  return all;
}

}  // namespace

std::optional<onnx::ModelProto> WrittenModel(
    const compiler::OperatorInfo& info) {
  static const auto* writers = new std::map<std::string, Writer>(Writers());
  const auto writer = writers->find(info.op);
  if (writer == writers->end()) return std::nullopt;
  ModelBuilder b(info.domain[0] == '\0' ? info.since_version : kAnyOpset);
  writer->second(&b, info);
  b.Output("y");
  // What the definition at hand does not have any more, or not yet.
  auto* attributes =
      b.proto().mutable_graph()->mutable_node(0)->mutable_attribute();
  for (int i = attributes->size(); i-- > 0;) {
    const std::string& name = attributes->Get(i).name();
    if (std::none_of(info.attributes.begin(), info.attributes.end(),
                     [&](const auto& rule) { return rule.name == name; })) {
      attributes->DeleteSubrange(i, 1);
    }
  }
  return b.proto();
}

}  // namespace heddle::tests
