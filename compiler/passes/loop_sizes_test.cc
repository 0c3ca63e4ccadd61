// SPDX-License-Identifier: Apache-2.0
// Loops that carry what grows, read what has an open size, or collect rows: the
// same as with a constant trip count, with which they are unrolled. On host and
// card, against ONNX Runtime: tests/exporters.
#include "compiler/passes/loop_sizes.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMost = 5;

using Values = std::vector<TensorData>;

absl::StatusOr<Values> RunModel(const ModelBuilder& b,
                                const CompileOptions& options,
                                const Values& inputs) {
  const auto graph = AnalyseOnnx(b.Bytes(), options);
  if (!graph.ok()) return graph.status();
  auto values = EvaluateGraph(*graph, inputs);
  if (!values.ok()) return values.status();
  Values outputs;
  for (TensorId id : graph->outputs) {
    outputs.push_back(std::move((*values)[id]));
  }
  return outputs;
}

// A Loop that is called "loop" and makes "n" iterations.
class LoopBuilder {
 public:
  LoopBuilder(ModelBuilder* b, const std::vector<std::string>& carried,
              const std::vector<std::string>& results,
              const std::string& trips = "n") {
    std::vector<std::string> inputs = {trips, ""};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    auto* node = b->Node("Loop", inputs, results);
    node->set_name("loop");
    auto* attribute = node->add_attribute();
    attribute->set_name("body");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    body_ = attribute->mutable_g();
    body_->set_name("body");
    for (const char* name : {"i", "c"}) body_->add_input()->set_name(name);
    for (const std::string& name : carried) {
      body_->add_input()->set_name("in_" + name);
    }
  }
  LoopBuilder& Node(const std::string& op,
                    const std::vector<std::string>& inputs,
                    const std::string& output, int64_t axis = -1) {
    auto* node = body_->add_node();
    node->set_op_type(op);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    if (axis >= 0) {
      auto* attribute = node->add_attribute();
      attribute->set_name("axis");
      attribute->set_type(onnx::AttributeProto::INT);
      attribute->set_i(axis);
    }
    return *this;
  }
  void Results(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      body_->add_output()->set_name(name);
    }
  }

 private:
  onnx::GraphProto* body_;
};

struct Form {
  const char* name;
  std::function<void(ModelBuilder*)> nodes;  // from "n" and "x" [2,3]
  std::vector<std::string> outputs;
};

void Grow(ModelBuilder* b, int64_t axis) {
  b->Constant("more",
              axis == 0 ? Floats({1, 3}, {7, 8, 9}) : Floats({2, 1}, {7, 8}));
  LoopBuilder(b, {"x"}, {"y"})
      .Node("Concat", {"in_x", "more"}, "longer", axis)
      .Node("Neg", {"longer"}, "next")
      .Node("Identity", {"c"}, "on")
      .Results({"on", "next"});
}

// A cache of none at first; what is read of it goes into the next.
void Cache(ModelBuilder* b) {
  b->Constant("none", TensorData::Zeros(DataType::kFloat, {0, 3}));
  b->Constant("row", Floats({1, 3}, {1, 2, 3}));
  b->Constant("axes", Int64s({1}, {0}));
  LoopBuilder(b, {"row", "none"}, {"last", "cache"})
      .Node("Concat", {"in_none", "in_row"}, "longer", 0)
      .Node("ReduceSum", {"longer", "axes"}, "sum")
      .Node("Identity", {"c"}, "on")
      .Results({"on", "sum", "longer"});
}

void Rows(ModelBuilder* b) {
  LoopBuilder(b, {"x"}, {"last", "all", "", "sums"})
      .Node("Add", {"in_x", "in_x"}, "twice")
      .Node("ReduceSum", {"twice"}, "sum")
      .Node("Neg", {"twice"}, "minus")
      .Node("Identity", {"c"}, "on")
      .Results({"on", "twice", "minus", "twice", "sum"});
}

// Rows that are not zero, carried and read, with sizes that a run decides.
void Open(ModelBuilder* b) {
  b->Constant("column", Int64s({}, {0})).Constant("zero", Floats({}, {0}));
  b->Node("Gather", {"x", "column"}, {"first"})->add_attribute()->CopyFrom([] {
    onnx::AttributeProto axis;
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(1);
    return axis;
  }());
  b->Node("Greater", {"first", "zero"}, {"there"});
  auto* compress = b->Node("Compress", {"x", "there"}, {"some"});
  auto* axis = compress->add_attribute();
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(0);
  LoopBuilder(b, {"some"}, {"y"})
      .Node("Concat", {"in_some", "some"}, "longer", 0)
      .Node("Identity", {"c"}, "on")
      .Results({"on", "longer"});
}

