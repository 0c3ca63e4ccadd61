// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/pass_case.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/import/importer.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/infer.h"
#include "compiler/testing/card_case.h"

namespace heddle::compiler {

std::string OpsAfter(const std::string& model,
                     const std::function<absl::Status(Graph*)>& pass,
                     Graph* graph) {
  auto imported = ImportOnnx(model, {});
  if (!imported.ok()) {
    ADD_FAILURE() << imported.status();
    return "";
  }
  Graph before = std::move(imported->graph);
  absl::Status status =
      InferAndFold(&before, imported->declared, nullptr, imported->subgraphs);
  EXPECT_TRUE(status.ok()) << status;
  Graph after = before;
  status = pass(&after);
  EXPECT_TRUE(status.ok()) << status;
  status = after.Verify();
  EXPECT_TRUE(status.ok()) << status;
  after.RemoveDeadNodes();

  std::vector<TensorData> inputs;
  for (TensorId id : before.inputs) {
    const Tensor& tensor = before.tensors[id];
    inputs.push_back(RandomData(tensor.type, tensor.shape, inputs.size() + 1));
  }
  const auto expected = EvaluateGraph(before, inputs);
  const auto values = EvaluateGraph(after, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status();
  EXPECT_TRUE(values.ok()) << values.status();
  if (!expected.ok() || !values.ok()) return "";
  for (size_t i = 0; i < before.outputs.size(); ++i) {
    const TensorData &a = (*expected)[before.outputs[i]],
                     &b = (*values)[after.outputs[i]];
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_TRUE(a.bytes == b.bytes) << "output " << i << " has other bytes";
  }
  std::vector<std::string> ops;
  for (const Node& node : after.nodes) ops.push_back(node.op);
  if (graph != nullptr) *graph = std::move(after);
  return absl::StrJoin(ops, " ");
}

}  // namespace heddle::compiler
