// SPDX-License-Identifier: Apache-2.0
// Nodes of the default domain that a step before import puts in the place of
// another, with names that the model does not have.
#ifndef HEDDLE_COMPILER_IMPORT_NODE_WRITER_H_
#define HEDDLE_COMPILER_IMPORT_NODE_WRITER_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heddle::compiler {

class NodeWriter {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  // Names of the graph, and of those inside, are taken.
  explicit NodeWriter(const onnx::GraphProto& graph) { TakeNames(graph); }

  Nodes* out = nullptr;  // where nodes go
  int64_t opset = 0;     // in which they are written

  std::string NewName(const onnx::NodeProto& of);

  // A node in the place of `of`. `to`: its result, or "" for a new name; which
  // is returned.
  std::string Write(const onnx::NodeProto& of, const std::string& op,
                    const std::vector<std::string>& inputs, std::string to = "",
                    const std::map<std::string, int64_t>& attributes = {});
  // A Constant of int64; rank 0 or 1.
  std::string WriteInts(const onnx::NodeProto& of,
                        const std::vector<int64_t>& values, int rank,
                        const std::string& to = "");
  std::string WriteUnsqueeze(const onnx::NodeProto& of, const std::string& x,
                             int64_t axis, const std::string& to = "");
  // [from, end) of one dimension.
  std::string WriteSlice(const onnx::NodeProto& of, const std::string& x,
                         int64_t from, int64_t end, int64_t axis,
                         const std::string& to = "");
  // Of the node that was written last.
  void SetInts(const std::string& name, const std::vector<int64_t>& values);
  void SetText(const std::string& name, const std::string& value);
  onnx::NodeProto& last() { return (*out)[out->size() - 1]; }

 private:
  void TakeNames(const onnx::GraphProto& graph);

  std::set<std::string> names_;
  int64_t made_ = 0;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_NODE_WRITER_H_
