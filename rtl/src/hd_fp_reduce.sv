// SPDX-License-Identifier: Apache-2.0
// The h operations: reduction of 16 lanes by the tree of ISA.md, lane l with lane l xor 8, then xor
// 4, 2, 1, the lower lane as first operand. This unit holds the partial results and names the
// operations; the arithmetic is done by the lane ALU, so that no adder is built twice.
//
//   hsum hmax hmin hisum himax himin   ->   fadd fmax fmin iadd imax imin
//
// All lanes of a pair get the same result, so one half of the lanes need be kept after each step,
// and the final y_o is one number, the result in every lane.
//
// Pipeline: start_i with op_i and x_i (only while ready_o). In the same cycle and after each answer
// alu_en_o asks for an operation of the pairs, which stand in the low lanes of alu_a_o and alu_b_o
// (the other lanes: zero); the answer is alu_y_i with alu_valid_i, whatever the ALU's latency. The
// fourth answer gives done_o and y_o, in the same cycle, and ready_o. With the ALU's one cycle:
// done_o in cycle 4. alu_y_i's lanes 8 to 15 are not used.
module hd_fp_reduce (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         start_i,
    input  logic [7:0]   op_i,
    input  logic [511:0] x_i,
    output logic         ready_o,
    output logic         done_o,
    output logic [31:0]  y_o,
    output logic         alu_en_o,
    output logic [7:0]   alu_op_o,
    output logic [255:0] alu_a_o,
    output logic [255:0] alu_b_o,
    input  logic         alu_valid_i,
    input  logic [255:0] alu_y_i
);
  logic [2:0] step_q;  // operations asked for and not answered, counted from 1; 0 idle
  logic [7:0] op_q, lane_op;
  logic last, start;
  assign last = step_q == 3'd4 && alu_valid_i;
  assign ready_o = step_q == 3'd0 || last;
  assign start = start_i && ready_o;
  assign done_o = last;
  assign y_o = last ? alu_y_i[31:0] : 32'd0;

  always_comb begin
    case (op_i)
      heddle_pkg::UOP_HSUM: lane_op = heddle_pkg::UOP_FADD;
      heddle_pkg::UOP_HMAX: lane_op = heddle_pkg::UOP_FMAX;
      heddle_pkg::UOP_HMIN: lane_op = heddle_pkg::UOP_FMIN;
      heddle_pkg::UOP_HISUM: lane_op = heddle_pkg::UOP_IADD;
      heddle_pkg::UOP_HIMAX: lane_op = heddle_pkg::UOP_IMAX;
      default: lane_op = heddle_pkg::UOP_IMIN;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) step_q <= 3'd0;
    else if (start) step_q <= 3'd1;
    else if (last) step_q <= 3'd0;
    else if (alu_valid_i && step_q != 3'd0) step_q <= step_q + 3'd1;
    if (start) op_q <= lane_op;
  end

  always_comb begin
    alu_en_o = 1'b0;
    alu_op_o = op_q;
    alu_a_o = '0;
    alu_b_o = '0;
    if (start) begin
      alu_en_o = 1'b1;
      alu_op_o = lane_op;
      alu_a_o = x_i[255:0];
      alu_b_o = x_i[511:256];
    end else if (step_q != 3'd0 && alu_valid_i) begin
      alu_en_o = !last;
      case (step_q)
        3'd1: begin
          alu_a_o[127:0] = alu_y_i[127:0];
          alu_b_o[127:0] = alu_y_i[255:128];
        end
        3'd2: begin
          alu_a_o[63:0] = alu_y_i[63:0];
          alu_b_o[63:0] = alu_y_i[127:64];
        end
        default: begin
          alu_a_o[31:0] = alu_y_i[31:0];
          alu_b_o[31:0] = alu_y_i[63:32];
        end
      endcase
    end
  end
endmodule
