// SPDX-License-Identifier: Apache-2.0
// Every model that is proven is evaluated with both sizes, and the outputs of
// the larger one are cut: the bytes must be those of the smaller one.
#include "compiler/shapes/independence.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kFew = 2, kMany = 5;

TensorData Random(DataType type, const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  TensorData data = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    if (type == DataType::kFloat) {
      data.as<float>()[i] = static_cast<float>(random() % 2001) / 250 - 4;
    } else if (type == DataType::kInt64) {
      data.as<int64_t>()[i] = random() % 3;
    } else {
      data.bytes[i] = static_cast<uint8_t>(random());
    }
  }
  return data;
}

// Of the whole, where axis 1 is the batch for "t", axis 0 for all others.
int64_t BatchAxis(const std::string& input) { return input == "t" ? 1 : 0; }

// `axis` of `whole` to `size`; beyond the end, the last index again.
TensorData Take(const TensorData& whole, int64_t axis, int64_t size) {
  Shape shape = whole.shape;
  shape[axis] = size;
  TensorData part = TensorData::Zeros(whole.type, shape);
  size_t outer = 1, inner = ElementBytes(whole.type);
  for (int64_t i = 0; i < axis; ++i) outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  for (size_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < size; ++i) {
      const int64_t from = std::min(i, whole.shape[axis] - 1);
      std::memcpy(part.bytes.data() + (o * size + i) * inner,
                  whole.bytes.data() + (o * whole.shape[axis] + from) * inner,
                  inner);
    }
  }
  return part;
}

using Build = std::function<void(ModelBuilder*)>;

absl::StatusOr<Graph> Analyse(const std::string& model, int64_t batch) {
  CompileOptions options;
  onnx::ModelProto proto;
  proto.ParseFromString(model);
  for (const auto& input : proto.graph().input()) {
    Shape shape;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      shape.push_back(dim.has_dim_value() ? dim.dim_value() : batch);
    }
    options.input_shapes[input.name()] = shape;
  }
  return AnalyseOnnx(model, options);
}

absl::StatusOr<std::vector<CutAxis>> Prove(const Build& build, int opset = 18,
                                           bool evaluate = true) {
  ModelBuilder b(opset);
  build(&b);
  const auto few = Analyse(b.Bytes(), kFew), many = Analyse(b.Bytes(), kMany);
  EXPECT_TRUE(few.ok()) << few.status();
  EXPECT_TRUE(many.ok()) << many.status();
  if (!few.ok() || !many.ok()) return few.status();
  auto proof = ProveIndependent(*few, *many, kFew, kMany);
  if (!proof.ok() || !evaluate) return proof;
  std::vector<TensorData> small, large;
  for (size_t i = 0; i < few->inputs.size(); ++i) {
    const Tensor& tensor = few->tensors[few->inputs[i]];
    small.push_back(Random(tensor.type, tensor.shape, 7 + i));
    const bool same = many->tensors[many->inputs[i]].shape == tensor.shape;
    large.push_back(same ? small.back()
                         : Take(small.back(), BatchAxis(tensor.name), kMany));
  }
  const auto less = EvaluateGraph(*few, small);
  const auto more = EvaluateGraph(*many, large);
  EXPECT_TRUE(less.ok()) << less.status();
  EXPECT_TRUE(more.ok()) << more.status();
  if (!less.ok() || !more.ok()) return less.status();
  for (size_t i = 0; i < proof->size(); ++i) {
    const TensorData& a = (*less)[few->outputs[i]];
    const TensorData& whole = (*more)[many->outputs[i]];
    const CutAxis& cut = (*proof)[i];
    const TensorData c =
        cut.axis < 0 ? whole : Take(whole, cut.axis, cut.inner * kFew);
    EXPECT_EQ(a.shape, c.shape);
    EXPECT_TRUE(a.bytes == c.bytes) << "output " << i << " differs";
  }
  return proof;
}

