// SPDX-License-Identifier: Apache-2.0
// Random cases of every operator version of opsets 18 to 26 that the record of
// changes lists (compiler/ops/opset_changes.h) and the compiler knows, in the
// forms that its inputs may have, and random graphs of all opsets: what the
// front end makes of each model, evaluated, against the newest ONNX Runtime.
// What that does not do is left out; every operator version must be compared
// all the same.
//
// Arguments: --cases=N of each version, --forms=N in each form, --graphs=N,
// --first=N: the first seed of the graphs (1).
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/opset_changes.h"
#include "tests/opsets/cases.h"
#include "tests/opsets/compare.h"
#include "tests/opsets/forms.h"
#include "tests/opsets/old_graphs.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

int g_cases = 50, g_forms = 3, g_graphs = 2000;
uint64_t g_first = 1;

// A step of the codes where a quotient lies between two of them.
int CodesOf(const std::string& op) {
  return op == "QuantizeLinear" || op == "QLinearMatMul" ? 1 : 0;
}

Terms TermsOf(const compiler::OpsetChange& row) {
  Terms terms;
  terms.tolerance = 2e-5f;
  terms.codes = CodesOf(row.op);
  // The runtime's subtracts the square of the mean from the mean of the
  // squares, which of groups of two elements leaves few digits.
  if (std::string(row.op) == "GroupNormalization") terms.tolerance = 2e-3f;
  // It rounds the scores, and what a softcap makes of them.
  if (std::string(row.op) == "Attention") terms.half = 2e-2f;
  // What only the types are new of means the same at the opset before.
  if (row.kind == compiler::ChangeKind::kTypes) terms.earlier = row.version - 1;
  return terms;
}

OpsetCase AnyCase(const compiler::OpsetChange& row, uint64_t seed) {
  OpsetCase c = RareCase(row.op, row.version, seed);
  return c.model.empty() ? NodeCase(row.op, row.version, seed) : c;
}

// The rows whose operator the compiler knows.
std::vector<compiler::OpsetChange> KnownVersions() {
  std::vector<compiler::OpsetChange> known;
  for (const auto& row : compiler::OpsetChanges()) {
    if (compiler::FindOperator("", row.op, row.version) != nullptr) {
      known.push_back(row);
    }
  }
  return known;
}

// (Comes first: see CompareApart.)
TEST(Forms, OfEveryRecordedVersion) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const auto versions = KnownVersions();
  std::vector<Question> questions;
  for (const auto& row : versions) {
    for (int i = 0; i < g_forms * kForms; ++i) {
      const auto form = static_cast<Form>(i % kForms);
      const uint64_t seed = 500000 + 1000 * row.version + i;
      Question question = {InForm(AnyCase(row, seed), form, seed),
                           absl::StrCat(row.op, "-", row.version, " seed ",
                                        seed, " ", FormName(form)),
                           TermsOf(row)};
      question.terms.any_form = true;
      questions.push_back(std::move(question));
    }
  }
  const auto outcomes = CompareApart(questions);
  int compared[kForms] = {}, refused[kForms] = {}, left_out[kForms] = {};
  std::set<std::string> without;  // an empty form that both compute
  for (size_t v = 0; v < versions.size(); ++v) {
    int empty = 0;
    for (int i = 0; i < g_forms * kForms; ++i) {
      const Outcome outcome = outcomes[v * g_forms * kForms + i];
      compared[i % kForms] += outcome == Outcome::kCompared;
      refused[i % kForms] += outcome == Outcome::kRefused;
      left_out[i % kForms] += outcome == Outcome::kLeftOut;
      empty += i % kForms == 0 && outcome == Outcome::kCompared;
    }
    if (empty == 0) without.insert(versions[v].op);
  }
  const int tries = g_forms * static_cast<int>(versions.size());
  for (int i = 0; i < kForms; ++i) {
    const char* name = FormName(static_cast<Form>(i));
    std::printf("%s: %d compared, %d refused, %d not the runtime's\n", name,
                compared[i], refused[i], left_out[i]);
    EXPECT_GT(compared[i], tries / 5) << name;
  }
  std::printf("never empty:");
  for (const std::string& op : without) std::printf(" %s", op.c_str());
  std::printf("\n");
}

