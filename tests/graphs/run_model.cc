// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/run_model.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/compiler.h"
#include "compiler/direct/direct.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/shapes/compile_shape_set.h"
#include "runtime/session/shape_set_graph.h"

namespace heddle::tests {
namespace {

using compiler::CompileOptions;
using compiler::DataType;
using compiler::Placement;
using compiler::Shape;
using compiler::TensorData;
using Inputs = std::vector<TensorData>;
using Results = std::vector<TensorData>;

constexpr int kSets = 2;  // of inputs, for one compiled model

OnnxRuntime* Runtime() {
  static OnnxRuntime* const runtime = [] {
    auto opened = OnnxRuntime::Open(OnnxRuntime::SharedLibraries().back());
    if (!opened.ok()) std::abort();
    return opened->release();
  }();
  return runtime;
}

// A kernel or a type that the runtime does not have.
bool IsLeftOut(const absl::Status& status) {
  return absl::StrContains(status.message(), "NOT_IMPLEMENTED") ||
         absl::StrContains(status.message(),
                           "Could not find an implementation");
}

double At(const uint8_t* bytes, bool wide, int64_t i) {
  if (wide) {
    double value;
    std::memcpy(&value, bytes + sizeof(value) * i, sizeof(value));
    return value;
  }
  float value;
  std::memcpy(&value, bytes + sizeof(value) * i, sizeof(value));
  return value;
}

// The bytes of an element, the least significant last.
std::string HexOf(const uint8_t* bytes, size_t size) {
  std::string text;
  for (size_t i = size; i-- > 0;) {
    absl::StrAppend(&text, absl::Hex(bytes[i], absl::kZeroPad2));
  }
  return text;
}

bool IsZeroHalf(const std::string& hex) {
  return hex == "0000" || hex == "8000";
}

// "" if the runtime's result is within the value's bounds.
std::string Difference(const TensorData& ours, const RuntimeTensor& theirs,
                       const Value& value) {
  const Shape shape(theirs.shape.begin(), theirs.shape.end());
  if (static_cast<int>(ours.type) != theirs.type || ours.shape != shape) {
    return absl::StrCat("type ", ours.type, " and shape ",
                        compiler::ShapeToString(ours.shape), ", not ",
                        theirs.type, " and ", compiler::ShapeToString(shape));
  }
  if (ours.bytes.size() != theirs.bytes.size()) return "another size";
  const bool wide = ours.type == DataType::kDouble;
  if (ours.type != DataType::kFloat && !wide) {
    const size_t size = compiler::ElementBytes(ours.type);
    for (size_t at = 0; at < theirs.bytes.size(); at += size) {
      const auto ours_text = HexOf(ours.bytes.data() + at, size),
                 theirs_text = HexOf(theirs.bytes.data() + at, size);
      if (ours_text == theirs_text) continue;
      // (As of floats: zero may have either sign, that of Relu(-0) for one.)
      if (ours.type == DataType::kFloat16 && IsZeroHalf(ours_text) &&
          IsZeroHalf(theirs_text)) {
        continue;
      }
      return absl::StrCat("element ", at / size, " is ", ours_text, ", not ",
                          theirs_text);
    }
    return "";
  }
  for (int64_t i = 0; i < ours.count(); ++i) {
    const double a = At(ours.bytes.data(), wide, i),
                 b = At(theirs.bytes.data(), wide, i);
    // (Two implementations, each with an error.)
    if (a == b || std::fabs(a - b) <= 2 * value.error) continue;
    return absl::StrCat("element ", i, " is ", a, ", not ", b, ", error ",
                        value.error);
  }
  return "";
}

int ControlNodes(const onnx::GraphProto& graph) {
  int count = 0;
  for (const auto& node : graph.node()) {
    count += node.op_type() == "If" || node.op_type() == "Loop" ||
             node.op_type() == "Scan";
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count += ControlNodes(attribute.g());
    }
  }
  return count;
}

// What a package has; of bodies too.
struct Parts {
  int host = 0, card = 0, control = 0, inner_control = 0, inner_card = 0;
};
void Count(const package::Package& package, int depth, Parts* parts) {
  if (package.segments.empty()) {
    ++parts->card;
    parts->inner_card += depth > 0;
    return;
  }
  for (const package::Segment& segment : package.segments) {
    switch (segment.kind()) {
      case package::SegmentKind::kCard:
        ++parts->card;
        parts->inner_card += depth > 0;
        break;
      case package::SegmentKind::kHost:
        // Copies of constants and of inputs are no nodes that matter.
        parts->host += !segment.host.nodes.empty();
        break;
      case package::SegmentKind::kControl:
        ++parts->control;
        parts->inner_control += depth > 0;
        for (const package::Body& body : segment.bodies) {
          Count(*body.package, depth + 1, parts);
        }
        break;
    }
  }
}

absl::Status Differs(const std::string& way, const std::string& what) {
  return absl::DataLossError(absl::StrCat(way, ": ", what));
}
absl::Status Fails(const std::string& way, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(way, ": ", status.message()));
}

