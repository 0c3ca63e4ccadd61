// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/quantize_pairs.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <utility>

#include "compiler/ops/quantized_values.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

bool IsQuantize(const Rewriter& r, int n) {
  return r.IsOp(n, "QuantizeLinear");
}
bool IsDequantize(const Rewriter& r, int n) {
  return r.IsOp(n, "DequantizeLinear");
}

// Scale and zero point are constants of one element, both given.
bool HasConstantScalars(const Rewriter& r, int n) {
  for (size_t i = 1; i <= 2; ++i) {
    const TensorId id = r.node(n).input(i);
    if (id == kNoTensor || !r.tensor(id).is_constant() ||
        r.tensor(id).constant->count() != 1) {
      return false;
    }
  }
  return true;
}

const TensorData& Constant(const Rewriter& r, int n, size_t input) {
  return *r.tensor(r.node(n).inputs[input]).constant;
}

// True if Q1 DQ1 q2 DQ2... is a double pair; finds its nodes.
bool FindDoublePair(const Rewriter& r, int q2, int* q1, int* d1) {
  const TensorId inner = r.node(q2).inputs[0];
  const TensorId out = r.node(q2).outputs[0];
  *d1 = r.Producer(inner);
  if (!IsDequantize(r, *d1)) return false;
  *q1 = r.Producer(r.node(*d1).inputs[0]);
  if (!IsQuantize(r, *q1) || r.Consumers(out).empty()) return false;
  for (int d2 : r.Consumers(out)) {
    if (!IsDequantize(r, d2) || !HasConstantScalars(r, d2)) return false;
  }
  return HasConstantScalars(r, *q1) && HasConstantScalars(r, *d1) &&
         HasConstantScalars(r, q2) && r.OnlyUse(r.node(*q1).outputs[0]) &&
         r.OnlyUse(inner) && !r.graph().IsOutput(out) &&
         Constant(r, *d1, 2).type == Constant(r, q2, 2).type &&
         // int32 is a bias, not an activation.
         Constant(r, q2, 2).type != DataType::kInt32;
}

}  // namespace

void MergeDoublePairs(Rewriter* rewriter) {
  Rewriter& r = *rewriter;
  const int count = r.size();
  for (int q2 = 0; q2 < count; ++q2) {
    int q1 = -1, d1 = -1;
    if (!r.alive(q2) || !IsQuantize(r, q2) ||
        !FindDoublePair(r, q2, &q1, &d1)) {
      continue;
    }
    const DataType type = Constant(r, q2, 2).type;
    const float s1 = Constant(r, d1, 1).as<float>()[0];
    const float s2 = Constant(r, q2, 1).as<float>()[0];
    const int32_t z1 = LoadQuantized(Constant(r, d1, 2), 0);
    const int32_t z2 = LoadQuantized(Constant(r, q2, 2), 0);
    const int32_t qmin = QuantizedMin(type), qmax = QuantizedMax(type);
    float scale = s1;
    int32_t zero = z1;
    if (s1 != s2 || z1 != z2) {
      const auto real = [](int32_t code, int32_t z, float s) {
        return model::FMul(model::I32ToF32(code - z), s);
      };
      const float low = std::max(real(qmin, z1, s1), real(qmin, z2, s2));
      const float high = std::min(real(qmax, z1, s1), real(qmax, z2, s2));
      scale = model::FDiv(model::FSub(high, low), model::I32ToF32(qmax - qmin));
      const float offset =
          model::FSub(model::I32ToF32(qmin), model::FDiv(low, scale));
      // Half away from zero.
      zero = model::Clamp(model::Trunc(std::copysign(
                              std::floor(std::abs(offset) + 0.5f), offset)),
                          qmin, qmax);
    }
    const std::string name = r.tensor(r.node(q2).outputs[0]).name;
    TensorData scale_data = TensorData::Zeros(DataType::kFloat, {});
    scale_data.as<float>()[0] = scale;
    TensorData zero_data = TensorData::Zeros(type, {});
    zero_data.bytes[0] = static_cast<uint8_t>(zero);
    const TensorId scale_id =
        r.NewConstant(name + "/merged_scale", std::move(scale_data));
    const TensorId zero_id =
        r.NewConstant(name + "/merged_zero_point", std::move(zero_data));
    const TensorId codes = r.node(q1).outputs[0];
    r.SetInput(q1, 1, scale_id);
    r.SetInput(q1, 2, zero_id);
    const std::set<int> readers = r.Consumers(r.node(q2).outputs[0]);
    for (int d2 : readers) {
      r.SetInput(d2, 0, codes);
      r.SetInput(d2, 1, scale_id);
      r.SetInput(d2, 2, zero_id);
    }
    r.Remove(d1);
    r.Remove(q2);
  }
}

