// SPDX-License-Identifier: Apache-2.0
// Every operator that the compiler knows, in every definition: a valid model of
// one node, changed in one thing (mutations.h), is refused with the right
// status and a sentence that names a thing of the model. Whether a change that
// the operator's definition judges leaves the model valid, ONNX Runtime says:
// a valid one may be refused as not supported, but not as invalid, and an
// invalid one is refused; where the two differ by right, rulings.h says why.
// Nothing may end in an internal error, whatever the numbers are.
//
// Arguments: --seeds=N models of each definition; --all: ONNX Runtime judges
// the definitions of all opsets, not those of the last ones alone.
#include "tests/mutations/mutations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/model_builder.h"
#include "tests/mutations/judge.h"
#include "tests/mutations/rulings.h"
#include "tests/mutations/valid_models.h"
#include "tests/support/onnxruntime.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

using compiler::OperatorInfo;
using compiler::Rejection;

int g_seeds = 1;
bool g_all = false;

// Of each operator, all definitions together.
constexpr int kLeast = 20;
// Models to choose from, until the runtime runs one.
constexpr uint64_t kChoices = 6;

std::vector<const OperatorInfo*> Definitions() {
  std::vector<const OperatorInfo*> all;
  for (const OperatorInfo* info : compiler::AllOperators()) {
    if (info->domain != std::string(compiler::kInternalDomain)) {
      all.push_back(info);
    }
  }
  return all;
}

std::string NameOf(const OperatorInfo& info) {
  return absl::StrCat(info.domain[0] == '\0' ? "" : "com.microsoft.", info.op);
}

std::string VersionOf(const OperatorInfo& info) {
  return absl::StrCat(NameOf(info), "-", info.since_version);
}

absl::Status Analyse(const onnx::ModelProto& model) {
  return compiler::AnalyseOnnx(model.SerializeAsString(), {}).status();
}

// A sentence names the node, a tensor, or what of the model is meant.
bool NamesSomething(const absl::Status& status) {
  for (const char* word :
       {"'", "ir_version", "opset", "graph", "initializer", "protobuf"}) {
    if (absl::StrContains(status.message(), word)) return true;
  }
  return false;
}

// The same of all mutations: a refusal is a rejection of the model.
void ExpectRejection(const absl::Status& status, const std::string& what) {
  if (status.ok()) return;
  EXPECT_NE(compiler::RejectionOf(status), Rejection::kNone)
      << what << ": " << status;
  EXPECT_TRUE(NamesSomething(status)) << what << ": " << status;
}

TEST(Mutations, AreRefused) {
  std::map<std::string, int> refused;
  int definitions = 0, models = 0, extreme = 0;
  for (const OperatorInfo* info : Definitions()) {
    ++definitions;
    for (int seed = 1; seed <= g_seeds; ++seed) {
      const auto valid = ValidModel(*info, static_cast<uint64_t>(seed));
      ASSERT_TRUE(valid.has_value()) << VersionOf(*info) << " has no model";
      const absl::Status whole = Analyse(*valid);
      ASSERT_TRUE(whole.ok()) << VersionOf(*info) << ": " << whole;
      for (const Mutation& mutation : MutationsOf(*valid, *info)) {
        if (mutation.verdict == Verdict::kJudged) continue;
        const std::string what =
            absl::StrCat(VersionOf(*info), ", ", mutation.what);
        const absl::Status status = Analyse(mutation.model);
        ++models;
        ExpectRejection(status, what);
        if (mutation.verdict == Verdict::kExtreme) {
          ++extreme;
          continue;
        }
        const Rejection kind = compiler::RejectionOf(status);
        const bool right =
            std::count(mutation.kinds.begin(), mutation.kinds.end(), kind) != 0;
        EXPECT_TRUE(right && !status.ok())
            << what << ": "
            << (status.ok() ? "accepted"
                            : absl::StrCat(compiler::RejectionName(kind), " (",
                                           status.message(), ")"))
            << ", must be " << compiler::RejectionName(mutation.kinds[0]);
        refused[NameOf(*info)] += right;
      }
    }
  }
  int least = 1 << 30;
  for (const auto& [name, count] : refused) {
    EXPECT_GE(count, kLeast) << name;
    least = std::min(least, count);
  }
  std::printf(
      "%d operators in %d definitions, %d models: at least %d of each operator "
      "refused; %d of extreme numbers\n",
      static_cast<int>(refused.size()), definitions, models, least, extreme);
  EXPECT_GE(refused.size(), 190u);
}

