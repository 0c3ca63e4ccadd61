// SPDX-License-Identifier: Apache-2.0
// Clock gate: clk_o pulses in the cycles that follow one in which en_i was high.
//
//   en_i in cycle t (settled from registers)  ->  sampled at the falling edge of t
//   -> the rising edge that ends t reaches clk_o
//
// So a unit whose en_i is "there is work for me, or I have some" loses no cycle. The enable is held
// by a flip-flop on the falling edge instead of a latch, so there is no latch in the design; in
// silicon the cell library's clock gate takes its place. An engine without work then costs neither
// power nor, in simulation, time: about half of what a card's cycle costs was idle engines.
module hd_clock_gate (
    input  logic clk_i,
    input  logic en_i,
    output logic clk_o
);
  logic en_q;
  always_ff @(negedge clk_i) en_q <= en_i;
  assign clk_o = clk_i && en_q;
endmodule
