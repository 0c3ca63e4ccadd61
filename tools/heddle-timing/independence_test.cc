// SPDX-License-Identifier: Apache-2.0
// On the RTL core: when commands begin and end does not depend on what they
// compute, which is what a timing record rests on.
//
//   independence_test [NETWORK | shared:MODEL ...]
//
// Each network runs on inputs that are zero, drawn, and of any bits (so with
// NaN, infinities and denormals), on a core that was reset and again behind
// itself: every command that the recorder calls exact must have the same times.
// What is called inexact is shown to be.
//
// First and second runs are not compared with each other. Who takes turns (the
// readers of the vector engine, hd_vec_ports; the masters of device memory,
// hd_mem_arbiter) goes on where an earlier stream stopped, so a second run can
// be some cycles off; how many is printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/compiler.h"
#include "compiler/import/input_declaration.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"
#include "simulator/rtl/core_model.h"
#include "tests/support/shared.h"
#include "tools/heddle-run/data.h"
#include "tools/heddle-timing/recorder.h"
#include "tools/heddle-timing/stream_commands.h"

namespace heddle::timing {
namespace {

using compiler::DataType;
using compiler::TensorData;

std::vector<std::string>* networks;

constexpr int64_t kTokens = 16;

// Open dimensions are a batch of one, or tokens.
package::Package Compile(const std::string& model) {
  compiler::CompileOptions options;
  for (const auto& input : compiler::DeclaredInputs(model)) {
    compiler::Shape shape = input.shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) shape[i] = i == 0 ? 1 : kTokens;
    }
    options.input_shapes[input.name] = shape;
  }
  const auto compiled = compiler::CompileOnnx(model, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? *package::Parse(compiled->package)
                       : package::Package();
}

class Rtl {
 public:
  explicit Rtl(const package::Package& package) : package_(package) {
    auto core = rtl::MakeCore(*isa::FindConfig(package.config));
    EXPECT_TRUE(core.ok()) << core.status();
    if (core.ok()) core_ = *std::move(core);
  }
  CoreRun Run(const std::vector<TensorData>& inputs) {
    if (core_ == nullptr) return {};
    auto run = RunAndRecord(package_, inputs, core_.get());
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *std::move(run) : CoreRun();
  }

