// SPDX-License-Identifier: Apache-2.0
// Conv and ConvTranspose in fp32 and fp16 on the vector engine.
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/conv_op.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/conv_transpose.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/window_need.h"

namespace heddle::compiler {
namespace {

absl::Status LowerConv(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  ASSIGN_OR_RETURN(ConvShape shape,
                   ResolveConv(node, x.shape, l->tensor(node.inputs[1]).shape));
  const Window& w = shape.window;
  ConvSpec spec;
  spec.channels = shape.channels;
  spec.maps = shape.maps;
  spec.group = shape.group;
  spec.type = x.type;
  for (int d = 0; d < 2; ++d) {
    (d == 0 ? spec.rows : spec.columns) = WindowNeed(w, d);
  }
  ConvPhase p;
  for (int d = 0; d < 2; ++d) {
    spec.in[d] = w.in[d];
    spec.out[d] = w.out[d];
    spec.kernel[d] = w.kernel[d];
    p.out_first[d] = 0;
    p.out_step[d] = 1;
    p.out_count[d] = w.out[d];
    p.in_first[d] = -w.pad_begin[d];
    p.in_step[d] = w.stride[d];
    p.taps[d] = w.kernel[d];
    p.tap_step[d] = w.dilation[d];
    p.kernel_first[d] = 0;
    p.kernel_step[d] = 1;
  }
  spec.phases = {p};
  return LowerConvolution(l, node, spec);
}

absl::Status LowerConvTranspose(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  ASSIGN_OR_RETURN(
      ConvTransposeShape shape,
      ResolveConvTranspose(node, x.shape, l->tensor(node.inputs[1]).shape));
  const ConvTransposeShape& c = shape;
  ConvSpec spec;
  spec.channels = c.channels;
  spec.maps = c.maps;
  spec.group = c.group;
  spec.type = x.type;
  spec.maps_inside = true;
  for (int d = 0; d < 2; ++d) {
    const int64_t reach = (c.kernel[d] - 1) * c.dilation[d];
    (d == 0 ? spec.rows : spec.columns) = {
        AxisNeed::kWindow, 1, reach - c.pad_begin[d], reach + 1, c.stride[d]};
  }
  std::vector<TransposePhase> phases[2];
  for (int d = 0; d < 2; ++d) {
    spec.in[d] = c.in[d];
    spec.out[d] = c.out[d];
    spec.kernel[d] = c.kernel[d];
    phases[d] = c.Phases(d);
  }
  for (const TransposePhase& rows : phases[0]) {
    for (const TransposePhase& columns : phases[1]) {
      ConvPhase p;
      const TransposePhase* both[2] = {&rows, &columns};
      for (int d = 0; d < 2; ++d) {
        const TransposePhase& t = *both[d];
        p.out_first[d] = t.first;
        p.out_step[d] = c.stride[d];
        p.out_count[d] = t.count;
        p.in_first[d] = t.in_first;
        p.in_step[d] = 1;
        p.taps[d] = static_cast<int64_t>(t.taps.size());
        p.tap_step[d] = t.in_step;
        p.kernel_first[d] = t.taps.empty() ? 0 : t.taps[0];
        p.kernel_step[d] = t.taps.size() > 1 ? t.taps[1] - t.taps[0] : 0;
      }
      spec.phases.push_back(p);
    }
  }
  return LowerConvolution(l, node, spec);
}

const LoweringRegistration kConv("", "Conv", LowerConv);
const LoweringRegistration kConvTranspose("", "ConvTranspose",
                                          LowerConvTranspose);

}  // namespace
}  // namespace heddle::compiler
