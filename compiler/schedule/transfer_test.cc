// SPDX-License-Identifier: Apache-2.0
// Loads and stores of every layout on the functional model: bytes lie where the
// layouts of ISA.md say, and come back.
#include "compiler/schedule/transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "compiler/testing/command_bench.h"

namespace heddle::compiler {
namespace {

struct Shape4 {
  int64_t n, c, h, w;
};

// Loads rows of an image from a dense tensor, checks each byte, stores them in
// the storage's own layout, loads that again and stores it densely.
void RoundTrip(const Shape4& shape, Layout layout, DataType type,
               const Halo& halo, int64_t row, int64_t rows, int64_t image,
               uint64_t seed) {
  SCOPED_TRACE("[" + std::to_string(shape.n) + "," + std::to_string(shape.c) +
               "," + std::to_string(shape.h) + "," + std::to_string(shape.w) +
               "] layout " + std::to_string(static_cast<int>(layout)) +
               " rows " + std::to_string(row) + "+" + std::to_string(rows));
  const Extent e = ExtentOf({shape.n, shape.c, shape.h, shape.w}, layout);
  const size_t es = ElementBytes(type);
  const uint64_t dense_bytes = shape.n * shape.c * shape.h * shape.w * es;
  const uint64_t own_bytes =
      shape.n * GeometryOf(e, layout, es, shape.h, Halo()).bytes;
  const uint64_t second = (dense_bytes + 63) / 64 * 64;
  const uint64_t third = second + (own_bytes + 63) / 64 * 64;
  CommandBench bench(isa::kH1024, third + dense_bytes + 64);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < dense_bytes; ++i) bench.dram[i] = random();
  const Geometry g = GeometryOf(e, layout, es, rows, halo);
  ASSERT_LE(2 * g.bytes + 256, bench.sram.size());
  TileView view{static_cast<uint32_t>(64 + g.origin), row, g.pitch, g.plane,
                g.xstep};
  TileView view2 = view;
  view2.base += (g.bytes + 63) / 64 * 64;
  Emitter* em = bench.emitter();
  // In boxes, which cover the rows.
  std::vector<TensorBox> boxes;
  const int64_t wide = 1 + random() % shape.w;
  const int64_t deep =
      layout == Layout::kPacked ? shape.c : 16 * (1 + random() % 4);
  for (int64_t c = 0; c < shape.c; c += deep) {
    for (int64_t x = 0; x < shape.w; x += wide) {
      boxes.push_back({image,
                       {row, rows},
                       {x, std::min(wide, shape.w - x)},
                       {c, std::min(deep, shape.c - c)}});
    }
  }
  const auto move = [&](Direction direction, const DramTensor& dram,
                        const TileView& v) {
    for (const TensorBox& box : boxes) {
      EmitTransfer(em, direction, e, layout, es, dram, box, v);
    }
  };
  move(Direction::kLoad, {0, 0, true}, view);
  move(Direction::kStore, {1, second, false}, view);
  move(Direction::kLoad, {1, second, false}, view2);
  move(Direction::kStore, {2, third, true}, view2);
  ASSERT_EQ(bench.Run(), "");
  for (int64_t c = 0; c < shape.c; ++c) {
    for (int64_t y = row; y < row + rows; ++y) {
      for (int64_t x = 0; x < shape.w; ++x) {
        const uint64_t dense =
            (((image * shape.c + c) * shape.h + y) * shape.w + x) * es;
        // ISA.md, "Layouts".
        uint64_t at = view.base + (y - row) * g.pitch;
        switch (layout) {
          case Layout::kDense:
            at += c * g.plane + x * es;
            break;
          case Layout::kBlocked:
            at += c / 16 * g.plane + x * 16 + c % 16;
            break;
          case Layout::kPacked:
            at += x * shape.c + c;
            break;
        }
        for (size_t i = 0; i < es; ++i) {
          ASSERT_EQ(bench.sram[at + i], bench.dram[dense + i])
              << "channel " << c << " row " << y << " column " << x;
          ASSERT_EQ(bench.dram[third + dense + i], bench.dram[dense + i])
              << "channel " << c << " row " << y << " column " << x;
        }
      }
    }
  }
}

TEST(Transfer, RandomTensors) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const Layout layout = static_cast<Layout>(random() % 3);
    const bool packed = layout == Layout::kPacked;
    Shape4 s{1 + int64_t(random() % 3),
             1 + int64_t(random() % (packed ? 8 : 40)),
             1 + int64_t(random() % 12), 1 + int64_t(random() % 20)};
    const DataType types[] = {DataType::kUint8, DataType::kFloat16,
                              DataType::kFloat};
    const DataType type =
        layout == Layout::kDense ? types[random() % 3] : DataType::kInt8;
    Halo halo;
    if (layout == Layout::kDense && random() % 2) {
      halo.top = random() % 3;
      halo.left = random() % 3;
      halo.bottom = random() % 3;
      halo.right = random() % 3;
    }
    const int64_t row = random() % s.h, rows = 1 + random() % (s.h - row);
    RoundTrip(s, layout, type, halo, row, rows, random() % s.n, round);
    if (HasFailure()) return;
  }
}

