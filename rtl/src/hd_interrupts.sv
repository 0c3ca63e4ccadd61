// SPDX-License-Identifier: Apache-2.0
// INT_STATUS and INT_ENABLE, and one interrupt request to the outside for each event.
//
// Every event sets its bit of INT_STATUS and, if the bit is enabled, asks for one interrupt of the
// vector of its number, also when the bit was set before: a driver that clears the bit first and
// looks for work then misses nothing. Enabling a bit that is set asks for one as well. Masking,
// pending bits and messages of MSI-X and MSI are outside.
//
// Three sources may raise bits in the same cycle (jobs, register writes, device memory); each
// counts. Requests wait in a counter per vector (255 at most, then they merge: the outside takes
// one per cycle) and leave lowest vector first. A bit that is raised and acknowledged in the same
// cycle stays set.
//
//   cycle t: event | t+1: status_o, irq_valid_o
module hd_interrupts #(
    localparam int N = heddle_pkg::INTERRUPT_VECTORS
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,      // everything to zero, waiting requests too
    input  logic [N-1:0] raise_jobs_i,
    input  logic [N-1:0] raise_write_i,
    input  logic [N-1:0] raise_memory_i,
    input  logic [N-1:0] ack_i,        // bits written to INT_STATUS
    input  logic         enable_we_i,
    input  logic [N-1:0] enable_i,     // value written to INT_ENABLE
    output logic [N-1:0] status_o,
    output logic         irq_valid_o,
    output logic [1:0]   irq_vector_o,
    input  logic         irq_ready_i
);
  logic [N-1:0] status_q, enabled_q, fresh, raised;
  logic [7:0] waiting_q[0:N-1];

  assign raised = raise_jobs_i | raise_write_i | raise_memory_i;
  assign fresh = enable_we_i ? enable_i & ~enabled_q & status_q : '0;
  assign status_o = status_q;

  always_comb begin
    irq_valid_o  = 1'b0;
    irq_vector_o = 2'd0;
    for (int v = N - 1; v >= 0; v--) begin
      if (waiting_q[v] != 8'd0) begin
        irq_valid_o  = 1'b1;
        irq_vector_o = 2'(v);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      status_q  <= '0;
      enabled_q <= '0;
    end else begin
      status_q <= (status_q & ~ack_i) | raised;
      if (enable_we_i) enabled_q <= enable_i;
    end
  end

  for (genvar v = 0; v < N; v++) begin : g_vector
    logic [9:0] more, next;
    assign more = {9'd0, raise_jobs_i[v] && enabled_q[v]} + {9'd0, raise_write_i[v] && enabled_q[v]}
        + {9'd0, raise_memory_i[v] && enabled_q[v]} + {9'd0, fresh[v]};
    assign next = {2'd0, waiting_q[v]} + more
        - {9'd0, irq_valid_o && irq_ready_i && irq_vector_o == 2'(v)};
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_i) waiting_q[v] <= 8'd0;
      else waiting_q[v] <= (next > 10'd255) ? 8'd255 : next[7:0];
    end
  end
endmodule