Build Unary(const char* op, const Shape& x,
            const std::function<void(onnx::NodeProto*)>& set = nullptr) {
  return [=](ModelBuilder* b) {
    b->Input("x", DataType::kFloat, x);
    onnx::NodeProto* node = b->Node(op, {"x"}, {"y"});
    if (set) set(node);
    b->Output("y");
  };
}

Build WithConstants(
    const char* op, const Shape& x, const std::vector<TensorData>& constants,
    const std::function<void(onnx::NodeProto*)>& set = nullptr) {
  return [=](ModelBuilder* b) {
    b->Input("x", DataType::kFloat, x);
    std::vector<std::string> inputs = {"x"};
    for (size_t i = 0; i < constants.size(); ++i) {
      inputs.push_back(std::string("c") + std::to_string(i));
      b->Constant(inputs.back(), constants[i]);
    }
    onnx::NodeProto* node = b->Node(op, inputs, {"y"});
    if (set) set(node);
    b->Output("y");
  };
}

auto Int(const char* name, int64_t value) {
  return [=](onnx::NodeProto* node) { SetInt(node, name, value); };
}
auto Perm(const std::vector<int64_t>& perm) {
  return [=](onnx::NodeProto* node) { SetInts(node, "perm", perm); };
}

struct Case {
  const char* name;
  Build build;
  int axis = 0;  // of the output
  int64_t inner = 1;
  int opset = 18;
};

