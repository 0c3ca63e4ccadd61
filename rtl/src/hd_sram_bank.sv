// SPDX-License-Identifier: Apache-2.0
// One single-port SRAM bank of 16-byte words. The request is registered, then served: rdata_o holds
// the word two cycles after the request and until the next read.
module hd_sram_bank #(
    parameter int WORDS = 2048
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     en_i,
    input  logic                     we_i,
    input  logic [$clog2(WORDS)-1:0] addr_i,
    input  logic [127:0]             wdata_i,
    output logic [127:0]             rdata_o
);
  logic en_q, we_q;
  logic [$clog2(WORDS)-1:0] addr_q;
  logic [127:0] wdata_q, rdata_q;
  logic [127:0] mem [0:WORDS-1];
  always_ff @(posedge clk_i) begin
    en_q <= rst_ni && en_i;
    if (en_i) begin
      we_q <= we_i;
      addr_q <= addr_i;
      if (we_i) wdata_q <= wdata_i;
    end
    if (en_q) begin
      if (we_q) mem[addr_q] <= wdata_q;
      else rdata_q <= mem[addr_q];
    end
  end
  assign rdata_o = rdata_q;
endmodule
