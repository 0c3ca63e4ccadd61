// SPDX-License-Identifier: Apache-2.0
//
// A minimal host around a CardModel, without SystemC and sockets: host memory
// with a completion ring and job rings, and jobs in them. For the self-test and
// for tests of the model.
//
// Host memory occupies kHost .. kHost + kHostBytes of the host's addresses;
// everything else returns an error.
#ifndef HEDDLE_SIMULATOR_RTL_CARD_HOST_H_
#define HEDDLE_SIMULATOR_RTL_CARD_HOST_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/rtl/card_model.h"

namespace heddle::rtl {

class CardHost : private CardEnvironment {
 public:
  static constexpr uint64_t kHost = 0x1200000000;
  static constexpr uint64_t kHostBytes = 1 << 20;

  // A card with so much device memory, and with rings set up.
  static absl::StatusOr<std::unique_ptr<CardHost>> Make(
      const isa::Config& config, uint64_t device_bytes,
      const CardOptions& options = {});

  CardModel* model() { return model_.get(); }
  std::vector<uint8_t>& device() { return device_; }
  uint8_t* At(uint64_t iova) { return &host_[iova - kHost]; }

  // Again after a reset of the card.
  void SetUpRings();
  uint64_t Alloc(size_t bytes);
  void FreeAll() { free_ = first_free_; }
  template <typename T>
  uint64_t Put(const std::vector<T>& values) {
    const uint64_t iova = Alloc(values.size() * sizeof(T));
    std::memcpy(At(iova), values.data(), values.size() * sizeof(T));
    return iova;
  }

  desc::Step CopyIn(uint64_t device, const std::vector<uint8_t>& bytes);
  desc::Step CopyOut(uint64_t device, uint64_t length, uint64_t iova);
  desc::Step Run(uint64_t device, uint64_t length,
                 std::vector<desc::Region> regions);

  // Puts a job into ring 0 and rings the doorbell; returns the fence.
  uint64_t Queue(const std::vector<desc::Step>& steps, uint32_t flags = 0);
  // Advances, `quantum` cycles at a time, until the next record is there and
  // the card idle; false if not within `limit` cycles.
  bool Wait(desc::Completion* record, uint64_t limit, uint64_t quantum = 1000);

  uint64_t interrupts(uint32_t vector) const { return interrupts_[vector]; }
  // Called where a stream starts.
  void OnStream(std::function<void(const StreamStart&)> what) {
    on_stream_ = std::move(what);
  }

 private:
  explicit CardHost(uint64_t device_bytes)
      : host_(kHostBytes), device_(device_bytes) {}
  bool Host(bool write, uint64_t iova, void* data, size_t bytes) override;
  void Interrupt(uint32_t vector) override { ++interrupts_[vector]; }
  void Cleared() override {}
  void StreamStarts(const StreamStart& stream) override {
    if (on_stream_) on_stream_(stream);
  }

  std::vector<uint8_t> host_, device_;
  std::unique_ptr<CardModel> model_;
  std::function<void(const StreamStart&)> on_stream_;
  uint64_t free_ = kHost, first_free_ = kHost;
  uint64_t completion_ = 0, ring_ = 0;
  uint32_t head_ = 0, completions_ = 0;
  uint64_t fence_ = 0;
  uint64_t interrupts_[4] = {};
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_CARD_HOST_H_
