// SPDX-License-Identifier: Apache-2.0
// First output stage for LANES (8 or more) lanes: int32 accumulator to an 8-bit code, exact for
// every bias and every f32 scale (infinite, NaN, subnormal and negative ones too). ISA.md, "Output
// stage", step 2:
//
//   v = f32(f32(acc + bias) * scale)                      acc + bias wraps
//   x = rne(fmin(fmax(v, lo), hi)) + zp                   a NaN v gives lo + zp
//   y = x saturated to int8 (signed_i) or uint8
//
// lo, hi (-255 .. 255, lo <= hi) and zp (-128 .. 255) are signed; all of them, and signed_i, are
// taken with en_i. Average pooling uses it too: bias 0, the sum as acc, the factor in every lane's
// scale.
//
// Why less than a whole float multiplier does: since limits are integers, clamping after rounding
// equals clamping before it; what is 256 or more is beyond every limit; and what is below 1/2
// rounds to zero, so subnormal scales and products need no care (they are all below 2^-94).
//
// Pipeline: acc + bias and scale into registers with en_i (cycle 0), y_o in cycle 1 when valid_o
// is set (otherwise zero). In silicon the logic is four stages: registers behind y_o, retimed to
// the lines "cut". Simulation: 5 ns per lane.
module hd_cro_lane #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                en_i,
    input  logic [32*LANES-1:0] acc_i,
    input  logic [32*LANES-1:0] bias_i,
    input  logic [32*LANES-1:0] scale_i,
    input  logic [8:0]          lo_i,
    input  logic [8:0]          hi_i,
    input  logic [8:0]          zp_i,
    input  logic                signed_i,
    output logic                valid_o,
    output logic [8*LANES-1:0]  y_o
);
  localparam [31:0] N = LANES;
  localparam [31:0] W = LANES / 4;
  localparam int B = $clog2(LANES);
  // Codes and limits are compared as unsigned numbers, 512 added.
  localparam [31:0] BASE = 32'd512;

  logic valid_q, signed_q;
  logic [8:0] lo_q, hi_q, zp_q;
  logic [32*LANES-1:0] sum_q;
  logic [32*LANES-1:0] scale_q;
  logic [32*LANES-1:0] y;

  assign valid_o = valid_q;
  always_ff @(posedge clk_i) begin : take
    logic [31:0] l;
    logic [32*LANES-1:0] sum;
    l = 0;
    valid_q <= rst_ni && en_i;
    if (en_i) begin
      lo_q <= lo_i;
      hi_q <= hi_i;
      zp_q <= zp_i;
      signed_q <= signed_i;
      sum = '0;
      for (l = 32'd0; l < N; l = l + 1)
        sum[{l[B-1:0], 5'd0} +: 32] = acc_i[{l[B-1:0], 5'd0} +: 32]
                                      + bias_i[{l[B-1:0], 5'd0} +: 32];
      sum_q <= sum;
      scale_q <= scale_i;
    end
  end
  always_comb begin : lanes
    logic [31:0] l, sv, sc, t, lz, es, n, r, lo, hi, zp, bottom, top, neg;
    logic [63:0] p;
    l = 0; sv = 0; sc = 0; t = 0; lz = 0; es = 0; n = 0; r = 0; neg = 0; p = 0;
    lo = {{23{lo_q[8]}}, lo_q} + BASE;
    hi = {{23{hi_q[8]}}, hi_q} + BASE;
    zp = {{23{zp_q[8]}}, zp_q};
    bottom = signed_q ? BASE - 32'd128 : BASE;
    top = signed_q ? BASE + 32'd127 : BASE + 32'd255;
    y = '0;
    if (valid_q) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        sv = sum_q[{l[B-1:0], 5'd0} +: 32];
        sc = scale_q[{l[B-1:0], 5'd0} +: 32];
        neg = sv ^ sc;
        es = {24'd0, sc[30:23]};
        // int32 to a significand of 24 bits (2^24 after a carry) times 2^(8 - lz)
        t = sv[31] ? -sv : sv;
        lz = t[31:16] == 16'd0 ? 32'd16 : 32'd0;
        t = t[31:16] == 16'd0 ? t << 16 : t;
        lz = t[31:24] == 8'd0 ? lz + 32'd8 : lz;
        t = t[31:24] == 8'd0 ? t << 8 : t;
        lz = t[31:28] == 4'd0 ? lz + 32'd4 : lz;
        t = t[31:28] == 4'd0 ? t << 4 : t;
        lz = t[31:30] == 2'd0 ? lz + 32'd2 : lz;
        t = t[31:30] == 2'd0 ? t << 2 : t;
        lz = t[31] ? lz : lz + 32'd1;
        t = t[31] ? t : t << 1;
        t = (t >> 8) + (((t & 32'hff) + 32'd127 + {31'd0, t[8]}) >> 8);
        // cut: product, 47 or 48 bits; its leading one to bit 47, then 24 bits of it
        p = {32'd0, t} * {40'd0, 1'b1, sc[22:0]};
        n = p[47] ? 32'd118 : 32'd119;
        p = p[47] ? p : p << 1;
        p = (p + 64'h7fffff + {63'd0, p[24]}) >> 24;
        t = p[31:0];
        // cut: v = t / 2^n; n wraps (and is large) where v is 2^24 and more
        n = n + lz - es;
        r = (n + 32'd1024) < 32'd1040 ? 32'd256 : 32'd0;
        n = n > 32'd31 ? 32'd31 : n;
        t = (t + ((32'd1 << n[4:0]) >> 1) - 32'd1 + ((t >> n[4:0]) & 32'd1)) >> n[4:0];
        r = r == 32'd0 ? t : r;
        r = sv == 32'd0 ? 32'd0 : r;
        // cut: clamp, offset, saturate
        r = neg[31] ? BASE - r : BASE + r;
        r = r < lo ? lo : r;
        r = r > hi ? hi : r;
        // NaN: a NaN scale, or zero times infinity
        r = (sc & 32'h7fffffff) + (sv == 32'd0 ? 32'd1 : 32'd0) > 32'h7f800000 ? lo : r;
        r = r + zp;
        r = r < bottom ? bottom : r;
        r = r > top ? top : r;
        y[{l[B-1:0], 5'd0} +: 32] = r;
      end
    end
  end

  // Four codes per word.
  if (LANES == 4) begin : g_word
    assign y_o = {y[96 +: 8], y[64 +: 8], y[32 +: 8], y[0 +: 8]};
  end else begin : g_words
    always_comb begin : pack
      logic [31:0] w;
      w = 0;
      y_o = '0;
      if (valid_q) begin
        for (w = 32'd0; w < W; w = w + 1)
          y_o[{w[B-3:0], 5'd0} +: 32] = {
              y[{w[B-3:0], 7'd96} +: 8], y[{w[B-3:0], 7'd64} +: 8],
              y[{w[B-3:0], 7'd32} +: 8], y[{w[B-3:0], 7'd0} +: 8]};
      end
    end
  end
endmodule
