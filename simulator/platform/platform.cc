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
#include "simulator/platform/rtl_core.h"
#include "simulator/platform/rtl_front.h"
#include "simulator/platform/units_front.h"
#include "simulator/rtl/core_model.h"

namespace heddle::platform {

struct Platform::Units {
  // `model`: the RTL core; nullptr for the functional model.
  Units(const PlatformOptions& options, std::unique_ptr<DramStore> memory,
        std::unique_ptr<rtl::CoreModel> model)
      : store(std::move(memory)),
        reactor("reactor"),
        interrupts(&config, &faults,
                   [this](uint32_t ms, std::function<void()> what) {
                     reactor.RunAfter(ms, std::move(what));
                   }),
        dram("dram", *options.config, store.get(), &faults),
        core(MakeCore(options, std::move(model))),
        front(MakeFront(options)),
        bridge("bridge", &config, &faults, &interrupts,
               [this](bool power_cycle) { Reset(power_cycle); }) {
    front->Bind(&bridge, &dram);
    core->memory.bind(dram.port);
  }

  std::unique_ptr<Core> MakeCore(const PlatformOptions& options,
                                 std::unique_ptr<rtl::CoreModel> model) {
    if (model != nullptr) {
      return std::make_unique<RtlCore>("core", std::move(model), store.get(),
                                       options.quantum, &faults);
    }
    model::Options functional;
    functional.implementation = options.implementation;
    return std::make_unique<FunctionalCore>("core", *options.config, functional,
                                            store.get(), &reactor, &faults);
  }

  std::unique_ptr<FrontEnd> MakeFront(const PlatformOptions& options) {
    if (options.rtl_front) {
      auto made = std::make_unique<RtlFront>("front", store.get(), core.get(),
                                             &interrupts);
      rtl_front = made.get();
      return made;
    }
    return std::make_unique<UnitsFront>(*options.config, options.serial,
                                        store.get(), core.get(), &interrupts);
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
  Dram dram;
  std::unique_ptr<Core> core;
  RtlFront* rtl_front = nullptr;  // if that is what `front` is
  std::unique_ptr<FrontEnd> front;
  HostBridge bridge;
};

absl::StatusOr<std::unique_ptr<Platform>> Platform::Create(
    const PlatformOptions& options) {
  absl::StatusOr<std::unique_ptr<DramStore>> store =
      DramStore::Create(options.dram_bytes);
  if (!store.ok()) return store.status();
  std::unique_ptr<rtl::CoreModel> model;
  if (options.rtl) {
    auto made = rtl::MakeCore(*options.config);
    if (!made.ok()) return made.status();
    model = std::move(*made);
    if (!options.trace_file.empty()) {
      absl::Status status = model->Trace(options.trace_file, options.trace_from,
                                         options.trace_to);
      if (!status.ok()) return status;
    }
  }
  auto units =
      std::make_unique<Units>(options, std::move(*store), std::move(model));
  if (units->rtl_front != nullptr) {
    absl::Status status =
        units->rtl_front->Make({options.config->id, units->core->core_kind(),
                                options.serial, units->store->size()});
    if (!status.ok()) return status;
  }
  return std::unique_ptr<Platform>(new Platform(std::move(units)));
}

Platform::Platform(std::unique_ptr<Units> units) : units_(std::move(units)) {}
Platform::~Platform() = default;

Card* Platform::card() { return &units_->bridge; }
Reactor* Platform::reactor() { return &units_->reactor; }
Faults* Platform::faults() { return &units_->faults; }

void Platform::SetPresent(bool present) {
  if (present == units_->bridge.present()) return;
  units_->bridge.SetPresent(present);
  units_->bridge.PowerCycle();
}

absl::Status Platform::ResizeMemory(uint64_t bytes) {
  absl::Status status = units_->store->Resize(bytes);
  if (!status.ok()) return status;
  units_->core->DramResized();
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
  s.interrupts_sent = units_->interrupts.sent();
  s.mapped_ranges = units_->bridge.mapped_ranges();
  return s;
}

}  // namespace heddle::platform
