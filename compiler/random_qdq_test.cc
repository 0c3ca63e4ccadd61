// SPDX-License-Identifier: Apache-2.0
// Random networks in QuantizeLinear/DequantizeLinear form, judged by two
// golden models: every code that our front end and reference semantics give
// equals the shared folder's integer reference (a program of its own, in
// Python), and the card gives the same outputs.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/qdq_network.h"
#include "tests/support/shared.h"

namespace heddle::compiler {
namespace {

constexpr int kSeeds = 150;
constexpr int kCardSeeds = 12;

std::string Tensor(int type, const std::vector<int64_t>& shape,
                   const std::string& bytes) {
  return absl::StrCat("{\"type\": ", type, ", \"shape\": [",
                      absl::StrJoin(shape, ","), "], \"hex\": \"",
                      absl::BytesToHexString(bytes), "\"}");
}
std::string Tensor(const TensorData& data) {
  return Tensor(static_cast<int>(data.type), data.shape,
                std::string(data.bytes.begin(), data.bytes.end()));
}

template <typename Strings>
std::string List(const Strings& strings) {
  std::vector<std::string> quoted;
  for (const auto& s : strings) quoted.push_back(absl::StrCat("\"", s, "\""));
  return absl::StrCat("[", absl::StrJoin(quoted, ","), "]");
}

std::string Attribute(const onnx::AttributeProto& a) {
  std::string value;
  if (a.type() == onnx::AttributeProto::INT) {
    value = absl::StrCat(a.i());
  } else if (a.type() == onnx::AttributeProto::FLOAT) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.9g", a.f());
    value = text;
  } else {
    value = absl::StrCat("[", absl::StrJoin(a.ints(), ","), "]");
  }
  return absl::StrCat("\"", a.name(), "\": ", value);
}

// One entry of the golden model's list.
std::string Json(uint64_t seed, QdqNetwork* net,
                 const std::vector<std::string>& expected) {
  const onnx::GraphProto& graph = net->model.proto().graph();
  std::vector<std::string> nodes, constants, outputs, inputs;
  for (const auto& node : graph.node()) {
    std::vector<std::string> attributes;
    for (const auto& a : node.attribute()) attributes.push_back(Attribute(a));
    nodes.push_back(absl::StrCat(
        "{\"op\": \"", node.op_type(), "\", \"in\": ", List(node.input()),
        ", \"out\": ", List(node.output()), ", \"attributes\": {",
        absl::StrJoin(attributes, ","), "}}"));
  }
  for (const auto& t : graph.initializer()) {
    constants.push_back(
        absl::StrCat("\"", t.name(), "\": ",
                     Tensor(t.data_type(), {t.dims().begin(), t.dims().end()},
                            t.raw_data())));
  }
  for (const auto& o : graph.output()) outputs.push_back(o.name());
  for (size_t i = 0; i < net->inputs.size(); ++i) {
    inputs.push_back(
        absl::StrCat("\"", net->names[i], "\": ", Tensor(net->inputs[i])));
  }
  return absl::StrCat("{\"seed\": ", seed, ", \"opset\": 13, \"nodes\": [",
                      absl::StrJoin(nodes, ",\n"), "], \"constants\": {",
                      absl::StrJoin(constants, ",\n"),
                      "}, \"outputs\": ", List(outputs), ", \"inputs\": {",
                      absl::StrJoin(inputs, ","), "}, \"expected\": {",
                      absl::StrJoin(expected, ",\n"), "}}");
}

TEST(RandomQdq, EqualsTheIntegerReference) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const char* temporary = std::getenv("TEST_TMPDIR");
  const std::string list =
      absl::StrCat(temporary != nullptr ? temporary : "/tmp", "/models.json");
  std::vector<std::string> models;
  std::set<std::string> operators;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    QdqNetwork net = MakeQdqNetwork(seed);
    auto graph = AnalyseOnnx(net.model.Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    for (const Node& node : graph->nodes) {
      operators.insert(node.op);
      // Whose sums have no order that is part of the contract.
      EXPECT_TRUE(node.op != "Conv" && node.op != "MatMul" &&
                  node.op != "Gemm" && node.op != "GlobalAveragePool")
          << node.Describe() << " stayed float";
    }
    auto values = EvaluateGraph(*graph, net.inputs);
    ASSERT_TRUE(values.ok()) << values.status();
    std::vector<std::string> expected;
    for (const std::string& name : net.codes) {
      const TensorId id = graph->FindTensor(name);
      if (id == kNoTensor || (*values)[id].bytes.empty()) continue;
      expected.push_back(
          absl::StrCat("\"", name, "\": ", Tensor((*values)[id])));
    }
    for (TensorId id : graph->outputs) {
      expected.push_back(absl::StrCat("\"", graph->tensors[id].name,
                                      "\": ", Tensor((*values)[id])));
    }
    EXPECT_GE(expected.size(), 3u);
    models.push_back(Json(seed, &net, expected));
  }
  for (const char* op :
       {"QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd", "QLinearMul",
        "QLinearConcat", "QLinearAveragePool", "QLinearGlobalAveragePool",
        "QLinearSigmoid", "QLinearLeakyRelu", "MaxPool", "Transpose"}) {
    EXPECT_EQ(operators.count(op), 1u) << op << " does not occur";
  }
  {
    std::ofstream file(list);
    file << "[" << absl::StrJoin(models, ",\n") << "]\n";
    ASSERT_TRUE(file.good());
  }
  const std::string command =
      absl::StrCat("python3 compiler/testing/qdq_golden_model.py '",
                   tests::SharedPath("reference/integer_reference.py"), "' '",
                   list, "' 2>&1");
  FILE* python = popen(command.c_str(), "r");
  ASSERT_NE(python, nullptr);
  std::string output;
  char text[4096];
  while (std::fgets(text, sizeof(text), python) != nullptr) output += text;
  EXPECT_EQ(pclose(python), 0) << output;
  EXPECT_NE(output.find(absl::StrCat(kSeeds, " models, ")), std::string::npos)
      << output;
}

TEST(RandomQdq, TheCardGivesTheSame) {
  for (uint64_t seed = 1; seed <= kCardSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const QdqNetwork net = MakeQdqNetwork(seed);
    CardCase options;
    options.sram_bytes = {0, 64 << 10};
    ExpectCardEqualsReference(net.model.Bytes(), net.inputs, options);
  }
}

}  // namespace
}  // namespace heddle::compiler
