// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/code_window.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/device_ops/lower_qmatmul.h"
#include "compiler/device_ops/move.h"
#include "compiler/device_ops/take.h"
#include "compiler/schedule/window_need.h"

namespace heddle::compiler {
namespace {

void Turn(Window* w) {
  for (int64_t(Window::*field)[2] :
       {&Window::in, &Window::kernel, &Window::stride, &Window::dilation,
        &Window::pad_begin, &Window::pad_end, &Window::out}) {
    std::swap((w->*field)[0], (w->*field)[1]);
  }
}

// [images, channels, rows, columns] with the padding that windows reach.
int Padded(Lowering* l, const Node& node, int dense, uint8_t zero,
           const Window& w, Shape* shape) {
  IndexMap map = IdentityMap(*shape);
  map.constant = {zero};
  bool padded = false;
  for (int d = 0; d < 2; ++d) {
    const int64_t end = (w.out[d] - 1) * w.stride[d] - w.pad_begin[d] +
                        (w.kernel[d] - 1) * w.dilation[d] + 1;
    std::vector<int64_t>& axis = map.axes[2 + d];
    if (w.pad_begin[d] == 0 && end <= w.in[d]) continue;
    padded = true;
    axis.clear();
    for (int64_t i = -w.pad_begin[d]; i < end; ++i) {
      axis.push_back(i >= 0 && i < w.in[d] ? i : -1);
    }
  }
  const int image = l->Reshaped(dense, *shape);
  if (!padded) return image;
  *shape = map.to();
  return TakeValue(l, node, image, std::move(map));
}

// What each result reads, one after another: [images, 1, results, taps of all
// channels], copied into rows, which are pixels.
int Patches(Lowering* l, const Node& node, uint8_t zero, const Window& w) {
  const Tensor x = l->tensor(node.inputs[0]);
  Shape shape = {x.shape[0], x.shape[1], w.in[0], w.in[1]};
  const int image =
      Padded(l, node, l->ValueIn(node.inputs[0], Layout::kDense, node), zero, w,
             &shape);
  const int64_t images = shape[0], channels = shape[1];
  const int64_t width = shape[3], plane = shape[2] * width;
  const int64_t results = w.out[0] * w.out[1];
  const int64_t taps = channels * w.kernel[0] * w.kernel[1];
  const int dense = l->NewTemporary(absl::StrCat(x.name, "/patches"), x.type,
                                    {images, 1, results, taps}, Layout::kDense);
  const Shape order = {images,   w.out[0],    w.out[1],
                       channels, w.kernel[0], w.kernel[1]};
  AddMove(l, node, {image},
          {WholeBox(0, order,
                    {channels * plane, w.stride[0] * width, w.stride[1], plane,
                     w.dilation[0] * width, w.dilation[1]})},
          dense);
  const int rows =
      l->NewTemporary(absl::StrCat(x.name, "/pixels"), x.type,
                      {images, taps, results, 1}, Layout::kBlocked);
  AddRowsCopy(l, node, dense, rows);
  return l->Reshaped(rows, {images, taps, w.out[0], w.out[1]});
}

}  // namespace

CodeWindow PrepareWindow(Lowering* l, const Node& node, bool one_command,
                         uint8_t zero, Window* window, CodeWeights* weights) {
  CodeWindow made;
  const uint64_t sram = l->config().sram_bytes;
  const Shape x = l->tensor(node.inputs[0]).shape;
  made.result = l->tensor(node.outputs[0]).shape;
  if (FitsCommands(*window, !one_command, sram)) {
    made.value = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
    return made;
  }
  Window turned = *window;
  Turn(&turned);
  if (!one_command && window->in[0] == 1 && window->out[0] == 1 &&
      window->kernel[0] == 1 && FitsCommands(turned, true, sram)) {
    *window = turned;
    std::swap(weights->kh, weights->kw);
    made.turned = true;
    made.value = l->Reshaped(l->ValueIn(node.inputs[0], Layout::kBlocked, node),
                             {x[0], x[1], turned.in[0], 1});
    made.result = {x[0], made.result[1], turned.out[0], 1};
    return made;
  }
  made.patches = true;
  made.value = Patches(l, node, zero, *window);
  Window one;
  for (int d = 0; d < 2; ++d) one.in[d] = one.out[d] = window->out[d];
  *window = one;
  weights->ci *= weights->kh * weights->kw;
  weights->kh = weights->kw = 1;
  return made;
}

}  // namespace heddle::compiler
