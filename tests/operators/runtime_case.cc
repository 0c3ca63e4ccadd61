// SPDX-License-Identifier: Apache-2.0
#include "tests/operators/runtime_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/direct/direct.h"
#include "compiler/host/host_function.h"
#include "compiler/ops/operator.h"
#include "simulator/model/numerics.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::TensorData;

double RealAt(DataType type, const uint8_t* bytes, int64_t i) {
  if (type == DataType::kFloat16) {
    uint16_t half;
    std::memcpy(&half, bytes + 2 * i, sizeof(half));
    return model::F16ToF32(half);
  }
  float value;
  std::memcpy(&value, bytes + 4 * i, sizeof(value));
  return value;
}

bool IsClose(double ours, double theirs, const RuntimeCase& c) {
  if (std::isnan(ours) || std::isnan(theirs)) {
    return std::isnan(ours) && std::isnan(theirs);
  }
  if (std::isinf(ours) || std::isinf(theirs)) return ours == theirs;
  return std::fabs(ours - theirs) <=
         c.absolute + c.relative * std::fabs(theirs);
}

std::string Difference(const TensorData& ours, const RuntimeTensor& theirs,
                       const RuntimeCase& c) {
  const compiler::Shape shape(theirs.shape.begin(), theirs.shape.end());
  if (static_cast<int>(ours.type) != theirs.type || ours.shape != shape) {
    return absl::StrCat("type ", ours.type, " and shape ",
                        compiler::ShapeToString(ours.shape), ", theirs are ",
                        theirs.type, " and ", compiler::ShapeToString(shape));
  }
  if (ours.bytes.size() != theirs.bytes.size()) return "another size";
  const bool real =
      ours.type == DataType::kFloat || ours.type == DataType::kFloat16;
  const size_t bytes = compiler::ElementBytes(ours.type);
  for (int64_t i = 0; i < ours.count(); ++i) {
    if (!real) {
      if (std::memcmp(ours.bytes.data() + i * bytes,
                      theirs.bytes.data() + i * bytes, bytes) != 0) {
        return absl::StrCat("element ", i, " of ", ours.count(),
                            " is another; the first byte is ",
                            ours.bytes[i * bytes], ", theirs ",
                            theirs.bytes[i * bytes]);
      }
      continue;
    }
    const double a = RealAt(ours.type, ours.bytes.data(), i);
    const double b = RealAt(ours.type, theirs.bytes.data(), i);
    if (!IsClose(a, b, c)) {
      return absl::StrCat("element ", i, " of ", ours.count(), " is ", a,
                          ", theirs ", b);
    }
  }
  return "";
}

// "", or what is another of the results if the host computes nodes as they are
// that are made of others (compiler/direct).
std::string DifferenceOnHost(const std::string& model,
                             const std::vector<TensorData>& given,
                             const std::vector<TensorData>& expected) {
  compiler::CompileOptions options;
  options.features.fuse_elementwise = false;
  options.keep_direct = true;
  auto graph = compiler::AnalyseOnnx(model, options);
  if (!graph.ok()) return graph.status().ToString();
  if (std::none_of(graph->nodes.begin(), graph->nodes.end(),
                   [&](const compiler::Node& node) {
                     return compiler::IsDirect(*graph, node);
                   })) {
    return "";
  }
  auto host = compiler::HostFunction::Make(*std::move(graph));
  if (!host.ok()) return host.status().ToString();
  std::vector<const uint8_t*> from;
  for (const TensorData& x : given) from.push_back(x.bytes.data());
  std::vector<std::vector<uint8_t>> results;
  std::vector<uint8_t*> to;
  for (const TensorData& y : expected) {
    to.push_back(results.emplace_back(y.bytes.size()).data());
  }
  const absl::Status s = host->Run(from, to, [] { return absl::OkStatus(); });
  if (!s.ok()) return s.ToString();
  for (size_t i = 0; i < results.size(); ++i) {
    if (!(compiler::TensorBytes(results[i]) == expected[i].bytes)) {
      return absl::StrCat("output ", i, " has other bytes");
    }
  }
  return "";
}

}  // namespace

compiler::ModelBuilder ModelOf(const RuntimeCase& c,
                               std::vector<TensorData>* given) {
  compiler::ModelBuilder b(c.opset);
  std::vector<std::string> names;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const TensorData& data = c.inputs[i];
    const bool operand = c.operands < 0 || static_cast<int>(i) < c.operands;
    const std::string name =
        data.type == DataType::kUndefined ? "" : absl::StrCat("x", i);
    if (operand) names.push_back(name);
    if (name.empty()) continue;
    if (i < c.constant.size() && c.constant[i]) {
      b.Constant(name, data);
      continue;
    }
    b.Input(name, data.type, data.shape);
    given->push_back(data);
  }
  std::vector<std::string> results;
  for (int i = 0; i < c.outputs; ++i) results.push_back(absl::StrCat("y", i));
  onnx::NodeProto* node = b.Node(c.op, names, results, c.domain);
  if (c.attributes) c.attributes(node);
  for (size_t i = 0; i < results.size(); ++i) {
    if (i < c.declared.size() && !c.declared[i].empty()) {
      b.Output(results[i], DataType::kFloat, c.declared[i]);
    } else {
      b.Output(results[i]);
    }
  }
  return b;
}

std::string CompareWithRuntime(OnnxRuntime* runtime, const RuntimeCase& c) {
  std::vector<TensorData> given;
  compiler::ModelBuilder b = ModelOf(c, &given);
  std::vector<std::pair<std::string, RuntimeTensor>> theirs;
  for (size_t i = 0; i < given.size(); ++i) {
    const TensorData& data = given[i];
    theirs.push_back({b.proto().graph().input(static_cast<int>(i)).name(),
                      {static_cast<int>(data.type),
                       {data.shape.begin(), data.shape.end()},
                       {data.bytes.begin(), data.bytes.end()}}});
  }
  std::vector<std::string> results;
  for (int i = 0; i < c.outputs; ++i) results.push_back(absl::StrCat("y", i));

  const auto graph = compiler::AnalyseOnnx(b.Bytes(), {});
  if (!graph.ok()) return graph.status().ToString();
  const auto values = compiler::EvaluateGraph(*graph, given);
  if (!values.ok()) return values.status().ToString();
  std::vector<TensorData> expected;
  for (compiler::TensorId id : graph->outputs) {
    expected.push_back((*values)[id]);
  }
  const std::string other = DifferenceOnHost(b.Bytes(), given, expected);
  if (!other.empty()) return absl::StrCat("on the host: ", other);
  // ONNX Runtime wants the types of the outputs.
  for (int i = 0; i < c.outputs; ++i) {
    b.proto()
        .mutable_graph()
        ->mutable_output(i)
        ->mutable_type()
        ->mutable_tensor_type()
        ->set_elem_type(static_cast<int>((*values)[graph->outputs[i]].type));
  }
  const auto run = runtime->Run(b.Bytes(), theirs, results);
  if (!run.ok()) return absl::StrCat("runtime: ", run.status().ToString());
  for (int i = 0; i < std::min(c.outputs, c.compared); ++i) {
    const std::string difference =
        Difference((*values)[graph->outputs[i]], (*run)[i], c);
    if (!difference.empty()) {
      return absl::StrCat("output ", i, ": ", difference);
    }
  }
  return "";
}

}  // namespace heddle::tests
