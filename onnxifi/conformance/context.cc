// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/context.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace heddle::conformance {
namespace {

constexpr BinaryOperator kOperators[] = {
    {"Add", [](float a, float b) { return a + b; }},
    {"Mul", [](float a, float b) { return a * b; }},
    {"Sub", [](float a, float b) { return a - b; }},
    {"Max", [](float a, float b) { return std::max(a, b); }},
};

// Models are of this opset, where the backend has it: in it, operators that
// broadcast do so as they do today.
constexpr int64_t kOpset = 7;

std::string Join(std::initializer_list<onnxStatus> statuses) {
  std::string text;
  for (onnxStatus status : statuses) {
    absl::StrAppend(&text, text.empty() ? "" : " or ", StatusName(status));
  }
  return text;
}

template <typename T>
void Remove(std::vector<T>* from, T value) {
  from->erase(std::remove(from->begin(), from->end(), value), from->end());
}

}  // namespace

Tensor::Tensor(std::string name, std::vector<uint64_t> shape)
    : name(std::move(name)), shape(std::move(shape)) {
  size_t elements = 1;
  for (uint64_t dim : this->shape) elements *= dim;
  data.resize(elements);
}

Descriptor Tensor::Describe() {
  Descriptor d;
  d.name = name.c_str();
  d.dimensions = static_cast<uint32_t>(shape.size());
  d.shape = shape.empty() ? nullptr : shape.data();
  d.buffer = reinterpret_cast<uint64_t>(data.data());
  return d;
}

onnxMemoryFenceV1 EventFence(onnxEvent event) {
  onnxMemoryFenceV1 fence = {};
  fence.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
  fence.type = ONNXIFI_SYNCHRONIZATION_EVENT;
  fence.event = event;
  return fence;
}

Context::Context(Library* library, Record* record, uint64_t seed,
                 std::string library_path, Provoker provoker)
    : library_(library),
      record_(record),
      seed_(seed),
      library_path_(std::move(library_path)),
      provoker_(std::move(provoker)),
      random_(seed) {}

bool Context::Check(bool holds, const std::string& what) {
  ++record_->checks;
  if (!holds) {
    ++record_->failures;
    AddLine(record_, 'F', what.data(), what.size());
  }
  return holds;
}

bool Context::Rule(bool holds, const std::string& what) {
  ++record_->checks;
  if (!holds) {
    ++record_->warnings;
    AddLine(record_, 'W', what.data(), what.size());
  }
  return holds;
}

bool Context::Expect(onnxStatus got, std::initializer_list<onnxStatus> allowed,
                     const std::string& what) {
  const bool holds =
      std::find(allowed.begin(), allowed.end(), got) != allowed.end();
  return Check(holds, holds ? std::string()
                            : absl::StrCat(what, " returned ", StatusName(got),
                                           ", not ", Join(allowed)));
}

bool Context::ExpectRule(onnxStatus got,
                         std::initializer_list<onnxStatus> allowed,
                         const std::string& what) {
  const bool holds =
      std::find(allowed.begin(), allowed.end(), got) != allowed.end();
  return Rule(holds, holds ? std::string()
                           : absl::StrCat(what, " returned ", StatusName(got),
                                          ", not ", Join(allowed)));
}

void Context::Note(const std::string& what) {
  AddLine(record_, 'N', what.data(), what.size());
}

void Context::End() {
  record_->done = 1;
  _exit(0);
}

void Context::Fail(const std::string& what) {
  Check(false, what);
  End();
}

void Context::NoDevice(const std::string& what) {
  record_->no_device = 1;
  Fail(what);
}

void Context::NeedDevice() {
  if (lists_device_) return;
  record_->not_run = 1;
  End();
}

void Context::Unsupported(const std::string& excuse) {
  ++record_->not_supported;
  AddLine(record_, 'U', excuse.data(), excuse.size());
  End();
}

void Context::Provoke(const std::string& word, uint64_t amount) {
  std::string why;
  switch (provoker_.Do(word, amount, &why)) {
    case Provoker::kDone:
    case Provoker::kNothing:
      return;
    case Provoker::kLacks:
      Unsupported(why);
    case Provoker::kFailed:
      Fail(why);
  }
}

