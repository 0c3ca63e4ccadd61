// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/sparse_tensor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/import/importer.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

// Float values at int64 indices of this shape.
onnx::SparseTensorProto Sparse(const std::vector<float>& values,
                               const std::vector<int64_t>& indices,
                               const Shape& shape, const Shape& dims) {
  onnx::SparseTensorProto proto;
  proto.mutable_values()->set_name("w");
  proto.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  proto.mutable_values()->add_dims(static_cast<int64_t>(values.size()));
  for (float value : values) proto.mutable_values()->add_float_data(value);
  proto.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  for (int64_t d : shape) proto.mutable_indices()->add_dims(d);
  for (int64_t i : indices) proto.mutable_indices()->add_int64_data(i);
  for (int64_t d : dims) proto.add_dims(d);
  return proto;
}

std::vector<float> Dense(const onnx::SparseTensorProto& proto) {
  TensorSource source("");
  auto data = FromSparseTensorProto(proto, "sparse 'w'", &source);
  EXPECT_TRUE(data.ok()) << data.status();
  if (!data.ok()) return {};
  return {data->as<float>(), data->as<float>() + data->count()};
}

Rejection KindOf(const onnx::SparseTensorProto& proto) {
  TensorSource source("");
  return RejectionOf(
      FromSparseTensorProto(proto, "sparse 'w'", &source).status());
}

TEST(SparseTensorTest, BothFormsOfIndices) {
  const std::vector<float> expected = {0, 5, 0, 0, 0, 7};
  EXPECT_EQ(Dense(Sparse({5, 7}, {1, 5}, {2}, {2, 3})), expected);
  EXPECT_EQ(Dense(Sparse({5, 7}, {0, 1, 1, 2}, {2, 2}, {2, 3})), expected);
  // Of rank 1, coordinates may also be [NNZ,1].
  EXPECT_EQ(Dense(Sparse({5, 7}, {1, 5}, {2, 1}, {6})), expected);
  EXPECT_EQ(Dense(Sparse({}, {}, {0}, {2})), (std::vector<float>{0, 0}));
}

TEST(SparseTensorTest, Disagreements) {
  EXPECT_EQ(KindOf(Sparse({5, 7}, {1, 6}, {2}, {2, 3})),
            Rejection::kInvalidModel);  // outside
  EXPECT_EQ(KindOf(Sparse({5, 7}, {-1, 5}, {2}, {2, 3})),
            Rejection::kInvalidModel);
  EXPECT_EQ(KindOf(Sparse({5, 7}, {0, 3, 1, 2}, {2, 2}, {2, 3})),
            Rejection::kInvalidModel);
  EXPECT_EQ(KindOf(Sparse({5, 7}, {0, -1, 1, 2}, {2, 2}, {2, 3})),
            Rejection::kInvalidModel);
  EXPECT_EQ(KindOf(Sparse({5, 7}, {5, 1}, {2}, {2, 3})),
            Rejection::kInvalidModel);  // not ascending
  EXPECT_EQ(KindOf(Sparse({5, 7}, {1, 1}, {2}, {2, 3})),
            Rejection::kInvalidModel);  // twice
  EXPECT_EQ(KindOf(Sparse({5, 7}, {1}, {1}, {2, 3})), Rejection::kInvalidModel);
  EXPECT_EQ(KindOf(Sparse({5, 7}, {1, 2, 3, 4, 5, 6}, {2, 3}, {2, 3})),
            Rejection::kInvalidModel);  // three coordinates of two
  EXPECT_EQ(KindOf(Sparse({5}, {0}, {1}, {})), Rejection::kInvalidModel);
  EXPECT_EQ(KindOf(Sparse({5}, {0}, {1}, {2, 0})), Rejection::kInvalidModel);
  EXPECT_EQ(KindOf(Sparse({5}, {0}, {1}, {-2})), Rejection::kInvalidModel);
  auto proto = Sparse({5}, {0}, {1}, {2});
  proto.mutable_values()->add_dims(1);  // [1,1]
  EXPECT_EQ(KindOf(proto), Rejection::kInvalidModel);
  proto = Sparse({5}, {}, {1}, {2});
  proto.mutable_indices()->set_data_type(onnx::TensorProto::INT32);
  proto.mutable_indices()->add_int32_data(0);
  EXPECT_EQ(KindOf(proto), Rejection::kInvalidModel);
}

// A few bytes must not become gigabytes, nor many of them together.
TEST(SparseTensorTest, ExpansionIsBounded) {
  EXPECT_EQ(KindOf(Sparse({5}, {0}, {1}, {int64_t{1} << 40})),
            Rejection::kNoSystemMemory);
  EXPECT_EQ(KindOf(Sparse({5}, {0}, {1}, {int64_t{1} << 40, int64_t{1} << 40})),
            Rejection::kNoSystemMemory);
  TensorSource source("");
  source.sparse_bytes = 20;
  const auto proto = Sparse({5}, {0}, {1}, {3});
  EXPECT_TRUE(FromSparseTensorProto(proto, "w", &source).ok());
  EXPECT_FALSE(FromSparseTensorProto(proto, "w", &source).ok());
}

TEST(SparseTensorTest, InAModel) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3});
  *b.proto().mutable_graph()->add_sparse_initializer() =
      Sparse({5}, {2}, {1}, {3});
  b.Node("Add", {"x", "w"}, {"t"});
  onnx::NodeProto* constant = b.Node("Constant", {}, {"c"});
  auto* attribute = constant->add_attribute();
  attribute->set_name("sparse_value");
  attribute->set_type(onnx::AttributeProto::SPARSE_TENSOR);
  *attribute->mutable_sparse_tensor() = Sparse({9}, {0}, {1}, {3});
  b.Node("Add", {"t", "c"}, {"y"});
  b.Output("y");
  auto model = ImportOnnx(b.Bytes(), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& graph = model->graph;
  EXPECT_EQ(graph.tensors[graph.FindTensor("w")].constant->as<float>()[2], 5);
  const auto& value = std::get<std::shared_ptr<const TensorData>>(
      graph.nodes[1].attributes.at("sparse_value"));
  EXPECT_EQ(value->as<float>()[0], 9);
  // Only there, and only sparse.
  attribute->set_name("value");
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kInvalidModel);
  attribute->set_name("sparse_value");
  attribute->clear_sparse_tensor();
  attribute->set_type(onnx::AttributeProto::TENSOR);
  attribute->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  attribute->mutable_t()->add_float_data(1);
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
