// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/contraction_parts.h"

#include <algorithm>

namespace heddle::compiler {

ContractionParts::ContractionParts(const CodeWeights& weights,
                                   uint64_t max_bytes, int64_t channels,
                                   const isa::Config& config, int64_t max_rows)
    : parts_(CutContraction(weights, max_bytes, config, max_rows)) {
  if (!cut()) return;
  max_pixels_ = config.acc_pixels * config.lanes_out /
                std::max<int64_t>(channels, config.lanes_out);
}

void ContractionParts::SetPart(int group, const Window& window,
                               isa::Conv* command) const {
  const Contraction& part = Of(group);
  command->kh = part.ky;
  command->pad_top -= part.ky0 * window.dilation[0];
  command->ci = part.ci;
  command->acc_continue = Index(group) > 0;
  command->acc_hold = !Completes(group);
}

}  // namespace heddle::compiler
