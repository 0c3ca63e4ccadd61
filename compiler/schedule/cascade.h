// SPDX-License-Identifier: Apache-2.0
// Row-stripe cascades: consecutive operations executed in turn on one stripe of
// rows, with the tensors between them in rolling buffers, so that these never
// exist as a whole. The cascade is an operation like any other for the memory
// plan and the schedule: its tiles are stripes of the last operation's result,
// its rolling buffers are its temporary bytes, its constants are those of all
// its parts, kept throughout.
//
// For the stripe that ends in front of row `e` of the result, every part has
// computed the rows that are needed for the rows before `e`, and no more (in
// the end, all). So what a part does in a stripe follows from where the stripe
// begins and ends.
#ifndef HEDDLE_COMPILER_SCHEDULE_CASCADE_H_
#define HEDDLE_COMPILER_SCHEDULE_CASCADE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Which rows a chain of operations computes, stripe by stripe.
class StripeChain {
 public:
  // All inputs that one of `parts` makes are of kind kSame or kWindow.
  StripeChain(const DeviceGraph& graph,
              const std::vector<const DeviceOp*>& parts);

  // Per part the rows of its result that the rows before `end` of the last
  // one's result need.
  std::vector<int64_t> Need(int64_t end) const;
  // Per part but the last the rows of its rolling buffer with stripes of
  // `rows`, the first of `lead` fewer; 0 = the whole image. Looks at the first
  // `stripes` stripes.
  std::vector<int64_t> BufferRows(int64_t rows, int64_t lead,
                                  int64_t stripes) const;
  // Index of the part that makes input `k` of part `q`, or -1.
  int Producer(size_t q, size_t k) const { return producers_[q][k]; }
  int64_t height(size_t q) const { return heights_[q]; }

 private:
  std::vector<const DeviceOp*> parts_;
  std::vector<std::vector<int>> producers_;  // by part and input
  std::vector<int64_t> heights_;
};

// Whether an operation can stand in a cascade, at its head or behind.
bool CanCascade(const DeviceGraph& graph, const DeviceOp& op, bool head);

// `rows`: of the result per stripe; the first has `lead` fewer. The parts'
// constants are not placed yet.
std::unique_ptr<DeviceOp> MakeCascade(
    const DeviceGraph& graph, std::vector<std::unique_ptr<DeviceOp>> parts,
    int64_t rows, int64_t lead);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_CASCADE_H_
