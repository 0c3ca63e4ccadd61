// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/library.h"

#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "onnxifi/properties.h"
#include "onnxifi/weights.h"

namespace heddle::onnxifi {
namespace {

Outcome InvalidId() {
  return Outcome(ONNXIFI_STATUS_INVALID_ID, "not a live backend ID");
}
Outcome InvalidBackend() {
  return Outcome(ONNXIFI_STATUS_INVALID_BACKEND, "not a live backend");
}
Outcome InvalidGraph() {
  return Outcome(ONNXIFI_STATUS_INVALID_GRAPH, "not a live graph");
}
Outcome InvalidEvent() {
  return Outcome(ONNXIFI_STATUS_INVALID_EVENT, "not a live event");
}
Outcome Gone() {
  return Outcome(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, "the device is gone");
}
Outcome TooManyEvents() {
  return Outcome(ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
                 "the backend has reached its limit of events; release some");
}
Outcome TableFull() {
  return Outcome(ONNXIFI_STATUS_NO_SYSTEM_RESOURCES, "all handles are in use");
}

// Of a model that runs, by an emulation or partly on the host if so `emulated`.
Outcome Accepted(bool emulated, HostNodes policy) {
  return Outcome(emulated && policy != HostNodes::kSuccess
                     ? ONNXIFI_STATUS_FALLBACK
                     : ONNXIFI_STATUS_SUCCESS);
}

Outcome CheckFence(const onnxMemoryFenceV1* fence) {
  int32_t tag;
  std::memcpy(&tag, fence, sizeof(tag));
  if (tag != ONNXIFI_TAG_MEMORY_FENCE_V1) {
    return Outcome(ONNXIFI_STATUS_UNSUPPORTED_TAG,
                   "a fence does not have the tag "
                   "ONNXIFI_TAG_MEMORY_FENCE_V1");
  }
  if (fence->type == ONNXIFI_SYNCHRONIZATION_IMPLICIT) {
    return Outcome(ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE,
                   "implicit synchronization is not supported; use events");
  }
  if (fence->type != ONNXIFI_SYNCHRONIZATION_EVENT) {
    return Outcome(ONNXIFI_STATUS_INVALID_FENCE_TYPE, "unknown fence type");
  }
  return Outcome();
}

// The event of an output fence is NULL after any failure, as far as the fence
// can be written at all.
void ClearOutput(onnxMemoryFenceV1* fence) {
  if (fence == nullptr) return;
  int32_t tag;
  std::memcpy(&tag, fence, sizeof(tag));
  if (tag == ONNXIFI_TAG_MEMORY_FENCE_V1 &&
      fence->type == ONNXIFI_SYNCHRONIZATION_EVENT) {
    fence->event = nullptr;
  }
}

}  // namespace

Library::Library(std::unique_ptr<Engine> engine, uint16_t handle_tag)
    : engine_(std::move(engine)),
      ids_(handle_tag),
      backends_(handle_tag + 1),
      graphs_(handle_tag + 2),
      events_(handle_tag + 3) {
  PrepareSignatures();
}

Library::~Library() {
  // Events first: released, they end the runs that graphs would wait for.
  for (const auto& event : events_.All()) event->Release();
  for (const auto& graph : graphs_.All()) graph->Close();
}

std::shared_ptr<BackendId> Library::FindId(onnxBackendID id) const {
  std::shared_ptr<BackendId> found = ids_.Find(id);
  return found != nullptr && found->valid() ? found : nullptr;
}

std::shared_ptr<BackendId> Library::IdFor(const DeviceInfo& device, Abi abi) {
  std::lock_guard<std::mutex> lock(ids_mutex_);
  const auto key = std::make_pair(device.identity, abi);
  if (const auto known = known_.find(key); known != known_.end()) {
    return known->second;
  }
  std::shared_ptr<CardUse>& use = uses_[device.identity];
  if (use == nullptr) use = std::make_shared<CardUse>();
  auto id =
      std::make_shared<BackendId>(device, abi, engine_->onnx_support(), use);
  const auto entry = known_.emplace(key, id).first;
  try {
    id->handle = ids_.Insert(id);
  } catch (...) {
    known_.erase(entry);
    throw;
  }
  return id;
}

absl::StatusOr<std::shared_ptr<const DeviceInfo>> Library::Refresh(
    BackendId* id) {
  auto found = engine_->Find(*id->device());
  if (found.ok()) id->SetDevice(*found);
  return found;
}

absl::StatusOr<std::shared_ptr<const DeviceInfo>> Library::Look(BackendId* id) {
  auto found = Refresh(id);
  ForgetUnlisted(*id);  // released meanwhile
  return found;
}

void Library::ForgetUnlisted(const BackendId& id) noexcept {
  if (id.use->listings.load() == 0) engine_->Forget(*id.device());
}

Outcome Library::GetBackendIDs(Abi abi, onnxBackendID* ids, size_t* count) {
  if (count == nullptr) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER, "numBackends is NULL");
  }
  auto devices = engine_->ListDevices();
  if (!devices.ok()) return Outcome(devices.status());
  const size_t capacity = *count;
  if (ids == nullptr || capacity < devices->size()) {
    *count = devices->size();
    return Outcome(ONNXIFI_STATUS_FALLBACK);
  }
  std::vector<std::shared_ptr<BackendId>> seen, found;
  seen.reserve(devices->size());
  found.reserve(devices->size());
  absl::Cleanup forget = [this, &seen] {
    for (const auto& id : seen) ForgetUnlisted(*id);
  };
  for (const DeviceInfo& device : *devices) {
    seen.push_back(IdFor(device, abi));
    // Looked at now, so that questions need nothing that may run out.
    auto look = Refresh(seen.back().get());
    if (look.ok()) found.push_back(seen.back());
    // A card that has just gone is not listed.
    if (!look.ok() && !absl::IsUnavailable(look.status())) {
      return Outcome(look.status());
    }
  }
  for (size_t i = 0; i < found.size(); ++i) {
    found[i]->AddListing();
    ids[i] = found[i]->handle;
  }
  *count = found.size();
  return Outcome();
}

