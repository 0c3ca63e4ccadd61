// SPDX-License-Identifier: Apache-2.0
// hd_fifo: never more than DEPTH entries, level and flags are right, and entries leave in the
// order in which they came: at every cycle it agrees with a shift register that does the same.
module hd_fifo_formal #(
    parameter int W = 3,
    parameter int DEPTH = 4
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         clear_i,
    input logic         push_i,
    input logic [W-1:0] data_i,
    input logic         pop_i
);
  localparam int LW = $clog2(DEPTH) + 1;
  logic full, valid;
  logic [W-1:0] head;
  logic [LW-1:0] level;
  logic push, pop;
`ifdef BROKEN_OVERFLOW
  assign push = push_i;
`else
  assign push = push_i && !full;
`endif
  assign pop = pop_i && valid;

  hd_fifo #(.W(W), .DEPTH(DEPTH)) dut (
      .clk_i, .rst_ni, .clear_i,
      .push_i(push), .data_i(data_i), .full_o(full),
      .valid_o(valid), .data_o(head), .pop_i(pop), .level_o(level)
  );

  // The reference: a shift register, entry 0 the oldest.
  logic [W*DEPTH-1:0] ref_q;
  logic [LW-1:0] count_q;
  logic [W*DEPTH-1:0] shifted;
  logic [LW-1:0] after;
  assign shifted = pop ? (ref_q >> W) : ref_q;
  assign after = count_q - {{(LW - 1){1'b0}}, pop};
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) count_q <= '0;
    else count_q <= after + {{(LW - 1){1'b0}}, push};
    ref_q <= shifted;
    for (int i = 0; i < DEPTH; i++) begin
      if (push && (LW'(i) == after)) ref_q[W*i +: W] <= data_i;
    end
  end

  logic past_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    if (!past_q) assume (!rst_ni);
    if (past_q) begin
      assert (level == count_q);
      assert (level <= LW'(DEPTH));
      assert (full == (count_q == LW'(DEPTH)));
      assert (valid == (count_q != '0));
      if (valid) assert (head == ref_q[W-1:0]);
    end
    cover (past_q && full);
  end
endmodule
