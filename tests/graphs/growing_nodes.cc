// SPDX-License-Identifier: Apache-2.0
// Loops that carry what grows and stack rows, as many as an input says, of
// which the model states the most; and Ifs that read and give what has a size
// that the run decides.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/testing/control_models.h"
#include "tests/graphs/graph_writer.h"

namespace heddle::tests {
namespace {

using compiler::AddGraph;
using compiler::DataType;
using compiler::Declare;
using compiler::SetInt;

constexpr int64_t kMostTrips = 3;

// How often, as an input; the model's metadata say the most (import/bounds.h).
const Value* AddTrips(int64_t fewest, GraphWriter* w) {
  const Value* trips = w->AddInput(DataType::kInt64, {}, fewest, kMostTrips, 0);
  if (trips == nullptr) return nullptr;
  auto* bound = w->state()->model.add_metadata_props();
  bound->set_key(absl::StrCat("heddle.bound.", trips->name));
  bound->set_value(absl::StrCat(kMostTrips));
  return trips;
}

bool HasSymbols(const Value& v) {
  for (const Dim& dim : v.dims) {
    if (dim.symbol >= 0) return true;
  }
  return false;
}

bool AddGrowingLoop(GraphWriter* w) {
  if (w->depth() > 0) return false;
  const Value* x = w->Draw([w](const Value& v) {
    return IsFloat(v) && !v.dims.empty() && v.dims.size() < 4 &&
           !HasSymbols(v) && 7 * w->Count(v.dims) <= GraphWriter::kMostElements;
  });
  // (Of no row at all ONNX Runtime does not know the shape.)
  const bool stacks = w->OneIn(2);
  const Value* trips = x == nullptr ? nullptr : AddTrips(stacks ? 1 : 0, w);
  if (trips == nullptr) return false;
  const int64_t axis = w->Below(static_cast<int64_t>(x->dims.size()));
  std::vector<std::string> inputs = {trips->name, "", x->name};
  std::vector<std::string> outputs = {w->NewName()};
  if (stacks) {
    inputs.push_back(x->name);
    outputs.push_back(w->NewName());
    outputs.push_back(w->NewName());
  }
  onnx::NodeProto* node = w->AddNode("Loop", inputs, outputs);
  GraphWriter body(w->state(), AddGraph(node, "body"), w);
  const std::string i = w->NewName(), c = w->NewName(), now = w->NewName();
  Declare(body.graph()->add_input(), i, DataType::kInt64, true);
  Declare(body.graph()->add_input(), c, DataType::kBool, true);
  Declare(body.graph()->add_input(), now, x->type);
  const std::string held = stacks ? w->NewName() : "";
  if (stacks) Declare(body.graph()->add_input(), held, x->type);

  Value one = *x;
  one.dims[axis] = Dim{w->random().Between(1, 2)};
  const std::string piece = body.Weights(ShapeOf(one.dims, {}));
  const std::string longer = w->NewName(), on = w->NewName();
  const std::vector<std::string> parts =
      w->OneIn(3) ? std::vector<std::string>{piece, now}
                  : std::vector<std::string>{now, piece};
  SetInt(body.AddNode("Concat", parts, {longer}), "axis", axis);
  std::string next = longer;
  if (w->OneIn(2)) {
    next = w->NewName();
    body.AddNode(w->Pick({"Neg", "Abs", "Relu"}), {longer}, {next});
  }
  body.AddNode("Identity", {c}, {on});
  Declare(body.graph()->add_output(), on, DataType::kBool, true);
  Declare(body.graph()->add_output(), next, x->type);
  if (stacks) {
    const std::string turned = w->NewName(), row = w->NewName();
    body.AddNode("Neg", {held}, {turned});
    body.AddNode(w->Pick({"Abs", "Relu", "Neg"}), {held}, {row});
    Declare(body.graph()->add_output(), turned, x->type);
    Declare(body.graph()->add_output(), row, x->type);
  }

  Value grown = *x;
  grown.name = outputs[0];
  grown.bounded = true;
  grown.dims[axis].size += kMostTrips * one.dims[axis].size;
  grown.magnitude = std::max(grown.magnitude, 1.0);
  grown.fraction = std::max(grown.fraction, 2);
  if (stacks) {
    Value last = *x, rows = *x;
    last.name = outputs[1];
    w->AddValue(last);
    rows.name = outputs[2];
    rows.bounded = true;
    rows.dims.insert(rows.dims.begin(), Dim{kMostTrips});
    w->AddValue(rows);
  }
  w->AddValue(grown);
  return true;
}

// What is larger than its row's limit, of which a branch may leave out some.
bool AddOpenIf(GraphWriter* w) {
  if (w->depth() > 0) return false;
  const Value* x = w->Draw([w](const Value& v) {
    return IsExactFloat(v) && v.dims.size() == 1 && !HasSymbols(v) &&
           w->Count(v.dims) > 1;
  });
  const Value* flag =
      x == nullptr ? nullptr : w->AddInput(DataType::kBool, {}, 0, 1, 0);
  if (flag == nullptr) return false;
  const std::string there = w->NewName(), some = w->NewName(), y = w->NewName();
  w->AddNode("Greater", {x->name, w->Constant(compiler::Floats({}, {0}))},
             {there});
  SetInt(w->AddNode("Compress", {x->name, there}, {some}), "axis", 0);
  onnx::NodeProto* node = w->AddNode("If", {flag->name}, {y});
  const auto fill = [&](const char* name, bool less) {
    GraphWriter branch(w->state(), AddGraph(node, name), w);
    std::string result = w->NewName();
    branch.AddNode(w->Pick({"Neg", "Abs", "Identity"}), {some}, {result});
    if (less) {
      const std::string few = w->NewName(), large = w->NewName();
      branch.AddNode("Greater",
                     {some, branch.Constant(compiler::Floats({}, {1}))},
                     {large});
      SetInt(branch.AddNode("Compress", {result, large}, {few}), "axis", 0);
      result = few;
    }
    Declare(branch.graph()->add_output(), result, x->type);
  };
  fill("then_branch", w->OneIn(2));
  fill("else_branch", w->OneIn(2));
  Value chosen = *x;
  chosen.name = y;
  chosen.bounded = true;
  w->AddValue(chosen);
  return true;
}

const NodeFamily kGrowingFamily("loop that grows", Side::kControl,
                                AddGrowingLoop);
const NodeFamily kOpenIfFamily("if of open size", Side::kControl, AddOpenIf);

}  // namespace
}  // namespace heddle::tests