TEST(Runtime, EveryRecordedVersion) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  int cases = 0;
  std::string lacked;
  const auto versions = KnownVersions();
  for (const auto& row : versions) {
    int compared = 0, left_out = 0, tries = 0;
    bool lacks = false;
    while (compared < g_cases && tries < 40 * g_cases) {
      const uint64_t seed = 1000 * row.version + tries++;
      const std::string what =
          absl::StrCat(row.op, "-", row.version, " seed ", seed);
      const OpsetCase c = AnyCase(row, seed);
      const Outcome outcome = Compare(c, what, TermsOf(row));
      if (compared == 0 && outcome == Outcome::kCompared) {
        lacks = RuntimeLacks(c);
      }
      compared += outcome == Outcome::kCompared;
      left_out += outcome == Outcome::kLeftOut;
    }
    EXPECT_EQ(compared, g_cases) << row.op << "-" << row.version << ": "
                                 << left_out << " left out of " << tries;
    cases += compared;
    if (lacks) absl::StrAppend(&lacked, " ", row.op, "-", row.version);
  }
  EXPECT_GT(versions.size(), 115u);
  std::printf("%d cases of %d versions\n", cases,
              static_cast<int>(versions.size()));
  std::printf(
      "not the runtime's, compared at the opset before, of which only the "
      "types differ:%s\n",
      lacked.c_str());
  std::printf("not known to the compiler, or control flow:");
  for (const auto& row : compiler::OpsetChanges()) {
    if (compiler::FindOperator("", row.op, row.version) == nullptr) {
      std::printf(" %s-%d", row.op, row.version);
    }
  }
  std::printf("\n");
}

// A graph of an opset before the runtime's first is compared with the same one
// as that opset writes it, and as it is where the runtime runs it.
Outcome CompareOldGraph(int opset, uint64_t seed, const std::string& what,
                        Terms terms, int* direct,
                        std::map<std::string, int>* operators) {
  const OldCase c = OldGraphCase(opset, seed);
  terms.theirs = c.modern;
  const Outcome outcome = Compare(c.old, what, terms);
  for (const std::string& op : c.operators) ++(*operators)[op];
  terms.theirs.clear();
  terms.any_form = true;
  *direct += Compare(c.old, what + " as it is", terms) == Outcome::kCompared;
  return outcome;
}

TEST(Runtime, GraphsOfAllOpsets) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  std::map<int, int> compared;
  std::map<std::string, int> operators;
  int all = 0, direct = 0;
  uint64_t seed = g_first - 1;
  const uint64_t last = seed + 4 * static_cast<uint64_t>(g_graphs);
  Terms terms;
  terms.tolerance = 1e-3f;
  terms.half = 1e-2f;
  terms.no_nan = true;
  while (all < g_graphs && seed < last) {
    ++seed;
    const int opset = 1 + static_cast<int>(seed % compiler::kMaxOpset);
    // Of some opsets the runtime does less: each has its share all the same.
    if (compared[opset] * compiler::kMaxOpset >= g_graphs) continue;
    const std::string what = absl::StrCat("opset ", opset, " seed ", seed);
    const Outcome outcome =
        opset < kFirstRun
            ? CompareOldGraph(opset, seed, what, terms, &direct, &operators)
            : Compare(GraphCase(opset, seed), what, terms);
    if (outcome != Outcome::kCompared) continue;
    ++compared[opset];
    ++all;
  }
  std::printf("%d graphs of seeds %" PRIu64 " to %" PRIu64
              ", %d opsets; %d of those before %d also as they are\n",
              all, g_first, seed, static_cast<int>(compared.size()), direct,
              kFirstRun);
  EXPECT_EQ(all, g_graphs);
  EXPECT_GT(direct, 0);
  for (int opset = 1; opset <= compiler::kMaxOpset; ++opset) {
    EXPECT_GE(compared[opset], g_graphs / 50) << "opset " << opset;
  }
  // Operators that the old opsets wrote otherwise.
  for (const char* op : {"Abs",
                         "Add",
                         "And",
                         "AveragePool",
                         "BatchNormalization",
                         "Cast",
                         "Clip",
                         "Concat",
                         "Conv",
                         "Dropout",
                         "Elu",
                         "Exp",
                         "Gemm",
                         "GlobalLpPool",
                         "Greater",
                         "HardSigmoid",
                         "LeakyRelu",
                         "Less",
                         "Log",
                         "LpPool",
                         "Max",
                         "MaxPool",
                         "Mean",
                         "Min",
                         "Mul",
                         "Neg",
                         "Or",
                         "PRelu",
                         "Pad",
                         "Reciprocal",
                         "ReduceSum",
                         "Relu",
                         "Reshape",
                         "Selu",
                         "Sigmoid",
                         "Slice",
                         "Sqrt",
                         "Sub",
                         "Sum",
                         "Tanh",
                         "Transpose",
                         "Upsample",
                         "Xor"}) {
    EXPECT_GT(operators[op], g_graphs / 500) << op;
  }
}

int Main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    std::sscanf(argv[i], "--cases=%d", &g_cases);
    std::sscanf(argv[i], "--forms=%d", &g_forms);
    std::sscanf(argv[i], "--graphs=%d", &g_graphs);
    std::sscanf(argv[i], "--first=%" SCNu64, &g_first);
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) { return heddle::tests::Main(argc, argv); }
