// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-asm/asm.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rtl/spec/generated/isa.h"
#include "tools/heddle-asm/lexer.h"
#include "tools/heddle-asm/value.h"

namespace heddle::assembler {

namespace {

// Commands are broken at this column; a continuation line is indented.
constexpr size_t kColumns = 100;
constexpr char kIndent[] = "    ";
constexpr char kRawDirective[] = ".word";

class StreamParser {
 public:
  StreamParser(std::vector<Token> tokens, absl::string_view name)
      : tokens_(std::move(tokens)), name_(name) {
    // Line ends mean nothing here.
    tokens_.erase(std::remove_if(
                      tokens_.begin(), tokens_.end(),
                      [](const Token& t) { return t.kind == Token::kNewline; }),
                  tokens_.end());
  }

  absl::StatusOr<std::vector<uint32_t>> Run() {
    while (Now().kind != Token::kEnd) {
      absl::Status status = Now().text == kRawDirective ? Raw() : Command();
      if (!status.ok()) return status;
    }
    return std::move(words_);
  }

 private:
  const Token& Now() const { return tokens_[at_]; }
  // kEnd is never passed, so a look-ahead of one stays inside.
  const Token& Next() const {
    return tokens_[std::min(at_ + 1, tokens_.size() - 1)];
  }
  absl::Status Fail(const Token& where, absl::string_view message) const {
    return ErrorAt(name_, where, message);
  }

  absl::Status Raw() {
    const Token directive = tokens_[at_++];
    size_t count = 0;
    while (Now().kind == Token::kWord && Next().kind != Token::kEquals) {
      const char c = Now().text[0];
      if (c != '-' && c != '+' && (c < '0' || c > '9'))
        break;  // the next mnemonic
      absl::StatusOr<int64_t> value = ParseInteger(Now().text);
      if (!value.ok()) return Fail(Now(), value.status().message());
      if (*value < 0 || *value > 0xffffffff) {
        return Fail(Now(),
                    absl::StrCat(Quoted(Now().text), " does not fit 32 bits"));
      }
      words_.push_back(static_cast<uint32_t>(*value));
      ++count;
      ++at_;
      if (Now().kind == Token::kComma) ++at_;
    }
    if (count == 0) return Fail(directive, ".word needs at least one number");
    return absl::OkStatus();
  }

