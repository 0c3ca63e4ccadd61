// SPDX-License-Identifier: Apache-2.0
// Hands matrix commands to the units of the engine, two in flight.
//
// Every unit (row ports, sequencer, weight reader, weight loader, output stage) walks the loop nest
// of a command on its own and moves to the next command when it is done, so the weight reader is
// already in command n+1 while the output stage is still in n. A command sits in one of two slots
// until every unit has taken its copy.
//   avail_o[u]  unit u may take the slot sel_o[u] in this cycle
//   take_i[u]   unit u takes it at the end of this cycle
module hd_cmd_dispatch #(
    parameter int UNITS = 8
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic                 valid_i,
    output logic                 ready_o,
    input  heddle_pkg::conv_t    cmd_i,
    input  hd_matrix_pkg::mder_t der_i,
    output heddle_pkg::conv_t    cmd0_o,
    output hd_matrix_pkg::mder_t der0_o,
    output heddle_pkg::conv_t    cmd1_o,
    output hd_matrix_pkg::mder_t der1_o,
    output logic [UNITS-1:0]     avail_o,
    output logic [UNITS-1:0]     sel_o,
    input  logic [UNITS-1:0]     take_i
);
  heddle_pkg::conv_t cmd0_q, cmd1_q;
  hd_matrix_pkg::mder_t der0_q, der1_q;
  logic [UNITS-1:0] pend0_q, pend1_q, sel_q;
  logic wsel_q;

  assign avail_o = (sel_q & pend1_q) | (~sel_q & pend0_q);
  assign sel_o = sel_q;
  assign ready_o = wsel_q ? (pend1_q == '0) : (pend0_q == '0);
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
        if (wsel_q) begin
          pend1_q <= '1;
          cmd1_q <= cmd_i;
          der1_q <= der_i;
        end else begin
          pend0_q <= '1;
          cmd0_q <= cmd_i;
          der0_q <= der_i;
        end
      end
    end
  end

  // Only where a command comes or is taken.
  assign clk_req_o = !rst_ni || (valid_i && ready_o) || (take_i != '0);

`ifndef SYNTHESIS
  // The contract of the ports, and what the state never is.
  always_ff @(posedge clk_i)
    if (rst_ni) begin
      assert ((take_i & ~avail_o) == '0);
    end
`endif
endmodule
