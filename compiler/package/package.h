// SPDX-License-Identifier: Apache-2.0
// Reads and writes packages (.hpk). Untrusted input: Parse checks the header,
// both checksums, the FlatBuffers verifier and every range before anything is
// used; the driver validates the command streams again.
//
// Header, 64 bytes, little-endian:
//   0  8 bytes  magic "HEDDLEPK"
//   8  u32      format version: 1, 2 of a package with a weight plan, 3 of one
//               of segments (segments.h), 4 of one of segments with control
//               flow
//   12 u32      metadata size
//   16 u64      file size
//   24 u64      reserved, zero
//   32 32 bytes SHA-256 of the file with these 32 bytes zero
#ifndef HEDDLE_COMPILER_PACKAGE_PACKAGE_H_
#define HEDDLE_COMPILER_PACKAGE_PACKAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/tensor_bytes.h"
#include "compiler/package/segments.h"
#include "compiler/package/weight_plan.h"

namespace heddle::package {

constexpr uint32_t kFormatVersion = 1;
// Its streams do not find region 0 as the section is: who does not know the
// plan must not run them.
constexpr uint32_t kFormatVersionWithPlan = 2;
// A part of it runs on the host.
constexpr uint32_t kFormatVersionWithSegments = 3;
// The host decides which parts run, and how often.
constexpr uint32_t kFormatVersionWithControl = 4;
// The newest.
constexpr uint32_t kFormatVersionKnown = kFormatVersionWithControl;
constexpr uint64_t kPageBytes = 4096;

struct TensorInfo {
  std::string name;
  compiler::DataType type = compiler::DataType::kUndefined;
  compiler::Shape shape;
  uint64_t offset = 0;  // bytes in region 2
  uint64_t size = 0;    // bytes
  // Values that an int64 input may have: the card computes with int32, and
  // sums and products must fit, too.
  int64_t minimum = INT32_MIN, maximum = INT32_MAX;
};

struct SourceRange {
  uint32_t stream = 0;
  uint32_t first_offset = 0;
  uint32_t node = 0;
};

struct Layer {
  uint32_t node = 0;
  std::string engine;
  uint64_t macs = 0;
  uint64_t dram_bytes = 0;
  uint64_t estimated_cycles = 0;
};

// A package in memory.
struct Package {
  std::string model_name;
  std::string producer;
  std::string config;
  uint32_t hw_version = 0;
  compiler::TensorBytes weights;  // region 0, or what the plan makes of it
  WeightPlan weight_plan;         // empty: all weights are on the card
  uint64_t scratch_bytes = 0;     // region 1
  uint64_t io_bytes = 0;          // region 2
  std::vector<TensorInfo> inputs, outputs, taps;
  // A network that the card and the host share. It has neither weights nor
  // streams of its own; io_bytes is memory of the host, where the values are.
  std::vector<TensorInfo> values;
  std::vector<Segment> segments;
  // With segments: the text of the profile of the host (base/host_profile.h)
  // that the estimates are of, and the split if it is by cost. "" inside of
  // others, and in packages that do not say.
  std::string host_profile;
  // With it: where nodes went that either side takes, "cost", "card" or "host".
  std::string placement;
  std::vector<std::vector<uint32_t>> streams;  // run one after another
  std::vector<std::string> nodes;              // ONNX node names
  std::vector<SourceRange> sources;            // sorted by stream, first_offset
  std::vector<Layer> layers;
  uint64_t macs = 0;
  uint64_t estimated_cycles = 0;

  // The ONNX node that the command at `offset` of `stream` belongs to, or "".
  std::string NodeAt(uint32_t stream, uint32_t offset) const;

  // Bytes of region 0 on the card.
  uint64_t region0_bytes() const {
    return weight_plan.empty() ? weights.size() : weight_plan.device_bytes;
  }
  // Page-rounded bytes of device memory for weights: region 0 and the windows.
  uint64_t weight_device_bytes() const;
  // Puts into region 0 and the windows (one behind the other) what `stream`
  // needs and the streams before it have not: what loading and running a
  // package do, for those that do without a card.
  void PrepareWeights(uint32_t stream, uint8_t* region0,
                      uint8_t* windows) const;
};

// Deterministic.
std::string Serialize(const Package& package);

// Region 0 as it was packed: `bytes` from `head` on, in the memory that becomes
// the file.
struct PackedWeights {
  std::string bytes;
  uint64_t head = 0;
  uint64_t size() const { return bytes.size() - head; }
};
// Bytes of a file before and behind its weights.
struct Room {
  uint64_t before = 0, after = 0;
};
Room RoomBeside(const Package& package);

// The same with region 0 apart; that of the package is empty. Nothing is
// allocated, and no weights move, if the weights have the room of RoomBeside.
std::string Serialize(const Package& package, PackedWeights weights);

// Errors are InvalidArgument (damaged, not a package), FailedPrecondition
// (format or hardware version this build does not know); the message names the
// field. `owner` keeps the bytes, of which the weights then are a view; without
// it they are a copy.
absl::StatusOr<Package> Parse(absl::string_view bytes,
                              std::shared_ptr<const void> owner = nullptr);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_PACKAGE_H_
