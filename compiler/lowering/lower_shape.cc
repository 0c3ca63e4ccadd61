// SPDX-License-Identifier: Apache-2.0
// Reshape, Flatten, Squeeze, Unsqueeze, Identity: the same bytes.
#include "compiler/device_ops/lowering.h"

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

const LoweringRegistration kReshape("", "Reshape", LowerReshape, true);
const LoweringRegistration kFlatten("", "Flatten", LowerReshape, true);
const LoweringRegistration kSqueeze("", "Squeeze", LowerReshape, true);
const LoweringRegistration kUnsqueeze("", "Unsqueeze", LowerReshape, true);
const LoweringRegistration kIdentity("", "Identity", LowerReshape, true);

}  // namespace
}  // namespace heddle::compiler
