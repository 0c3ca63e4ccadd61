// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/loader.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace heddle::onnxifi_loader {
namespace {

// Tags of several loaders in one process differ, because their addresses do.
uint16_t Tag(int kind) {
  static const char here = 0;
  const uint64_t page = reinterpret_cast<uint64_t>(&here) >> 12;
  return static_cast<uint16_t>((page & 0x1fff) << 2 | 0x8000 | kind);
}

std::atomic<pid_t> user{0};

// A child must find the locks of the maps free; other threads do not hold them
// for long. (The one of the registry they may: see IsForkedFromUser.)
void BeforeFork() {
  State& state = TheState();
  state.ids.Lock();
  state.backends.Lock();
  state.graphs.Lock();
  state.events.Lock();
}
void AfterFork() {
  State& state = TheState();
  state.events.Unlock();
  state.graphs.Unlock();
  state.backends.Unlock();
  state.ids.Unlock();
}

}  // namespace

State::State()
    : ids(Tag(0)), backends(Tag(1)), graphs(Tag(2)), events(Tag(3)) {}

State& TheState() {
  static State* const state = [] {
    pthread_atfork(&BeforeFork, &AfterFork, &AfterFork);
    return new State;
  }();
  return *state;
}

bool IsForkedFromUser() {
  const pid_t self = getpid();
  pid_t expected = 0;
  return !user.compare_exchange_strong(expected, self) && expected != self;
}

Locations::Locations(const Vendor& vendor, uint32_t given_inputs,
                     const onnxTensorDescriptorV1* in, uint32_t given_outputs,
                     const onnxTensorDescriptorV1* out)
    : inputs_count(given_inputs),
      outputs_count(given_outputs),
      inputs(in),
      outputs(out) {
  const uint32_t from = vendor.client_bytes;
  if (vendor.descriptor_bytes == from) return;
  try {
    converted_.emplace(in, given_inputs, out, given_outputs, from,
                       vendor.descriptor_bytes);
  } catch (const std::bad_alloc&) {
    status_ = ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
    return;
  }
  const Descriptors &ins = converted_->inputs, &outs = converted_->outputs;
  inputs_count = ins.count();
  inputs = ins.data();
  outputs_count = outs.count();
  outputs = outs.data();
  if (vendor.descriptor_bytes == kExtendedBytes) return;
  // The vendor's models are not quantised in a way that a descriptor could say.
  if (ins.quantized() || outs.quantized()) {
    status_ = ONNXIFI_STATUS_MISMATCHING_DATATYPE;
  }
  if (ins.offline() || outs.offline()) {
    status_ = ONNXIFI_STATUS_INVALID_MEMORY_LOCATION;
  }
}

OutputFence::OutputFence(onnxMemoryFenceV1* fence) : given_(fence) {
  // What has another form is the vendor's to refuse.
  if (fence == nullptr || fence->tag != ONNXIFI_TAG_MEMORY_FENCE_V1 ||
      fence->type != ONNXIFI_SYNCHRONIZATION_EVENT) {
    return;
  }
  local_ = true;
  own_.tag = fence->tag;
  own_.type = fence->type;
  handle_ = TheState().events.Reserve();
  if (handle_ == nullptr) {
    fence->event = nullptr;
    status_ = ONNXIFI_STATUS_NO_SYSTEM_RESOURCES;
  }
}

onnxStatus OutputFence::Finish(Vendor* vendor, onnxStatus status) {
  if (!local_) return status;
  if (status == ONNXIFI_STATUS_SUCCESS && own_.event != nullptr) {
    TheState().events.Fill(handle_, {vendor, own_.event});
    given_->event = handle_;
  } else {
    TheState().events.Cancel(handle_);
    given_->event = nullptr;
  }
  return status;
}

}  // namespace heddle::onnxifi_loader
