// SPDX-License-Identifier: Apache-2.0
// A command stream under construction. Commands are appended in program order;
// Finish() derives their dependencies from what they access, adds waits and
// signals, and encodes.
//
// Synchronisation. Each ordered pair of engines and each point has a semaphore
// of its own (4 x 4 x 2 = all 32), so every semaphore is signalled by one
// engine at one point and waited for by one engine, as the ISA asks. A
// dependency of command d on command s becomes one unit: s signals it, d waits
// for it. Engines start and complete in order, so a dependency that an earlier
// wait of d's engine (or, transitively, of an engine it waited for) already
// covers needs none. Commands with more than two waits or signals get sync
// commands. Where waits that come late could let a semaphore exceed its
// maximum, in any order that the rule permits, a barrier takes the place of the
// waits.
#ifndef HEDDLE_COMPILER_STREAM_STREAM_H_
#define HEDDLE_COMPILER_STREAM_STREAM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// As many streams as the commands of a package may fill: a bound of the memory
// that compiling takes, which is eight times theirs, 4 GB. A convolution of
// 64 channels at 1080 x 1920 in 12 KiB of SRAM fills 27.
inline constexpr uint64_t kMostStreams = 32;

struct EncodedStream {
  std::vector<uint32_t> words;
  // Byte offset and tag of every appended command, in order of appending.
  std::vector<uint32_t> offsets, tags;
  uint64_t commands = 0;  // including sync, barrier and end
};

struct SplitStreams {
  std::vector<EncodedStream> streams;
  uint64_t kept_bytes = 0;  // of the region
};

struct StreamLimits {
  uint64_t bytes = isa::kStreamBytesMax;  // of a stream
  uint64_t streams = kMostStreams;
  // Where each of them ends: behind so many commands, the last behind all.
  // Empty: where little is lost (split.h).
  std::vector<size_t> ends;
};

class StreamBuilder {
 public:
  // Keeps no more commands than `most_streams` of full length hold.
  explicit StreamBuilder(const isa::Config& config,
                         uint64_t most_streams = kMostStreams)
      : config_(config), most_bytes_(most_streams * isa::kStreamBytesMax) {}

  // Appends a command for layer `tag`. Its header's waits and signals are
  // overwritten. Commands beyond what is kept are dropped.
  void Append(isa::Command command, uint32_t tag);
  // Whether commands were dropped: there are no such streams.
  bool too_long() const { return bytes_ > most_bytes_; }

  size_t size() const { return commands_.size(); }
  const std::vector<isa::Command>& commands() const { return commands_; }

  // All commands as one stream, ended by `end`. Internal error if a command is
  // not legal; kUnsupportedShape if the driver would refuse the stream for its
  // length.
  absl::StatusOr<EncodedStream> Finish() const;

  // As streams within `limits`, to be run one after another (split.h).
  // What SRAM must hold across a cut waits in region `region` from byte
  // `offset` on, a multiple of a word. kUnsupportedShape if the commands cannot
  // be cut, or the streams would be too many.
  absl::StatusOr<SplitStreams> FinishInStreams(const StreamLimits& limits,
                                               uint32_t region,
                                               uint64_t offset) const;

 private:
  isa::Config config_;
  uint64_t most_bytes_;
  std::vector<isa::Command> commands_;
  uint64_t bytes_ = 0;  // of all commands, dropped ones included
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_STREAM_H_