bool Context::Spare() {
  static const std::string kSpare = "spare";
  std::string why;
  const Provoker::Result result = provoker_.Do(kSpare, 0, &why);
  if (result == Provoker::kFailed || result == Provoker::kLacks) Fail(why);
  return result == Provoker::kDone;
}

void Context::NeedCapability(uint64_t bit, const char* name) {
  if (!Has(bit)) Unsupported(absl::StrCat(name, " is not advertised"));
}

const std::vector<onnxBackendID>& Context::ids() {
  if (!ids_.empty()) return ids_;
  NeedDevice();
  size_t count = 0;
  onnxStatus status = library_->GetBackendIDs(nullptr, &count);
  if (status != ONNXIFI_STATUS_FALLBACK && status != ONNXIFI_STATUS_SUCCESS) {
    NoDevice(absl::StrCat("onnxGetBackendIDs(NULL, &n) returned ",
                          StatusName(status)));
  }
  if (count == 0) NoDevice("the library lists no device");
  // A device may come between the two calls.
  count += 8;
  std::vector<onnxBackendID> ids(count);
  status = library_->GetBackendIDs(ids.data(), &count);
  if (status != ONNXIFI_STATUS_SUCCESS || count == 0 || count > ids.size()) {
    NoDevice(absl::StrCat("onnxGetBackendIDs with room enough returned ",
                          StatusName(status), " and ", count, " devices"));
  }
  ids.resize(count);
  for (onnxBackendID id : ids) Keep(id);
  ids_ = std::move(ids);
  return ids_;
}

onnxBackend Context::NewBackend() {
  onnxBackend backend = nullptr;
  const onnxStatus status = library_->InitBackend(id(), nullptr, &backend);
  if (status != ONNXIFI_STATUS_SUCCESS || backend == nullptr) {
    NoDevice(absl::StrCat("onnxInitBackend without properties returned ",
                          StatusName(status)));
  }
  backends_.push_back(backend);
  return backend;
}

onnxBackend Context::backend() {
  if (backend_ == nullptr) backend_ = NewBackend();
  return backend_;
}

