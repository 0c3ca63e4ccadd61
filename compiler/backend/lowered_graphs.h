// SPDX-License-Identifier: Apache-2.0
// The graph lowered, of which each attempt of a schedule takes a copy: with
// fused poolings and without, in the order of the nodes and in that of
// ImproveOrder, without and with the copies of FindCopies. Each variant is made
// once, when it is first asked for. From any thread.
#ifndef HEDDLE_COMPILER_BACKEND_LOWERED_GRAPHS_H_
#define HEDDLE_COMPILER_BACKEND_LOWERED_GRAPHS_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/options.h"
#include "compiler/ir/graph.h"
#include "compiler/schedule/device_graph.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

struct GraphVariant {
  Features features;
  bool order = false;      // the operations are in the order of ImproveOrder
  bool recompute = false;  // with the copies of FindCopies
};

class LoweredGraphs {
 public:
  // All three must outlive it.
  LoweredGraphs(const Graph& graph, const CompileOptions& options,
                const isa::Config& config)
      : graph_(graph), options_(options), config_(config) {}

  // Valid as long as this. Refused as lowering does.
  absl::StatusOr<const DeviceGraph*> Get(const GraphVariant& variant);

  // Whether another order, or copies, make a difference. Get has succeeded with
  // the variant.
  bool OrderDiffers(const GraphVariant& variant);
  bool HasCopies(const GraphVariant& variant);

 private:
  std::vector<int> OrderOf(const DeviceGraph& graph) const;
  absl::StatusOr<std::unique_ptr<DeviceGraph>> Lower(
      const Features& features) const;

  const Graph& graph_;
  const CompileOptions& options_;
  const isa::Config& config_;
  std::mutex mutex_;
  // By fuse_pool, order, recompute.
  std::unique_ptr<DeviceGraph> graphs_[2][2][2];
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_LOWERED_GRAPHS_H_
