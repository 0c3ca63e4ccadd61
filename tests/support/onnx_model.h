// SPDX-License-Identifier: Apache-2.0
// ONNX models made by tests.
#ifndef TESTS_SUPPORT_ONNX_MODEL_H_
#define TESTS_SUPPORT_ONNX_MODEL_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::tests {

class OnnxModel {
 public:
  // IR version 7, the default domain at `opset`.
  explicit OnnxModel(int64_t opset = 13);

  OnnxModel& Input(const std::string& name, const std::vector<int64_t>& shape,
                   int32_t type = onnx::TensorProto::FLOAT);
  OnnxModel& Output(const std::string& name, const std::vector<int64_t>& shape,
                    int32_t type = onnx::TensorProto::FLOAT);
  // Row-major values; as many as `shape` says.
  OnnxModel& Weights(const std::string& name, const std::vector<int64_t>& shape,
                     const std::vector<float>& values);
  // The node, to add attributes. Its name is that of its first output.
  onnx::NodeProto* Node(const std::string& op,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::string& domain = "");
  static void Ints(onnx::NodeProto* node, const std::string& name,
                   const std::vector<int64_t>& values);

  onnx::ModelProto* proto() { return &proto_; }
  std::string Bytes() const { return proto_.SerializeAsString(); }

 private:
  onnx::ModelProto proto_;
};

}  // namespace heddle::tests

#endif  // TESTS_SUPPORT_ONNX_MODEL_H_
