// SPDX-License-Identifier: Apache-2.0
// The 16 lanes of the vector engine: operands in, result with its tag STAGES cycles later, one vector per
// cycle, in order. fdiv and fsqrt take 28 cycles more, idiv and idivu 34, during which nothing is taken
// (ready_o clear).
//
//   cycle 0            operands are taken (registers of hd_lane_alu)
//   cycle 1            the operation; in silicon its logic is cut into STAGES pieces: retiming moves the
//                      registers behind it into it
//   cycle STAGES       valid_o, tag_o, d_o
module hd_vec_lanes #(
    parameter int STAGES = 5
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         en_i,      // only while ready_o
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
  logic alu_valid;
  logic [511:0] alu;
  hd_lane_alu #(
      .LANES(hd_vec_pkg::LANES)
  ) u_alu (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .en_i   (en_i),
      .op_i   (op_i),
      .a_i    (a_i),
      .b_i    (b_i),
      .c_i    (c_i),
      .ready_o(ready_o),
      .valid_o(alu_valid),
      .y_o    (alu)
  );

  // Entry 0 is the tag beside the operation; its data is `alu`.
  logic [STAGES-1:1] valid_q;
  logic [8:0] tag_q [0:STAGES-1];
  logic [511:0] d_q [1:STAGES-1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[STAGES-2:1], alu_valid};
    if (en_i) tag_q[0] <= tag_i;
    if (alu_valid) begin
      tag_q[1] <= tag_q[0];
      d_q[1] <= alu;
    end
  end
  for (genvar s = 2; s < STAGES; s++) begin : g_stage
    always_ff @(posedge clk_i) begin
      if (valid_q[s-1]) begin
        tag_q[s] <= tag_q[s-1];
        d_q[s] <= d_q[s-1];
      end
    end
  end
  assign valid_o = valid_q[STAGES-1];
  assign tag_o = tag_q[STAGES-1];
  assign d_o = d_q[STAGES-1];
endmodule
