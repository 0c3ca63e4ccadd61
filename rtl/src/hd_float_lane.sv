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
//   0  inputs, acc + bias        3 to 6   A
//   1  P                         7 to 10  B, f_o with f_valid_o
//   2  integer to float          11       round, saturate, clamp, code_o with code_valid_o
//
// On-chip memory: 4 x (32 * LANES + 85) and 4 x 20 bits.
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

  // Valid bits and settings of the vector in cycles 1 and 2.
  logic v1_q, v2_q;
  logic [1:0] op1_q, op2_q;
  logic first1_q;
  logic [8:0] mid1_q, zero1_q;
  logic [31:0] a1_q, a2_q, b1_q, b2_q, k1_q, k2_q;
  logic [18:0] out1_q, out2_q;
  // Scale until A, bias until B.
  logic [32*LANES-1:0] scale1_q, scale2_q, bias1_q, bias2_q;
  always_ff @(posedge clk_i) begin
    v1_q <= rst_ni && en_i;
    v2_q <= rst_ni && v1_q;
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
  logic [32*LANES-1:0] p_float, q_float;
  hd_fp_cvt #(.LANES(LANES)) u_p (
      .clk_i, .rst_ni, .en_i(v1_q), .op_i(I2F), .a_i(p_int), .valid_o(), .y_o(p_float));
  hd_fp_cvt #(.LANES(LANES)) u_q (
      .clk_i, .rst_ni, .en_i(v1_q && op1_q == RES_ADD), .op_i(I2F), .a_i(q_int), .valid_o(),
      .y_o(q_float));

  // 3 to 6: A
  logic a_valid;
  logic [32*LANES-1:0] a_b, a_y;
  always_comb begin
    a_b = '0;
    if (v2_q) a_b = !op2_q[1] ? scale2_q : {LANES{op2_q == RES_ADD ? b2_q : a2_q}};
  end
  hd_fp_fma #(.LANES(LANES)) u_a (
      .clk_i, .rst_ni, .en_i(v2_q), .op_i(op2_q == RES_ADD ? FMA : MUL), .a_i(p_float), .b_i(a_b),
      .c_i({LANES{k2_q}}), .valid_o(a_valid), .y_o(a_y));

  // Meanwhile, in rings with a place for each vector in A or B: what B takes beside A's result, bias or
  // the first operand of the addition, and the settings.
  logic [32*LANES-1:0] operand_q [0:3];
  logic [84:0] setting_q [0:3];
  logic [19:0] last_q [0:3];
  logic [1:0] a_wp_q, b_wp_q, out_rp_q;  // the last two are where A's and B's results have theirs
  logic b_valid, b_res;
  logic [1:0] b_op;
  logic [31:0] b_scale, b_k;
  logic [18:0] b_out, out;
  logic [32*LANES-1:0] operand;
  assign operand = operand_q[b_wp_q];
  assign {b_op, b_scale, b_k, b_out} = setting_q[b_wp_q];
  assign {b_res, out} = last_q[out_rp_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_wp_q <= '0;
      b_wp_q <= '0;
      out_rp_q <= '0;
    end else begin
      if (v2_q) a_wp_q <= a_wp_q + 2'd1;
      if (a_valid) b_wp_q <= b_wp_q + 2'd1;
      if (b_valid) out_rp_q <= out_rp_q + 2'd1;
    end
    if (v2_q) begin
      operand_q[a_wp_q] <= op2_q == RES_ADD ? q_float : bias2_q;
      setting_q[a_wp_q] <= {op2_q, a2_q, k2_q, out2_q};
    end
    if (a_valid) last_q[b_wp_q] <= {b_op[1], b_out};
  end

  // 7 to 10: B
  logic [32*LANES-1:0] b_a, b_b;
  always_comb begin
    b_a = '0;
    b_b = '0;
    if (a_valid) begin
      b_a = b_op == RES_ADD ? operand : a_y;
      case (b_op)
        F32: b_b = {LANES{32'h80000000}};
        F32_BIAS: b_b = operand;
        RES_ADD: b_b = {LANES{b_scale}};
        default: b_b = {LANES{b_k}};
      endcase
    end
  end
  hd_fp_fma #(.LANES(LANES)) u_b (
      .clk_i, .rst_ni, .en_i(a_valid), .op_i(b_op == RES_ADD ? FMA : ADD), .a_i(b_a), .b_i(b_b),
      .c_i(a_y), .valid_o(b_valid), .y_o(f_o));
  assign f_valid_o = b_valid && !b_res;

  // 11: code
  hd_rso_lane #(.LANES(LANES)) u_rso (
      .clk_i, .rst_ni, .en_i(b_valid && b_res), .v_i(f_o), .signed_i(out[18]),
      .min_i(out[17:9]), .max_i(out[8:0]), .valid_o(code_valid_o), .y_o(code_o));
endmodule