class LoopSizes : public testing::TestWithParam<Form> {};

TEST_P(LoopSizes, AreThoseOfAConstantTripCount) {
  for (const std::vector<float>& x :
       {std::vector<float>{1, -2, 3, 0.5f, 7, -4},
        std::vector<float>{-1, 2, 3, 0.5f, 7, -4}}) {
    const auto make = [&](int64_t n, bool constant) {
      ModelBuilder b(17);
      if (constant) {
        b.Constant("n", Int64s({}, {n}));
      } else {
        b.Input("n", DataType::kInt64, {});
      }
      b.Input("x", DataType::kFloat, {2, 3});
      GetParam().nodes(&b);
      for (const std::string& name : GetParam().outputs) b.Output(name);
      return b;
    };
    const ModelBuilder open = make(0, false);
    CompileOptions by_count, by_name;
    by_count.bounds["n"] = kMost;
    by_name.bounds["loop"] = kMost;
    // One more than was said is right, if there happens to be room, or an
    // error.
    for (int64_t n = 1; n <= kMost + 1; ++n) {
      const auto wanted = RunModel(make(n, true), {}, {Floats({2, 3}, x)});
      ASSERT_TRUE(wanted.ok()) << wanted.status();
      for (const CompileOptions& options : {by_count, by_name}) {
        const bool more = n > kMost;
        const auto got =
            RunModel(open, options, {Int64s({}, {n}), Floats({2, 3}, x)});
        if (more && (!got.ok() || options.bounds.count("n") > 0)) {
          EXPECT_TRUE(absl::StrContains(got.status().message(), "--bound"))
              << got.status();
          continue;
        }
        ASSERT_TRUE(got.ok()) << got.status();
        ASSERT_EQ(got->size(), wanted->size());
        for (size_t i = 0; i < got->size(); ++i) {
          EXPECT_EQ((*got)[i].shape, (*wanted)[i].shape) << i;
          EXPECT_TRUE((*got)[i].bytes == (*wanted)[i].bytes) << i;
        }
      }
    }
    const auto none = AnalyseOnnx(open.Bytes(), {});
    EXPECT_TRUE(absl::StrContains(none.status().message(), "--bound 'n=N'"))
        << none.status();
    EXPECT_EQ(RejectionOf(none.status()), Rejection::kUnsupportedShape);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, LoopSizes,
    testing::Values(Form{"grows", [](auto* b) { Grow(b, 0); }, {"y"}},
                    Form{"grows_inside", [](auto* b) { Grow(b, 1); }, {"y"}},
                    Form{"cache", Cache, {"last", "cache"}},
                    Form{"rows", Rows, {"last", "all", "sums"}},
                    Form{"open", Open, {"y"}}),
    [](const auto& info) { return std::string(info.param.name); });

// A run that makes no iteration has what it began with.
TEST(LoopSizesTest, NoIteration) {
  ModelBuilder b(17);
  b.Input("n", DataType::kInt64, {});
  b.Input("x", DataType::kFloat, {2, 3});
  Rows(&b);
  b.Output("last").Output("all");
  CompileOptions options;
  options.bounds["n"] = kMost;
  const auto got = RunModel(
      b, options, {Int64s({}, {0}), Floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0].shape, (Shape{2, 3}));
  EXPECT_EQ((*got)[1].shape, (Shape{0, 2, 3}));
}

// Rows that nobody reads need no number.
TEST(LoopSizesTest, UnreadRowsNeedNoBound) {
  ModelBuilder b(17);
  b.Input("n", DataType::kInt64, {});
  b.Input("x", DataType::kFloat, {2, 3});
  Rows(&b);
  b.Output("last");
  const auto got =
      RunModel(b, {}, {Int64s({}, {3}), Floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0].as<float>()[5], 48);
}

// Rows of several sizes are no tensor.
TEST(LoopSizesTest, RowsOfOpenSizeAreRefused) {
  ModelBuilder b(17);
  b.Input("n", DataType::kInt64, {});
  b.Input("x", DataType::kFloat, {2, 3});
  LoopBuilder(&b, {"x"}, {"last", "all"})
      .Node("NonZero", {"in_x"}, "row")
      .Node("Identity", {"c"}, "on")
      .Results({"on", "in_x", "row"});
  b.Output("all");
  CompileOptions options;
  options.bounds["n"] = 4;
  const auto graph = AnalyseOnnx(b.Bytes(), options);
  EXPECT_EQ(RejectionOf(graph.status()), Rejection::kUnsupportedShape);
  EXPECT_TRUE(absl::StrContains(graph.status().message(),
                                "a result of its body, has a size"))
      << graph.status();
}

// The condition ends it; the trip count is no bound.
TEST(LoopSizesTest, UntilAConditionByTheLoopsName) {
  ModelBuilder b(17);
  b.Input("last", DataType::kInt64, {});
  b.Constant("ever", Int64s({}, {std::numeric_limits<int64_t>::max()}));
  b.Constant("one", Int64s({1}, {1})).Constant("start", Int64s({1}, {4}));
  LoopBuilder(&b, {"start"}, {"y"}, "ever")
      .Node("Concat", {"in_start", "one"}, "longer", 0)
      .Node("Less", {"i", "last"}, "on")
      .Results({"on", "longer"});
  b.Output("y");
  const auto unbounded = AnalyseOnnx(b.Bytes(), {});
  EXPECT_TRUE(
      absl::StrContains(unbounded.status().message(), "--bound 'loop=N'"))
      << unbounded.status();
  CompileOptions options;
  options.bounds["loop"] = 4;
  for (int64_t last : {0, 2, 3}) {
    const auto y = RunModel(b, options, {Int64s({}, {last})});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0].shape, (Shape{last + 2}));
  }
  const auto more = RunModel(b, options, {Int64s({}, {4})});
  EXPECT_TRUE(absl::StrContains(more.status().message(),
                                "'size of y/in_start' is 6, more than the "
                                "bound of 5"))
      << more.status();
}

