// SPDX-License-Identifier: Apache-2.0
// Every operator that the compiler knows, in every definition, between two
// moves of data: what the optimiser makes of Transpose, node, Transpose (and of
// Reshape, node, Reshape) computes what the node alone does, whatever sinks,
// cancels, folds or fuses. With the node's other operands as inputs of the
// model, and as constants.
//
// Arguments: --seeds=N models of each definition, --first=N.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "tests/mutations/valid_models.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;
using Values = std::vector<TensorData>;
using Perm = std::vector<int64_t>;

int g_seeds = 1;
uint64_t g_first = 1;

// Transposes: the last axis goes first; the last two change places.
enum class Kind { kRotate, kSwap, kReshape };

// Axis i of the result is axis perm[i].
TensorData Transposed(const TensorData& x, const Perm& perm) {
  TensorData y = TensorData::Zeros(x.type, x.shape);
  const size_t rank = perm.size(), width = compiler::ElementBytes(x.type);
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * x.shape[i];
  for (size_t i = 0; i < rank; ++i) y.shape[i] = x.shape[perm[i]];
  for (int64_t at = 0; at < x.count(); ++at) {
    int64_t from = 0;
    for (size_t i = 0; i < rank; ++i) from += index[i] * strides[perm[i]];
    std::memcpy(y.bytes.data() + at * static_cast<int64_t>(width),
                x.bytes.data() + from * static_cast<int64_t>(width), width);
    for (size_t i = rank; i-- > 0 && ++index[i] == y.shape[i];) index[i] = 0;
  }
  return y;
}

Perm Inverse(const Perm& perm) {
  Perm inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}

Perm PermOf(Kind kind, size_t rank) {
  Perm perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(i);
  if (kind == Kind::kRotate) {
    std::rotate(perm.begin(), perm.end() - 1, perm.end());
  } else {
    std::swap(perm[rank - 1], perm[rank - 2]);
  }
  return perm;
}

TensorData ValuesFor(DataType type, const Shape& shape, uint64_t seed) {
  if (type != DataType::kInt32 && type != DataType::kInt64) {
    return compiler::RandomData(type, shape, seed, 0.5f, 3);
  }
  // Lengths and indices, too.
  TensorData data = compiler::RandomData(DataType::kBool, shape, seed);
  TensorData wide = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    wide.bytes[static_cast<size_t>(i) * compiler::ElementBytes(type)] =
        data.bytes[static_cast<size_t>(i)];
  }
  return wide;
}

struct Case {
  onnx::ModelProto model;
  std::vector<std::string> names;  // of the inputs
  Values values;
};

std::optional<Case> CaseOf(const onnx::ModelProto& model, uint64_t seed) {
  Case c;
  c.model = model;
  std::set<std::string> given;
  for (const auto& initializer : model.graph().initializer()) {
    given.insert(initializer.name());
  }
  for (const auto& input : model.graph().input()) {
    if (given.count(input.name()) != 0) continue;
    if (!input.type().has_tensor_type()) return std::nullopt;
    Shape shape;
    for (const auto& d : input.type().tensor_type().shape().dim()) {
      if (!d.has_dim_value()) return std::nullopt;
      shape.push_back(d.dim_value());
    }
    c.names.push_back(input.name());
    c.values.push_back(
        ValuesFor(static_cast<DataType>(input.type().tensor_type().elem_type()),
                  shape, seed + c.names.size()));
  }
  return c;
}

// All inputs but one as constants.
Case WithConstants(Case c, size_t kept) {
  auto* graph = c.model.mutable_graph();
  for (size_t i = 0; i < c.names.size(); ++i) {
    if (i == kept) continue;
    auto* constant = graph->add_initializer();
    constant->set_name(c.names[i]);
    constant->set_data_type(static_cast<int>(c.values[i].type));
    for (int64_t d : c.values[i].shape) constant->add_dims(d);
    constant->set_raw_data(c.values[i].bytes.data(), c.values[i].bytes.size());
    for (int k = 0; k < graph->input_size(); ++k) {
      if (graph->input(k).name() != c.names[i]) continue;
      graph->mutable_input()->DeleteSubrange(k, 1);
      break;
    }
  }
  c.values = {c.values[kept]};
  c.names = {c.names[kept]};
  return c;
}

