// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/padded_graph.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::session {
namespace {

// The bytes of a tensor as `outer` rows, of which the first `real` of `padded`
// bytes are the caller's.
struct Layout {
  size_t outer = 1, real = 0, padded = 0;
  size_t step = 0;  // bytes of one index
};

Layout LayoutOf(const package::TensorInfo& whole, const PaddedAxis& axis) {
  Layout layout;
  layout.step = compiler::ElementBytes(whole.type);
  for (size_t i = 0; i < whole.shape.size(); ++i) {
    if (static_cast<int>(i) < axis.axis) layout.outer *= whole.shape[i];
    if (static_cast<int>(i) > axis.axis) layout.step *= whole.shape[i];
  }
  layout.real = layout.step * axis.size;
  layout.padded = layout.step * whole.shape[axis.axis];
  return layout;
}

// What a run works with, and where its results go.
class Storage {
 public:
  void* AddInput(const void* from, const Layout& layout) {
    std::vector<uint8_t>& to = buffers_.emplace_back();
    to.resize(layout.outer * layout.padded);
    copied_ += to.size();
    for (size_t o = 0; o < layout.outer; ++o) {
      const uint8_t* row = static_cast<const uint8_t*>(from) + o * layout.real;
      uint8_t* const begin = to.data() + o * layout.padded;
      std::memcpy(begin, row, layout.real);
      for (size_t at = layout.real; at < layout.padded; at += layout.step) {
        std::memcpy(begin + at, row + layout.real - layout.step, layout.step);
      }
    }
    return to.data();
  }
  void* AddOutput(const TensorBuffer& to, const Layout& layout) {
    std::vector<uint8_t>& from = buffers_.emplace_back();
    from.resize(layout.outer * layout.padded);
    outputs_.push_back({to.data, from.data(), layout});
    if (to.host != nullptr) hosts_.push_back(to.host);
    copied_ += layout.outer * layout.real;
    return from.data();
  }
  // Bytes from and to the caller's memory, once it is cut.
  uint64_t copied() const { return copied_; }
  // Once: whoever learns first that the run is over.
  void Cut() {
    std::call_once(cut_, [this] {
      for (const Output& output : outputs_) {
        for (size_t o = 0; o < output.layout.outer; ++o) {
          std::memcpy(static_cast<uint8_t*>(output.to) + o * output.layout.real,
                      output.from + o * output.layout.padded,
                      output.layout.real);
        }
      }
    });
  }

 private:
  struct Output {
    void* to;
    const uint8_t* from;
    Layout layout;
  };
  std::vector<std::vector<uint8_t>> buffers_;
  std::vector<Output> outputs_;
  std::vector<std::shared_ptr<HostBuffer>> hosts_;  // of outputs
  uint64_t copied_ = 0;
  std::once_flag cut_;
};

class PaddedRun : public Run {
 public:
  PaddedRun(std::shared_ptr<Run> run, std::shared_ptr<Storage> storage)
      : run_(std::move(run)), storage_(std::move(storage)) {}
  // The caller's outputs are not written behind this.
  ~PaddedRun() override { (void)PaddedRun::Wait(absl::InfiniteFuture()); }
  absl::Status Wait(absl::Time deadline) override {
    absl::Status status = run_->Wait(deadline);
    if (status.ok()) storage_->Cut();
    return status;
  }
  void Cancel() override { run_->Cancel(); }
  RunStatistics statistics() const override {
    RunStatistics statistics = run_->statistics();
    statistics.bytes_by_host += storage_->copied();
    return statistics;
  }
  absl::StatusOr<RunTrace> trace() const override { return run_->trace(); }
  std::optional<compiler::Shape> OutputShape(
      const std::string& name) const override {
    return run_->OutputShape(name);
  }

