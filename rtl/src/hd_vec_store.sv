// SPDX-License-Identifier: Apache-2.0
// Store path of the vector engine: a queue of result vectors (QUEUE x 64 bytes, 1 KiB), their addresses
// (hd_vec_walk over stream D), conversion, and one open line in which neighbouring stores meet before
// they go to SRAM.
//
//   cycle 0  the lanes of the oldest vector that lie in the line of its first missing lane go into the
//            open line; if that is another line, the open one leaves in the same cycle (when the register
//            behind it is free); a line all of whose bytes are written leaves at once
//   later    the rest of the vector; a vector of neighbours takes one or two cycles
//
// Of lanes with the same address the highest wins; lines leave in the order of the stores. flush_i sends
// the open line when no vector waits (end of the command, or loads that must see it).
//
// With scatter_i every lane is a step of its own, at D's address + index * index_stride_i; an index out
// of bounds stops the unit with fault_o. A lane's store may hit the index of a higher lane (the lanes
// store one after another), so the unit walks along the indices too and patches those it overwrites.
module hd_vec_store #(
    parameter int QUEUE = 16
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,
    input  hd_vec_pkg::loops_t        loops_i,
    input  hd_vec_pkg::stream_t       stream_i,
    input  logic                      body_i,        // stores after each body
    input  logic                      epilogue_i,
    input  logic                      one_i,
    input  logic                      flush_i,
    input  logic                      scatter_i,
    input  hd_vec_pkg::stream_t       index_stream_i,
    input  logic [31:0]               bound_i,
    input  logic [hd_vec_pkg::BA-1:0] index_stride_i,
    input  logic                      index_valid_i,
    input  logic [511:0]              index_i,
    output logic                      index_pop_o,
    output logic                      fault_o,
    output logic [31:0]               fault_index_o,
    input  logic                      push_i,        // never into a full queue
    input  logic [511:0]              data_i,
    output logic                      done_o,        // a vector has left the queue
    output logic                      busy_o,        // vectors in the queue or a line open
    output logic                      req_o,
    output logic [hd_vec_pkg::LA-1:0] line_o,
    output logic [511:0]              wdata_o,
    output logic [63:0]               wstrb_o,
    input  logic                      ack_i
);
  localparam int BA = hd_vec_pkg::BA;
  localparam int LA = hd_vec_pkg::LA;
  localparam int QB = $clog2(QUEUE);

  hd_vec_pkg::counts_t counts;
  assign counts = {9'd0, 8'd0, body_i, 8'd0, epilogue_i};
  logic walk_valid, adv;
  logic [BA-1:0] addr;
  logic [4:0] lanes;
  hd_vec_walk u_walk (
      .clk_i    (clk_i),
      .rst_ni   (rst_ni),
      .start_i  (start_i),
      .loops_i  (loops_i),
      .stream_i (stream_i),
      .counts_i (counts),
      .gated_i  (1'b0),
      .open_i   (3'd0),
      .adv_i    (adv),
      .again_i  (1'b0),
      .busy_o   (),
      .valid_o  (walk_valid),
      .addr_o   (addr),
      .lanes_o  (lanes),
      .e_o      (),
      .r1_o     (),
      .slot_o   (),
      .section_o(),
      .item_o   (),
      .next_section_o(),
      .next_item_o   (),
      .fresh_o  (),
      .round_o  (),
      .turn_o   ()
  );

  logic [BA-1:0] lane_at_q [0:15];
  for (genvar l = 0; l < 16; l++) begin : g_lane_at
    always_ff @(posedge clk_i) if (start_i) lane_at_q[l] <= stream_i.lane * BA'(l);
  end

  // Addresses of the indices.
  logic [BA-1:0] index_at;
  logic [BA-1:0] index_lane_q [0:15];
  hd_vec_walk u_index_walk (
      .clk_i    (clk_i),
      .rst_ni   (rst_ni),
      .start_i  (start_i && scatter_i),
      .loops_i  (loops_i),
      .stream_i (index_stream_i),
      .counts_i (counts),
      .gated_i  (1'b0),
      .open_i   (3'd0),
      .adv_i    (adv),
      .again_i  (1'b0),
      .busy_o   (),
      .valid_o  (),
      .addr_o   (index_at),
      .lanes_o  (),
      .e_o      (),
      .r1_o     (),
      .slot_o   (),
      .section_o(),
      .item_o   (),
      .next_section_o(),
      .next_item_o   (),
      .fresh_o  (),
      .round_o  (),
      .turn_o   ()
  );
  for (genvar l = 0; l < 16; l++) begin : g_index_at
    always_ff @(posedge clk_i) if (start_i) index_lane_q[l] <= index_stream_i.lane * BA'(l);
  end

  // Queue.
  logic [511:0] queue_q [0:QUEUE-1];
  logic [QB-1:0] rd_q, wr_q;
  logic [QB:0] held_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rd_q <= '0;
      wr_q <= '0;
      held_q <= '0;
    end else begin
`ifndef SYNTHESIS
      if (push_i) assert (held_q != (QB + 1)'(QUEUE));
`endif
      if (push_i) wr_q <= wr_q + QB'(1);
      if (adv) rd_q <= rd_q + QB'(1);
      if (push_i != adv) held_q <= push_i ? held_q + (QB+1)'(1) : held_q - (QB+1)'(1);
    end
    if (push_i) queue_q[wr_q] <= data_i;
  end

  // The step of this cycle.
  logic part_q, open_q, active, bad, step;
  logic [15:0] pend_q, pending, mask;
  logic [3:0] first;
  logic [31:0] index, value, part;
  logic [BA-1:0] origin, a;
  logic [LA-1:0] line_q, line;
  logic [31:0] new_data [0:15];
  logic [31:0] new_mask [0:15];
  logic [31:0] data_q [0:15];
  logic [31:0] mask_q [0:15];
  logic [31:0] lane_data [0:15];
  logic [31:0] patch_q [0:15];       // what lower lanes have stored over the indices
  logic [31:0] patch_mask_q [0:15];
  logic [15:0] hit;
  logic [BA-1:0] index_a;
  logic [511:0] head;
  logic [31:0] unit;
  logic same;
  assign head = queue_q[rd_q];
  for (genvar l = 0; l < 16; l++) begin : g_head
    assign lane_data[l] = head[32*l +: 32];
  end
  assign active = held_q != 0 && walk_valid && !fault_o && (!scatter_i || index_valid_i);
  always_comb begin
    pending = '0;
    mask = '0;
    hit = '0;
    index_a = '0;
    first = '0;
    index = '0;
    bad = 1'b0;
    origin = addr;
    a = '0;
    line = '0;
    value = '0;
    part = '0;
    unit = '0;
    for (int i = 0; i < 16; i++) begin
      new_data[i] = '0;
      new_mask[i] = '0;
    end
    if (active) begin
      pending = part_q ? pend_q : one_i ? 16'd1 : ~(16'hffff << lanes);
      for (int l = 15; l >= 0; l--) if (pending[l]) first = l[3:0];
      if (scatter_i) begin
        index = (index_i[{first, 5'd0} +: 32] & ~patch_mask_q[first]) |
            (patch_q[first] & patch_mask_q[first]);
        bad = index[31] || index >= bound_i;
        origin = addr + index[BA-1:0] * index_stride_i;
      end
      a = origin + lane_at_q[first];
      line = a[BA-1:6];
      case (hd_vec_pkg::log2_bytes(stream_i.kind))
        2'd0: unit = 32'h000000ff;
        2'd1: unit = 32'h0000ffff;
        default: unit = 32'hffffffff;
      endcase
      for (int l = 0; l < 16; l++) begin
        a = origin + lane_at_q[l];
        if (pending[l] && a[BA-1:6] == line && (!scatter_i || first == l[3:0])) begin
          mask[l] = 1'b1;
          value = hd_vec_pkg::store_element(stream_i.kind, lane_data[l]) << {a[1:0], 3'd0};
          part = unit << {a[1:0], 3'd0};
          new_data[a[5:2]] = (new_data[a[5:2]] & ~part) | (value & part);
          new_mask[a[5:2]] = new_mask[a[5:2]] | part;
        end
      end
      if (scatter_i) begin
        value = hd_vec_pkg::store_element(stream_i.kind, lane_data[first]);
        a = origin + lane_at_q[first];
        value = value << {a[1:0], 3'd0};
        part = unit << {a[1:0], 3'd0};
        for (int l = 0; l < 16; l++) begin
          index_a = index_at + index_lane_q[l];
          hit[l] = (index_a ^ a) < BA'(4);  // the same aligned word
        end
      end
    end
  end
  logic full, other, move, out_q;
  logic [63:0] strobes;
  assign full = open_q && strobes == 64'hffffffffffffffff;
  assign other = line != line_q;
  assign move = open_q && (full || (active && !bad && other) || (flush_i && held_q == 0)) &&
      (!out_q || ack_i);
  assign same = open_q && !other && !move;
  assign step = active && !bad && (!open_q || same || move);
  assign adv = step && mask == pending;
  assign done_o = adv;
  assign index_pop_o = adv && scatter_i;
  assign req_o = out_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      part_q <= 1'b0;
      open_q <= 1'b0;
      out_q <= 1'b0;
      fault_o <= 1'b0;
    end else begin
      if (active && bad) fault_o <= 1'b1;
      if (step) begin
        part_q <= mask != pending;
        open_q <= 1'b1;
      end else if (move) begin
        open_q <= 1'b0;
      end
      if (move) out_q <= 1'b1;
      else if (ack_i) out_q <= 1'b0;
    end
    if (active && bad) fault_index_o <= index;
    if (step) begin
      pend_q <= pending & ~mask;
      line_q <= line;
    end
  end
  for (genvar i = 0; i < 16; i++) begin : g_patch
    always_ff @(posedge clk_i) begin
      if (start_i || (adv && scatter_i)) begin
        patch_mask_q[i] <= '0;
        patch_q[i] <= '0;
      end else if (step && hit[i]) begin
        patch_mask_q[i] <= patch_mask_q[i] | part;
        patch_q[i] <= (patch_q[i] & ~part) | (value & part);
      end
    end
  end
  for (genvar i = 0; i < 16; i++) begin : g_open
    always_ff @(posedge clk_i) begin
      if (step) begin
        data_q[i] <= same ? (data_q[i] & ~new_mask[i]) | new_data[i] : new_data[i];
        mask_q[i] <= same ? mask_q[i] | new_mask[i] : new_mask[i];
      end
    end
  end
  assign busy_o = held_q != 0 || open_q || out_q;

  // The line that leaves.
  logic [511:0] data;
  for (genvar i = 0; i < 16; i++) begin : g_out
    assign data[32*i +: 32] = data_q[i];
    for (genvar b = 0; b < 4; b++) begin : g_byte
      assign strobes[4*i+b] = mask_q[i][8*b];
    end
  end
  always_ff @(posedge clk_i) begin
    if (move) begin
      line_o <= line_q;
      wdata_o <= data;
      wstrb_o <= strobes;
    end
  end
endmodule
