// SPDX-License-Identifier: Apache-2.0
// The indices of `pick` on their way from a register to stream A.
//
//   cycle t            the sequencer issues a vector of indices (issue_i)
//   cycle t+1          they are read (a_i): the lanes multiply them by index_stride, here they are compared
//                      with the bound
//   push_i             the products: with the lanes' own offsets they enter a queue of four
//   pop_i              stream A has made the steps of the oldest one
//
// room_o counts vectors in the lanes, too. Four are enough for the eight of a strip: stream A takes four
// more into its queue of vectors before anybody takes one out.
//
// Fault: the groups of a strip run side by side, and the one reported is that of the first bad lane of the
// earliest group that has any. Slot 0 faults at once; any other waits until an earlier one can have none,
// that is to the end of the strip, and reads the element of index 0 meanwhile.
module hd_vec_pick (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    // indices
    input  logic                         issue_i,    // only with room_o
    input  logic [4:0]                   lanes_i,    // valid ones
    input  logic [2:0]                   slot_i,
    input  logic [511:0]                 a_i,        // a cycle after issue_i
    input  logic [31:0]                  bound_i,
    output logic                         room_o,
    // products
    input  logic                         push_i,
    input  logic [511:0]                 data_i,
    input  logic [16*hd_vec_pkg::BA-1:0] lane_at_i,  // of stream A
    // stream A
    output logic                         valid_o,
    output logic [16*hd_vec_pkg::BA-1:0] at_o,       // offset of every lane
    input  logic                         pop_i,
    // fault
    input  logic                         over_i,     // no place of the strip of the last issue is left
    output logic                         wait_o,     // there will be a fault
    output logic                         fault_o,
    output logic [31:0]                  fault_index_o
);
  localparam int BA = hd_vec_pkg::BA;

  // Bounds.
  logic here_q;
  logic [4:0] lanes_q;
  logic [2:0] at_slot_q;
  always_ff @(posedge clk_i) begin
    here_q <= rst_ni && issue_i;
    if (issue_i) begin
      lanes_q <= lanes_i;
      at_slot_q <= slot_i;
    end
  end
  logic [15:0] bad;
  logic [31:0] index;
  always_comb begin
    bad = '0;
    index = '0;
    if (here_q) begin
      for (int l = 15; l >= 0; l--) begin
        if (lanes_q > 5'(l) && (a_i[32*l+31] || a_i[32*l +: 32] >= bound_i)) begin
          bad[l] = 1'b1;
          index = a_i[32*l +: 32];
        end
      end
    end
  end
  logic wait_q;
  logic [2:0] slot_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) wait_q <= 1'b0;
    else if (bad != 0) wait_q <= 1'b1;
    if (bad != 0 && (!wait_q || at_slot_q < slot_q)) begin
      slot_q <= at_slot_q;
      fault_index_o <= index;
    end
  end
  assign wait_o = wait_q;
  assign fault_o = wait_q && (slot_q == 3'd0 || over_i);

  // Queue. A place is taken at issue, and filled a cycle later.
  logic [15:0] bad_q [0:3];
  logic [16*BA-1:0] at_q [0:3];
  logic [1:0] here_at_q, wr_q, rd_q;
  logic [2:0] used_q, held_q;
  logic [16*BA-1:0] at;
  logic [15:0] masked;
  always_comb begin
    at = '0;
    masked = '0;
    if (push_i) begin
      masked = bad_q[wr_q];
      for (int l = 0; l < 16; l++)
        at[BA*l +: BA] = lane_at_i[BA*l +: BA] + (masked[l] ? '0 : data_i[32*l +: BA]);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      here_at_q <= '0;
      wr_q <= '0;
      rd_q <= '0;
      used_q <= '0;
      held_q <= '0;
    end else begin
      if (here_q) here_at_q <= here_at_q + 2'd1;
      if (push_i) wr_q <= wr_q + 2'd1;
      if (pop_i) rd_q <= rd_q + 2'd1;
      if (issue_i != pop_i) used_q <= issue_i ? used_q + 3'd1 : used_q - 3'd1;
      if (push_i != pop_i) held_q <= push_i ? held_q + 3'd1 : held_q - 3'd1;
    end
    if (here_q) bad_q[here_at_q] <= bad;
    if (push_i) at_q[wr_q] <= at;
  end
  assign room_o = used_q != 3'd4;
  assign valid_o = held_q != 0;
  assign at_o = at_q[rd_q];
endmodule
