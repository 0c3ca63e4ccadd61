// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/platform.h"

#include <functional>
#include <utility>

#include "simulator/platform/config_space.h"
#include "simulator/platform/dram.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/functional_core.h"
#include "simulator/platform/host_bridge.h"
#include "simulator/platform/interrupt_controller.h"
#include "simulator/platform/rtl_card.h"
#include "simulator/platform/units_front.h"
#include "simulator/rtl/card_model.h"

namespace heddle::platform {

struct Platform::Units {
  explicit Units(std::unique_ptr<DramStore> memory)
      : store(std::move(memory)),
        reactor("reactor"),
        interrupts(&config, &faults, Later()),
        bridge("bridge", &config, &faults, &interrupts,
               [this](bool power_cycle) { Reset(power_cycle); }) {}

  std::function<void(uint32_t ms, std::function<void()> what)> Later() {
    return [this](uint32_t ms, std::function<void()> what) {
      reactor.RunAfter(ms, std::move(what));
    };
  }

  absl::Status MakeFront(const PlatformOptions& options) {
    absl::Status status = options.rtl ? MakeRtl(options) : MakeUnits(options);
    if (status.ok()) front->Bind(&bridge, dram.get());
    return status;
  }

  absl::Status MakeRtl(const PlatformOptions& options) {
    auto card = std::make_unique<RtlCard>("card", store.get(), &faults,
                                          &interrupts, options.quantum);
    rtl::CardOptions rtl;
    rtl.serial = options.serial;
    rtl.host_latency = options.host_latency;
    absl::Status status = card->Make(*options.config, rtl);
    if (status.ok() && !options.trace_file.empty()) {
      status = card->model()->Trace(options.trace_file, options.trace_from,
                                    options.trace_to);
    }
    front = std::move(card);
    return status;
  }

  absl::Status MakeUnits(const PlatformOptions& options) {
    dram =
        std::make_unique<Dram>("dram", *options.config, store.get(), &faults);
    model::Options functional;
    functional.implementation = options.implementation;
    core = std::make_unique<FunctionalCore>("core", *options.config, functional,
                                            store.get(), &reactor, &faults);
    core->memory.bind(dram->port);
    auto units = std::make_unique<UnitsFront>(*options.config, options.serial,
                                              store.get(), core.get(),
                                              &interrupts, &faults, Later());
    units->ShowVersion(options.hw_version);
    front = std::move(units);
    return absl::OkStatus();
  }

  void Reset(bool power_cycle) {
    front->Reset(power_cycle);
    if (power_cycle) {
      store->Clear();
      faults.Disarm();
    }
  }

  Faults faults;
  ConfigSpace config;
  std::unique_ptr<DramStore> store;
  Reactor reactor;
  InterruptController interrupts;
  HostBridge bridge;
  // nullptr where `front` has them.
  std::unique_ptr<Dram> dram;
  std::unique_ptr<Core> core;
  std::unique_ptr<FrontEnd> front;
};

absl::StatusOr<std::unique_ptr<Platform>> Platform::Create(
    const PlatformOptions& options) {
  absl::StatusOr<std::unique_ptr<DramStore>> store =
      DramStore::Create(options.dram_bytes);
  if (!store.ok()) return store.status();
  auto units = std::make_unique<Units>(std::move(*store));
  absl::Status status = units->MakeFront(options);
  if (!status.ok()) return status;
  return std::unique_ptr<Platform>(new Platform(std::move(units)));
}

Platform::Platform(std::unique_ptr<Units> units) : units_(std::move(units)) {}
Platform::~Platform() = default;

Card* Platform::card() { return &units_->bridge; }
Reactor* Platform::reactor() { return &units_->reactor; }
Faults* Platform::faults() { return &units_->faults; }
bool Platform::CanRunAway() const { return units_->front->CanRunAway(); }

void Platform::SetPresent(bool present) {
  if (present == units_->bridge.present()) return;
  units_->bridge.SetPresent(present);
  units_->bridge.PowerCycle();
}

absl::Status Platform::ResizeMemory(uint64_t bytes) {
  absl::Status status = units_->store->Resize(bytes);
  if (!status.ok()) return status;
  if (units_->core != nullptr) units_->core->DramResized();
  units_->front->DramResized();
  return absl::OkStatus();
}

void Platform::SpuriousInterrupt(uint32_t vector) {
  units_->interrupts.Spurious(vector);
}

PlatformStatus Platform::status() const {
  PlatformStatus s;
  s.present = units_->bridge.present();
  s.dram_bytes = units_->store->size();
  const FrontStatus front = units_->front->status();
  s.status = front.status;
  s.progress = front.progress;
  s.running_fence = front.running_fence;
  s.jobs = front.jobs;
  s.faults = front.faults;
  s.resets = front.resets;
  s.device_error = front.device_error;
  s.sram_corrected = front.sram_corrected;
  s.interrupts_sent = units_->interrupts.sent();
  s.mapped_ranges = units_->bridge.mapped_ranges();
  s.refused_dma = units_->bridge.refused_dma();
  return s;
}

}  // namespace heddle::platform
