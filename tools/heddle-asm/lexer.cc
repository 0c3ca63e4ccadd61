// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-asm/lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace heddle::assembler {

namespace {

bool IsWordByte(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.';
}

// Bytes of the word at text[at]; signs are part of a number: "-3", "1e-5",
// "0x1p+3".
size_t WordLength(absl::string_view text, size_t at) {
  size_t end = at;
  if (text[end] == '+' || text[end] == '-') ++end;
  const size_t first = end;
  const bool number = first < text.size() &&
                      (absl::ascii_isdigit(text[first]) || text[first] == '.');
  while (end < text.size()) {
    if (!IsWordByte(text[end])) {
      const char before =
          end > first ? absl::ascii_tolower(text[end - 1]) : '\0';
      const bool exponent = number && (before == 'e' || before == 'p');
      if (!exponent || (text[end] != '+' && text[end] != '-')) break;
    }
    ++end;
  }
  return end == first ? 0 : end - at;
}

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

absl::Status ErrorAt(absl::string_view name, const Token& token,
                     absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ":", token.line, ":", token.column, ": ", message));
}

std::string Quoted(absl::string_view text) {
  const bool cut = text.size() > 40;
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, 40)),
                      cut ? "..." : "", "'");
}

std::string DidYouMean(absl::string_view word,
                       const std::vector<const char*>& candidates) {
  if (word.size() > 40) return "";
  const char* best = nullptr;
  size_t least = 1 + word.size() / 3;
  for (const char* c : candidates) {
    const size_t d = EditDistance(word, c);
    if (d <= least && (best == nullptr || d < least)) {
      best = c;
      least = d;
    }
  }
  return best == nullptr ? "" : absl::StrCat(", did you mean '", best, "'?");
}

absl::StatusOr<std::vector<Token>> Tokenize(absl::string_view text,
                                            absl::string_view name) {
  std::vector<Token> tokens;
  uint32_t line = 1;
  size_t line_start = 0;
  size_t at = 0;
  const auto add = [&](Token::Kind kind, size_t length) {
    tokens.push_back({kind, text.substr(at, length), line,
                      static_cast<uint32_t>(at - line_start + 1)});
    at += length;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') {
      add(Token::kNewline, 1);
      ++line;
      line_start = at;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else if (c == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (c == '=') {
      add(Token::kEquals, 1);
    } else if (c == ',') {
      add(Token::kComma, 1);
    } else {
      const bool word = IsWordByte(c) || c == '+' || c == '-';
      const size_t length = word ? WordLength(text, at) : 0;
      if (length == 0) {
        add(Token::kEnd, 1);
        return ErrorAt(name, tokens.back(),
                       absl::StrCat("unexpected ", Quoted(tokens.back().text)));
      }
      add(Token::kWord, length);
    }
  }
  add(Token::kEnd, 0);
  return tokens;
}

}  // namespace heddle::assembler
