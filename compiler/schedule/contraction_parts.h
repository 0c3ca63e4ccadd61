// SPDX-License-Identifier: Apache-2.0
// A contraction of the matrix engine that is cut because the constants of one
// block of output channels do not fit: the groups that make a block are parts
// of the contraction (input channels, rows of the kernel), and what one has
// accumulated the next continues. An operation with several parts has groups
// part by part: group g contracts part g % size().
#ifndef HEDDLE_COMPILER_SCHEDULE_CONTRACTION_PARTS_H_
#define HEDDLE_COMPILER_SCHEDULE_CONTRACTION_PARTS_H_

#include <cstdint>
#include <vector>

#include "compiler/ops/window.h"
#include "compiler/stream/pack.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

class ContractionParts {
 public:
  // One part: all.
  explicit ContractionParts(const CodeWeights& weights = {})
      : parts_{{0, weights.ci, 0, weights.kh}} {}
  // Of mode conv: a block's weights in a part are at most `max_bytes`, or as
  // few as they can be, and its rows of the kernel at most `max_rows`. The
  // accumulators are those of `channels` output channels.
  ContractionParts(const CodeWeights& weights, uint64_t max_bytes,
                   int64_t channels, const isa::Config& config,
                   int64_t max_rows = kMaxKernelRows);

  size_t size() const { return parts_.size(); }
  bool cut() const { return parts_.size() > 1; }
  std::vector<Contraction>::const_iterator begin() const {
    return parts_.begin();
  }
  std::vector<Contraction>::const_iterator end() const { return parts_.end(); }
  const Contraction& Of(int group) const { return parts_[Index(group)]; }
  // Whether the group completes its block.
  bool Completes(int group) const { return Index(group) + 1 == parts_.size(); }

  // Pixels of a tile that can be accumulated from part to part; 0: any number.
  int64_t max_pixels() const { return max_pixels_; }

  // What of a command depends on the group: rows of the kernel and the padding
  // in front of them, input channels, where accumulators come from and go. The
  // window's own fields are set before.
  void SetPart(int group, const Window& window, isa::Conv* command) const;

 private:
  size_t Index(int group) const { return group % parts_.size(); }

  std::vector<Contraction> parts_;
  int64_t max_pixels_ = 0;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_CONTRACTION_PARTS_H_
