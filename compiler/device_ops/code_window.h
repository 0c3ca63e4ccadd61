// SPDX-License-Identifier: Apache-2.0
// Convolutions of codes whose window no command of the matrix engine can
// describe, or SRAM hold: long kernels of one row become kernels of one column,
// whose rows commands take in parts; of all others the taps become channels,
// each a strided copy of the image, and the kernel a single tap.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_CODE_WINDOW_H_
#define HEDDLE_COMPILER_DEVICE_OPS_CODE_WINDOW_H_

#include <cstdint>

#include "compiler/device_ops/lowering.h"
#include "compiler/ops/window.h"
#include "compiler/stream/pack.h"

namespace heddle::compiler {

struct CodeWindow {
  int value = -1;        // the operand, blocked
  bool patches = false;  // its channels are [channel][ky][kx] of before
  bool turned = false;   // rows are columns
  Shape result;          // of the convolution
};
// The operand for input 0 of `node` under `window`; `window` and `weights` (of
// one group) become those over it. `one_command`: the mode (depthwise) knows no
// parts of a contraction. `zero` is the code of the padding.
CodeWindow PrepareWindow(Lowering* l, const Node& node, bool one_command,
                         uint8_t zero, Window* window, CodeWeights* weights);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_CODE_WINDOW_H_
