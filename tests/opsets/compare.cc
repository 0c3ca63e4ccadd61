// SPDX-License-Identifier: Apache-2.0
#include "tests/opsets/compare.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "simulator/model/numerics.h"
#include "tests/support/apart.h"
#include "tests/support/onnxruntime.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::TensorData;

OnnxRuntime* Runtime() {
  static OnnxRuntime* runtime = [] {
    auto opened = OnnxRuntime::Open(OnnxRuntime::SharedLibraries().back());
    if (!opened.ok()) std::abort();
    return opened->release();
  }();
  return runtime;
}

double RealOf(int type, const uint8_t* bytes, int64_t i) {
  if (type == static_cast<int>(DataType::kDouble)) {
    double value;
    std::memcpy(&value, bytes + 8 * i, 8);
    return value;
  }
  if (type == static_cast<int>(DataType::kFloat16)) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, 2);
    return model::F16ToF32(bits);
  }
  float value;
  std::memcpy(&value, bytes + 4 * i, 4);
  return value;
}

// "" if they agree as well as the terms say.
std::string Difference(const TensorData& ours, const RuntimeTensor& theirs,
                       const Terms& terms) {
  const int codes = terms.codes;
  const float tolerance = ours.type == DataType::kFloat16
                              ? std::max(terms.tolerance, terms.half)
                              : terms.tolerance;
  const int type = static_cast<int>(ours.type);
  if (type != theirs.type) return absl::StrCat("type ", theirs.type);
  if (ours.shape != theirs.shape) {
    return absl::StrCat("shape ", compiler::ShapeToString(theirs.shape),
                        " not ", compiler::ShapeToString(ours.shape));
  }
  const bool real = ours.type == DataType::kFloat ||
                    ours.type == DataType::kFloat16 ||
                    ours.type == DataType::kDouble;
  if (!real && codes == 0) {
    return std::equal(theirs.bytes.begin(), theirs.bytes.end(),
                      ours.bytes.data())
               ? ""
               : "elements differ";
  }
  if (!real) {
    const size_t width = compiler::ElementBytes(ours.type);
    for (int64_t i = 0; i < ours.count(); ++i) {
      int32_t a = 0, b = 0;
      std::memcpy(&a, ours.bytes.data() + width * i, width);
      std::memcpy(&b, theirs.bytes.data() + width * i, width);
      if (std::abs(a - b) > codes) {
        return absl::StrCat("element ", i, ": ", a, ", not ", b);
      }
    }
    return "";
  }
  double largest = 1;
  for (int64_t i = 0; i < ours.count(); ++i) {
    const double v = std::abs(RealOf(type, ours.bytes.data(), i));
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  for (int64_t i = 0; i < ours.count(); ++i) {
    const double a = RealOf(type, ours.bytes.data(), i),
                 b = RealOf(type, theirs.bytes.data(), i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b || std::abs(a - b) <= tolerance * largest) continue;
    // Sums of float16 that are rounded, and overflow, on the way.
    if (ours.type == DataType::kFloat16 && terms.no_nan && std::isinf(b)) {
      continue;
    }
    return absl::StrCat("element ", i, ": ", a, ", not ", b);
  }
  return "";
}

// What the runtime does not do, by its own words; everything else that fails is
// a fault of the model.
bool IsLeftOut(const absl::Status& status) {
  for (const char* words :
       {"Could not find an implementation", "NOT_IMPLEMENTED",
        // Types that ONNX's definition of this opset does not have, and ours
        // takes.
        "Type Error",
        // Padding as wide as the window, or wider than what it reflects.
        "pool_attributes.h", "Pad reflect", "zero effective input extent",
        // Attributes and absent inputs that only later opsets have, and ours
        // takes.
        "Unrecognized attribute", "not in range",
        // Dilated windows with padding that the shape decides.
        "Dilation not supported for AutoPadType",
        // Output padding as wide as the stride.
        "output_padding",
        // Negative axes before opset 11, which its inference takes otherwise.
        "Input tensor must be 4-dimensional",
        // InstanceNormalization of a matrix.
        "number of dimensions is less than 3",
        "'Repeats' input has incorrect number of values",
        "First input does not have rank 2", "strides has incorrect size",
        "Mismatch between the sum of 'split'",
        // What follows a pool whose last window would begin in the padding: its
        // inference counts it, what it computes does not.
        "[ShapeInferenceError] Incompatible dimensions",
        "data type is not supported with Scatter",
        // Other shapes that Resize interpolates.
        "mode only supports",
        // Blocks of one element, which is what a scale for each element is.
        "block_size must be 0 for per-tensor",
        // Recurrent operators with the batch first.
        "Batchwise recurrent operations"}) {
    if (absl::StrContains(status.message(), words)) return true;
  }
  return false;
}

int64_t OpsetOf(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (import.domain().empty()) return import.version();
  }
  return 1;
}