TEST(Independence, IsProvenAndHolds) {
  const auto weights = [](const Shape& shape) {
    return Random(DataType::kFloat, shape, 3);
  };
  const Case cases[] = {
      {"Relu", Unary("Relu", {-1, 3})},
      {"Add of a bias", WithConstants("Add", {-1, 3}, {weights({3})})},
      {"Conv", WithConstants("Conv", {-1, 2, 5, 5}, {weights({4, 2, 3, 3})})},
      {"MaxPool", Unary("MaxPool", {-1, 2, 4, 4},
                        [](auto* n) { SetInts(n, "kernel_shape", {2, 2}); })},
      {"GlobalAveragePool", Unary("GlobalAveragePool", {-1, 2, 4, 4})},
      {"MatMul", WithConstants("MatMul", {-1, 3, 4}, {weights({4, 6})})},
      {"Gemm", WithConstants("Gemm", {-1, 4}, {weights({4, 6}), weights({6})})},
      {"Softmax", Unary("Softmax", {-1, 7})},
      {"Softmax before 13", Unary("Softmax", {-1, 7}), 0, 1, 11},
      {"ReduceMean",
       WithConstants("ReduceMean", {-1, 7, 3}, {Int64s({1}, {2})},
                     Int("keepdims", 0))},
      {"ReduceSum moves the axis",
       [](ModelBuilder* b) {
         b->Input("t", DataType::kFloat, {3, -1, 4});
         b->Constant("axes", Int64s({1}, {0}));
         SetInt(b->Node("ReduceSum", {"t", "axes"}, {"y"}), "keepdims", 0);
         b->Output("y");
       }},
      {"ArgMax", Unary("ArgMax", {-1, 7}, Int("axis", 1))},
      {"Transpose", Unary("Transpose", {-1, 7, 2}, Perm({2, 0, 1})), 1},
      {"Concat",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3});
         b->Node("Relu", {"x"}, {"r"});
         SetInt(b->Node("Concat", {"x", "r"}, {"y"}), "axis", 1);
         b->Output("y");
       }},
      {"Slice", WithConstants("Slice", {-1, 6},
                              {Int64s({1}, {1}), Int64s({1}, {4}),
                               Int64s({1}, {1})})},
      {"Pad", WithConstants("Pad", {-1, 3}, {Int64s({4}, {0, 1, 0, 2})})},
      {"Rows of a stack",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3, 4});
         b->Constant("shape", Int64s({2}, {-1, 4}));
         b->Node("Reshape", {"x", "shape"}, {"y"});
         b->Output("y");
       },
       0, 3},
      {"Look up",
       [&](ModelBuilder* b) {
         b->Input("i", DataType::kInt64, {-1, 4});
         b->Constant("table", weights({3, 5}));
         b->Node("Gather", {"table", "i"}, {"y"});
         b->Output("y");
       }},
      {"Attention over the sequence",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3, 4});
         SetInts(b->Node("Transpose", {"x"}, {"t1"}), "perm", {0, 2, 1});
         b->Node("MatMul", {"x", "t1"}, {"s"});
         b->Node("Softmax", {"s"}, {"p"});
         b->Node("MatMul", {"p", "x"}, {"y"});
         b->Output("y");
       }},
      {"LayerNormalization",
       WithConstants("LayerNormalization", {-1, 3, 8}, {weights({8})})},
      {"Zeros for each of the batch",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3});
         b->Node("Shape", {"x"}, {"s"});
         b->Node("ConstantOfShape", {"s"}, {"z"});
         b->Node("Add", {"x", "z"}, {"y"});
         b->Output("y");
       }},
      {"Resize",
       WithConstants("Resize", {-1, 1, 3, 3},
                     {Floats({0}, {}), Floats({4}, {1, 1, 2, 2})})},
      {"CumSum", WithConstants("CumSum", {-1, 3}, {Int64s({}, {-1})})},
      {"TopK", WithConstants("TopK", {-1, 7}, {Int64s({1}, {3})})},
      {"TopK of another axis",
       [](ModelBuilder* b) {
         b->Input("t", DataType::kFloat, {7, -1, 2});
         b->Constant("k", Int64s({1}, {3}));
         SetInt(b->Node("TopK", {"t", "k"}, {"y", "i"}), "axis", 0);
         b->Output("y");
         b->Output("i");
       },
       1},
      {"OneHot",
       [](ModelBuilder* b) {
         b->Input("i", DataType::kInt64, {-1, 4});
         b->Constant("depth", Int64s({}, {3}));
         b->Constant("values", Floats({2}, {0, 1}));
         SetInt(b->Node("OneHot", {"i", "depth", "values"}, {"y"}), "axis", 0);
         b->Output("y");
       },
       1},
      {"Tile", WithConstants("Tile", {-1, 3}, {Int64s({2}, {1, 4})})},
      {"Expand along another axis",
       WithConstants("Expand", {-1, 1}, {Int64s({3}, {2, 1, 3})}), 1},
      {"Expand to the batch",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3});
         b->Input("y", DataType::kFloat, {3});
         b->Node("Shape", {"x"}, {"s"});
         b->Node("Expand", {"y", "s"}, {"e"});
         b->Node("Add", {"x", "e"}, {"z"});
         b->Output("z");
       }},
      {"MatMulInteger",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kUint8, {-1, 4});
         b->Constant("w", Random(DataType::kUint8, {4, 3}, 5));
         b->Constant("a", Uint8s({}, {7}));
         b->Constant("b", Random(DataType::kUint8, {3}, 6));
         b->Node("MatMulInteger", {"x", "w", "a", "b"}, {"y"});
         b->Output("y");
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto proof = Prove(c.build, c.opset);
    ASSERT_TRUE(proof.ok()) << proof.status();
    EXPECT_EQ((*proof)[0].axis, c.axis);
    EXPECT_EQ((*proof)[0].inner, c.inner);
  }
}