Outcome Library::ReleaseBackendID(onnxBackendID id) {
  std::shared_ptr<BackendId> found = ids_.Find(id);
  if (found == nullptr || !found->RemoveListing()) return InvalidId();
  ForgetUnlisted(*found);
  return Outcome();
}

Outcome Library::GetBackendInfo(onnxBackendID id, onnxBackendInfo type,
                                void* value, size_t* size) {
  std::shared_ptr<BackendId> found = FindId(id);
  if (found == nullptr) return InvalidId();
  if (size == nullptr) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER, "infoValueSize is NULL");
  }
  auto look = Look(found.get());
  if (!look.ok()) return Outcome(look.status());
  const std::shared_ptr<const InfoTable> info = found->info();
  const auto entry = info->find(type);
  if (entry == info->end()) {
    return Outcome(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                   "this backend has no such information");
  }
  const std::string& bytes = entry->second;
  const bool fits = value != nullptr && *size >= bytes.size();
  *size = bytes.size();
  if (!fits) return Outcome(ONNXIFI_STATUS_FALLBACK);
  std::memcpy(value, bytes.data(), bytes.size());
  return Outcome();
}

Outcome Library::GetBackendCompatibility(onnxBackendID id, size_t size,
                                         const void* model) {
  std::shared_ptr<BackendId> found = FindId(id);
  if (found == nullptr) return InvalidId();
  if (model == nullptr) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER, "onnxModel is NULL");
  }
  if (size == 0) {
    return Outcome(ONNXIFI_STATUS_INVALID_SIZE, "onnxModelSize is 0");
  }
  auto look = Look(found.get());
  if (!look.ok()) return Outcome(look.status());
  const DeviceInfo& device = **look;
  CompileRequest request;
  request.model = absl::string_view(static_cast<const char*>(model), size);
  request.config = device.config;
  request.memory_bytes = device.memory_bytes;
  request.host_nodes = DefaultHostNodes() != HostNodes::kRefuse;
  request.log_level = DefaultLogLevel();
  auto signature = ReadSignature(request.model);
  if (!signature.ok()) return Outcome(signature.status());
  auto emulated = engine_->Analyse(request);
  if (emulated.ok()) {
    return Accepted(*emulated, DefaultHostNodes());
  }
  if (IsLeftToSetGraphIO(*signature, emulated.status())) return Outcome();
  Outcome refused(emulated.status());
  // The function has no code for the device's memory.
  if (refused.code == ONNXIFI_STATUS_NO_DEVICE_MEMORY) {
    refused.code = ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
  }
  return refused;
}

