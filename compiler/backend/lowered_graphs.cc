// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/lowered_graphs.h"

#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/schedule/device_graph_text.h"
#include "compiler/schedule/order.h"
#include "compiler/schedule/recompute.h"

namespace heddle::compiler {

absl::StatusOr<const DeviceGraph*> LoweredGraphs::Get(
    const GraphVariant& variant) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& graphs = graphs_[variant.features.fuse_pool];
  std::unique_ptr<DeviceGraph>& plain = graphs[0][0];
  if (plain == nullptr) {
    BeginPass(options_, "lower");
    ASSIGN_OR_RETURN(plain, Lower(variant.features));
    RETURN_IF_ERROR(EndPass(options_, "lower", [&] { return ToText(*plain); }));
  }
  BeginPass(options_, "order-operations");
  std::unique_ptr<DeviceGraph>& ordered = graphs[variant.order][0];
  if (ordered == nullptr) {
    ordered = std::make_unique<DeviceGraph>(plain->Clone());
    ApplyOrder(OrderOf(*plain), ordered.get());
  }
  RETURN_IF_ERROR(
      EndPass(options_, "order-operations", [&] { return ToText(*ordered); }));
  BeginPass(options_, "recompute");
  std::unique_ptr<DeviceGraph>& copied =
      graphs[variant.order][variant.recompute];
  if (copied == nullptr) {
    copied = std::make_unique<DeviceGraph>(ordered->Clone());
    ApplyCopies(FindCopies(*ordered, config_), copied.get());
  }
  RETURN_IF_ERROR(
      EndPass(options_, "recompute", [&] { return ToText(*copied); }));
  return copied.get();
}

bool LoweredGraphs::OrderDiffers(const GraphVariant& variant) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::vector<int> order =
      OrderOf(*graphs_[variant.features.fuse_pool][0][0]);
  return !std::is_sorted(order.begin(), order.end());
}

bool LoweredGraphs::HasCopies(const GraphVariant& variant) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto& graphs = graphs_[variant.features.fuse_pool];
  return !FindCopies(*graphs[variant.order][0], config_).empty();
}

std::vector<int> LoweredGraphs::OrderOf(const DeviceGraph& graph) const {
  return ImproveOrder(OrderProblemOf(graph, config_.sram_bytes));
}

absl::StatusOr<std::unique_ptr<DeviceGraph>> LoweredGraphs::Lower(
    const Features& features) const {
  const TapSet taps = !options_.taps     ? TapSet::kNone
                      : options_.tap_all ? TapSet::kAll
                                         : TapSet::kQuantized;
  auto device = std::make_unique<DeviceGraph>();
  Lowering lowering(graph_, config_, features, device.get());
  RETURN_IF_ERROR(lowering.Run(taps));
  return device;
}

}  // namespace heddle::compiler