namespace {

bool Moves(const Rewriter& r, int n) {
  for (const char* op :
       {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice"}) {
    if (r.IsOp(n, op)) return true;
  }
  return r.IsOp(n, "MaxPool") && r.node(n).opset >= 12;
}

// Inserts a pair behind tensor `id` with the parameters of node `like`; returns
// the index of the DequantizeLinear. The readers of `id` are not changed.
int InsertPair(Rewriter* r, TensorId id, int like) {
  const Node parameters = r->node(like);
  const Tensor source = r->tensor(id);
  const DataType type = r->tensor(parameters.inputs[2]).type;
  Node quantize;
  quantize.op = "QuantizeLinear";
  quantize.name = source.name + "/q";
  quantize.opset = parameters.opset;
  quantize.sources = parameters.sources;
  quantize.inputs = {id, parameters.inputs[1], parameters.inputs[2]};
  quantize.outputs = {r->NewTensor(source.name + "/q", type, source.shape)};
  Node dequantize = quantize;
  dequantize.op = "DequantizeLinear";
  dequantize.name = source.name + "/dq";
  dequantize.inputs[0] = quantize.outputs[0];
  dequantize.outputs = {
      r->NewTensor(source.name + "/dq", DataType::kFloat, source.shape)};
  r->Add(std::move(quantize));
  return r->Add(std::move(dequantize));
}

void MoveBackward(Rewriter* r, int q) {
  TensorId id = r->node(q).inputs[0];
  while (true) {
    const int mover = r->Producer(id);
    if (mover < 0 || !Moves(*r, mover) || !r->OnlyUse(id)) return;
    const TensorId source = r->node(mover).inputs[0];
    const int before = r->Producer(source);
    if (before < 0 || IsDequantize(*r, before) || !r->OnlyUse(source)) return;
    const int dequantize = InsertPair(r, source, q);
    r->SetInput(mover, 0, r->node(dequantize).outputs[0]);
    id = source;
  }
}

// Returns the DequantizeLinear that now stands on the other side, or -1.
int MoveForward(Rewriter* r, int d) {
  const TensorId id = r->node(d).outputs[0];
  if (!r->OnlyUse(id)) return -1;
  const int mover = *r->Consumers(id).begin();
  if (!Moves(*r, mover) || r->node(mover).inputs[0] != id) return -1;
  const TensorId out = r->node(mover).outputs[0];
  const std::set<int> readers = r->Consumers(out);
  if (readers.empty() || r->graph().IsOutput(out)) return -1;
  for (int reader : readers) {
    if (IsQuantize(*r, reader)) return -1;
  }
  const int dequantize = InsertPair(r, out, d);
  for (int reader : readers) {
    for (size_t i = 0; i < r->node(reader).inputs.size(); ++i) {
      if (r->node(reader).inputs[i] == out) {
        r->SetInput(reader, i, r->node(dequantize).outputs[0]);
      }
    }
  }
  return dequantize;
}

}  // namespace

void MovePairs(Rewriter* rewriter) {
  Rewriter& r = *rewriter;
  const int count = r.size();
  for (int n = 0; n < count; ++n) {
    if (r.alive(n) && IsQuantize(r, n) && HasConstantScalars(r, n)) {
      MoveBackward(&r, n);
    }
  }
  std::deque<int> todo;
  for (int n = 0; n < r.size(); ++n) {
    if (r.alive(n) && IsDequantize(r, n) && HasConstantScalars(r, n) &&
        !r.tensor(r.node(n).inputs[0]).is_constant() &&
        r.tensor(r.node(n).inputs[2]).type != DataType::kInt32) {
      todo.push_back(n);
    }
  }
  while (!todo.empty()) {
    const int moved = MoveForward(&r, todo.front());
    todo.pop_front();
    if (moved >= 0) todo.push_back(moved);
  }
}

}  // namespace heddle::compiler
