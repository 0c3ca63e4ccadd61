// SPDX-License-Identifier: Apache-2.0
//
// Text form of command streams and of microprograms; everything is driven by
// the tables of rtl/spec/generated/isa.h.
//
//   stream  := { command | ".word" number { number } }
//   command := mnemonic { field "=" value [ "," ] }
//   value   := name | number        names: true, false, values of the field's
//   enumeration
//
//   microprogram := { operation operand { "," operand } [ "," immediate "="
//   number ] newline }
//
// Line breaks mean nothing in a stream; "#" starts a comment that ends with the
// line. Numbers are decimal, 0x hexadecimal or, for fp32, decimal or 0x...p
// floats, inf and nan; a hexadecimal integer given to an fp32 field is its bit
// pattern. A field that is not given has its default.
//
// Disassembly writes the fields that differ from their defaults, in the order
// of their bits, so text -> words -> text is the canonical form of the text,
// and words -> text -> words is exact.
#ifndef TOOLS_HEDDLE_ASM_ASM_H_
#define TOOLS_HEDDLE_ASM_ASM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::assembler {

// Words of the commands in `text`. Errors are INVALID_ARGUMENT and start with
// "NAME:LINE:COLUMN: ".
absl::StatusOr<std::vector<uint32_t>> Assemble(absl::string_view text,
                                               absl::string_view name);

struct DisassembleOptions {
  // Words that are no legal command become ".word" lines instead of an error.
  bool raw = false;
  // Start each command with its byte offset in a comment line.
  bool offsets = false;
};
// Canonical text of the commands in words[0 .. n). The error for an illegal
// command names its byte offset.
absl::StatusOr<std::string> Disassemble(const uint32_t* words, size_t n,
                                        const DisassembleOptions& options = {});

// The same for the micro-instructions of the vector engine, one per line.
absl::StatusOr<std::vector<uint64_t>> AssembleMicro(absl::string_view text,
                                                    absl::string_view name);
absl::StatusOr<std::string> DisassembleMicro(const uint64_t* words, size_t n);

}  // namespace heddle::assembler

#endif  // TOOLS_HEDDLE_ASM_ASM_H_
