// SPDX-License-Identifier: Apache-2.0
// Results of some operators, those that the backend takes. Values are small
// integers and halves, exact in any order of operations.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

using Floats = std::vector<float>;

struct Trial {
  Node node;  // inputs "a", "b"; output "y"
  std::vector<Tensor> inputs;
  std::vector<uint64_t> shape;  // of y
  Floats want;
  float tolerance = 0;  // relative
};

void RunTrial(Context& t, Trial trial) {
  Model model = t.NewModel();
  model.nodes = {trial.node};
  std::vector<Descriptor> inputs;
  const auto info = [](const std::string& name,
                       const std::vector<uint64_t>& shape) {
    ValueInfo value{name, {}};
    for (uint64_t dim : shape)
      value.shape.emplace_back(static_cast<int64_t>(dim));
    return value;
  };
  for (Tensor& tensor : trial.inputs) {
    model.inputs.push_back(info(tensor.name, tensor.shape));
    inputs.push_back(tensor.Describe());
  }
  model.outputs = {info("y", trial.shape)};
  const std::string bytes = model.Serialize();
  const onnxStatus verdict = t.Compatibility(bytes);
  if (verdict == ONNXIFI_STATUS_UNSUPPORTED_OPERATOR ||
      verdict == ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE ||
      verdict == ONNXIFI_STATUS_UNSUPPORTED_SHAPE) {
    t.Unsupported(absl::StrCat("onnxGetBackendCompatibility says ",
                               StatusName(verdict), " of ", trial.node.op));
  }
  if (!t.Expect(verdict, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
                "onnxGetBackendCompatibility of " + trial.node.op)) {
    return;
  }
  const onnxGraph graph = t.NewGraph(bytes);
  Tensor y("y", trial.shape);
  std::fill(y.data.begin(), y.data.end(),
            std::numeric_limits<float>::quiet_NaN());
  if (!t.Expect(t.SetIO(graph, inputs, {y.Describe()}),
                {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO")) {
    return;
  }
  const onnxEvent input = t.NewEvent();
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  const onnxMemoryFenceV1 in = EventFence(input);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  if (!t.Expect(t.lib().RunGraph(graph, &in, &out), {ONNXIFI_STATUS_SUCCESS},
                "onnxRunGraph")) {
    return;
  }
  t.Expect(t.lib().WaitEvent(out.event), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent");
  t.KeepEvent(out.event);
  for (size_t i = 0; i < y.data.size(); ++i) {
    const float bound =
        trial.tolerance * std::max(1.f, std::fabs(trial.want[i]));
    if (!t.Check(std::fabs(y.data[i] - trial.want[i]) <= bound,
                 absl::StrCat(trial.node.op, ": element ", i, " is ", y.data[i],
                              ", not ", trial.want[i]))) {
      break;
    }
  }
}

Tensor Drawn(Context& t, const std::string& name, std::vector<uint64_t> shape,
             int low = -8) {
  Tensor tensor(name, std::move(shape));
  std::uniform_int_distribution<int> draw(low, 8);
  for (float& value : tensor.data) value = static_cast<float>(draw(t.random()));
  return tensor;
}

void Binary(Context& t, const char* op, float (*apply)(float, float),
            int low = -8) {
  Trial trial;
  trial.node = {op, {"a", "b"}, {"y"}, "", {}};
  trial.shape = {3, 4, 5};
  trial.inputs = {Drawn(t, "a", trial.shape), Drawn(t, "b", trial.shape, low)};
  for (size_t i = 0; i < trial.inputs[0].data.size(); ++i) {
    trial.want.push_back(
        apply(trial.inputs[0].data[i], trial.inputs[1].data[i]));
  }
  RunTrial(t, std::move(trial));
}

void Unary(Context& t, const char* op, float (*apply)(float),
           float tolerance = 0) {
  Trial trial;
  trial.node = {op, {"a"}, {"y"}, "", {}};
  trial.shape = {2, 17};
  trial.inputs = {Drawn(t, "a", trial.shape)};
  trial.tolerance = tolerance;
  for (float value : trial.inputs[0].data) trial.want.push_back(apply(value));
  RunTrial(t, std::move(trial));
}

void Add(Context& t) {
  Binary(t, "Add", [](float a, float b) { return a + b; });
}
void Sub(Context& t) {
  Binary(t, "Sub", [](float a, float b) { return a - b; });
}
void Mul(Context& t) {
  Binary(t, "Mul", [](float a, float b) { return a * b; });
}
void Relu(Context& t) {
  Unary(t, "Relu", [](float a) { return a > 0 ? a : 0; });
}
void Neg(Context& t) {
  Unary(t, "Neg", [](float a) { return -a; });
}
void Sigmoid(Context& t) {
  Unary(
      t, "Sigmoid", [](float a) { return 1 / (1 + std::exp(-a)); }, 1e-2f);
}
void Identity(Context& t) {
  Unary(t, "Identity", [](float a) { return a; });
}

void Broadcast(Context& t) {
  Trial trial;
  trial.node = {"Add", {"a", "b"}, {"y"}, "", {}};
  trial.shape = {2, 3, 4};
  trial.inputs = {Drawn(t, "a", {2, 3, 4}), Drawn(t, "b", {3, 1})};
  for (size_t i = 0; i < 24; ++i) {
    trial.want.push_back(trial.inputs[0].data[i] +
                         trial.inputs[1].data[i / 4 % 3]);
  }
  RunTrial(t, std::move(trial));
}

void MatMul(Context& t) {
  constexpr size_t kRows = 5, kInner = 7, kColumns = 3;
  Trial trial;
  trial.node = {"MatMul", {"a", "b"}, {"y"}, "", {}};
  trial.shape = {kRows, kColumns};
  trial.inputs = {Drawn(t, "a", {kRows, kInner}),
                  Drawn(t, "b", {kInner, kColumns})};
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kColumns; ++c) {
      float sum = 0;
      for (size_t k = 0; k < kInner; ++k) {
        sum += trial.inputs[0].data[r * kInner + k] *
               trial.inputs[1].data[k * kColumns + c];
      }
      trial.want.push_back(sum);
    }
  }
  RunTrial(t, std::move(trial));
}

void Convolution(Context& t) {
  // 1x2x5x5 by 3x2x3x3: images are NCHW, rows before columns.
  Trial trial;
  trial.node = {
      "Conv", {"a", "b"}, {"y"}, "", {{"kernel_shape", 7, 0, {3, 3}}}};
  trial.shape = {1, 3, 3, 3};
  trial.inputs = {Drawn(t, "a", {1, 2, 5, 5}), Drawn(t, "b", {3, 2, 3, 3})};
  const Floats& a = trial.inputs[0].data;
  const Floats& b = trial.inputs[1].data;
  for (size_t o = 0; o < 3; ++o) {
    for (size_t r = 0; r < 3; ++r) {
      for (size_t c = 0; c < 3; ++c) {
        float sum = 0;
        for (size_t k = 0; k < 18; ++k) {
          const size_t channel = k / 9, dr = k / 3 % 3, dc = k % 3;
          sum += a[channel * 25 + (r + dr) * 5 + c + dc] * b[o * 18 + k];
        }
        trial.want.push_back(sum);
      }
    }
  }
  RunTrial(t, std::move(trial));
}

void GroupedConvolution(Context& t) {
  // What a backend decomposes it calls FALLBACK, in both functions.
  Model model = t.NewModel();
  model.nodes = {{"Conv",
                  {"a", "b"},
                  {"y"},
                  "",
                  {{"group", 2, 2, {}}, {"kernel_shape", 7, 0, {1, 1}}}}};
  model.inputs = {{"a", {1, 4, 2, 2}}, {"b", {4, 2, 1, 1}}};
  model.outputs = {{"y", {1, 4, 2, 2}}};
  const std::string bytes = model.Serialize();
  const onnxStatus verdict = t.Compatibility(bytes);
  if (verdict == ONNXIFI_STATUS_UNSUPPORTED_OPERATOR ||
      verdict == ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE ||
      verdict == ONNXIFI_STATUS_UNSUPPORTED_SHAPE) {
    t.Unsupported(absl::StrCat("onnxGetBackendCompatibility says ",
                               StatusName(verdict), " of a grouped Conv"));
  }
  onnxGraph graph = nullptr;
  t.Expect(verdict, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendCompatibility of a grouped Conv");
  t.Expect(t.TryGraph(bytes, &graph), {verdict},
           "onnxInitGraph of a grouped Conv that onnxGetBackendCompatibility "
           "takes");
}

}  // namespace

std::vector<Case> OperatorCases() {
  return {
      {"operators.add", "Add", Add},
      {"operators.sub", "Sub", Sub},
      {"operators.mul", "Mul", Mul},
      {"operators.relu", "Relu", Relu},
      {"operators.neg", "Neg", Neg},
      {"operators.identity", "Identity", Identity},
      {"operators.sigmoid", "Sigmoid, to two digits", Sigmoid},
      {"operators.broadcast", "Add with a smaller operand", Broadcast},
      {"operators.matmul", "MatMul", MatMul},
      {"operators.convolution", "Conv in NCHW layout", Convolution},
      {"operators.grouped_convolution",
       "a grouped Conv gets the same SUCCESS or FALLBACK from both functions",
       GroupedConvolution},
  };
}

}  // namespace heddle::conformance
