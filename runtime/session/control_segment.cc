// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/control_segment.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compiler/host/host_function.h"
#include "compiler/ir/control_flow.h"
#include "runtime/hal/status.h"
#include "runtime/session/buffers.h"
#include "runtime/session/graph.h"
#include "runtime/session/value.h"

namespace heddle::session {
namespace {

using Stop = std::function<absl::Status()>;

// While the card has no room for a job.
constexpr absl::Duration kRetry = absl::Milliseconds(1);

uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

// A package on the card, from pointers to pointers.
absl::Status RunCard(LoadedGraph* card, const std::vector<const uint8_t*>& from,
                     const std::vector<uint8_t*>& to, const Stop& stop,
                     RunStatistics* statistics) {
  const package::Package& package = card->package();
  std::vector<TensorBuffer> inputs, outputs;
  for (size_t i = 0; i < from.size(); ++i) {
    const package::TensorInfo& info = package.inputs[i];
    // Only read, as the contents of an input are.
    inputs.push_back({info.name, const_cast<uint8_t*>(from[i]), info.size});
  }
  for (size_t i = 0; i < to.size(); ++i) {
    const package::TensorInfo& info = package.outputs[i];
    outputs.push_back({info.name, to[i], info.size});
  }
  for (;;) {
    auto run = card->Start(inputs, outputs, nullptr, RunOptions());
    if (run.ok()) {
      const absl::Status status = (*run)->Wait(absl::InfiniteFuture());
      AddTo((*run)->statistics(), statistics);
      return status;
    }
    if (!absl::IsResourceExhausted(run.status()) ||
        hal::ExhaustedResource(run.status()) !=
            hal::Resource::kDeviceResources) {
      return run.status();
    }
    if (absl::Status s = stop(); !s.ok()) return s;
    absl::SleepFor(kRetry);
  }
}

}  // namespace

void AddTo(const RunStatistics& part, RunStatistics* sum) {
  sum->cycles += part.cycles;
  sum->macs += part.macs;
  sum->commands += part.commands;
  sum->bytes_loaded += part.bytes_loaded;
  sum->bytes_stored += part.bytes_stored;
  sum->matrix_busy += part.matrix_busy;
  sum->vector_busy += part.vector_busy;
  sum->dma_busy += part.dma_busy;
  sum->bytes_in += part.bytes_in;
  sum->bytes_out += part.bytes_out;
  sum->bytes_on_card += part.bytes_on_card;
  sum->bytes_by_host += part.bytes_by_host;
}

// A body: a package that is the card's as a whole, or segments in order.
class ControlSegment::Body {
 public:
  static absl::StatusOr<std::unique_ptr<Body>> Make(const package::Body& body) {
    auto made = std::make_unique<Body>();
    made->package_ = body.package;
    made->slots_ = body.slots;
    const package::Package& package = *body.package;
    const auto value_of = [&](const package::TensorInfo& tensor) {
      return static_cast<uint32_t>(Find(package.values, tensor.name) -
                                   package.values.data());
    };
    if (package.segments.empty()) {
      made->segments_.emplace_back();
      return made;
    }
    made->value_bytes_ = package.io_bytes;
    for (const auto& t : package.inputs) {
      made->inputs_.push_back(value_of(t));
    }
    for (const auto& t : package.outputs) {
      made->outputs_.push_back(value_of(t));
    }
    for (const package::Segment& segment : package.segments) {
      Part part;
      if (segment.kind() == package::SegmentKind::kHost) {
        auto host = compiler::HostFunction::Make(segment.host);
        if (!host.ok()) return host.status();
        for (compiler::TensorId id : host->graph().outputs) {
          if (host->bounded().of(id) == 0) continue;
          return absl::InvalidArgumentError(absl::StrCat(
              "'", host->graph().tensors[id].name,
              "' passes from one segment of a body to another, or out of it, "
              "and its size depends on values"));
        }
        made->host_bytes_ = std::max(made->host_bytes_, host->working_bytes());
        part.host = *std::move(host);
      } else if (segment.kind() == package::SegmentKind::kControl) {
        auto control = ControlSegment::Make(segment, package);
        if (!control.ok()) return control.status();
        made->host_bytes_ =
            std::max(made->host_bytes_, (*control)->working_bytes());
        part.control = *std::move(control);
      }
      made->segments_.push_back(std::move(part));
    }
    return made;
  }

  // Weights and streams go from the package to the card.
  absl::Status LoadCards(const std::shared_ptr<DeviceCore>& core,
                         const LoadOptions& options, uint64_t* device_bytes) {
    auto own = std::make_shared<package::Package>(*package_);
    const auto load = [&](std::shared_ptr<const package::Package>* package,
                          Part* part) -> absl::Status {
      auto card = LoadedGraph::Load(core, **package, options);
      if (!card.ok()) return card.status();
      part->card = *std::move(card);
      *device_bytes = SaturatingAdd(*device_bytes, part->card->device_bytes());
      *package =
          std::make_shared<const package::Package>(part->card->package());
      return absl::OkStatus();
    };
    if (own->segments.empty()) {
      std::shared_ptr<const package::Package> whole = std::move(own);
      if (absl::Status s = load(&whole, &segments_[0]); !s.ok()) return s;
      package_ = std::move(whole);
      return absl::OkStatus();
    }
    for (size_t i = 0; i < own->segments.size(); ++i) {
      package::Segment& segment = own->segments[i];
      if (segment.card != nullptr) {
        if (absl::Status s = load(&segment.card, &segments_[i]); !s.ok()) {
          return s;
        }
      } else if (segments_[i].control != nullptr) {
        ControlSegment& control = *segments_[i].control;
        if (absl::Status s = control.LoadCards(core, options, &segment);
            !s.ok()) {
          return s;
        }
        *device_bytes = SaturatingAdd(*device_bytes, control.device_bytes());
      }
    }
    package_ = std::move(own);
    return absl::OkStatus();
  }

