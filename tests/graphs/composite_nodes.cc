// SPDX-License-Identifier: Apache-2.0
// Operators that are made of others on the card, and that the host computes as
// they are: recurrences, sampled grids.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/graphs/graph_writer.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::SetInt;
using compiler::SetString;
using compiler::TensorData;

constexpr double kStepError = 2e-5;

// Symbols along which a node mixes are rare: such models are not padded.
bool IsOpen(const Value& v) {
  return std::any_of(v.dims.begin(), v.dims.end(),
                     [](const Dim& d) { return d.symbol >= 0; });
}

bool AddRecurrence(GraphWriter* w) {
  const bool open = w->OneIn(4);
  const Value* x = w->Draw([open](const Value& v) {
    return IsFloat(v) && v.dims.size() == 3 && v.dims[1].symbol < 0 &&
           v.dims[2].symbol < 0 && v.magnitude <= 16 && (open || !IsOpen(v));
  });
  if (x == nullptr && w->OneIn(2)) {
    x = w->AddInput(DataType::kFloat,
                    {{w->random().Between(1, 5)},
                     {w->random().Between(1, 2)},
                     {w->random().Between(1, 4)}},
                    -8, 8, 2);
  }
  if (x == nullptr) return false;
  const std::string op = w->Pick({"LSTM", "GRU", "RNN"});
  const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  const bool both = w->OneIn(3);
  const int64_t directions = both ? 2 : 1;
  const int64_t features = x->dims[2].size, batch = x->dims[1].size;
  const int64_t hidden = w->random().Between(1, 4);
  // Of which the sum over a state is less than 1: errors do not grow.
  TensorData r =
      TensorData::Zeros(DataType::kFloat, {directions, gates * hidden, hidden});
  for (int64_t i = 0; i < r.count(); ++i) {
    r.as<float>()[i] = static_cast<float>(w->Below(5) - 2) / 16;
  }
  std::vector<std::string> inputs = {
      x->name, w->Weights({directions, gates * hidden, features}),
      w->Constant(r), ""};
  if (w->OneIn(2)) inputs[3] = w->Weights({directions, 2 * gates * hidden});
  const auto steps = static_cast<double>(w->Extent(x->dims[0]));
  Value y = *x;
  y.magnitude = 1;
  // A cell is as large as there are steps, and forgets nothing at worst.
  y.error = (steps + 2) * (op == "LSTM" ? steps + 2 : 1) *
            (x->error * static_cast<double>(features) + kStepError);
  const bool last = w->OneIn(2);
  y.dims = {x->dims[0], {directions}, {batch}, {hidden}};
  if (last) y.dims.erase(y.dims.begin());
  if (!IsUseful(y) || w->Count(y.dims) > GraphWriter::kMostElements) {
    return false;
  }
  y.name = w->NewName();
  std::vector<std::string> outputs = {y.name};
  if (last) outputs.insert(outputs.begin(), "");
  onnx::NodeProto* node = w->AddNode(op, inputs, outputs);
  SetInt(node, "hidden_size", hidden);
  SetString(node, "direction",
            both          ? "bidirectional"
            : w->OneIn(3) ? "reverse"
                          : "forward");
  if (op == "GRU") SetInt(node, "linear_before_reset", w->Below(2));
  return w->AddValue(y) != nullptr;
}

// Only what a small change of a place changes by little.
bool AddSampledGrid(GraphWriter* w) {
  const bool open = w->OneIn(4);
  const Value* x = w->Draw([open](const Value& v) {
    return IsFloat(v) && v.dims.size() == 4 && v.dims[0].symbol < 0 &&
           v.magnitude <= 64 && (open || !IsOpen(v));
  });
  if (w->opset() < 16) return false;
  if (x == nullptr && w->OneIn(2)) {
    x = w->AddInput(DataType::kFloat,
                    {{1},
                     {w->random().Between(1, 3)},
                     {w->random().Between(1, 5)},
                     {w->random().Between(1, 5)}},
                    -8, 8, 2);
  }
  if (x == nullptr) return false;
  const int64_t height = w->random().Between(1, 3),
                width = w->random().Between(1, 3);
  TensorData grid =
      TensorData::Zeros(DataType::kFloat, {x->dims[0].size, height, width, 2});
  for (int64_t i = 0; i < grid.count(); ++i) {
    grid.as<float>()[i] = static_cast<float>(w->Below(81) - 40) / 32;
  }
  Value y = *x;
  y.dims[2] = {height};
  y.dims[3] = {width};
  const bool cubic = w->OneIn(3);
  const double grows = cubic ? 2 : 1;
  y.magnitude = std::max(1.0, grows * x->magnitude);
  y.error = grows * x->error + kStepError * y.magnitude;
  return w->Append("GridSample", {x->name, w->Constant(grid)}, y,
                   [&](onnx::NodeProto* node) {
                     const bool named = w->opset() >= 20;
                     SetString(node, "mode",
                               cubic ? (named ? "cubic" : "bicubic")
                                     : (named ? "linear" : "bilinear"));
                     SetString(node, "padding_mode",
                               w->Pick({"zeros", "border", "reflection"}));
                     SetInt(node, "align_corners", w->Below(2));
                   }) != nullptr;
}

const NodeFamily kRecurrenceFamily("recurrence", Side::kCard, AddRecurrence);
const NodeFamily kSampledGridFamily("sampled grid", Side::kCard,
                                    AddSampledGrid);

}  // namespace
}  // namespace heddle::tests
