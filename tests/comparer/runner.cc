// SPDX-License-Identifier: Apache-2.0
#include "tests/comparer/runner.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::comparer {
namespace {

constexpr int kSuccess = 0x0000, kFallback = 0x0001;
constexpr size_t kGuard = 64;
constexpr char kPattern = '\xa5';

absl::Status Check(const char* function, int status) {
  if (status == kSuccess) return absl::OkStatus();
  return absl::UnknownError(
      absl::StrCat(function, " returned ", StatusName(status)));
}

TensorPlace PlaceOf(const Tensor& tensor, void* buffer) {
  TensorPlace place;
  place.name = tensor.name;
  place.type = tensor.type;
  place.shape.assign(tensor.shape.begin(), tensor.shape.end());
  place.buffer = buffer;
  return place;
}

// Memory of one output between two guards.
class Guarded {
 public:
  explicit Guarded(const Tensor& form)
      : size_(form.bytes.size()), memory_(size_ + 2 * kGuard, kPattern) {}
  void* data() { return &memory_[kGuard]; }
  std::string bytes() const { return memory_.substr(kGuard, size_); }
  bool intact() const {
    const std::string guard(kGuard, kPattern);
    return memory_.compare(0, kGuard, guard) == 0 &&
           memory_.compare(kGuard + size_, kGuard, guard) == 0;
  }

 private:
  size_t size_;
  std::string memory_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Runner>> Runner::Open(Api* api, size_t card) {
  auto runner = std::unique_ptr<Runner>(new Runner(api));
  absl::Status status =
      Check("onnxGetBackendIDs", api->GetBackendIds(&runner->ids_));
  if (!status.ok()) return status;
  if (card >= runner->ids_.size()) {
    return absl::NotFoundError(absl::StrCat("there is no card ", card,
                                            "; the library lists ",
                                            runner->ids_.size()));
  }
  status = Check("onnxInitBackend",
                 api->InitBackend(runner->ids_[card], &runner->backend_));
  if (!status.ok()) return status;
  return runner;
}

Runner::~Runner() { Close().IgnoreError(); }

absl::Status Runner::SetModel(const std::string& model) {
  const int status = TryModel(model);
  return status == kFallback ? absl::OkStatus()
                             : Check("onnxInitGraph", status);
}

int Runner::TryModel(const std::string& model) {
  if (graph_ != nullptr) {
    const int status = api_->ReleaseGraph(std::exchange(graph_, nullptr));
    if (status != kSuccess) return status;
  }
  return api_->InitGraph(backend_, model, &graph_);
}

absl::StatusOr<std::vector<Tensor>> Runner::Run(
    const std::vector<Tensor>& inputs, const std::vector<Tensor>& forms) {
  std::vector<Tensor> copies = inputs;
  std::vector<Guarded> memory;
  memory.reserve(forms.size());
  std::vector<TensorPlace> in, out;
  for (Tensor& input : copies) in.push_back(PlaceOf(input, &input.bytes[0]));
  for (const Tensor& form : forms) {
    memory.emplace_back(form);
    out.push_back(PlaceOf(form, memory.back().data()));
  }
  absl::Status status =
      Check("onnxSetGraphIO", api_->SetGraphIo(graph_, in, out));
  if (!status.ok()) return status;
  void* ready = nullptr;
  status = Check("onnxInitEvent", api_->InitEvent(backend_, &ready));
  if (!status.ok()) return status;
  void* done = nullptr;
  status = Check("onnxRunGraph", api_->RunGraph(graph_, ready, &done));
  // The run must wait for this.
  status.Update(Check("onnxSignalEvent", api_->SignalEvent(ready)));
  if (done != nullptr) {
    status.Update(Check("onnxWaitEvent", api_->WaitEvent(done)));
    status.Update(Check("onnxReleaseEvent", api_->ReleaseEvent(done)));
  }
  status.Update(Check("onnxReleaseEvent", api_->ReleaseEvent(ready)));
  if (!status.ok()) return status;

  std::vector<Tensor> outputs = forms;
  for (size_t i = 0; i < forms.size(); ++i) {
    if (!memory[i].intact()) {
      return absl::InternalError(absl::StrCat("memory beside the output ",
                                              forms[i].name, " was changed"));
    }
    outputs[i].bytes = memory[i].bytes();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (copies[i].bytes != inputs[i].bytes) {
      return absl::InternalError(
          absl::StrCat("the input ", inputs[i].name, " was changed"));
    }
  }
  return outputs;
}

absl::Status Runner::Close() {
  absl::Status status;
  if (graph_ != nullptr) {
    status.Update(Check("onnxReleaseGraph", api_->ReleaseGraph(graph_)));
  }
  if (backend_ != nullptr) {
    status.Update(Check("onnxReleaseBackend", api_->ReleaseBackend(backend_)));
  }
  for (void* id : ids_) {
    status.Update(Check("onnxReleaseBackendID", api_->ReleaseBackendId(id)));
  }
  graph_ = backend_ = nullptr;
  ids_.clear();
  return status;
}

}  // namespace heddle::comparer