Outcome Library::InitBackend(Call* call, onnxBackendID id,
                             const uint64_t* properties, onnxBackend* backend) {
  if (backend == nullptr) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER, "backend is NULL");
  }
  *backend = nullptr;
  std::shared_ptr<BackendId> found = FindId(id);
  if (found == nullptr) return InvalidId();
  Properties read;
  Outcome outcome = ReadBackendProperties(found->abi, properties, &read);
  if (outcome.failed()) return outcome;
  call->threshold = read.log_level.value_or(DefaultLogLevel());
  auto opened = Backend::Open(
      engine_.get(), found, call->threshold,
      read.optimization.value_or(ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT),
      read.host_nodes.value_or(DefaultHostNodes()));
  if (!opened.ok()) return Outcome(opened.status());
  void* handle = backends_.Insert(*std::move(opened));
  if (handle == nullptr) return TableFull();
  *backend = handle;
  return Outcome();
}

Outcome Library::ReleaseBackend(Call* call, onnxBackend backend) {
  std::shared_ptr<Backend> found = backends_.Erase(backend);
  if (found == nullptr) return InvalidBackend();
  call->threshold = found->log_level();
  return Outcome();
}

Outcome Library::InitEvent(Call* call, onnxBackend backend, onnxEvent* event) {
  if (event == nullptr) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER, "event is NULL");
  }
  *event = nullptr;
  std::shared_ptr<Backend> found = backends_.Find(backend);
  if (found == nullptr) return InvalidBackend();
  call->threshold = found->log_level();
  if (found->gone()) return Gone();
  if (found->state()->full_of_events()) return TooManyEvents();
  auto made = std::make_shared<Event>(found->state());
  void* handle = events_.Insert(made);
  if (handle == nullptr) return TableFull();
  made->Link();
  *event = handle;
  return Outcome();
}

Outcome Library::SignalEvent(Call* call, onnxEvent event) {
  std::shared_ptr<Event> found = events_.Find(event);
  if (found == nullptr) return InvalidEvent();
  call->threshold = found->backend()->log_level();
  return Outcome(found->Signal(),
                 "the event is already signalled, or its device is gone");
}

Outcome Library::GetEventState(Call* call, onnxEvent event,
                               onnxEventState* state) {
  if (state == nullptr) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER, "state is NULL");
  }
  *state = ONNXIFI_EVENT_STATE_INVALID;
  std::shared_ptr<Event> found = events_.Find(event);
  if (found == nullptr) return InvalidEvent();
  call->threshold = found->backend()->log_level();
  return Outcome(found->GetState(state), "the device is gone");
}

Outcome Library::WaitEvent(Call* call, onnxEvent event) {
  std::shared_ptr<Event> found = events_.Find(event);
  if (found == nullptr) return InvalidEvent();
  call->threshold = found->backend()->log_level();
  return Outcome(found->Wait(),
                 "the run failed, the device is gone, or the event was "
                 "released");
}

