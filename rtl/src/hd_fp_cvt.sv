// SPDX-License-Identifier: Apache-2.0
// Conversions of LANES lanes (ISA.md, "Numbers"):
//
//   op_i    y
//   F2I     rne(a): to int32, ties to even; NaN and |a| >= 2^31 give -2^31
//   F2I_T   trunc(a): to int32 toward zero; NaN and out of range give -2^31
//   I2F     f32(a), a as int32, ties to even
//   RHALF   the nearest fp16 as f32: 11 significant bits, none below 2^-24; from 65520 on infinity
//   RBF     the nearest bf16 as f32: the upper half
// A NaN that is rounded gives 0x7fc00000. (Elements of streams are converted on their way:
// hd_vec_pkg.)
//
// Pipeline: the operand into a register with en_i (cycle 0), y_o in cycle 1 when valid_o is set,
// otherwise zero.
module hd_fp_cvt #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                en_i,
    input  logic [2:0]          op_i,
    input  logic [32*LANES-1:0] a_i,
    output logic                valid_o,
    output logic [32*LANES-1:0] y_o
);
  localparam [2:0] F2I = 3'd0, F2I_T = 3'd1, I2F = 3'd2, RHALF = 3'd3;
  localparam [31:0] N = LANES;
  localparam int B = LANES > 1 ? $clog2(LANES) : 1;

  logic valid_q;
  logic [2:0] op_q;
  logic [32*LANES-1:0] a_q;

  assign valid_o = valid_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && en_i;
    if (en_i) begin
      op_q <= op_i;
      a_q <= a_i;
    end
  end

  always_comb begin : lanes
    logic [31:0] l, av, mag, sign, e, n, t, r;
    logic [63:0] w, half;
    l = 0; av = 0; mag = 0; sign = 0; e = 0; n = 0; t = 0; r = 0; w = 0; half = 0;
    y_o = '0;
    if (valid_q && (op_q == F2I || op_q == F2I_T)) begin
      // w = |a| with 32 bits after the point. Bits that fall out do not matter: then |a| < 2^-8.
      half = op_q == F2I ? 64'h7fffffff : 64'd0;
      for (l = 32'd0; l < N; l = l + 1) begin
        av = a_q[{l[B-1:0], 5'd0} +: 32];
        e = {24'd0, av[30:23]};
        n = 32'd157 - e;
        n = n > 32'd63 ? 32'd63 : n;
        w = {1'd0, 1'd1, av[22:0], 39'd0} >> n[5:0];
        w = (w + half + (half & {63'd0, w[32]})) >> 32;
        r = w[31:0];
        r = av[31] ? -r : r;
        y_o[{l[B-1:0], 5'd0} +: 32] = e > 32'd157 ? 32'h80000000 : r;
      end
    end else if (valid_q && op_q == I2F) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        av = a_q[{l[B-1:0], 5'd0} +: 32];
        sign = av & 32'h80000000;
        mag = av[31] ? -av : av;
        t = mag;
        e = t[31:16] == 16'd0 ? 32'd141 : 32'd157;
        t = t[31:16] == 16'd0 ? t << 16 : t;
        e = t[31:24] == 8'd0 ? e - 32'd8 : e;
        t = t[31:24] == 8'd0 ? t << 8 : t;
        e = t[31:28] == 4'd0 ? e - 32'd4 : e;
        t = t[31:28] == 4'd0 ? t << 4 : t;
        e = t[31:30] == 2'd0 ? e - 32'd2 : e;
        t = t[31:30] == 2'd0 ? t << 2 : t;
        e = t[31] ? e : e - 32'd1;
        t = t[31] ? t : t << 1;
        // e is the exponent minus one: the leading one of the significand adds the one.
        r = (e << 23) + (t >> 8) + (((t & 32'hff) + 32'd127 + {31'd0, t[8]}) >> 8);
        y_o[{l[B-1:0], 5'd0} +: 32] = mag == 32'd0 ? 32'd0 : r | sign;
      end
    end else if (valid_q && op_q == RHALF) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        av = a_q[{l[B-1:0], 5'd0} +: 32];
        mag = av & 32'h7fffffff;
        e = {24'd0, av[30:23]};
        // Bits that go: 13, more of what is no normal fp16; from 2^-25 down all 24.
        n = e < 32'd113 ? 32'd126 - e : 32'd13;
        n = n > 32'd24 ? 32'd24 : n;
        t = {9'd1, av[22:0]};
        r = (t >> n[4:0]) & 32'd1;
        r = (t + ((32'd1 << n[4:0]) >> 1) - 32'd1 + r) >> n[4:0];
        t = r << n[4:0];
        // A carry moves into the exponent; so does the leading one, which is taken off before.
        r = r == 32'd0 || e < 32'd102 ? 32'd0 : (e << 23) + t - 32'h800000;
        r = mag >= 32'h477ff000 ? 32'h7f800000 : r;
        r = r | (av & 32'h80000000);
        y_o[{l[B-1:0], 5'd0} +: 32] = mag > 32'h7f800000 ? 32'h7fc00000 : r;
      end
    end else if (valid_q) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        av = a_q[{l[B-1:0], 5'd0} +: 32];
        r = (av + 32'h7fff + {31'd0, av[16]}) & 32'hffff0000;
        y_o[{l[B-1:0], 5'd0} +: 32] = (av & 32'h7fffffff) > 32'h7f800000 ? 32'h7fc00000 : r;
      end
    end
  end
endmodule