// Whether the host has a node that the card has in parts.
bool HasDirect(const package::Package& package) {
  for (const package::Segment& segment : package.segments) {
    for (const compiler::Node& node : segment.host.nodes) {
      if (compiler::IsDirect(segment.host, node)) return true;
    }
    for (const package::Body& body : segment.bodies) {
      if (HasDirect(*body.package)) return true;
    }
  }
  return false;
}

#define RETURN_FAILURE(way, status) \
  if (const absl::Status s = (status); !s.ok()) return Fails(way, s)

// What the reference semantics make of one set of inputs.
struct Expected {
  Inputs inputs;
  Results results;
};

// One model and what is known of it.
class Attempt {
 public:
  Attempt(const std::string& config, std::shared_ptr<session::Device> device,
          const RandomModel& model)
      : config_(config),
        device_(std::move(device)),
        model_(model),
        bytes_(model.model.SerializeAsString()) {}

  absl::Status Run() {
    shares_.models = 1;
    for (const Sizes& sizes : model_.runs) RETURN_IF_ERROR(Evaluate(sizes));
    if (model_.shape_set.empty()) {
      ASSIGN_OR_RETURN(const std::string card,
                       Compile("on the card", Placement::kCard, {}));
      RETURN_IF_ERROR(RunPackage("on the card", card, 0));
      ASSIGN_OR_RETURN(const std::string cost,
                       Compile("by cost", Placement::kCost, {}));
      if (cost != card) RETURN_IF_ERROR(RunPackage("by cost", cost, 0));
      RETURN_IF_ERROR(CountParts(card));
    } else {
      shares_.symbolic = 1;
      RETURN_IF_ERROR(RunShapeSet("of several sizes", Placement::kCard));
      // (Half of them: the second package costs as much as the first.)
      if (model_.seed % 8 == 0) {
        RETURN_IF_ERROR(
            RunShapeSet("of several sizes by cost", Placement::kCost));
        shares_.by_cost = 1;
      }
    }
    const size_t last = model_.runs.size() - 1;
    ASSIGN_OR_RETURN(const std::string host,
                     Compile("on the host", Placement::kHost, Shapes(last)));
    const auto parsed = package::Parse(host);
    RETURN_FAILURE("package", parsed.status());
    shares_.direct = HasDirect(*parsed);
    return RunPackage("on the host", host, last);
  }
  const Shares& shares() const { return shares_; }

 private:
  // Of all inputs.
  std::map<std::string, Shape> Shapes(size_t run) const {
    std::map<std::string, Shape> shapes;
    for (const RandomInput& input : model_.inputs) {
      shapes[input.value.name] = ShapeOf(input.value.dims, model_.runs[run]);
    }
    return shapes;
  }

  CompileOptions Options(Placement placement,
                         const std::map<std::string, Shape>& shapes) const {
    CompileOptions options;
    options.config = config_;
    options.host_nodes = true;
    options.placement = placement;
    options.input_shapes = shapes;
    // (What passes make of several nodes the host cannot run.)
    if (placement == Placement::kHost)
      options.features.fuse_elementwise = false;
    if (model_.seed % 4 != 1) options.goal = compiler::Goal::kCompileTime;
    return options;
  }

  // What the model computes with these sizes, by the reference semantics, and
  // whether ONNX Runtime agrees.
  absl::Status Evaluate(const Sizes& sizes) {
    expected_.emplace_back();
    const CompileOptions options =
        Options(Placement::kCost, Shapes(expected_.size() - 1));
    const auto graph = compiler::AnalyseOnnx(bytes_, options);
    RETURN_FAILURE("analysis", graph.status());
    for (int set = 0; set < kSets; ++set) {
      Expected e;
      for (size_t i = 0; i < model_.inputs.size(); ++i) {
        const uint64_t seed = (model_.seed * kSets + set) * 64 + i;
        e.inputs.push_back(Draw(model_.inputs[i], sizes, seed));
      }
      auto values = compiler::EvaluateGraph(*graph, e.inputs);
      RETURN_FAILURE("reference", values.status());
      for (compiler::TensorId id : graph->outputs) {
        e.results.push_back((*values)[id]);
      }
      RETURN_IF_ERROR(CompareWithRuntime(e));
      expected_.back().push_back(std::move(e));
    }
    return absl::OkStatus();
  }

