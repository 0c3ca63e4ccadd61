// SPDX-License-Identifier: Apache-2.0
//
// Every error of one bit and of two, in words of many kinds, against check bits
// that are made of the columns which hd_secded_pkg documents.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "Vhd_secded_decode.h"

namespace heddle::rtl {
namespace {

constexpr int kDataBits = 128, kCheckBits = 9, kBits = kDataBits + kCheckBits;

// {q, p, i} of data bit i, or one check bit.
uint32_t Column(int bit) {
  if (bit >= kDataBits) return 1u << (bit - kDataBits);
  const uint32_t i = static_cast<uint32_t>(bit);
  if (i == 0) return 0x103;
  const uint32_t ones = static_cast<uint32_t>(__builtin_popcount(i));
  if (ones == 1) return 0x180 | i;
  return (ones % 2 == 0 ? 0x80 : 0) | i;
}

struct Word {
  std::array<uint32_t, 4> data = {};
  uint32_t check = 0;

  void Flip(int bit) {
    if (bit < kDataBits) {
      data[bit / 32] ^= 1u << (bit % 32);
    } else {
      check ^= 1u << (bit - kDataBits);
    }
  }
};

Word Encoded(const std::array<uint32_t, 4>& data) {
  Word word = {data, 0};
  for (int bit = 0; bit < kDataBits; ++bit) {
    if (data[bit / 32] >> (bit % 32) & 1) word.check ^= Column(bit);
  }
  return word;
}

std::vector<Word> Words() {
  std::vector<Word> words = {Encoded({}), Encoded({~0u, ~0u, ~0u, ~0u})};
  std::mt19937 random(1);
  for (int i = 0; i < 30; ++i) {
    std::array<uint32_t, 4> data;
    for (uint32_t& part : data) part = static_cast<uint32_t>(random());
    words.push_back(Encoded(data));
  }
  return words;
}

class SecdedTest : public testing::Test {
 protected:
  SecdedTest() { dut_.en_i = 1; }

  // What comes out, with the two flags.
  struct Answer {
    std::array<uint32_t, 4> data;
    bool single, twice;
  };
  Answer Decode(const Word& word) {
    std::memcpy(&dut_.data_i, word.data.data(), sizeof(word.data));
    dut_.check_i = static_cast<uint16_t>(word.check);
    dut_.eval();
    Answer answer;
    std::memcpy(answer.data.data(), &dut_.data_o, sizeof(answer.data));
    answer.single = dut_.single_o;
    answer.twice = dut_.double_o;
    return answer;
  }

  Vhd_secded_decode dut_;
};

TEST_F(SecdedTest, ColumnsAreDifferentAndOdd) {
  std::set<uint32_t> columns;
  for (int bit = 0; bit < kBits; ++bit) {
    EXPECT_EQ(__builtin_popcount(Column(bit)) % 2, 1) << bit;
    columns.insert(Column(bit));
  }
  EXPECT_EQ(columns.size(), static_cast<size_t>(kBits));
}

TEST_F(SecdedTest, RightWordsPass) {
  for (int bit = 0; bit < kDataBits; ++bit) {
    std::array<uint32_t, 4> data = {};
    data[bit / 32] = 1u << (bit % 32);
    const Answer answer = Decode(Encoded(data));
    EXPECT_EQ(answer.data, data) << bit;
    EXPECT_FALSE(answer.single || answer.twice) << bit;
  }
  for (const Word& word : Words()) {
    const Answer answer = Decode(word);
    EXPECT_EQ(answer.data, word.data);
    EXPECT_FALSE(answer.single || answer.twice);
  }
}

TEST_F(SecdedTest, EverySingleErrorIsCorrected) {
  for (const Word& word : Words()) {
    for (int bit = 0; bit < kBits; ++bit) {
      Word bad = word;
      bad.Flip(bit);
      const Answer answer = Decode(bad);
      ASSERT_EQ(answer.data, word.data) << bit;
      ASSERT_TRUE(answer.single && !answer.twice) << bit;
    }
  }
}

TEST_F(SecdedTest, EveryDoubleErrorIsFound) {
  for (const Word& word : Words()) {
    for (int one = 0; one < kBits; ++one) {
      for (int two = one + 1; two < kBits; ++two) {
        Word bad = word;
        bad.Flip(one);
        bad.Flip(two);
        const Answer answer = Decode(bad);
        ASSERT_TRUE(answer.twice && !answer.single) << one << " " << two;
        ASSERT_EQ(answer.data, bad.data) << one << " " << two;
      }
    }
  }
}

// What is beyond the code: never a word as if it were right.
TEST_F(SecdedTest, TripleErrorsAreSeen) {
  const Word word = Words().back();
  for (int one = 0; one < kBits; ++one) {
    for (int two = one + 1; two < kBits; ++two) {
      for (int three = two + 1; three < kBits; ++three) {
        Word bad = word;
        bad.Flip(one);
        bad.Flip(two);
        bad.Flip(three);
        const Answer answer = Decode(bad);
        ASSERT_TRUE(answer.single != answer.twice)
            << one << " " << two << " " << three;
      }
    }
  }
}

TEST_F(SecdedTest, RestsWithoutEnable) {
  Word word = Words().back();
  word.Flip(5);
  dut_.en_i = 0;
  const Answer answer = Decode(word);
  EXPECT_EQ(answer.data, word.data);
  EXPECT_FALSE(answer.single || answer.twice);
}

}  // namespace
}  // namespace heddle::rtl
