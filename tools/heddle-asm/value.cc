// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-asm/value.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/heddle-asm/lexer.h"

namespace heddle::assembler {

namespace {

// Removes a sign; true when it is a minus.
bool TakeSign(absl::string_view* text) {
  const bool minus = absl::StartsWith(*text, "-");
  if (minus || absl::StartsWith(*text, "+")) text->remove_prefix(1);
  return minus;
}

bool TakeHexPrefix(absl::string_view* text) {
  if (!absl::StartsWith(*text, "0x") && !absl::StartsWith(*text, "0X"))
    return false;
  text->remove_prefix(2);
  return true;
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

absl::Status NotA(const char* what, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text), " is not ", what));
}

}  // namespace

absl::StatusOr<int64_t> ParseInteger(absl::string_view text) {
  absl::string_view rest = text;
  const bool minus = TakeSign(&rest);
  const int base = TakeHexPrefix(&rest) ? 16 : 10;
  uint64_t value = 0;
  const char* end = rest.data() + rest.size();
  const std::from_chars_result r =
      std::from_chars(rest.data(), end, value, base);
  if (r.ec == std::errc::result_out_of_range ||
      (r.ec == std::errc() &&
       value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))) {
    return NotA("a number of 63 bits", text);
  }
  if (r.ec != std::errc() || r.ptr != end) return NotA("an integer", text);
  return minus ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

absl::StatusOr<uint32_t> ParseFloat(absl::string_view text) {
  absl::string_view rest = text;
  const bool minus = TakeSign(&rest);
  const bool hex = TakeHexPrefix(&rest);
  const uint32_t sign = minus ? 0x80000000u : 0u;
  if (hex && rest.find_first_of("pP.") == absl::string_view::npos) {
    absl::StatusOr<int64_t> bits = ParseInteger(text);
    if (!bits.ok()) return bits.status();
    if (*bits < 0 || *bits > 0xffffffff)
      return NotA("the bit pattern of an fp32 value", text);
    return static_cast<uint32_t>(*bits);
  }
  if (rest == "nan") return 0x7fc00000u | sign;
  if (rest == "inf") return 0x7f800000u | sign;
  // from_chars would take a second sign, "infinity" and the like.
  if (rest.empty() ||
      rest.find_first_not_of("0123456789abcdefABCDEFpP.+-") !=
          absl::string_view::npos ||
      rest[0] == '+' || rest[0] == '-') {
    return NotA("an fp32 number", text);
  }
  float value = 0;
  const char* end = rest.data() + rest.size();
  // "0x1p+3" is written 1p+3 here; from_chars has no prefix.
  const std::from_chars_result r = std::from_chars(
      rest.data(), end, value,
      hex ? std::chars_format::hex : std::chars_format::general);
  if (r.ec == std::errc::result_out_of_range)
    return NotA("in the range of fp32", text);
  if (r.ec != std::errc() || r.ptr != end) return NotA("an fp32 number", text);
  return Bits(value) | sign;
}

absl::StatusOr<uint32_t> ParseField(const isa::FieldInfo& field,
                                    absl::string_view text) {
  const auto fail = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("field '", field.name, "': ", why));
  };
  uint32_t bits = 0;
  if (field.type == isa::FieldType::kF32) {
    absl::StatusOr<uint32_t> value = ParseFloat(text);
    if (!value.ok()) return fail(value.status().message());
    bits = *value;
  } else if (field.type == isa::FieldType::kBool &&
             (text == "true" || text == "false")) {
    bits = text == "true" ? 1 : 0;
  } else if (field.type == isa::FieldType::kEnum &&
             isa::ValueOf(*field.enum_info, text, &bits)) {
    // bits holds it
  } else {
    absl::StatusOr<int64_t> value = ParseInteger(text);
    if (!value.ok() && field.type == isa::FieldType::kEnum) {
      std::vector<const char*> names;
      std::string list;
      for (size_t i = 0; i < field.enum_info->num_values; ++i) {
        names.push_back(field.enum_info->values[i].name);
        absl::StrAppend(&list, i == 0 ? "" : ", ", names.back());
      }
      return fail(absl::StrCat(Quoted(text), " is not one of ", list,
                               DidYouMean(text, names)));
    }
    if (!value.ok()) return fail(value.status().message());
    const int64_t low = field.type == isa::FieldType::kInt
                            ? -(int64_t{1} << (field.bits - 1))
                            : 0;
    const int64_t high = field.type == isa::FieldType::kInt
                             ? -(low + 1)
                             : (int64_t{1} << field.bits) - 1;
    if (*value < low || *value > high) {
      return fail(absl::StrCat(*value, " does not fit its ", field.bits,
                               " bits (", low, " .. ", high, ")"));
    }
    bits = static_cast<uint32_t>(*value);
    if (field.bits < 32) bits &= (1u << field.bits) - 1;
  }
  absl::Status status = isa::CheckField(field, bits);
  if (!status.ok()) return status;
  return bits;
}

}  // namespace heddle::assembler