  absl::Status CompareWithRuntime(const Expected& e) {
    if (shares_.left_out > 0) return absl::OkStatus();
    std::vector<std::pair<std::string, RuntimeTensor>> inputs;
    for (size_t i = 0; i < e.inputs.size(); ++i) {
      const TensorData& data = e.inputs[i];
      inputs.push_back({model_.inputs[i].value.name,
                        {static_cast<int>(data.type),
                         data.shape,
                         {data.bytes.begin(), data.bytes.end()}}});
    }
    std::vector<std::string> outputs;
    for (const Value& output : model_.outputs) outputs.push_back(output.name);
    const auto theirs = Runtime()->Run(bytes_, inputs, outputs);
    if (!theirs.ok() && IsLeftOut(theirs.status())) {
      shares_.left_out = 1;
      return absl::OkStatus();
    }
    RETURN_FAILURE("ONNX Runtime", theirs.status());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string what =
          Difference(e.results[i], (*theirs)[i], model_.outputs[i]);
      if (!what.empty()) {
        return Differs("against ONNX Runtime",
                       absl::StrCat("output '", outputs[i], "': ", what));
      }
      ++shares_.compared;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Compile(
      const char* way, Placement placement,
      const std::map<std::string, Shape>& shapes) const {
    auto made = compiler::CompileOnnx(bytes_, Options(placement, shapes));
    RETURN_FAILURE(way, made.status());
    return std::move(made->package);
  }

  absl::Status RunPackage(const char* way, const std::string& package,
                          size_t run) {
    const auto graph = session::LoadGraph(device_, package);
    RETURN_FAILURE(way, graph.status());
    return RunGraph(way, graph->get(), run);
  }

  // All sets of inputs at once.
  absl::Status RunGraph(const char* way, session::Graph* graph, size_t run) {
    const package::Package& package = graph->package();
    std::vector<Results> results(kSets);
    std::vector<std::shared_ptr<session::Run>> runs;
    for (int set = 0; set < kSets; ++set) {
      Expected& e = expected_[run][set];
      std::vector<session::TensorBuffer> inputs, outputs;
      for (const package::TensorInfo& info : package.inputs) {
        for (size_t i = 0; i < model_.inputs.size(); ++i) {
          if (model_.inputs[i].value.name != info.name) continue;
          inputs.push_back(
              {info.name, e.inputs[i].bytes.data(), e.inputs[i].bytes.size()});
        }
      }
      for (const package::TensorInfo& info : package.outputs) {
        results[set].push_back(TensorData::Zeros(info.type, info.shape));
        TensorData& data = results[set].back();
        outputs.push_back({info.name, data.bytes.data(), data.bytes.size()});
      }
      auto started = graph->Start(inputs, outputs, nullptr);
      RETURN_FAILURE(way, started.status());
      runs.push_back(*std::move(started));
    }
    for (int set = 0; set < kSets; ++set) {
      RETURN_FAILURE(way, runs[set]->Wait(absl::InfiniteFuture()));
      for (size_t i = 0; i < package.outputs.size(); ++i) {
        RETURN_IF_ERROR(Compare(way, package.outputs[i],
                                runs[set]->OutputShape(package.outputs[i].name),
                                results[set][i], expected_[run][set].results));
      }
    }
    return absl::OkStatus();
  }

  // The bytes of the reference semantics, and as much of them.
  absl::Status Compare(const char* way, const package::TensorInfo& info,
                       const std::optional<Shape>& actual,
                       const TensorData& ours, const Results& expected) const {
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      if (model_.outputs[i].name != info.name) continue;
      const TensorData& theirs = expected[i];
      const Shape& shape = actual.has_value() ? *actual : info.shape;
      if (ours.type != theirs.type || shape != theirs.shape) {
        return Differs(way,
                       absl::StrCat("output '", info.name, "' has shape ",
                                    compiler::ShapeToString(shape), ", not ",
                                    compiler::ShapeToString(theirs.shape)));
      }
      if (theirs.bytes.size() > 0 &&
          std::memcmp(ours.bytes.data(), theirs.bytes.data(),
                      theirs.bytes.size()) != 0) {
        return Differs(way, absl::StrCat("output '", info.name,
                                         "' is not that of the reference"));
      }
      return absl::OkStatus();
    }
    return Differs(way, absl::StrCat("an output '", info.name,
                                     "' that the model does not have"));
  }

