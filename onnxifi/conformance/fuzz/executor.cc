// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/fuzz/executor.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "absl/strings/str_cat.h"

namespace heddle::conformance {
namespace {

constexpr int kModels = 5;
// How long calls are left alone before what they may wait for is signalled: if
// all are such as wait, and if others (onnxSetGraphIO may) seem to.
constexpr std::chrono::microseconds kPatience(500), kStandstill(20000);
constexpr onnxStatus kSuccess = ONNXIFI_STATUS_SUCCESS;
constexpr onnxStatus kFallback = ONNXIFI_STATUS_FALLBACK;

const char* TypeStatusName(ObjectType type) {
  switch (type) {
    case ObjectType::kBackend:
      return "backend";
    case ObjectType::kGraph:
      return "graph";
    case ObjectType::kEvent:
      return "event";
  }
  return "";
}

onnxStatus InvalidOf(ObjectType type) {
  switch (type) {
    case ObjectType::kBackend:
      return ONNXIFI_STATUS_INVALID_BACKEND;
    case ObjectType::kGraph:
      return ONNXIFI_STATUS_INVALID_GRAPH;
    case ObjectType::kEvent:
      return ONNXIFI_STATUS_INVALID_EVENT;
  }
  return kSuccess;
}

bool Made(onnxStatus status) {
  return status == kSuccess || status == kFallback;
}

}  // namespace

// What a graph reads and writes; stays until the end of the sequence.
struct Executor::Memory {
  Memory() : x("x", {2, 3}), z("z", {2, 3}), y("y", {2, 3}) {
    for (size_t i = 0; i < 6; ++i) {
      x.data[i] = static_cast<float>(i);
      z.data[i] = 2 - static_cast<float>(i);
      y.data[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  Tensor x, z, y;
  bool right_model = false;
  bool ran = false;  // a run has ended well
};

Executor::Executor(Context* t) : t_(*t), lib_(t->lib()) {
  Calibrate();
  for (int i = 0; i < kFuzzThreads; ++i) {
    threads_.emplace_back([this, i] { Work(i); });
  }
}

Executor::~Executor() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  for (std::condition_variable& begin : begin_) begin.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Executor::Calibrate() {
  Model good = t_.Elementwise({2, 3}), unknown = good, invalid = good;
  unknown.nodes[0].op = "NoSuchOperatorOfOnnx";
  invalid.nodes[0].inputs[1] = "nobody";
  models_ = {good.Serialize(), "\xFF\xFFno protobuf", good.Serialize(),
             unknown.Serialize(), invalid.Serialize()};
  for (int kind = 0; kind < kModels; ++kind) {
    const auto [model, size] = ModelOf(kind);
    compatibility_.push_back(
        lib_.GetBackendCompatibility(t_.id(), size, model));
    onnxGraph graph = nullptr;
    init_.push_back(
        lib_.InitGraph(t_.backend(), nullptr, size, model, 0, nullptr, &graph));
    if (Made(init_.back()) && graph != nullptr) {
      (void)lib_.ReleaseGraph(graph);
    }
  }
  if (!Made(init_[0])) t_.Fail("onnxInitGraph rejects a valid model");
  // The result, whatever it is: whether it is right others have seen.
  Memory memory;
  const onnxGraph graph = t_.NewGraph(models_[0]);
  const onnxEvent input = t_.NewEvent();
  const onnxMemoryFenceV1 in = EventFence(input);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  if (t_.SetIO(graph, {memory.x.Describe(), memory.z.Describe()},
               {memory.y.Describe()}) != kSuccess ||
      lib_.SignalEvent(input) != kSuccess ||
      lib_.RunGraph(graph, &in, &out) != kSuccess ||
      lib_.WaitEvent(out.event) != kSuccess) {
    t_.Fail("one run alone does not succeed");
  }
  right_ = memory.y.data;
  t_.KeepEvent(out.event);
  t_.Clean();
  id_ = t_.id();
}

std::pair<const void*, size_t> Executor::ModelOf(int kind) const {
  if (kind >= kModels) return {nullptr, 16};
  const std::string& bytes = models_[static_cast<size_t>(kind)];
  return {bytes.data(), kind == 2 ? 0 : bytes.size()};
}

void Executor::Run(const Sequence& sequence) {
  std::set<int> threads;
  for (const Step& step : sequence) threads.insert(step.thread);
  std::unique_lock<std::mutex> lock(mutex_);
  sequence_ = &sequence;
  working_ = static_cast<int>(threads.size());
  for (int thread : threads) {
    ++rounds_[thread];
    begin_[thread].notify_all();
  }
  while (working_ > 0) {
    uint64_t before = calls_;
    changed_.wait_for(lock, kStandstill,
                      [this] { return working_ == 0 || BlockedLocked(); });
    if (BlockedLocked()) {
      // What they wait for may be on its way; if nothing comes, nothing will.
      before = calls_;
      changed_.wait_for(lock, kPatience, [&] { return calls_ != before; });
    }
    if (working_ == 0 || releasing_ == 0 || calls_ != before) continue;
    lock.unlock();
    Unblock();
    lock.lock();
  }
  lock.unlock();
  ReleaseAll();
}

void Executor::Work(int thread) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    begin_[thread].wait(lock, [&] { return stop_ || rounds_[thread] != seen; });
    if (stop_) return;
    seen = rounds_[thread];
    const Sequence& sequence = *sequence_;
    lock.unlock();
    for (const Step& step : sequence) {
      if (step.thread == thread) Do(step);
    }
    lock.lock();
    --working_;
    if (working_ == 0 || BlockedLocked()) changed_.notify_all();
  }
}

Executor::Named Executor::Find(ObjectType type, const HandleChoice& choice) {
  const auto index = static_cast<size_t>(type);
  const auto& slot = slots_[index][choice.slot];
  Named named;
  switch (choice.how) {
    case HandleChoice::kSlot:
      if (!slot.empty()) named.object = slot.back();
      break;
    case HandleChoice::kStale:
      if (slot.size() > 1) named.object = slot[slot.size() - 2];
      break;
    case HandleChoice::kOther: {
      const auto& other = slots_[(index + 1) % 3][choice.slot];
      if (!other.empty()) named.handle = other.back()->handle;
      break;
    }
    case HandleChoice::kWild:
      named.handle = reinterpret_cast<void*>(uintptr_t{0x7E0000001000} +
                                             64 * uintptr_t(choice.slot));
      break;
    case HandleChoice::kNull:
      break;
  }
  if (named.object != nullptr) named.handle = named.object->handle;
  return named;
}

Object* Executor::Add(ObjectType type, void* handle, Object* backend,
                      int slot) {
  objects_.emplace_back();
  Object* object = &objects_.back();
  object->type = type;
  object->handle = handle;
  object->backend = backend;
  slots_[static_cast<size_t>(type)][slot].push_back(object);
  return object;
}

void Executor::Check(const Expectation& expectation, Function function,
                     int kind, onnxStatus status,
                     const std::set<onnxStatus>& success) {
  if (expectation.Allows(status, success)) return;
  t_.Check(false, absl::StrCat(FunctionName(function), " (form ", kind,
                               ") returned ", StatusName(status), ", not ",
                               expectation.Text(success)));
}

void Executor::Do(const Step& step) {
  switch (step.function) {
    case kInitBackend:
      DoBackend(step);
      break;
    case kReleaseBackend:
    case kReleaseGraph:
    case kReleaseEvent: {
      const ObjectType type =
          step.function == kReleaseBackend ? ObjectType::kBackend
          : step.function == kReleaseGraph ? ObjectType::kGraph
                                           : ObjectType::kEvent;
      std::unique_lock<std::mutex> lock(mutex_);
      Named named = Find(type, step.a);
      lock.unlock();
      if (named.object == nullptr) {
        Expectation expectation;
        expectation.Fault(InvalidOf(type));
        const onnxStatus status =
            type == ObjectType::kBackend ? lib_.ReleaseBackend(named.handle)
            : type == ObjectType::kGraph ? lib_.ReleaseGraph(named.handle)
                                         : lib_.ReleaseEvent(named.handle);
        Check(expectation, step.function, 0, status, {kSuccess});
      } else {
        Release(named);
      }
      break;
    }
    case kInitEvent:
    case kSignalEvent:
    case kGetEventState:
    case kWaitEvent:
      DoEvent(step);
      break;
    case kInitGraph:
      DoGraph(step);
      break;
    case kSetGraphIO:
      DoIo(step);
      break;
    case kRunGraph:
      DoRun(step);
      break;
    default:
      DoId(step);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  ++calls_;
  if (releasing_ > 0) changed_.notify_all();
}

void Executor::DoId(const Step& step) {
  const bool right =
      step.a.how == HandleChoice::kSlot || step.a.how == HandleChoice::kStale;
  onnxBackendID id = id_;
  if (!right) {
    std::lock_guard<std::mutex> lock(mutex_);
    id = Find(ObjectType::kBackend, step.a).handle;
  }
  Expectation expectation;
  const bool by_id = step.function != kGetBackendIDs;
  if (by_id && !right) expectation.Fault(ONNXIFI_STATUS_INVALID_ID);
  onnxStatus status = kSuccess;
  std::set<onnxStatus> success = {kSuccess};
  size_t size = 0;
  if (step.function == kGetBackendInfo) {
    if (step.kind == 1) expectation.Fault(ONNXIFI_STATUS_INVALID_POINTER);
    if (step.kind == 2) expectation.Fault(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE);
    success = {kFallback};
    status = lib_.GetBackendInfo(id, step.kind == 2 ? -5 : ONNXIFI_BACKEND_NAME,
                                 nullptr, step.kind == 1 ? nullptr : &size);
  } else if (step.function == kGetBackendCompatibility) {
    const auto [model, bytes] = ModelOf(step.kind);
    success = {compatibility_[static_cast<size_t>(step.kind)]};
    status = lib_.GetBackendCompatibility(id, bytes, model);
  } else if (step.function == kReleaseBackendID && !right) {
    status = lib_.ReleaseBackendID(id);
  } else if (step.function == kGetBackendIDs && step.kind < 2) {
    if (step.kind == 1) expectation.Fault(ONNXIFI_STATUS_INVALID_POINTER);
    success = {kFallback};
    status = lib_.GetBackendIDs(nullptr, step.kind == 1 ? nullptr : &size);
  } else {
    // A listing, and its release.
    onnxBackendID ids[64];
    size_t count = 64;
    status = lib_.GetBackendIDs(ids, &count);
    Check(expectation, kGetBackendIDs, step.kind, status, success);
    for (size_t i = 0; status == kSuccess && i < count; ++i) {
      Check(expectation, kReleaseBackendID, step.kind,
            lib_.ReleaseBackendID(ids[i]), success);
    }
    return;
  }
  Check(expectation, step.function, step.kind, status, success);
}

void Executor::DoBackend(const Step& step) {
  const bool right =
      step.a.how == HandleChoice::kSlot || step.a.how == HandleChoice::kStale;
  onnxBackendID id = id_;
  Expectation expectation;
  if (!right) {
    std::lock_guard<std::mutex> lock(mutex_);
    id = Find(ObjectType::kBackend, step.a).handle;
    expectation.Fault(ONNXIFI_STATUS_INVALID_ID);
  }
  if (step.kind == 1) expectation.Fault(ONNXIFI_STATUS_UNSUPPORTED_PROPERTY);
  if (step.kind == 2) expectation.Fault(ONNXIFI_STATUS_INVALID_POINTER);
  const uint64_t properties[] = {0x10, 1, ONNXIFI_BACKEND_PROPERTY_NONE};
  onnxBackend backend = nullptr;
  const onnxStatus status =
      lib_.InitBackend(id, step.kind == 1 ? properties : nullptr,
                       step.kind == 2 ? nullptr : &backend);
  Check(expectation, kInitBackend, step.kind, status, {kSuccess});
  if (status != kSuccess || backend == nullptr) return;
  std::lock_guard<std::mutex> lock(mutex_);
  Add(ObjectType::kBackend, backend, nullptr, step.to);
}

void Executor::Signal(const Named& event) {
  constexpr onnxStatus kInvalid = ONNXIFI_STATUS_INVALID_EVENT;
  Expectation expectation;
  Object* const object = event.object;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    expectation.Begin(object, kInvalid);
    if (object != nullptr) {
      if (object->signalled) expectation.Fault(ONNXIFI_STATUS_INVALID_STATE);
      ++object->signals_begun;
    }
  }
  const onnxStatus status = lib_.SignalEvent(event.handle);
  std::lock_guard<std::mutex> lock(mutex_);
  expectation.End(object, kInvalid);
  if (object != nullptr) {
    if (object->signals_begun > 1 || object->of_run) {
      expectation.Perhaps(ONNXIFI_STATUS_INVALID_STATE);
    }
    if (status == kSuccess || status == ONNXIFI_STATUS_INVALID_STATE) {
      object->signalled = true;
    }
    if (status == kSuccess && ++object->signals > 1) {
      t_.Check(false, "onnxSignalEvent succeeded twice for one event");
    }
  }
  Check(expectation, kSignalEvent, 0, status, {kSuccess});
}

void Executor::DoEvent(const Step& step) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (step.function == kInitEvent) {
    const Named backend = Find(ObjectType::kBackend, step.a);
    constexpr onnxStatus kInvalid = ONNXIFI_STATUS_INVALID_BACKEND;
    Expectation expectation;
    expectation.Begin(backend.object, kInvalid);
    if (step.kind == 1) expectation.Fault(ONNXIFI_STATUS_INVALID_POINTER);
    lock.unlock();
    onnxEvent event = nullptr;
    const onnxStatus status =
        lib_.InitEvent(backend.handle, step.kind == 1 ? nullptr : &event);
    lock.lock();
    expectation.End(backend.object, kInvalid);
    Check(expectation, kInitEvent, step.kind, status, {kSuccess});
    if (status == kSuccess && event != nullptr) {
      Add(ObjectType::kEvent, event, backend.object, step.to);
    }
    return;
  }
  const Named event = Find(ObjectType::kEvent, step.a);
  Object* const object = event.object;
  if (step.function == kSignalEvent) {
    lock.unlock();
    Signal(event);
    return;
  }
  constexpr onnxStatus kInvalid = ONNXIFI_STATUS_INVALID_EVENT;
  Expectation expectation;
  expectation.Begin(object, kInvalid);
  const bool before = object != nullptr && object->signalled;
  if (step.function == kWaitEvent) {
    // Nobody is to wait for what will not be.
    if (object != nullptr && !object->WillBeSignalled()) return;
    ++waiting_;
    if (BlockedLocked()) changed_.notify_all();
    lock.unlock();
    const onnxStatus status = lib_.WaitEvent(event.handle);
    lock.lock();
    --waiting_;
    expectation.End(object, kInvalid);
    if (object != nullptr) {
      if (object->MayFail()) expectation.Perhaps(ONNXIFI_STATUS_INTERNAL_ERROR);
      if (status == kSuccess) object->signalled = true;
    }
    Check(expectation, kWaitEvent, 0, status, {kSuccess});
    return;
  }
  if (step.kind == 1) expectation.Fault(ONNXIFI_STATUS_INVALID_POINTER);
  lock.unlock();
  onnxEventState state = -1;
  const onnxStatus status =
      lib_.GetEventState(event.handle, step.kind == 1 ? nullptr : &state);
  lock.lock();
  expectation.End(object, kInvalid);
  Check(expectation, kGetEventState, step.kind, status, {kSuccess});
  if (status != kSuccess || object == nullptr) return;
  const bool is = state == ONNXIFI_EVENT_STATE_SIGNALLED;
  const bool can = before || object->signals_begun > 0 || object->of_run;
  t_.Check(is || state == ONNXIFI_EVENT_STATE_NONSIGNALLED,
           absl::StrCat("an event's state is ", state));
  t_.Check(!before || is, "a signalled event's state is NONSIGNALLED");
  t_.Check(can || !is, "an event that was never signalled is SIGNALLED");
  object->signalled |= is;
}

void Executor::DoGraph(const Step& step) {
  constexpr onnxStatus kInvalid = ONNXIFI_STATUS_INVALID_BACKEND;
  Expectation expectation;
  std::unique_lock<std::mutex> lock(mutex_);
  const Named backend = Find(ObjectType::kBackend, step.a);
  expectation.Begin(backend.object, kInvalid);
  lock.unlock();
  std::set<onnxStatus> success = {ONNXIFI_STATUS_INVALID_POINTER};
  if (step.kind < kModels) success = {init_[static_cast<size_t>(step.kind)]};
  const auto [model, size] = ModelOf(step.kind);
  onnxGraph graph = CanaryPointer();
  const onnxStatus status =
      lib_.InitGraph(backend.handle, nullptr, size, model, 0, nullptr, &graph);
  lock.lock();
  expectation.End(backend.object, kInvalid);
  // A fault of the model may be seen before that of the handle.
  if (!Made(*success.begin())) expectation.Perhaps(*success.begin());
  Check(expectation, kInitGraph, step.kind, status, success);
  t_.Check(Made(status) ? graph != nullptr && graph != CanaryPointer()
                        : graph == nullptr,
           "onnxInitGraph fails and does not store NULL, or the reverse");
  if (!Made(status) || graph == nullptr || t_.failed()) return;
  Object* object = Add(ObjectType::kGraph, graph, backend.object, step.to);
  object->memory = memory_.size();
  memory_.push_back(std::make_unique<Memory>());
  memory_.back()->right_model = step.kind == 0;
}

void Executor::DoIo(const Step& step) {
  constexpr onnxStatus kInvalid = ONNXIFI_STATUS_INVALID_GRAPH;
  Expectation expectation;
  std::unique_lock<std::mutex> lock(mutex_);
  const Named graph = Find(ObjectType::kGraph, step.a);
  Object* const object = graph.object;
  expectation.Begin(object, kInvalid);
  uint64_t version = 0;
  Memory none;
  Memory* memory = &none;
  if (object != nullptr) {
    ++object->io_calls;
    version = ++object->io_version;
    memory = memory_[object->memory].get();
  }
  lock.unlock();
  Descriptor x = memory->x.Describe(), z = memory->z.Describe();
  const Descriptor y = memory->y.Describe();
  static const uint64_t kWrong[] = {2, 4}, kZero[] = {2, 0};
  std::vector<Descriptor> inputs = {x, z};
  switch (step.kind) {
    case 1:
      inputs[0].name = "nobody";
      expectation.Fault(ONNXIFI_STATUS_INVALID_NAME);
      expectation.Fault(ONNXIFI_STATUS_UNIDENTIFIED_NAME);
      break;
    case 2:
      inputs.pop_back();
      expectation.Fault(ONNXIFI_STATUS_UNIDENTIFIED_NAME);
      break;
    case 3:
      inputs[1].shape = kWrong;
      expectation.Fault(ONNXIFI_STATUS_MISMATCHING_SHAPE);
      break;
    case 4:
      inputs[1].buffer = 0;
      expectation.Fault(ONNXIFI_STATUS_INVALID_MEMORY_LOCATION);
      break;
    case 5:
      inputs[1].tag = 1;
      expectation.Fault(ONNXIFI_STATUS_UNSUPPORTED_TAG);
      break;
    case 6:
    case 8:
      expectation.Fault(ONNXIFI_STATUS_INVALID_POINTER);
      break;
    case 7:
      inputs[0].shape = kZero;
      expectation.Fault(ONNXIFI_STATUS_INVALID_SHAPE);
      expectation.Fault(ONNXIFI_STATUS_MISMATCHING_SHAPE);
      break;
  }
  const DescriptorArray in(t_.abi(), inputs), out(t_.abi(), {y});
  const onnxStatus status = lib_.SetGraphIO(
      graph.handle, in.size(), step.kind == 6 ? nullptr : in.data(), 1,
      step.kind == 8 ? nullptr : out.data());
  lock.lock();
  expectation.End(object, kInvalid);
  Check(expectation, kSetGraphIO, step.kind, status, {kSuccess});
  if (object == nullptr) return;
  object->io = object->io_calls > 1 || object->io_version != version
                   ? Object::kUnknown
               : status == kSuccess ? Object::kSet
                                    : Object::kNone;
  --object->io_calls;
}

void Executor::DoRun(const Step& step) {
  constexpr onnxStatus kInvalid = ONNXIFI_STATUS_INVALID_GRAPH;
  constexpr onnxStatus kNoEvent = ONNXIFI_STATUS_INVALID_EVENT;
  constexpr onnxStatus kNoIo = ONNXIFI_STATUS_UNIDENTIFIED_NAME;
  Expectation expectation;
  std::unique_lock<std::mutex> lock(mutex_);
  const Named graph = Find(ObjectType::kGraph, step.a);
  const Named event = Find(ObjectType::kEvent, step.b);
  Object* const object = graph.object;
  Object* const input = event.object;
  expectation.Begin(object, kInvalid);
  expectation.Begin(input, kNoEvent);
  uint64_t version = 0;
  bool alone = false;
  Object::Io io = Object::kUnknown;
  if (object != nullptr) {
    version = object->io_version;
    alone = object->io_calls == 0;
    io = object->io;
    if (input != nullptr && input->backend != object->backend) {
      expectation.Fault(kNoEvent);
    }
    // Whoever releases the graph from now on has to let this run go on.
    if (input != nullptr) object->inputs.push_back(input);
  }
  lock.unlock();
  onnxMemoryFenceV1 in = EventFence(event.handle), out = EventFence(nullptr);
  if (step.kind == 1) expectation.Fault(ONNXIFI_STATUS_INVALID_POINTER);
  if (step.kind == 2) {
    in.tag = 1;
    expectation.Fault(ONNXIFI_STATUS_UNSUPPORTED_TAG);
  }
  if (step.kind == 3) {
    in.type = 7;
    expectation.Fault(ONNXIFI_STATUS_INVALID_FENCE_TYPE);
  }
  const onnxStatus status =
      lib_.RunGraph(graph.handle, &in, step.kind == 1 ? nullptr : &out);
  lock.lock();
  expectation.End(object, kInvalid);
  expectation.End(input, kNoEvent);
  if (object != nullptr) {
    const bool known = alone && object->io_calls == 0 &&
                       object->io_version == version && io != Object::kUnknown;
    if (!known) expectation.Perhaps(kNoIo);
    if (known && io == Object::kNone) expectation.Fault(kNoIo);
  }
  Check(expectation, kRunGraph, step.kind, status, {kSuccess});
  t_.Check((status == kSuccess) == (out.event != nullptr),
           "onnxRunGraph stores an event and fails, or the reverse");
  if (status != kSuccess || out.event == nullptr || object == nullptr) return;
  Object* made = Add(ObjectType::kEvent, out.event, object->backend, step.to);
  made->of_run = true;
  made->input = input;
  made->memory = object->memory;
}

void Executor::SignalInputs(Object* graph) {
  std::vector<Object*> all;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::set<Object*> seen;
    std::vector<Object*> left = graph->inputs;
    while (!left.empty()) {
      Object* event = left.back();
      left.pop_back();
      if (!seen.insert(event).second) continue;
      if (event->of_run && event->input != nullptr) {
        left.push_back(event->input);
      } else if (!event->of_run && event->signals_begun == 0 &&
                 event->releases_begun == 0) {
        all.push_back(event);
      }
    }
  }
  for (Object* event : all) Signal({event->handle, event});
}

