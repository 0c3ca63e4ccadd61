// SPDX-License-Identifier: Apache-2.0
// One operand stream of the vector engine: walks the loops, asks for lines of SRAM and hands vectors of
// 16 converted elements to the sequencer, in the order in which micro-instructions name the stream.
//
//   cycle 0  lane addresses; all lanes in the line of the first missing lane and in the next line
//            (previous one for negative strides) make a *step*; missing lines are asked for (one per
//            cycle); the step goes into a queue of eight (as long as a miss takes, at one vector per
//            cycle)
//   later    hd_vec_lines takes the step when its lines are there
//
// The line buffer keeps 16 lines (two banks of 8: even and odd lines), so neighbouring accesses,
// broadcasts and the rows of a matrix that the slots of a strip walk along ask SRAM once. A vector of
// neighbours costs one step; 16 lanes far from each other cost 16.
//
// With gather_i every lane's address gets index * index_stride_i added and is a step of its own; an
// index out of bounds stops the stream with fault_o.
//
// With PICK (stream A) and pick_i the offsets of the lanes come with every vector (hd_vec_pick); which lanes
// make a step is found as ever.
module hd_vec_stream #(
    parameter int PICK = 0
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,
    input  hd_vec_pkg::loops_t        loops_i,
    input  hd_vec_pkg::stream_t       stream_i,
    input  hd_vec_pkg::counts_t       counts_i,
    input  logic                      gated_i,
    input  logic [2:0]                open_i,
    input  logic                      gather_i,
    input  logic [31:0]               bound_i,
    input  logic [hd_vec_pkg::BA-1:0] index_stride_i,
    input  logic                      index_valid_i,
    input  logic [511:0]              index_i,
    output logic                      index_pop_o,
    output logic                      fault_o,
    output logic [31:0]               fault_index_o,
    input  logic                      pick_i,
    input  logic                      pick_valid_i,
    input  logic [16*hd_vec_pkg::BA-1:0] pick_at_i,
    output logic                      pick_pop_o,
    output logic [16*hd_vec_pkg::BA-1:0] lane_at_o,
    // lines
    output logic                      req_o,
    output logic [hd_vec_pkg::LA-1:0] req_line_o,
    output logic [2:0]                req_way_o,
    input  logic                      req_ack_i,
    input  logic [3:0]                fill_i,       // per port: its word of a line arrives
    input  logic [3:0]                fill_bank_i,
    input  logic [11:0]               fill_way_i,
    input  logic [511:0]              rdata_i,
    // vectors
    output logic                      valid_o,
    output logic [511:0]              data_o,
    input  logic                      pop_i,
    output logic                      busy_o       // elements are still to be read
);
  localparam int BA = hd_vec_pkg::BA;
  localparam int LA = hd_vec_pkg::LA;

  logic walk_busy, walk_valid, walk_turn, adv;
  logic [BA-1:0] addr;
  logic [4:0] lanes;
  hd_vec_walk u_walk (
      .clk_i    (clk_i),
      .rst_ni   (rst_ni),
      .start_i  (start_i),
      .loops_i  (loops_i),
      .stream_i (stream_i),
      .counts_i (counts_i),
      .gated_i  (gated_i),
      .open_i   (open_i),
      .adv_i    (adv),
      .again_i  (1'b0),
      .busy_o   (walk_busy),
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
      .turn_o   (walk_turn)
  );

  // Offsets of the lanes, once per command, or of the vector.
  logic [BA-1:0] lane_at_q [0:15];
  logic [BA-1:0] lane_at [0:15];
  for (genvar l = 0; l < 16; l++) begin : g_lane_at
    always_ff @(posedge clk_i) if (start_i) lane_at_q[l] <= stream_i.lane * BA'(l);
    assign lane_at_o[BA*l +: BA] = lane_at_q[l];
    assign lane_at[l] = (PICK != 0 && pick_i) ? pick_at_i[BA*l +: BA] : lane_at_q[l];
  end

  // Tags. A line's bank is its lowest bit.
  logic [LA-2:0] tag_q [0:15];  // {bank, way}
  logic [15:0] known_q, filled0_q, filled1_q, filled2_q, filled3_q;
  logic [2:0] next0_q, next1_q;  // the way that goes next, per bank

  // Steps that wait for their lines.
  logic [15:0] mask_q [0:7];
  logic [111:0] at_q [0:7];   // per lane: bank, byte in the line
  logic [2:0] way0_q [0:7];
  logic [2:0] way1_q [0:7];
  logic [7:0] use0_q, use1_q, first_q, last_q;
  logic [2:0] rd_q, wr_q;
  logic [3:0] held_q;
  logic take;

  // The step of this cycle.
  logic [15:0] pend_q;     // lanes not served yet, when part_q
  logic part_q;
  logic active, index_bad;
  logic [15:0] pending, near, mask;
  logic [3:0] first;
  logic [31:0] index;
  logic [BA-1:0] origin, a;
  logic [LA-1:0] line0, line1, even, odd;
  logic need0, need1, hit0, hit1, busy0, busy1, miss0, miss1, push;
  logic [2:0] hitway0, hitway1, way0, way1;
  logic [111:0] at;
  logic [6:0] at_u [0:15];
  assign active = walk_valid && !fault_o && (!gather_i || index_valid_i) &&
      (PICK == 0 || !pick_i || pick_valid_i) && held_q != 4'd8;
  always_comb begin
    pending = '0;
    near = '0;
    mask = '0;
    first = '0;
    index = '0;
    index_bad = 1'b0;
    origin = addr;
    a = '0;
    line0 = '0;
    line1 = '0;
    for (int l = 0; l < 16; l++) at_u[l] = '0;
    if (active) begin
      pending = part_q ? pend_q : ~(16'hffff << lanes);
      for (int l = 15; l >= 0; l--) if (pending[l]) first = l[3:0];
      if (gather_i) begin
        index = index_i[{first, 5'd0} +: 32];
        index_bad = index[31] || index >= bound_i;
        origin = addr + index[BA-1:0] * index_stride_i;
      end
      a = origin + lane_at[first];
      line0 = a[BA-1:6];
      line1 = stream_i.negative ? line0 - LA'(1) : line0 + LA'(1);
      if (gather_i) begin
        mask[first] = 1'b1;
        at_u[first] = a[6:0];
      end else begin
        for (int l = 0; l < 16; l++) begin
          a = origin + lane_at[l];
          at_u[l] = a[6:0];
          if (pending[l] && a[BA-1:6] == line1) near[l] = 1'b1;
          if (pending[l] && a[BA-1:6] == line0) mask[l] = 1'b1;
        end
        mask = mask | near;
      end
    end
  end
  for (genvar l = 0; l < 16; l++) begin : g_at
    assign at[7*l +: 7] = at_u[l];
  end

  // Are its lines there?
  always_comb begin
    need0 = 1'b0;
    need1 = 1'b0;
    even = line0[0] ? line1 : line0;
    odd = line0[0] ? line0 : line1;
    hit0 = 1'b0;
    hit1 = 1'b0;
    hitway0 = 3'd0;
    hitway1 = 3'd0;
    busy0 = 1'b0;
    busy1 = 1'b0;
    if (active) begin
      need0 = !line0[0] || near != 0;
      need1 = line0[0] || near != 0;
      for (int w = 0; w < 8; w++) begin
        if (known_q[w] && tag_q[w] == even[LA-1:1]) begin
          hit0 = 1'b1;
          hitway0 = w[2:0];
        end
        if (known_q[8+w] && tag_q[8+w] == odd[LA-1:1]) begin
          hit1 = 1'b1;
          hitway1 = w[2:0];
        end
      end
      // A way that a waiting step reads from must stay.
      for (int s = 0; s < 8; s++) begin
        if (use0_q[s] && way0_q[s] == next0_q) busy0 = 1'b1;
        if (use1_q[s] && way1_q[s] == next1_q) busy1 = 1'b1;
      end
    end
  end
  // With both lines missing the first one is asked for, and the next cycle goes on.
  logic ask0, ask1, both;
  assign miss0 = need0 && !hit0;
  assign miss1 = need1 && !hit1;
  assign both = miss0 && miss1;
  assign ask0 = active && !index_bad && miss0 && !(both && line0[0]) && !busy0;
  assign ask1 = active && !index_bad && miss1 && !(both && !line0[0]) && !busy1;
  assign req_o = ask0 || ask1;
  assign req_line_o = ask0 ? even : odd;
  assign req_way_o = ask0 ? next0_q : next1_q;
  assign way0 = hit0 ? hitway0 : next0_q;
  assign way1 = hit1 ? hitway1 : next1_q;
  assign push = active && !index_bad && !both &&
      (!miss0 || (ask0 && req_ack_i)) && (!miss1 || (ask1 && req_ack_i));
  assign adv = push && mask == pending;
  assign index_pop_o = adv && walk_turn && gather_i;
  assign pick_pop_o = PICK != 0 && adv && pick_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_q <= '0;
      held_q <= '0;
      part_q <= 1'b0;
      fault_o <= 1'b0;
      use0_q <= '0;
      use1_q <= '0;
      rd_q <= '0;
      wr_q <= '0;
      next0_q <= '0;
      next1_q <= '0;
    end else begin
      if (start_i || (gated_i && open_i != 0)) known_q <= '0;
      if (active && index_bad) fault_o <= 1'b1;
      if (req_o && req_ack_i) begin
        if (ask0) begin
          known_q[{1'b0, next0_q}] <= 1'b1;
          next0_q <= next0_q + 3'd1;
        end else begin
          known_q[{1'b1, next1_q}] <= 1'b1;
          next1_q <= next1_q + 3'd1;
        end
      end
      if (push) begin
        part_q <= mask != pending;
        use0_q[wr_q] <= need0;
        use1_q[wr_q] <= need1;
        wr_q <= wr_q + 3'd1;
      end
      if (take) begin
        use0_q[rd_q] <= 1'b0;
        use1_q[rd_q] <= 1'b0;
        rd_q <= rd_q + 3'd1;
      end
      if (push != take) held_q <= push ? held_q + 4'd1 : held_q - 4'd1;
    end
    if (active && index_bad) fault_index_o <= index;
    if (req_o && req_ack_i) tag_q[{ask1 && !ask0, req_way_o}] <= req_line_o[LA-1:1];
    if (push) begin
      pend_q <= pending & ~mask;
      mask_q[wr_q] <= mask;
      at_q[wr_q] <= at;
      way0_q[wr_q] <= way0;
      way1_q[wr_q] <= way1;
      first_q[wr_q] <= !part_q;
      last_q[wr_q] <= mask == pending;
    end
  end

  // Which words of the lines have arrived.
  logic [3:0] fill_index [0:3];
  for (genvar p = 0; p < 4; p++) begin : g_fill
    assign fill_index[p] = {fill_bank_i[p], fill_way_i[3*p +: 3]};
  end
  logic [3:0] asked;
  assign asked = {ask1 && !ask0, req_way_o};
  always_ff @(posedge clk_i) begin
    if (fill_i[0]) filled0_q[fill_index[0]] <= 1'b1;
    if (fill_i[1]) filled1_q[fill_index[1]] <= 1'b1;
    if (fill_i[2]) filled2_q[fill_index[2]] <= 1'b1;
    if (fill_i[3]) filled3_q[fill_index[3]] <= 1'b1;
    if (req_o && req_ack_i) begin
      filled0_q[asked] <= 1'b0;
      filled1_q[asked] <= 1'b0;
      filled2_q[asked] <= 1'b0;
      filled3_q[asked] <= 1'b0;
    end
  end
  logic step_valid;
  logic [15:0] filled;
  always_comb begin
    step_valid = 1'b0;
    filled = '0;
    if (held_q != 0) begin
      filled = filled0_q & filled1_q & filled2_q & filled3_q;
      step_valid = (!use0_q[rd_q] || filled[{1'b0, way0_q[rd_q]}]) &&
          (!use1_q[rd_q] || filled[{1'b1, way1_q[rd_q]}]);
    end
  end

  logic lines_busy;
  hd_vec_lines u_lines (
      .clk_i      (clk_i),
      .rst_ni     (rst_ni),
      .kind_i     (stream_i.kind),
      .fill_i     (fill_i),
      .fill_bank_i(fill_bank_i),
      .fill_way_i (fill_way_i),
      .rdata_i    (rdata_i),
      .step_i     (step_valid),
      .take_o     (take),
      .mask_i     (mask_q[rd_q]),
      .at_i       (at_q[rd_q]),
      .way0_i     (way0_q[rd_q]),
      .way1_i     (way1_q[rd_q]),
      .first_i    (first_q[rd_q]),
      .last_i     (last_q[rd_q]),
      .valid_o    (valid_o),
      .data_o     (data_o),
      .pop_i      (pop_i),
      .busy_o     (lines_busy)
  );
  assign busy_o = walk_busy || held_q != 0 || lines_busy;
endmodule