Outcome Library::ReleaseEvent(Call* call, onnxEvent event) {
  std::shared_ptr<Event> found = events_.Erase(event);
  if (found == nullptr) return InvalidEvent();
  call->threshold = found->backend()->log_level();
  found->Release();
  return Outcome();
}

Outcome Library::InitGraph(Call* call, onnxBackend backend,
                           const GraphArguments& arguments, onnxGraph* graph) {
  if (graph != nullptr) *graph = nullptr;
  if (graph == nullptr || arguments.model == nullptr ||
      (arguments.weights == nullptr && arguments.weights_count > 0)) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER,
                   "graph, onnxModel or weightDescriptors is NULL");
  }
  std::shared_ptr<Backend> found = backends_.Find(backend);
  if (found == nullptr) return InvalidBackend();
  call->threshold = found->log_level();
  if (arguments.model_size == 0) {
    return Outcome(ONNXIFI_STATUS_INVALID_SIZE, "onnxModelSize is 0");
  }
  Outcome outcome = CheckGraphProperties(arguments.properties);
  if (outcome.failed()) return outcome;
  if (found->gone()) return Gone();
  const absl::string_view model(static_cast<const char*>(arguments.model),
                                arguments.model_size);
  auto signature = ReadSignature(model);
  if (!signature.ok()) return Outcome(signature.status());
  const bool extended = found->abi() == Abi::kExtended;
  auto weights =
      ReadWeights(found->abi(), arguments.weights, arguments.weights_count,
                  extended ? arguments.reader : nullptr, *signature);
  if (!weights.ok()) return Outcome(weights.status());
  auto made =
      Graph::Create(found, model, *std::move(signature), *std::move(weights),
                    extended ? arguments.max_sequence : 0);
  // A device that goes while it is loaded may fail in many ways.
  if (found->gone()) return Gone();
  if (!made.ok()) return Outcome(made.status());
  const bool emulated = (*made)->emulated();
  void* handle = graphs_.Insert(*std::move(made));
  if (handle == nullptr) return TableFull();
  *graph = handle;
  return Accepted(emulated, found->host_nodes());
}

Outcome Library::SetGraphIO(Call* call, onnxGraph graph,
                            const IoArguments& arguments) {
  std::shared_ptr<Graph> found = graphs_.Find(graph);
  if (found == nullptr) return InvalidGraph();
  call->threshold = found->backend().log_level();
  return Outcome(found->SetIo(arguments));
}

template <typename Start>
Outcome Library::Launch(Graph* graph, std::shared_ptr<Event> input,
                        onnxMemoryFenceV1* output, onnxTraceEventList* trace,
                        Start start) {
  if (graph->backend().state()->full_of_events()) return TooManyEvents();
  auto run = std::make_unique<Run>();
  run->input = std::move(input);
  run->output = std::make_shared<Event>(graph->backend().state());
  if (trace != nullptr && !run->trace.Prepare(trace)) {
    return Outcome(ONNXIFI_STATUS_NO_SYSTEM_MEMORY,
                   "out of memory for the trace");
  }
  void* handle = events_.Insert(run->output);
  if (handle == nullptr) return TableFull();
  try {
    const absl::Status status = start(std::move(run));
    if (status.ok()) {
      output->event = handle;
      return Outcome();
    }
    events_.Erase(handle);
    return Outcome(status);
  } catch (...) {
    events_.Erase(handle);
    throw;
  }
}

