// SPDX-License-Identifier: Apache-2.0
// One step of the output writer through the words of a command (combinational):
// for stripe: for block of output channels: for row: for column: for plane of the vector.
//   wpv_i         words per vector; block_step_i = wpv_i * oplane; stripe_step_i = srows * opitch
//   vec_o         the step leaves a vector behind
//   done_o        ... and the command
module hd_out_step (
    input  hd_matrix_pkg::mcmd_t cmd_i,
    input  logic [7:0]           wpv_i,
    input  logic [15:0]          block_step_i,
    input  logic [15:0]          stripe_step_i,
    input  hd_matrix_pkg::wpos_t pos_i,
    output hd_matrix_pkg::wpos_t pos_o,
    output logic                 vec_o,
    output logic                 done_o
);
  logic col_last, row_last, cob_last, stripe_last;
  logic [15:0] left_n, stripe_n;
  assign vec_o = (pos_i.blk + 8'd1 == wpv_i);
  assign col_last = (pos_i.x + 16'd1 == cmd_i.ow);
  assign row_last = (pos_i.srow == 16'd1);
  assign cob_last = (pos_i.cob + 8'd1 == cmd_i.cob);
  assign stripe_last = (pos_i.left <= cmd_i.srows);
  assign done_o = vec_o && col_last && row_last && cob_last && stripe_last;
  assign left_n = cob_last ? pos_i.left - cmd_i.srows : pos_i.left;
  assign stripe_n = cob_last ? pos_i.stripe_a + stripe_step_i : pos_i.stripe_a;
  always_comb begin
    pos_o = pos_i;
    if (!vec_o) begin
      pos_o.blk = pos_i.blk + 8'd1;
      pos_o.addr = pos_i.addr + cmd_i.oplane;
    end else begin
      pos_o.blk = 8'd0;
      if (!col_last) begin
        pos_o.x = pos_i.x + 16'd1;
        pos_o.pix_a = pos_i.pix_a + cmd_i.oxstep;
      end else begin
        pos_o.x = 16'd0;
        if (!row_last) begin
          pos_o.srow = pos_i.srow - 16'd1;
          pos_o.row_a = pos_i.row_a + cmd_i.opitch;
        end else begin
          pos_o.cob = cob_last ? 8'd0 : pos_i.cob + 8'd1;
          pos_o.left = left_n;
          pos_o.stripe_a = stripe_n;
          pos_o.block_a = cob_last ? stripe_n : pos_i.block_a + block_step_i;
          pos_o.srow = (left_n < cmd_i.srows) ? left_n : cmd_i.srows;
          pos_o.row_a = pos_o.block_a;
        end
        pos_o.pix_a = pos_o.row_a;
      end
      pos_o.addr = pos_o.pix_a;
    end
  end
endmodule
