// SPDX-License-Identifier: Apache-2.0
// onnxGetBackendCompatibility and onnxInitGraph give one verdict, counted over
// every model at hand (corpus.h) in every form (forms.h), through the library
// and a simulated card:
//
//   weights inside    equal statuses
//   weights outside   what some choice of weights initialises is supported;
//                     what is supported initialises with some choice, but for
//                     the models whose values decide (ValueDependent)
//
// each for whole models, for each of their nodes as a model of its own, and for
// the runs of supported nodes between those that are not.
// Arguments: --every=N takes every N-th model, --random=N graphs of each
// generator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "tests/comparer/api.h"
#include "tests/e2e/product.h"
#include "tests/verdict/corpus.h"
#include "tests/verdict/forms.h"

namespace heddle::tests {
namespace {

using comparer::TensorPlace;

uint64_t every = 1, random_graphs = 100;
// Models of one test.
constexpr size_t kChunk = 40;
// Inputs that are tried as the only one that is no weight.
constexpr int kChoices = 6;

constexpr int kSuccess = 0x0000, kFallback = 0x0001;
constexpr int kUnsupportedShape = 0x0205, kNoDeviceMemory = 0x0402;

bool Supported(int status) { return status == kSuccess || status == kFallback; }

// The card and the two functions.
class Card {
 public:
  Card() {
    UseDevice(SimDevice(Configs()[0]));
    auto api = comparer::Api::Load(ExtendedLibrary(), comparer::Abi::kExtended);
    if (!api.ok()) std::abort();
    api_ = *std::move(api);
    std::vector<void*> ids;
    if (api_->GetBackendIds(&ids) != kSuccess || ids.empty()) std::abort();
    id_ = ids[0];
    if (api_->InitBackend(id_, &backend_) != kSuccess) std::abort();
  }

  int Compatibility(const onnx::ModelProto& model) {
    return api_->GetBackendCompatibility(id_, model.SerializeAsString());
  }
  int InitGraph(const onnx::ModelProto& model,
                const std::vector<onnx::TensorProto>& weights = {}) {
    std::vector<std::string> bytes;
    bytes.reserve(weights.size());
    std::vector<TensorPlace> places;
    for (const onnx::TensorProto& weight : weights) {
      bytes.push_back(BytesOf(weight));
      TensorPlace place;
      place.name = weight.name();
      place.type = weight.data_type() == onnx::TensorProto::BOOL
                       ? static_cast<int>(onnx::TensorProto::UINT8)
                       : weight.data_type();
      place.shape.assign(weight.dims().begin(), weight.dims().end());
      place.buffer = &bytes.back()[0];
      places.push_back(place);
    }
    void* graph = nullptr;
    const int status =
        api_->InitGraph(backend_, model.SerializeAsString(), places, &graph);
    if (graph != nullptr) api_->ReleaseGraph(graph);
    return status;
  }

 private:
  std::unique_ptr<comparer::Api> api_;
  void* id_ = nullptr;
  void* backend_ = nullptr;
};

Card& TheCard() {
  static auto* card = new Card;
  return *card;
}

// What was asked, and where the two functions disagreed.
struct Count {
  int questions = 0, supported = 0;
  std::vector<std::string> differing, pessimistic, optimistic;

