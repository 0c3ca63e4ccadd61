// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/control_flow.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::compiler {
namespace {

using Kind = ControlFlow::Kind;

// Of the places of carried values, so that any element is aligned.
constexpr uint64_t kAlign = 64;

uint64_t BytesOf(const ValueType& value) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(ElementCount(value.shape)),
                             ElementBytes(value.type), &bytes)) {
    return std::numeric_limits<uint64_t>::max();
  }
  return bytes;
}

bool IsOne(const ValueType& value, DataType type) {
  return value.type == type && ElementCount(value.shape) == 1;
}

ValueType RowOf(const ValueType& value) {
  return {value.type, Shape(value.shape.begin() + 1, value.shape.end())};
}

ValueType RowsOf(const ValueType& value, int64_t count) {
  ValueType rows = value;
  rows.shape.insert(rows.shape.begin(), count);
  return rows;
}

std::string WhatIsWrongWithIf(
    const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
    const std::vector<std::vector<ValueType>>& results) {
  if (inputs.empty() || !IsOne(inputs[0], DataType::kBool)) {
    return "its condition is not one bool";
  }
  if (results.size() != 2) return "it does not have two branches";
  for (const auto& branch : results) {
    if (branch != outputs) return "a branch's results differ from its own";
  }
  return "";
}

std::string WhatIsWrongWithLoop(
    const ControlFlow& control, const std::vector<ValueType>& inputs,
    const std::vector<ValueType>& outputs,
    const std::vector<std::vector<ValueType>>& results) {
  if (results.size() != 1) return "it does not have one body";
  const std::vector<ValueType>& body = results[0];
  const uint64_t heads = control.heads();
  const uint64_t carried = control.carried, sequences = control.sequences;
  if (inputs.size() < heads + carried + sequences) return "it lacks inputs";
  if (control.has_trip_count && !IsOne(inputs[0], DataType::kInt64)) {
    return "its trip count is not one int64";
  }
  if (control.has_condition && !IsOne(inputs[heads - 1], DataType::kBool)) {
    return "its condition is not one bool";
  }
  const uint64_t first = control.conditional ? 1 : 0;
  if (outputs.size() < carried || body.size() != outputs.size() + first) {
    return "its body has a different number of results";
  }
  if (first > 0 && !IsOne(body[0], DataType::kBool)) {
    return "its body's condition is not one bool";
  }
  for (uint64_t i = 0; i < carried; ++i) {
    if (!(inputs[heads + i] == outputs[i] && body[first + i] == outputs[i])) {
      return absl::StrCat("its carried value ", i, " changes type or shape");
    }
  }
  const bool has_rows = sequences > 0 || outputs.size() > carried;
  if (has_rows != (control.trips >= 0)) {
    return absl::StrCat("it makes ", control.trips, " iterations");
  }
  for (uint64_t i = 0; i < sequences; ++i) {
    const ValueType& sequence = inputs[heads + carried + i];
    if (sequence.shape.empty() || sequence.shape[0] != control.trips) {
      return absl::StrCat("its sequence ", i, " has not ", control.trips,
                          " rows");
    }
  }
  for (uint64_t i = carried; i < outputs.size(); ++i) {
    if (!(RowsOf(body[first + i], control.trips) == outputs[i])) {
      return absl::StrCat("its result ", i, " is not made of ", control.trips,
                          " rows of the body's");
    }
  }
  return "";
}

// The values that an iteration hands to the next: each has two places, and the
// body reads the one while it writes the other.
class Carried {
 public:
  Carried(const std::vector<ValueType>& inputs, size_t first, size_t count,
          const std::vector<const uint8_t*>& from) {
    uint64_t end = 0;
    std::vector<uint64_t> places;
    for (size_t i = 0; i < count; ++i) {
      bytes_.push_back(BytesOf(inputs[first + i]));
      for (int side = 0; side < 2; ++side) {
        places.push_back(end);
        end += (bytes_[i] + kAlign - 1) / kAlign * kAlign;
      }
      now_.push_back(from[first + i]);
    }
    memory_.resize(end + kAlign);
    const uint64_t misplaced =
        reinterpret_cast<uintptr_t>(memory_.data()) % kAlign;
    uint8_t* const base =
        memory_.data() + (misplaced == 0 ? 0 : kAlign - misplaced);
    for (uint64_t place : places) places_.push_back(base + place);
  }

  const uint8_t* now(size_t i) const { return now_[i]; }
  uint8_t* next(size_t i) const { return places_[2 * i + side_]; }
  void Advance() {
    for (size_t i = 0; i < now_.size(); ++i) now_[i] = next(i);
    side_ = 1 - side_;
  }
  void CopyTo(const std::vector<uint8_t*>& to) const {
    for (size_t i = 0; i < now_.size(); ++i) {
      if (bytes_[i] > 0) std::memcpy(to[i], now_[i], bytes_[i]);
    }
  }

 private:
  std::vector<uint64_t> bytes_;
  std::vector<uint8_t> memory_;
  std::vector<uint8_t*> places_;
  std::vector<const uint8_t*> now_;
  size_t side_ = 0;
};

