// SPDX-License-Identifier: Apache-2.0
// Last step of the residual stage for LANES (8 or more) lanes: f32 to a code (ISA.md, "Output
// stage", step 4):
//
//   y = rso(v) clamped to [min, max],   rso(v) = sat8(sat16(rne(v)))
//
// sat8 to int8 (signed_i) or uint8. A NaN and |v| >= 2^31, of either sign, give the type's lowest
// code before the clamp, as rne says. min_i and max_i are signed codes (-128 .. 255).
// Pipeline: v and all settings into registers with en_i (cycle 0), y_o in cycle 1 when valid_o is
// set, otherwise zero.
module hd_rso_lane #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                en_i,
    input  logic [32*LANES-1:0] v_i,
    input  logic                signed_i,
    input  logic [8:0]          min_i,
    input  logic [8:0]          max_i,
    output logic                valid_o,
    output logic [8*LANES-1:0]  y_o
);
  localparam [31:0] N = LANES;
  localparam [31:0] W = LANES / 4;
  localparam int B = $clog2(LANES);
  // Codes and limits are compared as unsigned numbers, 512 added.
  localparam [31:0] BASE = 32'd512;

  logic valid_q, signed_q;
  logic [8:0] min_q, max_q;
  logic [32*LANES-1:0] v_q;
  logic [32*LANES-1:0] y;

  assign valid_o = valid_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && en_i;
    if (en_i) begin
      signed_q <= signed_i;
      min_q <= min_i;
      max_q <= max_i;
      v_q <= v_i;
    end
  end

  always_comb begin : lanes
    logic [31:0] l, v, e, n, t, r, bottom, top, lo, hi;
    l = 0; v = 0; e = 0; n = 0; t = 0; r = 0;
    bottom = signed_q ? BASE - 32'd128 : BASE;
    top = signed_q ? BASE + 32'd127 : BASE + 32'd255;
    lo = {{23{min_q[8]}}, min_q} + BASE;
    hi = {{23{max_q[8]}}, max_q} + BASE;
    y = '0;
    if (valid_q) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        v = v_q[{l[B-1:0], 5'd0} +: 32];
        e = {24'd0, v[30:23]};
        t = {9'd1, v[22:0]};
        // |v| = t / 2^n; below 1/2 nothing is left, from 256 on every code is passed
        n = 32'd150 - e;
        n = n > 32'd31 ? 32'd31 : n;
        r = (t + ((32'd1 << n[4:0]) >> 1) - 32'd1 + ((t >> n[4:0]) & 32'd1)) >> n[4:0];
        r = e >= 32'd135 ? 32'd256 : r;
        r = v[31] ? BASE - r : BASE + r;
        r = e >= 32'd158 ? 32'd0 : r;
        r = r < bottom ? bottom : r;
        r = r > top ? top : r;
        r = r < lo ? lo : r;
        r = r > hi ? hi : r;
        y[{l[B-1:0], 5'd0} +: 32] = r;
      end
    end
  end

  // Four codes per word.
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
endmodule
