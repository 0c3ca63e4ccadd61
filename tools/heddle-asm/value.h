// SPDX-License-Identifier: Apache-2.0
//
// Values of fields in assembler text.
#ifndef TOOLS_HEDDLE_ASM_VALUE_H_
#define TOOLS_HEDDLE_ASM_VALUE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::assembler {

// Decimal or 0x hexadecimal, with sign.
absl::StatusOr<int64_t> ParseInteger(absl::string_view text);

// Bits of an fp32 value: a float (decimal or 0x...p), an integer, inf, nan, or
// the raw bits as a 0x integer. A number that overflows or underflows fp32 is
// refused.
absl::StatusOr<uint32_t> ParseFloat(absl::string_view text);

// Bits of a field from its text, range-checked. Messages name the field.
absl::StatusOr<uint32_t> ParseField(const isa::FieldInfo& field,
                                    absl::string_view text);

}  // namespace heddle::assembler

#endif  // TOOLS_HEDDLE_ASM_VALUE_H_