  void Add(const Count& other) {
    questions += other.questions;
    supported += other.supported;
    const auto append = [](const auto& from, auto* to) {
      to->insert(to->end(), from.begin(), from.end());
    };
    append(other.differing, &differing);
    append(other.pessimistic, &pessimistic);
    append(other.optimistic, &optimistic);
  }
};

std::string Line(const std::string& name, int compatibility, int graph) {
  return name + ": Compatibility " + comparer::StatusName(compatibility) +
         ", InitGraph " + comparer::StatusName(graph);
}

// A model with initializers, or without weights of any kind.
void CompareInside(const std::string& name, const onnx::ModelProto& model,
                   Count* count) {
  const int compatibility = TheCard().Compatibility(model);
  const int graph = TheCard().InitGraph(model);
  ++count->questions;
  if (Supported(compatibility)) ++count->supported;
  // onnxGetBackendCompatibility may not speak of device memory.
  if (compatibility == graph ||
      (graph == kNoDeviceMemory && compatibility == kUnsupportedShape)) {
    return;
  }
  count->differing.push_back(Line(name, compatibility, graph));
}

// Descriptors cannot say it.
bool HasEmptyOrText(const std::vector<onnx::TensorProto>& weights) {
  for (const onnx::TensorProto& weight : weights) {
    if (weight.data_type() == onnx::TensorProto::STRING) return true;
    for (int64_t dim : weight.dims()) {
      if (dim == 0) return true;
    }
  }
  return false;
}

// A model without initializers of whose inputs some values are known.
void CompareOutside(const std::string& name, const onnx::ModelProto& model,
                    const std::vector<onnx::TensorProto>& known, Count* count) {
  const int compatibility = TheCard().Compatibility(model);
  int graph = TheCard().InitGraph(model);
  const auto choices = WeightChoices(model, known, kChoices);
  // Without a choice that descriptors can express nothing was tried.
  bool expressible = !choices.empty();
  for (const auto& weights : choices) {
    if (Supported(graph)) break;
    if (HasEmptyOrText(weights)) {
      expressible = false;
    } else {
      graph = TheCard().InitGraph(model, weights);
    }
  }
  ++count->questions;
  if (Supported(compatibility)) ++count->supported;
  if (Supported(compatibility) == Supported(graph)) return;
  if (Supported(graph)) {
    count->pessimistic.push_back(Line(name, compatibility, graph));
  } else if (expressible) {
    count->optimistic.push_back(Line(name, compatibility, graph));
  }
}

// The model with what is known of its weights inside, in every form.
void CompareForms(const std::string& name, const onnx::ModelProto& model,
                  Count* count) {
  std::vector<onnx::TensorProto> weights;
  const onnx::ModelProto without = WithoutInitializers(model, &weights);
  if (!weights.empty()) CompareInside(name, model, count);
  CompareOutside(name + " (weights outside)", without, weights, count);
}

// Each node of its own, and the runs of nodes that a partitioner would make of
// those that are supported.
void ComparePartsOf(const std::string& name, const onnx::ModelProto& model,
                    Count* count) {
  if (model.graph().node_size() < 2) return;
  const Parts parts(Inferred(model));
  std::map<std::string, bool> asked;  // a network repeats its nodes
  std::vector<int> run;
  int runs = 0;
  const auto end_of_run = [&] {
    const int nodes = static_cast<int>(run.size());
    if (nodes > 1 && nodes < model.graph().node_size()) {
      CompareForms(name + " run " + std::to_string(runs++) + " of " +
                       std::to_string(nodes) + " nodes",
                   parts.Of(run), count);
    }
    run.clear();
  };
  for (int i = 0; i < parts.graph().node_size(); ++i) {
    const std::string& op = parts.graph().node(i).op_type();
    if (op == "Constant") continue;
    const onnx::ModelProto node = parts.Of({i});
    const auto [entry, fresh] = asked.emplace(Anonymous(node), false);
    if (fresh) {
      entry->second = Supported(TheCard().Compatibility(node));
      CompareForms(name + " node " + std::to_string(i) + " " + op, node, count);
    }
    if (entry->second) {
      run.push_back(i);
    } else {
      end_of_run();
    }
  }
  end_of_run();
}

Count CompareModel(const CorpusModel& model) {
  Count count;
  if (model.model.graph().initializer_size() != 0) {
    CompareForms(model.name, model.model, &count);
  } else {
    const int inputs = model.model.graph().input_size();
    for (int dynamic = 0; dynamic < std::min(inputs, kChoices); ++dynamic) {
      const onnx::ModelProto inside = WithData(model, dynamic);
      if (inside.graph().initializer_size() == 0) continue;
      CompareInside(model.name + " (input " + std::to_string(dynamic) + ")",
                    inside, &count);
    }
    std::vector<onnx::TensorProto> known;
    for (const auto& [name, tensor] : model.data) known.push_back(tensor);
    CompareOutside(model.name, model.model, known, &count);
  }
  const onnx::ModelProto whole =
      model.model.graph().initializer_size() != 0 || model.data.empty()
          ? model.model
          : WithData(model, 0);
  ComparePartsOf(model.name, whole, &count);
  return count;
}

// Whose values decide: reported as supported without weights, refused with
// these.
const std::set<std::string>& ValueDependent() {
  static const auto* names = new std::set<std::string>{
      // training_mode is true.
      "node/test_training_dropout",
      "node/test_training_dropout_default",
      "node/test_training_dropout_default_mask",
      "node/test_training_dropout_mask",
      "node/test_training_dropout_zero_ratio",
      "node/test_training_dropout_zero_ratio_mask",
      // The shape of an Expand: what comes behind it, a BitwiseAnd of int64
      // that
      // the card does not do, is not looked at without its own shape.
      "random/34 (weights outside)",
      // The sizes of a Resize of opset 18: the declared shape of its result is
      // that of libonnx, which does not know keep_aspect_ratio_policy.
      "random/97 node 4 Resize (weights outside)",
  };
  return *names;
}

class Verdicts : public testing::TestWithParam<size_t> {};

TEST_P(Verdicts, AreEqual) {
  const std::vector<CorpusEntry> corpus = Corpus(random_graphs);
  Count count;
  for (size_t i = GetParam(); i < corpus.size() && i < GetParam() + kChunk;
       ++i) {
    if (i % every != 0) continue;
    count.Add(CompareModel(corpus[i].read()));
  }
  const auto print = [](const char* what,
                        const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      std::printf("%s %s\n", what, line.c_str());
    }
  };
  std::printf(
      "%d questions, %d supported, %zu differ, %zu pessimistic, %zu "
      "optimistic\n",
      count.questions, count.supported, count.differing.size(),
      count.pessimistic.size(), count.optimistic.size());
  print("DIFFERENT", count.differing);
  print("PESSIMISTIC", count.pessimistic);
  print("OPTIMISTIC", count.optimistic);
  EXPECT_TRUE(count.differing.empty());
  const auto name = [](const std::string& line) {
    return line.substr(0, line.find(": Comp"));
  };
  EXPECT_TRUE(count.pessimistic.empty());
  for (const std::string& line : count.optimistic) {
    EXPECT_EQ(ValueDependent().count(name(line)), 1u) << line;
  }
}

std::vector<size_t> Chunks() {
  std::vector<size_t> chunks;
  const size_t size = Corpus(random_graphs).size();
  for (size_t first = 0; first < size; first += kChunk) {
    chunks.push_back(first);
  }
  return chunks;
}

INSTANTIATE_TEST_SUITE_P(Models, Verdicts, testing::ValuesIn(Chunks()));

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    unsigned long long value;
    if (std::sscanf(argv[i], "--every=%llu", &value) == 1) {
      heddle::tests::every = value;
    } else if (std::sscanf(argv[i], "--random=%llu", &value) == 1) {
      heddle::tests::random_graphs = value;
    }
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