TEST(Independence, IsNotProvenOfWhatMixesTheBatch) {
  const Case cases[] = {
      {"Softmax over the batch", Unary("Softmax", {-1, 7}, Int("axis", 0))},
      {"mean over the batch",
       WithConstants("ReduceMean", {-1, 3}, {Int64s({1}, {0})})},
      {"mean over all", Unary("ReduceMean", {-1, 3})},
      {"product over the batch",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3});
         SetInts(b->Node("Transpose", {"x"}, {"t1"}), "perm", {1, 0});
         b->Node("MatMul", {"t1", "x"}, {"y"});
         b->Output("y");
       }},
      {"attention over the batch",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3, 4});
         SetInts(b->Node("Transpose", {"x"}, {"q"}), "perm", {1, 0, 2});
         SetInts(b->Node("Transpose", {"x"}, {"k"}), "perm", {1, 2, 0});
         b->Node("MatMul", {"q", "k"}, {"s"});
         b->Node("Softmax", {"s"}, {"p"});
         b->Node("MatMul", {"p", "q"}, {"y"});
         b->Output("y");
       }},
      {"the batch as a number",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3});
         b->Node("Shape", {"x"}, {"s"});
         SetInt(b->Node("Cast", {"s"}, {"f"}), "to", 1);
         b->Constant("zero", Int64s({1}, {0}));
         b->Node("Gather", {"f", "zero"}, {"n"});
         b->Node("Div", {"x", "n"}, {"y"});
         b->Output("y");
       }},
      {"reversed", WithConstants("Slice", {-1, 3},
                                 {Int64s({1}, {-1}), Int64s({1}, {-100}),
                                  Int64s({1}, {0}), Int64s({1}, {-1})})},
      {"shifted", WithConstants("Pad", {-1, 3}, {Int64s({4}, {1, 0, -1, 0})})},
      {"merged with what is before it",
       [](ModelBuilder* b) {
         b->Input("t", DataType::kFloat, {3, -1, 4});
         b->Constant("shape", Int64s({2}, {-1, 4}));
         b->Node("Reshape", {"t", "shape"}, {"y"});
         b->Output("y");
       }},
      {"rows of images as channels",
       [](ModelBuilder* b) {
         b->Input("t", DataType::kFloat, {1, -1, 4});
         b->Constant("w", Random(DataType::kFloat, {1, 1, 3}, 1));
         SetInts(b->Node("Transpose", {"t"}, {"c"}), "perm", {0, 2, 1});
         b->Node("GlobalAveragePool", {"c"}, {"y"});
         b->Output("y");
       }},
      {"sums along the batch",
       WithConstants("CumSum", {-1, 3}, {Int64s({}, {0})})},
      {"the largest of the batch",
       WithConstants("TopK", {-1, 3}, {Int64s({1}, {1})}, Int("axis", 0))},
      {"elements of the batch by index",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3});
         b->Input("i", DataType::kInt64, {-1, 3});
         b->Node("GatherElements", {"x", "i"}, {"y"});
         b->Output("y");
       }},
      {"tiled", WithConstants("Tile", {-1, 3}, {Int64s({2}, {2, 1})})},
      {"the batch as a number of copies",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 1});
         b->Node("Shape", {"x"}, {"s"});
         b->Node("Tile", {"x", "s"}, {"y"});
         b->Output("y");
       }},
      {"the batch of rows beside that of columns",
       [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 1});
         b->Node("Shape", {"x"}, {"s"});
         b->Constant("zero", Int64s({1}, {0}));
         b->Node("Gather", {"s", "zero"}, {"n"});
         SetInt(b->Node("Concat", {"n", "n"}, {"square"}), "axis", 0);
         b->Node("Expand", {"x", "square"}, {"y"});
         b->Output("y");
       }},
      {"codes of the whole batch", [](ModelBuilder* b) {
         b->Input("x", DataType::kFloat, {-1, 3});
         b->Node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"});
         b->Output("y");
         b->Output("s");
       }}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto proof = Prove(c.build);
    EXPECT_EQ(proof.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_FALSE(proof.status().message().empty());
  }
}

TEST(Independence, NamesTheNode) {
  const auto proof = Prove([](ModelBuilder* b) {
    b->Input("x", DataType::kFloat, {-1, 3});
    onnx::NodeProto* node = b->Node("Softmax", {"x"}, {"y"});
    node->set_name("over_all");
    SetInt(node, "axis", 0);
    b->Output("y");
  });
  EXPECT_EQ(proof.status().message(),
            "Softmax 'over_all' is not known to work on each index by itself");
}

}  // namespace
}  // namespace heddle::compiler
