// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/resident_values.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/hal/status.h"
#include "runtime/session/buffers.h"

namespace heddle::session {
namespace {

constexpr size_t kNobody = SIZE_MAX;
// While the card has no room for a job.
constexpr absl::Duration kRetry = absl::Milliseconds(1);

const hal::Buffer& BufferOf(const Resident& resident) {
  return static_cast<const ResidentBuffer&>(resident).buffer();
}

// Whether `part` is one of those that `of` waits for.
bool IsBefore(const std::vector<SegmentPart>& parts, size_t part, size_t of) {
  std::vector<bool> seen(parts.size());
  std::vector<size_t> left = {of};
  while (!left.empty()) {
    const size_t next = left.back();
    left.pop_back();
    for (size_t before : parts[next].before) {
      if (before == part) return true;
      if (seen[before]) continue;
      seen[before] = true;
      left.push_back(before);
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<std::shared_ptr<HostBuffer>> SpareHostBuffers::Take(
    const std::shared_ptr<DeviceCore>& core, uint64_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto fits =
        std::find_if(kept_.begin(), kept_.end(),
                     [bytes](const auto& b) { return b->size() >= bytes; });
    if (fits != kept_.end()) {
      std::shared_ptr<HostBuffer> taken = std::move(*fits);
      kept_.erase(fits);
      return taken;
    }
  }
  return MappedHostBuffer::Make(core, bytes);
}

void SpareHostBuffers::Give(std::shared_ptr<HostBuffer> buffer) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The oldest goes: a later run is like the last one.
  if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
  kept_.push_back(std::move(buffer));
}

// What is known of each value while the places are chosen.
struct ResidentValues::Plan {
  Plan(const package::Package& package, const std::vector<SegmentPart>& parts,
       const std::vector<Given>& inputs, const std::vector<Given>& outputs)
      : parts(parts),
        inputs(inputs),
        writer(package.values.size(), kNobody),
        readers(package.values.size()),
        is_output(package.values.size()) {
    for (size_t s = 0; s < package.segments.size(); ++s) {
      for (uint32_t v : package.segments[s].inputs) readers[v].push_back(s);
      for (uint32_t v : package.segments[s].outputs) writer[v] = s;
    }
    for (const Given& output : outputs) is_output[output.value] = true;
  }

  bool HostReads(uint32_t v) const {
    return std::any_of(readers[v].begin(), readers[v].end(),
                       [this](size_t s) { return parts[s].host; });
  }
  // Whether an input in that tensor may be read after segment `s` has written
  // it.
  bool MayBeReadBehind(const Resident* tensor, size_t s) const {
    for (const Given& input : inputs) {
      if (input.buffer->resident.get() != tensor) continue;
      if (is_output[input.value]) return true;  // at the end
      for (size_t reader : readers[input.value]) {
        if (reader != s && !IsBefore(parts, reader, s)) return true;
      }
    }
    return false;
  }

  const std::vector<SegmentPart>& parts;
  const std::vector<Given>& inputs;
  std::vector<size_t> writer;  // kNobody: the caller gives it
  std::vector<std::vector<size_t>> readers;
  std::vector<bool> is_output;
};

absl::StatusOr<std::unique_ptr<ResidentValues>> ResidentValues::Make(
    std::shared_ptr<DeviceCore> core, const package::Package& package,
    const std::vector<SegmentPart>& parts, const std::vector<Given>& inputs,
    const std::vector<Given>& outputs,
    std::shared_ptr<SpareHostBuffers> spare) {
  const auto is_resident = [](const Given& given) {
    return given.buffer->resident != nullptr;
  };
  if (std::none_of(inputs.begin(), inputs.end(), is_resident) &&
      std::none_of(outputs.begin(), outputs.end(), is_resident)) {
    return std::unique_ptr<ResidentValues>();
  }
  std::unique_ptr<ResidentValues> made(new ResidentValues(
      std::move(core), std::move(spare), package.values.size()));
  const Plan plan(package, parts, inputs, outputs);
  std::vector<bool> held(parts.size());
  for (const Given& input : inputs) {
    if (!is_resident(input)) continue;
    if (auto s = ResidentOf(*input.buffer, *made->core_); !s.ok()) {
      return s.status();
    }
    made->places_[input.value].card = input.buffer->resident;
    made->uses_.push_back({input.buffer->resident.get(), false});
    for (size_t s : plan.readers[input.value]) held[s] = true;
  }
  for (const Given& output : outputs) {
    if (!is_resident(output)) continue;
    if (auto s = ResidentOf(*output.buffer, *made->core_); !s.ok()) {
      return s.status();
    }
    const auto same = std::find_if(
        outputs.begin(), outputs.end(), [&output](const Given& other) {
          return other.buffer->resident == output.buffer->resident;
        });
    if (same->value != output.value) {
      return absl::InvalidArgumentError(absl::StrCat(
          "outputs '", same->buffer->name, "' and '", output.buffer->name,
          "' of ", Name(package), " are given the same resident tensor"));
    }
    made->uses_.push_back({output.buffer->resident.get(), true});
  }
  const auto is_written = [&](const Resident* tensor) {
    return std::any_of(outputs.begin(), outputs.end(),
                       [tensor](const Given& output) {
                         return output.buffer->resident.get() == tensor;
                       });
  };
  for (const Given& output : outputs) {
    const uint32_t v = output.value;
    Place& place = made->places_[v];
    const std::shared_ptr<Resident>& to = output.buffer->resident;
    const size_t writer = plan.writer[v];
    if (to == nullptr) {
      // An input of the run that is resident, and an output that is not.
      if (place.card == nullptr) continue;
      place.has_host = true;
      made->last_fetches_.push_back(v);
    } else if (writer == kNobody) {
      if (place.card == to) continue;
      // Not from a tensor that the job at the end also writes.
      const bool by_host =
          place.card == nullptr || is_written(place.card.get());
      if (by_host) {
        if (place.card != nullptr) made->last_fetches_.push_back(v);
        place.has_host = true;
      }
      made->stores_.push_back({v, to, by_host});
    } else if (parts[writer].host) {
      place.has_host = true;
      made->stores_.push_back({v, to, true});
    } else if (plan.MayBeReadBehind(to.get(), writer)) {
      auto own = ResidentBuffer::Make(made->core_, output.buffer->size);
      if (!own.ok()) return own.status();
      place.card = *std::move(own);
      made->stores_.push_back({v, to, false});
    } else {
      place.card = to;
      held[writer] = true;
    }
  }
  uint64_t bytes = 0;
  for (uint32_t v = 0; v < made->places_.size(); ++v) {
    Place& place = made->places_[v];
    if (place.card != nullptr && plan.HostReads(v)) place.has_host = true;
    if (!place.has_host) continue;
    place.offset = bytes;
    bytes += (package.values[v].size + package::kValueAlign - 1) /
             package::kValueAlign * package::kValueAlign;
  }
  if (bytes > 0) {
    auto host = made->spare_->Take(made->core_, bytes);
    if (!host.ok()) return host.status();
    made->host_ = *std::move(host);
  }
  const size_t steps = made->last_fetches_.size() + made->stores_.size();
  const size_t most = made->core_->device().info().max_steps;
  if (steps > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("the host computes ", steps, " resident tensors of ",
                     Name(package), "; the limit is ", most, " per inference"));
  }
  made->has_last_job_ = steps > 0;
  for (size_t s = 0; s < held.size(); ++s) {
    if (held[s]) made->held_.push_back(s);
  }
  if (made->has_last_job_) made->held_.push_back(parts.size());
  return made;
}

ResidentValues::~ResidentValues() {
  if (host_ != nullptr) spare_->Give(std::move(host_));
}

uint8_t* ResidentValues::in_host(uint32_t value) const {
  const Place& place = places_[value];
  return place.has_host ? host_->data() + place.offset : nullptr;
}

hal::Step ResidentValues::FetchStep(uint32_t value) const {
  const Place& place = places_[value];
  return hal::Step::CopyOut(
      BufferOf(*place.card), 0,
      static_cast<const MappedHostBuffer&>(*host_).buffer(), place.offset,
      place.card->size());
}

absl::Status ResidentValues::Fetch(const std::vector<uint32_t>& values,
                                   const std::function<absl::Status()>& stop,
                                   RunStatistics* copies) {
  const std::lock_guard<std::mutex> lock(fetching_);
  for (uint32_t v : values) {
    Place& place = places_[v];
    if (place.card == nullptr || place.fetched) continue;
    for (;;) {
      const absl::Status status = core_->context().Execute({FetchStep(v)});
      if (status.ok()) break;
      if (!absl::IsResourceExhausted(status) ||
          hal::ExhaustedResource(status) != hal::Resource::kDeviceResources) {
        return status;
      }
      if (absl::Status s = stop(); !s.ok()) return s;
      absl::SleepFor(kRetry);
    }
    place.fetched = true;
    copies->bytes_out += place.card->size();
  }
  return absl::OkStatus();
}

std::vector<hal::Step> ResidentValues::LastJob(
    const std::function<uint64_t(uint32_t)>& bytes_of,
    RunStatistics* copies) const {
  std::vector<hal::Step> steps;
  for (uint32_t v : last_fetches_) {
    if (places_[v].fetched) continue;
    steps.push_back(FetchStep(v));
    copies->bytes_out += places_[v].card->size();
  }
  for (const Store& store : stores_) {
    const uint64_t bytes = bytes_of(store.value);
    if (bytes == 0) continue;
    const Place& place = places_[store.value];
    if (store.by_host) {
      steps.push_back(hal::Step::CopyIn(
          static_cast<const MappedHostBuffer&>(*host_).buffer(), place.offset,
          BufferOf(*store.to), 0, bytes));
      copies->bytes_in += bytes;
    } else {
      steps.push_back(hal::Step::CopyOnCard(BufferOf(*place.card), 0,
                                            BufferOf(*store.to), 0, bytes));
      copies->bytes_on_card += bytes;
    }
  }
  return steps;
}

}  // namespace heddle::session
