// SPDX-License-Identifier: Apache-2.0
// Order of the matrix engine's commands: when each has read its operands and when it is done, with
// the MACs it counts.
//
// accept_i enters a command (sync_i: one that does nothing). A conv has read its operands when each
// of the READERS has given end_i for it, and is done when that is so and out_done_i has come. Both
// points are reached in the order of acceptance, one command per cycle.
// MACs are a product of six fields, four bits of a factor per cycle, beginning with the acceptance;
// busy_o: not finished, accept nothing. A conv takes longer, but done_o waits all the same.
// done_block_i holds done_o back (a fault of the oldest command is being reported).
module hd_matrix_order #(
    parameter int READERS = 6
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic               accept_i,
    input  logic               sync_i,
    input  heddle_pkg::conv_t  cmd_i,
    output logic               busy_o,
    output logic               full_o,
    output logic               empty_o,
    input  logic [READERS-1:0] end_i,
    input  logic               out_done_i,
    input  logic               done_block_i,
    output logic               read_o,
    output logic               done_o,
    output logic               conv_done_o,  // done_o, and the command was a conv
    output logic               sync_next_o,  // the oldest command is a sync
    output logic [63:0]        macs_o
);
  // Places in order: 8, more than the engine can hold.
  logic [7:0] sync_q;
  logic [63:0] macs_q [0:7];
  logic [2:0] wp_q, rp_q, dp_q, mp_q;  // write, read point, done point, place of the product
  logic [3:0] level_q, unread_q;       // not done; not read
  logic [4*READERS-1:0] ends_q;        // commands that a reader is ahead
  logic [3:0] outs_q;
  logic [READERS-1:0] ahead;
  for (genvar i = 0; i < READERS; i++) begin : g_ahead
    assign ahead[i] = (ends_q[4*i +: 4] != 4'd0);
  end
  logic conv_read;
  assign conv_read = (unread_q != 4'd0) && !sync_q[rp_q] && (ahead == '1);
  assign read_o = conv_read || ((unread_q != 4'd0) && sync_q[rp_q]);
  // Done needs the read point to have been passed, or to be passed now.
  logic read_before, conv_done;
  assign read_before = (unread_q < level_q) || (read_o && unread_q == level_q);
  assign conv_done = (level_q != 4'd0) && !sync_q[dp_q] && (outs_q != 4'd0) && read_before
                     && !done_block_i && !(busy_o && mp_q == dp_q);
  assign done_o = conv_done || ((level_q != 4'd0) && sync_q[dp_q] && read_before);
  assign conv_done_o = conv_done;
  assign sync_next_o = (level_q != 4'd0) && sync_q[dp_q];
  assign macs_o = sync_q[dp_q] ? 64'd0 : macs_q[dp_q];
  assign full_o = (level_q == 4'd8);
  assign empty_o = (level_q == 4'd0);

  // The product: factors of 16 bits, most significant digit first.
  logic [79:0] factors_q;
  logic [2:0] factor_q;  // factors left
  logic [1:0] digit_q;
  logic [63:0] base_q, sum_q, sum;
  assign busy_o = (factor_q != 3'd0);
  always_comb begin
    sum = 64'd0;
    if (busy_o) sum = {sum_q[59:0], 4'd0} + base_q * {60'd0, factors_q[79:76]};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wp_q <= 3'd0;
      rp_q <= 3'd0;
      dp_q <= 3'd0;
      mp_q <= 3'd0;
      level_q <= 4'd0;
      unread_q <= 4'd0;
      ends_q <= '0;
      outs_q <= 4'd0;
      factor_q <= 3'd0;
    end else begin
      if (accept_i) begin
        wp_q <= wp_q + 3'd1;
        sync_q[wp_q] <= sync_i;
        if (!sync_i) begin
          mp_q <= wp_q;
          base_q <= (cmd_i.mode == heddle_pkg::MATRIX_MODE_MAXPOOL) ? 64'd0
                                                                  : {48'd0, cmd_i.out_rows};
          factors_q <= {cmd_i.ow, cmd_i.co, 8'd0, cmd_i.kh, 8'd0, cmd_i.kw,
                        (cmd_i.mode == heddle_pkg::MATRIX_MODE_DEPTHWISE) ? 16'd1 : cmd_i.ci};
          factor_q <= 3'd5;
          digit_q <= 2'd0;
          sum_q <= 64'd0;
        end
      end
      if (busy_o) begin
        factors_q <= factors_q << 4;
        digit_q <= digit_q + 2'd1;
        sum_q <= sum;
        if (digit_q == 2'd3) begin
          base_q <= sum;
          sum_q <= 64'd0;
          factor_q <= factor_q - 3'd1;
          if (factor_q == 3'd1) macs_q[mp_q] <= sum;
        end
      end
      if (read_o) rp_q <= rp_q + 3'd1;
      if (done_o) dp_q <= dp_q + 3'd1;
      level_q <= level_q + {3'd0, accept_i} - {3'd0, done_o};
      unread_q <= unread_q + {3'd0, accept_i} - {3'd0, read_o};
      if (conv_read || end_i != '0)
        for (int i = 0; i < READERS; i++)
          ends_q[4*i +: 4] <= ends_q[4*i +: 4] + {3'd0, end_i[i]} - {3'd0, conv_read};
      outs_q <= outs_q + {3'd0, out_done_i} - {3'd0, conv_done};
    end
  end

  // Only where a point is reached, and while a product is computed.
  assign clk_req_o = !rst_ni || accept_i || busy_o || (end_i != '0) || out_done_i || read_o || done_o;
endmodule
