// SPDX-License-Identifier: Apache-2.0
// onnxGetBackendCompatibility.
#include <algorithm>
#include <chrono>

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
      t.Check(Yes(t.Compatibility(good)), "a good model was refused");
      t.Check(!Yes(t.Compatibility(bad)), "a bad model was accepted");
    }
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    each = std::min(each, took.count() / kProbes / 2);
  }
  t.Note(absl::StrCat("a model of one node takes ", each, " us"));
  t.Rule(each < kSlow, absl::StrCat("the question for one node takes ", each,
                                    " us; callers ask thousands"));
}

}  // namespace

std::vector<Case> CompatibilityCases() {
  return {
      {"compatibility.model_null", "onnxModel NULL is INVALID_POINTER",
       ModelNull},
      {"compatibility.size_zero", "onnxModelSize 0 is INVALID_SIZE", SizeZero},
      {"compatibility.good",
       "a model that onnxInitGraph takes is SUCCESS or FALLBACK, as there",
       Good},
      {"compatibility.protobuf",
       "bytes that are no ModelProto are "
       "INVALID_PROTOBUF",
       Protobuf},
      {"compatibility.invalid_model", "breaches of ONNX are INVALID_MODEL",
       Invalid},
      {"compatibility.unknown_operator", "unknown operators are refused",
       UnknownOperator},
      {"compatibility.mismatching",
       "declared shapes and types that are not the inferred ones are "
       "MISMATCHING_SHAPE, MISMATCHING_DATATYPE",
       Mismatching},
      {"compatibility.without_weights",
       "a model is judged the same with and without its weights",
       WithoutWeights},
      {"compatibility.verdict_is_init_graph",
       "what is accepted can be initialised, and what is refused cannot",
       VerdictIsInitGraph},
      {"compatibility.unsupported_type",
       "types are supported or UNSUPPORTED_DATATYPE", UnsupportedType},
      {"compatibility.unsupported_form",
       "shapes and attributes are supported or UNSUPPORTED_SHAPE, "
       "UNSUPPORTED_ATTRIBUTE",
       UnsupportedForm},
      {"compatibility.many_probes", "thousands of questions are quick",
       ManyProbes, kLong},
  };
}

}  // namespace heddle::conformance
