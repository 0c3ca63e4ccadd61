// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/contraction_parts.h"

#include <gtest/gtest.h>

namespace heddle::compiler {
namespace {

const isa::Config& Card() { return isa::kConfigs[0]; }

CodeWeights Weights() {
  CodeWeights w;
  w.co = 16;
  w.ci = 256;
  w.kh = w.kw = 3;
  return w;
}

TEST(ContractionParts, AsOne) {
  const ContractionParts parts(Weights());
  EXPECT_FALSE(parts.cut());
  EXPECT_EQ(parts.max_pixels(), 0);
  for (int group = 0; group < 3; ++group) {
    EXPECT_TRUE(parts.Completes(group));
    isa::Conv c;
    c.pad_top = 1;
    parts.SetPart(group, Window(), &c);
    EXPECT_EQ(c.ci, 256u);
    EXPECT_EQ(c.kh, 3u);
    EXPECT_EQ(c.pad_top, 1);
    EXPECT_FALSE(c.acc_continue);
    EXPECT_FALSE(c.acc_hold);
  }
}

// Every input channel and row of the kernel once, in a chain of accumulators.
TEST(ContractionParts, EachElementOnce) {
  const CodeWeights w = Weights();
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4096}, uint64_t{20000}}) {
    const ContractionParts parts(w, bytes, w.co, Card());
    ASSERT_TRUE(parts.cut()) << bytes;
    EXPECT_EQ(parts.max_pixels(), Card().acc_pixels);
    std::vector<int> seen(w.ci * w.kh);
    Window window;
    window.dilation[0] = 2;
    const auto count = static_cast<int>(parts.size());
    for (int group = count; group < 2 * count; ++group) {
      const Contraction& part = parts.Of(group);
      for (int64_t y = part.ky0; y < part.ky0 + part.ky; ++y) {
        for (int64_t c = part.ci0; c < part.ci0 + part.ci; ++c) {
          ++seen[y * w.ci + c];
        }
      }
      isa::Conv c;
      c.pad_top = 5;
      parts.SetPart(group, window, &c);
      EXPECT_EQ(c.ci, static_cast<uint32_t>(part.ci));
      EXPECT_EQ(c.kh, static_cast<uint32_t>(part.ky));
      EXPECT_EQ(c.pad_top, 5 - 2 * part.ky0);
      EXPECT_EQ(c.acc_continue, group > count);
      EXPECT_EQ(c.acc_hold, group + 1 < 2 * count);
      EXPECT_EQ(parts.Completes(group), group + 1 == 2 * count);
    }
    EXPECT_EQ(seen, std::vector<int>(w.ci * w.kh, 1)) << bytes;
  }
}

// Accumulators are shared by the output channels of a command.
TEST(ContractionParts, MoreChannelsFewerPixels) {
  const CodeWeights w = Weights();
  EXPECT_EQ(ContractionParts(w, 1, 2 * Card().lanes_out, Card()).max_pixels(),
            Card().acc_pixels / 2);
}

}  // namespace
}  // namespace heddle::compiler
