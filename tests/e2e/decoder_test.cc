// SPDX-License-Identifier: Apache-2.0
// A decoder in the manner of GPT-2, with fixed random weights, whose keys and
// values stay on the card from token to token: all tokens are queued without
// the host between them, and each has the logits that the decoder has when it
// computes all tokens at once, without keys of before.
//
//   HEDDLE_DECODER = LAYERS,WIDTH,TOKENS   (by default 2,64,12)
//
// Prints what the host copies for a token, what the card copies for its state,
// and the tokens per second at the card's clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "rtl/spec/generated/isa.h"
#include "runtime/session/session.h"
#include "runtime/session/test_card.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Int32s;
using compiler::Int64s;
using compiler::ModelBuilder;
using compiler::Shape;
using compiler::TensorData;
using session::TensorBuffer;

constexpr int64_t kHead = 32, kVocabulary = 256;

struct Decoder {
  int64_t layers = 2, width = 64, tokens = 12;
};

Decoder Chosen() {
  Decoder d;
  const char* text = std::getenv("HEDDLE_DECODER");
  long long l = 0, w = 0, t = 0;
  if (text != nullptr && std::sscanf(text, "%lld,%lld,%lld", &l, &w, &t) == 3) {
    d = {l, w, t};
  }
  return d;
}

// The decoder on `rows` tokens: one that has those of before, or all.
class Writer {
 public:
  Writer(const Decoder& d, bool cached)
      : d_(d), cached_(cached), rows_(cached ? 1 : d.tokens), b_(20) {}

  std::string Write() {
    b_.Input("token", DataType::kInt64, {1, rows_});
    if (cached_) {
      b_.Input("place", DataType::kInt32, {1});
    } else {
      b_.Constant("place", Int32s({1}, {static_cast<int32_t>(rows_ - 1)}));
    }
    b_.Constant("total", Int32s({1}, {static_cast<int32_t>(d_.tokens)}));
    const std::string table = Weights({kVocabulary, d_.width}, 1);
    const std::string places = Weights({d_.tokens, d_.width}, 0.1f);
    std::string at = "place";
    if (!cached_) {
      std::vector<int32_t> all;
      for (int64_t i = 0; i < rows_; ++i) all.push_back(static_cast<int>(i));
      b_.Constant("places", Int32s({rows_}, all));
      at = "places";
    }
    std::string x = Add(
        "Add", {Add("Gather", {table, "token"}), Add("Gather", {places, at})});
    for (int64_t i = 0; i < d_.layers; ++i) x = Layer(x, i);
    x = Normal(x);
    b_.Node("Transpose", {table}, {"output_weights"});
    b_.Node("MatMul", {x, "output_weights"}, {"logits"});
    b_.Output("logits");
    return b_.Bytes();
  }

 private:
  std::string Weights(Shape shape, float range) {
    const std::string name = absl::StrCat("w", weights_);
    TensorData data = compiler::RandomData(DataType::kFloat, shape,
                                           100 + weights_++, -range, range);
    b_.Constant(name, data);
    return name;
  }
  std::string Add(const std::string& op,
                  const std::vector<std::string>& inputs) {
    const std::string name = absl::StrCat(op, "_", results_++);
    b_.Node(op, inputs, {name});
    return name;
  }
  std::string Normal(const std::string& x) {
    const std::string y = absl::StrCat("normal_", results_++);
    compiler::SetInt(
        b_.Node("LayerNormalization", {x, Weights({d_.width}, 1)}, {y}), "axis",
        -1);
    return y;
  }
  // By weights of the size that keeps a vector's length.
  std::string Linear(const std::string& x, int64_t in, int64_t out) {
    return Add("Add",
               {Add("MatMul", {x, Weights({in, out}, std::sqrt(3.0f / in))}),
                Weights({out}, 0.1f)});
  }
  std::string Layer(const std::string& x, int64_t i) {
    const int64_t w = d_.width, heads = w / kHead;
    const Shape state = {1, heads, d_.tokens, kHead};
    std::vector<std::string> inputs = {Linear(Normal(x), w, 3 * w), "", ""};
    for (const char* kind : {"k", "v"}) {
      const std::string name = absl::StrCat("past_", kind, i);
      if (cached_) b_.Input(name, DataType::kFloat, state);
      inputs.push_back(cached_ ? name : "");
    }
    inputs.insert(inputs.end(), {"place", "total"});
    const std::string y = absl::StrCat("attention_", i);
    const std::vector<std::string> results = {y, absl::StrCat("new_k", i),
                                              absl::StrCat("new_v", i)};
    auto* node =
        b_.Node("GroupQueryAttention", inputs, results, "com.microsoft");
    compiler::SetInt(node, "num_heads", heads);
    compiler::SetInt(node, "kv_num_heads", heads);
    if (cached_) {
      for (int k : {1, 2}) b_.Output(results[k], DataType::kFloat, state);
    }
    const std::string after = Add("Add", {x, Linear(y, w, w)});
    const std::string hidden = Add("Gelu", {Linear(Normal(after), w, 4 * w)});
    return Add("Add", {after, Linear(hidden, 4 * w, w)});
  }