Outcome Library::RunGraph(Call* call, onnxGraph graph,
                          const onnxMemoryFenceV1* input,
                          onnxMemoryFenceV1* output) {
  if (input == nullptr || output == nullptr) {
    ClearOutput(output);
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER, "a fence is NULL");
  }
  // Both fences may be one structure.
  int32_t tag;
  std::memcpy(&tag, input, sizeof(tag));
  const onnxEvent input_handle =
      tag == ONNXIFI_TAG_MEMORY_FENCE_V1 ? input->event : nullptr;
  ClearOutput(output);
  std::shared_ptr<Graph> found = graphs_.Find(graph);
  if (found == nullptr) return InvalidGraph();
  call->threshold = found->backend().log_level();
  if (Outcome o = CheckFence(input); o.failed()) return o;
  if (Outcome o = CheckFence(output); o.failed()) return o;
  if (found->backend().gone()) return Gone();
  std::shared_ptr<Event> event = events_.Find(input_handle);
  if (event == nullptr) return InvalidEvent();
  if (event->backend() != found->backend().state().get()) {
    return Outcome(ONNXIFI_STATUS_INVALID_EVENT,
                   "the input event belongs to another backend");
  }
  return Launch(
      found.get(), std::move(event), output, nullptr,
      [&](std::unique_ptr<Run> run) { return found->Submit(std::move(run)); });
}

Outcome Library::ReleaseGraph(Call* call, onnxGraph graph) {
  std::shared_ptr<Graph> found = graphs_.Erase(graph);
  if (found == nullptr) return InvalidGraph();
  call->threshold = found->backend().log_level();
  found->Close();
  return Outcome();
}

Outcome Library::CheckExtensionsOf(onnxBackendID id) {
  std::shared_ptr<BackendId> found = FindId(id);
  if (found == nullptr) return InvalidId();
  auto look = Look(found.get());
  return look.ok() ? Outcome() : Outcome(look.status());
}

Outcome Library::SetIoAndRun(Call* call, onnxGraph graph,
                             const IoArguments& arguments,
                             onnxMemoryFenceV1* output,
                             onnxTraceEventList* trace) {
  if (trace != nullptr) *trace = {0, nullptr};
  ClearOutput(output);
  std::shared_ptr<Graph> found = graphs_.Find(graph);
  if (found == nullptr) return InvalidGraph();
  call->threshold = found->backend().log_level();
  if (output == nullptr) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER, "outputFence is NULL");
  }
  if (Outcome o = CheckFence(output); o.failed()) return o;
  return Launch(found.get(), nullptr, output, trace,
                [&](std::unique_ptr<Run> run) {
                  return found->SetIoAndSubmit(arguments, std::move(run));
                });
}

Outcome Library::WaitEventFor(Call* call, onnxEvent event, uint32_t timeout_ms,
                              onnxEventState* state, onnxStatus* status,
                              char* message, size_t* length) {
  if (state != nullptr) *state = ONNXIFI_EVENT_STATE_INVALID;
  if (state == nullptr || status == nullptr || message == nullptr ||
      length == nullptr) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER,
                   "eventState, eventStatus, message or messageLength is NULL");
  }
  std::shared_ptr<Event> found = events_.Find(event);
  if (found == nullptr) return InvalidEvent();
  call->threshold = found->backend()->log_level();
  return Outcome(found->WaitFor(timeout_ms, state, status, message, length),
                 "the device is gone, or the event was released");
}

Outcome Library::GetOutputShape(Call* call, onnxEvent event, const char* name,
                                uint32_t* dimensions, uint64_t* shape) {
  if (name == nullptr || dimensions == nullptr ||
      (shape == nullptr && *dimensions > 0)) {
    return Outcome(ONNXIFI_STATUS_INVALID_POINTER,
                   "name, dimensions or shape is NULL");
  }
  std::shared_ptr<Event> found = events_.Find(event);
  if (found == nullptr) return InvalidEvent();
  call->threshold = found->backend()->log_level();
  const onnxStatus status = found->OutputShape(name, dimensions, shape);
  // How large it is, is an answer.
  if (status == ONNXIFI_STATUS_FALLBACK) return Outcome(status);
  return Outcome(
      status,
      status == ONNXIFI_STATUS_INVALID_NAME
          ? "the run has no output of this name"
      : status == ONNXIFI_STATUS_INVALID_STATE
          ? "the event is not the output event of a run that ended with SUCCESS"
          : "the device is gone, or the event was released");
}

}  // namespace heddle::onnxifi
