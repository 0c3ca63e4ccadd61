// SPDX-License-Identifier: Apache-2.0
// Slice, Split, Pad, Tile, Expand, DepthToSpace, SpaceToDepth on the card.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <string>

#include "compiler/compiler.h"
#include "compiler/device_ops/move.h"
#include "compiler/schedule/axis_runs.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10}, false, true};

const DataType kTypes[] = {DataType::kFloat,    DataType::kFloat16,
                           DataType::kBfloat16, DataType::kUint8,
                           DataType::kInt8,     DataType::kInt16,
                           DataType::kUint16,   DataType::kInt32,
                           DataType::kUint32,   DataType::kBool};

// One of each width.
const DataType kWidths[] = {DataType::kFloat, DataType::kBfloat16,
                            DataType::kInt8};

TensorData AnyBits(DataType type, const Shape& shape, uint64_t seed) {
  TensorData bytes = RandomData(
      DataType::kUint8,
      {ElementCount(shape) * static_cast<int64_t>(ElementBytes(type))}, seed);
  bytes.type = type;
  bytes.shape = shape;
  return bytes;
}

// Every position once, with its index; few runs for what is regular.
TEST(AxisRuns, CoverEveryPositionOnce) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> indices;
    const double scale = 0.3 + (random() % 100) / 25.0;
    const int kind = random() % 3;
    for (int i = 0; i < 100; ++i) {
      indices.push_back(kind == 0   ? static_cast<int64_t>(i / scale)
                        : kind == 1 ? static_cast<int64_t>(random() % 8) - 1
                                    : 100 - i);
    }
    std::vector<int64_t> back(indices.size(), -2);
    for (const AxisRun& run : RunsOf(indices)) {
      for (int64_t i = 0; i < run.count; ++i) {
        for (int64_t r = 0; r < run.repeat; ++r) {
          int64_t& at = back[run.start + i * run.stride + r];
          EXPECT_EQ(at, -2);
          at = run.from < 0 ? -1 : run.from + i * run.step;
        }
      }
    }
    EXPECT_EQ(back, indices);
  }
  EXPECT_EQ(RunsOf({0, 0, 1, 1, 2, 2, 3, 3}).size(), 1u);
  EXPECT_EQ(RunsOf({0, 0, 1, 2, 2, 3, 4, 4, 5}).size(), 2u);
  EXPECT_EQ(RunsOf({-1, -1, 0, 1, 2, 3, -1}).size(), 3u);
  EXPECT_EQ(RunsOf({9, 7, 5, 3}).size(), 1u);
}

TEST(ClipBox, PartsAreThePositionsInside) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    MoveBox box;
    int64_t span = 1;
    for (int i = 0; i < 3; ++i) {
      MoveDim d;
      d.count = 1 + random() % 4;
      d.result = span + random() % 3;
      d.source = static_cast<int64_t>(random() % 100) - 50;
      span += (d.count - 1) * d.result;
      box.dims.insert(box.dims.begin(), d);
    }
    box.result = random() % 5;
    const int64_t begin = random() % 60, end = begin + 1 + random() % 60;
    auto positions = [](const MoveBox& b) {
      std::map<int64_t, int64_t> all;  // result to source
      for (int64_t i = 0; i < b.dims[0].count; ++i) {
        for (int64_t j = 0; j < b.dims[1].count; ++j) {
          for (int64_t k = 0; k < b.dims[2].count; ++k) {
            all[b.result + i * b.dims[0].result + j * b.dims[1].result +
                k * b.dims[2].result] = b.source + i * b.dims[0].source +
                                        j * b.dims[1].source +
                                        k * b.dims[2].source;
          }
        }
      }
      return all;
    };
    std::map<int64_t, int64_t> expected, actual;
    for (const auto& p : positions(box)) {
      if (p.first >= begin && p.first < end) expected.insert(p);
    }
    std::vector<MoveBox> parts;
    ClipBox(box, begin, end, &parts);
    for (const MoveBox& part : parts) {
      for (const auto& p : positions(part)) {
        EXPECT_TRUE(actual.insert(p).second);
      }
    }
    EXPECT_EQ(actual, expected);
  }
}

