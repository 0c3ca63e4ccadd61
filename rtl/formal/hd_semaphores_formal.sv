// SPDX-License-Identifier: Apache-2.0
// hd_semaphores, one step from any state (every state can be reached from reset in two cycles of
// signals, so nothing is lost): the value of any one semaphore s becomes what its signals and waits
// make of it; no two engines take from it in one cycle and none takes more than it holds, so it is
// never negative; it passes its maximum only with overflow_o, which names a signal that does it; a
// wait that is met is granted unless a lower engine asks for the same semaphore.
//
// s is one of N semaphores; nothing in the unit depends on their number or on which one it is.
module hd_semaphores_formal #(
    parameter int N = 4,
    parameter int S = 1  // the semaphore
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic         clear_i,
    input logic [15:0]  signal_valid_i,
    input logic [79:0]  signal_sem_i,
    input logic [127:0] signal_count_i,
    input logic [3:0]   want_i,
    input logic [7:0]   wait_enable_i,
    input logic [39:0]  wait_sem_i,
    input logic [63:0]  wait_count_i
);
  localparam [4:0] s = 5'(S);
  logic overflow;
  logic [3:0] overflow_slot, take;
  logic [4:0] overflow_sem;
  logic [8*N-1:0] count;
  hd_semaphores #(.N(N)) dut (
      .clk_i, .rst_ni, .clear_i, .signal_valid_i, .signal_sem_i, .signal_count_i,
      .overflow_o(overflow), .overflow_slot_o(overflow_slot), .overflow_sem_o(overflow_sem),
      .want_i, .wait_enable_i, .wait_sem_i, .wait_count_i, .take_o(take), .count_o(count)
  );

  // What this cycle makes of s: waits first, then signals.
  logic [11:0] sum;
  logic [7:0] value;
  logic [3:0] names;  // engine e waits for s
  logic [3:0] lacks;  // and s does not hold enough
  always_comb begin
    value = count[8*s +: 8];
    sum = {4'd0, value};
    names = '0;
    lacks = '0;
    for (int j = 0; j < 8; j++) begin
      if (wait_enable_i[j] && (wait_sem_i[5*j +: 5] == s)) begin
        names[j/2] = 1'b1;
        if (value < wait_count_i[8*j +: 8]) lacks[j/2] = 1'b1;
`ifdef BROKEN_TAKE
        sum = sum - {4'd0, wait_count_i[8*j +: 8]};
`else
        if (take[j/2]) sum = sum - {4'd0, wait_count_i[8*j +: 8]};
`endif
      end
    end
    for (int j = 0; j < 16; j++) begin
      if (signal_valid_i[j] && (signal_sem_i[5*j +: 5] == s)) begin
        sum = sum + {4'd0, signal_count_i[8*j +: 8]};
      end
    end
  end

  logic past_q = 1'b0;
  logic [7:0] next_q;
  logic too_much;
  logic [3:0] takers;
  assign too_much = (sum > heddle_pkg::SEMAPHORE_MAX[11:0]);
  assign takers = take & names;
  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    next_q <= (!rst_ni || clear_i) ? 8'd0 : too_much ? value : sum[7:0];
    for (int j = 0; j < 16; j++) assume ({27'd0, signal_sem_i[5*j +: 5]} < N);
    for (int j = 0; j < 8; j++) assume ({27'd0, wait_sem_i[5*j +: 5]} < N);
    // hd_decode: the two waits of a command differ.
    for (int e = 0; e < 4; e++) begin
      if (wait_enable_i[2*e] && wait_enable_i[2*e+1]) begin
        assume (wait_sem_i[10*e +: 5] != wait_sem_i[10*e+5 +: 5]);
      end
    end

    if (past_q) assert (value == next_q);
    assert ((takers & (takers - 4'd1)) == '0);
    assert ((take & (lacks | ~want_i)) == '0);
    if (too_much) assert (overflow);
    if (overflow) begin
      assert (signal_valid_i[overflow_slot]);
      assert (signal_sem_i[5*overflow_slot +: 5] == overflow_sem);
      if (overflow_sem == s) assert (too_much);
    end
    // A wait for s alone that is met.
    for (int e = 0; e < 4; e++) begin
      if (want_i[e] && names[e] && !lacks[e] && (wait_enable_i[2*e +: 2] != 2'd3) &&
          ((names & want_i & ((4'd1 << e) - 4'd1)) == '0)) begin
        assert (take[e]);
      end
    end
  end
endmodule
