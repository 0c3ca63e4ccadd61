// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/own_output.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "simulator/model/access.h"
#include "simulator/model/geometry.h"

namespace heddle::model {
namespace {

bool SameBox(const Access& a, const Access& b) {
  bool equal =
      a.base == b.base && a.bytes == b.bytes && a.num_dims == b.num_dims;
  for (int i = 0; equal && i < a.num_dims; ++i) {
    equal = a.dims[i].n == b.dims[i].n && a.dims[i].stride == b.dims[i].stride;
  }
  return equal;
}

}  // namespace

bool ReadsItsOutput(const isa::Config& config, const isa::Command& command) {
  std::vector<Access> accesses;
  std::vector<bool> written(config.sram_bytes, false);
  bool any = false;
  ForEachAccess(config, command, nullptr, [&](const Access& a) {
    if (a.space != Space::kSram || a.empty) return;
    accesses.push_back(a);
    if (!a.write) return;
    any = true;
    a.ForEachRun([&](int64_t at, uint64_t n) {
      std::fill_n(written.begin() + at, n, true);
    });
  });
  if (!any) return false;
  // What is read for what is written comes just before it; of a residual all
  // rows come before all rows of the output, and it is never in place of pooled
  // rows.
  const auto* conv = std::get_if<isa::Conv>(&command);
  size_t distance = 1;
  std::vector<int64_t> never;
  if (conv != nullptr && conv->res_op != isa::ResidualOp::kNone) {
    if (conv->pool == isa::PoolKind::kNone) {
      distance = conv->out_rows;
    } else {
      for (uint32_t y = 0; y < conv->out_rows; ++y) {
        never.push_back(ResidualAddress(*conv, 0, conv->out_row0 + y, 0));
      }
    }
  }
  const auto is_over = [&](size_t read) {
    return read + distance < accesses.size() &&
           accesses[read + distance].write &&
           SameBox(accesses[read], accesses[read + distance]) &&
           std::find(never.begin(), never.end(), accesses[read].base) ==
               never.end();
  };
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (accesses[i].write || is_over(i)) continue;
    bool own = false;
    accesses[i].ForEachRun([&](int64_t at, uint64_t n) {
      const auto first = written.begin() + at;
      own = own || std::find(first, first + static_cast<int64_t>(n), true) !=
                       first + static_cast<int64_t>(n);
    });
    if (own) return true;
  }
  return false;
}

}  // namespace heddle::model
