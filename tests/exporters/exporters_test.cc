// SPDX-License-Identifier: Apache-2.0
// Models as exporters write them, small, but with all their shape arithmetic
// and idioms (models/*.txt): by the product as a user has it, with nodes placed
// by default, against ONNX Runtime; and which operators the host takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "runtime/session/session.h"
#include "tests/exporters/model_text.h"
#include "tests/support/onnxruntime.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;

constexpr char kFolder[] = "tests/exporters/models";

std::vector<std::string> Files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Read(const std::string& name) {
  std::ifstream file(absl::StrCat(kFolder, "/", name, ".txt"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

OnnxRuntime* Runtime() {
  static OnnxRuntime* const runtime = [] {
    auto opened = OnnxRuntime::Open(OnnxRuntime::SharedLibraries().back());
    if (!opened.ok()) std::abort();
    return opened->release();
  }();
  return runtime;
}

std::shared_ptr<session::Device> Device() {
  static auto* const device = [] {
    auto opened = session::OpenDevice("sim:config=h256");
    if (!opened.ok()) std::abort();
    return new std::shared_ptr<session::Device>(*std::move(opened));
  }();
  return *device;
}

// Of nodes on the host, bodies of control flow included.
void HostOperators(const package::Package& package,
                   std::set<std::string>* operators) {
  for (const package::Segment& segment : package.segments) {
    for (const auto& node : segment.host.nodes) operators->insert(node.op);
    for (const package::Body& body : segment.bodies) {
      HostOperators(*body.package, operators);
    }
  }
}

double At(const uint8_t* bytes, DataType type, int64_t i) {
  if (type == DataType::kDouble) {
    double value;
    std::memcpy(&value, bytes + sizeof(value) * i, sizeof(value));
    return value;
  }
  float value;
  std::memcpy(&value, bytes + sizeof(value) * i, sizeof(value));
  return value;
}

std::string Difference(const TensorData& ours, const Shape& shape,
                       const RuntimeTensor& theirs, double tolerance) {
  if (static_cast<int>(ours.type) != theirs.type || shape != theirs.shape) {
    return absl::StrCat("type ", ours.type, ", shape ",
                        compiler::ShapeToString(shape), "; not ", theirs.type,
                        ", ", compiler::ShapeToString(theirs.shape));
  }
  if (ours.type != DataType::kFloat && ours.type != DataType::kDouble) {
    return std::memcmp(ours.bytes.data(), theirs.bytes.data(),
                       theirs.bytes.size()) == 0
               ? ""
               : "elements differ";
  }
  const int64_t count = compiler::ElementCount(shape);
  double largest = 1;
  for (int64_t i = 0; i < count; ++i) {
    const double b = At(theirs.bytes.data(), ours.type, i);
    if (std::isfinite(b)) largest = std::max(largest, std::fabs(b));
  }
  for (int64_t i = 0; i < count; ++i) {
    const double a = At(ours.bytes.data(), ours.type, i);
    const double b = At(theirs.bytes.data(), ours.type, i);
    if (a == b || (std::isnan(a) && std::isnan(b)) ||
        std::fabs(a - b) <= tolerance * largest) {
      continue;
    }
    return absl::StrCat("element ", i, " of ", count, " is ", a, ", not ", b,
                        "; the largest is ", largest);
  }
  return "";
}

// Whether the host has nodes of the model whole that the card has in parts
// (compiler/direct).
bool HasComposites(const onnx::GraphProto& graph) {
  return std::any_of(graph.node().begin(), graph.node().end(),
                     [](const onnx::NodeProto& node) {
                       return node.op_type() == "LSTM" ||
                              node.op_type() == "GRU" ||
                              node.op_type() == "RNN" ||
                              node.op_type() == "GridSample";
                     });
}

// Compiles and runs the model, and compares; adds to `on_host` what the card
// lacks. The results are returned by name.
void RunProduct(const ModelText& text, const std::string& bytes,
                const compiler::CompileOptions& options,
                std::vector<TensorData>* inputs,
                const std::vector<std::string>& names,
                const std::vector<RuntimeTensor>& theirs,
                std::set<std::string>* on_host,
                std::map<std::string, TensorData>* computed) {
  const auto made = compiler::CompileOnnx(bytes, options);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto graph = session::LoadGraph(Device(), made->package);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const package::Package& package = (*graph)->package();
  if (options.placement == compiler::Placement::kCard) {
    HostOperators(package, on_host);
  }
  std::vector<session::TensorBuffer> from, to;
  for (const package::TensorInfo& info : package.inputs) {
    for (size_t i = 0; i < inputs->size(); ++i) {
      if (text.model.graph().input(i).name() != info.name) continue;
      TensorData& data = (*inputs)[i];
      from.push_back({info.name, data.bytes.data(), data.bytes.size()});
    }
  }
  std::vector<TensorData> results;
  results.reserve(package.outputs.size());
  for (const package::TensorInfo& info : package.outputs) {
    results.push_back(TensorData::Zeros(info.type, info.shape));
    TensorData& data = results.back();
    to.push_back({info.name, data.bytes.data(), data.bytes.size()});
  }
  const auto started = (*graph)->Start(from, to, nullptr);
  ASSERT_TRUE(started.ok()) << started.status();
  const absl::Status ended = (*started)->Wait(absl::InfiniteFuture());
  ASSERT_TRUE(ended.ok()) << ended;
  for (size_t i = 0; i < package.outputs.size(); ++i) {
    const package::TensorInfo& info = package.outputs[i];
    const auto at = std::find(names.begin(), names.end(), info.name);
    ASSERT_NE(at, names.end()) << info.name;
    const Shape shape = (*started)->OutputShape(info.name).value_or(info.shape);
    EXPECT_EQ(Difference(results[i], shape, theirs[at - names.begin()],
                         text.tolerance),
              "")
        << info.name;
    (*computed)[info.name] = std::move(results[i]);
  }
}

class Exporters : public testing::TestWithParam<std::string> {};

TEST_P(Exporters, MatchOnnxRuntime) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const auto text = ParseModelText(Read(GetParam()));
  ASSERT_TRUE(text.ok()) << text.status();
  const std::string bytes = text->model.SerializeAsString();
  std::vector<std::string> names;
  for (const auto& output : text->model.graph().output()) {
    names.push_back(output.name());
  }
  std::set<std::string> on_host;
  for (size_t run = 0; run < text->runs.size(); ++run) {
    SCOPED_TRACE(absl::StrCat("run ", run + 1));
    auto inputs = DrawInputs(*text, text->runs[run], 1000 + run);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    std::vector<std::pair<std::string, RuntimeTensor>> given;
    compiler::CompileOptions options;
    options.host_nodes = true;
    options.bounds = text->bounds;
    for (size_t i = 0; i < inputs->size(); ++i) {
      const TensorData& data = (*inputs)[i];
      const std::string& name = text->model.graph().input(i).name();
      options.input_shapes[name] = data.shape;
      given.push_back({name,
                       {static_cast<int>(data.type),
                        data.shape,
                        {data.bytes.begin(), data.bytes.end()}}});
    }
    const auto theirs = Runtime()->Run(bytes, given, names);
    ASSERT_TRUE(theirs.ok()) << theirs.status();
    std::vector<compiler::Placement> placements = {compiler::Placement::kCost,
                                                   compiler::Placement::kCard};
    if (run == 0 && HasComposites(text->model.graph())) {
      placements.push_back(compiler::Placement::kHost);
    }
    std::map<std::string, TensorData> first;
    for (const auto placement : placements) {
      options.placement = placement;
      std::map<std::string, TensorData> computed;
      RunProduct(*text, bytes, options, &*inputs, names, *theirs, &on_host,
                 &computed);
      if (first.empty()) first = computed;
      for (const auto& [name, data] : computed) {
        EXPECT_TRUE(data.bytes == first[name].bytes) << name;
      }
    }
  }
  EXPECT_EQ(absl::StrJoin(on_host, " "),
            absl::StrJoin(text->host_operators, " "));
}

INSTANTIATE_TEST_SUITE_P(, Exporters, testing::ValuesIn(Files()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::tests
