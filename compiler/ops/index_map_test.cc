// SPDX-License-Identifier: Apache-2.0
// Slice, Split, Pad, Tile, Expand, Resize, DepthToSpace: what the ONNX node
// cases do not reach.
#include "compiler/ops/index_map.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::vector<int32_t> Values(const absl::StatusOr<TensorData>& data) {
  if (!data.ok()) {
    ADD_FAILURE() << data.status();
    return {};
  }
  return std::vector<int32_t>(data->as<int32_t>(),
                              data->as<int32_t>() + data->count());
}

Rejection Kind(const absl::StatusOr<TensorData>& data) {
  return RejectionOf(data.status());
}

TEST(SliceTest, ExtremeBounds) {
  const TensorData x = Int32s({5}, {0, 1, 2, 3, 4});
  auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return RunNode({"Slice", "", 13, {}},
                   {x, Int64s({1}, {start}), Int64s({1}, {end}),
                    Int64s({1}, {0}), Int64s({1}, {step})});
  };
  EXPECT_EQ(Values(slice(kMin, kMax, 1)),
            (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(Values(slice(kMax, kMin, -1)),
            (std::vector<int32_t>{4, 3, 2, 1, 0}));
  EXPECT_EQ(Values(slice(kMax, kMin, kMin)), (std::vector<int32_t>{4}));
  EXPECT_EQ(Values(slice(1, kMax, kMax)), (std::vector<int32_t>{1}));
  EXPECT_EQ(Values(slice(3, 1, 1)), (std::vector<int32_t>{}));
  EXPECT_EQ(Values(slice(-2, kMin, -3)), (std::vector<int32_t>{3, 0}));
  EXPECT_EQ(Kind(slice(0, 1, 0)), Rejection::kInvalidModel);
}

TEST(SliceTest, AttributesOfOpset9) {
  NodeSpec spec = {"Slice", "", 9, {}};
  spec.attributes["starts"] = std::vector<int64_t>{1};
  spec.attributes["ends"] = std::vector<int64_t>{-1};
  spec.attributes["axes"] = std::vector<int64_t>{-1};
  EXPECT_EQ(Values(RunNode(spec, {Int32s({1, 4}, {0, 1, 2, 3})})),
            (std::vector<int32_t>{1, 2}));
  spec.attributes["axes"] = std::vector<int64_t>{2};
  EXPECT_EQ(Kind(RunNode(spec, {Int32s({1, 4}, {0, 1, 2, 3})})),
            Rejection::kInvalidModel);
}

TEST(PadTest, ModesAndCrops) {
  const TensorData x = Int32s({3}, {1, 2, 3});
  auto pad = [&](const char* mode, int64_t before, int64_t after) {
    NodeSpec spec = {"Pad", "", 13, {}};
    spec.attributes["mode"] = std::string(mode);
    return RunNode(spec, {x, Int64s({2}, {before, after})});
  };
  EXPECT_EQ(Values(pad("reflect", 5, 1)),
            (std::vector<int32_t>{2, 1, 2, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(Values(pad("edge", 1, -2)), (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(Values(pad("constant", -1, 2)), (std::vector<int32_t>{2, 3, 0, 0}));
  EXPECT_EQ(Kind(pad("wrap", 1, 1)), Rejection::kUnsupportedAttribute);
  EXPECT_EQ(Kind(pad("edge", -2, -2)), Rejection::kInvalidModel);
  EXPECT_EQ(Kind(pad("edge", kMax, kMax)), Rejection::kInvalidModel);
}

// Before opset 11 the value is an attribute, of whatever type x is.
TEST(PadTest, AttributeIsAValueOfFloat16) {
  const auto half = [](Shape shape, const std::vector<uint16_t>& bits) {
    return MakeData<uint16_t>(DataType::kFloat16, std::move(shape), bits);
  };
  const auto y = RunNode(
      {"Pad", "", 2, {{"pads", std::vector<int64_t>{1, 1}}, {"value", -2.5f}}},
      {half({1}, {0x3c00})});
  ASSERT_TRUE(y.ok()) << y.status();
  const TensorData expected = half({3}, {0xc100, 0x3c00, 0xc100});
  EXPECT_TRUE(y->bytes == expected.bytes);
}

TEST(TileTest, RefusesWhatDoesNotFit) {
  const TensorData x = Int32s({2}, {1, 2});
  EXPECT_EQ(Values(RunNode({"Tile", "", 13, {}}, {x, Int64s({1}, {2})})),
            (std::vector<int32_t>{1, 2, 1, 2}));
  EXPECT_EQ(Values(RunNode({"Tile", "", 13, {}}, {x, Int64s({1}, {0})})),
            (std::vector<int32_t>{}));
  EXPECT_EQ(Kind(RunNode({"Tile", "", 13, {}}, {x, Int64s({1}, {-1})})),
            Rejection::kInvalidModel);
  EXPECT_EQ(Kind(RunNode({"Tile", "", 13, {}}, {x, Int64s({2}, {1, 1})})),
            Rejection::kInvalidModel);
}

TEST(ExpandTest, BroadcastsBothWays) {
  const TensorData x = Int32s({2, 1}, {1, 2});
  EXPECT_EQ(Values(RunNode({"Expand", "", 13, {}}, {x, Int64s({2}, {1, 3})})),
            (std::vector<int32_t>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(Kind(RunNode({"Expand", "", 13, {}}, {x, Int64s({1}, {-1})})),
            Rejection::kMismatchingShape);
  EXPECT_EQ(Kind(RunNode({"Expand", "", 13, {}}, {x, Int64s({2}, {3, 3})})),
            Rejection::kMismatchingShape);
}

// Of opset 10: the first is ONNX 1.5's test_resize_downsample_nearest, the
// others are what ONNX Runtime 1.30 gives.
TEST(ResizeTest, NearestOfOpset10) {
  const auto resize = [](const Shape& shape, std::vector<float> scales) {
    TensorData x = TensorData::Zeros(DataType::kInt32, shape);
    for (int64_t i = 0; i < x.count(); ++i) x.as<int32_t>()[i] = i + 1;
    NodeSpec spec = {"Resize", "", 10, {}};
    return RunNode(spec,
                   {x, Floats({static_cast<int64_t>(scales.size())}, scales)});
  };
  EXPECT_EQ(Values(resize({1, 1, 2, 4}, {1, 1, 0.6f, 0.6f})),
            (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(Values(resize({11}, {0.75f})),
            (std::vector<int32_t>{1, 3, 4, 5, 7, 8, 9, 11}));
  EXPECT_EQ(Values(resize({9}, {0.7f})),
            (std::vector<int32_t>{1, 3, 4, 6, 7, 9}));
  // One axis grows (rounded down), the other shrinks.
  EXPECT_EQ(Values(resize({2, 11}, {2, 0.4f})),
            (std::vector<int32_t>{1, 4, 6, 9, 1, 4, 6, 9, 12, 15, 17, 20, 12,
                                  15, 17, 20}));
}

TEST(ResizeTest, RefusesWhatItCannot) {
  const TensorData x = Floats({1, 2}, {1, 2});
  auto resize = [&](std::vector<float> scales, const char* mode) {
    NodeSpec spec = {"Resize", "", 13, {}};
    spec.attributes["mode"] = std::string(mode);
    return RunNode(spec,
                   {x, TensorData(),
                    Floats({static_cast<int64_t>(scales.size())}, scales)});
  };
  EXPECT_TRUE(resize({1, 2}, "nearest").ok());
  EXPECT_TRUE(resize({1, 2}, "cubic").ok());
  EXPECT_EQ(Kind(resize({1, 2}, "lanczos")), Rejection::kUnsupportedAttribute);
  EXPECT_EQ(Kind(resize({1}, "nearest")), Rejection::kInvalidModel);
  EXPECT_EQ(Kind(resize({1, -2}, "nearest")), Rejection::kInvalidModel);
  EXPECT_EQ(Kind(resize({1, 0.1f}, "nearest")), Rejection::kInvalidModel);
  EXPECT_EQ(
      Kind(resize({1, std::numeric_limits<float>::quiet_NaN()}, "nearest")),
      Rejection::kInvalidModel);
}

TEST(DepthToSpaceTest, RefusesWhatDoesNotSplit) {
  NodeSpec spec = {"DepthToSpace", "", 13, {}};
  spec.attributes["blocksize"] = int64_t{2};
  EXPECT_EQ(Values(RunNode(spec, {Int32s({1, 4, 1, 1}, {1, 2, 3, 4})})),
            (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(Kind(RunNode(spec, {Int32s({1, 3, 1, 1}, {1, 2, 3})})),
            Rejection::kMismatchingShape);
  spec.attributes["blocksize"] = int64_t{0};
  EXPECT_EQ(Kind(RunNode(spec, {Int32s({1, 4, 1, 1}, {1, 2, 3, 4})})),
            Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
