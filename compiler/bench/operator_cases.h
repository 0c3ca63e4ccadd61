// SPDX-License-Identifier: Apache-2.0
// Models of one node each, of some forty operators in three sizes, with what
// the operator asks of the card whoever compiles it.
//
// `work` counts cycles of the vector engine: one for sixteen operations on 32
// bits (each instruction of ISA.md is one, a quotient or a root 29, a pick 2),
// without loads, stores, selections for ends of rows and anything that a
// particular schedule needs. What an operator computes with are
//   - the operations that its definition (compiler/ops) applies to an element,
//     each once: a maximum, a difference, a product, a multiply-add;
//   - functions as the instructions of their microprogram, whose bits are the
//     definition (compiler/ops/vector_math.h);
//   - per row, its own divisions and roots, sixteen rows at a time, and the 15
//     additions of the sum of its lanes.
// What only moves has no work.
#ifndef HEDDLE_COMPILER_BENCH_OPERATOR_CASES_H_
#define HEDDLE_COMPILER_BENCH_OPERATOR_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::compiler {

struct OperatorCase {
  std::string op;       // "Resize linear"
  std::string size;     // "small", "medium", "large"
  std::string shape;    // "1,128,768"
  std::string formula;  // what `work` counts
  std::string model;    // serialized
  double work = 0;      // cycles of the vector engine
  double macs = 0;      // of the matrix engine, 8-bit
  // Bytes of inputs that need not be read (rows that nothing gathers), and that
  // must be read more than once, because SRAM does not hold them.
  double unread_bytes = 0, again_bytes = 0;
  double at_most = 3;  // times the bound, without a reason
  std::string reason;  // why it is more
};

// In the order of the table: operators as in the sources, sizes from small to
// large.
std::vector<OperatorCase> OperatorCases();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BENCH_OPERATOR_CASES_H_
