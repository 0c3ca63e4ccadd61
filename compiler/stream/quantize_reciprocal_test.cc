// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/quantize_reciprocal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

float Real(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// The program on the host.
std::vector<int32_t> CodesOf(const QuantizeByReciprocal& q,
                             const std::vector<uint32_t>& inputs) {
  std::vector<uint32_t> codes(inputs.size());
  const absl::Status status =
      Evaluate(q.program, q.arguments, {HostStream{inputs.data(), false}},
               static_cast<int64_t>(inputs.size()), codes.data());
  EXPECT_TRUE(status.ok()) << status;
  return std::vector<int32_t>(codes.begin(), codes.end());
}

int32_t Want(float x, float scale, int32_t low, int32_t high, int32_t zero) {
  return model::Cro(model::FDiv(x, scale), low, high, zero);
}

TEST(QuantizeByReciprocal, IsTheDivision) {
  std::mt19937 random(7);
  int made = 0;
  for (int trial = 0; trial < 300; ++trial) {
    // Scales of all mantissas, most of them between 2^-10 and 2^3.
    const float scale =
        std::ldexp(1.0f + static_cast<float>(random() >> 9) / (1 << 23),
                   trial % 10 == 0 ? static_cast<int>(random() % 110) - 55
                                   : static_cast<int>(random() % 13) - 10);
    const bool is_signed = random() % 2 != 0;
    const int32_t min = is_signed ? -128 : 0;
    const int32_t zero = min + static_cast<int32_t>(random() % 256);
    const int32_t low = min - zero, high = low + 255;
    const auto q = MakeQuantizeByReciprocal(scale, low, high, zero, false);
    if (!q.has_value()) continue;
    ++made;
    std::vector<uint32_t> inputs;
    for (float x : {0.0f, -0.0f, INFINITY, -INFINITY, NAN,
                    std::numeric_limits<float>::max(),
                    std::numeric_limits<float>::lowest(),
                    std::numeric_limits<float>::denorm_min(),
                    -std::numeric_limits<float>::min()}) {
      inputs.push_back(Bits(x));
    }
    for (int i = 0; i < 300; ++i) {
      inputs.push_back(static_cast<uint32_t>(random()));
    }
    // In range, and next to ties.
    for (int i = 0; i < 300; ++i) {
      const int32_t code = low + static_cast<int32_t>(random() % 256);
      float x = (static_cast<float>(code) + 0.5f) * scale;
      for (uint32_t n = random() % 40; n > 0; --n) {
        x = std::nextafter(x, i % 2 == 0 ? INFINITY : -INFINITY);
      }
      inputs.push_back(Bits(x));
      inputs.push_back(
          Bits(static_cast<float>(code) * scale +
               scale * static_cast<float>(random() % 1000) / 1000));
    }
    const std::vector<int32_t> codes = CodesOf(*q, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const float x = Real(inputs[i]);
      ASSERT_EQ(codes[i], Want(x, scale, low, high, zero))
          << x << " by " << scale << ", zero point " << zero;
    }
  }
  EXPECT_GT(made, 250);
}

// One scale, every third mantissa of the nine binades that matter.
TEST(QuantizeByReciprocal, AllMantissas) {
  const float scale = 0.018658448f;
  const auto q = MakeQuantizeByReciprocal(scale, -114, 141, 114, false);
  ASSERT_TRUE(q.has_value());
  uint32_t different = 0;
  for (uint32_t binade = 0x3c000000; binade < 0x40800000; binade += 1 << 23) {
    std::vector<uint32_t> inputs;
    for (uint32_t bits = binade; bits < binade + (1 << 23); bits += 3) {
      inputs.push_back(bits | (bits % 2 << 31));
    }
    const std::vector<int32_t> codes = CodesOf(*q, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      different += codes[i] != Want(Real(inputs[i]), scale, -114, 141, 114);
    }
  }
  EXPECT_EQ(different, 0u);
}

TEST(QuantizeByReciprocal, Integers) {
  const auto q = MakeQuantizeByReciprocal(3.7f, -128, 127, 0, true);
  ASSERT_TRUE(q.has_value());
  for (int32_t n = -600; n <= 600; ++n) {
    EXPECT_EQ(CodesOf(*q, {static_cast<uint32_t>(n)})[0],
              Want(static_cast<float>(n), 3.7f, -128, 127, 0));
  }
}

TEST(QuantizeByReciprocal, RefusesScales) {
  for (float scale : {0.0f, -1.0f, 0x1p-61f, 0x1p61f, INFINITY, NAN}) {
    EXPECT_FALSE(
        MakeQuantizeByReciprocal(scale, -128, 127, 0, false).has_value())
        << scale;
  }
}

}  // namespace
}  // namespace heddle::compiler
