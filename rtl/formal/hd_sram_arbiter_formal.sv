// SPDX-License-Identifier: Apache-2.0
// hd_sram_arbiter: its grants are those of the three rounds of its header, run here one after the
// other, for every request. No state: one frame, and one more for the clocked assertions.
module hd_sram_arbiter_formal #(
    parameter int N = hd_pkg::SRAM_CLIENTS,
    parameter int BB = 4,
    parameter logic [N-1:0] ROUND2 = hd_pkg::SRAM_ROUND2,
    parameter logic [N-1:0] CHAIN = hd_pkg::SRAM_CHAIN
) (
    input logic            clk_i,
    input logic [N-1:0]    req_i,
    input logic [N-1:0]    urgent_i,
    input logic [N*BB-1:0] bank_i,
    input logic [2**BB-1:0] busy_i
);
  logic [N-1:0] gnt;
  hd_sram_arbiter #(
      .N(N),
      .BANKS(2 ** BB),
      .ROUND2(ROUND2),
      .CHAIN(CHAIN)
  ) dut (
      .req_i, .urgent_i, .bank_i, .busy_i, .gnt_o(gnt)
  );

  logic [N-1:0] want, round;
  logic [2**BB-1:0] busy;
  logic waits;  // the client before is still waiting
  logic [BB-1:0] bank;
  always_comb begin
    want = '0;
    busy = busy_i;
    round = '0;
    waits = 1'b0;
    bank = '0;
    for (int r = 0; r < 3; r++) begin
`ifdef BROKEN_ROUND
      round = req_i & ~want & ((r == 0) ? urgent_i : {N{1'b1}});
`else
      round = req_i & ~want & ((r == 0) ? urgent_i : (r == 1) ? ROUND2 : {N{1'b1}});
`endif
      waits = 1'b0;
      for (int i = 0; i < N; i++) begin
        bank = bank_i[BB*i +: BB];
        if (round[i] && !busy[bank] && !(waits && CHAIN[i])) begin
          want[i] = 1'b1;
          busy[bank] = 1'b1;
        end
        waits = req_i[i] && !want[i];
      end
    end
  end
  always_ff @(posedge clk_i) assert (gnt == want);
endmodule
