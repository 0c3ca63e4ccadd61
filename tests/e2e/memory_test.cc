// SPDX-License-Identifier: Apache-2.0
// Device memory is exact: on a 64 MiB card, two graphs that fit singly but not
// together, and a graph that takes more than twice the card.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "runtime/session/session.h"
#include "tests/e2e/client.h"
#include "tests/e2e/product.h"
#include "tests/support/onnx_model.h"
#include "tests/support/virtual_card.h"

namespace heddle::tests {
namespace {

using status::kNoDeviceMemory;
using status::kSuccess;

// 40 MiB of fp32 weights.
constexpr int64_t kRows = 2560, kColumns = 4096;

// Bytes in use on the card, as the driver counts them.
uint64_t Used(const std::string& device) {
  auto opened = session::OpenDevice(device + "#0");
  EXPECT_TRUE(opened.ok()) << opened.status();
  if (!opened.ok()) return ~uint64_t{0};
  const auto memory = (*opened)->memory();
  EXPECT_TRUE(memory.ok()) << memory.status();
  return memory.ok() ? memory->used : ~uint64_t{0};
}

// Small integers without a pattern, so that nothing can store them in less
// space; their sums are exact in fp32.
std::vector<float> Weights(uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<float> weights(kRows * kColumns);
  for (float& weight : weights) {
    weight = static_cast<float>(random() >> 8 & 15) - 8;
  }
  return weights;
}

// y[1,4096] = x[1,2560] times the weights.
std::string Model(const std::vector<float>& weights) {
  OnnxModel model;
  model.Input("x", {1, kRows}).Output("y", {1, kColumns});
  model.Weights("w", {kRows, kColumns}, weights);
  model.Node("MatMul", {"x", "w"}, {"y"});
  return model.Bytes();
}

void ExpectRuns(Graph* graph, const std::vector<float>& weights) {
  std::vector<float> sums(kColumns, 0);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    sums[i % kColumns] += weights[i];
  }
  ASSERT_EQ(
      graph->SetIo(std::vector<float>(kRows, 1), {1, kRows}, {1, kColumns}),
      kSuccess);
  ASSERT_EQ(graph->Run(), kSuccess);
  EXPECT_EQ(graph->y(), sums);
}

TEST(Memory, SecondGraphIsRefusedAndTheFirstStillRuns) {
  TempFolder folder;
  VirtualCard card(folder / "card", {"h256", "64M", 1});
  HostedDriver driver(folder / "driver", {folder / "card"});
  UseDevice(driver.device());
  Backend backend;
  const uint64_t idle = Used(driver.device());
  const std::vector<float> weights = Weights(1), others = Weights(2);
  {
    Graph first(backend, Model(weights));
    ASSERT_EQ(first.init_status(), kSuccess);
    const uint64_t loaded = Used(driver.device());
    EXPECT_GE(loaded, idle + kRows * kColumns * sizeof(float));
    // Again and again: a refusal leaves nothing behind.
    for (int i = 0; i < 2; ++i) {
      Graph second(backend, Model(others));
      EXPECT_EQ(comparer::StatusName(second.init_status()),
                comparer::StatusName(kNoDeviceMemory));
      EXPECT_EQ(second.get(), nullptr);
      EXPECT_EQ(Used(driver.device()), loaded);
    }
    ExpectRuns(&first, weights);
  }
  EXPECT_EQ(Used(driver.device()), idle);
  Graph alone(backend, Model(others));
  ASSERT_EQ(alone.init_status(), kSuccess);
  ExpectRuns(&alone, others);
}

// y[1,4096] is the sum of x[1,2560] times each of four matrices: 160 MiB.
constexpr uint32_t kMatrices = 4;
std::string LargeModel() {
  OnnxModel model;
  model.Input("x", {1, kRows}).Output("y", {1, kColumns});
  for (uint32_t i = 1; i <= kMatrices; ++i) {
    const std::string n = std::to_string(i);
    model.Weights("w" + n, {kRows, kColumns}, Weights(i));
    model.Node("MatMul", {"x", "w" + n}, {"p" + n});
  }
  model.Node("Add", {"p1", "p2"}, {"q"});
  model.Node("Add", {"p3", "p4"}, {"r"});
  model.Node("Add", {"q", "r"}, {"y"});
  return model.Bytes();
}

// Numbers whose products and sums are not exact.
std::vector<float> Thirds() {
  std::vector<float> x(kRows);
  for (int64_t i = 0; i < kRows; ++i) x[i] = static_cast<float>(i % 97) / 3;
  return x;
}

std::vector<float> RunLarge(const std::string& model, const std::string& memory,
                            bool fits) {
  TempFolder folder;
  VirtualCard card(folder / "card", {"h256", memory, 1});
  HostedDriver driver(folder / "driver", {folder / "card"});
  UseDevice(driver.device());
  Backend backend;
  const uint64_t idle = Used(driver.device());
  std::vector<float> y;
  {
    Graph graph(backend, model);
    EXPECT_EQ(comparer::StatusName(graph.init_status()),
              comparer::StatusName(kSuccess));
    if (graph.get() == nullptr) return {};
    const uint64_t used = Used(driver.device()) - idle;
    const uint64_t weights = kMatrices * kRows * kColumns * sizeof(float);
    EXPECT_EQ(used > weights, fits) << used;
    // The second run finds what the first has left in the window.
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(graph.SetIo(Thirds(), {1, kRows}, {1, kColumns}), kSuccess);
      EXPECT_EQ(graph.Run(), kSuccess);
      EXPECT_TRUE(i == 0 || graph.y() == y);
      y = graph.y();
    }
  }
  EXPECT_EQ(Used(driver.device()), idle);
  return y;
}

TEST(Memory, AGraphOfTwiceTheCardGivesTheSameBytes) {
  const std::string model = LargeModel();
  const std::vector<float> large = RunLarge(model, "512M", true);
  const std::vector<float> small = RunLarge(model, "64M", false);
  ASSERT_EQ(large.size(), static_cast<size_t>(kColumns));
  EXPECT_EQ(large, small);
  std::vector<double> sums(kColumns, 0);
  const std::vector<float> x = Thirds();
  for (uint32_t seed = 1; seed <= kMatrices; ++seed) {
    const std::vector<float> weights = Weights(seed);
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      sums[i % kColumns] += static_cast<double>(x[i / kColumns]) * weights[i];
    }
  }
  for (int64_t i = 0; i < kColumns; ++i) EXPECT_NEAR(small[i], sums[i], 8);
}

// One command gathers from all of a table: no part of it is enough.
TEST(Memory, ATableLargerThanTheCardIsRefused) {
  TempFolder folder;
  VirtualCard card(folder / "card", {"h256", "64M", 1});
  HostedDriver driver(folder / "driver", {folder / "card"});
  UseDevice(driver.device());
  Backend backend;
  const uint64_t idle = Used(driver.device());
  constexpr int64_t kEntries = 1 << 20;
  std::vector<float> table(kEntries * 16);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  OnnxModel model;
  model.Input("i", {4}, onnx::TensorProto::INT32).Output("y", {4, 16});
  model.Weights("t", {kEntries, 16}, table);
  model.Node("Gather", {"t", "i"}, {"y"});
  Graph graph(backend, model.Bytes());
  EXPECT_EQ(comparer::StatusName(graph.init_status()),
            comparer::StatusName(kNoDeviceMemory));
  EXPECT_EQ(Used(driver.device()), idle);
}

}  // namespace
}  // namespace heddle::tests