 private:
  const package::Package& package_;
  std::unique_ptr<rtl::CoreModel> core_;
};

enum class Values { kZero, kDrawn, kOtherDrawn, kAnyBits };

std::vector<TensorData> Inputs(const package::Package& package, Values values) {
  std::vector<TensorData> inputs;
  for (const package::TensorInfo& info : package.inputs) {
    const uint64_t seed = 10 * static_cast<uint64_t>(values) + inputs.size();
    inputs.push_back(run::RandomTensor(info, seed));
    TensorData& data = inputs.back();
    if (values == Values::kZero)
      data = TensorData::Zeros(info.type, info.shape);
    // Integers may be indices: out of range they are a fault, not a value.
    const bool any = info.type == DataType::kFloat ||
                     info.type == DataType::kUint8 ||
                     info.type == DataType::kInt8;
    if (values != Values::kAnyBits || !any) continue;
    std::mt19937 random(static_cast<uint32_t>(seed));
    for (size_t i = 0; i < data.bytes.size(); ++i) {
      data.bytes.data()[i] = static_cast<uint8_t>(random() >> 8);
    }
  }
  return inputs;
}

// How many commands are inexact; all others have the same times in both runs.
size_t CompareExact(const CoreRun& a, const CoreRun& b,
                    const std::string& what) {
  size_t inexact = 0;
  EXPECT_EQ(a.streams.size(), b.streams.size());
  if (a.streams.size() != b.streams.size()) return 0;
  for (size_t s = 0; s < a.streams.size(); ++s) {
    const RecordedStream& x = a.streams[s];
    const RecordedStream& y = b.streams[s];
    EXPECT_FALSE(x.commands.empty());
    EXPECT_EQ(x.commands.size(), y.commands.size());
    size_t in_stream = 0;
    for (size_t i = 0; i < std::min(x.commands.size(), y.commands.size());
         ++i) {
      if (x.commands[i].inexact || y.commands[i].inexact) {
        ++in_stream;
        continue;
      }
      EXPECT_TRUE(x.commands[i] == y.commands[i])
          << what << ", stream " << s << ", offset " << x.commands[i].offset
          << ": " << x.commands[i].begin << " to " << x.commands[i].end
          << " and " << y.commands[i].begin << " to " << y.commands[i].end;
    }
    if (in_stream == 0) {
      EXPECT_EQ(x.cycles, y.cycles) << what;
    }
    inexact += in_stream;
  }
  return inexact;
}

void ExpectIndependent(const std::string& what, const package::Package& package,
                       bool has_inexact = false) {
  const std::vector<Values> all = {Values::kZero, Values::kDrawn,
                                   Values::kOtherDrawn, Values::kAnyBits};
  CoreRun first, second;
  for (size_t i = 0; i < all.size(); ++i) {
    Rtl rtl(package);
    CoreRun run = rtl.Run(Inputs(package, all[i]));
    CoreRun again = rtl.Run(Inputs(package, all[(i + 1) % all.size()]));
    if (i == 0) {
      first = std::move(run);
      second = std::move(again);
      continue;
    }
    EXPECT_EQ(CompareExact(first, run, what) > 0, has_inexact) << what;
    EXPECT_EQ(CompareExact(second, again, what) > 0, has_inexact) << what;
  }
  std::printf("%s: %llu cycles, behind itself %+lld\n", what.c_str(),
              static_cast<unsigned long long>(first.cycles),
              static_cast<long long>(second.cycles - first.cycles));
}

TEST(Independence, Networks) {
  ASSERT_FALSE(networks->empty());
  for (std::string name : *networks) {
    if (absl::StartsWith(name, "shared:")) {
      HEDDLE_SKIP_WITHOUT_SHARED();
      name = tests::SharedPath(absl::StrCat(
          "models/", absl::StripPrefix(name, "shared:"), "/model.onnx"));
    }
    const auto model = compiler::NetworkOrFile(name);
    ASSERT_TRUE(model.ok()) << model.status();
    const package::Package package = Compile(*model);
    bool by_index = false;
    for (const auto& words : package.streams) {
      const auto commands = EngineCommands(words);
      ASSERT_TRUE(commands.ok());
      for (const StreamCommand& c : *commands) by_index |= c.by_index;
    }
    ExpectIndependent(name, package, by_index);
  }
}

// Iterative units, and microprograms that select.
TEST(Independence, DivisionsRootsAndFunctions) {
  compiler::ModelBuilder b;
  const compiler::Shape shape = {4, 50};
  b.Input("x", DataType::kFloat, shape);
  b.Input("y", DataType::kFloat, shape);
  b.Node("Div", {"x", "y"}, {"quotient"});
  b.Node("Sqrt", {"y"}, {"root"});
  b.Node("Exp", {"x"}, {"exponential"});
  b.Node("Pow", {"x", "y"}, {"power"});
  b.Node("Softmax", {"x"}, {"softmax"});
  for (const char* name :
       {"quotient", "root", "exponential", "power", "softmax"}) {
    b.Output(name, DataType::kFloat, shape);
  }
  ExpectIndependent("functions", Compile(b.Bytes()));
}

TensorData Indices(int32_t first, int32_t step) {
  std::vector<int32_t> values;
  for (int32_t i = 0; i < 48; ++i) values.push_back((first + i * step) % 200);
  return compiler::Int32s({48}, values);
}

// A table of rows of 72 bytes: some begin and end within a beat more than
// others, some cross a page.
TEST(Independence, RowsByIndexFromDeviceMemoryAreNot) {
  compiler::ModelBuilder b;
  b.Input("i", DataType::kInt32, {48});
  b.Constant("table",
             compiler::Floats({200, 18}, std::vector<float>(200 * 18, 1)));
  b.Node("Gather", {"table", "i"}, {"rows"});
  b.Node("Exp", {"rows"}, {"y"});
  b.Output("y", DataType::kFloat, {48, 18});
  const package::Package package = Compile(b.Bytes());
  const CoreRun first = Rtl(package).Run({Indices(0, 0)});
  const CoreRun other = Rtl(package).Run({Indices(3, 7)});
  EXPECT_GT(CompareExact(first, other, "load.gather"), 0u);
  EXPECT_FALSE(first.streams == other.streams);
  // It is the indices' doing.
  EXPECT_TRUE(Rtl(package).Run({Indices(0, 0)}).streams == first.streams);
}

// One in SRAM: lanes that read words of one bank wait for each other.
TEST(Independence, RowsByIndexFromSramAreNot) {
  compiler::ModelBuilder b;
  b.Input("x", DataType::kFloat, {200, 16});
  b.Input("i", DataType::kInt32, {48});
  b.Node("Relu", {"x"}, {"table"});
  b.Node("Gather", {"table", "i"}, {"y"});
  b.Output("y", DataType::kFloat, {48, 16});
  const package::Package package = Compile(b.Bytes());
  const auto inputs = [&package](TensorData indices) {
    std::vector<TensorData> all = Inputs(package, Values::kDrawn);
    for (size_t i = 0; i < all.size(); ++i) {
      if (package.inputs[i].name == "i") all[i] = indices;
    }
    return all;
  };
  const CoreRun first = Rtl(package).Run(inputs(Indices(0, 0)));
  const CoreRun other = Rtl(package).Run(inputs(Indices(3, 7)));
  EXPECT_GT(CompareExact(first, other, "vrun"), 0u);
  EXPECT_FALSE(first.streams == other.streams);
  // It is the indices' doing.
  EXPECT_TRUE(Rtl(package).Run(inputs(Indices(0, 0))).streams == first.streams);
}

}  // namespace
}  // namespace heddle::timing

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> names(argv + 1, argv + argc);
  heddle::timing::networks = &names;
  return RUN_ALL_TESTS();
}