absl::Status DriveLoop(const ControlFlow& control,
                       const std::vector<ValueType>& inputs,
                       const std::vector<ValueType>& outputs,
                       const std::vector<const uint8_t*>& from,
                       const std::vector<uint8_t*>& to, const RunBody& run,
                       const std::function<absl::Status()>& stop) {
  const size_t heads = control.heads(), carried = control.carried;
  const size_t sequences = control.sequences;
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (control.has_trip_count) std::memcpy(&trips, from[0], sizeof(trips));
  uint8_t goes_on = control.has_condition ? *from[heads - 1] : 1;
  Carried state(inputs, heads, carried, from);
  int64_t number = 0;
  std::vector<const uint8_t*> slots = {
      reinterpret_cast<const uint8_t*>(&number)};
  slots.insert(slots.end(), from.begin() + static_cast<int64_t>(heads),
               from.end());
  const size_t first = control.conditional ? 1 : 0;
  std::vector<uint8_t*> results(first + outputs.size());
  if (first > 0) results[0] = &goes_on;
  std::vector<uint64_t> in_row, out_row;
  for (size_t i = 0; i < sequences; ++i) {
    in_row.push_back(BytesOf(RowOf(inputs[heads + carried + i])));
  }
  for (size_t i = carried; i < outputs.size(); ++i) {
    out_row.push_back(BytesOf(RowOf(outputs[i])));
  }
  for (; number < trips && goes_on != 0; ++number) {
    if (control.trips >= 0 && number == control.trips) {
      return absl::InvalidArgumentError(absl::StrCat(
          control.name, " runs more than ", control.trips,
          " iterations, the maximum for the declared shapes of its results"));
    }
    if (absl::Status s = stop(); !s.ok()) return s;
    const auto row = static_cast<uint64_t>(number);
    for (size_t i = 0; i < carried; ++i) {
      slots[1 + i] = state.now(i);
      results[first + i] = state.next(i);
    }
    for (size_t i = 0; i < sequences; ++i) {
      slots[1 + carried + i] = from[heads + carried + i] + in_row[i] * row;
    }
    for (size_t i = carried; i < outputs.size(); ++i) {
      results[first + i] = to[i] + out_row[i - carried] * row;
    }
    if (absl::Status s = run(0, slots, results); !s.ok()) return s;
    state.Advance();
  }
  if (control.trips >= 0 && number != control.trips) {
    return absl::InvalidArgumentError(absl::StrCat(
        control.name, " makes ", number, " iterations, the shapes of its ",
        "results are declared with ", control.trips));
  }
  state.CopyTo(to);
  return absl::OkStatus();
}

}  // namespace

std::vector<ValueType> SlotTypes(const ControlFlow& control,
                                 const std::vector<ValueType>& inputs) {
  const size_t heads = control.heads();
  const uint64_t first_sequence = heads + uint64_t{control.carried};
  if (inputs.size() < heads) return {};
  std::vector<ValueType> slots(inputs.begin() + static_cast<int64_t>(heads),
                               inputs.end());
  if (control.kind != Kind::kLoop) return slots;
  if (inputs.size() < first_sequence + control.sequences) return {};
  for (uint64_t i = 0; i < control.sequences; ++i) {
    const ValueType& sequence = inputs[first_sequence + i];
    if (sequence.shape.empty()) return {};
    slots[control.carried + i] = RowOf(sequence);
  }
  slots.insert(slots.begin(), ValueType{DataType::kInt64, {}});
  return slots;
}

std::string WhatIsWrongWithControl(
    const ControlFlow& control, const std::vector<ValueType>& inputs,
    const std::vector<ValueType>& outputs,
    const std::vector<std::vector<ValueType>>& results) {
  switch (control.kind) {
    case Kind::kIf:
      return WhatIsWrongWithIf(inputs, outputs, results);
    case Kind::kLoop:
      return WhatIsWrongWithLoop(control, inputs, outputs, results);
    default:
      return "it is neither an If nor a Loop";
  }
}

uint64_t DriveBytes(const ControlFlow& control,
                    const std::vector<ValueType>& inputs) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  uint64_t sum = 0;
  if (control.kind != Kind::kLoop) return sum;
  for (size_t i = 0; i < control.carried; ++i) {
    const uint64_t bytes = BytesOf(inputs[control.heads() + i]);
    if (bytes > kMost / 4 ||
        __builtin_add_overflow(sum, 2 * (bytes + kAlign), &sum)) {
      return kMost;
    }
  }
  return sum;
}

absl::Status Drive(const ControlFlow& control,
                   const std::vector<ValueType>& inputs,
                   const std::vector<ValueType>& outputs,
                   const std::vector<const uint8_t*>& from,
                   const std::vector<uint8_t*>& to, const RunBody& run,
                   const std::function<absl::Status()>& stop) {
  if (control.kind == Kind::kLoop) {
    return DriveLoop(control, inputs, outputs, from, to, run, stop);
  }
  if (absl::Status s = stop(); !s.ok()) return s;
  return run(*from[0] != 0 ? 0 : 1, {from.begin() + 1, from.end()}, to);
}

}  // namespace heddle::compiler
