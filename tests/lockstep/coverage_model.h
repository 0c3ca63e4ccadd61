// SPDX-License-Identifier: Apache-2.0
// What a set of streams has exercised. A kind is an instruction or, for conv,
// one of its modes. The bins of a field of a kind: the smallest and the
// largest legal value, 0 and 1 where they lie between, any other value, every
// value of an enumeration. A value counts only where the command uses the
// field; a field that is switched off in some commands has a bin "unused" for
// a value other than 0 that must be ignored. An address has a bin "last": what
// it is the address of ends with the last word of SRAM, byte of SRAM (where
// addresses are of bytes), or byte of its region. The micro-instructions of
// vrun's programs are bins of a field "program".
//
// Some fields are crossed, as bins of a kind "cross ...": mode, stride,
// padding and configuration of conv; stream, element type and direction of
// vrun and vmac; dimensions and layout of load and store.
//
// unreachable.txt lists the bins that no legal command of a race-free stream
// can hit, with the reason.
#ifndef HEDDLE_TESTS_LOCKSTEP_COVERAGE_MODEL_H_
#define HEDDLE_TESTS_LOCKSTEP_COVERAGE_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/model/random_stream.h"

namespace heddle::lockstep {

struct Bin {
  std::string kind;  // "conv maxpool", "load", "header"
  std::string field;
  std::string value;
  bool operator<(const Bin& o) const {
    return std::tie(kind, field, value) < std::tie(o.kind, o.field, o.value);
  }
};

inline constexpr char kUnused[] = "unused", kLast[] = "last";

// Where a command runs.
struct Place {
  isa::Config config;
  model::RegionTable regions = {};
};

// The bins that the command at `words` hits, and its kind; "last" only with a
// place.
std::vector<Bin> BinsOf(const uint32_t* words, size_t n, std::string* kind,
                        const Place* place = nullptr);

// The command stays in SRAM and its regions.
bool Inside(const Place& place, const isa::Command& command);

// A bin with the bits that hit it, if there is one value that does.
struct Target {
  Bin bin;
  const isa::FieldInfo* field;
  bool has_bits;
  uint32_t bits;
};
std::vector<Target> AllTargets();
// The bins that are not of a field, which nothing can aim at.
std::vector<Bin> ProgramBins();
std::vector<Bin> CrossBins();

class CoverageModel {
 public:
  CoverageModel();
  // Counts the commands of a stream; `programs` is what it has in SRAM where
  // microprograms are, from address 0. Without a place nothing is "last" or
  // crossed.
  void Count(const std::vector<uint32_t>& words,
             absl::Span<const uint8_t> programs = {},
             const Place* place = nullptr);
  // Of all streams that the generator made for a configuration.
  void Count(const model::RandomStream& stream, const isa::Config& config);
  uint64_t commands() const { return commands_; }
  // Bins, and those that were hit at least once.
  size_t bins() const { return hits_.size(); }
  size_t hit() const;
  bool IsHit(const Bin& bin) const { return hits_.at(bin) > 0; }
  // What was not, one line per instruction and mode.
  std::string Missing() const;
  // "conv maxpool": how often.
  const std::map<std::string, uint64_t>& kinds() const { return kinds_; }

 private:
  void CountProgram(const isa::Vrun& c, absl::Span<const uint8_t> programs);
  std::map<Bin, uint64_t> hits_;
  std::map<std::string, uint64_t> kinds_;
  uint64_t commands_ = 0;
};

// Lines "kind | field | value: reason", in whose names * is
// anything and ? one character.
class Unreachable {
 public:
  static absl::StatusOr<Unreachable> Parse(absl::string_view text);
  bool Has(const Bin& bin) const;
  // Lines that name no bin at all.
  std::string Idle() const;

 private:
  struct Line {
    std::string text, kind, field, value;
  };
  static bool Names(const Line& line, const Bin& bin);
  std::vector<Line> lines_;
};

}  // namespace heddle::lockstep

#endif  // HEDDLE_TESTS_LOCKSTEP_COVERAGE_MODEL_H_
