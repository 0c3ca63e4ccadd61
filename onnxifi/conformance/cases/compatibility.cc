// SPDX-License-Identifier: Apache-2.0
// onnxGetBackendCompatibility.
#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"
#include "onnxifi/conformance/cases/models.h"

namespace heddle::conformance {
namespace {

bool Yes(onnxStatus status) {
  return status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK;
}

void ModelNull(Context& t) {
  t.Expect(t.lib().GetBackendCompatibility(t.id(), 100, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxGetBackendCompatibility of NULL");
  t.Expect(t.lib().GetBackendCompatibility(t.id(), 0, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER, ONNXIFI_STATUS_INVALID_SIZE},
           "onnxGetBackendCompatibility of NULL with the size 0");
}

void SizeZero(Context& t) {
  const std::string model = t.Elementwise({2, 3}).Serialize();
  t.Expect(t.lib().GetBackendCompatibility(t.id(), 0, model.data()),
           {ONNXIFI_STATUS_INVALID_SIZE},
           "onnxGetBackendCompatibility with the size 0");
}

void Good(Context& t) {
  const onnxStatus verdict = t.Compatibility(t.Elementwise({2, 3}).Serialize());
  t.Expect(verdict, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendCompatibility");
  onnxGraph graph = nullptr;
  t.Expect(t.TryGraph(t.Elementwise({2, 3}).Serialize(), &graph), {verdict},
           "onnxInitGraph of the same model");
}

void Protobuf(Context& t) {
  for (const BadModel& model : BrokenProtobufs(t)) {
    t.Expect(t.Compatibility(model.bytes), {ONNXIFI_STATUS_INVALID_PROTOBUF},
             "onnxGetBackendCompatibility of " + model.what);
  }
}

void Invalid(Context& t) {
  for (const BadModel& model : InvalidModels(t)) {
    t.Expect(t.Compatibility(model.bytes), {ONNXIFI_STATUS_INVALID_MODEL},
             "onnxGetBackendCompatibility of " + model.what);
  }
}

void UnknownOperator(Context& t) {
  for (const BadModel& model : UnknownOperators(t)) {
    const onnxStatus status = t.Compatibility(model.bytes);
    t.Check(!Yes(status) && status != ONNXIFI_STATUS_INTERNAL_ERROR,
            absl::StrCat("onnxGetBackendCompatibility of ", model.what,
                         " returned ", StatusName(status)));
    t.ExpectRule(status,
                 {ONNXIFI_STATUS_UNSUPPORTED_OPERATOR,
                  ONNXIFI_STATUS_UNSUPPORTED_VERSION},
                 "onnxGetBackendCompatibility of " + model.what);
  }
}

void Mismatching(Context& t) {
  for (const BadModel& model : MismatchingModels(t)) {
    const onnxStatus status = t.Compatibility(model.bytes);
    t.Check(status == model.allowed[0],
            absl::StrCat("onnxGetBackendCompatibility of ", model.what,
                         " returned ", StatusName(status), ", not ",
                         StatusName(model.allowed[0])));
  }
}

void WithoutWeights(Context& t) {
  Model model = t.Weighted({2, 3});
  const onnxStatus without = t.Compatibility(model.Serialize());
  model.initializers = {{"w", {2, 3}, 1, RawFloats({1, 2, 3, 4, 5, 6})}};
  const onnxStatus with = t.Compatibility(model.Serialize());
  t.Expect(with, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendCompatibility of a model with a weight");
  t.Check(with == without,
          absl::StrCat("onnxGetBackendCompatibility says ", StatusName(with),
                       " of a model with its weights and ", StatusName(without),
                       " without them"));
}

void VerdictIsInitGraph(Context& t) {
  for (const auto& models : {InvalidModels(t), UnknownOperators(t),
                             MismatchingModels(t), UnsupportedTypes(t)}) {
    for (const BadModel& model : models) {
      const onnxStatus verdict = t.Compatibility(model.bytes);
      onnxGraph graph = nullptr;
      const onnxStatus status = t.TryGraph(model.bytes, &graph);
      t.Check(
          Yes(verdict) == Yes(status),
          absl::StrCat("of ", model.what, " onnxGetBackendCompatibility says ",
                       StatusName(verdict), " and onnxInitGraph ",
                       StatusName(status)));
      t.Rule(
          verdict == status,
          absl::StrCat("of ", model.what, " onnxGetBackendCompatibility says ",
                       StatusName(verdict), " and onnxInitGraph ",
                       StatusName(status)));
    }
  }
}

// Five nodes that a partitioner would ask for one by one. The third is
// nobody's, others may or may not be the backend's.
struct Whole {
  explicit Whole(Context& t) : base(t.NewModel()) {
    base.nodes = {{t.op().name, {"x", "z"}, {"a"}, "", {}},
                  {"Relu", {"a"}, {"b"}, "", {}},
                  {"NoSuchOperatorOfOnnx", {"b", "z"}, {"c"}, "", {}},
                  {t.op().name, {"c", "a"}, {"d"}, "", {}},
                  {"MatMul", {"d", "m"}, {"y"}, "", {}}};
  }
  static constexpr unsigned kForeign = 1 << 2;
  unsigned subsets() const { return (1U << base.nodes.size()) - 1; }

  // The nodes whose bits are set: what they read and do not make is an input,
  // what they make and others (or the caller) read is an output.
  std::string Subset(unsigned nodes) const {
    Model model = base;
    model.nodes.clear();
    std::set<std::string> read_inside, read_outside = {"y"}, made;
    for (size_t i = 0; i < base.nodes.size(); ++i) {
      const Node& node = base.nodes[i];
      const bool inside = (nodes >> i & 1) != 0;
      (inside ? read_inside : read_outside)
          .insert(node.inputs.begin(), node.inputs.end());
      if (!inside) continue;
      model.nodes.push_back(node);
      made.insert(node.outputs[0]);
    }
    for (const std::string& name : read_inside) {
      if (made.count(name) == 0) model.inputs.push_back({name, ShapeOf(name)});
    }
    for (const std::string& name : made) {
      if (read_outside.count(name) != 0) {
        model.outputs.push_back({name, ShapeOf(name)});
      }
    }
    return model.Serialize();
  }

 private:
  static std::vector<Dim> ShapeOf(const std::string& name) {
    if (name == "m") return {3, 2};
    if (name == "y") return {2, 2};
    return {2, 3};
  }

  Model base;
};

std::string NamesOf(unsigned nodes) {
  std::string text;
  for (int i = 0; nodes >> i != 0; ++i) {
    if ((nodes >> i & 1) != 0) {
      absl::StrAppend(&text, text.empty() ? "the nodes " : ", ", i + 1);
    }
  }
  return text;
}

void NodeByNode(Context& t) {
  const Whole whole(t);
  std::vector<onnxStatus> verdicts(whole.subsets() + 1);
  std::vector<unsigned> order;
  for (unsigned nodes = 1; nodes <= whole.subsets(); ++nodes) {
    order.push_back(nodes);
    const std::string bytes = whole.Subset(nodes);
    const onnxStatus verdict = verdicts[nodes] = t.Compatibility(bytes);
    onnxGraph graph = nullptr;
    const onnxStatus status = t.TryGraph(bytes, &graph);
    const std::string what = absl::StrCat(
        "of ", NamesOf(nodes), " onnxGetBackendCompatibility says ",
        StatusName(verdict), " and onnxInitGraph ", StatusName(status));
    t.Check(Yes(verdict) == Yes(status), what);
    t.Rule(verdict == status, what);
    t.Check((nodes & Whole::kForeign) == 0 || !Yes(verdict),
            absl::StrCat("onnxGetBackendCompatibility says ",
                         StatusName(verdict), " of ", NamesOf(nodes),
                         ", one of which is an unknown operator"));
    if (graph != nullptr) {
      t.Expect(t.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
               "onnxReleaseGraph");
      t.ForgetGraph(graph);
    }
  }
  // Whatever was asked, and made, before.
  std::shuffle(order.begin(), order.end(), t.random());
  for (const unsigned nodes : order) {
    const onnxStatus again = t.Compatibility(whole.Subset(nodes));
    t.Check(again == verdicts[nodes],
            absl::StrCat("onnxGetBackendCompatibility says ", StatusName(again),
                         " of ", NamesOf(nodes), ", before ",
                         StatusName(verdicts[nodes])));
  }
}

void UnsupportedType(Context& t) { ExpectRejections(t, UnsupportedTypes(t)); }

void UnsupportedForm(Context& t) { ExpectRejections(t, UnsupportedForms(t)); }

void ManyProbes(Context& t) {
  // A partitioner asks node by node.
  const std::string good = t.Elementwise({2, 3}).Serialize();
  Model model = t.Elementwise({2, 3});
  model.nodes[0].op = "NoSuchOperatorOfOnnx";
  const std::string bad = model.Serialize();
  // The best of some batches: machines are busy with other things, too. (One
  // that was slow for seconds is not tried for longer.)
  constexpr int kBatches = 20, kProbes = 100;
  constexpr double kSlow = 1000;  // microseconds
  using Clock = std::chrono::steady_clock;
  const auto patience = Clock::now() + std::chrono::seconds(6);
  double each = 1e9;
  for (int batch = 0; batch < kBatches && !t.failed() &&
                      (each < kSlow || Clock::now() < patience);
       ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kProbes; ++i) {
      t.Check(Yes(t.Compatibility(good)), "a good model was rejected");
      t.Check(!Yes(t.Compatibility(bad)), "a bad model was accepted");
    }
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    each = std::min(each, took.count() / kProbes / 2);
  }
  t.Note(absl::StrCat("a model of one node takes ", each, " us"));
  t.Rule(each < kSlow, absl::StrCat("a query for one node takes ", each,
                                    " us; callers make thousands"));
}

}  // namespace

std::vector<Case> CompatibilityCases() {
  return {
      {"compatibility.model_null", "onnxModel NULL is INVALID_POINTER",
       ModelNull},
      {"compatibility.size_zero", "onnxModelSize 0 is INVALID_SIZE", SizeZero},
      {"compatibility.good",
       "a model that onnxInitGraph accepts gets the same SUCCESS or FALLBACK",
       Good},
      {"compatibility.protobuf",
       "bytes that are not a ModelProto are INVALID_PROTOBUF", Protobuf},
      {"compatibility.invalid_model",
       "models that violate ONNX are INVALID_MODEL", Invalid},
      {"compatibility.unknown_operator", "unknown operators are rejected",
       UnknownOperator},
      {"compatibility.mismatching",
       "declared shapes and types that contradict the inferred ones are "
       "MISMATCHING_SHAPE and MISMATCHING_DATATYPE",
       Mismatching},
      {"compatibility.without_weights",
       "a model is judged the same with and without its weights",
       WithoutWeights},
      {"compatibility.verdict_is_init_graph",
       "onnxInitGraph accepts what is reported as compatible and rejects the "
       "rest",
       VerdictIsInitGraph},
      {"compatibility.node_by_node",
       "each node of a model, each subset and the whole get the verdict of "
       "onnxInitGraph",
       NodeByNode, kLong},
      {"compatibility.unsupported_type",
       "a data type is supported or UNSUPPORTED_DATATYPE", UnsupportedType},
      {"compatibility.unsupported_form",
       "shapes and attributes are supported, or UNSUPPORTED_SHAPE and "
       "UNSUPPORTED_ATTRIBUTE",
       UnsupportedForm},
      {"compatibility.many_probes", "thousands of queries are quick",
       ManyProbes, kLong},
  };
}

}  // namespace heddle::conformance