std::optional<Values> Outputs(const Case& c, std::string* why) {
  const auto graph =
      compiler::AnalyseOnnx(c.model.SerializeAsString(), {}, nullptr);
  if (!graph.ok()) {
    *why = std::string(graph.status().message());
    return std::nullopt;
  }
  const auto all = compiler::EvaluateGraph(*graph, c.values);
  if (!all.ok()) {
    *why = absl::StrCat(all.status().message(), "\n", graph->ToString());
    return std::nullopt;
  }
  Values outputs;
  for (compiler::TensorId id : graph->outputs) outputs.push_back((*all)[id]);
  *why = graph->ToString();
  return outputs;
}

void AddMove(Kind kind, const std::string& from, const std::string& to,
             const Perm& perm, const Shape& shape, int at,
             onnx::ModelProto* model) {
  auto* graph = model->mutable_graph();
  auto* node = graph->add_node();
  node->add_input(from);
  node->add_output(to);
  node->set_name(absl::StrCat("move of ", from));
  if (kind != Kind::kReshape) {
    node->set_op_type("Transpose");
    compiler::SetInts(node, "perm", perm);
  } else {
    node->set_op_type("Reshape");
    auto* sizes = graph->add_initializer();
    sizes->set_name(absl::StrCat(to, "/sizes"));
    sizes->set_data_type(onnx::TensorProto::INT64);
    sizes->add_dims(static_cast<int64_t>(shape.size()));
    for (int64_t d : shape) sizes->add_int64_data(d);
    node->add_input(sizes->name());
  }
  for (int i = graph->node_size() - 1; i > at; --i) {
    graph->mutable_node()->SwapElements(i, i - 1);
  }
}

// The same computation with moves of input `which` and of all outputs, whose
// shapes are those of `outputs`.
Case Moved(Case c, Kind kind, size_t which, const Values& outputs) {
  auto* graph = c.model.mutable_graph();
  TensorData& value = c.values[which];
  const std::string name = c.names[which];
  const Shape shape = value.shape;
  Perm perm;
  if (kind != Kind::kReshape) {
    perm = PermOf(kind, shape.size());
    value = Transposed(value, Inverse(perm));
  } else {
    value.shape = {value.count()};
  }
  for (auto& input : *graph->mutable_input()) {
    if (input.name() != name) continue;
    input.set_name(name + "/moved");
    auto* dims = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    dims->Clear();
    for (int64_t d : value.shape) dims->add_dim()->set_dim_value(d);
  }
  AddMove(kind, name + "/moved", name, perm, shape, 0, &c.model);
  for (int i = 0; i < graph->output_size(); ++i) {
    auto* output = graph->mutable_output(i);
    const TensorData& out = outputs[static_cast<size_t>(i)];
    if (kind != Kind::kReshape && out.shape.size() < 2) continue;
    const std::string from = output->name();
    output->set_name(from + "/out");
    AddMove(kind, from, output->name(),
            kind != Kind::kReshape ? PermOf(kind, out.shape.size()) : Perm(),
            {out.count()}, graph->node_size(), &c.model);
  }
  return c;
}

TensorData MovedOutput(const TensorData& out, Kind kind) {
  if (kind == Kind::kReshape) {
    TensorData flat = out;
    flat.shape = {out.count()};
    return flat;
  }
  if (out.shape.size() < 2) return out;
  return Transposed(out, PermOf(kind, out.shape.size()));
}

// Where passes fold constants into others, sums are rounded otherwise.
bool Close(const TensorData& a, const TensorData& b) {
  if (a.type != b.type || a.shape != b.shape) return false;
  if (a.bytes == b.bytes) return true;
  if (a.type != DataType::kFloat) return false;
  const auto *p = a.as<float>(), *q = b.as<float>();
  float largest = 1;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (std::isfinite(p[i])) largest = std::max(largest, std::abs(p[i]));
  }
  for (int64_t i = 0; i < a.count(); ++i) {
    if (p[i] == q[i] || (std::isnan(p[i]) && std::isnan(q[i]))) continue;
    if (!(std::abs(p[i] - q[i]) <= 1e-5f * largest)) return false;
  }
  return true;
}

struct Counts {
  int compared = 0, equal = 0, refused = 0;
};

