// SPDX-License-Identifier: Apache-2.0
// The counting semaphores: waits of four engines and all their signals in one cycle.
//
// Waits: engine e asks with want_i[e] for up to two {semaphore, count}; take_o[e] (same cycle)
// grants both together, against the counts at the beginning of the cycle. A unit signalled in
// cycle t can so be taken in t+1. Of engines that could take from the same semaphore in one cycle
// (no legal stream does that) only the lowest does; so a count never falls below zero.
//
// Signals: 16 slots, slot = 4*engine + 2*point + number, point 0 = output_visible of the oldest
// command, 1 = input_read (of a later one or the same). All are added at the end of the cycle.
// If a sum would exceed semaphore_max, overflow_o rises in this cycle, with the first slot that
// signals such a semaphore, and that semaphore keeps its value: the stream ends there.
module hd_semaphores #(
    parameter int N = heddle_pkg::SEMAPHORES  // less only for proofs
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,
    // signals
    input  logic [15:0]  signal_valid_i,
    input  logic [79:0]  signal_sem_i,
    input  logic [127:0] signal_count_i,
    output logic         overflow_o,
    output logic [3:0]   overflow_slot_o,
    output logic [4:0]   overflow_sem_o,
    // waits; enable, sem and count of wait n of engine e at place 2*e + n
    input  logic [3:0]   want_i,
    input  logic [7:0]   wait_enable_i,
    input  logic [39:0]  wait_sem_i,
    input  logic [63:0]  wait_count_i,
    output logic [3:0]   take_o
`ifdef FORMAL
    ,
    output logic [8*N-1:0] count_o
`endif
);
  localparam [11:0] MAX = heddle_pkg::SEMAPHORE_MAX[11:0];

  logic [8*N-1:0] count_q;  // semaphore s in bits 8*s +: 8

`ifdef FORMAL
  assign count_o = count_q;
`endif

  // Waits.
  logic [3:0] enough;
  always_comb begin
    enough = '0;
    for (int e = 0; e < 4; e++) begin
      if (want_i[e]) begin
        enough[e] = (!wait_enable_i[2*e] ||
                     (count_q[8*wait_sem_i[10*e +: 5] +: 8] >= wait_count_i[16*e +: 8])) &&
                    (!wait_enable_i[2*e+1] ||
                     (count_q[8*wait_sem_i[10*e+5 +: 5] +: 8] >= wait_count_i[16*e+8 +: 8]));
      end
    end
  end
  always_comb begin
    take_o = enough;
    if ((enough & (enough - 4'd1)) != '0) begin  // more than one
      for (int e = 1; e < 4; e++) begin
        for (int i = 0; i < 2; i++) begin
          for (int j = 0; j < 2 * e; j++) begin
            if (enough[j/2] && wait_enable_i[j] && wait_enable_i[2*e+i] &&
                (wait_sem_i[5*j +: 5] == wait_sem_i[10*e+5*i +: 5])) begin
              take_o[e] = 1'b0;
            end
          end
        end
      end
    end
  end

  // Sums.
  logic change;
  logic [N-1:0] over;     // the sum exceeds the maximum
  logic [8*N-1:0] next;
  logic [11:0] sum;
  assign change = (signal_valid_i != '0) || (take_o != '0);
  always_comb begin
    over = '0;
    next = count_q;
    sum = '0;
    if (change) begin
      for (int s = 0; s < N; s++) begin
        sum = {4'd0, count_q[8*s +: 8]};
        for (int j = 0; j < 8; j++) begin
          if (take_o[j/2] && wait_enable_i[j] && (wait_sem_i[5*j +: 5] == 5'(s))) begin
            sum = sum - {4'd0, wait_count_i[8*j +: 8]};
          end
        end
        for (int j = 0; j < 16; j++) begin
          if (signal_valid_i[j] && (signal_sem_i[5*j +: 5] == 5'(s))) begin
            sum = sum + {4'd0, signal_count_i[8*j +: 8]};
          end
        end
        over[s] = (sum > MAX);
        if (!over[s]) next[8*s +: 8] = sum[7:0];
      end
    end
  end

  always_comb begin
    overflow_o = (over != '0);
    overflow_slot_o = '0;
    overflow_sem_o = '0;
    if (overflow_o) begin
      for (int j = 15; j >= 0; j--) begin
        if (signal_valid_i[j] && over[signal_sem_i[5*j +: 5]]) begin
          overflow_slot_o = 4'(j);
          overflow_sem_o = signal_sem_i[5*j +: 5];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) count_q <= '0;
    else if (change) count_q <= next;
  end
endmodule
