// SPDX-License-Identifier: Apache-2.0
// Which clients may use the SRAM banks in this cycle (combinational, fixed priority, one grant per
// bank).
//
// Clients are numbered by index; the bank is the low bits of the word address. Three rounds:
//   1. urgent requests, by index      output writer with a filling FIFO, nearly empty row FIFOs,
//                                     aged DMA
//   2. requests of ROUND2 clients     row ports
//   3. all requests, by index
// A bank in busy_i is granted to nobody.
// A client in CHAIN is granted only together with (or after) the client before it: its word follows
// the other's in the same stream. Its partner is not itself in CHAIN.
//
// Not computed in rounds (rtl/formal/hd_sram_arbiter_formal.sv does, and is proven equal), but for
// all clients beside each other. A request has one round: the first in which it may be granted, for
// who is refused there has lost the bank. So its rivals are the requests to its bank of an earlier
// round, or of the same round and a lower index, and it is granted if none of them takes the bank.
// Every rival does, but the second of a pair whose partner waits. A second's round is never before
// its partner's. What is left is a chain from pair to pair, at most one step per pair.
module hd_sram_arbiter #(
    parameter int N = 14,
    parameter int BANKS = 16,
    parameter logic [N-1:0] ROUND2 = '0,
    parameter logic [N-1:0] CHAIN = '0
) (
    input  logic [N-1:0]                  req_i,
    input  logic [N-1:0]                  urgent_i,
    input  logic [N*$clog2(BANKS)-1:0]    bank_i,
    input  logic [BANKS-1:0]              busy_i,
    output logic [N-1:0]                  gnt_o
);
  localparam int BB = $clog2(BANKS);

  function automatic int pairs(input logic [N-1:0] chain);
    pairs = 0;
    for (int i = 0; i < N; i++) if (chain[i]) pairs = pairs + 1;
  endfunction
  localparam int PAIRS = pairs(CHAIN);

  // Clients of lower index, for each.
  function automatic [N*N-1:0] lower();
    lower = '0;
    for (int i = 0; i < N; i++) lower[N*i +: N] = (N'(1) << i) - N'(1);
  endfunction
  localparam [N*N-1:0] LOWER = lower();

  // Requests whose partner asks as well, and those that the first round or two reach.
  logic [N-1:0] second, in1, in2;
  assign second = req_i & CHAIN & (req_i << 1);
  assign in1 = req_i & urgent_i & (~second | (urgent_i << 1));
  assign in2 = req_i & (urgent_i | ROUND2) & (~second | ((urgent_i | ROUND2) << 1));

  // The conditions req_i[i], second != 0 and chain are for the simulation: most clients rest.
  always_comb begin : grants
    logic [N-1:0] plane [0:BB-1];  // bit k of the banks of all requests
    logic [N-1:0] rivals [0:N-1];
    logic [N-1:0] free, first, next, taken, ahead, other;
    logic [BB-1:0] bank;
    logic chain;  // a second is rival of a partner
    chain = 1'b0;
    first = '0;
    next = '0;
    taken = '0;
    bank = '0;
    ahead = '0;
    other = '0;
    for (int k = 0; k < BB; k++) plane[k] = '0;
    for (int i = 0; i < N; i++)
      if (req_i[i]) begin
        bank = bank_i[BB*i +: BB];
        for (int k = 0; k < BB; k++) plane[k] = plane[k] | (N'(bank[k]) << i);
      end

    // Who asks for the same bank and comes first; free: all of these are seconds.
    free = '0;
    for (int i = 0; i < N; i++) begin
      rivals[i] = '0;
      if (req_i[i]) begin
        bank = bank_i[BB*i +: BB];
        other = '0;
        for (int k = 0; k < BB; k++) other = other | (plane[k] ^ {N{bank[k]}});
        ahead = in1[i] ? in1 & LOWER[N*i +: N] : in2[i] ? in1 | (in2 & LOWER[N*i +: N])
                                                        : in2 | (req_i & LOWER[N*i +: N]);
        rivals[i] = ahead & ~other;
        free[i] = (rivals[i] & ~second) == '0 && !busy_i[bank];
        if (i + 1 < N && CHAIN[(i+1)%N]) chain = chain || (rivals[i] & second) != '0;
      end
    end

    // After n steps `first` is right for the n + 1 partners of highest priority.
    gnt_o = free;
    if (second != '0) begin
      first = free;
      if (chain)
        for (int n = 0; n < PAIRS - 1; n++) begin
          taken = second & (first << 1);
          next = '0;
          for (int i = 0; i < N - 1; i++)
            if (CHAIN[i+1]) next[i] = free[i] && (rivals[i] & taken) == '0;
          first = next;
        end
      taken = second & (first << 1);
      for (int i = 0; i < N; i++)
        gnt_o[i] = free[i] && (!second[i] || taken[i]) && (rivals[i] & taken) == '0;
    end
  end
endmodule
