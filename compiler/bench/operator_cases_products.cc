// SPDX-License-Identifier: Apache-2.0
// Matrix products and what is made of them.
#include <algorithm>

#include "compiler/bench/operator_case_builder.h"
#include "compiler/ops/vector_math.h"
#include "compiler/testing/card_case.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

constexpr DataType kF32 = DataType::kFloat;

double Product(const Shape& s) { return static_cast<double>(ElementCount(s)); }

// shape: m, k, n.
CaseTable::Made MatMul(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("a", kF32, {s[0], s[1]}).Input("b", kF32, {s[1], s[2]});
  m.model.Node("MatMul", {"a", "b"}, {"y"});
  m.model.Output("y");
  m.lane_operations = Product(s);
  return m;
}

// shape: batch, m, k, n.
CaseTable::Made Einsum(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("a", kF32, {s[0], s[1], s[2]});
  m.model.Input("b", kF32, {s[0], s[3], s[2]});
  SetString(m.model.Node("Einsum", {"a", "b"}, {"y"}), "equation",
            "bik,bjk->bij");
  m.model.Output("y");
  m.lane_operations = Product(s);
  return m;
}

// shape: m, k, n; the right operand is constant.
CaseTable::Made MatMulInteger(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("a", DataType::kUint8, {s[0], s[1]});
  m.model.Constant("b", RandomData(DataType::kInt8, {s[1], s[2]}, 1));
  m.model.Node("MatMulInteger", {"a", "b"}, {"y"});
  m.model.Output("y");
  m.macs = Product(s);
  return m;
}

// shape: heads, tokens, size of a head.
CaseTable::Made Attention(const Shape& s) {
  CaseTable::Made m{ModelBuilder(23)};
  const Shape q = {1, s[0], s[1], s[2]};
  m.model.Input("q", kF32, q).Input("k", kF32, q).Input("v", kF32, q);
  m.model.Node("Attention", {"q", "k", "v"}, {"y"});
  m.model.Output("y");
  const double exp =
      CyclesOf([](ProgramBuilder* b) { return Exp(b, ProgramBuilder::A()); });
  const auto scores = static_cast<double>(s[0] * s[1] * s[1]);
  // Both products, the softmax of the scores, the scale of Q and of K.
  m.lane_operations = scores * (2 * static_cast<double>(s[2]) + exp + 4) +
                      2 * Product(s) +
                      static_cast<double>(s[0] * s[1]) * (30 + kDivide);
  return m;
}

// shape: steps, batch, inputs and hidden.
CaseTable::Make Recurrent(const std::string& op, int64_t gates,
                          double element) {
  return [=](const Shape& s) {
    const int64_t steps = s[0], batch = s[1], n = s[2];
    CaseTable::Made m{ModelBuilder(14)};
    m.model.Input("x", kF32, {steps, batch, n});
    const Shape weights = {1, gates * n, n};
    m.model.Constant("w", RandomData(kF32, weights, 1, -0.1f, 0.1f));
    m.model.Constant("r", RandomData(kF32, weights, 2, -0.1f, 0.1f));
    m.model.Constant("b", RandomData(kF32, {1, 2 * gates * n}, 3));
    SetInt(m.model.Node(op, {"x", "w", "r", "b"}, {"y"}), "hidden_size", n);
    m.model.Output("y");
    const auto all = static_cast<double>(steps * batch * n);
    // The first step has no state to multiply.
    m.lane_operations =
        all * (element + static_cast<double>(gates * n)) +
        (all - static_cast<double>(batch * n)) * static_cast<double>(gates * n);
    // What SRAM does not hold of R is read in each step but the first.
    const auto beyond = std::max<int64_t>(
        0, 4 * gates * n * n - int64_t{isa::kH256.sram_bytes});
    m.again_bytes =
        static_cast<double>(beyond * std::max<int64_t>(0, steps - 2));
    return m;
  };
}

}  // namespace

void AddProductCases(CaseTable* t) {
  const double sigmoid = CyclesOf(
      [](ProgramBuilder* b) { return Sigmoid(b, ProgramBuilder::A()); });
  const double tanh =
      CyclesOf([](ProgramBuilder* b) { return Tanh(b, ProgramBuilder::A()); });
  t->Sized("LSTM (steps, batch, size)",
           "multiply-adds of 8 products; 3 sigmoids, 2 tanh, 4",
           {{16, 1, 32}, {32, 4, 128}, {64, 8, 256}},
           Recurrent("LSTM", 4, 3 * sigmoid + 2 * tanh + 4));
  t->Sized("GRU (steps, batch, size)",
           "multiply-adds of 6 products; 2 sigmoids, 1 tanh, 5",
           {{16, 1, 32}, {32, 4, 128}, {64, 8, 256}},
           Recurrent("GRU", 3, 2 * sigmoid + tanh + 5));
  t->Sized("MatMul float (m, k, n)", "multiply-adds",
           {{16, 64, 64}, {128, 128, 128}, {256, 512, 512}}, MatMul);
  t->Sized("Einsum bik,bjk->bij (b, i, k, j)", "multiply-adds",
           {{2, 16, 32, 64}, {4, 64, 64, 64}, {8, 128, 64, 256}}, Einsum);
  t->Sized("Attention (heads, tokens, size)",
           "multiply-adds of 2 products; of a score the softmax; scales",
           {{2, 32, 16}, {4, 128, 32}, {8, 256, 64}}, Attention);
  t->Sized("MatMulInteger (m, k, n)", "",
           {{16, 64, 64}, {128, 256, 256}, {512, 1024, 1024}}, MatMulInteger);
}

}  // namespace heddle::compiler
