// SPDX-License-Identifier: Apache-2.0
// A FIFO whose two oldest entries are seen at once; 0, 1 or 2 of them leave per cycle.
//
// Behind a 1R1W RAM of DEPTH entries with registered output (load engine: 512 x 129 bits = 8.1 KiB)
// stand four registers, so that one entry per cycle goes through although the RAM takes a cycle:
// push in cycle t, at the head in t+3 if the FIFO was empty. taken_o: an entry left the RAM (its
// place is free); the sender counts places, push_i into a full RAM is not allowed. Never loses,
// repeats or reorders an entry (proved in rtl/formal for DEPTH = 4).
module hd_beat_fifo #(
    parameter int W = 129,
    parameter int DEPTH = 256
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         push_i,
    input  logic [W-1:0] data_i,
    output logic         taken_o,
    output logic [  1:0] count_o,  // entries at the head: 0, 1, 2 (or more)
    output logic [W-1:0] head0_o,
    output logic [W-1:0] head1_o,
    input  logic [  1:0] pop_i     // at most count_o
);
  localparam int PW = $clog2(DEPTH);
  logic [W-1:0] mem_q[0:DEPTH-1];
  logic [PW-1:0] wp_q, rp_q;
  logic [PW:0] level_q;  // in the RAM
  logic ahead_q;         // read last cycle: arrives now
  logic [W-1:0] read_q;
  logic [2:0] n_q;
  logic [W-1:0] h0_q, h1_q, h2_q, h3_q;

  logic issue;
  assign issue = (level_q != '0) && ({1'b0, n_q} + {3'd0, ahead_q} < 4'd4);
  assign taken_o = issue;
  assign count_o = (n_q >= 3'd2) ? 2'd2 : n_q[1:0];
  assign head0_o = h0_q;
  assign head1_o = h1_q;

  logic [2:0] stay;  // entries that stay at the head
  assign stay = n_q - {1'b0, pop_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wp_q <= '0;
      rp_q <= '0;
      level_q <= '0;
      ahead_q <= 1'b0;
      n_q <= 3'd0;
    end else begin
      if (push_i) wp_q <= wp_q + PW'(1);
      if (issue) rp_q <= rp_q + PW'(1);
      level_q <= level_q + {{PW{1'b0}}, push_i} - {{PW{1'b0}}, issue};
      ahead_q <= issue;
      n_q <= stay + {2'd0, ahead_q};
    end
    if (push_i) mem_q[wp_q] <= data_i;
    if (issue) read_q <= mem_q[rp_q];
    if (ahead_q || pop_i != 2'd0) begin
      if (ahead_q && stay == 3'd0) h0_q <= read_q;
      else if (pop_i == 2'd1) h0_q <= h1_q;
      else if (pop_i == 2'd2) h0_q <= h2_q;
      if (ahead_q && stay == 3'd1) h1_q <= read_q;
      else if (pop_i == 2'd1) h1_q <= h2_q;
      else if (pop_i == 2'd2) h1_q <= h3_q;
      if (ahead_q && stay == 3'd2) h2_q <= read_q;
      else if (pop_i == 2'd1) h2_q <= h3_q;
      if (ahead_q && stay == 3'd3) h3_q <= read_q;
    end
  end

`ifndef SYNTHESIS
  // The contract of the ports, and what the state never is.
  always_ff @(posedge clk_i)
    if (rst_ni && (push_i || ahead_q || n_q != 3'd0 || pop_i != 2'd0)) begin
      assert (!push_i || level_q != (PW + 1)'(DEPTH));
      assert (pop_i <= count_o);
      assert (n_q <= 3'd4);
    end
`endif
endmodule
