// SPDX-License-Identifier: Apache-2.0
// Hands matrix commands to the units of the engine, two in flight.
//
// Every unit (row ports, sequencer, weight reader, weight loader, writer) walks the loop nest of a
// command on its own and moves to the next command when it is done, so the weight reader is already
// in command n+1 while the writer is still in n. A command sits in one of two slots until every
// unit
// has taken its copy.
//   avail_o[u]  unit u may take the slot sel_o[u] in this cycle
//   take_i[u]   unit u takes it at the end of this cycle
// A command with barrier set is held back from the readers (row ports, weight reader) until the
// writer has finished all earlier commands; since banks serve grants in order, "granted" is
// "visible".
module hd_cmd_dispatch #(
    parameter int C = 16,
    parameter int K = 16,
    parameter int UNITS = 8,
    parameter int WRITER = 7,                      // index of the writer
    parameter logic [UNITS-1:0] READERS = 8'h1f    // units that read operands from SRAM
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 valid_i,
    output logic                 ready_o,
    input  hd_matrix_pkg::mcmd_t cmd_i,
    output hd_matrix_pkg::mcmd_t cmd0_o,
    output hd_matrix_pkg::spike_der_t der0_o,
    output hd_matrix_pkg::mcmd_t cmd1_o,
    output hd_matrix_pkg::spike_der_t der1_o,
    output logic [UNITS-1:0]     avail_o,
    output logic [UNITS-1:0]     sel_o,
    input  logic [UNITS-1:0]     take_i,
    input  logic                 writer_busy_i,
    output logic                 idle_o
);
  hd_matrix_pkg::mcmd_t cmd0_q, cmd1_q;
  hd_matrix_pkg::spike_der_t der, der0_q, der1_q;
  logic [UNITS-1:0] pend0_q, pend1_q, sel_q;
  logic wsel_q;

  hd_matrix_decode #(
      .C(C),
      .K(K)
  ) u_decode (.cmd_i(cmd_i), .der_o(der));

  logic quiet0, quiet1;
  assign quiet0 = !pend0_q[WRITER] || (!writer_busy_i && !sel_q[WRITER]);
  assign quiet1 = !pend1_q[WRITER] || (!writer_busy_i && sel_q[WRITER]);
  logic [UNITS-1:0] block0, block1;
  assign block0 = (cmd0_q.barrier && !quiet0) ? READERS : '0;
  assign block1 = (cmd1_q.barrier && !quiet1) ? READERS : '0;
  assign avail_o = (sel_q & pend1_q & ~block1) | (~sel_q & pend0_q & ~block0);
  assign sel_o = sel_q;
  assign ready_o = wsel_q ? (pend1_q == '0) : (pend0_q == '0);
  assign idle_o = (pend0_q == '0) && (pend1_q == '0);
  assign cmd0_o = cmd0_q;
  assign cmd1_o = cmd1_q;
  assign der0_o = der0_q;
  assign der1_o = der1_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pend0_q <= '0;
      pend1_q <= '0;
      sel_q <= '0;
      wsel_q <= 1'b0;
    end else begin
      sel_q <= sel_q ^ take_i;
      pend0_q <= pend0_q & ~(take_i & ~sel_q);
      pend1_q <= pend1_q & ~(take_i & sel_q);
      if (valid_i && ready_o) begin
        wsel_q <= !wsel_q;
        if (wsel_q) pend1_q <= '1;
        else pend0_q <= '1;
      end
    end
    if (valid_i && ready_o && !wsel_q) begin
      cmd0_q <= cmd_i;
      der0_q <= der;
    end
    if (valid_i && ready_o && wsel_q) begin
      cmd1_q <= cmd_i;
      der1_q <= der;
    end
  end
endmodule
