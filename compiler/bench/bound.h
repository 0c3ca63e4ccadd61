// SPDX-License-Identifier: Apache-2.0
// What no schedule of a network can go below, layer after layer.
#ifndef HEDDLE_COMPILER_BENCH_BOUND_H_
#define HEDDLE_COMPILER_BENCH_BOUND_H_

#include "compiler/base/report.h"
#include "compiler/package/package.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// Cycles: the sum over the layers of the largest of
//   - its MACs over those of its engine per cycle,
//   - the bytes that must move for it over the memory's bandwidth: its
//     constants, and inputs and outputs of the network that it reads or writes,
//   - on the vector engine, the elements of its result over 16 lanes.
// `report` needs CompileOptions::details.
double LayerBound(const CompileReport& report, const package::Package& package,
                  const isa::Config& config);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BENCH_BOUND_H_
