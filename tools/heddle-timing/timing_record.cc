// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-timing/timing_record.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/rtl/timing_identity.h"
#include "tools/cli/file.h"

namespace heddle::timing {
namespace {

constexpr char kMagic[] = "HEDDLETM";
constexpr size_t kMagicBytes = 8, kConfigBytes = 16;
constexpr size_t kVersionAt = 8, kStreamsAt = 12, kFileSizeAt = 16;
constexpr size_t kCommandsAt = 24, kHashAt = 32, kPackageAt = 64, kRtlAt = 96;
constexpr size_t kConfigAt = 128, kDramLatencyAt = 144, kDramBytesAt = 148;
constexpr size_t kReservedAt = 152, kJobAt = 160;
constexpr size_t kHeaderBytes = 168, kStreamBytes = 16, kCommandBytes = 24;
constexpr uint32_t kInexact = 1;

template <typename T>
void Store(std::string* bytes, size_t at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    (*bytes)[at + i] = static_cast<char>(value >> (8 * i));
  }
}

template <typename T>
T Load(absl::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  }
  return value;
}

// Of a file with the place of its checksum zero.
std::string ChecksumOf(absl::string_view bytes) {
  std::string copy(bytes);
  std::memset(&copy[kHashAt], 0, kDigestBytes);
  return compiler::Sha256Of(copy);
}

template <typename... Parts>
absl::Status Damaged(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckHeader(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes) {
    return Damaged("it has ", bytes.size(), " bytes, too few for a header");
  }
  if (bytes.substr(0, kMagicBytes) != kMagic) {
    return Damaged("it is not a timing record");
  }
  // Before the checksum: another version may have it elsewhere.
  const auto version = Load<uint32_t>(bytes, kVersionAt);
  if (version != kFormatVersion) {
    return Damaged("its format version is ", version, ", this build knows ",
                   kFormatVersion);
  }
  const auto size = Load<uint64_t>(bytes, kFileSizeAt);
  if (size != bytes.size()) {
    return Damaged("it has ", bytes.size(), " bytes, its header says ", size);
  }
  if (ChecksumOf(bytes) != bytes.substr(kHashAt, kDigestBytes)) {
    return Damaged("its checksum does not match");
  }
  if (Load<uint64_t>(bytes, kReservedAt) != 0) {
    return Damaged("a reserved field is not zero");
  }
  return absl::OkStatus();
}

// A name, then zeros to the end.
absl::StatusOr<std::string> ParseConfig(absl::string_view field) {
  const size_t end = std::min(field.find('\0'), field.size());
  const absl::string_view name = field.substr(0, end);
  if (name.empty() ||
      field.substr(end).find_first_not_of('\0') != absl::string_view::npos ||
      std::any_of(name.begin(), name.end(),
                  [](char c) { return c <= ' ' || c > '~'; })) {
    return Damaged("its configuration name is invalid");
  }
  return std::string(name);
}

absl::StatusOr<RecordedCommand> ParseCommand(absl::string_view bytes,
                                             uint64_t cycles) {
  RecordedCommand command;
  command.offset = Load<uint32_t>(bytes, 0);
  const auto flags = Load<uint32_t>(bytes, 4);
  command.inexact = flags & kInexact;
  command.begin = Load<uint64_t>(bytes, 8);
  command.end = Load<uint64_t>(bytes, 16);
  if ((flags & ~kInexact) != 0 || command.begin > command.end ||
      command.end > cycles) {
    return Damaged("the times of the command at offset ", command.offset,
                   " are impossible");
  }
  return command;
}

}  // namespace

std::string Serialize(const Record& record) {
  uint64_t commands = 0;
  for (const RecordedStream& s : record.streams) commands += s.commands.size();
  std::string bytes(kHeaderBytes + kStreamBytes * record.streams.size() +
                        kCommandBytes * commands,
                    '\0');
  const Validity& valid = record.valid_for;
  std::memcpy(&bytes[0], kMagic, kMagicBytes);
  Store<uint32_t>(&bytes, kVersionAt, kFormatVersion);
  Store<uint32_t>(&bytes, kStreamsAt,
                  static_cast<uint32_t>(record.streams.size()));
  Store<uint64_t>(&bytes, kFileSizeAt, bytes.size());
  Store<uint64_t>(&bytes, kCommandsAt, commands);
  const auto text = [&bytes](size_t at, const std::string& from, size_t most) {
    std::memcpy(&bytes[at], from.data(), std::min(from.size(), most));
  };
  text(kPackageAt, valid.package, kDigestBytes);
  text(kRtlAt, valid.rtl, kDigestBytes);
  text(kConfigAt, valid.config, kConfigBytes);
  Store<uint32_t>(&bytes, kDramLatencyAt, valid.dram_latency);
  Store<uint32_t>(&bytes, kDramBytesAt, valid.dram_bytes_per_cycle);
  Store<uint64_t>(&bytes, kJobAt, record.job_cycles);
  size_t at = kHeaderBytes;
  for (const RecordedStream& s : record.streams) {
    Store<uint64_t>(&bytes, at, s.cycles);
    Store<uint64_t>(&bytes, at + 8, s.commands.size());
    at += kStreamBytes;
  }
  for (const RecordedStream& s : record.streams) {
    for (const RecordedCommand& c : s.commands) {
      Store<uint32_t>(&bytes, at, c.offset);
      Store<uint32_t>(&bytes, at + 4, c.inexact ? kInexact : 0);
      Store<uint64_t>(&bytes, at + 8, c.begin);
      Store<uint64_t>(&bytes, at + 16, c.end);
      at += kCommandBytes;
    }
  }
  const std::string hash = ChecksumOf(bytes);
  bytes.replace(kHashAt, kDigestBytes, hash);
  return bytes;
}

