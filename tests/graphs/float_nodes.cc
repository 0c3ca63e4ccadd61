// SPDX-License-Identifier: Apache-2.0
// Floats: functions element by element, of one operand and of two.
#include <algorithm>
#include <cmath>

#include "tests/graphs/graph_writer.h"

namespace heddle::tests {
namespace {

using compiler::Floats;
using compiler::SetFloat;
using compiler::SetInt;

// What the functions of a library, and the card's microprograms, may be apart.
constexpr double kFunctionError = 4e-6;

struct Function {
  const char* op;
  int since;
  double slope;    // at most, where operands are at most `operand`
  double operand;  // 0: of any size
  double result;   // at most; 0: as large as the operand
};
constexpr Function kSmooth[] = {
    {"Tanh", 1, 1, 0, 1},          {"Sigmoid", 1, 0.25, 0, 1},
    {"Softplus", 1, 1, 16, 17},    {"Softsign", 1, 1, 0, 1},
    {"HardSigmoid", 1, 0.2, 0, 1}, {"Erf", 9, 1.2, 0, 1},
    {"Elu", 1, 1, 0, 0},           {"Exp", 1, 20.1, 3, 20.1},
    {"HardSwish", 14, 1.5, 0, 0},  {"Mish", 18, 1.1, 16, 0},
    {"Gelu", 20, 1.2, 16, 0},      {"Celu", 12, 1, 0, 0},
    {"Cos", 7, 1, 16, 1},          {"Sin", 7, 1, 16, 1},
    {"LeakyRelu", 1, 1, 0, 0},     {"Selu", 1, 1.8, 16, 28},
};

bool AddSmooth(GraphWriter* w) {
  const Value* x = w->Draw(IsFloat);
  const Function& f = kSmooth[w->Below(std::size(kSmooth))];
  if (x == nullptr || w->opset() < f.since ||
      (f.operand > 0 && x->magnitude > f.operand)) {
    return false;
  }
  Value y = *x;
  y.magnitude = f.result > 0 ? f.result : std::max(1.0, x->magnitude);
  y.error = x->error * f.slope + kFunctionError * std::max(1.0, y.magnitude);
  return w->Append(f.op, {x->name}, y) != nullptr;
}

// What stays exact.
bool AddPlain(GraphWriter* w) {
  const Value* x = w->Draw(IsFloat);
  if (x == nullptr) return false;
  const char* op = w->Pick({"Neg", "Abs", "Relu", "Identity"});
  return w->Append(op, {x->name}, *x) != nullptr;
}

bool AddStep(GraphWriter* w) {
  const Value* x = w->Draw(IsExactFloat);
  if (x == nullptr) return false;
  const char* op = w->Pick({"Floor", "Ceil", "Round", "Sign"});
  Value y = *x;
  y.magnitude = std::ceil(x->magnitude);
  y.fraction = 0;
  return w->Append(op, {x->name}, y) != nullptr;
}

bool AddClip(GraphWriter* w) {
  const Value* x = w->Draw(IsFloat);
  if (x == nullptr) return false;
  Value y = *x;
  y.magnitude = std::max(2.0, std::min(4.0, x->magnitude));
  y.fraction = std::max(x->fraction, 1);
  return w->Append(
             "Clip",
             {x->name, w->OneIn(4) ? "" : w->Constant(Floats({}, {-2.5f})),
              w->Constant(Floats({}, {4}))},
             y) != nullptr &&
         x->magnitude > 0;
}

// Another float that broadcasts with `x`, or a constant.
Value Partner(const Value& x, GraphWriter* w) {
  const Value* other = w->Draw([&](const Value& v) {
    return IsFloat(v) && Broadcast(v.dims, x.dims).has_value();
  });
  if (other != nullptr && !w->OneIn(3)) return *other;
  Value made;
  made.magnitude = 1;
  made.fraction = 2;
  compiler::Shape shape;
  if (!x.dims.empty() && x.dims.back().symbol < 0 && w->OneIn(2)) {
    shape.push_back(x.dims.back().size);
    made.dims = {x.dims.back()};
  }
  made.name = w->Weights(shape);
  return made;
}

bool AddBinary(GraphWriter* w) {
  const Value* x = w->Draw(IsFloat);
  if (x == nullptr) return false;
  const Value other = Partner(*x, w);
  const std::string op = w->Pick({"Add", "Sub", "Mul", "Max", "Min", "PRelu"});
  Value y;
  const auto dims = Broadcast(x->dims, other.dims);
  if (!dims.has_value() || (op == "PRelu" && *dims != x->dims)) return false;
  y.dims = *dims;
  y.fraction = std::max(x->fraction, other.fraction);
  if (op == "Mul" || op == "PRelu") {
    y.magnitude = x->magnitude * other.magnitude;
    y.fraction = x->fraction + other.fraction;
    y.error = x->magnitude * other.error + other.magnitude * x->error +
              x->error * other.error;
    if (op == "PRelu") {
      y.magnitude = std::max(y.magnitude, x->magnitude);
      y.error += x->error;
    }
  } else if (op == "Max" || op == "Min") {
    y.magnitude = std::max(x->magnitude, other.magnitude);
    y.error = std::max(x->error, other.error);
  } else {
    y.magnitude = x->magnitude + other.magnitude;
    y.error = x->error + other.error;
  }
  y = Rounded(y);
  const bool turned = op != "PRelu" && w->OneIn(2);
  return w->Append(
             op, {turned ? other.name : x->name, turned ? x->name : other.name},
             y) != nullptr;
}

// By a power of two, so that nothing is rounded.
bool AddDivision(GraphWriter* w) {
  const Value* x = w->Draw(IsFloat);
  if (x == nullptr) return false;
  const int bits = static_cast<int>(1 + w->Below(2));
  Value y = *x;
  y.magnitude = std::ldexp(x->magnitude, -bits);
  y.error = std::ldexp(x->error, -bits);
  y.fraction += bits;
  return w->Append("Div",
                   {x->name, w->Constant(Floats({}, {std::ldexp(1.0f, bits)}))},
                   Rounded(y)) != nullptr;
}

bool AddMean(GraphWriter* w) {
  const Value* x = w->Draw(IsFloat);
  if (x == nullptr) return false;
  const Value other = Partner(*x, w);
  const bool mean = w->OneIn(2);
  Value y;
  y.dims = *Broadcast(x->dims, other.dims);
  y.magnitude = x->magnitude + other.magnitude;
  y.error = x->error + other.error;
  y.fraction = std::max(x->fraction, other.fraction) + mean;
  return w->Append(mean ? "Mean" : "Sum", {x->name, other.name}, Rounded(y)) !=
         nullptr;
}

// To a half and back: of values that a half holds.
bool AddHalf(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsExactFloat(v) && std::ldexp(v.magnitude, v.fraction) <= 2048 &&
           v.fraction <= 10;
  });
  if (x == nullptr) return false;
  Value half = *x;
  half.type = compiler::DataType::kFloat16;
  const Value* made =
      w->Append("Cast", {x->name}, half, [](onnx::NodeProto* node) {
        SetInt(node, "to", static_cast<int>(compiler::DataType::kFloat16));
      });
  if (made == nullptr) return false;
  const Value* negated = w->Append("Neg", {made->name}, half);
  return negated != nullptr &&
         w->Append("Cast", {negated->name}, *x, [](onnx::NodeProto* node) {
           SetInt(node, "to", 1);
         }) != nullptr;
}

const NodeFamily kSmoothFamily("smooth", Side::kCard, AddSmooth);
const NodeFamily kPlainFamily("plain", Side::kCard, AddPlain);
const NodeFamily kStepFamily("step", Side::kCard, AddStep);
const NodeFamily kClipFamily("clip", Side::kCard, AddClip);
const NodeFamily kBinaryFamily("binary", Side::kCard, AddBinary);
const NodeFamily kMoreBinaryFamily("binary 2", Side::kCard, AddBinary);
const NodeFamily kDivisionFamily("division", Side::kCard, AddDivision);
const NodeFamily kMeanFamily("mean", Side::kCard, AddMean);
const NodeFamily kHalfFamily("half", Side::kCard, AddHalf);

}  // namespace
}  // namespace heddle::tests