// The operand from device memory, and from SRAM as the result of a Tile.
void Check(DataType type, const Shape& shape, const std::string& op,
           const std::vector<TensorData>& constants, int outputs = 1,
           int64_t axis = INT64_MIN, const std::string& mode = "") {
  for (bool computed : {false, true}) {
    if (computed && shape.empty()) continue;
    SCOPED_TRACE(op + " " + DataTypeName(type) + ShapeToString(shape) +
                 (computed ? " computed" : ""));
    ModelBuilder b;
    b.Input("x", type, shape);
    std::vector<std::string> inputs = {"x"};
    if (computed) {
      std::vector<int64_t> twice(shape.size(), 1);
      twice.back() = 2;
      std::vector<int64_t> half = {shape.back()};
      b.Constant("twice", Int64s({static_cast<int64_t>(shape.size())}, twice));
      b.Node("Tile", {"x", "twice"}, {"long"});
      b.Constant("s", Int64s({1}, half));
      b.Constant("e", Int64s({1}, {INT64_MAX}));
      b.Constant("a", Int64s({1}, {-1}));
      b.Node("Slice", {"long", "s", "e", "a"}, {"back"});
      inputs = {"back"};
    }
    for (size_t i = 0; i < constants.size(); ++i) {
      inputs.push_back("c" + std::to_string(i));
      b.Constant(inputs.back(), constants[i]);
    }
    std::vector<std::string> results;
    for (int i = 0; i < outputs; ++i)
      results.push_back("y" + std::to_string(i));
    auto* node = b.Node(op, inputs, results);
    if (axis != INT64_MIN) SetInt(node, "axis", axis);
    if (!mode.empty()) SetString(node, "mode", mode);
    for (const std::string& name : results) b.Output(name);
    ExpectCardEqualsReference(b.Bytes(), {AnyBits(type, shape, 3)}, kSizes);
  }
}

TEST(LowerIndexMap, Slice) {
  for (DataType type : kTypes) {
    Check(type, {2, 5, 11, 13}, "Slice",
          {Int64s({4}, {1, -1, 9, 10}),
           Int64s({4}, {INT64_MAX, INT64_MIN, -100, 1}),
           Int64s({4}, {0, 1, 2, 3}), Int64s({4}, {1, -2, -1, -3})});
    Check(type, {3, 40, 7, 5}, "Slice", {Int64s({1}, {1}), Int64s({1}, {3})});
    Check(type, {1, 21, 8, 8}, "Slice",
          {Int64s({1}, {4}), Int64s({1}, {-3}), Int64s({1}, {1})});
    Check(type, {300, 70}, "Slice",
          {Int64s({2}, {250, 3}), Int64s({2}, {5, 60}), Int64s({2}, {0, 1}),
           Int64s({2}, {-7, 5})});
  }
}

TEST(LowerIndexMap, Split) {
  for (DataType type : kWidths) {
    for (int64_t axis = 0; axis < 4; ++axis) {
      Check(type, {6, 6, 6, 6}, "Split", {}, 3, axis);
      Check(type, {6, 6, 6, 6}, "Split", {Int64s({3}, {1, 3, 2})}, 3, axis);
    }
    Check(type, {1, 9, 5, 7}, "Split", {Int64s({2}, {4, 5})}, 2, -3);
  }
}

TEST(LowerIndexMap, Pad) {
  for (DataType type : kWidths) {
    for (const char* mode : {"constant", "reflect", "edge"}) {
      std::vector<TensorData> in = {Int64s({8}, {0, 2, 3, 1, 1, 1, 4, 6})};
      if (*mode == 'c') in.push_back(AnyBits(type, {}, 9));
      Check(type, {2, 3, 5, 7}, "Pad", in, 1, INT64_MIN, mode);
      in[0] = Int64s({8}, {0, -1, 3, -2, 1, 0, -4, 9});
      Check(type, {1, 3, 7, 6}, "Pad", in, 1, INT64_MIN, mode);
    }
  }
}

