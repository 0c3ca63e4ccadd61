// SPDX-License-Identifier: Apache-2.0
// The timing record of a package: when the RTL began and ended each of its
// commands, so that a card without cycles can tell them. heddle-timing writes
// it beside MODEL.hpk as MODEL.timing, heddle-run --cycles exact reads it.
//
// Times are relative to the start of their stream: cycle 0 is the first one
// that the core counts for it. What comes before a stream in its job
// (descriptor, copies) depends on the driver's lists and on host memory; with
// that, only the cycles of the whole job are recorded. The core was reset
// before the first stream: who takes turns at SRAM and memory goes on where
// earlier streams stopped, so behind other work some cycles can be different.
//
// A record holds for one package, one RTL and one timing of the memories; it
// says which, and whoever reads it compares (Read()). Untrusted input: Parse
// checks header, checksum, sizes and every time before anything is used. The
// checksum is against accidents; times are numbers in a report and nothing
// else, whoever wrote them.
//
// The file, little-endian:
//   0    8 bytes   magic "HEDDLETM"
//   8    u32       format version, 1
//   12   u32       streams
//   16   u64       file size
//   24   u64       commands of all streams
//   32   32 bytes  SHA-256 of the file with these 32 bytes zero
//   64   32 bytes  SHA-256 of the package's file
//   96   32 bytes  SHA-256 of the RTL and the memory model (timing_identity.h)
//   128  16 bytes  name of the configuration, padded with zeros
//   144  u32       device memory: cycles of latency
//   148  u32                      bytes per cycle
//   152  u64       reserved, zero
//   160  u64       cycles of the job
//   168  streams:  u64 cycles, u64 commands
//   then commands, stream by stream:
//                  u32 offset in bytes, u32 flags (bit 0: inexact),
//                  u64 begin, u64 end
#ifndef HEDDLE_TOOLS_HEDDLE_TIMING_TIMING_RECORD_H_
#define HEDDLE_TOOLS_HEDDLE_TIMING_TIMING_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::timing {

constexpr uint32_t kFormatVersion = 1;
constexpr size_t kDigestBytes = 32;

// A command that an engine took; those of the front end have no times.
struct RecordedCommand {
  uint32_t offset = 0;  // in its stream
  // Takes a time that depends on values, or was not over before one that does
  // (stream_commands.h): the times are those of one input.
  bool inexact = false;
  uint64_t begin = 0;  // the cycle in which its engine took it
  uint64_t end = 0;    // the cycle in which it reached output_visible

  bool operator==(const RecordedCommand& o) const {
    return offset == o.offset && inexact == o.inexact && begin == o.begin &&
           end == o.end;
  }
};

struct RecordedStream {
  uint64_t cycles = 0;
  std::vector<RecordedCommand> commands;  // by offset

  bool operator==(const RecordedStream& o) const {
    return cycles == o.cycles && commands == o.commands;
  }
};

// What a record is valid for.
struct Validity {
  std::string package;  // kDigestBytes
  std::string rtl;      // kDigestBytes
  std::string config;   // at most 16 characters
  uint32_t dram_latency = 0;
  uint32_t dram_bytes_per_cycle = 0;

  bool operator==(const Validity& o) const {
    return package == o.package && rtl == o.rtl && config == o.config &&
           dram_latency == o.dram_latency &&
           dram_bytes_per_cycle == o.dram_bytes_per_cycle;
  }
};

struct Record {
  Validity valid_for;
  // Of the first inference of a process on the RTL card behind heddle-hosted,
  // as its completion record has them: from the fetch of the descriptor on,
  // with the copies and with the clearing of SRAM.
  uint64_t job_cycles = 0;
  std::vector<RecordedStream> streams;

  bool operator==(const Record& o) const {
    return valid_for == o.valid_for && job_cycles == o.job_cycles &&
           streams == o.streams;
  }
};

std::string Serialize(const Record& record);

// InvalidArgument: damaged, or not a record; the message says what is wrong and
// nothing of what to do.
absl::StatusOr<Record> Parse(absl::string_view bytes);

// What a record of a package must be valid for here and now. `bytes` are the
// package's file. NotFound: this build knows no such configuration.
absl::StatusOr<Validity> ValidityHere(absl::string_view bytes,
                                      const std::string& config);

// "model.timing" for "model.hpk".
std::string RecordPath(const std::string& package_path);

// The record beside the package, if it is there, whole, and valid for `here`.
// FailedPrecondition otherwise: one sentence with the reason, and the command
// that makes the record.
absl::StatusOr<Record> Read(const std::string& package_path,
                            const Validity& here);

}  // namespace heddle::timing

#endif  // HEDDLE_TOOLS_HEDDLE_TIMING_TIMING_RECORD_H_
