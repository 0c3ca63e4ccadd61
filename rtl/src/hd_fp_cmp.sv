// SPDX-License-Identifier: Apache-2.0
// Comparisons of LANES binary32 lanes (ISA.md, micro-instructions):
//
//   op_i   y
//   MIN    a < b ? a : b; 0x7fc00000 when one is a NaN
//   MAX    a > b ? a : b, likewise
//   LT     a < b ? all ones : 0
//   LE     a <= b ? all ones : 0
//   EQ     a == b ? all ones : 0
//
// Every comparison with a NaN is false; -0 equals +0.
// Pipeline: operands into registers with en_i (cycle 0), y_o in cycle 1 when valid_o
// is set, otherwise zero.
module hd_fp_cmp #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                en_i,
    input  logic [2:0]          op_i,
    input  logic [32*LANES-1:0] a_i,
    input  logic [32*LANES-1:0] b_i,
    output logic                valid_o,
    output logic [32*LANES-1:0] y_o
);
  localparam [2:0] MIN = 3'd0, MAX = 3'd1, LT = 3'd2, LE = 3'd3, EQ = 3'd4;
  localparam [31:0] N = LANES;
  localparam int B = LANES > 1 ? $clog2(LANES) : 1;

  logic valid_q;
  logic [2:0] op_q;
  logic [32*LANES-1:0] a_q;
  logic [32*LANES-1:0] b_q;

  assign valid_o = valid_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && en_i;
    if (en_i) begin
      op_q <= op_i;
      a_q <= a_i;
      b_q <= b_i;
    end
  end

  // Which of less, equal, greater choose all ones (or operand a); patterns become unsigned keys.
  always_comb begin : lanes
    logic [31:0] l, av, bv, ka, kb, lt, gt, eq, m_lt, m_gt, m_eq, m_sel, nan, r;
    l = 0; av = 0; bv = 0; ka = 0; kb = 0; lt = 0; gt = 0; eq = 0; nan = 0; r = 0;
    m_lt = (op_q == MIN || op_q == LT || op_q == LE) ? 32'hffffffff : 32'd0;
    m_gt = op_q == MAX ? 32'hffffffff : 32'd0;
    m_eq = (op_q == LE || op_q == EQ) ? 32'hffffffff : 32'd0;
    m_sel = (op_q == MIN || op_q == MAX) ? 32'hffffffff : 32'd0;
    y_o = '0;
    if (valid_q) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        av = a_q[{l[B-1:0], 5'd0} +: 32];
        bv = b_q[{l[B-1:0], 5'd0} +: 32];
        ka = av == 32'h80000000 ? 32'd0 : av;
        kb = bv == 32'h80000000 ? 32'd0 : bv;
        ka = ka ^ (ka[31] ? 32'hffffffff : 32'h80000000);
        kb = kb ^ (kb[31] ? 32'hffffffff : 32'h80000000);
        lt = ka < kb ? 32'hffffffff : 32'd0;
        gt = kb < ka ? 32'hffffffff : 32'd0;
        eq = ka == kb ? 32'hffffffff : 32'd0;
        r = (lt & m_lt) | (gt & m_gt) | (eq & m_eq);
        nan = (av & 32'h7fffffff) > 32'h7f800000 ? 32'hffffffff : 32'd0;
        nan = (bv & 32'h7fffffff) > 32'h7f800000 ? 32'hffffffff : nan;
        r = r & ~nan;
        bv = nan != 32'd0 ? 32'h7fc00000 : bv;
        y_o[{l[B-1:0], 5'd0} +: 32] = (r & (av | ~m_sel)) | (~r & bv & m_sel);
      end
    end
  end
endmodule
