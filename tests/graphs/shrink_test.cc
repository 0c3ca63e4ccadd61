// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/shrink.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"

namespace heddle::tests {
namespace {

bool Has(const RandomModel& model, const std::string& op) {
  for (const auto& node : model.model.graph().node()) {
    if (node.op_type() == op) return true;
  }
  return false;
}

// Of models with a certain operator, that one stays, and little else; what is
// left is a model.
TEST(Shrink, LeavesWhatFails) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomModel model = MakeRandomModel(seed);
    for (const char* op : {"Loop", "If", "CumSum", "Unique"}) {
      if (!Has(model, op)) continue;
      int tried = 0;
      const RandomModel small = Shrink(
          model,
          [&](const RandomModel& m) {
            ++tried;
            return Has(m, op);
          },
          100);
      EXPECT_LE(tried, 100);
      EXPECT_TRUE(Has(small, op));
      EXPECT_EQ(small.outputs.size(), 1u);
      EXPECT_EQ(small.model.graph().output_size(), 1);
      EXPECT_LE(small.model.graph().node_size(), 12) << TextOf(small);
      ++found;
      compiler::CompileOptions options;
      for (const RandomInput& input : small.inputs) {
        options.input_shapes[input.value.name] =
            ShapeOf(input.value.dims, small.runs[0]);
      }
      const auto graph =
          compiler::AnalyseOnnx(small.model.SerializeAsString(), options);
      EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << TextOf(small);
      EXPECT_NE(TextOf(small).find(absl::StrCat(" = ", op, "(")),
                std::string::npos);
    }
  }
  EXPECT_GT(found, 20);
}

TEST(Shrink, KeepsWhatDoesNotFailInParts) {
  const RandomModel model = MakeRandomModel(3);
  const RandomModel same = Shrink(
      model, [](const RandomModel&) { return false; }, 100);
  EXPECT_EQ(same.model.SerializeAsString(), model.model.SerializeAsString());
}

}  // namespace
}  // namespace heddle::tests
