// SPDX-License-Identifier: Apache-2.0
// ALU of LANES lanes for every micro-instruction of ISA.md but the h operations: op_i is the code
// (heddle_pkg::UOP_*), a_i, b_i, c_i its operands; operands that an operation does not take are
// ignored. An unknown code gives zero.
//
// Pipeline: operands are taken with en_i (only while ready_o) in cycle 0. valid_o is set for one
// cycle, in which y_o holds the result (otherwise zero): in cycle 4, for fdiv and fsqrt in cycle
// 32, for idiv and idivu in cycle 38. soon_o is set three cycles before it. ready_o is clear from
// cycle 1 to soon_o of these, so results come in order, at most one per cycle. next_o: ready_o will
// be set in the next cycle. Each unit has operand registers of its own and stays quiet unless the
// operation is its own. hd_fp_fma takes four cycles; what the others have after one, or after their
// iterations, waits in registers.
module hd_lane_alu #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                en_i,
    input  logic [7:0]          op_i,
    input  logic [32*LANES-1:0] a_i,
    input  logic [32*LANES-1:0] b_i,
    input  logic [32*LANES-1:0] c_i,
    output logic                ready_o,
    output logic                next_o,
    output logic                soon_o,
    output logic                valid_o,
    output logic [32*LANES-1:0] y_o
);
  logic take, is_fma, is_cmp, is_cvt, is_iter, is_int;
  logic [1:0] fma_op, iter_op;
  logic [2:0] cmp_op, cvt_op;
  assign take = en_i && ready_o;
  always_comb begin
    is_fma = 1'b0;
    is_cmp = 1'b0;
    is_cvt = 1'b0;
    is_iter = 1'b0;
    is_int = 1'b0;
    fma_op = 2'd0;
    cmp_op = 3'd0;
    cvt_op = 3'd0;
    iter_op = 2'd0;
    if (take) begin
      case (op_i)
        heddle_pkg::UOP_FFMA: is_fma = 1'b1;
        heddle_pkg::UOP_FADD: begin is_fma = 1'b1; fma_op = 2'd1; end
        heddle_pkg::UOP_FSUB: begin is_fma = 1'b1; fma_op = 2'd2; end
        heddle_pkg::UOP_FMUL: begin is_fma = 1'b1; fma_op = 2'd3; end
        heddle_pkg::UOP_FMIN: is_cmp = 1'b1;
        heddle_pkg::UOP_FMAX: begin is_cmp = 1'b1; cmp_op = 3'd1; end
        heddle_pkg::UOP_FLT: begin is_cmp = 1'b1; cmp_op = 3'd2; end
        heddle_pkg::UOP_FLE: begin is_cmp = 1'b1; cmp_op = 3'd3; end
        heddle_pkg::UOP_FEQ: begin is_cmp = 1'b1; cmp_op = 3'd4; end
        heddle_pkg::UOP_F2I: is_cvt = 1'b1;
        heddle_pkg::UOP_F2I_TRUNC: begin is_cvt = 1'b1; cvt_op = 3'd1; end
        heddle_pkg::UOP_I2F: begin is_cvt = 1'b1; cvt_op = 3'd2; end
        heddle_pkg::UOP_RHALF: begin is_cvt = 1'b1; cvt_op = 3'd3; end
        heddle_pkg::UOP_RBF: begin is_cvt = 1'b1; cvt_op = 3'd4; end
        heddle_pkg::UOP_FDIV: is_iter = 1'b1;
        heddle_pkg::UOP_FSQRT: begin is_iter = 1'b1; iter_op = 2'd1; end
        heddle_pkg::UOP_IDIV: begin is_iter = 1'b1; iter_op = 2'd2; end
        heddle_pkg::UOP_IDIVU: begin is_iter = 1'b1; iter_op = 2'd3; end
        default: is_int = 1'b1;
      endcase
    end
  end

  logic fma_valid, cmp_valid, cvt_valid, int_valid, iter_last, iter_done;
  logic [32*LANES-1:0] fma_y, cmp_y, cvt_y, int_y, iter_y;
  hd_fp_fma #(.LANES(LANES)) u_fma (
      .clk_i, .rst_ni, .en_i(is_fma), .op_i(fma_op), .a_i, .b_i, .c_i, .valid_o(fma_valid),
      .y_o(fma_y));
  hd_fp_cmp #(.LANES(LANES)) u_cmp (
      .clk_i, .rst_ni, .en_i(is_cmp), .op_i(cmp_op), .a_i, .b_i, .valid_o(cmp_valid), .y_o(cmp_y));
  hd_fp_cvt #(.LANES(LANES)) u_cvt (
      .clk_i, .rst_ni, .en_i(is_cvt), .op_i(cvt_op), .a_i, .valid_o(cvt_valid), .y_o(cvt_y));
  hd_int_lane #(.LANES(LANES)) u_int (
      .clk_i, .rst_ni, .en_i(is_int), .op_i, .a_i, .b_i, .c_i, .valid_o(int_valid), .y_o(int_y));
  hd_fp_divsqrt #(.LANES(LANES)) u_iter (
      .clk_i, .rst_ni, .start_i(is_iter), .op_i(iter_op), .a_i, .b_i, .ready_o,
      .last_o(iter_last), .done_o(iter_done), .y_o(iter_y));

  assign next_o = (ready_o && !is_iter) || iter_last;

  // At most one of them.
  logic short_valid;
  logic [32*LANES-1:0] short_y;
  assign short_valid = int_valid || cmp_valid || cvt_valid || iter_done;
  always_comb begin
    short_y = '0;
    if (int_valid) short_y = int_y;
    else if (cmp_valid) short_y = cmp_y;
    else if (cvt_valid) short_y = cvt_y;
    else if (iter_done) short_y = iter_y;
  end
  logic [3:1] v_q;
  logic [32*LANES-1:0] y1_q, y2_q, y3_q;
  logic fma1_q;  // hd_fp_fma is in its first step
  always_ff @(posedge clk_i) begin
    fma1_q <= rst_ni && is_fma;
    v_q <= {v_q[2:1], short_valid} & {3{rst_ni}};
    if (short_valid) y1_q <= short_y;
    if (v_q[1]) y2_q <= y1_q;
    if (v_q[2]) y3_q <= y2_q;
  end
  assign soon_o = fma1_q || short_valid;
  assign valid_o = fma_valid || v_q[3];
  always_comb begin
    y_o = '0;
    if (fma_valid) y_o = fma_y;
    else if (v_q[3]) y_o = y3_q;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni) assert (!(fma_valid && v_q[3]));
`endif
endmodule
