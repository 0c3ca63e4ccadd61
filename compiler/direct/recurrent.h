// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN on the host: matrices are transposed once, the steps of the
// sequence share their buffers.
#ifndef HEDDLE_COMPILER_DIRECT_RECURRENT_H_
#define HEDDLE_COMPILER_DIRECT_RECURRENT_H_

#include <memory>

#include "compiler/direct/direct.h"

namespace heddle::compiler {

// Of a node that IsDirect; null if its attributes or shapes are none that its
// operator accepts.
std::unique_ptr<DirectKernel> MakeRecurrent(const Graph& graph,
                                            const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DIRECT_RECURRENT_H_