  absl::Status RunShapeSet(const char* way, Placement placement) {
    compiler::ShapeValues values;
    RETURN_FAILURE(way, compiler::ParseShapeValues(model_.shape_set, &values));
    const auto made =
        compiler::CompileShapeSet(bytes_, Options(placement, {}), values);
    RETURN_FAILURE(way, made.status());
    session::ShapeSetOptions options;
    options.compile = [&](const std::map<std::string, Shape>& shapes) {
      return Compile("compiled while it runs", placement, shapes);
    };
    const auto graphs = session::ShapeSetGraph::Load(
        device_, made->package, compiler::KeptByCaller(made->package), options);
    RETURN_FAILURE(way, graphs.status());
    for (size_t run = 0; run < model_.runs.size(); ++run) {
      const auto taken = (*graphs)->For(Shapes(run));
      RETURN_FAILURE(way, taken.status());
      if (placement != Placement::kCard) {
        RETURN_IF_ERROR(RunGraph(way, taken->graph.get(), run));
        continue;
      }
      using How = session::Specialised::How;
      const bool padded = taken->how == How::kPadded;
      shares_.exact += taken->how == How::kExact;
      shares_.padded += padded;
      shares_.compiled += taken->how == How::kCompiled;
      RETURN_IF_ERROR(
          RunGraph(padded ? "padded" : way, taken->graph.get(), run));
      if (run == 0) RETURN_IF_ERROR(CountParts(*taken->package));
    }
    return absl::OkStatus();
  }

  absl::Status CountParts(const std::string& bytes) {
    const auto package = package::Parse(bytes);
    RETURN_FAILURE("package", package.status());
    Parts parts;
    Count(*package, 0, &parts);
    const bool host = parts.host > 0 || parts.control > 0;
    shares_.host += host && parts.card > 0;
    shares_.all_host += parts.card == 0;
    shares_.decided += parts.control > 0;
    shares_.nested += parts.inner_control > 0;
    shares_.scans += model_.long_scan && parts.control > 0;
    shares_.card_bodies += parts.inner_card > 0;
    shares_.folded += ControlNodes(model_.model.graph()) > parts.control;
    for (const Value& output : model_.outputs) {
      if (output.bounded) {
        shares_.bounded = 1;
      }
    }
    return absl::OkStatus();
  }

  const std::string config_;
  const std::shared_ptr<session::Device> device_;
  const RandomModel& model_;
  const std::string bytes_;
  std::vector<std::vector<Expected>> expected_;  // by run, by set
  Shares shares_;
};

}  // namespace

void Shares::Add(const Shares& other) {
  models += other.models;
  host += other.host;
  all_host += other.all_host;
  decided += other.decided;
  nested += other.nested;
  scans += other.scans;
  card_bodies += other.card_bodies;
  direct += other.direct;
  folded += other.folded;
  bounded += other.bounded;
  symbolic += other.symbolic;
  by_cost += other.by_cost;
  exact += other.exact;
  padded += other.padded;
  compiled += other.compiled;
  compared += other.compared;
  left_out += other.left_out;
}

std::string Shares::ToString() const {
  return absl::StrCat(
      models, " models: ", host, " on host and card, ", all_host,
      " on the host alone, ", decided,
      " with control flow that the run decides (", nested, " nested, ", scans,
      " Scans, ", card_bodies, " with bodies on the card), ", direct,
      " with recurrences or grids as nodes of the host, ", folded,
      " with control flow that folds, ", bounded,
      " with outputs whose size the run decides; ", symbolic,
      " of several sizes (", by_cost, " by cost, too; runs: ", exact,
      " exact, ", padded, " padded, ", compiled, " compiled); ", compared,
      " outputs compared with ONNX Runtime, ", left_out,
      " models that it does not run");
}

ModelRunner::ModelRunner(const std::string& config) : config_(config) {
  auto device = session::OpenDevice("sim:config=" + config);
  if (!device.ok()) {
    std::fprintf(stderr, "%s\n", device.status().ToString().c_str());
    std::abort();
  }
  device_ = *std::move(device);
}

absl::Status ModelRunner::Run(const RandomModel& model, Shares* shares) {
  Attempt attempt(config_, device_, model);
  RETURN_IF_ERROR(attempt.Run());
  shares->Add(attempt.shares());
  return absl::OkStatus();
}

}  // namespace heddle::tests