// Models whose shapes the runtime infers otherwise than it computes them: with
// a pool that rounds up, and whose last window would begin in the padding; with
// a Squeeze of negative axes, which ours takes before opset 11.
bool InfersOtherwise(const onnx::ModelProto& model,
                     const absl::Status& status) {
  const auto says = [&status](const char* words) {
    return absl::StrContains(status.message(), words);
  };
  bool rounds_up = false, negative = false;
  for (const auto& node : model.graph().node()) {
    for (const auto& attribute : node.attribute()) {
      rounds_up |= attribute.name() == "ceil_mode" && attribute.i() == 1;
      negative |= node.op_type() == "Squeeze" && attribute.name() == "axes" &&
                  std::any_of(attribute.ints().begin(), attribute.ints().end(),
                              [](int64_t axis) { return axis < 0; });
    }
  }
  if (rounds_up && says("Can't merge shape info")) return true;
  return negative && OpsetOf(model) < 11 &&
         (says("All inputs to Concat must have same rank") ||
          says("The input is not evenly splittable"));
}

// Tensors of which ONNX does not say what is in them, and what is made of them:
// the mask of a Dropout that drops nothing, before opset 12; and places of a
// MaxPool in computed halves, where rounding decides on the largest.
std::set<std::string> Unsaid(const onnx::ModelProto& model,
                             const compiler::Graph& graph) {
  std::set<std::string> given, unsaid;
  for (const auto& input : model.graph().input()) given.insert(input.name());
  for (const auto& node : model.graph().node()) {
    const bool reads = std::any_of(
        node.input().begin(), node.input().end(),
        [&unsaid](const std::string& name) { return unsaid.count(name) != 0; });
    if (reads) unsaid.insert(node.output().begin(), node.output().end());
    if (node.output_size() < 2) continue;
    const bool mask = node.op_type() == "Dropout" && OpsetOf(model) < 12;
    bool places = false;
    if (node.op_type() == "MaxPool" && given.count(node.input(0)) == 0) {
      const compiler::TensorId x = graph.FindTensor(node.input(0));
      places = x != compiler::kNoTensor &&
               graph.tensors[x].type == DataType::kFloat16;
    }
    if (mask || places) unsaid.insert(node.output(1));
  }
  return unsaid;
}

// Whether a NaN comes about (a root of a negative variance): the runtime's
// minima and maxima forget them, ours hand them on (tests/nan).
bool HasNan(const std::vector<TensorData>& values) {
  for (const TensorData& data : values) {
    if (data.type != DataType::kFloat && data.type != DataType::kFloat16 &&
        data.type != DataType::kDouble) {
      continue;
    }
    for (int64_t i = 0; i < data.count(); ++i) {
      if (std::isnan(
              RealOf(static_cast<int>(data.type), data.bytes.data(), i))) {
        return true;
      }
    }
  }
  return false;
}

// Whether nothing is reduced: the runtime has dimensions of 0 for it, not of 1,
// or zeros; ONNX has the result for no elements (compiler/ops/reduce_test.cc).
bool ReducesNothing(const compiler::Graph& graph) {
  for (const compiler::Node& node : graph.nodes) {
    if (absl::StartsWith(node.op, "Reduce") &&
        graph.tensors[node.inputs[0]].shape_known &&
        compiler::ElementCount(graph.tensors[node.inputs[0]].shape) == 0) {
      return true;
    }
  }
  return false;
}

