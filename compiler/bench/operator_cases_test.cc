// SPDX-License-Identifier: Apache-2.0
#include "compiler/bench/operator_cases.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiler/bench/operator_bound.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

TEST(OperatorBound, LargestOfTheEngines) {
  ModelBuilder b(13);
  b.Input("x", DataType::kFloat, {16, 64});
  b.Constant("w", Floats({64, 64}, std::vector<float>(64 * 64)));
  b.Constant("axes", Int64s({1}, {1}));  // no traffic of the card
  b.Output("y");
  OperatorCase c;
  c.model = b.Bytes();
  const isa::Config& config = isa::kH256;
  // x, w and y of 1,024, 4,096 and 1,024 elements.
  OperatorBound bound = BoundOf(c, 4096, config);
  EXPECT_EQ(bound.memory, (4096 + 16384 + 4096) / 16);
  EXPECT_EQ(bound.cycles(), bound.memory);
  EXPECT_STREQ(bound.limit(), "memory");
  c.unread_bytes = 1600;
  c.again_bytes = 320;
  bound = BoundOf(c, 4096, config);
  EXPECT_EQ(bound.memory, 1536 - 100 + 20);
  c.work = 5000;
  bound = BoundOf(c, 4096, config);
  EXPECT_EQ(bound.cycles(), 5000);
  EXPECT_STREQ(bound.limit(), "vector");
  c.macs = 256 * 6000;
  bound = BoundOf(c, 4096, config);
  EXPECT_EQ(bound.cycles(), 6000);
  EXPECT_STREQ(bound.limit(), "matrix");
}

// The card takes every operator; none is faster than its bound, which then
// would be none, and what is much slower has its reason.
TEST(OperatorCases, SmallOnesAreAboveTheirBounds) {
  std::map<std::string, int> sizes;
  for (const OperatorCase& c : OperatorCases()) {
    ++sizes[c.op];
    if (c.size != "small") continue;
    SCOPED_TRACE(c.op);
    const auto compiled = CompileOnnx(c.model, {});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto package = package::Parse(compiled->package);
    ASSERT_TRUE(package.ok()) << package.status();
    double output_bytes = 0;
    for (const auto& t : package->outputs) {
      output_bytes += static_cast<double>(t.size);
    }
    const double ratio =
        static_cast<double>(compiled->report.estimated_cycles) /
        BoundOf(c, output_bytes, isa::kH256).cycles();
    EXPECT_GE(ratio, 1);
    if (c.reason.empty()) {
      EXPECT_LE(ratio, c.at_most);
    }
  }
  EXPECT_GE(sizes.size(), 40u);
  for (const auto& [op, count] : sizes) EXPECT_EQ(count, 3) << op;
}

}  // namespace
}  // namespace heddle::compiler