onnxEvent Context::NewEvent(onnxBackend of) {
  onnxEvent event = nullptr;
  const onnxStatus status =
      library_->InitEvent(of != nullptr ? of : backend(), &event);
  if (status != ONNXIFI_STATUS_SUCCESS || event == nullptr) {
    Fail(absl::StrCat("onnxInitEvent returned ", StatusName(status)));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  KeepEvent(event);
  return event;
}

onnxEventState Context::StateOf(onnxEvent event) {
  onnxEventState state = ONNXIFI_EVENT_STATE_INVALID;
  Expect(library_->GetEventState(event, &state), {ONNXIFI_STATUS_SUCCESS},
         "onnxGetEventState");
  return state;
}

std::string Context::Info(onnxBackendInfo info) {
  size_t size = 0;
  onnxStatus status = library_->GetBackendInfo(id(), info, nullptr, &size);
  if (status != ONNXIFI_STATUS_FALLBACK || size > (1 << 20)) {
    Fail(absl::StrCat("onnxGetBackendInfo(", info, ") without memory returned ",
                      StatusName(status), " and the size ", size));
  }
  std::string value(size, '\0');
  status = library_->GetBackendInfo(id(), info, &value[0], &size);
  if (status != ONNXIFI_STATUS_SUCCESS || size > value.size()) {
    Fail(absl::StrCat("onnxGetBackendInfo(", info, ") returned ",
                      StatusName(status), " and the size ", size, " of ",
                      value.size()));
  }
  value.resize(size);
  return value;
}

std::string Context::InfoText(onnxBackendInfo info) {
  std::string text = Info(info);
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

uint64_t Context::InfoNumber(onnxBackendInfo info) {
  const std::string value = Info(info);
  if (value.size() != sizeof(uint64_t)) {
    Fail(absl::StrCat("onnxGetBackendInfo(", info, ") has ", value.size(),
                      " bytes, not 8"));
  }
  uint64_t number;
  std::memcpy(&number, value.data(), sizeof(number));
  return number;
}

bool Context::Has(uint64_t capability) {
  return (InfoNumber(ONNXIFI_BACKEND_CAPABILITIES) & capability) == capability;
}

std::vector<int64_t> Context::IrVersions() {
  std::vector<int64_t> versions;
  for (absl::string_view word :
       absl::StrSplit(InfoText(ONNXIFI_BACKEND_ONNX_IR_VERSION), ' ')) {
    int64_t version = 0;
    if (!absl::SimpleAtoi(word, &version)) {
      Fail(absl::StrCat("ONNXIFI_BACKEND_ONNX_IR_VERSION has \"", word,
                        "\", which is not a version"));
    }
    versions.push_back(version);
  }
  return versions;
}

int64_t Context::MaxOpset() {
  for (absl::string_view word :
       absl::StrSplit(InfoText(ONNXIFI_BACKEND_OPSET_VERSION), ' ')) {
    int64_t version = 0;
    if (absl::ConsumePrefix(&word, "ai.onnx:") &&
        absl::SimpleAtoi(word, &version)) {
      return version;
    }
  }
  Fail("ONNXIFI_BACKEND_OPSET_VERSION has no ai.onnx:VERSION");
}

Model Context::NewModel() {
  Model model;
  const std::vector<int64_t> versions = IrVersions();
  const bool has_default = std::find(versions.begin(), versions.end(),
                                     model.ir_version) != versions.end();
  if (!has_default) model.ir_version = versions.back();
  model.opset = std::min(kOpset, MaxOpset());
  return model;
}

const BinaryOperator& Context::op() {
  if (op_ != nullptr) return *op_;
  std::string tried;
  for (const BinaryOperator& candidate : kOperators) {
    op_ = &candidate;
    const onnxStatus status = Compatibility(Elementwise({2, 3}).Serialize());
    if (status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK) {
      return *op_;
    }
    absl::StrAppend(&tried, " ", candidate.name, " (", StatusName(status), ")");
  }
  op_ = nullptr;
  Unsupported(absl::StrCat(
      "onnxGetBackendCompatibility rejects each operator that the kit makes "
      "graphs of:",
      tried));
}

Model Context::Elementwise(const std::vector<Dim>& shape) {
  Model model = NewModel();
  model.nodes = {{op().name, {"x", "z"}, {"y"}, "", {}}};
  model.inputs = {{"x", shape}, {"z", shape}};
  model.outputs = {{"y", shape}};
  return model;
}

Model Context::Weighted(const std::vector<Dim>& shape) {
  Model model = NewModel();
  model.nodes = {{op().name, {"x", "w"}, {"y"}, "", {}}};
  model.inputs = {{"x", shape}, {"w", shape}};
  model.outputs = {{"y", shape}};
  return model;
}

onnxStatus Context::Compatibility(const std::string& model) {
  return library_->GetBackendCompatibility(id(), model.size(), model.data());
}

onnxStatus Context::TryGraph(const std::string& model, onnxGraph* graph,
                             const std::vector<Descriptor>& weights) {
  const DescriptorArray array(abi(), weights);
  *graph = CanaryPointer();
  const onnxStatus status =
      library_->InitGraph(backend(), nullptr, model.size(), model.data(),
                          array.size(), array.data(), graph);
  const bool made =
      status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK;
  if (made) {
    Check(*graph != nullptr && *graph != CanaryPointer(),
          "onnxInitGraph succeeded and stored no graph");
    KeepGraph(*graph);
  } else {
    Check(*graph == nullptr,
          absl::StrCat("onnxInitGraph returned ", StatusName(status),
                       " and did not set the handle to NULL"));
    *graph = nullptr;
  }
  return status;
}

onnxGraph Context::NewGraph(const std::string& model, onnxBackend of) {
  onnxGraph graph = nullptr;
  const onnxStatus status =
      library_->InitGraph(of != nullptr ? of : backend(), nullptr, model.size(),
                          model.data(), 0, nullptr, &graph);
  if ((status != ONNXIFI_STATUS_SUCCESS && status != ONNXIFI_STATUS_FALLBACK) ||
      graph == nullptr) {
    Fail(absl::StrCat("onnxInitGraph of a right model returned ",
                      StatusName(status)));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  KeepGraph(graph);
  return graph;
}

onnxStatus Context::SetIO(onnxGraph graph,
                          const std::vector<Descriptor>& inputs,
                          const std::vector<Descriptor>& outputs) {
  const DescriptorArray in(abi(), inputs), out(abi(), outputs);
  return library_->SetGraphIO(graph, in.size(), in.data(), out.size(),
                              out.data());
}

void Context::ForgetGraph(onnxGraph graph) { Remove(&graphs_, graph); }
void Context::ForgetEvent(onnxEvent event) { Remove(&events_, event); }
void Context::ForgetBackend(onnxBackend backend) {
  Remove(&backends_, backend);
  if (backend == backend_) backend_ = nullptr;
}

void Context::Clean() {
  for (onnxGraph graph : graphs_) {
    Expect(library_->ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseGraph at the end of the case");
  }
  for (onnxEvent event : events_) {
    Expect(library_->ReleaseEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseEvent at the end of the case");
  }
  for (onnxBackend backend : backends_) {
    Expect(library_->ReleaseBackend(backend), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseBackend at the end of the case");
  }
  for (onnxBackendID id : ids_to_release_) {
    Expect(library_->ReleaseBackendID(id), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseBackendID at the end of the case");
  }
  graphs_.clear();
  events_.clear();
  backends_.clear();
  ids_to_release_.clear();
  ids_.clear();
  backend_ = nullptr;
}

Job::Job(Context& t, std::vector<uint64_t> shape, onnxBackend backend)
    : x("x", shape),
      z("z", shape),
      y("y", shape),
      t_(t),
      backend_(backend != nullptr ? backend : t.backend()) {
  std::vector<Dim> dims;
  for (uint64_t dim : shape) dims.emplace_back(static_cast<int64_t>(dim));
  graph = t.NewGraph(t.Elementwise(dims).Serialize(), backend_);
  Refill();
}

void Job::Refill() {
  // Small integers: exact in every float format.
  std::uniform_int_distribution<int> draw(-8, 8);
  for (float& value : x.data) value = static_cast<float>(draw(t_.random()));
  for (float& value : z.data) value = static_cast<float>(draw(t_.random()));
  std::fill(y.data.begin(), y.data.end(),
            std::numeric_limits<float>::quiet_NaN());
}

onnxStatus Job::SetIO() {
  return t_.SetIO(graph, {x.Describe(), z.Describe()}, {y.Describe()});
}

void Job::MustSetIO() {
  const onnxStatus status = SetIO();
  if (status != ONNXIFI_STATUS_SUCCESS) {
    t_.Fail(absl::StrCat("onnxSetGraphIO with right descriptors returned ",
                         StatusName(status)));
  }
}

onnxEvent Job::Start(onnxEvent input) {
  const onnxMemoryFenceV1 in = EventFence(input);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  const onnxStatus status = t_.lib().RunGraph(graph, &in, &out);
  if (status != ONNXIFI_STATUS_SUCCESS || out.event == nullptr) {
    t_.Fail(absl::StrCat("onnxRunGraph returned ", StatusName(status),
                         out.event == nullptr ? " and no event" : ""));
  }
  return out.event;
}

void Job::Run() {
  const onnxEvent input = t_.NewEvent(backend_);
  t_.Expect(t_.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
            "onnxSignalEvent");
  const onnxEvent output = Start(input);
  t_.Expect(t_.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
            "onnxWaitEvent for the end of a run");
  t_.Check(Right(), "the result of a run is wrong");
  t_.Expect(t_.lib().ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
            "onnxReleaseEvent of an output event");
}

bool Job::Right() const {
  for (size_t i = 0; i < y.data.size(); ++i) {
    if (y.data[i] != t_.op().apply(x.data[i], z.data[i])) return false;
  }
  return true;
}

void Job::Release() {
  t_.Expect(t_.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
            "onnxReleaseGraph");
  t_.ForgetGraph(graph);
}

}  // namespace heddle::conformance