absl::StatusOr<Record> Parse(absl::string_view bytes) {
  RETURN_IF_ERROR(CheckHeader(bytes));
  const auto streams = Load<uint32_t>(bytes, kStreamsAt);
  const auto commands = Load<uint64_t>(bytes, kCommandsAt);
  // Numbers are compared with what is left before they are multiplied.
  uint64_t left = bytes.size() - kHeaderBytes;
  if (streams > left / kStreamBytes) {
    return Damaged("its stream count ", streams, " is impossible");
  }
  left -= streams * kStreamBytes;
  if (left % kCommandBytes != 0 || commands != left / kCommandBytes) {
    return Damaged("its command count ", commands, " is impossible");
  }
  Record record;
  Validity& valid = record.valid_for;
  valid.package = std::string(bytes.substr(kPackageAt, kDigestBytes));
  valid.rtl = std::string(bytes.substr(kRtlAt, kDigestBytes));
  ASSIGN_OR_RETURN(valid.config,
                   ParseConfig(bytes.substr(kConfigAt, kConfigBytes)));
  valid.dram_latency = Load<uint32_t>(bytes, kDramLatencyAt);
  valid.dram_bytes_per_cycle = Load<uint32_t>(bytes, kDramBytesAt);
  record.job_cycles = Load<uint64_t>(bytes, kJobAt);
  uint64_t to_come = commands, total = 0;
  size_t at = kHeaderBytes + streams * kStreamBytes;
  for (uint32_t s = 0; s < streams; ++s) {
    const size_t entry = kHeaderBytes + s * kStreamBytes;
    RecordedStream stream;
    stream.cycles = Load<uint64_t>(bytes, entry);
    const auto count = Load<uint64_t>(bytes, entry + 8);
    if (count > to_come || stream.cycles > UINT64_MAX - total) {
      return Damaged("the sizes of stream ", s, " are impossible");
    }
    to_come -= count;
    total += stream.cycles;
    stream.commands.reserve(count);
    for (uint64_t i = 0; i < count; ++i, at += kCommandBytes) {
      ASSIGN_OR_RETURN(
          const RecordedCommand command,
          ParseCommand(bytes.substr(at, kCommandBytes), stream.cycles));
      if (i > 0 && command.offset <= stream.commands.back().offset) {
        return Damaged("the commands of stream ", s, " are not in order");
      }
      stream.commands.push_back(command);
    }
    record.streams.push_back(std::move(stream));
  }
  if (to_come != 0) {
    return Damaged(to_come, " of its commands are of no stream");
  }
  return record;
}

absl::StatusOr<Validity> ValidityHere(absl::string_view bytes,
                                      const std::string& config) {
  const isa::Config* known = isa::FindConfig(config);
  if (known == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("this build does not know the configuration ", config));
  }
  Validity here;
  here.package = compiler::Sha256Of(bytes);
  here.rtl = absl::HexStringToBytes(rtl::kTimingIdentity);
  here.config = config;
  here.dram_latency = known->dram_latency_cycles;
  here.dram_bytes_per_cycle = known->dram_bytes_per_cycle;
  return here;
}

std::string RecordPath(const std::string& package_path) {
  constexpr absl::string_view kEnding = ".hpk";
  const size_t kept = absl::EndsWith(package_path, kEnding)
                          ? package_path.size() - kEnding.size()
                          : package_path.size();
  return absl::StrCat(package_path.substr(0, kept), ".timing");
}

absl::StatusOr<Record> Read(const std::string& package_path,
                            const Validity& here) {
  const std::string path = RecordPath(package_path);
  const auto refuse = [&](const auto&... parts) {
    return absl::FailedPreconditionError(
        absl::StrCat(parts..., "; make it with: heddle-timing ", package_path));
  };
  const auto bytes = cli::ReadFile(path);
  if (absl::IsNotFound(bytes.status())) {
    return refuse("the package has no timing record '", path, "'");
  }
  if (!bytes.ok()) return bytes.status();
  auto record = Parse(*bytes);
  if (!record.ok()) {
    return refuse("the timing record '", path,
                  "' is damaged: ", record.status().message());
  }
  const Validity& made = record->valid_for;
  if (made.config != here.config) {
    return refuse("the timing record '", path, "' is of configuration ",
                  made.config, ", the package is for ", here.config);
  }
  if (made.package != here.package) {
    return refuse("the timing record '", path, "' is of another package than '",
                  package_path, "'");
  }
  if (made.rtl != here.rtl) {
    return refuse("the timing record '", path,
                  "' is of other RTL than this version's");
  }
  if (!(made == here)) {
    return refuse("the timing record '", path,
                  "' is of memories with other latencies");
  }
  return record;
}

}  // namespace heddle::timing
