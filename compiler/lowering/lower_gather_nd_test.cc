// SPDX-License-Identifier: Apache-2.0
// Gather along any axis, and GatherND, by indices that are known at run time;
// what happens with indices outside.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10}, false, true};

void CheckGather(DataType type, const Shape& shape, const Shape& to,
                 int64_t axis, DataType index) {
  SCOPED_TRACE(std::string(DataTypeName(type)) + " " + ShapeToString(shape) +
               " by " + ShapeToString(to) + " along " + std::to_string(axis));
  const auto size = static_cast<float>(shape[axis]);
  ModelBuilder b;
  b.Input("x", type, shape);
  b.Input("i", index, to);
  SetInt(b.Node("Gather", {"x", "i"}, {"y"}), "axis", axis);
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(),
      {RandomData(type, shape, 3),
       RandomData(index, to, 5, -size - 0.9f, size - 0.1f)},
      kSizes);
}

TEST(LowerGather, ComputedIndicesAlongAnyAxis) {
  for (int64_t axis : {0, 1, 2, 3}) {
    CheckGather(DataType::kFloat, {3, 4, 5, 6}, {2, 7}, axis, DataType::kInt64);
    CheckGather(DataType::kUint8, {3, 4, 5, 6}, {9}, axis, DataType::kInt32);
  }
  CheckGather(DataType::kFloat16, {7, 30, 40}, {}, 1, DataType::kInt64);
  CheckGather(DataType::kInt32, {60, 50, 21}, {33}, 1, DataType::kInt32);
  CheckGather(DataType::kInt64, {4, 5, 3}, {6}, 1, DataType::kInt64);
}

// An axis that is not in SRAM as a whole.
TEST(LowerGather, ComputedIndicesAlongALongAxis) {
  CheckGather(DataType::kFloat, {3, 5000, 4}, {37}, 1, DataType::kInt64);
  CheckGather(DataType::kInt8, {2, 20000}, {50}, 1, DataType::kInt32);
  CheckGather(DataType::kFloat, {50000}, {900}, 0, DataType::kInt32);
}

// `depth` indices choose in the dimensions after the first `batches`.
void CheckNd(DataType type, const Shape& shape, Shape to, int64_t depth,
             int64_t batches = 0) {
  SCOPED_TRACE(std::string(DataTypeName(type)) + " " + ShapeToString(shape) +
               " by " + ShapeToString(to) + ", " + std::to_string(depth));
  to.push_back(depth);
  TensorData indices = RandomData(DataType::kInt64, to, 5, 0, 1e6f);
  for (int64_t i = 0; i < indices.count(); ++i) {
    const int64_t size = shape[batches + i % depth];
    int64_t& v = indices.as<int64_t>()[i];
    v = v % (2 * size) - size;
  }
  ModelBuilder b;
  b.Input("x", type, shape);
  b.Input("i", DataType::kInt64, to);
  auto* node = b.Node("GatherND", {"x", "i"}, {"y"});
  if (batches > 0) SetInt(node, "batch_dims", batches);
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(type, shape, 3), indices},
                            kSizes);
}

TEST(LowerGatherNd, EveryDepthAndBatch) {
  for (DataType type : {DataType::kFloat, DataType::kInt8, DataType::kFloat16,
                        DataType::kInt64}) {
    for (int64_t depth : {1, 2, 3, 4}) {
      CheckNd(type, {3, 4, 5, 6}, {7}, depth);
    }
  }
  CheckNd(DataType::kFloat, {3, 4, 5, 6}, {}, 2);
  CheckNd(DataType::kFloat, {3, 4, 5, 6}, {2, 3}, 2);
  CheckNd(DataType::kFloat, {3, 4, 5, 6}, {3, 2}, 1, 1);
  CheckNd(DataType::kFloat, {3, 4, 5, 6}, {3, 4}, 2, 2);
  CheckNd(DataType::kUint8, {3, 4, 5, 6}, {3, 4, 5, 2}, 1, 3);
}

TEST(LowerGatherNd, LargerThanSram) {
  CheckNd(DataType::kFloat, {60, 70, 40}, {900}, 2);
  CheckNd(DataType::kFloat, {60, 70, 40}, {60, 50}, 2, 1);
}

TEST(LowerReverseSequence, LengthsAtRunTime) {
  for (int64_t time : {0, 1}) {
    const Shape shape = {5, 7, 20};
    const Shape lengths = {shape[1 - time]};
    ModelBuilder b(10);
    b.Input("x", DataType::kFloat, shape);
    b.Input("n", DataType::kInt64, lengths);
    auto* node = b.Node("ReverseSequence", {"x", "n"}, {"y"});
    SetInt(node, "time_axis", time);
    SetInt(node, "batch_axis", 1 - time);
    b.Output("y");
    ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(DataType::kFloat, shape, 1),
         RandomData(DataType::kInt64, lengths, 2, 0,
                    static_cast<float>(shape[time]) + 0.9f)},
        kSizes);
  }
}

// One index less or more than there are is a fault, also where the place that
// it would have is another's.
TEST(LowerGatherNd, IndicesOutsideAreFaults) {
  for (const std::string op :
       {"GatherND", "ScatterND", "GatherElements", "ScatterElements"}) {
    const bool nd = op.back() == 'D', scatters = op[0] == 'S';
    ModelBuilder b(13);
    b.Input("x", DataType::kFloat, {3, 4});
    b.Input("i", DataType::kInt64, {1, 2});
    if (scatters) {
      b.Input("u", DataType::kFloat, nd ? Shape{1} : Shape{1, 2});
      b.Node(op, {"x", "i", "u"}, {"y"});
    } else {
      b.Node(op, {"x", "i"}, {"y"});
    }
    b.Output("y");
    CompileOptions options;
    options.config = "h256";
    auto result = CompileOnnx(b.Bytes(), options);
    ASSERT_TRUE(result.ok()) << op << ": " << result.status();
    auto package = package::Parse(result->package);
    ASSERT_TRUE(package.ok()) << package.status();
    const auto run = [&](int64_t first, int64_t second) {
      std::vector<TensorData> in = {RandomData(DataType::kFloat, {3, 4}, 1),
                                    Int64s({1, 2}, {first, second})};
      if (scatters) {
        in.push_back(
            RandomData(DataType::kFloat, nd ? Shape{1} : Shape{1, 2}, 2));
      }
      return RunPackage(*package, in).status();
    };
    const int64_t last = nd ? 3 : 2;
    for (const auto& [first, second] :
         {std::make_pair(int64_t{2}, last), {-3, -last - 1}}) {
      EXPECT_TRUE(run(first, second).ok()) << op << run(first, second);
    }
    const std::string fault =
        absl::StrCat("fault ", static_cast<int>(isa::Error::kIndexBounds), " ");
    for (const auto& [first, second] : {std::make_pair(int64_t{0}, last + 1),
                                        {1, -last - 2},
                                        {3, 0},
                                        {-4, 0}}) {
      const absl::Status status = run(first, second);
      EXPECT_NE(status.message().find(fault), std::string::npos)
          << op << " " << first << ", " << second << ": " << status;
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
