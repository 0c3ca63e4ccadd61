// SPDX-License-Identifier: Apache-2.0
// Fused multiply-add of LANES binary32 lanes: y = f32(a*b + c), one rounding to nearest even,
// subnormals kept, every NaN result 0x7fc00000 (ISA.md, "Numbers"). Also the sum, the difference
// and the product, each rounded once, by the choice of operands:
//
//   op_i   y            computed as            why a zero has the right sign
//   FMA    a*b + c      a*b + c
//   ADD    a + b        a*1.0 + b              a*1.0 keeps the sign of a zero a
//   SUB    a - b        a*1.0 + (-b)           a - b is defined as a + (-b)
//   MUL    a*b          a*b + z                z = zero with the sign of the product
//
// Pipeline: operands are taken into registers with en_i (cycle 0); y_o holds the result, in logic
// behind these registers, in cycle 1, when valid_o is set, and is zero when valid_o is clear. In
// silicon the logic is four stages long: the user adds registers behind y_o and synthesis moves
// them back to the lines "cut". The operand registers are here because they keep idle lanes quiet,
// and because Verilator and the C++ compiler then turn the loop into vector code: 5 ns instead of
// 16 ns per lane. (Loops over whole words of packed registers do; nonblocking writes to elements of
// unpacked arrays cost a test per element and cycle even when idle.)
//
// The sum is formed in a window of 64 bits. Operands are not normalised. The window's bit 61 has
// weight 2^(we-127); the product's 48 bits stand at 61..14, the addend's 24 at 61..38. The one of
// smaller exponent (a product of zero counts as that) is shifted right; what falls out is kept as
// one sticky bit. That is enough:
//  - bits can fall out of the addend only after 38 places. Then it is below 2^23, while the
//    product, whose exponent is the larger, has a normal factor (two subnormals: always the smaller
//    exponent) and is at least 2^37: less than one place is cancelled, and 24 bits and a rounding
//    bit remain;
//  - bits can fall out of the product only after 14 places. Then it is below 2^47. The addend is
//    normal (at least 2^61), or its exponent is the smallest and the result ends at bit 38 anyway.
// Here we >= 1 always, so a subnormal result is a limit to the shift left, never a shift right.
module hd_fp_fma #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                en_i,
    input  logic [1:0]          op_i,
    input  logic [32*LANES-1:0] a_i,
    input  logic [32*LANES-1:0] b_i,
    input  logic [32*LANES-1:0] c_i,
    output logic                valid_o,
    output logic [32*LANES-1:0] y_o
);
  localparam [1:0] FMA = 2'd0, ADD = 2'd1, SUB = 2'd2;  // and MUL = 3
  localparam [31:0] N = LANES;
  localparam int B = LANES > 1 ? $clog2(LANES) : 1;

  logic valid_q;
  logic [32*LANES-1:0] a_q;
  logic [32*LANES-1:0] b_q;
  logic [32*LANES-1:0] c_q;

  localparam [32*LANES-1:0] ONES = {LANES{32'h3f800000}};
  localparam [32*LANES-1:0] SIGNS = {LANES{32'h80000000}};
  assign valid_o = valid_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && en_i;
    if (en_i) begin
      a_q <= a_i;
      case (op_i)
        FMA: begin
          b_q <= b_i;
          c_q <= c_i;
        end
        ADD: begin
          b_q <= ONES;
          c_q <= b_i;
        end
        SUB: begin
          b_q <= ONES;
          c_q <= b_i ^ SIGNS;
        end
        default: begin
          b_q <= b_i;
          c_q <= (a_i ^ b_i) & SIGNS;
        end
      endcase
    end
  end

  // ?: instead of if: the C++ compiler then sees a loop without branches. Lanes are taken from the
  // packed registers at whole words.
  always_comb begin : lanes
    logic [31:0] l, av, bv, cv, ea, eb, ec, we, d, n, lz, r, sub, sign, special;
    logic [63:0] p, x, hi, lo, sum, m, t;
    l = 0; av = 0; bv = 0; cv = 0; ea = 0; eb = 0; ec = 0; we = 0; d = 0; n = 0; lz = 0; r = 0;
    sub = 0; sign = 0; special = 0;
    p = 0; x = 0; hi = 0; lo = 0; sum = 0; m = 0; t = 0;
    y_o = '0;
    if (valid_q) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        av = a_q[{l[B-1:0], 5'd0} +: 32];
        bv = b_q[{l[B-1:0], 5'd0} +: 32];
        cv = c_q[{l[B-1:0], 5'd0} +: 32];
        ea = {24'd0, av[30:23]};
        eb = {24'd0, bv[30:23]};
        ec = {24'd0, cv[30:23]};
        p = {32'd0, ea == 32'd0 ? 9'd0 : 9'd1, av[22:0]}
            * {32'd0, eb == 32'd0 ? 9'd0 : 9'd1, bv[22:0]};
        p = p << 14;
        x = {2'd0, ec != 32'd0, cv[22:0], 38'd0};
        ea = ea == 32'd0 ? 32'd1 : ea;
        eb = eb == 32'd0 ? 32'd1 : eb;
        ec = ec == 32'd0 ? 32'd1 : ec;
        // cut: align
        we = p == 64'd0 ? 32'd0 : ea + eb - 32'd126;
        d = we - ec;
        n = d[31] ? -d : d;
        n = n > 32'd63 ? 32'd63 : n;
        we = d[31] ? ec : we;
        lo = d[31] ? p : x;
        hi = d[31] ? x : p;
        sign = av ^ bv;
        sub = sign ^ cv;
        sign = d[31] ? cv : sign;
        t = lo >> n[5:0];
        t = t | ((t << n[5:0]) != lo ? 64'd1 : 64'd0);
        // cut: add
        sum = sub[31] ? hi - t : hi + t;
        m = sum[63] ? -sum : sum;
        sign = sum[63] ? ~sign : sign;
        // cut: the leading one to bit 62, but no further than exponent 1
        t = m;
        lz = t[62:31] == 32'd0 ? 32'd32 : 32'd0;
        t = t[62:31] == 32'd0 ? t << 32 : t;
        lz = lz | (t[62:47] == 16'd0 ? 32'd16 : 32'd0);
        t = t[62:47] == 16'd0 ? t << 16 : t;
        lz = lz | (t[62:55] == 8'd0 ? 32'd8 : 32'd0);
        t = t[62:55] == 8'd0 ? t << 8 : t;
        lz = lz | (t[62:59] == 4'd0 ? 32'd4 : 32'd0);
        t = t[62:59] == 4'd0 ? t << 4 : t;
        lz = lz | (t[62:61] == 2'd0 ? 32'd2 : 32'd0);
        t = t[62:61] == 2'd0 ? t << 2 : t;
        lz = lz | {31'd0, ~t[62]};
        n = lz > we ? we : lz;
        t = m << n[5:0];
        // Round at bit 39. Exponent minus one and significand with its leading one are added, so
        // that a subnormal and a carry need no care.
        t = (t + 64'h3fffffffff + {63'd0, t[39]}) >> 39;
        r = ((we - n) << 23) + t[31:0];
        r = r > 32'h7f800000 ? 32'h7f800000 : r;
        // An exact zero is +0 unless both terms are -0.
        r = m == 64'd0 ? (sub[31] ? 32'd0 : cv & 32'h80000000) : r | (sign & 32'h80000000);
        y_o[{l[B-1:0], 5'd0} +: 32] = r;
      end
      // Infinities and NaN, in a pass of their own that data rarely needs.
      for (l = 32'd0; l < N; l = l + 1) begin
        special = special | ((a_q[{l[B-1:0], 5'd0} +: 32] & 32'h7f800000) + 32'h00800000)
                          | ((b_q[{l[B-1:0], 5'd0} +: 32] & 32'h7f800000) + 32'h00800000)
                          | ((c_q[{l[B-1:0], 5'd0} +: 32] & 32'h7f800000) + 32'h00800000);
      end
      if (special[31]) begin
        for (l = 32'd0; l < N; l = l + 1) begin
          av = a_q[{l[B-1:0], 5'd0} +: 32];
          bv = b_q[{l[B-1:0], 5'd0} +: 32];
          cv = c_q[{l[B-1:0], 5'd0} +: 32];
          sign = av ^ bv;
          if (av[30:0] > 31'h7f800000 || bv[30:0] > 31'h7f800000 || cv[30:0] > 31'h7f800000
              || (av[30:0] == 31'h7f800000 && bv[30:0] == 31'd0)
              || (bv[30:0] == 31'h7f800000 && av[30:0] == 31'd0)
              || (cv[30:0] == 31'h7f800000 && sign[31] != cv[31]
                  && (av[30:23] == 8'hff || bv[30:23] == 8'hff)))
            y_o[{l[B-1:0], 5'd0} +: 32] = 32'h7fc00000;
          else if (cv[30:23] == 8'hff) y_o[{l[B-1:0], 5'd0} +: 32] = cv;
          else if (av[30:23] == 8'hff || bv[30:23] == 8'hff)
            y_o[{l[B-1:0], 5'd0} +: 32] = {sign[31], 31'h7f800000};
        end
      end
    end
  end
endmodule
