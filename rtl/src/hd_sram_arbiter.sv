// SPDX-License-Identifier: Apache-2.0
// Which clients may use the SRAM banks in this cycle (combinational, fixed priority, one grant per
// bank).
//
// Clients are numbered by index; the bank is the low bits of the word address. Three rounds:
//   1. urgent requests, by index      output writer with a filling FIFO, nearly empty row FIFOs,
//   aged DMA
//   2. requests of ROUND2 clients      row ports
//   3. all requests, by index
// A client in CHAIN is granted only together with (or after) the client before it: its word
// follows the
// other's in the same stream.
module hd_sram_arbiter #(
    parameter int N = 14,
    parameter int BANKS = 16,
    parameter logic [N-1:0] ROUND2 = '0,
    parameter logic [N-1:0] CHAIN = '0
) (
    input  logic [N-1:0]                  req_i,
    input  logic [N-1:0]                  urgent_i,
    input  logic [N*$clog2(BANKS)-1:0]    bank_i,
    output logic [N-1:0]                  gnt_o
);
  localparam int BB = $clog2(BANKS);
  localparam int NB = $clog2(N);
  localparam [31:0] NU = 32'(N);
  logic [BB-1:0] bank [0:N-1];
  for (genvar i = 0; i < N; i++) begin : g_bank
    assign bank[i] = bank_i[BB*i +: BB];
  end
  logic [BANKS-1:0] busy;
  logic [N-1:0] gnt, round;
  logic waits;  // the client before is still waiting
  logic [31:0] i, r;
  always_comb begin
    busy = '0;
    gnt = '0;
    round = '0;
    waits = 1'b0;
    i = 0;
    for (r = 32'd0; r < 3; r = r + 1) begin
      round = req_i & ~gnt & ((r == 0) ? urgent_i : (r == 1) ? ROUND2 : {N{1'b1}});
      if (round != '0) begin
        waits = 1'b0;
        for (i = 32'd0; i < NU; i = i + 1) begin
          if (round[i[NB-1:0]] && !busy[bank[i[NB-1:0]]] && !(waits && CHAIN[i[NB-1:0]])) begin
            gnt[i[NB-1:0]] = 1'b1;
            busy[bank[i[NB-1:0]]] = 1'b1;
          end
          waits = req_i[i[NB-1:0]] && !gnt[i[NB-1:0]];
        end
      end
    end
  end
  assign gnt_o = gnt;
endmodule
