// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/fuzz/sequence.h"

#include <random>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace heddle::conformance {
namespace {

constexpr const char* kHow[] = {"slot", "stale", "other", "wild", "null"};

// How often each function is drawn.
struct Weight {
  Function function;
  int weight;
  int kinds;
};
constexpr Weight kWeights[] = {
    {kGetBackendIDs, 2, 3},  {kReleaseBackendID, 1, 1},
    {kGetBackendInfo, 2, 3}, {kGetBackendCompatibility, 2, 5},
    {kInitBackend, 4, 3},    {kReleaseBackend, 2, 1},
    {kInitEvent, 10, 2},     {kSignalEvent, 10, 1},
    {kGetEventState, 8, 2},  {kWaitEvent, 8, 1},
    {kReleaseEvent, 5, 1},   {kInitGraph, 6, 6},
    {kSetGraphIO, 9, 9},     {kRunGraph, 12, 4},
    {kReleaseGraph, 3, 1},
};

std::string Text(const HandleChoice& handle) {
  if (handle.how == HandleChoice::kNull) return "null";
  return absl::StrCat(kHow[handle.how], ":", handle.slot);
}

bool Parse(absl::string_view text, HandleChoice* handle) {
  if (text == "null") return true;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &handle->slot) ||
      handle->slot < 0 || handle->slot >= kFuzzSlots) {
    return false;
  }
  for (int how = 0; how < HandleChoice::kNull; ++how) {
    if (parts[0] == kHow[how]) {
      handle->how = static_cast<HandleChoice::How>(how);
      return true;
    }
  }
  return false;
}

}  // namespace

Sequence Generate(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) {
    return static_cast<int>(random() % static_cast<uint64_t>(n));
  };
  // Few places make threads meet, many keep things alive.
  const int slots = 1 + below(kFuzzSlots), threads = 1 + below(kFuzzThreads);
  const auto handle = [&] {
    HandleChoice choice;
    const int draw = below(40);
    choice.how = draw < 34   ? HandleChoice::kSlot
                 : draw < 37 ? HandleChoice::kStale
                 : draw < 38 ? HandleChoice::kOther
                 : draw < 39 ? HandleChoice::kWild
                             : HandleChoice::kNull;
    if (choice.how != HandleChoice::kNull) choice.slot = below(slots);
    return choice;
  };
  int total = 0;
  for (const Weight& one : kWeights) total += one.weight;
  Sequence sequence(static_cast<size_t>(8 + below(56)));
  for (size_t i = 0; i < sequence.size(); ++i) {
    Step& step = sequence[i];
    step.thread = below(threads);
    int draw = below(total), at = 0;
    while (draw >= kWeights[at].weight) draw -= kWeights[at++].weight;
    // Without a beginning everything is refused.
    if (i == 0) at = kInitBackend;
    if (i == 1) at = kInitGraph;
    if (i == 2) at = kInitEvent;
    if (i == 3) at = kSetGraphIO;
    step.function = kWeights[at].function;
    step.a = handle();
    step.b = handle();
    // Right arguments are the first kind, and most.
    step.kind = below(3) == 0 ? below(kWeights[at].kinds) : 0;
    step.to = below(slots);
    if (i < 4) {
      step.thread = 0;
      step.a = {HandleChoice::kSlot, 0};
      step.kind = 0;
      step.to = 0;
    }
  }
  return sequence;
}

std::string ToText(const Sequence& sequence) {
  std::string text;
  for (const Step& step : sequence) {
    absl::StrAppend(&text, step.thread, " ", FunctionName(step.function) + 4,
                    " ", Text(step.a), " ", Text(step.b), " ", step.kind, " ",
                    step.to, "\n");
  }
  return text;
}

absl::StatusOr<Sequence> FromText(const std::string& text) {
  Sequence sequence;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    Step step;
    bool right = words.size() == 6 &&
                 absl::SimpleAtoi(words[0], &step.thread) && step.thread >= 0 &&
                 step.thread < kFuzzThreads && Parse(words[2], &step.a) &&
                 Parse(words[3], &step.b) &&
                 absl::SimpleAtoi(words[4], &step.kind) && step.kind >= 0 &&
                 absl::SimpleAtoi(words[5], &step.to) && step.to >= 0 &&
                 step.to < kFuzzSlots;
    bool known = false;
    for (const Weight& one : kWeights) {
      if (right && words[1] == FunctionName(one.function) + 4) {
        step.function = one.function;
        known = step.kind < one.kinds;
      }
    }
    if (!right || !known) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", number, " is no THREAD FUNCTION A B KIND TO: ", line));
    }
    sequence.push_back(step);
  }
  return sequence;
}

}  // namespace heddle::conformance