TEST(LowerIndexMap, TileAndExpand) {
  for (DataType type : kWidths) {
    Check(type, {2, 3, 5, 7}, "Tile", {Int64s({4}, {2, 1, 3, 2})});
    Check(type, {130}, "Tile", {Int64s({1}, {41})});
    Check(type, {3, 1, 7, 1}, "Expand", {Int64s({5}, {2, 1, 5, 1, 6})});
    Check(type, {1, 33, 1}, "Expand", {Int64s({3}, {4, 33, 50})});
    Check(type, {}, "Expand", {Int64s({2}, {30, 31})});
  }
}

TEST(LowerIndexMap, DepthToSpace) {
  for (DataType type : kWidths) {
    for (const char* mode : {"DCR", "CRD"}) {
      for (int64_t b : {2, 3}) {
        ModelBuilder m;
        m.Input("x", type, {2, 2 * b * b, 5, 7});
        auto* node = m.Node("DepthToSpace", {"x"}, {"y"});
        SetInt(node, "blocksize", b);
        SetString(node, "mode", mode);
        m.Node("Identity", {"y"}, {"i"});
        SetInt(m.Node("SpaceToDepth", {"i"}, {"z"}), "blocksize", b);
        m.Output("y");
        m.Output("z");
        ExpectCardEqualsReference(
            m.Bytes(), {AnyBits(type, {2, 2 * b * b, 5, 7}, 3)}, kSizes);
      }
    }
  }
}

// Codes between matrix operations: whole blocks stay in their layout.
TEST(LowerIndexMap, CodesInBlocks) {
  for (int64_t channels : {32, 36}) {
    for (int64_t batch : {1, 3}) {
      SCOPED_TRACE(channels * 10 + batch);
      ModelBuilder b;
      b.Input("x", DataType::kFloat, {batch, channels, 9, 10});
      b.Quantize("x", "q", 0.05f, Uint8s({}, {7}));
      auto* pool = b.Node("MaxPool", {"q"}, {"p"});
      SetInts(pool, "kernel_shape", {3, 3});
      b.Constant("pads", Int64s({8}, {0, 0, 1, 2, 0, 0, 2, 1}));
      b.Constant("value", Uint8s({}, {99}));
      b.Node("Pad", {"p", "pads", "value"}, {"padded"});
      b.Constant("starts", Int64s({2}, {16, 8}));
      b.Constant("ends", Int64s({2}, {INT64_MAX, INT64_MIN}));
      b.Constant("axes", Int64s({2}, {1, 2}));
      b.Constant("steps", Int64s({2}, {1, -2}));
      b.Node("Slice", {"padded", "starts", "ends", "axes", "steps"}, {"s"});
      auto* after = b.Node("MaxPool", {"s"}, {"z"});
      SetInts(after, "kernel_shape", {2, 2});
      b.Constant("parts", Int64s({2}, {16, channels - 16}));
      SetInt(b.Node("Split", {"padded", "parts"}, {"t0", "t1"}), "axis", 1);
      auto* pool0 = b.Node("MaxPool", {"t0"}, {"u0"});
      SetInts(pool0, "kernel_shape", {2, 2});
      auto* pool1 = b.Node("MaxPool", {"t1"}, {"u1"});
      SetInts(pool1, "kernel_shape", {2, 2});
      b.Output("z");
      b.Output("u0");
      b.Output("u1");
      b.Output("t1");
      ExpectCardEqualsReference(
          b.Bytes(),
          {RandomData(DataType::kFloat, {batch, channels, 9, 10}, 1)}, kSizes);
    }
  }
}

// Contiguous parts are views: nothing is moved.
TEST(LowerIndexMap, SplitMovesNothing) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 24, 13, 13});
  SetInt(b.Node("Split", {"x"}, {"a", "b"}), "axis", 1);
  b.Node("Add", {"a", "b"}, {"y"});
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {1, 24, 13, 13}, 1)}, kSizes);
  auto result = CompileOnnx(b.Bytes(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->report.layers.size(), 1u);
}

TEST(LowerIndexMap, LargerThanSram) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1, 500, 700});
  b.Constant("pads", Int64s({8}, {0, 0, 20, 30, 0, 0, 1, 40}));
  SetString(b.Node("Pad", {"x", "pads"}, {"y"}), "mode", "reflect");
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {1, 1, 500, 700}, 1)}, kSizes);
}

}  // namespace
}  // namespace heddle::compiler