void Executor::Release(const Named& named) {
  Object* const object = named.object;
  const onnxStatus invalid = InvalidOf(object->type);
  if (object->type == ObjectType::kGraph) SignalInputs(object);
  Expectation expectation;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    expectation.Begin(object, invalid);
    ++object->releases_begun;
    if (!object->signalled) object->may_be_lost = true;
    if (object->type == ObjectType::kGraph) {
      ++releasing_;
      if (BlockedLocked()) changed_.notify_all();
    }
  }
  onnxStatus status = kSuccess;
  Function function = kReleaseBackend;
  switch (object->type) {
    case ObjectType::kBackend:
      status = lib_.ReleaseBackend(named.handle);
      break;
    case ObjectType::kGraph:
      function = kReleaseGraph;
      status = lib_.ReleaseGraph(named.handle);
      break;
    case ObjectType::kEvent:
      function = kReleaseEvent;
      status = lib_.ReleaseEvent(named.handle);
      break;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (object->type == ObjectType::kGraph) --releasing_;
  expectation.End(object, invalid, /*own=*/true);
  Check(expectation, function, 0, status, {kSuccess});
  object->released = true;
  if (status == kSuccess && ++object->releases > 1) {
    t_.Check(false, absl::StrCat("a ", TypeStatusName(object->type),
                                 " was released twice with success"));
  }
}

