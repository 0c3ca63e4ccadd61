// SPDX-License-Identifier: Apache-2.0
// First output stage for LANES (4 or more) lanes: int32 accumulator to an 8-bit code, exact for
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
// Clamp, offset and saturation are one clamp, of rne(v) + zp to limits that have been through the latter two.
//
// Pipeline: inputs are taken with en_i (cycle 0); y_o in cycle 4, in logic behind registers, when valid_o
// is set, otherwise zero:
//
//   0 acc + bias | 1 to float | 2 product | 3 round to f32, round to an integer | 4 offset, clamp
//
// Steps as in hd_fp_fma; what they cost in simulation: rtl/README.md.
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

  logic [4:1] v_q;  // steps 1 to 4 have something to do
  assign valid_o = v_q[4];
  always_ff @(posedge clk_i) v_q <= {v_q[3:1], en_i} & {4{rst_ni}};

  // Limits and offset of the vector in steps 1 to 4; from step 2 on those of the one clamp.
  logic signed_q;
  logic [8:0] lo_q, hi_q, zp_q;
  logic [9:0] lo, hi, lo2_q, hi2_q, zp2_q, lo3_q, hi3_q, zp3_q, lo4_q, hi4_q, zp4_q;
  always_comb begin : limits
    logic [31:0] zp, l, h, bottom, top;
    zp = {{23{zp_q[8]}}, zp_q} + BASE;
    l = {{23{lo_q[8]}}, lo_q} + zp;
    h = {{23{hi_q[8]}}, hi_q} + zp;
    bottom = signed_q ? BASE - 32'd128 : BASE;
    top = signed_q ? BASE + 32'd127 : BASE + 32'd255;
    l = l < bottom ? bottom : l > top ? top : l;
    h = h < bottom ? bottom : h > top ? top : h;
    lo = l[9:0];
    hi = h[9:0];
  end
  always_ff @(posedge clk_i) begin
    if (en_i) begin
      lo_q <= lo_i;
      hi_q <= hi_i;
      zp_q <= zp_i;
      signed_q <= signed_i;
    end
    if (v_q[1]) begin
      lo2_q <= lo;
      hi2_q <= hi;
      zp2_q <= {zp_q[8], zp_q} + BASE[9:0];
    end
    if (v_q[2]) {lo3_q, hi3_q, zp3_q} <= {lo2_q, hi2_q, zp2_q};
    if (v_q[3]) {lo4_q, hi4_q, zp4_q} <= {lo3_q, hi3_q, zp3_q};
  end

  // 0: the sum, a negative one as its complement below the sign: |sum| - 1.
  logic [32*LANES-1:0] sum_q, scale_q;
  always_ff @(posedge clk_i) begin : step0
    logic [31:0] l, sv;
    logic [32*LANES-1:0] sum;
    l = 0; sv = 0;
    if (en_i) begin
      sum = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        sv = acc_i[{l[B-1:0], 5'd0} +: 32] + bias_i[{l[B-1:0], 5'd0} +: 32];
        sum[{l[B-1:0], 5'd0} +: 32] = sv ^ (sv[31] ? 32'h7fffffff : 32'd0);
      end
      sum_q <= sum;
      scale_q <= scale_i;
    end
  end

  // 1: |sum| as a significand of 24 bits (2^24 after a carry) times 2^(7 - lz). What is shifted into the
  // complement is ones, so that its missing 1 is still one of the last place; rounding adds it. sig has the
  // sign of the product, whether the sum is zero, lz (5 bits), and the significand (25).
  logic [32*LANES-1:0] sig, sig_q, scale2_q;
  always_comb begin : step1
    logic [31:0] l, sv, t, k, lz, ones, minus;
    l = 0; sv = 0; t = 0; k = 0; lz = 0; ones = 0; minus = 0;
    sig = '0;
    if (v_q[1]) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        sv = sum_q[{l[B-1:0], 5'd0} +: 32];
        minus = sv >> 31;
        ones = -minus;
        t = sv & 32'h7fffffff;
        k = t[30:15] == 16'd0 ? 32'd16 : 32'd0;
        t = k != 32'd0 ? (t << 16) | (ones & 32'hffff) : t;
        lz = k;
        k = t[30:23] == 8'd0 ? 32'd8 : 32'd0;
        t = k != 32'd0 ? (t << 8) | (ones & 32'hff) : t;
        lz = lz | k;
        k = t[30:27] == 4'd0 ? 32'd4 : 32'd0;
        t = k != 32'd0 ? (t << 4) | (ones & 32'hf) : t;
        lz = lz | k;
        k = t[30:29] == 2'd0 ? 32'd2 : 32'd0;
        t = k != 32'd0 ? (t << 2) | (ones & 32'h3) : t;
        lz = lz | k;
        k = t[30] ? 32'd0 : 32'd1;
        t = k != 32'd0 ? (t << 1) | minus : t;
        lz = lz | k;
        t = (t >> 7) + (((t & 32'h7f) + 32'd63 + {31'd0, t[7]} + minus) >> 7);
        sig[{l[B-1:0], 5'd0} +: 32] = t | (lz << 25) | (sv == 32'd0 ? 32'h40000000 : 32'd0)
            | ((sv ^ scale_q[{l[B-1:0], 5'd0} +: 32]) & 32'h80000000);
      end
    end
  end
  always_ff @(posedge clk_i) if (v_q[1]) {sig_q, scale2_q} <= {sig, scale_q};

  // 2: product, 47 or 48 bits: {high[15:0], low}. high also has the sign, whether the result is NaN (a NaN
  // scale, or zero times infinity) or zero, and an exponent (9 bits): with the leading one of the product in
  // bit 47, and 24 bits of it, v = t / 2^(e - 240).
  logic [32*LANES-1:0] low_q, high_q;
  always_ff @(posedge clk_i) begin : step2
    logic [31:0] l, g, sc, e;
    logic [63:0] p;
    logic [32*LANES-1:0] low, high;
    l = 0; g = 0; sc = 0; e = 0; p = 0;
    if (v_q[2]) begin
      low = '0;
      high = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        g = sig_q[{l[B-1:0], 5'd0} +: 32];
        sc = scale2_q[{l[B-1:0], 5'd0} +: 32];
        p = {39'd0, g[24:0]} * {40'd0, 1'b1, sc[22:0]};
        e = 32'd359 + {27'd0, g[29:25]} - {24'd0, sc[30:23]};
        sc = (sc & 32'h7fffffff) + {31'd0, g[30]};
        low[{l[B-1:0], 5'd0} +: 32] = p[31:0];
        high[{l[B-1:0], 5'd0} +: 32] = p[63:32] | (e << 16) | ((g & 32'h40000000) >> 1)
            | (sc > 32'h7f800000 ? 32'h40000000 : 32'd0) | (g & 32'h80000000);
      end
      low_q <= low;
      high_q <= high;
    end
  end

  // 3: the two roundings. 16 bits after the point are enough for the second, the last of them sticky; from
  // 256 on (n below 16) every limit is passed.
  logic [32*LANES-1:0] int_q;
  always_ff @(posedge clk_i) begin : step3
    logic [31:0] l, h, e, n, t, w, r;
    logic [63:0] p;
    logic [32*LANES-1:0] integers;
    l = 0; h = 0; e = 0; n = 0; t = 0; w = 0; r = 0; p = 0;
    if (v_q[3]) begin
      integers = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        h = high_q[{l[B-1:0], 5'd0} +: 32];
        p = {16'd0, h[15:0], low_q[{l[B-1:0], 5'd0} +: 32]};
        e = {23'd0, h[24:16]} + (h[15] ? 32'd0 : 32'd1);
        p = h[15] ? p : p << 1;
        p = (p + 64'h7fffff + {63'd0, p[24]}) >> 24;
        t = p[31:0];
        n = e - 32'd256;
        n = n > 32'd31 ? 32'd31 : n;
        w = t >> n[4:0];
        w = w | ((w << n[4:0]) != t ? 32'd1 : 32'd0);
        r = (w + 32'h7fff + {31'd0, w[16]}) >> 16;
        r = e < 32'd256 ? 32'd256 : r;
        r = h[29] ? 32'd0 : r;
        integers[{l[B-1:0], 5'd0} +: 32] = r | (h & 32'hc0000000);
      end
      int_q <= integers;
    end
  end

  // 4: offset, clamp.
  logic [32*LANES-1:0] y;
  always_comb begin : step4
    logic [31:0] l, i, r, bottom, top, zero;
    l = 0; i = 0; r = 0;
    bottom = {22'd0, lo4_q};
    top = {22'd0, hi4_q};
    zero = {22'd0, zp4_q};
    y = '0;
    if (v_q[4]) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        i = int_q[{l[B-1:0], 5'd0} +: 32];
        r = i[31] ? zero - (i & 32'h1ff) : zero + (i & 32'h1ff);
        r = r < bottom ? bottom : r;
        r = r > top ? top : r;
        r = i[30] ? bottom : r;
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
      if (v_q[4]) begin
        for (w = 32'd0; w < W; w = w + 1)
          y_o[{w[B-3:0], 5'd0} +: 32] = {
              y[{w[B-3:0], 7'd96} +: 8], y[{w[B-3:0], 7'd64} +: 8],
              y[{w[B-3:0], 7'd32} +: 8], y[{w[B-3:0], 7'd0} +: 8]};
      end
    end
  end
endmodule
