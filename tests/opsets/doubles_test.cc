// SPDX-License-Identifier: Apache-2.0
// Every operator that takes floats and doubles: random cases of floats with
// doubles in their place. What they give is what the floats give, as closely as
// floats can, and what ONNX Runtime gives, where it has double, as closely as
// doubles can.
#include "tests/opsets/doubles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/analyse.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/random_graph.h"
#include "tests/opsets/compare.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::TensorData;

constexpr int kOpset = 20;
constexpr int kCases = 6, kTries = 60;

// "" if they agree but for the rounding of floats.
std::string Difference(const TensorData& floats, const TensorData& doubles) {
  if (floats.shape != doubles.shape) return "shapes differ";
  if (floats.type != DataType::kFloat) {
    if (floats.type != doubles.type) return "types differ";
    for (size_t i = 0; i < floats.bytes.size(); ++i) {
      if (floats.bytes[i] != doubles.bytes[i]) return "elements differ";
    }
    return "";
  }
  if (doubles.type != DataType::kDouble) return "the result is no double";
  double largest = 1;
  for (int64_t i = 0; i < floats.count(); ++i) {
    const double v = std::fabs(doubles.as<double>()[i]);
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  for (int64_t i = 0; i < floats.count(); ++i) {
    const double a = floats.as<float>()[i], b = doubles.as<double>()[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    // What overflows in floats only, or is 0 there.
    if (std::isinf(a) && std::fabs(b) > 1e38) continue;
    if (a == b || std::fabs(a - b) <= 1e-4 * largest) continue;
    return absl::StrCat("element ", i, ": ", a, " and ", b);
  }
  return "";
}

TEST(Doubles, AreWhatFloatsAreAndTheRuntimeHas) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  std::map<std::string, int> names;  // and an opset
  for (const compiler::OperatorInfo* info : compiler::AllOperators()) {
    if (info->domain[0] != '\0' || info->input_types.empty()) continue;
    // In which order it finds what it need not sort is nobody's promise
    // (tests/operators has the others).
    if (std::string(info->op) == "TopK") continue;
    const compiler::TypeSet types = info->input_types[0];
    if (compiler::Contains(types, DataType::kFloat) &&
        compiler::Contains(types, DataType::kDouble) &&
        compiler::HasGenerator(info->op)) {
      names[info->op] = std::max(kOpset, info->since_version);
    }
  }
  int operators = 0, against_runtime = 0;
  std::string none;
  Terms terms;
  terms.tolerance = 1e-6f;  // of what is computed by way of floats (weights)
  terms.any_form = true;
  terms.no_nan = true;
  for (const auto& [op, opset] : names) {
    int own = 0, runtime = 0;
    for (uint64_t seed = 1; seed <= kTries && own < kCases; ++seed) {
      const OpsetCase floats = NodeCase(op, opset, seed);
      const OpsetCase doubles = WithDoubles(floats);
      if (doubles.model.empty()) continue;
      const std::string what = absl::StrCat(op, " seed ", seed);
      const auto a = compiler::AnalyseOnnx(floats.model, {});
      const auto b = compiler::AnalyseOnnx(doubles.model, {});
      if (!a.ok() || !b.ok()) {
        EXPECT_NE(b.status().code(), absl::StatusCode::kInternal)
            << what << ": " << b.status();
        continue;
      }
      const auto x = compiler::EvaluateGraph(*a, floats.values);
      const auto y = compiler::EvaluateGraph(*b, doubles.values);
      ASSERT_TRUE(x.ok()) << what << ": " << x.status();
      ASSERT_TRUE(y.ok()) << what << ": " << y.status() << "\n"
                          << b->ToString();
      for (size_t i = 0; i < a->outputs.size(); ++i) {
        EXPECT_EQ(Difference((*x)[a->outputs[i]], (*y)[b->outputs[i]]), "")
            << what << "\n"
            << b->ToString();
      }
      ++own;
      runtime += Compare(doubles, what, terms) == Outcome::kCompared;
    }
    operators += own > 0;
    against_runtime += runtime > 0;
    if (own == 0) absl::StrAppend(&none, " ", op);
  }
  std::printf("%d operators, %d of them against the runtime; no case:%s\n",
              operators, against_runtime, none.c_str());
  EXPECT_GT(operators, 80);
  EXPECT_GT(against_runtime, 40);
}

}  // namespace
}  // namespace heddle::tests