// Whether integers may go beyond their type: ours wrap (reduce_test.cc), ONNX
// leaves it open.
bool MayOverflow(const compiler::Graph& graph) {
  for (const compiler::Node& node : graph.nodes) {
    if ((node.op == "ReduceProd" || node.op == "ReduceSumSquare") &&
        graph.tensors[node.inputs[0]].type != DataType::kFloat &&
        graph.tensors[node.inputs[0]].type != DataType::kFloat16 &&
        graph.tensors[node.inputs[0]].type != DataType::kDouble) {
      return true;
    }
  }
  return false;
}

// Whether a Pad may go round an axis more than once: what the runtime puts
// there is not the next turn's elements, which ONNX's reference has.
bool WrapsTwice(const compiler::Graph& graph) {
  for (const compiler::Node& node : graph.nodes) {
    if (node.op != "Pad" || node.StringAttribute("mode", "") != "wrap") {
      continue;
    }
    const compiler::Shape& from = graph.tensors[node.inputs[0]].shape;
    const compiler::Shape& to = graph.tensors[node.outputs[0]].shape;
    for (size_t d = 0; d < from.size(); ++d) {
      if (to[d] > 2 * from[d]) return true;
    }
  }
  return false;
}

// The model with the types of its outputs, which the runtime wants to know.
std::string WithTypes(const std::string& bytes, const compiler::Graph& graph) {
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  for (int i = 0; i < model.graph().output_size(); ++i) {
    model.mutable_graph()
        ->mutable_output(i)
        ->mutable_type()
        ->mutable_tensor_type()
        ->set_elem_type(static_cast<int>(graph.tensors[graph.outputs[i]].type));
  }
  return model.SerializeAsString();
}

std::string AtOpset(const std::string& bytes, int opset) {
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  for (auto& import : *model.mutable_opset_import()) {
    if (import.domain().empty()) import.set_version(opset);
  }
  return model.SerializeAsString();
}

using Tensors = std::vector<RuntimeTensor>;
using NamedTensors = std::vector<std::pair<std::string, RuntimeTensor>>;

void Append(const void* from, size_t bytes, std::string* to) {
  to->append(static_cast<const char*>(from), bytes);
}

using Result = absl::StatusOr<Tensors>;

std::string ToBytes(const Result& result) {
  if (!result.ok()) return "!" + std::string(result.status().message());
  std::string bytes = "=";
  for (const RuntimeTensor& tensor : *result) {
    const uint64_t numbers[] = {static_cast<uint64_t>(tensor.type),
                                tensor.shape.size(), tensor.bytes.size()};
    Append(numbers, sizeof(numbers), &bytes);
    Append(tensor.shape.data(), 8 * tensor.shape.size(), &bytes);
    Append(tensor.bytes.data(), tensor.bytes.size(), &bytes);
  }
  return bytes;
}

Result FromBytes(const std::optional<std::string>& bytes, size_t count) {
  if (!bytes) return absl::AbortedError("the runtime ended its process");
  if ((*bytes)[0] == '!') return absl::InternalError(bytes->substr(1));
  Tensors tensors(count);
  const char* at = bytes->data() + 1;
  const auto take = [&at](void* to, size_t size) {
    if (size > 0) std::memcpy(to, at, size);
    at += size;
  };
  for (RuntimeTensor& tensor : tensors) {
    uint64_t numbers[3];
    take(numbers, sizeof(numbers));
    tensor.type = static_cast<int>(numbers[0]);
    tensor.shape.resize(numbers[1]);
    tensor.bytes.resize(numbers[2]);
    take(tensor.shape.data(), 8 * tensor.shape.size());
    take(tensor.bytes.data(), tensor.bytes.size());
  }
  return tensors;
}

bool IsMissing(const absl::Status& status) {
  return absl::StrContains(status.message(),
                           "Could not find an implementation");
}

