// SPDX-License-Identifier: Apache-2.0
// Device memory is exact: on a 64 MiB card, two graphs that fit singly but not
// together.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/session/session.h"
#include "tests/e2e/client.h"
#include "tests/e2e/product.h"
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

std::vector<float> Ones() { return std::vector<float>(kRows, 1); }

void ExpectRuns(Graph* graph, float value) {
  ASSERT_EQ(graph->SetIo(Ones(), {1, kRows}, {1, kColumns}), kSuccess);
  ASSERT_EQ(graph->Run(), kSuccess);
  EXPECT_EQ(graph->y(), std::vector<float>(kColumns, kRows * value));
}

TEST(Memory, SecondGraphIsRefusedAndTheFirstStillRuns) {
  TempFolder folder;
  VirtualCard card(folder / "card", {"h256", "64M", 1});
  HostedDriver driver(folder / "driver", {folder / "card"});
  UseDevice(driver.device());
  Backend backend;
  const uint64_t idle = Used(driver.device());
  {
    Graph first(backend, MatMulModel(kRows, kColumns, 0.5f));
    ASSERT_EQ(first.init_status(), kSuccess);
    const uint64_t loaded = Used(driver.device());
    EXPECT_GE(loaded, idle + kRows * kColumns * sizeof(float));
    // Again and again: a refusal leaves nothing behind.
    for (int i = 0; i < 3; ++i) {
      Graph second(backend, MatMulModel(kRows, kColumns, 0.25f));
      EXPECT_EQ(comparer::StatusName(second.init_status()),
                comparer::StatusName(kNoDeviceMemory));
      EXPECT_EQ(second.get(), nullptr);
      EXPECT_EQ(Used(driver.device()), loaded);
    }
    ExpectRuns(&first, 0.5f);
  }
  EXPECT_EQ(Used(driver.device()), idle);
  Graph alone(backend, MatMulModel(kRows, kColumns, 0.25f));
  ASSERT_EQ(alone.init_status(), kSuccess);
  ExpectRuns(&alone, 0.25f);
}

}  // namespace
}  // namespace heddle::tests
