// SPDX-License-Identifier: Apache-2.0
// Recurrent models of ../shared as a stream of 50 steps whose state stays on
// the card, and whose other tensors are in memory that the card reaches: no
// step waits for the host or copies but what the card transfers, and every
// output has the bytes that it has when the host carries the state from step to
// step. Also with their nodes on the host: the state is transferred, and a step
// begins before the last one has ended.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/onnx_files.h"
#include "rtl/spec/generated/isa.h"
#include "runtime/session/session.h"
#include "runtime/session/test_card.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

using compiler::NamedTensor;
using session::TensorBuffer;
using Bytes = std::vector<uint8_t>;

constexpr int kSteps = 50;

struct Recurrent {
  const char *model, *state_in, *state_out;
};
void PrintTo(const Recurrent& r, std::ostream* os) { *os << r.model; }

// On a configuration, with nodes where they pay or on the host.
using Case = std::tuple<Recurrent, std::string, compiler::Placement>;

std::vector<std::string> Configs() {
  std::vector<std::string> names;
  for (const isa::Config& config : isa::kConfigs) names.push_back(config.name);
  return names;
}

class RecurrentStream : public testing::TestWithParam<Case> {
 protected:
  // Compiles the model for the shapes of its data.
  void Load() {
    const auto& [recurrent, config, placement] = GetParam();
    const std::string folder =
        SharedPath(absl::StrCat("models/", recurrent.model, "/"));
    const auto onnx = compiler::ReadFile(folder + "model.onnx");
    ASSERT_TRUE(onnx.ok()) << onnx.status();
    compiler::CompileOptions options;
    options.config = config;
    options.host_nodes = placement == compiler::Placement::kHost;
    options.placement = placement;
    for (int set = 0; set < 3; ++set) {
      auto data = compiler::ReadTensorFiles(
          absl::StrCat(folder, "test_data_set_", set), "input_");
      ASSERT_TRUE(data.ok()) << data.status();
      for (const NamedTensor& t : *data) {
        options.input_shapes[t.name] = t.data.shape;
        given_[t.name].push_back(t.data.bytes.ToVector());
      }
    }
    const auto compiled = compiler::CompileOnnx(*onnx, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    device_ = session::OpenSim("config=" + config);
    ASSERT_NE(device_, nullptr);
    auto graph = session::LoadGraph(device_, compiled->package);
    ASSERT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
    ASSERT_EQ(graph_->package().segments.empty(),
              placement == compiler::Placement::kCost);
    state_[recurrent.state_in] = recurrent.state_out;
    for (const auto& output : graph_->package().outputs) {
      sizes_[output.name] = static_cast<size_t>(
          compiler::ElementCount(output.shape) *
          static_cast<int64_t>(compiler::ElementBytes(output.type)));
    }
    ASSERT_EQ(given_.count(recurrent.state_in), 1u);
    ASSERT_EQ(sizes_.count(recurrent.state_out), 1u);
    ASSERT_LT(state_.size(), sizes_.size());
  }

  // What is given to step i, state aside.
  std::vector<TensorBuffer> InputsOf(int i) {
    std::vector<TensorBuffer> inputs;
    for (auto& [name, sets] : given_) {
      if (state_.count(name) != 0) continue;
      Bytes& bytes = sets[static_cast<size_t>(i) % sets.size()];
      inputs.push_back({name, bytes.data(), bytes.size()});
    }
    return inputs;
  }
  // Room for the outputs of a step, state aside.
  std::vector<TensorBuffer> OutputsOf(std::map<std::string, Bytes>* room) {
    std::vector<TensorBuffer> outputs;
    for (const auto& [name, size] : sizes_) {
      bool is_state = false;
      for (const auto& [in, out] : state_) is_state = is_state || out == name;
      if (is_state) continue;
      Bytes& bytes = (*room)[name];
      bytes.resize(size);
      outputs.push_back({name, bytes.data(), size});
    }
    return outputs;
  }

  // The same bytes, in memory that the card reaches.
  void MoveToHostBuffer(TensorBuffer* buffer) {
    auto host = session::MakeHostBuffer(device_, buffer->size);
    ASSERT_TRUE(host.ok()) << host.status();
    std::memcpy((*host)->data(), buffer->data, buffer->size);
    buffer->data = (*host)->data();
    buffer->host = *host;
  }

  std::map<std::string, std::vector<Bytes>> given_;  // of each data set
  std::map<std::string, std::string> state_;         // input to output
  std::map<std::string, size_t> sizes_;              // of outputs
  std::shared_ptr<session::Device> device_;
  std::shared_ptr<session::Graph> graph_;
};

TEST_P(RecurrentStream, HasTheBytesOfStepsByTheHost) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  ASSERT_NO_FATAL_FAILURE(Load());
  // The host carries the state, from 0 on.
  std::map<std::string, Bytes> carried;
  for (const auto& [in, out] : state_) carried[in].resize(sizes_.at(out));
  std::vector<std::map<std::string, Bytes>> expected(kSteps);
  for (int i = 0; i < kSteps; ++i) {
    std::map<std::string, Bytes> next;
    auto inputs = InputsOf(i);
    auto outputs = OutputsOf(&expected[static_cast<size_t>(i)]);
    for (const auto& [in, out] : state_) {
      inputs.push_back({in, carried[in].data(), carried[in].size()});
      next[in].resize(sizes_.at(out));
      outputs.push_back({out, next[in].data(), next[in].size()});
    }
    auto run = graph_->Start(inputs, outputs, nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    const absl::Status end = (*run)->Wait(absl::Now() + absl::Minutes(2));
    ASSERT_TRUE(end.ok()) << end;
    carried = std::move(next);
  }
  // The card does.
  std::map<std::string, std::shared_ptr<session::Resident>> kept;
  for (const auto& [in, out] : state_) {
    auto resident = session::MakeResident(device_, sizes_.at(out));
    ASSERT_TRUE(resident.ok()) << resident.status();
    kept[in] = *resident;
  }
  std::vector<std::map<std::string, Bytes>> streamed(kSteps);
  std::vector<std::vector<TensorBuffer>> bound(kSteps);  // outputs
  std::vector<std::shared_ptr<session::Run>> runs;
  uint64_t bytes_in = 0, bytes_out = 0, by_host = 0, state = 0;  // of a step
  for (const auto& [in, bytes] : carried) state += bytes.size();
  for (int i = 0; i < kSteps; ++i) {
    auto inputs = InputsOf(i);
    auto outputs = OutputsOf(&streamed[static_cast<size_t>(i)]);
    bytes_in = bytes_out = by_host = 0;
    for (TensorBuffer& x : inputs) {
      ASSERT_NO_FATAL_FAILURE(MoveToHostBuffer(&x));
      bytes_in += x.size;
      for (const auto& t : graph_->package().inputs) {
        // The host looks at its values.
        if (t.name == x.name && t.type == compiler::DataType::kInt64) {
          by_host += x.size;
        }
      }
    }
    for (TensorBuffer& y : outputs) {
      ASSERT_NO_FATAL_FAILURE(MoveToHostBuffer(&y));
      bytes_out += y.size;
    }
    bound[static_cast<size_t>(i)] = outputs;
    for (const auto& [in, out] : state_) {
      inputs.push_back({in, nullptr, kept[in]->size(), kept[in]});
      outputs.push_back({out, nullptr, kept[in]->size(), kept[in]});
    }
    auto run = graph_->Start(inputs, outputs, nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    runs.push_back(*std::move(run));
  }
  for (const auto& run : runs) {
    const absl::Status end = run->Wait(absl::Now() + absl::Minutes(2));
    ASSERT_TRUE(end.ok()) << end;
    if (!graph_->package().segments.empty()) continue;
    EXPECT_EQ(run->statistics().bytes_in, bytes_in);
    EXPECT_EQ(run->statistics().bytes_out, bytes_out);
    EXPECT_EQ(run->statistics().bytes_by_host, by_host);
    EXPECT_EQ(run->statistics().bytes_on_card, 2 * state);
  }
  for (size_t i = 0; i < bound.size(); ++i) {
    for (const TensorBuffer& y : bound[i]) {
      std::memcpy(streamed[i][y.name].data(), y.data, y.size);
    }
  }
  for (int i = 0; i < kSteps; ++i) {
    EXPECT_EQ(streamed[static_cast<size_t>(i)],
              expected[static_cast<size_t>(i)])
        << "step " << i;
  }
  bool moved = false;
  for (const auto& [in, bytes] : carried) {
    Bytes last(bytes.size());
    ASSERT_TRUE(kept[in]->Read(last.data(), last.size()).ok());
    EXPECT_EQ(last, bytes) << in;
    moved = moved || last != Bytes(last.size());
  }
  EXPECT_TRUE(moved) << "a state that is 0 shows nothing";
}

const Recurrent kModels[] = {{"dtln_1", "input_3", "tf_op_layer_stack_2"},
                             {"silero_vad_16k", "state", "stateN"}};

INSTANTIATE_TEST_SUITE_P(
    Models, RecurrentStream,
    testing::Combine(testing::ValuesIn(kModels), testing::ValuesIn(Configs()),
                     testing::Values(compiler::Placement::kCost)),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).model, "_",
                          std::get<1>(info.param));
    });
INSTANTIATE_TEST_SUITE_P(
    OnTheHost, RecurrentStream,
    testing::Combine(testing::ValuesIn(kModels), testing::Values("h256"),
                     testing::Values(compiler::Placement::kHost)),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).model, "_",
                          std::get<1>(info.param));
    });

}  // namespace
}  // namespace heddle::tests