  uint64_t working_bytes() const {
    return SaturatingAdd(value_bytes_, host_bytes_);
  }
  uint64_t value_bytes() const { return value_bytes_; }
  const std::shared_ptr<const package::Package>& package() const {
    return package_;
  }

  // `values`: memory of value_bytes() for what is in between.
  absl::Status Run(const std::vector<const uint8_t*>& slots,
                   const std::vector<uint8_t*>& results, uint8_t* values,
                   const Stop& stop, RunStatistics* statistics) const {
    std::vector<const uint8_t*> from;
    for (uint32_t slot : slots_) from.push_back(slots[slot]);
    if (segments_[0].card != nullptr && package_->segments.empty()) {
      return RunCard(segments_[0].card.get(), from, results, stop, statistics);
    }
    // Inputs and results lie where the caller has them. An input is written by
    // nobody.
    std::vector<uint8_t*> places(package_->values.size(), nullptr);
    for (size_t i = 0; i < from.size(); ++i) {
      places[inputs_[i]] = const_cast<uint8_t*>(from[i]);
    }
    std::vector<size_t> copied;  // results that are inputs, or other results
    for (size_t i = 0; i < results.size(); ++i) {
      uint8_t*& place = places[outputs_[i]];
      if (place == nullptr) {
        place = results[i];
      } else {
        copied.push_back(i);
      }
    }
    for (size_t v = 0; v < places.size(); ++v) {
      if (places[v] == nullptr) places[v] = values + package_->values[v].offset;
    }
    for (size_t i = 0; i < segments_.size(); ++i) {
      if (absl::Status s = stop(); !s.ok()) return s;
      if (absl::Status s = RunPart(i, places, stop, statistics); !s.ok()) {
        return s;
      }
    }
    for (size_t i : copied) {
      const uint64_t size = package_->values[outputs_[i]].size;
      if (size > 0) std::memcpy(results[i], places[outputs_[i]], size);
    }
    return absl::OkStatus();
  }

 private:
  struct Part {
    std::shared_ptr<LoadedGraph> card;
    std::optional<compiler::HostFunction> host;
    std::unique_ptr<ControlSegment> control;
  };

  absl::Status RunPart(size_t i, const std::vector<uint8_t*>& places,
                       const Stop& stop, RunStatistics* statistics) const {
    const package::Segment& segment = package_->segments[i];
    const Part& part = segments_[i];
    std::vector<const uint8_t*> from;
    std::vector<uint8_t*> to;
    for (uint32_t v : segment.inputs) from.push_back(places[v]);
    for (uint32_t v : segment.outputs) to.push_back(places[v]);
    if (part.card != nullptr) {
      return RunCard(part.card.get(), from, to, stop, statistics);
    }
    if (part.control != nullptr) {
      return part.control->Run(from, to, stop, statistics);
    }
    return part.host->Run(from, to, stop);
  }

  std::shared_ptr<const package::Package> package_;
  std::vector<uint32_t> slots_;             // of its inputs
  std::vector<uint32_t> inputs_, outputs_;  // values
  std::vector<Part> segments_;
  uint64_t value_bytes_ = 0, host_bytes_ = 0;
};

ControlSegment::~ControlSegment() = default;

absl::StatusOr<std::unique_ptr<ControlSegment>> ControlSegment::Make(
    const package::Segment& segment, const package::Package& whole) {
  std::unique_ptr<ControlSegment> made(new ControlSegment());
  made->control_ = segment.control;
  made->inputs_ = TypesOf(whole, segment.inputs);
  made->outputs_ = TypesOf(whole, segment.outputs);
  uint64_t most = 0;
  for (const package::Body& body : segment.bodies) {
    auto own = Body::Make(body);
    if (!own.ok()) return own.status();
    most = std::max(most, (*own)->working_bytes());
    made->bodies_.push_back(*std::move(own));
  }
  made->working_bytes_ =
      SaturatingAdd(DriveBytes(made->control_, made->inputs_), most);
  return made;
}

absl::Status ControlSegment::LoadCards(const std::shared_ptr<DeviceCore>& core,
                                       const LoadOptions& options,
                                       package::Segment* segment) {
  for (size_t b = 0; b < bodies_.size(); ++b) {
    absl::Status s = bodies_[b]->LoadCards(core, options, &device_bytes_);
    if (!s.ok()) return s;
    segment->bodies[b].package = bodies_[b]->package();
  }
  return absl::OkStatus();
}

absl::Status ControlSegment::Run(const std::vector<const uint8_t*>& from,
                                 const std::vector<uint8_t*>& to,
                                 const Stop& stop,
                                 RunStatistics* statistics) const {
  Value values;  // of the body that runs: an If has one, a Loop the same always
  const auto run = [&](size_t body, const std::vector<const uint8_t*>& slots,
                       const std::vector<uint8_t*>& results) {
    if (values.data() == nullptr) values.Allocate(bodies_[body]->value_bytes());
    return bodies_[body]->Run(slots, results, values.data(), stop, statistics);
  };
  return Drive(control_, inputs_, outputs_, from, to, run, stop);
}

}  // namespace heddle::session
