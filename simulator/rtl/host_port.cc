// SPDX-License-Identifier: Apache-2.0
#include "simulator/rtl/host_port.h"

#include <cstring>

#include "absl/strings/str_format.h"

namespace heddle::rtl {
namespace {

// Requests that wait or are served.
constexpr size_t kQueue = 16;

}  // namespace

void HostPort::Reset() {
  requests_.clear();
  reads_.clear();
  answers_.clear();
  beat_ = 0;
  SetOutputs();
}

void HostPort::Accept(const FromCard& in) {
  const uint64_t bytes = uint64_t{in.request_beats} * kBeatBytes;
  if (in.request_beats == 0 || in.request_beats > kBeatsMax ||
      in.request_address % kBeatBytes != 0 ||
      in.request_address % kBurstPage + bytes > kBurstPage) {
    if (violation_.empty()) {
      violation_ =
          absl::StrFormat("host port, cycle %d: a burst of %d beats at 0x%x",
                          cycle_, in.request_beats, in.request_address);
    }
    return;
  }
  requests_.push_back({in.request_address, in.request_beats, in.request_write});
}

void HostPort::ServeRead(const Request& request) {
  if (beat_ == 0) {
    data_.resize(request.beats * kBeatBytes);
    error_ = !access_(false, request.address, data_.data(), data_.size());
  }
  Read read;
  read.due = cycle_ + latency_;
  read.error = error_;
  std::memcpy(read.data, &data_[beat_ * kBeatBytes], kBeatBytes);
  reads_.push_back(read);
}

bool HostPort::Write(const Request& request) {
  bool ok = true;
  // Runs of bytes that are written; a burst of the card has one.
  for (size_t i = 0; i < data_.size();) {
    size_t n = 0;
    while (i + n < data_.size() &&
           (strobes_[(i + n) / kBeatBytes] >> ((i + n) % kBeatBytes) & 1)) {
      ++n;
    }
    if (n != 0) ok = access_(true, request.address + i, &data_[i], n) && ok;
    i += n + 1;
  }
  return ok;
}

void HostPort::ServeWrite(const Request& request, const FromCard& in) {
  if (beat_ == 0) {
    data_.resize(request.beats * kBeatBytes);
    strobes_.resize(request.beats);
  }
  std::memcpy(&data_[beat_ * kBeatBytes], in.write_data, kBeatBytes);
  strobes_[beat_] = in.write_strobe;
  if (beat_ + 1 == request.beats) {
    answers_.push_back({cycle_ + latency_, !Write(request)});
  }
}

void HostPort::Clock(const FromCard& in) {
  if (out_.read_valid && in.read_ready) reads_.pop_front();
  if (out_.answer_valid) answers_.pop_front();
  if (!requests_.empty()) {
    const Request request = requests_.front();
    const bool serve = !request.write || (out_.write_ready && in.write_valid);
    if (serve && request.write) {
      ServeWrite(request, in);
    } else if (serve) {
      ServeRead(request);
    }
    if (serve && ++beat_ == request.beats) {
      beat_ = 0;
      requests_.pop_front();
    }
  }
  if (out_.request_ready && in.request_valid) Accept(in);
  ++cycle_;
  SetOutputs();
}

void HostPort::SetOutputs() {
  out_.request_ready = requests_.size() < kQueue;
  out_.write_ready = !requests_.empty() && requests_.front().write;
  out_.read_valid = !reads_.empty() && reads_.front().due <= cycle_;
  if (out_.read_valid) {
    out_.read_error = reads_.front().error;
    std::memcpy(out_.read_data, reads_.front().data, kBeatBytes);
  }
  out_.answer_valid = !answers_.empty() && answers_.front().due <= cycle_;
  if (out_.answer_valid) out_.answer_error = answers_.front().error;
}

}  // namespace heddle::rtl
