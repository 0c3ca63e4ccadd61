// SPDX-License-Identifier: Apache-2.0
#include "compiler/judge.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/analyse.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/int64_range.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/import/importer.h"
#include "compiler/partition/compile_parts.h"
#include "compiler/partition/support.h"
#include "compiler/passes/infer.h"
#include "compiler/passes/suppose.h"

namespace heddle::compiler {
namespace {

// Of adding weights.
constexpr int kMostSteps = 16;

absl::StatusOr<Judgement> Judge(ImportedModel imported, CompileOptions options,
                                Supposed* supposed) {
  Judgement result;
  // What card and host would share, from the same beginning.
  Supposed fresh;
  if (supposed != nullptr) fresh = *supposed;
  const auto share = [&] {
    return AnalyseImported(std::move(imported), SharedOptions(options),
                           supposed == nullptr ? nullptr : &fresh);
  };
  ASSIGN_OR_RETURN(result.graph, AnalyseImported(imported, options, supposed));
  const Graph& graph = result.graph;
  if (HasEmptyTensors(graph)) options.host_nodes = false;
  if (supposed != nullptr) {
    for (const Node& node : supposed->left_out) {
      const absl::Status card = CheckLowering(node);
      if (card.ok()) continue;
      if (!HostMayHelp(card, options)) return card;
      result.uses_host = true;
    }
    // With everything left out nothing else remains to be refused.
    if (graph.nodes.empty() && graph.outputs.empty()) return result;
  }
  if (auto host = CheckGraph(graph, options, share); host.ok()) {
    result.uses_host |= *host;
  } else if (supposed == nullptr ||
             Int64InputBound(graph).status() != host.status()) {
    // The range of int64 values is the values' affair. It is checked last.
    return host.status();
  }
  return result;
}

// Of weights in host memory (backend/weight_streaming.h): so many times the
// device memory are believed of a model that does not hold them.
constexpr uint64_t kMostOfDeviceMemory = 4;

// Weights that no card holds need no stand-ins.
absl::Status CheckSize(const Graph& graph, const std::set<TensorId>& weights,
                       uint64_t limit) {
  limit = limit == 0 ? kMaxTensorBytes
                     : std::min<uint64_t>(kMaxTensorBytes,
                                          limit * kMostOfDeviceMemory);
  uint64_t bytes = 0;
  for (TensorId id : weights) {
    const Tensor& tensor = graph.tensors[id];
    const uint64_t size = std::max<uint64_t>(1, ElementBytes(tensor.type));
    const uint64_t count = ElementCount(tensor.shape);
    if (count > limit / size || (bytes += count * size) > limit) {
      return Reject(Rejection::kNoDeviceMemory,
                    absl::StrCat("the inputs that may be weights take more "
                                 "than ",
                                 limit, " bytes, which do not fit the card"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Judgement> JudgeOnnx(absl::string_view model,
                                    const CompileOptions& options) {
  BeginPass(options, "import");
  ASSIGN_OR_RETURN(
      auto imported,
      ImportOnnx(model, ImportOptions{options.input_shapes, options.weights,
                                      options.data_folder,
                                      options.open_dimensions_are_one,
                                      options.bounds}));
  auto verdict = Judge(imported, options, nullptr);
  if (verdict.ok() || imported.has_initializers || !options.weights.empty()) {
    return verdict;
  }
  const auto attempt =
      [&](const std::set<TensorId>& guess) -> absl::StatusOr<Judgement> {
    RETURN_IF_ERROR(
        CheckSize(imported.graph, guess, options.device_memory_bytes));
    ImportedModel copy = imported;
    Suppose(guess, &copy.graph);
    Supposed supposed = {guess, {}};
    auto judged = Judge(std::move(copy), options, &supposed);
    if (!judged.ok() && options.progress) {
      const std::string text =
          absl::StrCat("with ", guess.size(),
                       " inputs as weights: ", judged.status().message());
      options.progress(text.c_str(), -1);
    }
    return judged;
  };
  const std::vector<std::set<TensorId>> guesses = WeightGuesses(imported.graph);
  std::set<TensorId> weights;
  absl::Status rejection = verdict.status();
  for (size_t i = 0; i < guesses.size(); ++i) {
    auto judged = attempt(guesses[i]);
    if (judged.ok()) return judged;
    if (i > 0) continue;
    weights = guesses[0];
    rejection = judged.status();
  }
  // From the first guess on, those that each rejection asks for.
  for (int i = 0; i < kMostSteps; ++i) {
    const std::set<TensorId> more =
        MoreWeights(imported.graph, rejection, weights);
    if (more.empty()) break;
    weights.insert(more.begin(), more.end());
    auto judged = attempt(weights);
    if (judged.ok()) return judged;
    rejection = judged.status();
  }
  return verdict;
}

}  // namespace heddle::compiler
