// SPDX-License-Identifier: Apache-2.0
// Quotient and square root of LANES binary32 lanes: f32(a / b) or f32(sqrt(a)), round to nearest
// even, subnormals kept, every NaN result 0x7fc00000 (ISA.md); and quotient of integers. One digit of
// the result per cycle in every lane, all lanes in step.
//
//   op_i  0 quotient, 1 root, 2 quotient of int32 toward zero, 3 of uint32. A divisor of 0 gives all
//         ones, -2^31 / -1 gives -2^31.
//
//   cycle 0       start_i (only while ready_o): op_i, operands
//   cycle 1       operands taken apart: significands normalised; magnitudes of integers
//   cycle 2..27   26 digits: the significand and one or two more for rounding; the remainder says
//                 whether the result is exact
//   cycle 28      round
//   cycle 29      done_o for one cycle; y_o holds the result until the cycle after the next start
// Integers: 32 digits in cycles 2..33, the sign in cycle 34, done_o in cycle 35. last_o is set in the cycle
// before done_o, ready_o is set again with done_o: an operation takes 29 or 35 cycles (ISA.md allows 32
// and 36).
//
// Digit step (restoring; w = remainder, q = digits so far):
//   quotient  w >= x gives a one; w = 2*(w - digit*x)    x = significand of b; w starts as a's
//   root      w = 4*w + next two bits of x, t = 4*q + 1; w >= t gives a one; w = w - digit*t
//                                                        x = bits of a not used; w starts as 0
//   integers  w = 2*w + next bit of q; w >= x gives a one; w = w - digit*x
//                                                        x = |b|; w starts as 0, q as |a|, whose
//                                                        bits digits replace
// The first digit of a root is one (the bits of a start with 01, or with 1 when its exponent is
// odd); that of a quotient is zero when the significand of a is the smaller one.
module hd_fp_divsqrt #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,
    input  logic [1:0]          op_i,
    input  logic [32*LANES-1:0] a_i,
    input  logic [32*LANES-1:0] b_i,
    output logic                ready_o,
    output logic                last_o,
    output logic                done_o,
    output logic [32*LANES-1:0] y_o
);
  localparam [31:0] N = LANES;
  localparam int B = LANES > 1 ? $clog2(LANES) : 1;
  localparam [5:0] PREPARE = 6'd1, ROUND = 6'd28, SIGN = 6'd34, DONE = 6'd35;

  logic [5:0] step_q;  // number of the cycle, but DONE behind ROUND; 0 idle
  logic root_q, int_q, unsigned_q, start, work, last;
  assign ready_o = step_q == 6'd0 || step_q == DONE;
  assign done_o = step_q == DONE;
  assign start = start_i && ready_o;
  assign work = !ready_o;
  assign last = step_q == (int_q ? SIGN : ROUND);
  assign last_o = last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) step_q <= 6'd0;
    else if (start) step_q <= PREPARE;
    else if (step_q == DONE) step_q <= 6'd0;
    else if (work) step_q <= last ? DONE : step_q + 6'd1;
    if (start) begin
      root_q <= op_i == 2'd1;
      int_q <= op_i[1];
      unsigned_q <= op_i[0];
    end
  end

  // w: operand a, then the remainder. x: operand b, then the divisor or the rest of the radicand.
  // q: digits, then the result; of integers |a| at first. s: bit 31 sign, bit 30 the result is
  // special and bits 29:28 say which (0 zero, 1 infinity, 2 NaN), bits 15:0 exponent of the result,
  // biased, signed.
  logic [32*LANES-1:0] w_q;
  logic [32*LANES-1:0] x_q;
  logic [32*LANES-1:0] q_q;
  logic [32*LANES-1:0] s_q;
  assign y_o = q_q;

  // The next values are local, so that nothing is simulated while idle.
  always_ff @(posedge clk_i) begin : lanes
    logic [32*LANES-1:0] w_d, x_d, q_d, s_d;
    logic [31:0] l, av, bv, ea, eb, ma, mb, kind, t, w, x, q, s, n;
    l = 0; av = 0; bv = 0; ea = 0; eb = 0; ma = 0; mb = 0; kind = 0; t = 0; w = 0; x = 0; q = 0;
    s = 0; n = 0;
    if (start) begin
      w_q <= a_i;
      x_q <= b_i;
    end else if (step_q == PREPARE && int_q) begin
      x_d = '0;
      q_d = '0;
      s_d = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        av = w_q[{l[B-1:0], 5'd0} +: 32];
        bv = x_q[{l[B-1:0], 5'd0} +: 32];
        // All ones have no sign.
        s = bv == 32'd0 || unsigned_q ? 32'd0 : (av ^ bv) & 32'h80000000;
        s_d[{l[B-1:0], 5'd0} +: 32] = s;
        q_d[{l[B-1:0], 5'd0} +: 32] = av[31] && !unsigned_q ? -av : av;
        x_d[{l[B-1:0], 5'd0} +: 32] = bv[31] && !unsigned_q ? -bv : bv;
      end
      w_q <= '0;
      x_q <= x_d;
      q_q <= q_d;
      s_q <= s_d;
    end else if (step_q == PREPARE) begin
      w_d = '0;
      x_d = '0;
      s_d = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        av = w_q[{l[B-1:0], 5'd0} +: 32];
        bv = root_q ? 32'h3f800000 : x_q[{l[B-1:0], 5'd0} +: 32];
        // Significands with the leading one at bit 23; a subnormal's exponent is 1 and below.
        ea = {24'd0, av[30:23]};
        ma = ea == 32'd0 ? {9'd0, av[22:0]} : {9'd1, av[22:0]};
        ea = ea == 32'd0 ? 32'd1 : ea;
        ea = ma[23:8] == 16'd0 ? ea - 32'd16 : ea;
        ma = ma[23:8] == 16'd0 ? ma << 16 : ma;
        ea = ma[23:16] == 8'd0 ? ea - 32'd8 : ea;
        ma = ma[23:16] == 8'd0 ? ma << 8 : ma;
        ea = ma[23:20] == 4'd0 ? ea - 32'd4 : ea;
        ma = ma[23:20] == 4'd0 ? ma << 4 : ma;
        ea = ma[23:22] == 2'd0 ? ea - 32'd2 : ea;
        ma = ma[23:22] == 2'd0 ? ma << 2 : ma;
        ea = ma[23] ? ea : ea - 32'd1;
        ma = ma[23] ? ma : ma << 1;
        eb = {24'd0, bv[30:23]};
        mb = eb == 32'd0 ? {9'd0, bv[22:0]} : {9'd1, bv[22:0]};
        eb = eb == 32'd0 ? 32'd1 : eb;
        eb = mb[23:8] == 16'd0 ? eb - 32'd16 : eb;
        mb = mb[23:8] == 16'd0 ? mb << 16 : mb;
        eb = mb[23:16] == 8'd0 ? eb - 32'd8 : eb;
        mb = mb[23:16] == 8'd0 ? mb << 8 : mb;
        eb = mb[23:20] == 4'd0 ? eb - 32'd4 : eb;
        mb = mb[23:20] == 4'd0 ? mb << 4 : mb;
        eb = mb[23:22] == 2'd0 ? eb - 32'd2 : eb;
        mb = mb[23:22] == 2'd0 ? mb << 2 : mb;
        eb = mb[23] ? eb : eb - 32'd1;
        mb = mb[23] ? mb : mb << 1;
        // What is not computed. Later lines win.
        s = (av ^ bv) & 32'h80000000;
        n = av & 32'h7fffffff;
        t = bv & 32'h7fffffff;
        kind = (n == 32'd0 || t == 32'h7f800000) ? 32'd4 : 32'd0;
        kind = (t == 32'd0 || n == 32'h7f800000) ? 32'd5 : kind;
        kind = (n == 32'd0 && t == 32'd0) || (n == 32'h7f800000 && t == 32'h7f800000) ? 32'd6
                                                                                     : kind;
        kind = root_q && av > 32'h80000000 ? 32'd6 : kind;
        kind = (n > 32'h7f800000 || t > 32'h7f800000) ? 32'd6 : kind;
        // The exponent: ea - eb + 127, or half of that of a with the bias kept.
        t = root_q ? (ea + 32'd1023) >> 1 : ea - eb + 32'd127;
        t = root_q ? t - 32'd448 : t;
        s_d[{l[B-1:0], 5'd0} +: 32] = s | kind << 28 | (t & 32'hffff);
        w_d[{l[B-1:0], 5'd0} +: 32] = root_q ? 32'd0 : ma;
        // Biased exponents are odd where true ones are even.
        x_d[{l[B-1:0], 5'd0} +: 32] = root_q ? (ea[0] ? ma << 7 : ma << 8) : mb;
      end
      w_q <= w_d;
      x_q <= x_d;
      s_q <= s_d;
      q_q <= '0;
    end else if (work && last && int_q) begin
      q_d = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        q = q_q[{l[B-1:0], 5'd0} +: 32];
        s = s_q[{l[B-1:0], 5'd0} +: 32];
        q_d[{l[B-1:0], 5'd0} +: 32] = s[31] ? -q : q;
      end
      q_q <= q_d;
    end else if (work && last) begin
      q_d = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        w = w_q[{l[B-1:0], 5'd0} +: 32];
        q = q_q[{l[B-1:0], 5'd0} +: 32];
        s = s_q[{l[B-1:0], 5'd0} +: 32];
        // e - 1, sign extended. Leading one of the digits to bit 25, sticky bit below bit 0.
        t = {{16{s[15]}}, s[15:0]} - 32'd1;
        t = q[25] ? t : t - 32'd1;
        q = q[25] ? q << 1 : q << 2;
        q = q | (w != 32'd0 ? 32'd1 : 32'd0);
        // Subnormal: the rest of a shift right goes into the sticky bit.
        n = t[31] ? -t : 32'd0;
        n = n > 32'd31 ? 32'd31 : n;
        t = t[31] ? 32'd0 : t;
        w = q >> n[4:0];
        w = w | (w << n[4:0] != q ? 32'd1 : 32'd0);
        w = (w + 32'd3 + {31'd0, w[3]}) >> 3;
        q = (t << 23) + w;
        q = q > 32'h7f800000 ? 32'h7f800000 : q;
        q = s[30] ? (s[28] ? 32'h7f800000 : 32'd0) : q;
        q = q | (s & 32'h80000000);
        q_d[{l[B-1:0], 5'd0} +: 32] = s[30] && s[29] ? 32'h7fc00000 : q;
      end
      q_q <= q_d;
    end else if (work && int_q) begin
      w_d = '0;
      q_d = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        x = x_q[{l[B-1:0], 5'd0} +: 32];
        q = q_q[{l[B-1:0], 5'd0} +: 32];
        w = w_q[{l[B-1:0], 5'd0} +: 32];
        // Before the last digit w has fewer than 32 bits: a has no more.
        t = w << 1 | q >> 31;
        n = t >= x ? 32'd1 : 32'd0;
        q_d[{l[B-1:0], 5'd0} +: 32] = q << 1 | n;
        w_d[{l[B-1:0], 5'd0} +: 32] = n[0] ? t - x : t;
      end
      w_q <= w_d;
      q_q <= q_d;
    end else if (work && root_q) begin
      w_d = '0;
      x_d = '0;
      q_d = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        x = x_q[{l[B-1:0], 5'd0} +: 32];
        q = q_q[{l[B-1:0], 5'd0} +: 32];
        w = w_q[{l[B-1:0], 5'd0} +: 32] << 2 | x >> 30;
        t = q << 2 | 32'd1;
        q_d[{l[B-1:0], 5'd0} +: 32] = q << 1 | (w >= t ? 32'd1 : 32'd0);
        w_d[{l[B-1:0], 5'd0} +: 32] = w >= t ? w - t : w;
        x_d[{l[B-1:0], 5'd0} +: 32] = x << 2;
      end
      w_q <= w_d;
      x_q <= x_d;
      q_q <= q_d;
    end else if (work) begin
      w_d = '0;
      q_d = '0;
      for (l = 32'd0; l < N; l = l + 1) begin
        x = x_q[{l[B-1:0], 5'd0} +: 32];
        w = w_q[{l[B-1:0], 5'd0} +: 32];
        q_d[{l[B-1:0], 5'd0} +: 32] = q_q[{l[B-1:0], 5'd0} +: 32] << 1 | (w >= x ? 32'd1 : 32'd0);
        w_d[{l[B-1:0], 5'd0} +: 32] = (w >= x ? w - x : w) << 1;
      end
      w_q <= w_d;
      q_q <= q_d;
    end
  end
endmodule
