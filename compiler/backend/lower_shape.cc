// SPDX-License-Identifier: Apache-2.0
// Reshape, Flatten, Squeeze, Unsqueeze, Identity, Transpose.
#include <algorithm>

#include "compiler/backend/loops.h"
#include "compiler/backend/lowering.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

// The same bytes in ONNX's order under another shape.
absl::Status LowerReshape(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const int value = l->ValueOf(in, node);
  const Shape& shape = l->tensor(out).shape;
  const Storage& s = l->device().StorageOf(value);
  const Value& v = l->device().values[value];
  // A blocked vector is the same bytes whatever unit dimensions its shape has.
  const Extent e = ExtentOf(shape, s.layout);
  if (s.layout == Layout::kBlocked && v.extent.c == e.c &&
      e.n * e.h * e.w == 1 && v.extent.n * v.extent.h * v.extent.w == 1) {
    l->Bind(out, l->Reshaped(value, shape));
    return absl::OkStatus();
  }
  // A matrix product that flattens one image reads it in its own layout: it
  // permutes its weights instead (see lower_quantized.cc).
  if (s.layout == Layout::kBlocked && v.extent.n == 1 && v.shape.size() > 2 &&
      v.shape.size() <= 4 && shape.size() == 2 && shape[0] == 1 &&
      !l->consumers(out).empty() && !l->graph().IsOutput(out)) {
    bool products = true;
    for (int consumer : l->consumers(out)) {
      const Node& n = l->graph().nodes[consumer];
      products = products && n.inputs[0] == out &&
                 (n.op == "QGemm" || n.op == "QLinearMatMul");
    }
    if (products && v.extent.h <= isa::kKernelMax &&
        v.extent.w <= isa::kKernelMax) {
      l->Bind(out, value);
      return absl::OkStatus();
    }
  }
  l->Bind(out, l->Reshaped(l->ValueIn(in, Layout::kDense, node), shape));
  return absl::OkStatus();
}

// out[i] = in[perm[i]] on dense storages of up to seven dimensions.
class TransposeOp : public DeviceOp {
 public:
  // `from` and `to` are one-dimensional views, so that the tensor is one tile.
  TransposeOp(const DeviceGraph& graph, int from, int to, const Tensor& in,
              const Tensor& out, std::vector<int64_t> perm)
      : perm_(std::move(perm)),
        in_shape_(in.shape),
        out_shape_(out.shape),
        type_(graph.StorageOf(to).type) {
    engine = "vector";
    output = to;
    OpInput input;
    input.value = from;
    inputs = {input};
  }
  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const int64_t es = ElementBytes(type_);
    auto natural = [&](const Shape& shape) {
      std::vector<int64_t> strides(shape.size(), es);
      for (size_t i = shape.size() - 1; i-- > 0;) {
        strides[i] = strides[i + 1] * shape[i + 1];
      }
      return strides;
    };
    const std::vector<int64_t> from = natural(in_shape_),
                               to = natural(out_shape_);
    LoopOperand a, d;
    a.type = d.type = MoveType(type_);
    a.base = tile.inputs[0].base;
    d.base = tile.output.base;
    std::vector<int64_t> counts;
    for (size_t i = out_shape_.size(); i-- > 0;) {
      counts.push_back(out_shape_[i]);
      a.strides.push_back(from[perm_[i]]);
      d.strides.push_back(to[i]);
    }
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    EmitLoop(emitter, run, counts, {a}, d);
  }

 private:
  std::vector<int64_t> perm_;
  Shape in_shape_, out_shape_;
  DataType type_;
};

absl::Status LowerTranspose(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const size_t rank = l->tensor(in).shape.size();
  std::vector<int64_t> reversed(rank);
  for (size_t i = 0; i < rank; ++i) reversed[i] = rank - 1 - i;
  const std::vector<int64_t> perm = node.IntsAttribute("perm", reversed);
  const int64_t count = ElementCount(l->tensor(in).shape);
  const int from = l->ValueIn(in, Layout::kDense, node);
  if (rank < 2 || count == 0) {
    l->Bind(out, l->Reshaped(from, l->tensor(out).shape));
    return absl::OkStatus();
  }
  const int to = l->NewTemporary(l->tensor(out).name, l->tensor(out).type,
                                 {count}, Layout::kDense);
  const int flat = l->Reshaped(from, {count});
  l->Add(std::make_unique<TransposeOp>(l->device(), flat, to, l->tensor(in),
                                       l->tensor(out), perm),
         node);
  l->Bind(out, l->Reshaped(to, l->tensor(out).shape));
  return absl::OkStatus();
}

const LoweringRegistration kReshape("", "Reshape", LowerReshape);
const LoweringRegistration kFlatten("", "Flatten", LowerReshape);
const LoweringRegistration kSqueeze("", "Squeeze", LowerReshape);
const LoweringRegistration kUnsqueeze("", "Unsqueeze", LowerReshape);
const LoweringRegistration kIdentity("", "Identity", LowerReshape);
const LoweringRegistration kTranspose("", "Transpose", LowerTranspose);

}  // namespace
}  // namespace heddle::compiler
