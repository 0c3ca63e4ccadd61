// SPDX-License-Identifier: Apache-2.0
// FIFO with one write and one read port (memory of DEPTH entries, 1R1W) and a registered head.
//
//   cycle 0  push_i          -> head (FIFO empty, or its last entry is popped) or memory
//   cycle 1  valid_o, data_o    a pushed entry can be seen and popped one cycle later
//   pop_i    the next entry moves from memory to the head: no bubble
//
// push_i only when !full_o, pop_i only when valid_o. clear_i empties it. The head is a register so
// that a wide entry is copied once, not looked up in every cycle.
module hd_fifo #(
    parameter int W = 32,
    parameter int DEPTH = 8  // a power of two
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   clear_i,
    input  logic                   push_i,
    input  logic [W-1:0]           data_i,
    output logic                   full_o,
    output logic                   valid_o,
    output logic [W-1:0]           data_o,
    input  logic                   pop_i,
    output logic [$clog2(DEPTH):0] level_o
);
  localparam int PW = $clog2(DEPTH);

  logic [W-1:0] mem_q [0:DEPTH-1];
  logic [W-1:0] head_q;
  logic [PW-1:0] wp_q, rp_q;
  logic [PW:0] level_q;

  assign full_o = (level_q == (PW + 1)'(DEPTH));
  assign valid_o = (level_q != '0);
  assign data_o = head_q;
  assign level_o = level_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      wp_q <= '0;
      rp_q <= '0;
      level_q <= '0;
    end else if (push_i || pop_i) begin  // else nothing would change
`ifndef SYNTHESIS
      // The contract of the ports, and what the state never is.
      assert (!push_i || !full_o);
      assert (!pop_i || valid_o);
      assert (level_q <= (PW + 1)'(DEPTH));
`endif
      if (push_i) begin
        if ((level_q == '0) || (pop_i && (level_q == (PW + 1)'(1)))) begin
          head_q <= data_i;
        end else begin
          mem_q[wp_q] <= data_i;
          wp_q <= wp_q + PW'(1);
        end
      end
      if (pop_i && (level_q > (PW + 1)'(1))) begin
        head_q <= mem_q[rp_q];
        rp_q <= rp_q + PW'(1);
      end
      if (push_i && !pop_i) level_q <= level_q + (PW + 1)'(1);
      if (!push_i && pop_i) level_q <= level_q - (PW + 1)'(1);
    end
  end
endmodule