// Before opset 5 Reshape has its shape as an attribute, and few types.
bool HasReshape(const onnx::ModelProto& model) {
  return std::all_of(
      model.opset_import().begin(), model.opset_import().end(),
      [](const auto& o) { return !o.domain().empty() || o.version() >= 5; });
}

bool IsRead(const onnx::ModelProto& model, const std::string& name) {
  const auto& node = model.graph().node(0);
  return std::count(node.input().begin(), node.input().end(), name) != 0;
}

void Compare(const Case& plain, size_t which, const std::string& what,
             Counts* counts) {
  std::string why;
  const auto expected = Outputs(plain, &why);
  if (!expected.has_value()) return;
  for (Kind kind : {Kind::kRotate, Kind::kSwap, Kind::kReshape}) {
    const TensorData& value = plain.values[which];
    if (value.shape.size() < 2 || value.count() == 0) continue;
    if (kind == Kind::kReshape && !HasReshape(plain.model)) continue;
    const Case moved = Moved(plain, kind, which, *expected);
    const auto outputs = Outputs(moved, &why);
    if (!outputs.has_value()) {
      // No Reshape follows a size that only a run knows.
      const bool by_right = absl::StrContains(why, "known only at run time");
      counts->refused += by_right;
      EXPECT_TRUE(by_right) << what << ": " << why;
      continue;
    }
    ++counts->compared;
    for (size_t i = 0; i < expected->size(); ++i) {
      const TensorData wanted = MovedOutput((*expected)[i], kind);
      counts->equal += wanted.bytes == (*outputs)[i].bytes;
      EXPECT_TRUE(Close(wanted, (*outputs)[i]))
          << what << (kind == Kind::kReshape ? " reshaped" : " transposed")
          << ", output " << i << "\n"
          << why;
    }
  }
}

// What is folded into a node, or computed before a run, changes nothing.
void CompareConstants(const Case& inputs, const Case& constants,
                      const std::string& what) {
  std::string why;
  const auto expected = Outputs(inputs, &why);
  if (!expected.has_value()) return;  // sizes that only constants may say
  const auto outputs = Outputs(constants, &why);
  ASSERT_TRUE(outputs.has_value()) << what << " of constants: " << why;
  for (size_t i = 0; i < expected->size(); ++i) {
    EXPECT_TRUE(Close((*expected)[i], (*outputs)[i]))
        << what << " of constants, output " << i << "\n"
        << why;
  }
}

TEST(Moves, AroundEveryOperator) {
  Counts counts;
  std::set<std::string> operators, all;
  for (const compiler::OperatorInfo* info : compiler::AllOperators()) {
    if (info->domain == std::string(compiler::kInternalDomain)) continue;
    all.insert(info->op);
    for (uint64_t seed = g_first; seed < g_first + g_seeds; ++seed) {
      const auto model = ValidModel(*info, seed);
      if (!model.has_value()) continue;
      const auto c = CaseOf(*model, 100 * seed);
      if (!c.has_value()) continue;
      const int before = counts.compared;
      for (size_t i = 0; i < c->values.size(); ++i) {
        if (!IsRead(c->model, c->names[i])) continue;
        const std::string what =
            absl::StrCat(info->domain, ".", info->op, "-", info->since_version,
                         " seed ", seed, ", input ", i);
        Compare(*c, i, what, &counts);
        if (c->values.size() == 1) continue;
        const Case constants = WithConstants(*c, i);
        Compare(constants, 0, what + " of constants", &counts);
        CompareConstants(*c, constants, what);
      }
      if (counts.compared > before) operators.insert(info->op);
    }
  }
  std::printf(
      "%d models with moves of %d operators, %d of equal bytes; %d refused\n",
      counts.compared, static_cast<int>(operators.size()), counts.equal,
      counts.refused);
  std::printf("without:");
  for (const std::string& op : all) {
    if (operators.count(op) == 0) std::printf(" %s", op.c_str());
  }
  std::printf("\n");
  EXPECT_GE(operators.size(), 150u);
}

int Main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    std::sscanf(argv[i], "--seeds=%d", &g_seeds);
    std::sscanf(argv[i], "--first=%" SCNu64, &g_first);
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) { return heddle::tests::Main(argc, argv); }