  absl::Status Command() {
    const Token mnemonic = Now();
    if (mnemonic.kind != Token::kWord || Next().kind == Token::kEquals) {
      return Fail(mnemonic, absl::StrCat("a mnemonic is expected instead of ",
                                         Quoted(mnemonic.text)));
    }
    const isa::CommandInfo* info = isa::FindCommandByMnemonic(mnemonic.text);
    if (info == nullptr) {
      std::vector<const char*> names;
      for (const isa::CommandInfo& c : isa::kCommands)
        names.push_back(c.mnemonic);
      return Fail(mnemonic,
                  absl::StrCat("unknown instruction ", Quoted(mnemonic.text),
                               DidYouMean(mnemonic.text, names)));
    }
    ++at_;
    const size_t base = words_.size();
    words_.resize(base + info->words, 0);
    for (size_t i = 0; i < info->num_fields; ++i) {
      isa::SetField(info->fields[i], info->fields[i].default_bits,
                    words_.data() + base);
    }
    std::vector<bool> given(info->num_fields, false);
    while (Now().kind == Token::kWord && Next().kind == Token::kEquals) {
      absl::Status status = Assignment(*info, words_.data() + base, &given);
      if (!status.ok()) return status;
    }
    for (size_t i = 0; i < info->num_fields; ++i) {
      if (info->fields[i].required && !given[i]) {
        return Fail(
            mnemonic,
            absl::StrCat("'", info->mnemonic, "' needs field '",
                         info->fields[i].name, "', which has no default"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Assignment(const isa::CommandInfo& info, uint32_t* words,
                          std::vector<bool>* given) {
    const Token field_name = Now();
    size_t index = 0;
    while (index < info.num_fields &&
           field_name.text != info.fields[index].name)
      ++index;
    if (index == info.num_fields) {
      std::vector<const char*> names;
      for (size_t i = 0; i < info.num_fields; ++i)
        names.push_back(info.fields[i].name);
      return Fail(field_name,
                  absl::StrCat("'", info.mnemonic, "' has no field ",
                               Quoted(field_name.text),
                               DidYouMean(field_name.text, names)));
    }
    const isa::FieldInfo& field = info.fields[index];
    if (field.fixed) {
      return Fail(field_name, absl::StrCat("field '", field.name,
                                           "' is set by the instruction"));
    }
    if ((*given)[index]) {
      return Fail(field_name,
                  absl::StrCat("field '", field.name, "' is given twice"));
    }
    (*given)[index] = true;
    at_ += 2;
    const Token value = Now();
    if (value.kind != Token::kWord) {
      return Fail(value, absl::StrCat("field '", field.name, "' has no value"));
    }
    ++at_;
    absl::StatusOr<uint32_t> bits = ParseField(field, value.text);
    if (!bits.ok()) return Fail(value, bits.status().message());
    isa::SetField(field, *bits, words);
    if (Now().kind == Token::kComma) ++at_;
    return absl::OkStatus();
  }

  std::vector<Token> tokens_;
  const absl::string_view name_;
  size_t at_ = 0;
  std::vector<uint32_t> words_;
};

void AppendCommand(const isa::CommandInfo& info, const uint32_t* words,
                   std::string* out) {
  std::string line = info.mnemonic;
  for (size_t i = 0; i < info.num_fields; ++i) {
    const isa::FieldInfo& f = info.fields[i];
    const uint32_t bits = isa::GetField(f, words);
    if (f.fixed || (bits == f.default_bits && !f.required)) continue;
    const std::string item =
        absl::StrCat(f.name, "=", isa::FormatField(f, bits));
    if (line.size() + 1 + item.size() > kColumns) {
      absl::StrAppend(out, line, "\n");
      line = absl::StrCat(kIndent, item);
    } else {
      absl::StrAppend(&line, " ", item);
    }
  }
  absl::StrAppend(out, line, "\n");
}

const isa::FieldInfo* MicroField(absl::string_view name) {
  for (const isa::FieldInfo& f : isa::kMicroFields) {
    if (name == f.name) return &f;
  }
  return nullptr;
}

// One line of a microprogram: tokens[*at] is its first, *at ends at its line
// end.
absl::StatusOr<uint64_t> MicroLine(const std::vector<Token>& tokens,
                                   absl::string_view name, size_t* at) {
  const Token op = tokens[(*at)++];
  const isa::MicroOpInfo* info =
      op.kind == Token::kWord ? isa::FindMicroOpByName(op.text) : nullptr;
  if (info == nullptr) {
    std::vector<const char*> names;
    for (const isa::MicroOpInfo& o : isa::kMicroOps) names.push_back(o.name);
    return ErrorAt(name, op,
                   absl::StrCat("unknown operation ", Quoted(op.text),
                                DidYouMean(op.text, names)));
  }
  uint32_t words[2] = {0, 0};
  isa::SetField(*MicroField("op"), static_cast<uint32_t>(info->op), words);
  for (int k = 0; k < info->num_operands; ++k) {
    if (k > 0) {
      if (tokens[*at].kind != Token::kComma) {
        return ErrorAt(
            name, tokens[*at],
            absl::StrCat("'", info->name, "' has ", info->num_operands,
                         " operands, ", k, " are given"));
      }
      ++*at;
    }
    const Token value = tokens[*at];
    if (value.kind != Token::kWord) {
      return ErrorAt(name, value,
                     absl::StrCat("'", info->name, "' has ", info->num_operands,
                                  " operands, ", k, " are given"));
    }
    ++*at;
    const isa::FieldInfo& field = isa::kMicroFields[info->operands[k]];
    absl::StatusOr<uint32_t> bits = ParseField(field, value.text);
    if (!bits.ok()) return ErrorAt(name, value, bits.status().message());
    isa::SetField(field, *bits, words);
  }
  while (tokens[*at].kind == Token::kComma) {
    const Token key = tokens[++*at];
    const isa::FieldInfo* field =
        key.kind == Token::kWord ? MicroField(key.text) : nullptr;
    bool operand = key.text == "op";
    for (int k = 0; k < info->num_operands; ++k) {
      operand |= field == &isa::kMicroFields[info->operands[k]];
    }
    if (field == nullptr || operand || field->enum_info != nullptr) {
      return ErrorAt(
          name, key,
          absl::StrCat("'", info->name, "' has ", info->num_operands,
                       " operands; ", Quoted(key.text), " is one too many"));
    }
    if (tokens[++*at].kind != Token::kEquals) {
      return ErrorAt(name, tokens[*at],
                     absl::StrCat("'=' is expected after '", field->name, "'"));
    }
    const Token value = tokens[++*at];
    if (value.kind != Token::kWord) {
      return ErrorAt(name, value,
                     absl::StrCat("'", field->name, "' has no value"));
    }
    ++*at;
    absl::StatusOr<uint32_t> bits = ParseField(*field, value.text);
    // Immediates carry fp32 values too: "imm=1.5".
    if (!bits.ok()) bits = ParseFloat(value.text);
    if (!bits.ok()) {
      return ErrorAt(
          name, value,
          absl::StrCat(Quoted(value.text), " is neither an integer of ",
                       field->bits, " bits nor an fp32 number"));
    }
    isa::SetField(*field, *bits, words);
  }
  if (tokens[*at].kind != Token::kNewline && tokens[*at].kind != Token::kEnd) {
    return ErrorAt(name, tokens[*at],
                   absl::StrCat("unexpected ", Quoted(tokens[*at].text),
                                ": operands are separated by commas"));
  }
  const uint64_t word = words[0] | static_cast<uint64_t>(words[1]) << 32;
  absl::StatusOr<isa::MicroInstruction> check =
      isa::MicroInstruction::Decode(word);
  if (!check.ok()) return ErrorAt(name, op, check.status().message());
  return word;
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> Assemble(absl::string_view text,
                                               absl::string_view name) {
  absl::StatusOr<std::vector<Token>> tokens = Tokenize(text, name);
  if (!tokens.ok()) return tokens.status();
  return StreamParser(*std::move(tokens), name).Run();
}

absl::StatusOr<std::string> Disassemble(const uint32_t* words, size_t n,
                                        const DisassembleOptions& options) {
  std::string out;
  for (size_t at = 0; at < n;) {
    if (options.offsets) absl::StrAppendFormat(&out, "# 0x%x\n", 4 * at);
    absl::Status status = isa::CheckCommand(words + at, n - at);
    if (status.ok()) {
      const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
      AppendCommand(*info, words + at, &out);
      at += info->words;
    } else if (options.raw) {
      // Lengths are multiples of four words, so the next command can only start
      // there.
      const size_t count = std::min<size_t>(4, n - at);
      absl::StrAppend(&out, kRawDirective);
      for (size_t i = 0; i < count; ++i)
        absl::StrAppendFormat(&out, " 0x%08x", words[at + i]);
      absl::StrAppend(&out, "  # ", status.message(), "\n");
      at += count;
    } else {
      return absl::InvalidArgumentError(absl::StrFormat(
          "command at byte 0x%x: %s", 4 * at, std::string(status.message())));
    }
  }
  return out;
}

absl::StatusOr<std::vector<uint64_t>> AssembleMicro(absl::string_view text,
                                                    absl::string_view name) {
  absl::StatusOr<std::vector<Token>> tokens = Tokenize(text, name);
  if (!tokens.ok()) return tokens.status();
  std::vector<uint64_t> words;
  size_t at = 0;
  while ((*tokens)[at].kind != Token::kEnd) {
    if ((*tokens)[at].kind == Token::kNewline) {
      ++at;
      continue;
    }
    absl::StatusOr<uint64_t> word = MicroLine(*tokens, name, &at);
    if (!word.ok()) return word.status();
    words.push_back(*word);
  }
  return words;
}

absl::StatusOr<std::string> DisassembleMicro(const uint64_t* words, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) {
    absl::StatusOr<isa::MicroInstruction> m =
        isa::MicroInstruction::Decode(words[i]);
    if (!m.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "micro-instruction %d: %s", i, std::string(m.status().message())));
    }
    absl::StrAppend(&out, m->ToString(), "\n");
  }
  return out;
}

}  // namespace heddle::assembler
