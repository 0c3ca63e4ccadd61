// SPDX-License-Identifier: Apache-2.0
// Operators whose elements are computed one by one.
#include "compiler/bench/operator_case_builder.h"
#include "compiler/ops/vector_math.h"

namespace heddle::compiler {
namespace {

constexpr DataType kF32 = DataType::kFloat;

double Elements(const Shape& s) { return static_cast<double>(ElementCount(s)); }

const std::vector<Shape>& Rows() {
  static const auto* rows =
      new std::vector<Shape>{{16, 512}, {128, 512}, {1024, 1024}};
  return *rows;
}

CaseTable::Make Unary(const std::string& op, int opset, double cycles) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(opset)};
    m.model.Input("x", kF32, s).Node(op, {"x"}, {"y"});
    m.model.Output("y");
    m.lane_operations = cycles * Elements(s);
    return m;
  };
}

CaseTable::Make Binary(const std::string& op, int opset, double cycles,
                       DataType type = kF32) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(opset)};
    m.model.Input("x", type, s).Input("z", type, s);
    auto* node = m.model.Node(op, {"x", "z"}, {"y"});
    if (op == "Mod" && type == kF32) SetInt(node, "fmod", 1);
    m.model.Output("y");
    m.lane_operations = cycles * Elements(s);
    return m;
  };
}

CaseTable::Made Where(const Shape& s) {
  CaseTable::Made m{ModelBuilder(16)};
  m.model.Input("c", DataType::kBool, s).Input("x", kF32, s);
  m.model.Input("z", kF32, s).Node("Where", {"c", "x", "z"}, {"y"});
  m.model.Output("y");
  m.lane_operations = Elements(s);
  return m;
}

CaseTable::Made AddRow(const Shape& s) {
  CaseTable::Made m{ModelBuilder(14)};
  m.model.Input("x", kF32, s).Input("z", kF32, {s.back()});
  m.model.Node("Add", {"x", "z"}, {"y"});
  m.model.Output("y");
  m.lane_operations = Elements(s);
  return m;
}

CaseTable::Made Quantize(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, s);
  m.model.Quantize("x", "y", 0.02f, Uint8s({}, {128}));
  m.model.Output("y");
  m.lane_operations = 3 * Elements(s);
  return m;
}

CaseTable::Made Dequantize(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", DataType::kUint8, s);
  m.model.Dequantize("x", "y", Floats({}, {0.02f}), Uint8s({}, {128}));
  m.model.Output("y");
  m.lane_operations = 3 * Elements(s);
  return m;
}

}  // namespace

void AddPointwiseCases(CaseTable* t) {
  const auto function = [&](const char* op, int opset,
                            Term (*f)(ProgramBuilder*, Term)) {
    const double cycles =
        CyclesOf([f](ProgramBuilder* b) { return f(b, ProgramBuilder::A()); });
    t->Sized(op, "the function", Rows(), Unary(op, opset, cycles));
  };
  const double gelu = CyclesOf([](ProgramBuilder* b) {
    const Term x = ProgramBuilder::A();
    const Term erf = Erf(b, b->Mul(x, b->Imm(0.7071f)));
    return b->Mul(b->Mul(x, b->Imm(0.5f)), b->Add(erf, b->Imm(1.0f)));
  });
  t->Sized("Gelu", "erf, 3 products, 1 sum", Rows(), Unary("Gelu", 20, gelu));
  function("Erf", 13, Erf);
  function("Exp", 13, Exp);
  function("Tanh", 13, Tanh);
  function("Sigmoid", 13, Sigmoid);
  function("Sin", 13, Sin);
  const double pow = CyclesOf([](ProgramBuilder* b) {
    return Pow(b, ProgramBuilder::A(), ProgramBuilder::B());
  });
  t->Sized("Pow", "the function", Rows(), Binary("Pow", 13, pow));
  const double fmod =
      CyclesOf([](ProgramBuilder* b) {
        return FmodFirst(b, ProgramBuilder::A(), ProgramBuilder::B());
      }) +
      CyclesOf([](ProgramBuilder* b) {
        return FmodRest(b, ProgramBuilder::C(), ProgramBuilder::A(),
                        ProgramBuilder::B());
      });
  t->Sized("Mod float", "the function", Rows(), Binary("Mod", 13, fmod));
  t->Sized("Mod int32", "1 quotient, 1 product, 1 difference", Rows(),
           Binary("Mod", 13, kIntDivide + 2, DataType::kInt32));
  t->Sized("Div", "1 quotient", Rows(), Binary("Div", 14, kDivide));
  t->Sized("Add row", "1", Rows(), AddRow);
  t->Sized("Where", "1", Rows(), Where);
  t->Sized("QuantizeLinear", "1 product, 1 rounding, 1 sum", Rows(), Quantize);
  t->Sized("DequantizeLinear", "1 difference, 1 conversion, 1 product", Rows(),
           Dequantize);
}

}  // namespace heddle::compiler
