// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/own_output.h"

#include <gtest/gtest.h>

namespace heddle::model {
namespace {

bool Reads(const isa::Command& c) { return ReadsItsOutput(isa::kH256, c); }

// A 1x1 convolution of 20 rows of one pixel with a residual.
isa::Conv Residual() {
  isa::Conv c;
  c.ci = c.co = 16;
  c.ih = c.out_rows = 20;
  c.in_addr = 0x1000;
  c.in_pitch = 1;
  c.w_addr = 0x2000;
  c.param_addr = 0x2100;
  c.out_addr = 0x1513;
  c.out_pitch = 2;
  c.out_plane = 40;
  c.res_op = isa::ResidualOp::kAdd;
  c.res_addr = 0x1800;
  c.res_pitch = 1;
  c.res_plane = 20;
  return c;
}

TEST(ReadsItsOutput, Residual) {
  isa::Conv c = Residual();
  EXPECT_FALSE(Reads(c));
  // Row 11 of the residual is row 0 of the output, and so on.
  c.res_addr = 0x1508;
  EXPECT_TRUE(Reads(c));
  // Row by row in place.
  c.res_addr = c.out_addr;
  c.res_pitch = c.out_pitch;
  c.res_plane = c.out_plane;
  EXPECT_FALSE(Reads(c));
  // One row in front.
  c.res_addr = c.out_addr - 2;
  EXPECT_TRUE(Reads(c));
  c.out_rows = 1;
  EXPECT_FALSE(Reads(c));
}

// The last row of the residual is the first row of the output.
TEST(ReadsItsOutput, ResidualBehindItsOutput) {
  isa::Conv c = Residual();
  c.out_rows = 5;
  c.out_pitch = c.res_pitch = 1;
  c.res_addr = c.out_addr - 4;
  EXPECT_TRUE(Reads(c));
  c.res_addr = c.out_addr;
  EXPECT_FALSE(Reads(c));
  // The same in front of a pooled row.
  c.pool = isa::PoolKind::kMax;
  c.pool_k = c.pool_s = 5;
  c.pool_oh = c.pool_ow = 1;
  c.res_addr = c.out_addr - 4;
  EXPECT_TRUE(Reads(c));
  c.res_addr = c.out_addr - 5;
  EXPECT_FALSE(Reads(c));
}

TEST(ReadsItsOutput, Input) {
  isa::Conv c = Residual();
  c.res_op = isa::ResidualOp::kNone;
  EXPECT_FALSE(Reads(c));
  c.in_addr = c.out_addr;
  EXPECT_TRUE(Reads(c));
}

TEST(ReadsItsOutput, VmacGoesOn) {
  isa::Vmac c;
  c.lanes = 16;
  c.n_r1 = 4;
  isa::Stream a;
  a.type = isa::ElementType::kF32;
  a.lane_stride = 4;
  c.SetA(a);
  c.SetB(a);
  isa::Stream d = a;
  d.base = 0x100;
  c.SetC(d);
  c.SetD(d);
  c.initial = true;
  EXPECT_FALSE(Reads(c));
  d.base = 0x104;
  c.SetC(d);
  EXPECT_TRUE(Reads(c));
  c.initial = false;  // C is not read.
  EXPECT_FALSE(Reads(c));
  isa::Stream b = c.GetD();
  b.base += 4;
  c.SetB(b);
  EXPECT_TRUE(Reads(c));
}

TEST(ReadsItsOutput, NothingWritten) {
  isa::Store store;
  store.n0 = 16;
  EXPECT_FALSE(Reads(store));
  isa::LoadGather gather;
  gather.count = gather.n0 = 4;
  gather.bound = 1;
  gather.index_addr = 0x100;
  EXPECT_FALSE(Reads(gather));
  gather.index_addr = 0;
  EXPECT_TRUE(Reads(gather));
}

}  // namespace
}  // namespace heddle::model
