// SPDX-License-Identifier: Apache-2.0
// The 16 lanes of the vector engine: operands in, result with its tag 4 cycles later, one vector per cycle,
// in order. fdiv and fsqrt take 28 cycles more, idiv and idivu 34, during which nothing is taken.
//
//   cycle -1        ready_o: an operation may come in the next cycle
//   cycle 0         operands are taken (registers of hd_lane_alu)
//   cycle 1 to 4    the operation
//   cycle 4         valid_o, tag_o, d_o: combinational, from the operation's last step
module hd_vec_lanes (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         en_i,      // only behind ready_o
    input  logic [7:0]   op_i,      // UOP_*, no h operation
    input  logic [511:0] a_i,
    input  logic [511:0] b_i,
    input  logic [511:0] c_i,
    input  logic [8:0]   tag_i,
    output logic         ready_o,
    output logic         valid_o,
    output logic [8:0]   tag_o,
    output logic [511:0] d_o
);
  logic soon, ready;
  hd_lane_alu #(
      .LANES(heddle_pkg::VECTOR_LANES)
  ) u_alu (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .en_i   (en_i),
      .op_i   (op_i),
      .a_i    (a_i),
      .b_i    (b_i),
      .c_i    (c_i),
      .ready_o(ready),
      .next_o (ready_o),
      .soon_o (soon),
      .valid_o(valid_o),
      .y_o    (d_o)
  );

  // Tag 0 waits beside the operation until that is in its first step, or in its last iteration; from there
  // on they move together.
  logic [8:0] tag0_q, tag1_q, tag2_q, tag3_q;
  logic [2:1] moves_q;
  always_ff @(posedge clk_i) begin
    moves_q <= {moves_q[1], soon} & {2{rst_ni}};
    if (en_i) tag0_q <= tag_i;
    if (soon) tag1_q <= tag0_q;
    if (moves_q[1]) tag2_q <= tag1_q;
    if (moves_q[2]) tag3_q <= tag2_q;
  end
  assign tag_o = tag3_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni) assert (!en_i || ready);
`endif
endmodule
