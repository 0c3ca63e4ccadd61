// SPDX-License-Identifier: Apache-2.0
// Weights that stay in host memory (heddle-compile --device-memory), with one
// window for them on the card and with two: the bytes of a card that holds all
// of them, on the functional core and on the RTL. There, copies cost what they
// must: with two windows they go on while the card computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/comparer/compare.h"
#include "tests/comparer/model_folder.h"
#include "tests/e2e/product.h"
#include "tests/support/onnx_model.h"
#include "tests/support/process.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

constexpr int kLayers = 6;
constexpr int64_t kSide = 256;
constexpr uint64_t kWeightBytes = kLayers * kSide * kSide * sizeof(float);
// Bytes that the way from host memory and device memory move in a cycle.
constexpr uint64_t kBeat = 16;

// x[rows, 256] through products with 256 KiB of weights each.
std::string Model(int64_t rows) {
  std::minstd_rand random(1);
  OnnxModel model;
  model.Input("x0", {rows, kSide});
  model.Output("x" + std::to_string(kLayers), {rows, kSide});
  for (int i = 0; i < kLayers; ++i) {
    const std::string n = std::to_string(i);
    std::vector<float> weights(kSide * kSide);
    for (float& w : weights) {
      w = (static_cast<float>(random() >> 8 & 255) - 127.5f) / 1024;
    }
    model.Weights("w" + n, {kSide, kSide}, weights);
    model.Node("MatMul", {"x" + n, "w" + n}, {"p" + n});
    model.Node("Tanh", {"p" + n}, {"x" + std::to_string(i + 1)});
  }
  return model.Bytes();
}

class Streaming : public testing::Test {
 protected:
  // The package for so much device memory; its report.
  nlohmann::json Compile(int64_t rows, const std::string& name,
                         const std::vector<std::string>& options) {
    WriteFileOrDie(folder_ / "model.onnx", Model(rows));
    std::vector<std::string> arguments = {folder_ / "model.onnx", "-o",
                                          folder_ / (name + ".hpk"),
                                          "--report=json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished done = HeddleCompile(arguments);
    EXPECT_EQ(done.code, 0) << done.out << done.err;
    return done.code == 0 ? nlohmann::json::parse(done.out) : nullptr;
  }
  // An inference; its JSON. The first gives the outputs that all have.
  nlohmann::json Run(const std::string& name, const std::string& core,
                     const std::string& card = "") {
    const std::string outputs = folder_ / (name + core);
    const Finished run =
        HeddleRun({folder_ / (name + ".hpk"), "--core", core, "--outputs",
                   outputs, "--json"},
                  SimDevice("h256") + card, absl::Minutes(5) * TimeFactor());
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    const auto got = comparer::ReadNamedTensors(outputs);
    EXPECT_TRUE(got.ok()) << got.status();
    if (run.code != 0 || !got.ok()) return nullptr;
    for (const auto& [tensor, value] : *got) {
      const std::vector<uint8_t> bytes(value.bytes.begin(), value.bytes.end());
      if (expected_.empty()) expected_ = bytes;
      EXPECT_TRUE(bytes == expected_)
          << name << " on " << core << ": " << tensor << " differs";
    }
    EXPECT_FALSE(expected_.empty());
    return nlohmann::json::parse(run.out);
  }
  // Cycles of a job on the RTL; `card`: further options of the card.
  uint64_t Cycles(const std::string& name, const std::string& card = "") {
    Run(name, "fast");
    const nlohmann::json run = Run(name, "rtl", card);
    return run.is_object() ? run.at("cycles").get<uint64_t>() : 0;
  }

  struct Measured {
    uint64_t whole, one, two;     // cycles of a job
    uint64_t copied_one, copied;  // bytes; with two windows
  };
  // With half of the weights in host memory.
  Measured Measure(int64_t rows, const std::string& card = "") {
    Measured m = {};
    const nlohmann::json whole = Compile(rows, "whole", {});
    if (!whole.is_object()) return m;
    const std::string memory = std::to_string(
        whole.at("device_bytes").get<uint64_t>() - kWeightBytes / 2);
    const nlohmann::json one = Compile(
        rows, "one", {"--device-memory", memory, "--weight-windows", "1"});
    const nlohmann::json two =
        Compile(rows, "two", {"--device-memory", memory});
    if (!one.is_object() || !two.is_object()) return m;
    EXPECT_EQ(one.at("weight_plan").at("windows"), 1);
    m.copied_one = one.at("weight_plan").at("copied_bytes");
    m.copied = two.at("weight_plan").at("copied_bytes");
    EXPECT_GE(m.copied_one, kWeightBytes / 2);
    windows_ = two.at("weight_plan").at("windows");
    m.whole = Cycles("whole", card);
    m.one = Cycles("one", card);
    m.two = Cycles("two", card);
    std::printf(
        "%ld rows%s: %lu cycles with all weights on the card, %lu with one "
        "window (%lu bytes copied), %lu with %d (%lu bytes)\n",
        static_cast<long>(rows), card.c_str(),
        static_cast<unsigned long>(m.whole), static_cast<unsigned long>(m.one),
        static_cast<unsigned long>(m.copied_one),
        static_cast<unsigned long>(m.two), windows_,
        static_cast<unsigned long>(m.copied));
    return m;
  }

  TempFolder folder_;
  std::vector<uint8_t> expected_;
  int windows_ = 0;
};

// Each weight is used for 16 rows: the copies are hidden.
TEST_F(Streaming, BehindWhatTakesLonger) {
  const Measured m = Measure(16);
  EXPECT_EQ(windows_, 2);
  EXPECT_LE(m.two, m.whole + m.whole / 10);
  EXPECT_GT(m.one, m.whole + m.copied_one / kBeat);
}

// For 6 rows, copies take as long as loads, and both together longer than what
// is computed: device memory takes the ones and gives the others.
TEST_F(Streaming, BesideLoadsThatTakeAsLong) {
  const Measured m = Measure(6);
  EXPECT_EQ(windows_, 2);
  EXPECT_GE(m.two, std::max(m.whole, (kWeightBytes + m.copied) / kBeat));
  EXPECT_LT(m.two, m.one);
}

// A host from which weights take longer to copy than the card takes to compute
// with them: the job takes what the copies take, a tenth at most for what they
// have in common with loads, and the last layer, behind which nothing is left
// to copy.
TEST_F(Streaming, FromAHostThatIsSlow) {
  const Measured m = Measure(6, ",host-latency=4000");
  EXPECT_EQ(windows_, 2);
  // What the copies of one window take, times what is copied more with two.
  const uint64_t copies = (m.one - m.whole) * m.copied / m.copied_one;
  EXPECT_GT(copies, m.whole);
  EXPECT_LE(m.two, copies + copies / 10 + m.whole / kLayers);
}

}  // namespace
}  // namespace heddle::tests
