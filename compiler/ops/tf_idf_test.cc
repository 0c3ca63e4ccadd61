// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;

// Tokens 2 and 3, and after them the pairs (5, 4), (5, 6), (7, 8), (6, 7).
NodeSpec Spec() {
  return {"TfIdfVectorizer",
          "",
          13,
          {{"max_gram_length", int64_t{2}},
           {"min_gram_length", int64_t{1}},
           {"max_skip_count", int64_t{1}},
           {"mode", std::string("TF")},
           {"ngram_counts", Ints{0, 2}},
           {"ngram_indexes", Ints{0, 1, 2, 3, 4, 5}},
           {"pool_int64s", Ints{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}}}};
}

const TensorData& Row() {
  static const auto* row =
      new TensorData(Int32s({8}, {5, 6, 6, 7, 7, 8, 2, 2}));
  return *row;
}

void ExpectCounts(const NodeSpec& spec, const std::vector<float>& counts) {
  const auto y = RunNode(spec, {Row()});
  ASSERT_TRUE(y.ok()) << y.status();
  const auto size = static_cast<int64_t>(counts.size());
  EXPECT_EQ(Difference(*y, Floats({size}, counts), 0, 0), "");
}

TEST(TfIdfTest, SkipsTokensBetweenThoseOfAnNGram) {
  NodeSpec spec = Spec();
  ExpectCounts(spec, {2, 0, 0, 2, 2, 3});
  spec.attributes["max_skip_count"] = int64_t{0};
  ExpectCounts(spec, {2, 0, 0, 1, 1, 1});
  spec.attributes["min_gram_length"] = int64_t{2};
  ExpectCounts(spec, {0, 0, 0, 1, 1, 1});
  // More than a row has room for.
  spec.attributes["max_skip_count"] = INT64_MAX - 1;
  const auto y = RunNode(spec, {Int64s({2, 2}, {5, 4, 7, 7})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y, Floats({2, 6}, {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
                       0, 0),
            "");
}

TEST(TfIdfTest, WeightsBelongToNGrams) {
  NodeSpec spec = Spec();
  spec.attributes["ngram_indexes"] = Ints{6, 1, 2, 3, 4, 3};
  spec.attributes["weights"] = std::vector<float>{0.5, 1, 1, 2, 3, 4};
  ExpectCounts(spec, {0, 0, 0, 5, 2, 0, 2});  // two at 3
  spec.attributes["mode"] = std::string("TFIDF");
  ExpectCounts(spec, {0, 0, 0, 16, 6, 0, 1});
  spec.attributes["mode"] = std::string("IDF");
  ExpectCounts(spec, {0, 0, 0, 6, 3, 0, 0.5});
}

TEST(TfIdfTest, WhatIsNoInt32OccursNowhere) {
  NodeSpec spec = Spec();
  spec.attributes["pool_int64s"] =
      Ints{(int64_t{1} << 32) + 2, 3, 5, 4, 5, 6, 7, 8, 6, 7};
  ExpectCounts(spec, {0, 0, 0, 2, 2, 3});
}

TEST(TfIdfTest, EveryContradictionIsRefused) {
  const std::vector<std::pair<std::string, Attribute>> mutations = {
      {"max_gram_length", int64_t{3}},
      {"max_gram_length", int64_t{0}},
      {"min_gram_length", int64_t{0}},
      {"min_gram_length", int64_t{3}},
      {"max_skip_count", int64_t{-1}},
      {"mode", std::string("IDFTF")},
      {"ngram_counts", Ints{}},
      {"ngram_counts", Ints{0, 3}},
      {"ngram_counts", Ints{2, 0}},
      {"ngram_counts", Ints{-2, 2}},
      {"ngram_counts", Ints{0, 12}},
      {"ngram_indexes", Ints{}},
      {"ngram_indexes", Ints{0, 1, 2, 3, 4}},
      {"ngram_indexes", Ints{0, 1, 2, 3, 4, 5, 6}},
      {"ngram_indexes", Ints{0, 1, 2, 3, 4, -5}},
      {"ngram_indexes", Ints{0, 1, 2, 3, 4, INT64_MAX}},
      {"pool_int64s", Ints{2, 3, 5, 4, 5, 6, 7, 8, 6}},
      {"pool_int64s", Ints{2, 2, 5, 4, 5, 6, 7, 8, 6, 7}},
      {"pool_int64s", Ints{2, 3, 5, 4, 5, 6, 7, 8, 5, 6}},
      {"weights", std::vector<float>{1, 2}},
  };
  for (const auto& [name, value] : mutations) {
    NodeSpec spec = Spec();
    spec.attributes[name] = value;
    EXPECT_EQ(RejectionOf(RunNode(spec, {Row()}).status()),
              Rejection::kInvalidModel)
        << name;
  }
  NodeSpec strings = Spec();
  strings.attributes["pool_strings"] = std::vector<std::string>{"a"};
  EXPECT_EQ(RejectionOf(RunNode(strings, {Row()}).status()),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(RejectionOf(RunNode(Spec(), {Int32s({1, 1, 1}, {2})}).status()),
            Rejection::kInvalidModel);
}

// As many nodes as a model asks for: bounded.
TEST(TfIdfTest, ManySkipsAreRefused) {
  NodeSpec spec = Spec();
  spec.attributes["max_skip_count"] = INT64_MAX;
  const std::vector<int64_t> tokens(5000, 5);
  EXPECT_EQ(RejectionOf(RunNode(spec, {Int64s({5000}, tokens)}).status()),
            Rejection::kUnsupportedAttribute);
}

}  // namespace
}  // namespace heddle::compiler
