// SPDX-License-Identifier: Apache-2.0
// One single-port SRAM bank (1RW) of 16-byte words with a write strobe per byte. The request is
// registered, then served: rdata_o holds the word two cycles after the request and until the next
// read. WORDS x 16 bytes: 32 KiB in every configuration.
//
// A write of a whole word is a statement of its own, because that is the usual case and the
// bytes one by one are slow in simulation; both go to the same port.
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
    if (en_q) begin
      if (!we_q) rdata_q <= mem[addr_q];
      else if (wstrb_q == 16'hffff) mem[addr_q] <= wdata_q;
      else begin
        if (wstrb_q[0]) mem[addr_q][7:0] <= wdata_q[7:0];
        if (wstrb_q[1]) mem[addr_q][15:8] <= wdata_q[15:8];
        if (wstrb_q[2]) mem[addr_q][23:16] <= wdata_q[23:16];
        if (wstrb_q[3]) mem[addr_q][31:24] <= wdata_q[31:24];
        if (wstrb_q[4]) mem[addr_q][39:32] <= wdata_q[39:32];
        if (wstrb_q[5]) mem[addr_q][47:40] <= wdata_q[47:40];
        if (wstrb_q[6]) mem[addr_q][55:48] <= wdata_q[55:48];
        if (wstrb_q[7]) mem[addr_q][63:56] <= wdata_q[63:56];
        if (wstrb_q[8]) mem[addr_q][71:64] <= wdata_q[71:64];
        if (wstrb_q[9]) mem[addr_q][79:72] <= wdata_q[79:72];
        if (wstrb_q[10]) mem[addr_q][87:80] <= wdata_q[87:80];
        if (wstrb_q[11]) mem[addr_q][95:88] <= wdata_q[95:88];
        if (wstrb_q[12]) mem[addr_q][103:96] <= wdata_q[103:96];
        if (wstrb_q[13]) mem[addr_q][111:104] <= wdata_q[111:104];
        if (wstrb_q[14]) mem[addr_q][119:112] <= wdata_q[119:112];
        if (wstrb_q[15]) mem[addr_q][127:120] <= wdata_q[127:120];
      end
    end
  end
  assign rdata_o = rdata_q;
endmodule
