// SPDX-License-Identifier: Apache-2.0
// A timing record as a report: cycles of a package, of its layers and of its
// commands.
#ifndef HEDDLE_TOOLS_HEDDLE_TIMING_REPLAY_H_
#define HEDDLE_TOOLS_HEDDLE_TIMING_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/package/package.h"
#include "tools/heddle-timing/timing_record.h"

namespace heddle::timing {

struct ReplayedCommand {
  uint32_t stream = 0;
  uint32_t offset = 0;
  const char* engine = "";  // "load", "store", "matrix", "vector"
  const char* mnemonic = "";
  std::string node;             // ONNX's, "" if none
  uint64_t begin = 0, end = 0;  // as RecordedCommand
};

struct Replay {
  uint64_t cycles = 0;  // of all streams
  uint64_t job_cycles = 0;
  std::vector<uint64_t> stream_starts;  // one behind another, from 0
  // As package.layers: what the whole is longer for each (AttributeToLayers),
  // so that they add up to `cycles`.
  std::vector<uint64_t> layer_cycles;
  std::vector<ReplayedCommand> commands;  // in the order of the streams
};

// FailedPrecondition: a command takes a time that depends on values, so that
// there are no exact cycles, whatever is recorded. The sentence says which, and
// what helps. `package_path` is for the sentence.
absl::Status CheckExact(const package::Package& package,
                        const std::string& package_path);

// FailedPrecondition: the same, or the record's commands are not those of the
// package.
absl::StatusOr<Replay> ReplayOf(const Record& record,
                                const package::Package& package,
                                const std::string& package_path);

// "2 commands take a time that depends on indices, the first is load.gather of
// node 'embedding'"; "" if there are none.
absl::StatusOr<std::string> WhatIsInexact(const package::Package& package);

}  // namespace heddle::timing

#endif  // HEDDLE_TOOLS_HEDDLE_TIMING_REPLAY_H_
