// SPDX-License-Identifier: Apache-2.0
#include "simulator/rtl/device_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::rtl {
namespace {

// Requests that wait or are served; more than the masters can have use of.
constexpr size_t kQueue = 16;

}  // namespace

DeviceMemory::DeviceMemory(const isa::Config& config,
                           const MemoryOptions& options)
    : latency_(config.dram_latency_cycles + options.extra_latency),
      options_(options),
      random_(options.seed * 0x9e3779b97f4a7c15u | 1) {
  static_assert(isa::kWordBytes == kBeatBytes, "a beat is a word");
  SetOutputs(false);
}

void DeviceMemory::Attach(uint8_t* data, uint64_t size) {
  data_ = data;
  size_ = size;
}

void DeviceMemory::Reset() {
  requests_.clear();
  reads_.clear();
  answers_.clear();
  written_.reset();
  read_.reset();
  SetOutputs(false);
}

uint32_t DeviceMemory::Random(uint32_t below) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<uint32_t>((random_ >> 32) % below);
}

bool DeviceMemory::Stall() {
  return options_.stall_percent != 0 && Random(100) < options_.stall_percent;
}

void DeviceMemory::Violation(const std::string& what) {
  if (violation_.empty()) {
    violation_ = absl::StrCat("memory port, cycle ", cycle_, ": ", what);
  }
}

bool DeviceMemory::Fails(uint64_t address, uint64_t bytes) {
  return address > size_ || size_ - address < bytes ||
         std::exchange(inject_error_, false);
}

bool DeviceMemory::ReadNow(uint64_t address, void* to, size_t bytes) {
  if (Fails(address, bytes)) return false;
  std::memcpy(to, data_ + address, bytes);
  if (flip_ && flip_->address - address < bytes) {
    static_cast<uint8_t*>(to)[flip_->address - address] ^= flip_->mask;
    flip_.reset();
  }
  return true;
}

bool DeviceMemory::WriteNow(uint64_t address, const void* from, size_t bytes) {
  if (Fails(address, bytes)) return false;
  std::memcpy(data_ + address, from, bytes);
  return true;
}

void DeviceMemory::Accept(const FromCore& in) {
  const uint64_t bytes = uint64_t{in.request_beats} * kBeatBytes;
  if (in.request_beats == 0 || in.request_beats > kBeatsMax ||
      in.request_address % kBeatBytes != 0 ||
      in.request_address % kBurstPage + bytes > kBurstPage) {
    Violation(absl::StrFormat("a burst of %d beats at 0x%x", in.request_beats,
                              in.request_address));
    return;
  }
  const uint32_t latency =
      latency_ + (options_.jitter != 0 ? Random(options_.jitter + 1) : 0);
  requests_.push_back(
      {in.request_address, in.request_beats, in.request_write, false, latency});
}

void DeviceMemory::ServeRead() {
  // Memory gives no more than the answer path holds when the core is slow.
  Request& r = requests_.front();
  if (reads_.size() > latency_ + 2 * kBeatsMax) return;
  Read read;
  // The answer path gives one beat per cycle, so a later one cannot overtake.
  read.due = std::max(cycle_ + r.latency, last_due_);
  last_due_ = read.due;
  read.error = Fails(r.address);
  if (read.error) {
    std::memset(read.data, 0, kBeatBytes);
  } else {
    std::memcpy(read.data, data_ + r.address, kBeatBytes);
    if (flip_ && flip_->address - r.address < kBeatBytes) {
      read.data[flip_->address - r.address] ^= flip_->mask;
      flip_.reset();
    }
  }
  reads_.push_back(read);
  read_ = r.address;
  ++read_beats_;
  r.address += kBeatBytes;
  if (--r.beats == 0) requests_.pop_front();
}

void DeviceMemory::ServeWrite(const FromCore& in) {
  Request& r = requests_.front();
  if (Fails(r.address)) {
    r.error = true;
  } else {
    if (in.write_strobe == 0xffff) {
      std::memcpy(data_ + r.address, in.write_data, kBeatBytes);
    } else {
      for (uint32_t i = 0; i < kBeatBytes; ++i) {
        if (in.write_strobe >> i & 1) data_[r.address + i] = in.write_data[i];
      }
    }
    written_ = Written{r.address, in.write_strobe};
  }
  ++write_beats_;
  r.address += kBeatBytes;
  if (--r.beats > 0) return;
  const uint64_t due = cycle_ + r.latency;
  answers_.push_back(
      {answers_.empty() ? due : std::max(due, answers_.back().due), r.error});
  requests_.pop_front();
}

void DeviceMemory::Clock(const FromCore& in) {
  written_.reset();
  read_.reset();
  // What was offered stays until it is taken.
  const bool still_offered = out_.read_valid && !in.read_ready;
  if (out_.read_valid && in.read_ready) reads_.pop_front();
  if (out_.answer_valid) answers_.pop_front();
  if (out_.write_ready && in.write_valid) {
    ServeWrite(in);
  } else if (!requests_.empty() && !requests_.front().write) {
    ServeRead();
  }
  if (out_.request_ready && in.request_valid) Accept(in);
  ++cycle_;
  SetOutputs(still_offered);
}

void DeviceMemory::SetOutputs(bool still_offered) {
  out_.request_ready = requests_.size() < kQueue && !Stall();
  out_.write_ready = !requests_.empty() && requests_.front().write && !Stall();
  out_.read_valid = !reads_.empty() && reads_.front().due <= cycle_ &&
                    (still_offered || !Stall());
  if (out_.read_valid) {
    out_.read_error = reads_.front().error;
    std::memcpy(out_.read_data, reads_.front().data, kBeatBytes);
  }
  out_.answer_valid = !answers_.empty() && answers_.front().due <= cycle_;
  if (out_.answer_valid) out_.answer_error = answers_.front().error;
}

}  // namespace heddle::rtl