// Those of a pixel follow each other in device memory.
TEST(Transfer, ChannelsOfAMatrixAreWholeWords) {
  constexpr int64_t kRows = 37, kChannels = 48;
  const Extent e = ExtentOf({kRows, kChannels}, Layout::kBlocked);
  const Geometry g = GeometryOf(e, Layout::kBlocked, 1, kRows, Halo());
  const TileView view{64, 0, g.pitch, g.plane, g.xstep};
  const TensorBox box{0, {0, kRows}, {0, 1}, {0, kChannels}};
  const auto emit = [&](CommandBench* bench) {
    EmitTransfer(bench->emitter(), Direction::kLoad, e, Layout::kBlocked, 1,
                 {0, 0, true}, box, view);
    EmitTransfer(bench->emitter(), Direction::kStore, e, Layout::kBlocked, 1,
                 {1, 4096, true}, box, view);
  };
  CommandBench bench;
  for (size_t i = 0; i < 4096; ++i) bench.dram[i] = i * 13 + i / 256;
  emit(&bench);
  ASSERT_EQ(bench.Run(), "");
  EXPECT_EQ(std::memcmp(&bench.dram[4096], &bench.dram[0], kRows * kChannels),
            0);
  for (int64_t c = 0; c < kChannels; ++c) {
    for (int64_t y = 0; y < kRows; ++y) {
      ASSERT_EQ(bench.sram[64 + c / 16 * g.plane + y * g.pitch + c % 16],
                bench.dram[y * kChannels + c]);
    }
  }
  CommandBench other;
  emit(&other);
  const auto encoded = other.stream().Finish();
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  // Field elem_log2 of the load (ISA.md).
  EXPECT_EQ(1u << ((encoded->words[4] >> 4) & 7), unsigned{isa::kWordBytes});
}

// A matrix that is turned, of rows a multiple of all banks: elements behind
// each other do not meet in a bank, and all come where they belong.
TEST(Transfer, PartsOfWordsSpreadOverBanks) {
  constexpr uint64_t kRows = 64, kColumns = 24;
  for (const uint64_t element : {2, 4, 8}) {
    const std::vector<BoxDim> dims = {{kColumns, element, kRows * 16},
                                      {kRows, kColumns * element, element}};
    const auto emit = [&](CommandBench* bench) {
      EmitLoadBox(bench->emitter(), 0, element, 64, 4096, dims);
    };
    CommandBench bench, other;
    for (size_t i = 0; i < bench.dram.size(); ++i) {
      bench.dram[i] = static_cast<uint8_t>(i * 13 + i / 256);
    }
    emit(&bench);
    ASSERT_EQ(bench.Run(), "");
    for (uint64_t row = 0; row < kRows; ++row) {
      for (uint64_t column = 0; column < kColumns; ++column) {
        ASSERT_EQ(
            std::memcmp(&bench.sram[4096 + column * kRows * 16 + row * element],
                        &bench.dram[64 + (row * kColumns + column) * element],
                        element),
            0)
            << element << " " << row << " " << column;
      }
    }
    emit(&other);
    ASSERT_EQ(other.stream().size(), 1u);
    const auto& load = std::get<isa::Load>(other.stream().commands().front());
    EXPECT_EQ(load.t0, uint32_t{isa::kWordBytes}) << element;
  }
}

TEST(Transfer, CountsBeyondOneCommand) {
  Halo left;
  left.left = 1;
  // Columns, rows with a gap, and channels, each more than 65535.
  RoundTrip({1, 1, 1, 70001}, Layout::kDense, DataType::kUint8, Halo(), 0, 1, 0,
            1);
  RoundTrip({1, 1, 70000, 1}, Layout::kDense, DataType::kUint8, left, 0, 70000,
            0, 2);
  RoundTrip({1, 70000, 1, 1}, Layout::kDense, DataType::kUint8, left, 0, 1, 0,
            3);
  RoundTrip({1, 65537, 1, 1}, Layout::kBlocked, DataType::kUint8, Halo(), 0, 1,
            0, 4);
}

TEST(Transfer, FillsExactlyItsBytes) {
  for (uint64_t bytes : {4u, 64u, 1000u, 262136u, 262140u, 262144u, 400004u}) {
    CommandBench bench(isa::kH512);
    std::fill(bench.sram.begin(), bench.sram.end(), 0x55);
    EmitFill(bench.emitter(), 32, bytes, 0xa1b2c3d4u);
    ASSERT_EQ(bench.Run(), "");
    const uint8_t pattern[] = {0xd4, 0xc3, 0xb2, 0xa1};
    for (uint64_t i = 0; i < bench.sram.size(); ++i) {
      const bool inside = i >= 32 && i < 32 + bytes;
      ASSERT_EQ(bench.sram[i], inside ? pattern[i % 4] : 0x55)
          << bytes << " " << i;
    }
  }
}

TEST(Transfer, LoadsBytes) {
  CommandBench bench;
  for (size_t i = 0; i < bench.dram.size(); ++i)
    bench.dram[i] = i * 13 + i / 256;
  EmitLoadBytes(bench.emitter(), 0, 4096, 160, 1600);
  EmitLoadBytes(bench.emitter(), 0, 0, 0x20000, 0);  // nothing
  ASSERT_EQ(bench.stream().size(), 1u);
  ASSERT_EQ(bench.Run(), "");
  EXPECT_EQ(std::memcmp(&bench.sram[160], &bench.dram[4096], 1600), 0);
}

}  // namespace
}  // namespace heddle::compiler
