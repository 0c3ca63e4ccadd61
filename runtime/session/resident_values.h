// SPDX-License-Identifier: Apache-2.0
// Where the values of a run of segments are that are given as resident tensors
// (session.h), and how they get to the segments:
//
//   read by the card     bound to its job, which copies it on the card
//   read by the host     transferred to a host buffer, once, before that
//   written by the card  bound to its job. If the run reads the same tensor at
//                        another place, maybe later: to a tensor of its own,
//                        and copied on the card at the end.
//   written by the host  into a host buffer, transferred at the end
//
// The host never copies them. What comes at the end comes only if all segments
// have succeeded.
#ifndef HEDDLE_RUNTIME_SESSION_RESIDENT_VALUES_H_
#define HEDDLE_RUNTIME_SESSION_RESIDENT_VALUES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/package/package.h"
#include "runtime/session/device_core.h"
#include "runtime/session/host_buffer.h"
#include "runtime/session/resident.h"
#include "runtime/session/segment_pool.h"
#include "runtime/session/session.h"
#include "runtime/session/turn_line.h"

namespace heddle::session {

// Host buffers of runs that have ended, for the next ones.
class SpareHostBuffers {
 public:
  SpareHostBuffers() { kept_.reserve(kMostKept); }
  absl::StatusOr<std::shared_ptr<HostBuffer>> Take(
      const std::shared_ptr<DeviceCore>& core, uint64_t bytes);
  void Give(std::shared_ptr<HostBuffer> buffer) noexcept;

 private:
  static constexpr size_t kMostKept = 8;
  std::mutex mutex_;
  std::vector<std::shared_ptr<HostBuffer>> kept_;
};

class ResidentValues {
 public:
  // A tensor that the caller gives, and its value.
  struct Given {
    const TensorBuffer* buffer;
    uint32_t value;
  };
  // `parts`: one for each segment, and what each waits for. Null if no tensor
  // is resident. InvalidArgument: a tensor is of another device or size, or two
  // outputs are the same.
  static absl::StatusOr<std::unique_ptr<ResidentValues>> Make(
      std::shared_ptr<DeviceCore> core, const package::Package& package,
      const std::vector<SegmentPart>& parts, const std::vector<Given>& inputs,
      const std::vector<Given>& outputs,
      std::shared_ptr<SpareHostBuffers> spare);
  ~ResidentValues();
  ResidentValues(const ResidentValues&) = delete;
  ResidentValues& operator=(const ResidentValues&) = delete;

  // What a segment of the card binds to the value; null: it is in host memory
  // only.
  const std::shared_ptr<Resident>& on_card(uint32_t value) const {
    return places_[value].card;
  }
  // Where it is in host memory, or is to be written; null: it is the caller's,
  // or has no place there.
  uint8_t* in_host(uint32_t value) const;
  const std::shared_ptr<HostBuffer>& host() const { return host_; }

  // Of the segments, those that wait for the runs before.
  std::vector<size_t> Held() const { return held_; }
  std::vector<TurnLine::Use> Uses() const { return uses_; }

  // Behind these segments: has those values in host memory that are on the card
  // so far. Of any thread; `stop` is asked while the card has no room.
  absl::Status Fetch(const std::vector<uint32_t>& values,
                     const std::function<absl::Status()>& stop,
                     RunStatistics* copies);
  // Behind all segments: what the job at the end does, maybe nothing.
  // `bytes_of` says how many bytes of a value there are.
  bool HasLastJob() const { return has_last_job_; }
  std::vector<hal::Step> LastJob(
      const std::function<uint64_t(uint32_t)>& bytes_of,
      RunStatistics* copies) const;

 private:
  // In the memory of the card, of the host, or of both.
  struct Place {
    std::shared_ptr<Resident> card;
    bool has_host = false;
    uint64_t offset = 0;   // in the host buffer
    bool fetched = false;  // what is on the card is there
  };
  // At the end.
  struct Store {
    uint32_t value;
    std::shared_ptr<Resident> to;
    bool by_host;  // by way of the host buffer, or on the card
  };
  struct Plan;

  ResidentValues(std::shared_ptr<DeviceCore> core,
                 std::shared_ptr<SpareHostBuffers> spare, size_t values)
      : core_(std::move(core)), spare_(std::move(spare)), places_(values) {}
  hal::Step FetchStep(uint32_t value) const;

  const std::shared_ptr<DeviceCore> core_;
  const std::shared_ptr<SpareHostBuffers> spare_;
  std::vector<Place> places_;
  std::shared_ptr<HostBuffer> host_;
  std::vector<Store> stores_;
  std::vector<uint32_t> last_fetches_;  // before the stores
  bool has_last_job_ = false;
  std::vector<size_t> held_;
  std::vector<TurnLine::Use> uses_;
  std::mutex fetching_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_RESIDENT_VALUES_H_
