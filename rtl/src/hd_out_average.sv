// SPDX-License-Identifier: Apache-2.0
// Average pooling: int32 sums of (code - pool_zero_in) over all pixels of a block of channels, then
// one requantisation and one word per 16 channels.
//
// The nest has blocks of channels outermost for these commands (cob_outer), so one set of sums is
// enough whatever the stripes are. A finished set moves to the finisher, which takes four channels
// per cycle through the arithmetic of stage 1; meanwhile the next block is summed. A block of fewer
// pixels than the finisher's K / 4 + LANE + 3 cycles waits for it.
module hd_out_average #(
    parameter int K = 16
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  hd_output_pkg::ocmd_t cmd_i,
    input  logic                 load_i,
    // vectors
    input  logic                 valid_i,
    output logic                 pop_o,
    input  logic [8*K-1:0]       code_i,
    input  logic                 block_end_i,  // the block's last vector
    input  logic                 two_i,
    input  logic [35:0]          poff_i,
    output logic                 idle_o,
    // write queue
    input  logic                 room_i,
    output logic [1:0]           push_o,
    output logic [35:0]          addr0_o,
    output logic [35:0]          addr1_o,
    output logic [8*K-1:0]       data_o
);
  localparam int GROUPS = K / 4;
  localparam int LANE = hd_output_pkg::CRO_CYCLES;
  logic first_q, pend_q, run_q, two_q, ptwo_q, push;
  logic [32*K-1:0] fin_q;
  logic [35:0] addr_q, paddr_q;
  logic [8*K-1:0] word_q;
  logic [7:0] in_q, out_q;
  logic [LANE-1:0] v_q;
  logic take;  // sums to the finisher
  assign take = pend_q && !run_q;
  assign pop_o = valid_i && (!pend_q || take);
  assign idle_o = !pend_q && !run_q;

  logic [31:0] zero_in;
  assign zero_in = {{23{cmd_i.pool_zero_in[8]}}, cmd_i.pool_zero_in};
  logic [32*K-1:0] sums;
  for (genvar k = 0; k < K; k++) begin : g_sum
    logic [31:0] sum_q;
    assign sums[32*k +: 32] = sum_q;
    always_ff @(posedge clk_i)
      if (pop_o)
        sum_q <= (first_q ? 32'd0 : sum_q) - zero_in
               + {{24{cmd_i.sgn && code_i[8*k+7]}}, code_i[8*k +: 8]};
  end

  // Four lanes.
  logic issue, back;
  assign issue = run_q && in_q != 8'd0;
  assign back = v_q[LANE-1];
  logic [31:0] y;
  logic [8:0] lo, hi;
  assign lo = (cmd_i.sgn ? 9'h180 : 9'd0) - cmd_i.pool_zero_out;
  assign hi = lo + 9'd255;
  hd_cro_lane #(
      .LANES(4)
  ) u_lanes (
      .clk_i   (clk_i),
      .rst_ni  (rst_ni),
      .en_i    (issue),
      .acc_i   (fin_q[127:0]),
      .bias_i  (128'd0),
      .scale_i ({4{cmd_i.pool_scale}}),
      .lo_i    (lo),
      .hi_i    (hi),
      .zp_i    (cmd_i.pool_zero_out),
      .signed_i(cmd_i.sgn),
      .valid_o (),
      .y_o     (y)
  );
  assign push = run_q && in_q == 8'd0 && out_q == 8'd0 && room_i;
  assign push_o = {push && two_q, push};
  assign addr0_o = addr_q;
  assign addr1_o = addr_q + {16'd0, cmd_i.out_plane};
  assign data_o = word_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pend_q <= 1'b0;
      run_q <= 1'b0;
      first_q <= 1'b1;
      v_q <= '0;
      in_q <= 8'd0;
      out_q <= 8'd0;
    end else begin
      if (load_i) first_q <= 1'b1;
      else if (pop_o) first_q <= block_end_i;
      if (pop_o && block_end_i) pend_q <= 1'b1;
      else if (take) pend_q <= 1'b0;
      v_q <= {v_q[LANE-2:0], issue};
      if (take) begin
        run_q <= 1'b1;
        in_q <= 8'(GROUPS);
        out_q <= 8'(GROUPS);
      end else begin
        if (issue) in_q <= in_q - 8'd1;
        if (back) out_q <= out_q - 8'd1;
        if (push) run_q <= 1'b0;
      end
    end
    if (pop_o && block_end_i) begin
      ptwo_q <= two_i;
      paddr_q <= {16'd0, cmd_i.out_addr} + poff_i;
    end
    if (take) begin
      fin_q <= sums;
      two_q <= ptwo_q;
      addr_q <= paddr_q;
    end else if (issue) begin
      fin_q <= {128'd0, fin_q[32*K-1:128]};
    end
    if (back) word_q <= {y, word_q[8*K-1:32]};
  end
endmodule