OnnxRuntime* Runtime() {
  static OnnxRuntime* runtime = [] {
    auto opened = OnnxRuntime::Open(OnnxRuntime::SharedLibraries().back());
    if (!opened.ok()) std::abort();
    return opened->release();
  }();
  return runtime;
}

struct Verdicts {
  int valid = 0, unsupported = 0, refused = 0, undecided = 0;
  std::map<std::string, int> rulings;
};

void JudgeMutation(const Mutation& mutation, const Judgement& judgement,
                   Verdicts* verdicts) {
  const std::string& what = mutation.what;
  const absl::Status status = Analyse(mutation.model);
  ExpectRejection(status, what);
  if (judgement.kind == Judgement::kUndecided) {
    ++verdicts->undecided;
    return;
  }
  const Rejection kind = compiler::RejectionOf(status);
  if (judgement.kind == Judgement::kInvalid) {
    const bool right =
        std::count(mutation.kinds.begin(), mutation.kinds.end(), kind) != 0;
    if (!status.ok() && right) {
      ++verdicts->refused;
      return;
    }
    const char* ruling = status.ok() ? WhyAccepted(judgement.why) : nullptr;
    EXPECT_NE(ruling, nullptr)
        << what << ": "
        << (status.ok() ? "accepted" : compiler::RejectionName(kind)) << " "
        << status.message() << "\n  the runtime: " << judgement.why;
    if (ruling != nullptr) ++verdicts->rulings[ruling];
    return;
  }
  if (status.ok()) {
    ++verdicts->valid;
  } else if (status.code() == absl::StatusCode::kUnimplemented) {
    ++verdicts->unsupported;
  } else {
    const char* ruling = WhyRefused(std::string(status.message()));
    EXPECT_NE(ruling, nullptr)
        << what << ": " << status << "\n  the runtime runs it";
    if (ruling != nullptr) ++verdicts->rulings[ruling];
  }
}

// If, Loop and Scan are no operators of the registry: their signatures.
OperatorInfo Control(const char* op, int min_inputs,
                     std::vector<compiler::AttributeRule> attributes) {
  constexpr int kMany = 1 << 16;
  OperatorInfo info;
  info.op = op;
  info.min_inputs = min_inputs;
  info.max_inputs = min_inputs == 1 && op[0] == 'I' ? 1 : kMany;
  info.optional_inputs = op[0] == 'L' ? 3 : 0;
  info.max_outputs = kMany;
  info.attributes = std::move(attributes);
  return info;
}

// y = x + 1 for each row of x.
compiler::ModelBuilder ScanModel() {
  compiler::ModelBuilder b;
  b.Input("x", compiler::DataType::kFloat, {4, 3});
  onnx::NodeProto* node = b.Node("Scan", {"x"}, {"y"});
  compiler::SetInt(node, "num_scan_inputs", 1);
  onnx::GraphProto* body = compiler::AddGraph(node, "body");
  compiler::Declare(body->add_input(), "row", compiler::DataType::kFloat);
  compiler::AddConstant(body, "one", compiler::Floats({}, {1}));
  compiler::AddNode(body, "Add", {"row", "one"}, {"next"});
  compiler::Declare(body->add_output(), "next", compiler::DataType::kFloat);
  b.Output("y");
  return b;
}