// By as much as in the first iteration, each one; what doubles ends the run.
TEST(LoopSizesTest, GrowthThatIsNotEvenEndsTheRun) {
  ModelBuilder b(17);
  b.Input("n", DataType::kInt64, {});
  b.Constant("start", Int64s({1}, {4}));
  LoopBuilder(&b, {"start"}, {"y"})
      .Node("Concat", {"in_start", "in_start"}, "longer", 0)
      .Node("Identity", {"c"}, "on")
      .Results({"on", "longer"});
  b.Output("y");
  CompileOptions options;
  options.bounds["n"] = 4;
  EXPECT_TRUE(RunModel(b, options, {Int64s({}, {2})}).ok());
  const auto more = RunModel(b, options, {Int64s({}, {3})});
  EXPECT_EQ(more.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LoopSizesTest, TwoAxesAreRefused) {
  ModelBuilder b(17);
  b.Input("n", DataType::kInt64, {});
  b.Input("x", DataType::kFloat, {2, 3});
  b.Constant("pads", Int64s({4}, {0, 0, 1, 1}));
  LoopBuilder(&b, {"x"}, {"y"})
      .Node("Pad", {"in_x", "pads"}, "larger")
      .Node("Identity", {"c"}, "on")
      .Results({"on", "larger"});
  b.Output("y");
  CompileOptions options;
  options.bounds["n"] = 4;
  const auto graph = AnalyseOnnx(b.Bytes(), options);
  EXPECT_EQ(RejectionOf(graph.status()), Rejection::kUnsupportedShape);
  EXPECT_TRUE(absl::StrContains(graph.status().message(), "grow on one axis"))
      << graph.status();
}

// What would be too large to hold is refused, not tried.
TEST(LoopSizesTest, AnEnormousBoundIsRefused) {
  ModelBuilder b(17);
  b.Input("n", DataType::kInt64, {});
  b.Constant("start", TensorData::Zeros(DataType::kFloat, {1, 4096}));
  LoopBuilder(&b, {"start"}, {"y"})
      .Node("Concat", {"in_start", "in_start"}, "longer", 0)
      .Node("Identity", {"c"}, "on")
      .Results({"on", "longer"});
  b.Output("y");
  for (int64_t most : {int64_t{1} << 23, int64_t{1} << 24, int64_t{1} << 40}) {
    CompileOptions options;
    options.bounds["n"] = most;
    EXPECT_EQ(RejectionOf(AnalyseOnnx(b.Bytes(), options).status()),
              Rejection::kUnsupportedShape)
        << most;
  }
}

}  // namespace
}  // namespace heddle::compiler
