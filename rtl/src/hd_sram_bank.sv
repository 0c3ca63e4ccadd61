// SPDX-License-Identifier: Apache-2.0
// One single-port SRAM bank (1RW) of 16-byte words with a write strobe per byte. The request is
// registered, then served: rdata_o holds the word two cycles after the request and until the next
// read. WORDS x 16 bytes: 32 KiB in every configuration.
//
// The array is written by blocking assignments: nothing but this process reads it, and every
// nonblocking assignment to an array costs simulation time in every cycle. A write of a whole word
// is a statement of its own, because it is the usual case; both go to the same port.
module hd_sram_bank #(
    parameter int WORDS = 2048
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     en_i,
    input  logic                     we_i,
    input  logic [$clog2(WORDS)-1:0] addr_i,
    input  logic [127:0]             wdata_i,
    input  logic [15:0]              wstrb_i,
    output logic [127:0]             rdata_o
);
  logic en_q, we_q;
  logic [$clog2(WORDS)-1:0] addr_q;
  logic [15:0] wstrb_q;
  logic [127:0] wdata_q, rdata_q;
  logic [127:0] mem [0:WORDS-1];
  always_ff @(posedge clk_i) begin
    en_q <= rst_ni && en_i;
    if (en_i) begin
      we_q <= we_i;
      addr_q <= addr_i;
      if (we_i) begin
        wdata_q <= wdata_i;
        wstrb_q <= wstrb_i;
      end
    end
    // verilator lint_off BLKSEQ
    // Reason: see the header.
    if (en_q) begin
      if (!we_q) rdata_q <= mem[addr_q];
      else if (wstrb_q == 16'hffff) mem[addr_q] = wdata_q;
      else
        for (int i = 0; i < 16; i++)
          if (wstrb_q[i]) mem[addr_q][8*i +: 8] = wdata_q[8*i +: 8];
    end
    // verilator lint_on BLKSEQ
  end
  assign rdata_o = rdata_q;
endmodule
