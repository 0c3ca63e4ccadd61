// SPDX-License-Identifier: Apache-2.0
// One word written and one word read per cycle: the form that RAM macros with two ports have. read_i in
// cycle t, rdata_o from t+1 until the cycle after the next read_i. No word is read in the cycle in which
// it is written: macros differ in what comes out then.
//
// The array is written by blocking assignments: nothing but this process reads it, and every nonblocking
// assignment to an array costs simulation time in every cycle.
module hd_ram_1r1w #(
    parameter int W = 512,
    parameter int DEPTH = 136
) (
    input  logic                     clk_i,
    input  logic                     write_i,
    input  logic [$clog2(DEPTH)-1:0] waddr_i,
    input  logic [W-1:0]             wdata_i,
    input  logic                     read_i,
    input  logic [$clog2(DEPTH)-1:0] raddr_i,
    output logic [W-1:0]             rdata_o
);
  logic [W-1:0] mem [0:DEPTH-1];
  logic [W-1:0] rdata_q;
  assign rdata_o = rdata_q;
  always_ff @(posedge clk_i) begin
`ifndef SYNTHESIS
    if (read_i) assert (!write_i || raddr_i != waddr_i);
`endif
    if (read_i) rdata_q <= mem[raddr_i];
    // verilator lint_off BLKSEQ
    // Reason: see the header.
    if (write_i) mem[waddr_i] = wdata_i;
    // verilator lint_on BLKSEQ
  end
endmodule
