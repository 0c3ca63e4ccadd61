// SPDX-License-Identifier: Apache-2.0
// The float lanes of the output stage (hd_float_lane), shared by f32 outputs, which come from the
// accumulators, and the residual stage, which comes behind the table; one vector per cycle.
//
// Both never come in the same cycle: the stage issues no f32 vector while a residual vector is
// between issue and here. Codes of commands without residual pass by the lanes, but not by a vector
// in them: codes leave in the order in which they came.
//   f32_valid_i, acc_i, bias_i, scale_i in cycle 0: float_o with float_valid_o in FLOAT_CYCLES
//   valid_i, code_i, res_i (the vector's residual, taken by pop_o) in cycle 0: code_o in
//     RESIDUAL_CYCLES, of a command without residual in cycle 1 to RESIDUAL_CYCLES
// On-chip memory: 17 x (8 * K + 1) bits.
module hd_out_float #(
    parameter int K = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    output logic                clk_req_o,       // clk_i is needed
    input  logic                lane_clk_i,   // clk_i, needed when lane_clk_req_o
    output logic                lane_clk_req_o,
    // f32 outputs
    input  logic                f32_valid_i,
    input  logic                bias_f32_i,
    input  logic [32*K-1:0]     acc_i,
    input  logic [32*K-1:0]     bias_i,
    input  logic [32*K-1:0]     scale_i,
    output logic                float_valid_o,
    output logic [32*K-1:0]     float_o,
    // codes
    input  logic                valid_i,
    input  hd_output_pkg::s2c_t c_i,
    input  logic [8*K-1:0]      code_i,
    input  logic [8*K-1:0]      res_i,
    output logic                pop_o,
    output logic                valid_o,
    output logic [8*K-1:0]      code_o
);
  localparam int N = hd_output_pkg::RESIDUAL_CYCLES;
  localparam [1:0] F32 = 2'd0, F32_BIAS = 2'd1, RES_ADD = 2'd2, RES_MUL = 2'd3;
  logic has;
  logic [1:0] op;
  assign has = c_i.op != heddle_pkg::RESIDUAL_OP_NONE;
  assign pop_o = valid_i && has;
  always_comb begin
    if (f32_valid_i) op = bias_f32_i ? F32_BIAS : F32;
    else op = (c_i.op == heddle_pkg::RESIDUAL_OP_ADD) ? RES_ADD : RES_MUL;
  end

  logic lane_valid;
  logic [8*K-1:0] lane_code;
  logic [N:0] moves_q;
  hd_float_lane #(
      .LANES(K)
  ) u_lanes (
      .clk_i       (lane_clk_i),
      .rst_ni      (rst_ni),
      .en_i        (f32_valid_i || pop_o),
      .op_i        (op),
      .acc_i       (acc_i),
      .bias_i      (bias_i),
      .scale_i     (scale_i),
      .x_i         (code_i),
      .r_i         (res_i),
      .out_signed_i(c_i.sgn),
      .res_signed_i(c_i.res_signed),
      .res_first_i (c_i.res_first),
      .mid_zero_i  (c_i.mid_zero),
      .res_zero_i  (c_i.res_zero),
      .res_a_i     (c_i.a),
      .res_b_i     (c_i.b),
      .res_k_i     (c_i.k),
      .res_min_i   (c_i.lo),
      .res_max_i   (c_i.hi),
      .f_valid_o   (float_valid_o),
      .f_o         (float_o),
      .code_valid_o(lane_valid),
      .code_o      (lane_code)
  );

  // The order: vectors that are in the lanes, and the codes that pass. A vector has as many places as
  // come until it leaves, itself included: at most N + 1.
  logic waits, in_lanes;
  logic [8*K-1:0] passes;
  hd_fifo #(
      .W    (8 * K + 1),
      .DEPTH(16)
  ) u_order (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .push_i (valid_i),
      .data_i ({has, code_i}),
      .full_o (),
      .valid_o(waits),
      .data_o ({in_lanes, passes}),
      .pop_i  (valid_o),
      .level_o()
  );
  assign valid_o = waits && (!in_lanes || lane_valid);
  assign code_o = in_lanes ? lane_code : passes;
`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni && lane_valid) assert (waits && in_lanes);
`endif

  // A vector is in the lanes for N cycles; they need one more to become empty.
  logic enter;
  assign enter = f32_valid_i || pop_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) moves_q <= '0;
    else moves_q <= {moves_q[N-1:0], enter};
  end
  assign lane_clk_req_o = !rst_ni || enter || (moves_q != '0);
  assign clk_req_o = lane_clk_req_o || valid_i || waits;
endmodule
