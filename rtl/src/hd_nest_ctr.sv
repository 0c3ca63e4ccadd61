// SPDX-License-Identifier: Apache-2.0
// Outer loops of a command (hd_matrix_pkg::mder_t): row stripes, column chunks, blocks of output
// channels. restart_i goes to the first combination, adv_i (the block is done in this stripe and
// chunk) to the next.
//   rows_o, cols_o        size of the present stripe and chunk (registers)
//   *_inc_o, *_wrap_o     combinational: what adv_i will do; wrap = back to the first
//   done_o                the present combination is the last
module hd_nest_ctr (
    input  logic                 clk_i,
    input  logic [15:0]          out_rows_i,
    input  logic [15:0]          ow_i,
    input  hd_matrix_pkg::mder_t der_i,
    input  logic                 restart_i,
    input  logic                 adv_i,
    output logic [15:0]          rows_o,
    output logic [15:0]          cols_o,
    output logic [15:0]          cob_o,
    output logic                 xlast_o,      // the last chunk
    output logic                 cob_inc_o,
    output logic                 cob_wrap_o,
    output logic                 chunk_inc_o,
    output logic                 chunk_wrap_o,
    output logic                 stripe_inc_o,
    output logic                 stripe_wrap_o,
    output logic                 done_o
);
  logic [15:0] left_q, xleft_q, cob_q, rows_q, cols_q;
  logic yl_q, xl_q, cl_q;  // last stripe, chunk, block
  logic outer;
  assign outer = der_i.cob_outer;
  assign chunk_inc_o = outer || cl_q;
  assign stripe_inc_o = chunk_inc_o && xl_q;
  assign cob_inc_o = !outer || (xl_q && yl_q);
  assign chunk_wrap_o = chunk_inc_o && xl_q;
  assign stripe_wrap_o = stripe_inc_o && yl_q;
  assign cob_wrap_o = cob_inc_o && cl_q;
  assign done_o = xl_q && yl_q && cl_q;
  assign rows_o = rows_q;
  assign cols_o = cols_q;
  assign cob_o = cob_q;
  assign xlast_o = xl_q;

  // verilator lint_off BLKSEQ
  // Reason: temporary values of the clocked process, set before they are read.
  always_ff @(posedge clk_i) begin : next
    logic [15:0] left, xleft, cob;
    if (restart_i || adv_i) begin
      left = left_q;
      xleft = xleft_q;
      cob = cob_q;
      if (restart_i) begin
        left = out_rows_i;
        xleft = ow_i;
        cob = 16'd0;
      end else begin
        if (cob_inc_o) cob = cl_q ? 16'd0 : cob_q + 16'd1;
        if (chunk_inc_o) xleft = xl_q ? ow_i : xleft_q - der_i.scols;
        if (stripe_inc_o) left = yl_q ? out_rows_i : left_q - der_i.srows;
      end
      left_q <= left;
      xleft_q <= xleft;
      cob_q <= cob;
      rows_q <= (left < der_i.srows) ? left : der_i.srows;
      cols_q <= (xleft < der_i.scols) ? xleft : der_i.scols;
      yl_q <= (left <= der_i.srows);
      xl_q <= (xleft <= der_i.scols);
      cl_q <= (cob + 16'd1 == der_i.cobs);
    end
  end
  // verilator lint_on BLKSEQ
endmodule
