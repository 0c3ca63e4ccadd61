// SPDX-License-Identifier: Apache-2.0
// Counts the vectors of commands: which command the next vector belongs to. Commands come in by
// new_i, in order, and are numbered modulo ENTRIES; step_i is one vector. valid_o: the command of
// the next vector is known, it is tag_o. Commands without vectors are passed, one per cycle.
module hd_out_count (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        new_i,
    input  logic        novec_i,
    input  logic [44:0] vectors_i,
    input  logic        step_i,
    output logic        valid_o,
    output logic [1:0]  tag_o
);
  localparam int E = hd_output_pkg::ENTRIES;
  logic [44:0] vectors_q [0:E-1];
  logic [E-1:0] novec_q;
  logic [2:0] n_q;         // commands not begun
  logic [1:0] wp_q, rp_q;  // number of the next to come, of the next to begin
  logic valid_q, begin_, skip;
  logic [1:0] tag_q;
  logic [44:0] left_q;
  assign valid_o = valid_q;
  assign tag_o = tag_q;
  assign skip = n_q != 3'd0 && novec_q[rp_q] && !valid_q;
  assign begin_ = n_q != 3'd0 && !novec_q[rp_q] && (!valid_q || (step_i && left_q == 45'd1));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      n_q <= 3'd0;
      wp_q <= 2'd0;
      rp_q <= 2'd0;
      valid_q <= 1'b0;
    end else begin
      n_q <= n_q + {2'd0, new_i} - {2'd0, begin_ || skip};
      if (new_i) begin
        wp_q <= wp_q + 2'd1;
        novec_q[wp_q] <= novec_i;
      end
      if (begin_ || skip) rp_q <= rp_q + 2'd1;
      if (begin_) valid_q <= 1'b1;
      else if (step_i && left_q == 45'd1) valid_q <= 1'b0;
    end
    if (new_i) vectors_q[wp_q] <= vectors_i;
    if (begin_) begin
      tag_q <= rp_q;
      left_q <= vectors_q[rp_q];
    end else if (step_i) begin
      left_q <= left_q - 45'd1;
    end
  end
endmodule
