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
// Pipeline: operands are taken into registers with en_i (cycle 0); valid_o is set in cycle 4. y_o holds
// the result then, in logic behind registers, and is zero otherwise. Registers divide the four steps:
//
//   1 product, exponents | 2 align | 3 add, normalise by 32 and 16 | 4 normalise by 8 to 1, round
//
// A step is a loop over whole words of packed vectors, which Verilator and the C++ compiler turn into
// vector code, behind a condition that is false while the step has nothing to do. (Not in a task:
// its variables become members of the model, and no loop over them vector code. Nonblocking writes to
// elements of unpacked arrays cost a test per element and cycle even when idle.)
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

  // Steps are combinational; registers hold what the next one takes. ?: and | instead of if and ||: the
  // C++ compiler then sees a loop without branches.
  logic [3:1] v_q;  // steps 2 to 4 have something to do
  always_ff @(posedge clk_i) v_q <= {v_q[2:1], valid_q} & {3{rst_ni}};
  assign valid_o = v_q[3];

  // Step 1. The product is {mix[15:0], low}; mix also has the distance of the exponents (6 bits),
  // whether the product's is the smaller, and we (9); add has whether the terms have different signs,
  // the sign of the one of larger exponent, the addend's significand (24), and for operands that are
  // infinite or NaN two bits: 25 that the result is NaN, 24 that it is NaN or infinite.
  logic [32*LANES-1:0] low, mix, add, low_q, mix_q, add_q;
  always_comb begin : step1
    logic [31:0] l, av, bv, cv, ea, eb, ec, we, d, n, sign, sub, x, rare;
    logic [63:0] p;
    l = 0; av = 0; bv = 0; cv = 0; ea = 0; eb = 0; ec = 0; we = 0; d = 0; n = 0; sign = 0; sub = 0; x = 0;
    rare = 0; p = 0;
    low = '0;
    mix = '0;
    add = '0;
    if (valid_q) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        av = a_q[{l[B-1:0], 5'd0} +: 32];
        bv = b_q[{l[B-1:0], 5'd0} +: 32];
        cv = c_q[{l[B-1:0], 5'd0} +: 32];
        rare = rare | ((av & 32'h7f800000) + 32'h00800000) | ((bv & 32'h7f800000) + 32'h00800000)
                    | ((cv & 32'h7f800000) + 32'h00800000);
        ea = {24'd0, av[30:23]};
        eb = {24'd0, bv[30:23]};
        ec = {24'd0, cv[30:23]};
        p = {32'd0, ea == 32'd0 ? 9'd0 : 9'd1, av[22:0]}
            * {32'd0, eb == 32'd0 ? 9'd0 : 9'd1, bv[22:0]};
        x = {8'd0, ec != 32'd0, cv[22:0]};
        ea = ea == 32'd0 ? 32'd1 : ea;
        eb = eb == 32'd0 ? 32'd1 : eb;
        ec = ec == 32'd0 ? 32'd1 : ec;
        we = ea + eb - 32'd126;
        we = av << 1 == 32'd0 ? 32'd0 : we;
        we = bv << 1 == 32'd0 ? 32'd0 : we;
        d = we - ec;
        n = d[31] ? -d : d;
        n = n > 32'd63 ? 32'd63 : n;
        we = d[31] ? ec : we;
        sign = av ^ bv;
        sub = (sign ^ cv) & 32'h80000000;
        sign = (d[31] ? cv : sign) & 32'h80000000;
        low[{l[B-1:0], 5'd0} +: 32] = p[31:0];
        add[{l[B-1:0], 5'd0} +: 32] = x | sub | (sign >> 1);
        mix[{l[B-1:0], 5'd0} +: 32] = p[63:32] | (n << 16) | (d[31] ? 32'h400000 : 32'd0) | (we << 23);
      end
      // Infinities and NaN, in a pass of their own that data rarely needs. Their terms are taken for ones
      // of the same sign, so that the sign of the result is the one that is set here.
      if (rare[31]) begin
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
            add[{l[B-1:0], 5'd0} +: 32] = 32'h03000000;
          else if (cv[30:23] == 8'hff)
            add[{l[B-1:0], 5'd0} +: 32] = 32'h01000000 | ((cv & 32'h80000000) >> 1);
          else if (av[30:23] == 8'hff || bv[30:23] == 8'hff)
            add[{l[B-1:0], 5'd0} +: 32] = 32'h01000000 | ((sign & 32'h80000000) >> 1);
        end
      end
    end
  end

  // Step 2. The term of larger exponent is {high[15:0], mid} at bits 61..14 of the window, high also
  // has we, whether to subtract, its sign, and the two bits; the other is {t1, t0}.
  logic [32*LANES-1:0] mid, high, t0, t1, mid_q, high_q, t0_q, t1_q;
  always_comb begin : step2
    logic [31:0] l, mv, av;
    logic [63:0] p, x, lo, hi, t;
    l = 0; mv = 0; av = 0; p = 0; x = 0; lo = 0; hi = 0; t = 0;
    mid = '0;
    high = '0;
    t0 = '0;
    t1 = '0;
    if (v_q[1]) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        mv = mix_q[{l[B-1:0], 5'd0} +: 32];
        av = add_q[{l[B-1:0], 5'd0} +: 32];
        p = {2'd0, mv[15:0], low_q[{l[B-1:0], 5'd0} +: 32], 14'd0};
        x = {2'd0, av[23:0], 38'd0};
        lo = mv[22] ? p : x;
        hi = mv[22] ? x : p;
        t = lo >> mv[21:16];
        t = t | ((t << mv[21:16]) != lo ? 64'd1 : 64'd0);
        hi = hi >> 14;
        mid[{l[B-1:0], 5'd0} +: 32] = hi[31:0];
        high[{l[B-1:0], 5'd0} +: 32] = hi[63:32] | (mv & 32'hff800000) | ((av & 32'hc0000000) >> 9)
            | ((av & 32'h03000000) >> 8);
        t0[{l[B-1:0], 5'd0} +: 32] = t[31:0];
        t1[{l[B-1:0], 5'd0} +: 32] = t[63:32];
      end
    end
  end

  // Step 3, and the first half of: the leading one to bit 62, but no further than exponent 1. {m1, m0} is
  // the window, code has we, whether the terms had different signs, the sign, and the two bits.
  logic [32*LANES-1:0] m0, m1, code, m0_q, m1_q, code_q;
  always_comb begin : step3
    logic [31:0] l, hv, we, k;
    logic [63:0] hi, t, sum;
    l = 0; hv = 0; we = 0; k = 0; hi = 0; t = 0; sum = 0;
    m0 = '0;
    m1 = '0;
    code = '0;
    if (v_q[2]) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        hv = high_q[{l[B-1:0], 5'd0} +: 32];
        hi = {2'd0, hv[15:0], mid_q[{l[B-1:0], 5'd0} +: 32], 14'd0};
        t = {t1_q[{l[B-1:0], 5'd0} +: 32], t0_q[{l[B-1:0], 5'd0} +: 32]};
        sum = hv[22] ? hi - t : hi + t;
        t = sum[63] ? t - hi : sum;
        hv = sum[63] ? hv ^ 32'h200000 : hv;
        we = hv >> 23;
        k = t[62:31] == 32'd0 ? we & 32'h1e0 : 32'd0;
        t = k == 32'd0 ? t : t << 32;
        we = k == 32'd0 ? we : we - 32'd32;
        k = t[62:47] == 16'd0 ? we & 32'h1f0 : 32'd0;
        t = k == 32'd0 ? t : t << 16;
        we = k == 32'd0 ? we : we - 32'd16;
        m0[{l[B-1:0], 5'd0} +: 32] = t[31:0];
        m1[{l[B-1:0], 5'd0} +: 32] = t[63:32];
        code[{l[B-1:0], 5'd0} +: 32] = (we << 23) | (hv & 32'h630000);
      end
    end
  end

  // Step 4. Round at bit 39. Exponent minus one and significand with its leading one are added, so that a
  // subnormal and a carry need no care.
  always_comb begin : step4
    logic [31:0] l, cv, we, k, r, sign;
    logic [63:0] t;
    l = 0; cv = 0; we = 0; k = 0; r = 0; sign = 0; t = 0;
    y_o = '0;
    if (v_q[3]) begin
      for (l = 32'd0; l < N; l = l + 1) begin
        cv = code_q[{l[B-1:0], 5'd0} +: 32];
        t = {m1_q[{l[B-1:0], 5'd0} +: 32], m0_q[{l[B-1:0], 5'd0} +: 32]};
        // An exact zero is +0 unless both terms are -0.
        sign = (cv << 10) & 32'h80000000;
        k = t == 64'd0 ? cv << 9 : 32'd0;
        sign = k[31] ? 32'd0 : sign;
        we = t == 64'd0 ? 32'd0 : cv >> 23;
        k = t[62:55] == 8'd0 ? we & 32'h1f8 : 32'd0;
        t = k == 32'd0 ? t : t << 8;
        we = k == 32'd0 ? we : we - 32'd8;
        k = t[62:59] == 4'd0 ? we & 32'h1fc : 32'd0;
        t = k == 32'd0 ? t : t << 4;
        we = k == 32'd0 ? we : we - 32'd4;
        k = t[62:61] == 2'd0 ? we & 32'h1fe : 32'd0;
        t = k == 32'd0 ? t : t << 2;
        we = k == 32'd0 ? we : we - 32'd2;
        k = t[62] ? 32'd0 : we;
        t = k == 32'd0 ? t : t << 1;
        we = k == 32'd0 ? we : we - 32'd1;
        t = (t + 64'h3fffffffff + {63'd0, t[39]}) >> 39;
        r = (we << 23) + t[31:0];
        r = r > 32'h7f800000 ? 32'h7f800000 : r;
        r = (cv & 32'h10000) != 32'd0 ? 32'h7f800000 | ((cv & 32'h20000) << 5) : r;
        y_o[{l[B-1:0], 5'd0} +: 32] = r | sign;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q) {low_q, mix_q, add_q} <= {low, mix, add};
    if (v_q[1]) {mid_q, high_q, t0_q, t1_q} <= {mid, high, t0, t1};
    if (v_q[2]) {m0_q, m1_q, code_q} <= {m0, m1, code};
  end
endmodule
