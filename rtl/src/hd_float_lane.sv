// SPDX-License-Identifier: Apache-2.0
// The float path of the output stage for LANES lanes: wide outputs and the residual stage share
// one chain: integer to float, fused multiply-add A, fused multiply-add B, float to code. ISA.md,
// "Output stage", steps 1 and 4:
//
//   op_i      A                        B                      result
//   F32       f32(acc + bias) * scale  + (-0), changes none   f_o
//   F32_BIAS  f32(acc) * scale         + bias (as f32)        f_o
//   RES_ADD   second * res_b + res_k   first * res_a + A      code_o = clamp(rso(B))
//   RES_MUL   f32(P) * res_a           + res_k                code_o = clamp(rso(B))
//
// with x the code of the stage before (x_i, of the type out_signed_i), r the residual's (r_i, of
// the type res_signed_i), first = res_first_i ? r : x, second the other, P = (x - mid_zero) *
// (r - res_zero). All inputs are taken with en_i: commands may follow each other without a gap.
// LANES is 8 or more.
//
// Pipeline (a new vector every cycle, never stalls):
//   0  inputs, acc + bias        3  A
//   1  P                         4  B, f_o with f_valid_o
//   2  integer to float          5  round, saturate, clamp, code_o with code_valid_o
// A and B are hd_fp_fma without its cuts, the longest paths of the output stage by far. With them, f_o
// would come three cycles later for each, and a residual vector's code as well.
module hd_float_lane #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                en_i,
    input  logic [1:0]          op_i,
    // wide outputs
    input  logic [32*LANES-1:0] acc_i,
    input  logic [32*LANES-1:0] bias_i,
    input  logic [32*LANES-1:0] scale_i,
    // residual
    input  logic [8*LANES-1:0]  x_i,
    input  logic [8*LANES-1:0]  r_i,
    input  logic                out_signed_i,
    input  logic                res_signed_i,
    input  logic                res_first_i,
    input  logic [8:0]          mid_zero_i,
    input  logic [8:0]          res_zero_i,
    input  logic [31:0]         res_a_i,
    input  logic [31:0]         res_b_i,
    input  logic [31:0]         res_k_i,
    input  logic [8:0]          res_min_i,
    input  logic [8:0]          res_max_i,
    output logic                f_valid_o,
    output logic [32*LANES-1:0] f_o,
    output logic                code_valid_o,
    output logic [8*LANES-1:0]  code_o
);
  localparam [1:0] F32 = 2'd0, F32_BIAS = 2'd1, RES_ADD = 2'd2;
  localparam [1:0] FMA = 2'd0, ADD = 2'd1, MUL = 2'd3;
  localparam [2:0] I2F = 3'd2;
  localparam [31:0] N = LANES;
  localparam int B = $clog2(LANES);

  // Valid bits and settings of the vector in cycles 1 to 4.
  logic v1_q, v2_q, v3_q, v4_q, res4_q;
  logic [1:0] op1_q, op2_q, op3_q;
  logic first1_q;
  logic [8:0] mid1_q, zero1_q;
  logic [31:0] a1_q, a2_q, a3_q, b1_q, b2_q, k1_q, k2_q, k3_q;
  logic [18:0] out1_q, out2_q, out3_q, out4_q;
  // Scale until A, bias until B.
  logic [32*LANES-1:0] scale1_q, scale2_q, bias1_q, bias2_q, bias3_q;
  always_ff @(posedge clk_i) begin
    v1_q <= rst_ni && en_i;
    v2_q <= rst_ni && v1_q;
    v3_q <= rst_ni && v2_q;
    v4_q <= rst_ni && v3_q;
    if (en_i) begin
      op1_q <= op_i;
      first1_q <= res_first_i;
      mid1_q <= mid_zero_i;
      zero1_q <= res_zero_i;
      a1_q <= res_a_i;
      b1_q <= res_b_i;
      k1_q <= res_k_i;
      out1_q <= {out_signed_i, res_min_i, res_max_i};
      if (!op_i[1]) begin
        scale1_q <= scale_i;
        bias1_q <= bias_i;
      end
    end
    if (v1_q) begin
      op2_q <= op1_q;
      a2_q <= a1_q;
      b2_q <= b1_q;
      k2_q <= k1_q;
      out2_q <= out1_q;
      if (!op1_q[1]) begin
        scale2_q <= scale1_q;
        bias2_q <= bias1_q;
      end
    end
    if (v2_q) begin
      op3_q <= op2_q;
      a3_q <= a2_q;
      k3_q <= k2_q;
      out3_q <= out2_q;
      if (!op2_q[1]) bias3_q <= bias2_q;
    end
    if (v3_q) begin
      res4_q <= op3_q[1];
      out4_q <= out3_q;
    end
  end

  // 0: one integer per lane for wide outputs, two for the residual stage
  logic [32*LANES-1:0] s_q, r_q, p_int, q_int;
  always_ff @(posedge clk_i) begin : take
    logic [31:0] l, x, r;
    logic [32*LANES-1:0] s_d, r_d;
    l = 0; x = 0; r = 0;
    if (en_i) begin
      s_d = '0;
      r_d = '0;
      if (op_i[1]) begin
        for (l = 32'd0; l < N; l = l + 1) begin
          x = {24'd0, x_i[{l[B-1:0], 3'd0} +: 8]};
          r = {24'd0, r_i[{l[B-1:0], 3'd0} +: 8]};
          s_d[{l[B-1:0], 5'd0} +: 32] = x | (x[7] && out_signed_i ? 32'hffffff00 : 32'd0);
          r_d[{l[B-1:0], 5'd0} +: 32] = r | (r[7] && res_signed_i ? 32'hffffff00 : 32'd0);
        end
        r_q <= r_d;
      end else if (op_i == F32) begin
        for (l = 32'd0; l < N; l = l + 1)
          s_d[{l[B-1:0], 5'd0} +: 32] = acc_i[{l[B-1:0], 5'd0} +: 32]
                                        + bias_i[{l[B-1:0], 5'd0} +: 32];
      end else s_d = acc_i;
      s_q <= s_d;
    end
  end

  // 1: p goes to A, q (first operand of the addition) to B
  always_comb begin : integers
    logic [31:0] l, x, r, mid, zero;
    l = 0; x = 0; r = 0;
    mid = {{23{mid1_q[8]}}, mid1_q};
    zero = {{23{zero1_q[8]}}, zero1_q};
    p_int = '0;
    q_int = '0;
    if (v1_q) begin
      if (!op1_q[1]) p_int = s_q;
      else if (op1_q == RES_ADD) begin
        p_int = first1_q ? s_q : r_q;
        q_int = first1_q ? r_q : s_q;
      end else begin
        for (l = 32'd0; l < N; l = l + 1) begin
          x = s_q[{l[B-1:0], 5'd0} +: 32];
          r = r_q[{l[B-1:0], 5'd0} +: 32];
          p_int[{l[B-1:0], 5'd0} +: 32] = (x - mid) * (r - zero);
        end
      end
    end
  end

  // 2: to float
  logic [32*LANES-1:0] p_float, q_float, q3_q;
  hd_fp_cvt #(.LANES(LANES)) u_p (
      .clk_i, .rst_ni, .en_i(v1_q), .op_i(I2F), .a_i(p_int), .valid_o(), .y_o(p_float));
  hd_fp_cvt #(.LANES(LANES)) u_q (
      .clk_i, .rst_ni, .en_i(v1_q && op1_q == RES_ADD), .op_i(I2F), .a_i(q_int), .valid_o(),
      .y_o(q_float));
  always_ff @(posedge clk_i) begin
    if (v2_q && op2_q == RES_ADD) q3_q <= q_float;
  end

  // 3: A
  logic [32*LANES-1:0] a_b, a_y;
  always_comb begin
    a_b = '0;
    if (v2_q) a_b = !op2_q[1] ? scale2_q : {LANES{op2_q == RES_ADD ? b2_q : a2_q}};
  end
  hd_fp_fma #(.LANES(LANES), .CUT(1'b0)) u_a (
      .clk_i, .rst_ni, .en_i(v2_q), .op_i(op2_q == RES_ADD ? FMA : MUL), .a_i(p_float), .b_i(a_b),
      .c_i({LANES{k2_q}}), .valid_o(), .y_o(a_y));

  // 4: B
  logic [32*LANES-1:0] b_a, b_b;
  always_comb begin
    b_a = '0;
    b_b = '0;
    if (v3_q) begin
      b_a = op3_q == RES_ADD ? q3_q : a_y;
      case (op3_q)
        F32: b_b = {LANES{32'h80000000}};
        F32_BIAS: b_b = bias3_q;
        RES_ADD: b_b = {LANES{a3_q}};
        default: b_b = {LANES{k3_q}};
      endcase
    end
  end
  hd_fp_fma #(.LANES(LANES), .CUT(1'b0)) u_b (
      .clk_i, .rst_ni, .en_i(v3_q), .op_i(op3_q == RES_ADD ? FMA : ADD), .a_i(b_a), .b_i(b_b),
      .c_i(a_y), .valid_o(), .y_o(f_o));
  assign f_valid_o = v4_q && !res4_q;

  // 5: code
  hd_rso_lane #(.LANES(LANES)) u_rso (
      .clk_i, .rst_ni, .en_i(v4_q && res4_q), .v_i(f_o), .signed_i(out4_q[18]),
      .min_i(out4_q[17:9]), .max_i(out4_q[8:0]), .valid_o(code_valid_o), .y_o(code_o));
endmodule