 private:
  const std::shared_ptr<Run> run_;
  const std::shared_ptr<Storage> storage_;
};

class PaddedGraph : public Graph {
 public:
  using Graph::Start;
  PaddedGraph(std::shared_ptr<Graph> graph, std::vector<PaddedAxis> inputs,
              std::vector<PaddedAxis> outputs)
      : graph_(std::move(graph)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        package_(graph_->package()) {
    Shrink(inputs_, &package_.inputs);
    Shrink(outputs_, &package_.outputs);
    package_.taps.clear();
  }
  const package::Package& package() const override { return package_; }
  uint64_t device_bytes() const override { return graph_->device_bytes(); }
  uint64_t BoundedAxes(const std::string& output) const override {
    return graph_->BoundedAxes(output);
  }

  absl::StatusOr<std::shared_ptr<Run>> Start(
      const std::vector<TensorBuffer>& inputs,
      const std::vector<TensorBuffer>& outputs,
      std::function<void(const absl::Status&)> done,
      const RunOptions& options) override {
    auto storage = std::make_shared<Storage>();
    std::vector<TensorBuffer> in = inputs, out = outputs;
    for (const bool input : {true, false}) {
      for (TensorBuffer& buffer : input ? in : out) {
        const absl::Status status = Replace(input, storage.get(), &buffer);
        if (!status.ok()) return status;
      }
    }
    auto run = graph_->Start(
        in, out,
        [storage, done = std::move(done)](const absl::Status& status) {
          if (status.ok()) storage->Cut();
          if (done != nullptr) done(status);
        },
        options);
    if (!run.ok()) return run.status();
    return std::shared_ptr<Run>(
        std::make_shared<PaddedRun>(*std::move(run), std::move(storage)));
  }

 private:
  static void Shrink(const std::vector<PaddedAxis>& axes,
                     std::vector<package::TensorInfo>* tensors) {
    for (size_t i = 0; i < tensors->size(); ++i) {
      if (axes[i].axis < 0) continue;
      package::TensorInfo& tensor = (*tensors)[i];
      tensor.shape[axes[i].axis] = axes[i].size;
      tensor.size =
          static_cast<uint64_t>(compiler::ElementCount(tensor.shape)) *
          compiler::ElementBytes(tensor.type);
    }
  }

  // The caller's buffer by one of the whole's size. What is wrong with names
  // and other sizes the graph says.
  absl::Status Replace(bool input, Storage* storage, TensorBuffer* buffer) {
    const auto& mine = input ? package_.inputs : package_.outputs;
    const auto& whole =
        input ? graph_->package().inputs : graph_->package().outputs;
    for (size_t i = 0; i < mine.size(); ++i) {
      const PaddedAxis& axis = input ? inputs_[i] : outputs_[i];
      if (mine[i].name != buffer->name || axis.axis < 0) continue;
      const std::string name =
          absl::StrCat(input ? "input '" : "output '", buffer->name, "' ");
      if (buffer->resident != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(name, "cannot be resident: its dimension ", axis.axis,
                         " is padded; compile the model for ",
                         compiler::ShapeToString(mine[i].shape)));
      }
      if (buffer->size != mine[i].size) {
        return absl::InvalidArgumentError(absl::StrCat(
            name, "has ", buffer->size, " bytes; ",
            compiler::ShapeToString(mine[i].shape), " are ", mine[i].size));
      }
      const Layout layout = LayoutOf(whole[i], axis);
      buffer->data = input ? storage->AddInput(buffer->data, layout)
                           : storage->AddOutput(*buffer, layout);
      buffer->size = whole[i].size;
      buffer->host = nullptr;
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<Graph> graph_;
  const std::vector<PaddedAxis> inputs_, outputs_;
  package::Package package_;
};

}  // namespace

std::shared_ptr<Graph> MakePaddedGraph(std::shared_ptr<Graph> graph,
                                       std::vector<PaddedAxis> inputs,
                                       std::vector<PaddedAxis> outputs) {
  return std::make_shared<PaddedGraph>(std::move(graph), std::move(inputs),
                                       std::move(outputs));
}

}  // namespace heddle::session