  const Decoder d_;
  const bool cached_;
  const int64_t rows_;
  ModelBuilder b_;
  int weights_ = 0, results_ = 0;
};

struct Loaded {
  std::shared_ptr<session::Graph> graph;
  uint64_t cycles = 0;  // estimated
};

Loaded Load(const std::shared_ptr<session::Device>& device,
            const std::string& onnx) {
  const auto compiled = compiler::CompileOnnx(onnx, {});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return {};
  auto graph = session::LoadGraph(device, compiled->package);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  return {*std::move(graph), compiled->report.estimated_cycles};
}

TEST(DecoderTest, KeepsItsKeysOnTheCard) {
  const Decoder d = Chosen();
  ASSERT_TRUE(d.layers > 0 && d.width > 0 && d.width % kHead == 0 &&
              d.tokens > 1 &&
              d.tokens <= static_cast<int64_t>(session::kMaxRunsInFlight))
      << "HEDDLE_DECODER";
  const auto device = session::OpenSim("memory=1G");
  ASSERT_NE(device, nullptr);
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < d.tokens; ++i) tokens.push_back(i * 37 % kVocabulary);

  // All at once.
  std::vector<float> expected(static_cast<size_t>(d.tokens * kVocabulary));
  {
    const Loaded whole = Load(device, Writer(d, false).Write());
    ASSERT_NE(whole.graph, nullptr);
    auto run = whole.graph->Start(
        {{"token", tokens.data(), 8 * tokens.size()}},
        {{"logits", expected.data(), 4 * expected.size()}}, nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    const absl::Status end = (*run)->Wait(absl::Now() + absl::Minutes(30));
    ASSERT_TRUE(end.ok()) << end;
  }

  // One after the other.
  const Loaded step = Load(device, Writer(d, true).Write());
  ASSERT_NE(step.graph, nullptr);
  const uint64_t state_bytes = static_cast<uint64_t>(4 * d.tokens * d.width);
  std::vector<TensorBuffer> state_in, state_out;
  for (int64_t i = 0; i < d.layers; ++i) {
    for (const char* kind : {"k", "v"}) {
      auto resident = session::MakeResident(device, state_bytes);
      ASSERT_TRUE(resident.ok()) << resident.status();
      state_in.push_back(
          {absl::StrCat("past_", kind, i), nullptr, state_bytes, *resident});
      state_out.push_back(
          {absl::StrCat("new_", kind, i), nullptr, state_bytes, *resident});
    }
  }
  std::vector<float> logits(expected.size());
  std::vector<std::shared_ptr<session::Run>> runs;
  uint64_t host_bytes = 0;
  for (int64_t i = 0; i < d.tokens; ++i) {
    auto place = static_cast<int32_t>(i);
    std::vector<TensorBuffer> in = {{"token", &tokens[i], 8},
                                    {"place", &place, 4}};
    std::vector<TensorBuffer> out = {
        {"logits", &logits[i * kVocabulary], 4 * kVocabulary}};
    host_bytes = in[0].size + in[1].size + out[0].size;
    in.insert(in.end(), state_in.begin(), state_in.end());
    out.insert(out.end(), state_out.begin(), state_out.end());
    auto run = step.graph->Start(in, out, nullptr);
    ASSERT_TRUE(run.ok()) << i << ": " << run.status();
    runs.push_back(*std::move(run));
  }
  for (const auto& run : runs) {
    const absl::Status end = run->Wait(absl::Now() + absl::Minutes(30));
    ASSERT_TRUE(end.ok()) << end;
  }

  double most = 0, largest = 0;
  int64_t different = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    ASSERT_TRUE(std::isfinite(logits[i])) << i;
    most =
        std::max(most, std::fabs(static_cast<double>(logits[i]) - expected[i]));
    largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
    different += logits[i] != expected[i];
  }
  EXPECT_LE(most, 1e-4 * largest);
  EXPECT_GT(largest, 0.1);
  const isa::Config* config = isa::FindConfig("h256");
  ASSERT_NE(config, nullptr);
  std::printf(
      "%lld layers of %lld, %lld tokens: the host copies %llu bytes for each "
      "(token, place, logits), the card %llu (state in and out); %llu cycles, "
      "%.1f tokens/s at %u MHz; %lld of %zu logits differ from those computed "
      "at once, by at most %.2g of %.3g\n",
      static_cast<long long>(d.layers), static_cast<long long>(d.width),
      static_cast<long long>(d.tokens),
      static_cast<unsigned long long>(host_bytes),
      static_cast<unsigned long long>(4 * d.layers * state_bytes),
      static_cast<unsigned long long>(step.cycles),
      config->clock_mhz * 1e6 / static_cast<double>(step.cycles),
      config->clock_mhz, static_cast<long long>(different), logits.size(), most,
      largest);
}

}  // namespace
}  // namespace heddle::tests
