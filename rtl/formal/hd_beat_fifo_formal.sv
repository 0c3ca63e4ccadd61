// SPDX-License-Identifier: Apache-2.0
// hd_beat_fifo: with a sender that counts places and a receiver that takes at most what is shown,
// the heads are the oldest entries, in order, and nothing is lost or repeated: it agrees with a shift
// register. And whatever is in it is shown after three cycles.
module hd_beat_fifo_formal #(
    parameter int W = 2,
    parameter int DEPTH = 2
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         push_i,
    input logic [W-1:0] data_i,
    input logic [1:0]   pop_i
);
  localparam int ALL = DEPTH + 5;
  logic taken, push;
  logic [1:0] count, pop;
  logic [W-1:0] head0, head1;
  logic [2:0] places_q;
`ifdef BROKEN_CREDIT
  assign push = push_i;
`else
  assign push = push_i && places_q != 3'd0;
`endif
  assign pop = (pop_i > count) ? count : pop_i;

  hd_beat_fifo #(.W(W), .DEPTH(DEPTH)) dut (
      .clk_i, .rst_ni, .push_i(push), .data_i, .taken_o(taken), .count_o(count),
      .head0_o(head0), .head1_o(head1), .pop_i(pop)
  );

  logic [W*ALL-1:0] ref_q, shifted;
  logic [3:0] n_q, after;
  logic [1:0] still_q;  // cycles without any change, with entries inside
  assign shifted = ref_q >> (W * pop);
  assign after = n_q - {2'd0, pop};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      n_q <= 4'd0;
      places_q <= 3'(DEPTH);
      still_q <= 2'd0;
    end else begin
      n_q <= after + {3'd0, push};
      places_q <= places_q - {2'd0, push} + {2'd0, taken};
      still_q <= (push || pop != 2'd0) ? 2'd0 : (still_q == 2'd3) ? 2'd3 : still_q + 2'd1;
    end
    ref_q <= shifted;
    for (int i = 0; i < ALL; i++) begin
      if (push && (4'(i) == after)) ref_q[W*i +: W] <= data_i;
    end
  end

  logic past_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    if (!past_q) assume (!rst_ni);
    if (past_q) begin
      assert ({2'd0, count} <= n_q);
      if (count != 2'd0) assert (head0 == ref_q[W-1:0]);
      if (count == 2'd2) assert (head1 == ref_q[2*W-1:W]);
      if (still_q == 2'd3) assert (count == ((n_q >= 4'd2) ? 2'd2 : n_q[1:0]));
    end
    cover (past_q && n_q == 4'(DEPTH + 4));
    cover (past_q && count == 2'd2 && pop == 2'd2);
  end
endmodule
