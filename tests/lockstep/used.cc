// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/used.h"

#include "absl/strings/match.h"

namespace heddle::lockstep {
namespace {

using absl::StartsWith;

bool Among(absl::string_view field,
           std::initializer_list<absl::string_view> names) {
  for (absl::string_view name : names) {
    if (field == name) return true;
  }
  return false;
}

bool Used(const isa::Conv& c, absl::string_view f) {
  const bool maxpool = c.mode == isa::MatrixMode::kMaxpool;
  const bool fold = c.mode == isa::MatrixMode::kFold;
  const bool eight =
      c.out_type == isa::OutType::kU8 || c.out_type == isa::OutType::kS8;
  if (Among(f, {"in_xstep", "in_plane"})) return !fold;
  if (f == "in_row0") return c.in_wrap == 0;
  if (Among(f, {"za", "zw", "w_addr", "w_signed"})) return !maxpool;
  if (f == "param_addr") return !maxpool && (!c.acc_hold || c.zw_channel);
  if (Among(f, {"w_plane", "w_step"})) {
    return c.w_mode != isa::WeightMode::kPacked;
  }
  if (Among(f, {"out_pitch", "out_xstep", "out_wrap"})) {
    return !c.acc_hold && (maxpool || c.pool != isa::PoolKind::kAverage);
  }
  if (Among(f, {"out_addr", "out_plane"})) return !c.acc_hold;
  if (Among(f, {"zo", "act_min", "act_max"})) {
    return !maxpool && eight && !c.acc_hold;
  }
  if (f == "lut_addr") return c.lut;
  if (Among(f, {"res_zero", "mid_zero"})) {
    return c.res_op == isa::ResidualOp::kMul;
  }
  if (Among(f, {"res_b", "res_first"})) {
    return c.res_op == isa::ResidualOp::kAdd;
  }
  if (StartsWith(f, "res_") && f != "res_op") {
    return c.res_op != isa::ResidualOp::kNone;
  }
  if (Among(f, {"pool_scale", "pool_zero_in", "pool_zero_out"})) {
    return c.pool == isa::PoolKind::kAverage;
  }
  if (f == "pool_row0") {
    return c.pool == isa::PoolKind::kMax && c.out_wrap == 0;
  }
  if (StartsWith(f, "pool_")) return c.pool == isa::PoolKind::kMax;
  return true;
}

bool Used(const isa::Vrun& c, absl::string_view f) {
  if (StartsWith(f, "a_")) return c.enable_a;
  if (StartsWith(f, "b_")) return c.enable_b;
  if (StartsWith(f, "c_")) return c.enable_c;
  if (StartsWith(f, "d_")) return c.store != isa::StoreMode::kNone;
  if (StartsWith(f, "index_")) return c.gather_a || c.scatter_d || c.pick_a;
  return true;
}

bool Used(const isa::Vmac& c, absl::string_view f) {
  if (Among(f, {"c_r1_stride", "c_r2_stride", "c_r3_stride", "d_r1_stride",
                "d_r2_stride", "d_r3_stride"})) {
    return false;  // the r indices are 0
  }
  if (StartsWith(f, "c_")) return c.initial;
  if (StartsWith(f, "clamp_")) return c.clamp;
  return true;
}

template <typename C>
bool Used(const C&, absl::string_view) {
  return true;
}

}  // namespace

bool IsUsed(const isa::Command& command, absl::string_view field) {
  return std::visit(
      [&](const auto& c) {
        if (StartsWith(field, "wait0_") && field != "wait0_enable") {
          return c.header.wait0_enable;
        }
        if (StartsWith(field, "wait1_") && field != "wait1_enable") {
          return c.header.wait1_enable;
        }
        if (StartsWith(field, "signal0_") && field != "signal0_enable") {
          return c.header.signal0_enable;
        }
        if (StartsWith(field, "signal1_") && field != "signal1_enable") {
          return c.header.signal1_enable;
        }
        return Used(c, field);
      },
      command);
}

bool CanBeUnused(isa::Opcode opcode, absl::string_view field) {
  // With everything off, or all that a mode has not.
  if (opcode == isa::Opcode::kConv) {
    isa::Conv off, hold, fold, maxpool;
    off.in_wrap = 1;
    hold.acc_hold = true;
    fold.mode = isa::MatrixMode::kFold;
    maxpool.mode = isa::MatrixMode::kMaxpool;
    return !Used(off, field) || !Used(hold, field) || !Used(fold, field) ||
           !Used(maxpool, field);
  }
  if (opcode == isa::Opcode::kVrun) return !Used(isa::Vrun(), field);
  if (opcode == isa::Opcode::kVmac) return !Used(isa::Vmac(), field);
  return false;
}

}  // namespace heddle::lockstep
