// SPDX-License-Identifier: Apache-2.0
// The product on the verilated card, cycle by cycle: heddle-run --core rtl must
// give the bytes that --core fast gives, and count the cycles that the hardware
// can take. Models of the shared folder that the compiler refuses are not here.
// Suites named Nightly take minutes to hours.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "tests/comparer/compare.h"
#include "tests/comparer/model_folder.h"
#include "tests/e2e/product.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

struct Case {
  const char* model;
  const char* config;
  int minutes = 5;  // in which it must end
};

std::string Name(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.model) + "_" + info.param.config;
}

// What an inference gives: its JSON and, in `outputs`, its outputs.
nlohmann::json Infer(const std::vector<std::string>& model,
                     const std::string& core, const Case& c,
                     const std::string& outputs) {
  std::vector<std::string> arguments = model;
  arguments.insert(arguments.end(), {"--core", core, "--outputs", outputs,
                                     "--no-host", "--json"});
  const Finished run = HeddleRun(arguments, SimDevice(c.config),
                                 absl::Minutes(c.minutes) * TimeFactor());
  EXPECT_EQ(run.code, 0) << core << "\n" << run.out << run.err;
  if (run.code != 0) return nullptr;
  return nlohmann::json::parse(run.out);
}

void ExpectSame(const std::vector<std::string>& model, const Case& c) {
  TempFolder folder;
  const nlohmann::json fast = Infer(model, "fast", c, folder / "fast");
  const nlohmann::json rtl = Infer(model, "rtl", c, folder / "rtl");
  ASSERT_TRUE(fast.is_object() && rtl.is_object());
  const auto want = comparer::ReadNamedTensors(folder / "fast");
  const auto got = comparer::ReadNamedTensors(folder / "rtl");
  ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
  ASSERT_FALSE(want->empty());
  ASSERT_EQ(want->size(), got->size());
  for (const auto& [name, tensor] : *want) {
    const auto other = got->find(name);
    ASSERT_NE(other, got->end()) << name;
    EXPECT_EQ(tensor.shape, other->second.shape) << name;
    EXPECT_TRUE(tensor.bytes == other->second.bytes)
        << name << ": the bytes differ";
  }
  // The same work; in cycles that the array and the memory need at least.
  EXPECT_EQ(rtl.at("core"), "rtl");
  for (const char* count :
       {"macs", "commands", "bytes_loaded", "bytes_stored"}) {
    EXPECT_EQ(rtl.at(count), fast.at(count)) << count;
  }
  const isa::Config& config = *isa::FindConfig(c.config);
  const uint64_t cycles = rtl.at("cycles");
  EXPECT_GE(cycles, rtl.at("macs").get<uint64_t>() /
                        (config.lanes_in * config.lanes_out));
  EXPECT_GE(cycles, (rtl.at("bytes_loaded").get<uint64_t>() +
                     rtl.at("bytes_stored").get<uint64_t>()) /
                        config.dram_bytes_per_cycle);
  std::printf("%s on %s: %lu cycles\n", c.model, c.config,
              static_cast<unsigned long>(cycles));
}

class Demo : public testing::TestWithParam<Case> {};

TEST_P(Demo, SameBytes) {
  TempFolder folder;
  MakeDigitsFolder(folder / "digits", 1);
  ExpectSame({Digits(std::string(GetParam().model) + ".onnx"), "--data",
              folder / "digits/test_data_set_0"},
             GetParam());
}

INSTANTIATE_TEST_SUITE_P(Digits, Demo,
                         testing::Values(Case{"digits_int8", "h256"},
                                         Case{"digits_fp32", "h256"},
                                         Case{"digits_int8", "h512"},
                                         Case{"digits_int8", "h1024"}),
                         Name);

class Shared : public testing::TestWithParam<Case> {};

TEST_P(Shared, SameBytes) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const std::string model =
      SharedPath("models/") + std::string(GetParam().model);
  ExpectSame({model + "/model.onnx", "--data", model + "/test_data_set_0"},
             GetParam());
}

INSTANTIATE_TEST_SUITE_P(Models, Shared,
                         testing::Values(Case{"mnist_tiny_int8", "h256"},
                                         Case{"mnist_tiny_fp32", "h256"},
                                         Case{"qtdnn", "h256"},
                                         Case{"mobilenetv2_qdq", "h256"}),
                         Name);

INSTANTIATE_TEST_SUITE_P(
    Nightly, Shared,
    testing::Values(Case{"mnist_tiny_int8", "h512", 60},
                    Case{"mobilenetv2_qdq", "h512", 60},
                    Case{"mnist_tiny_int8", "h1024", 60},
                    Case{"mobilenetv2_qdq", "h1024", 60},
                    Case{"mnist_cntk", "h256", 60},
                    Case{"cifar10_classifier_winml", "h256", 300},
                    Case{"squeezenet1_0_fp32_derived", "h256", 600},
                    Case{"squeezenet1_0_fp16", "h256", 600},
                    Case{"ultraface_slim_320", "h256", 600},
                    Case{"super_resolution_op9_derived", "h256", 600},
                    Case{"bert_tiny_mlm_structure", "h256", 600},
                    Case{"qdq_mobilenet_edgetpu_frag", "h256", 300}),
    Name);

}  // namespace
}  // namespace heddle::tests
