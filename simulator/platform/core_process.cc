// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/core_process.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "simulator/platform/stream_trace.h"

namespace heddle::platform {
namespace {

// Device memory: the first dram_size bytes of the mapping.
class SharedMemory : public model::Memory {
 public:
  SharedMemory(uint8_t* data, CoreShared* shared)
      : data_(data), shared_(shared) {}

  bool Read(uint64_t address, void* to, size_t bytes) override {
    if (!Allowed(address, bytes)) return false;
    std::memcpy(to, data_ + address, bytes);
    return true;
  }
  bool Write(uint64_t address, const void* from, size_t bytes) override {
    if (!Allowed(address, bytes)) return false;
    std::memcpy(data_ + address, from, bytes);
    return true;
  }

 private:
  bool Allowed(uint64_t address, size_t bytes) {
    const uint64_t size = shared_->dram_size.load(std::memory_order_relaxed);
    if (address > size || bytes > size - address) return false;
    return shared_->bus_error.load(std::memory_order_relaxed) == 0 ||
           shared_->bus_error.exchange(0) == 0;
  }

  uint8_t* data_;
  CoreShared* shared_;
};

void Flip(uint8_t* data, size_t size, const BitFlip& flip) {
  if (size > 0)
    data[flip.byte % size] ^= static_cast<uint8_t>(1u << (flip.bit % 8));
}

bool ReadByte(int fd) {
  char byte;
  ssize_t n;
  do {
    n = read(fd, &byte, 1);
  } while (n < 0 && errno == EINTR);
  return n == 1;
}

}  // namespace

void ServeCore(const isa::Config& config, const model::Options& options,
               uint8_t* dram, CoreShared* shared, desc::TraceEntry* trace,
               int requests, int answers) {
  SharedMemory memory(dram, shared);
  model::Model model(config, &memory, options);
  std::vector<uint32_t> stream;
  while (ReadByte(requests)) {
    if (shared->stuck) {
      for (;;) pause();
    }
    if (shared->clear_sram) model.ClearSram();
    if (shared->flip_sram_valid)
      model.FlipSram(shared->flip_sram.byte, shared->flip_sram.bit);
    model.CorruptNextRead(shared->sram_error);

    const size_t bytes = static_cast<size_t>(shared->request.stream_bytes);
    stream.resize(bytes / sizeof(uint32_t));
    model::RunResult result;
    shared->trace_entries = 0;
    shared->trace_cycles = 0;
    if (!memory.Read(shared->request.stream_address, stream.data(), bytes)) {
      result.status = Status::kBusError;
      result.fault_address = shared->request.stream_address;
    } else {
      if (shared->flip_command_valid) {
        Flip(reinterpret_cast<uint8_t*>(stream.data()), bytes,
             shared->flip_command);
      }
      std::optional<StreamTracer> tracer;
      if (shared->request.trace) {
        tracer.emplace(config, stream.data(), stream.size());
      }
      result = model.Run(
          stream.data(), bytes, shared->request.regions, [&](uint64_t) {
            if (tracer) tracer->Retired(model.sram());
            shared->progress.fetch_add(1, std::memory_order_relaxed);
            return shared->abort.load(std::memory_order_relaxed) == 0;
          });
      if (tracer) {
        const EstimatedTrace estimated = tracer->Finish();
        std::copy(estimated.entries.begin(), estimated.entries.end(), trace);
        shared->trace_entries = static_cast<uint32_t>(estimated.entries.size());
        shared->trace_cycles = estimated.cycles;
      }
    }
    shared->result = result;
    shared->sram_error = model.corruption_waiting();
    if (write(answers, "d", 1) != 1) break;
  }
  _exit(0);
}

}  // namespace heddle::platform
