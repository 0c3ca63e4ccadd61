// SPDX-License-Identifier: Apache-2.0
#include "compiler/bench/operator_cases.h"

#include <utility>

#include "compiler/bench/operator_case_builder.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

double CyclesOf(const std::function<Term(ProgramBuilder*)>& function) {
  ProgramBuilder b;
  b.Out(function(&b));
  const auto program = b.Finish();
  double cycles = 0;
  if (!program.ok()) return cycles;
  for (const isa::MicroInstruction& i : program->body) {
    switch (i.op) {
      case isa::MicroOp::kFdiv:
      case isa::MicroOp::kFsqrt:
        cycles += kDivide;
        break;
      case isa::MicroOp::kIdiv:
      case isa::MicroOp::kIdivu:
        cycles += kIntDivide;
        break;
      default:
        cycles += 1;
    }
  }
  return cycles;
}

void CaseTable::Sized(const std::string& op, const std::string& formula,
                      const std::vector<Shape>& shapes, const Make& make) {
  static const char* const kSizes[] = {"small", "medium", "large"};
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Made made = make(shapes[i]);
    OperatorCase c;
    c.op = op;
    c.size = kSizes[i];
    for (int64_t n : shapes[i]) {
      c.shape += (c.shape.empty() ? "" : ",") + std::to_string(n);
    }
    c.formula = formula;
    c.model = made.model.Bytes();
    c.work = made.lane_operations / isa::kVectorLanes;
    c.macs = made.macs;
    c.unread_bytes = made.unread_bytes;
    c.again_bytes = made.again_bytes;
    cases_.push_back(std::move(c));
  }
}

namespace {

// Operators of which more is asked than of others.
const char* const kCommon[] = {
    "Softmax", "LayerNormalization", "Gelu", "TopK", "Resize", "LSTM"};

struct Reason {
  const char* op;  // begins with
  const char* text;
};

// Where the cycles go that no bound has.
const std::vector<Reason>& Reasons() {
  static const auto* reasons = new std::vector<Reason>{
      {"LayerNormalization",
       "small: a tile of 16 rows has 128 vectors, and five commands that start "
       "in about 40 cycles each; the first load takes 490, the last store 300"},
      {"Resize linear",
       "small: the edges' columns are vectors of one lane, and the edges' rows "
       "commands of their own: 400 of 1390 cycles for three planes; the first "
       "load takes 300, the last stores 900"},
      {"Resize cubic",
       "small: the columns whose windows end at an edge are vectors of their "
       "own, two of four for a row of 32: 550 of 2150 cycles for three planes; "
       "the first load takes 490, the last store 390"},
      {"InstanceNormalization",
       "SRAM does not hold the tensor between the passes for mean, variance "
       "and "
       "result: six transfers of it instead of two"},
      {"GroupNormalization",
       "as InstanceNormalization, and the scale of each channel is a pass of "
       "its own"},
      {"BatchNormalization computed", "as InstanceNormalization"},
      {"CumSum",
       "a row's sums wait for each other, so that lanes are rows: a vector "
       "reads and writes sixteen lines of SRAM"},
      {"GridSample",
       "made of other operators: the image is turned to channels last, rows of "
       "channels are gathered for each of the four places, weighted in passes "
       "of their own, and turned back"},
      {"ScatterElements",
       "scatters serve one lane a cycle and one group at a time; the table is "
       "copied first, indices are made positive in a pass of their own"},
  };
  return *reasons;
}

}  // namespace

std::vector<OperatorCase> OperatorCases() {
  CaseTable table;
  AddPointwiseCases(&table);
  AddRowCases(&table);
  AddMoveCases(&table);
  AddSpatialCases(&table);
  AddProductCases(&table);
  std::vector<OperatorCase> cases = table.Take();
  for (OperatorCase& c : cases) {
    for (const char* op : kCommon) {
      if (c.op.rfind(op, 0) == 0) c.at_most = 1.5;
    }
    for (const Reason& reason : Reasons()) {
      if (c.op.rfind(reason.op, 0) == 0) c.reason = reason.text;
    }
  }
  return cases;
}

}  // namespace heddle::compiler
