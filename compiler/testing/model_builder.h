// SPDX-License-Identifier: Apache-2.0
// Writes small ONNX models for tests.
//
//   ModelBuilder b;
//   b.Input("x", DataType::kFloat, {1, 3});
//   b.Node("Relu", {"x"}, {"y"});
//   b.Output("y");
//   auto graph = AnalyseOnnx(b.Bytes(), {});
#ifndef HEDDLE_COMPILER_TESTING_MODEL_BUILDER_H_
#define HEDDLE_COMPILER_TESTING_MODEL_BUILDER_H_

#include <onnx/onnx_pb.h>

#include <cstring>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

template <typename T>
TensorData MakeData(DataType type, Shape shape, const std::vector<T>& values) {
  TensorData data = TensorData::Zeros(type, std::move(shape));
  if (!values.empty()) {
    std::memcpy(data.bytes.data(), values.data(), values.size() * sizeof(T));
  }
  return data;
}
inline TensorData Floats(Shape shape, const std::vector<float>& values) {
  return MakeData(DataType::kFloat, std::move(shape), values);
}
inline TensorData Uint8s(Shape shape, const std::vector<uint8_t>& values) {
  return MakeData(DataType::kUint8, std::move(shape), values);
}
inline TensorData Int8s(Shape shape, const std::vector<int8_t>& values) {
  return MakeData(DataType::kInt8, std::move(shape), values);
}
inline TensorData Int32s(Shape shape, const std::vector<int32_t>& values) {
  return MakeData(DataType::kInt32, std::move(shape), values);
}
inline TensorData Int64s(Shape shape, const std::vector<int64_t>& values) {
  return MakeData(DataType::kInt64, std::move(shape), values);
}

class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 13);

  // A dimension of -1 becomes symbolic ("batch").
  ModelBuilder& Input(const std::string& name, DataType type,
                      const Shape& shape);
  // Without type: any type and shape.
  ModelBuilder& Output(const std::string& name,
                       DataType type = DataType::kUndefined,
                       const Shape& shape = {});
  ModelBuilder& Constant(const std::string& name, const TensorData& data);
  onnx::NodeProto* Node(const std::string& op,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::string& domain = "");
  // Shorthands of the quantization tests; parameters become constants.
  ModelBuilder& Quantize(const std::string& x, const std::string& y,
                         float scale, const TensorData& zero);
  ModelBuilder& Dequantize(const std::string& x, const std::string& y,
                           const TensorData& scale, const TensorData& zero);

  onnx::ModelProto& proto() { return model_; }
  std::string Bytes() const { return model_.SerializeAsString(); }

 private:
  onnx::ModelProto model_;
};

void SetInt(onnx::NodeProto* node, const std::string& name, int64_t value);
void SetFloat(onnx::NodeProto* node, const std::string& name, float value);
void SetInts(onnx::NodeProto* node, const std::string& name,
             const std::vector<int64_t>& values);
void SetString(onnx::NodeProto* node, const std::string& name,
               const std::string& value);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_MODEL_BUILDER_H_
