// SPDX-License-Identifier: Apache-2.0
// Every network of networks.h for every configuration and for SRAM from 12 KiB
// up, on the functional model with its race detector: the same bytes each time,
// and no race. None may be refused. With all of the SRAM also for a card that
// has room for a part of the weights only, where they are many. One test per
// network;
// `--networks=NAME,...`, `--sram=BYTES,...` (0: all of the configuration's) and
// `--weights=PERCENT,...` (that have room; 100: without a limit) choose. The
// time is the model's: minutes for most networks, an hour for the largest.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/networks.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

std::vector<std::string> networks = NetworkNames();
std::vector<uint64_t> sram_bytes = {0, 96 << 10, 32 << 10, 12 << 10};
std::vector<uint64_t> weight_percents = {100, 50};

class NetworkSweep : public testing::TestWithParam<std::string> {};

// Of smaller networks the pages of streams, and what waits between them, take
// more than the weights leave.
constexpr uint64_t kManyWeights = 2 << 20;

// Bytes of device memory in which so much of the weights has room beside what
// `options` make besides; 0 for small networks.
uint64_t DeviceMemory(const std::string& model, const CompileOptions& options,
                      uint64_t percent) {
  const auto whole = CompileOnnx(model, options);
  if (!whole.ok() || whole->report.weight_bytes < kManyWeights) return 0;
  const CompileReport& r = whole->report;
  return r.weight_bytes * percent / 100 + r.scratch_bytes + r.io_bytes +
         r.stream_bytes + 8 * package::kPageBytes;
}

TEST_P(NetworkSweep, EqualBytesForEveryCardAndMemory) {
  const std::string model = MakeNetwork(GetParam());
  ASSERT_FALSE(model.empty()) << "there is no network of this name";
  std::map<std::string, TensorData> expected;
  const auto run = [&](const CompileOptions& options) {
    auto result = CompileOnnx(model, options);
    ASSERT_TRUE(result.ok()) << result.status();
    auto package = package::Parse(result->package);
    ASSERT_TRUE(package.ok()) << package.status();
    std::vector<TensorData> inputs;
    for (const package::TensorInfo& info : package->inputs) {
      inputs.push_back(RandomData(info.type, info.shape, inputs.size() + 1));
    }
    model::Options model_options;
    model_options.detect_races = true;
    auto run = RunPackage(*package, inputs, model_options);
    ASSERT_TRUE(run.ok()) << run.status();
    for (const std::string& f : run->findings) {
      // Between the bytes that are kept from stream to stream.
      if (package->weight_plan.empty() ||
          f.find("which nothing has written") == std::string::npos) {
        ADD_FAILURE() << f;
      }
    }
    if (expected.empty()) expected = run->outputs;
    EXPECT_EQ(run->outputs.size(), expected.size());
    for (const auto& [name, data] : run->outputs) {
      EXPECT_TRUE(data.bytes == expected[name].bytes) << name;
    }
    std::printf(
        "%s %s %llu: %zu streams, %llu of %zu bytes copied, %.1f s\n",
        GetParam().c_str(), options.config.c_str(),
        static_cast<unsigned long long>(options.sram_bytes),
        package->streams.size(),
        static_cast<unsigned long long>(package->weight_plan.copied_bytes()),
        package->weights.size(), run->cpu_seconds);
    std::fflush(stdout);
  };
  for (const isa::Config& config : isa::kConfigs) {
    for (uint64_t sram : sram_bytes) {
      for (uint64_t percent : weight_percents) {
        if (percent < 100 && sram != 0) continue;
        SCOPED_TRACE(std::string(config.name) + " SRAM " +
                     std::to_string(sram) + " weights " +
                     std::to_string(percent) + " %");
        CompileOptions options;
        options.config = config.name;
        options.sram_bytes = sram;
        options.goal = Goal::kCompileTime;
        if (percent < 100) {
          options.device_memory_bytes = DeviceMemory(model, options, percent);
          if (options.device_memory_bytes == 0) continue;
        }
        run(options);
      }
    }
  }
}

}  // namespace

// False if an argument is neither ours nor GoogleTest's.
bool ReadArguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::pair<std::string, std::string> option =
        absl::StrSplit(argv[i], absl::MaxSplits('=', 1));
    if (option.first == "--networks") {
      networks = absl::StrSplit(option.second, ',');
    } else if (option.first == "--sram" || option.first == "--weights") {
      auto& numbers = option.first == "--sram" ? sram_bytes : weight_percents;
      numbers.clear();
      for (const auto& text : absl::StrSplit(option.second, ',')) {
        numbers.emplace_back();
        if (!absl::SimpleAtoi(text, &numbers.back())) return false;
      }
    } else if (option.first.rfind("--gtest_", 0) != 0) {
      return false;
    }
  }
  return true;
}

INSTANTIATE_TEST_SUITE_P(All, NetworkSweep, testing::ValuesIn(networks),
                         [](const auto& info) { return info.param; });

}  // namespace heddle::compiler

int main(int argc, char** argv) {
  // Before GoogleTest asks for the parameters.
  if (!heddle::compiler::ReadArguments(argc, argv)) {
    std::fprintf(stderr,
                 "usage: %s [--networks=NAME,...] [--sram=BYTES,...] "
                 "[--weights=PERCENT,...]\n",
                 argv[0]);
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