TEST(Mutations, OfControlFlowAreRefused) {
  using compiler::AttributeKind;
  const std::vector<std::pair<OperatorInfo, compiler::ModelBuilder>> all = {
      {Control("If", 1,
               {{"then_branch", AttributeKind::kGraph, true},
                {"else_branch", AttributeKind::kGraph, true}}),
       compiler::ChosenModel()},
      {Control("Loop", 2, {{"body", AttributeKind::kGraph, true}}),
       compiler::RepeatedModel()},
      {Control("Scan", 1,
               {{"body", AttributeKind::kGraph, true},
                {"num_scan_inputs", AttributeKind::kInt, true}}),
       ScanModel()}};
  for (auto [info, builder] : all) {
    onnx::ModelProto valid = builder.proto();
    valid.mutable_graph()->mutable_node(0)->set_name("subject");
    for (auto& output : *valid.mutable_graph()->mutable_output()) {
      output.clear_type();
    }
    const absl::Status whole = Analyse(valid);
    ASSERT_TRUE(whole.ok()) << info.op << ": " << whole;
    int refused = 0;
    for (const Mutation& mutation : MutationsOf(valid, info)) {
      const std::string what = absl::StrCat(info.op, ", ", mutation.what);
      const absl::Status status = Analyse(mutation.model);
      ExpectRejection(status, what);
      if (mutation.verdict != Verdict::kInvalid) continue;
      EXPECT_FALSE(status.ok()) << what << ": accepted";
      const bool right =
          std::count(mutation.kinds.begin(), mutation.kinds.end(),
                     compiler::RejectionOf(status)) != 0;
      EXPECT_TRUE(right) << what << ": " << status;
      refused += right;
    }
    std::printf("%s: %d refused\n", info.op, refused);
    EXPECT_GE(refused, kLeast) << info.op;
  }
}

// The definitions of today, or all.
std::vector<const OperatorInfo*> JudgedDefinitions() {
  std::vector<const OperatorInfo*> judged;
  for (const OperatorInfo* info : Definitions()) {
    // They come in order.
    if (!g_all && !judged.empty() && NameOf(*judged.back()) == NameOf(*info)) {
      judged.pop_back();
    }
    judged.push_back(info);
  }
  return judged;
}

// For each of `definitions` a model that the runtime runs, or none.
std::vector<std::optional<onnx::ModelProto>> JudgedModels(
    const std::vector<const OperatorInfo*>& definitions, uint64_t seed) {
  std::vector<onnx::ModelProto> choices;
  std::vector<size_t> of;
  for (size_t d = 0; d < definitions.size(); ++d) {
    for (uint64_t i = 0; i < kChoices; ++i) {
      auto model = ValidModel(*definitions[d], seed * kChoices + i);
      if (!model) continue;
      choices.push_back(*std::move(model));
      of.push_back(d);
    }
  }
  const auto judgements = JudgeByRuntime(Runtime(), choices);
  std::vector<std::optional<onnx::ModelProto>> models(definitions.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    if (judgements[i].kind == Judgement::kValid && !models[of[i]]) {
      models[of[i]] = choices[i];
    }
  }
  return models;
}

TEST(Mutations, AreJudgedAsByRuntime) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const auto definitions = JudgedDefinitions();
  Verdicts verdicts;
  std::set<std::string> not_judged;
  int judged = 0;
  for (int seed = 1; seed <= g_seeds; ++seed) {
    const auto valid = JudgedModels(definitions, static_cast<uint64_t>(seed));
    std::vector<Mutation> mutations;
    std::vector<onnx::ModelProto> models;
    for (size_t d = 0; d < definitions.size(); ++d) {
      const std::string name = VersionOf(*definitions[d]);
      if (!valid[d]) {
        not_judged.insert(name);
        continue;
      }
      ++judged;
      for (Mutation& mutation : MutationsOf(*valid[d], *definitions[d])) {
        if (mutation.verdict != Verdict::kJudged) continue;
        models.push_back(mutation.model);
        mutation.what = absl::StrCat(name, ", ", mutation.what);
        mutations.push_back(std::move(mutation));
      }
    }
    const auto judgements = JudgeByRuntime(Runtime(), models);
    for (size_t i = 0; i < mutations.size(); ++i) {
      JudgeMutation(mutations[i], judgements[i], &verdicts);
    }
  }
  std::printf(
      "%d models: %d mutations refused by both, %d valid, %d valid and not "
      "supported, %d not decided\n",
      judged, verdicts.refused, verdicts.valid, verdicts.unsupported,
      verdicts.undecided);
  for (const auto& [ruling, count] : verdicts.rulings) {
    std::printf("  %d: %s\n", count, ruling.c_str());
  }
  std::printf("not run by the runtime:");
  for (const std::string& name : not_judged) std::printf(" %s", name.c_str());
  std::printf("\n");
  EXPECT_GT(judged, 180 * g_seeds);
}

int Main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    std::sscanf(argv[i], "--seeds=%d", &g_seeds);
    g_all = g_all || std::string(argv[i]) == "--all";
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) { return heddle::tests::Main(argc, argv); }