// What the compiler makes of a case, and the runtime is asked.
class Comparison {
 public:
  Comparison(const OpsetCase& c, const std::string& what, const Terms& terms)
      : c_(c),
        what_(what),
        terms_(terms),
        graph_(compiler::AnalyseOnnx(c.model, {})) {
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      inputs_.emplace_back(
          c.inputs[i],
          RuntimeTensor{static_cast<int>(c.values[i].type), c.values[i].shape,
                        c.values[i].bytes.ToVector()});
    }
    model_ = terms.theirs.empty() ? c.model : terms.theirs;
    if (graph_.ok()) model_ = WithTypes(model_, *graph_);
  }

  bool IsRefused() const { return terms_.any_form && !graph_.ok(); }

  Result Ask() const {
    Result result = Runtime()->Run(model_, inputs_, c_.outputs);
    if (!result.ok() && IsMissing(result.status()) && terms_.earlier != 0) {
      return Runtime()->Run(AtOpset(model_, terms_.earlier), inputs_,
                            c_.outputs);
    }
    return result;
  }

  Outcome Judge(const Result& theirs) const;

 private:
  const OpsetCase& c_;
  const std::string what_;
  const Terms& terms_;
  const absl::StatusOr<compiler::Graph> graph_;
  NamedTensors inputs_;
  std::string model_;
};

Outcome Comparison::Judge(const Result& theirs) const {
  if (IsRefused()) {
    // That is no mistake, but an internal error is one.
    EXPECT_NE(graph_.status().code(), absl::StatusCode::kInternal)
        << what_ << ": " << graph_.status();
    return Outcome::kRefused;
  }
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(c_.model)) << what_;
  if (!theirs.ok() && (terms_.any_form || IsLeftOut(theirs.status()) ||
                       InfersOtherwise(model, theirs.status()))) {
    return Outcome::kLeftOut;
  }
  EXPECT_TRUE(theirs.ok()) << what_ << ": " << theirs.status() << "\n"
                           << (graph_.ok() ? graph_->ToString() : "");
  EXPECT_TRUE(graph_.ok()) << what_ << ": " << graph_.status();
  if (!theirs.ok() || !graph_.ok()) return Outcome::kNone;
  if (WrapsTwice(*graph_) || ReducesNothing(*graph_) || MayOverflow(*graph_)) {
    return Outcome::kLeftOut;
  }
  const auto ours = compiler::EvaluateGraph(*graph_, c_.values);
  EXPECT_TRUE(ours.ok()) << what_ << ": " << ours.status();
  if (!ours.ok()) return Outcome::kNone;
  if (terms_.no_nan && HasNan(*ours)) return Outcome::kLeftOut;
  const std::set<std::string> unsaid = Unsaid(model, *graph_);
  for (size_t i = 0; i < c_.outputs.size(); ++i) {
    if (unsaid.count(c_.outputs[i]) != 0) continue;
    const std::string difference =
        Difference((*ours)[graph_->outputs[i]], (*theirs)[i], terms_);
    EXPECT_EQ(difference, "") << what_ << ", output " << i << "\n"
                              << graph_->ToString();
  }
  return Outcome::kCompared;
}

bool g_ran_here = false;

}  // namespace

Outcome Compare(const OpsetCase& c, const std::string& what,
                const Terms& terms) {
  if (c.model.empty()) return Outcome::kNone;
  g_ran_here = true;
  const Comparison comparison(c, what, terms);
  if (comparison.IsRefused()) return comparison.Judge(Tensors());
  return comparison.Judge(comparison.Ask());
}

std::vector<Outcome> CompareApart(const std::vector<Question>& questions) {
  if (g_ran_here) std::abort();  // see the header
  Runtime();
  std::vector<Comparison> comparisons;
  for (const Question& question : questions) {
    comparisons.emplace_back(question.c, question.what, question.terms);
  }
  const auto results = CallApart(questions.size(), [&](size_t i) {
    const Comparison& comparison = comparisons[i];
    return comparison.IsRefused() || questions[i].c.model.empty()
               ? "!"
               : ToBytes(comparison.Ask());
  });
  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < questions.size(); ++i) {
    outcomes.push_back(questions[i].c.model.empty()
                           ? Outcome::kNone
                           : comparisons[i].Judge(FromBytes(
                                 results[i], questions[i].c.outputs.size())));
  }
  return outcomes;
}

bool RuntimeLacks(const OpsetCase& c) {
  g_ran_here = true;
  const Terms terms;
  const Comparison comparison(c, "", terms);
  const Result result = comparison.Ask();
  return !result.ok() && IsMissing(result.status());
}

}  // namespace heddle::tests
