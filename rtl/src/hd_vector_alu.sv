// SPDX-License-Identifier: Apache-2.0
// Every micro-instruction of ISA.md on 16 lanes: the lane ALU, and the h operations by passes
// through it. op_i is the code, operands that an operation does not take are ignored.
//
// Pipeline: operands are taken with en_i (only while ready_o) in cycle 0. valid_o is set for one
// cycle, in which y_o holds the result (otherwise zero): in cycle 1; h operations in cycle 4; fdiv
// and fsqrt in cycle 29. Results come in the order of the operations, at most one per cycle;
// ready_o is set again in the cycle of the result.
module hd_vector_alu (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         en_i,
    input  logic [7:0]   op_i,
    input  logic [511:0] a_i,
    input  logic [511:0] b_i,
    input  logic [511:0] c_i,
    output logic         ready_o,
    output logic         valid_o,
    output logic [511:0] y_o
);
  logic take, is_h, h_ready, h_done, h_busy_q;
  logic [31:0] h_y;
  logic alu_ready, alu_valid, red_en;
  logic [7:0] red_op;
  logic [255:0] red_a, red_b;
  logic [511:0] alu_a, alu_b, alu_c, alu_y;

  assign ready_o = alu_ready && h_ready;
  assign take = en_i && ready_o;
  assign is_h = take && op_i >= heddle_pkg::UOP_HSUM && op_i <= heddle_pkg::UOP_HIMIN;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) h_busy_q <= 1'b0;
    else if (is_h) h_busy_q <= 1'b1;
    else if (h_done) h_busy_q <= 1'b0;
  end

  hd_fp_reduce u_reduce (
      .clk_i, .rst_ni, .start_i(is_h), .op_i, .x_i(a_i), .ready_o(h_ready), .done_o(h_done),
      .y_o(h_y), .alu_en_o(red_en), .alu_op_o(red_op), .alu_a_o(red_a), .alu_b_o(red_b),
      .alu_valid_i(alu_valid && h_busy_q), .alu_y_i(alu_y[255:0]));

  always_comb begin
    alu_a = '0;
    alu_b = '0;
    alu_c = '0;
    if (red_en) begin
      alu_a[255:0] = red_a;
      alu_b[255:0] = red_b;
    end else if (take) begin
      alu_a = a_i;
      alu_b = b_i;
      alu_c = c_i;
    end
  end
  hd_lane_alu #(.LANES(16)) u_alu (
      .clk_i, .rst_ni, .en_i(take || red_en), .op_i(red_en ? red_op : op_i), .a_i(alu_a),
      .b_i(alu_b), .c_i(alu_c), .ready_o(alu_ready), .valid_o(alu_valid), .y_o(alu_y));

  assign valid_o = h_busy_q ? h_done : alu_valid;
  always_comb begin
    y_o = '0;
    if (h_done) y_o = {16{h_y}};
    else if (!h_busy_q && alu_valid) y_o = alu_y;
  end
endmodule
