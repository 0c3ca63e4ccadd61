// SPDX-License-Identifier: Apache-2.0
//
// heddle-asm: command streams and microprograms to text and back.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "heddle/version.h"
#include "tools/cli/usage.h"
#include "tools/heddle-asm/asm.h"
#include "tools/heddle-asm/value.h"

namespace {

constexpr char kHelp[] =
    "Example:\n"
    "  heddle-asm stream.s -o stream.bin        assemble a command stream\n"
    "  heddle-asm -d stream.bin                 print it again\n"
    "  heddle-asm --micro gelu.s -o gelu.bin    assemble a microprogram\n"
    "\n"
    "Assembles and disassembles Heddle command streams. The text form is one\n"
    "mnemonic followed by field=value pairs; rtl/spec/ISA.md lists both. "
    "Binary "
    "files\n"
    "hold little-endian words.\n";

absl::StatusOr<std::string> ReadAll(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("cannot open '", path, "': ", std::strerror(errno)));
  }
  std::string data;
  char buffer[65536];
  size_t n;
  while ((n = std::fread(buffer, 1, sizeof(buffer), file)) > 0)
    data.append(buffer, n);
  const bool failed = std::ferror(file) != 0;
  if (file != stdin) std::fclose(file);
  if (failed)
    return absl::DataLossError(absl::StrCat("cannot read '", path, "'"));
  return data;
}

absl::Status WriteAll(const std::string& path, const std::string& data) {
  std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return absl::PermissionDeniedError(absl::StrCat(
        "cannot open '", path, "' for writing: ", std::strerror(errno)));
  }
  bool ok = std::fwrite(data.data(), 1, data.size(), file) == data.size();
  ok &= (file == stdout ? std::fflush(file) : std::fclose(file)) == 0;
  if (!ok)
    return absl::DataLossError(absl::StrCat("cannot write '", path, "'"));
  return absl::OkStatus();
}

template <typename Word>
std::string ToBytes(const std::vector<Word>& words, bool hex) {
  std::string out;
  for (Word w : words) {
    if (hex) {
      absl::StrAppendFormat(&out, "%0*x\n", static_cast<int>(2 * sizeof(Word)),
                            w);
    } else {
      for (size_t i = 0; i < sizeof(Word); ++i)
        out.push_back(static_cast<char>(w >> (8 * i)));
    }
  }
  return out;
}

template <typename Word>
absl::StatusOr<std::vector<Word>> FromBytes(const std::string& data, bool hex) {
  std::vector<Word> words;
  if (hex) {
    size_t at = 0;
    while ((at = data.find_first_not_of(" \t\r\n", at)) != std::string::npos) {
      const size_t end =
          std::min(data.find_first_of(" \t\r\n", at), data.size());
      const std::string digits = data.substr(at, end - at);
      // One digit more than fits makes the number too large for 63 bits, or for
      // the word.
      Word value = 0;
      if (digits.size() > 2 * sizeof(Word) ||
          digits.find_first_not_of("0123456789abcdefABCDEF") !=
              std::string::npos) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", digits.substr(0, 40), "' is not a ",
                         8 * sizeof(Word), "-bit hexadecimal word"));
      }
      for (char c : digits) {
        value = static_cast<Word>(
            value << 4 |
            static_cast<Word>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10));
      }
      words.push_back(value);
      at = end;
    }
    return words;
  }
  if (data.size() % sizeof(Word) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the file has ", data.size(),
                                                   " bytes, a multiple of ",
                                                   sizeof(Word), " is needed"));
  }
  for (size_t at = 0; at < data.size(); at += sizeof(Word)) {
    Word w = 0;
    for (size_t i = 0; i < sizeof(Word); ++i) {
      w |= static_cast<Word>(static_cast<uint8_t>(data[at + i])) << (8 * i);
    }
    words.push_back(w);
  }
  return words;
}

struct Options {
  std::string input = "-";
  std::string output = "-";
  bool disassemble = false;
  bool micro = false;
  bool hex = false;
  heddle::assembler::DisassembleOptions text;
};

absl::StatusOr<std::string> Convert(const Options& o, const std::string& data) {
  const std::string name = o.input == "-" ? "<stdin>" : o.input;
  if (o.micro && o.disassemble) {
    absl::StatusOr<std::vector<uint64_t>> words =
        FromBytes<uint64_t>(data, o.hex);
    if (!words.ok()) return words.status();
    return heddle::assembler::DisassembleMicro(words->data(), words->size());
  }
  if (o.micro) {
    absl::StatusOr<std::vector<uint64_t>> words =
        heddle::assembler::AssembleMicro(data, name);
    if (!words.ok()) return words.status();
    return ToBytes(*words, o.hex);
  }
  if (o.disassemble) {
    absl::StatusOr<std::vector<uint32_t>> words =
        FromBytes<uint32_t>(data, o.hex);
    if (!words.ok()) return words.status();
    return heddle::assembler::Disassemble(words->data(), words->size(), o.text);
  }
  absl::StatusOr<std::vector<uint32_t>> words =
      heddle::assembler::Assemble(data, name);
  if (!words.ok()) return words.status();
  return ToBytes(*words, o.hex);
}

absl::Status Run(const Options& o) {
  absl::StatusOr<std::string> data = ReadAll(o.input);
  if (!data.ok()) return data.status();
  absl::StatusOr<std::string> result = Convert(o, *data);
  if (!result.ok()) return result.status();
  if (o.output == "-" && !o.disassemble && !o.hex &&
      isatty(STDOUT_FILENO) != 0) {
    return absl::InvalidArgumentError(
        "not writing binary words to a terminal; give -o FILE or --hex");
  }
  return WriteAll(o.output, *result);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app(kHelp, "heddle-asm");
  heddle::cli::WrapHelp(&app);
  app.set_version_flag("--version", "heddle-asm " HEDDLE_VERSION);
  app.add_option("input", o.input,
                 "text to assemble, or with -d the words to disassemble; - is "
                 "standard input")
      ->capture_default_str();
  app.add_option("-o,--output", o.output, "file to write; - is standard output")
      ->capture_default_str();
  app.add_flag("-d,--disassemble", o.disassemble, "disassemble");
  app.add_flag("--micro", o.micro, "microprograms instead of command streams");
  app.add_flag("--hex", o.hex,
               "words as hexadecimal text, one per line, instead of binary");
  app.add_flag("--raw", o.text.raw,
               "with -d: print illegal words as .word instead of failing");
  app.add_flag("--offsets", o.text.offsets,
               "with -d: print each command's byte offset as a comment");
  app.footer("Exit codes: 0 success, 1 failure, 2 usage.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return heddle::cli::ExitOfParse(app, e);
  }
  absl::Status status = Run(o);
  if (!status.ok()) {
    std::fprintf(stderr, "heddle-asm: error: %s\n",
                 std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}
