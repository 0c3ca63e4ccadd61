// SPDX-License-Identifier: Apache-2.0
// A function of one float that an expansion makes of operators, prepared to be
// computed again and again: the programs of the operators are written once.
#ifndef HEDDLE_COMPILER_DIRECT_CHAIN_H_
#define HEDDLE_COMPILER_DIRECT_CHAIN_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

class Chain {
 public:
  // `build` adds the operators to the expansion and returns their result. Each
  // may read what the one before computes, and numbers.
  static absl::StatusOr<Chain> Make(
      const std::function<TensorId(Expansion* e, TensorId x)>& build);

  // x becomes its function, with the bytes of the operators one behind the
  // other. `scratch` is for reuse.
  absl::Status Run(float* x, int64_t count, std::vector<float>* scratch) const;

 private:
  struct Step {
    Microprogram program;
    LaneFunction function = LaneFunction::kCount;
    std::array<uint32_t, 4> arguments{};
    // Streams: a number, or what is computed so far.
    struct Operand {
      bool number = false;
      uint32_t value = 0;
    };
    std::vector<Operand> operands;
    bool relu = false;  // that instead
  };
  std::vector<Step> steps_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DIRECT_CHAIN_H_
