// SPDX-License-Identifier: Apache-2.0
//
// Splits assembler text into tokens: words (names and numbers alike), "=", ","
// and line ends.
#ifndef TOOLS_HEDDLE_ASM_LEXER_H_
#define TOOLS_HEDDLE_ASM_LEXER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::assembler {

struct Token {
  enum Kind { kWord, kEquals, kComma, kNewline, kEnd };
  Kind kind;
  absl::string_view text;  // points into the source text
  uint32_t line;           // both count from 1
  uint32_t column;
};

// The tokens of `text`, closed by one kEnd. The error names the first byte that
// starts no token.
absl::StatusOr<std::vector<Token>> Tokenize(absl::string_view text,
                                            absl::string_view name);

// INVALID_ARGUMENT "NAME:LINE:COLUMN: message".
absl::Status ErrorAt(absl::string_view name, const Token& token,
                     absl::string_view message);

// Text in quotes with unprintable bytes escaped, cut at 40 bytes: safe to
// print.
std::string Quoted(absl::string_view text);

// ", did you mean 'x'?" for the candidate closest to `word`, empty when none is
// close.
std::string DidYouMean(absl::string_view word,
                       const std::vector<const char*>& candidates);

}  // namespace heddle::assembler

#endif  // TOOLS_HEDDLE_ASM_LEXER_H_