void Executor::Unblock() {
  std::vector<Object*> all;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (Object& object : objects_) {
      if (object.type == ObjectType::kEvent && !object.of_run &&
          object.signals_begun == 0 && object.releases_begun == 0) {
        all.push_back(&object);
      }
    }
  }
  for (Object* event : all) Signal({event->handle, event});
}

void Executor::ReleaseAll() {
  Unblock();
  for (const ObjectType type :
       {ObjectType::kGraph, ObjectType::kEvent, ObjectType::kBackend}) {
    for (Object& object : objects_) {
      if (object.type != type) continue;
      // The result of a run that has ended well.
      if (type == ObjectType::kEvent && object.of_run &&
          object.releases_begun == 0 && !object.MayFail() &&
          object.signals == 0) {
        const onnxStatus status = lib_.WaitEvent(object.handle);
        t_.Check(
            status == kSuccess,
            absl::StrCat("onnxWaitEvent for a run that has ended returned ",
                         StatusName(status)));
        memory_[object.memory]->ran |= status == kSuccess;
      }
      if (object.releases_begun == 0) Release({object.handle, &object});
    }
  }
  for (const auto& memory : memory_) {
    if (memory->ran && memory->right_model) {
      t_.Check(memory->y.data == right_, "the result of a run is wrong");
    }
  }
  objects_.clear();
  memory_.clear();
  for (auto& type : slots_) {
    for (auto& slot : type) slot.clear();
  }
}

}  // namespace heddle::conformance
