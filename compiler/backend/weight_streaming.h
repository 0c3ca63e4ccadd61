// SPDX-License-Identifier: Apache-2.0
// Fits a package into less device memory than its weights take: the commands
// are cut into streams, each of which reads so few weights that they have room
// in a window. Some stay on the card, as far as there is room beside the
// windows; the rest stays in host memory and is copied into a window before its
// stream (package/weight_plan.h).
//
// Two windows let the copies for a stream run beside the stream in front; one
// is larger, or leaves more room for what stays. How many, how large, what
// stays and where streams end: what makes the job end first, by a closed form.
// With one window copies and streams are added. With two, the first stream
// reads only what is resident, and each of the others takes the longest of
// what the stream in front computes, its own copies, and the device memory's
// cycles for both. What is loaded again behind a cut, or kept across it, is
// computed beside nothing. An eighth of the time of all copies is added, so
// that bytes are not copied for next to nothing.
#ifndef HEDDLE_COMPILER_BACKEND_WEIGHT_STREAMING_H_
#define HEDDLE_COMPILER_BACKEND_WEIGHT_STREAMING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/package/weight_plan.h"
#include "compiler/stream/stream.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// Streams and copies of weights in one job. The other steps are left for inputs
// and outputs.
constexpr uint64_t kMostWeightSteps = isa::kStepsMax - 8;

// Bytes of device memory that objects take: a page is the least.
struct DeviceNeed {
  uint64_t weights = 0, scratch = 0, io = 0;
  uint64_t streams = 0;  // the sum of page-rounded sizes
  uint64_t Total() const;
};
uint64_t StreamPages(const std::vector<EncodedStream>& streams);

struct StreamedWeights {
  SplitStreams split;  // which address all weights, as if they were region 0
  package::WeightPlan plan;
  // What copies add to the cycles of a job, estimated.
  uint64_t wait_cycles = 0;
};

// `need`: with all weights on the card and the streams that there are then.
// What SRAM holds across a cut waits behind the scratch memory. Refused with
// kNoDeviceMemory where that is not enough. There are at most `most_windows`
// windows, 1 or 2.
absl::StatusOr<StreamedWeights> StreamWeights(const StreamBuilder& stream,
                                              const isa::Config& config,
                                              uint64_t stream_bytes,
                                              const DeviceNeed& need,
                                              uint64_t device_memory_bytes,
                                              uint32_t most_windows);

// The words of stream number `stream` with the addresses that the plan gives
// the weights.
absl::StatusOr<std::vector<uint32_t>> AddressWeights(
    const std::vector<uint32_t>& words, uint32_t stream,
    const package::WeightPlan& plan, const isa::Config& config);

// The way back: such words with the addresses that weights have if all of them
// are region 0. InvalidArgument: not legal commands, or one reads where the
// plan puts nothing.
absl::StatusOr<std::vector<uint32_t>> AddressAllWeights(
    const std::vector<uint32_t>& words, uint32_t stream,
    const package::WeightPlan& plan, const isa::Config& config);

// The plan, a line per copy.
std::string WeightPlanText(const package::WeightPlan& plan);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_WEIGHT_STREAMING_H_
