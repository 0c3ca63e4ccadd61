// SPDX-License-Identifier: Apache-2.0
// Walks the loops of a vector command in the order in which the engine executes them, and carries one
// stream's address along. Every unit of the engine (three operand streams, indices, the sequencer, the
// store path) has one and moves at its own pace.
//
//   for strip: for section: [body: for r3, r2, r1:] for item < counts[section]: for slot
//
// A strip is up to SLOTS groups along loops.dim when loops.strips, else one group. Strips, r loops,
// items and slots advance in one cycle (adv_i); an address is never multiplied: each level keeps the
// address with all inner indices 0.
//
// With gated_i (loads must not pass stores) the walk stops at the begin of every section and of every
// iteration of the body until open_i of that section pulses.
module hd_vec_walk (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,   // pulse; the inputs below are stable from here on
    input  hd_vec_pkg::loops_t        loops_i,
    input  hd_vec_pkg::stream_t       stream_i,
    input  hd_vec_pkg::counts_t       counts_i,
    input  logic                      gated_i,
    input  logic [2:0]                open_i,
    input  logic                      adv_i,     // the current place is done
    input  logic                      again_i,   // with adv_i: after the last slot, the same item once more
    output logic                      busy_o,    // not yet at the end
    output logic                      valid_o,   // there is a current place
    output logic [hd_vec_pkg::BA-1:0] addr_o,    // of lane 0
    output logic [4:0]                lanes_o,   // valid lanes, from lane 0 on
    output logic [15:0]               e_o,       // element index of lane 0
    output logic [15:0]               r1_o,
    output logic [2:0]                slot_o,
    output logic [1:0]                section_o,
    output logic [8:0]                item_o,
    output logic [1:0]                next_section_o,  // those of the next cycle
    output logic [8:0]                next_item_o,
    output logic                      fresh_o,   // first item of a strip
    output logic                      round_o,   // last slot
    output logic                      turn_o     // last place of a section or of an iteration of the body
);
  localparam int BA = hd_vec_pkg::BA;
  localparam [1:0] PRO = hd_vec_pkg::SEC_PROLOGUE;
  localparam [1:0] BODY = hd_vec_pkg::SEC_BODY;
  localparam [1:0] EPI = hd_vec_pkg::SEC_EPILOGUE;

  logic busy_q, open_q, fresh_q;
  logic [1:0] sec_q;
  logic [8:0] item_q;
  logic [2:0] slot_q;
  logic [15:0] r1_q, r2_q, r3_q, o1_q, o2_q, o3_q;
  logic [12:0] chunk_q;
  logic [BA-1:0] v_q, q1_q, q2_q, q3_q, b0_q, b1_q, b2_q, b3_q;

  // Slots of this strip.
  logic [15:0] left;
  logic [2:0] last_slot;
  logic [8:0] last_item;
  logic slot_end, item_end, r_end;
  always_comb begin
    left = 16'd1;
    last_slot = 3'd0;
    last_item = 9'd0;
    if (busy_q) begin
      case (loops_i.dim)
        2'd0: left = {3'd0, loops_i.chunks - chunk_q};
        2'd1: left = loops_i.n_o1 - o1_q;
        2'd2: left = loops_i.n_o2 - o2_q;
        default: left = loops_i.n_o3 - o3_q;
      endcase
      if (loops_i.strips) last_slot = (left >= 16'd8) ? 3'd7 : left[2:0] - 3'd1;
      last_item = ((sec_q == PRO) ? counts_i.prologue :
                   (sec_q == BODY) ? counts_i.body : counts_i.epilogue) - 9'd1;
    end
  end
  assign slot_end = slot_q == last_slot;
  assign item_end = item_q == last_item && !again_i;
  assign r_end = r1_q == loops_i.n_r1 - 16'd1 && r2_q == loops_i.n_r2 - 16'd1 &&
      r3_q == loops_i.n_r3 - 16'd1;

  // Valid lanes.
  logic [11:0] chunk;
  logic [15:0] rest;
  logic [4:0] count;
  always_comb begin
    chunk = chunk_q[11:0];
    rest = 16'd0;
    count = 5'd0;
    if (busy_q) begin
      if (loops_i.dim == 2'd0) chunk = chunk_q[11:0] + {9'd0, slot_q};
      rest = loops_i.lanes - {chunk, 4'd0};
      count = (rest >= 16'd16) ? 5'd16 : {1'b0, rest[3:0]};
      if (loops_i.tail != 0 && r1_q == loops_i.n_r1 - 16'd1 && {1'b0, loops_i.tail} < count)
        count = {1'b0, loops_i.tail};
    end
  end

  // The counter goes on from `now` to `next` (16 bits: a step past 65535 wraps).
  function automatic over(input [15:0] next, input [15:0] now, input [15:0] n);
    over = next < n && next > now;
  endfunction

  // The next place.
  logic [1:0] first_sec;
  logic body_on, to_epi, next_strip;
  logic [BA-1:0] lane16, slot_step, step, from, sum;
  logic [2:0] level;  // 0 slot, 1 r1, 2 r2, 3 r3, 4 chunk, 5 o1, 6 o2, 7 o3
  logic [12:0] chunk_n;
  logic [15:0] o1_n, o2_n, o3_n;
  logic strips_end;
  assign first_sec = (counts_i.prologue != 0) ? PRO : (counts_i.body != 0) ? BODY : EPI;
  assign body_on = sec_q == BODY && !r_end;  // another iteration
  assign to_epi = sec_q != EPI && counts_i.epilogue != 0;
  assign next_strip = !body_on && !(sec_q == PRO && counts_i.body != 0) && !to_epi;
  assign lane16 = {stream_i.lane[BA-5:0], 4'd0};
  always_comb begin
    case (loops_i.dim)
      2'd0: slot_step = lane16;
      2'd1: slot_step = stream_i.o1;
      2'd2: slot_step = stream_i.o2;
      default: slot_step = stream_i.o3;
    endcase
    chunk_n = chunk_q + ((loops_i.strips && loops_i.dim == 2'd0) ? 13'd8 : 13'd1);
    o1_n = o1_q + ((loops_i.strips && loops_i.dim == 2'd1) ? 16'd8 : 16'd1);
    o2_n = o2_q + ((loops_i.strips && loops_i.dim == 2'd2) ? 16'd8 : 16'd1);
    o3_n = o3_q + ((loops_i.strips && loops_i.dim == 2'd3) ? 16'd8 : 16'd1);
    level = 3'd0;
    if (slot_end && item_end) begin
      if (body_on)
        level = (r1_q != loops_i.n_r1 - 16'd1) ? 3'd1 : (r2_q != loops_i.n_r2 - 16'd1) ? 3'd2 : 3'd3;
      else if (next_strip)
        level = (chunk_n < loops_i.chunks) ? 3'd4 : (over(o1_n, o1_q, loops_i.n_o1)) ? 3'd5 :
            (over(o2_n, o2_q, loops_i.n_o2)) ? 3'd6 : 3'd7;
    end
    case (level)
      3'd1: step = stream_i.r1;
      3'd2: step = stream_i.r2;
      3'd3: step = stream_i.r3;
      3'd4: step = lane16;
      3'd5: step = stream_i.o1;
      3'd6: step = stream_i.o2;
      3'd7: step = stream_i.o3;
      default: step = slot_step;
    endcase
    if (loops_i.strips && level == {1'b1, loops_i.dim}) step = {step[BA-4:0], 3'd0};
    case (level)
      3'd1: from = q1_q;
      3'd2: from = q2_q;
      3'd3: from = q3_q;
      3'd4: from = b0_q;
      3'd5: from = b1_q;
      3'd6: from = b2_q;
      3'd7: from = b3_q;
      default: from = v_q;
    endcase
    sum = from + step;
    strips_end = next_strip && level == 3'd7 && !over(o3_n, o3_q, loops_i.n_o3);
  end

  logic [1:0] sec_n;
  logic [8:0] item_n;
  always_comb begin
    sec_n = sec_q;
    item_n = item_q;
    if (start_i) begin
      sec_n = first_sec;
      item_n = 9'd0;
    end else if (busy_q && adv_i && slot_end && !again_i) begin
      item_n = item_end ? 9'd0 : item_q + 9'd1;
      if (item_end && !body_on)
        sec_n = next_strip ? first_sec : (sec_q == PRO && counts_i.body != 0) ? BODY : EPI;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else if (start_i) begin
      busy_q <= counts_i != 0;
    end else if (busy_q && adv_i && slot_end && item_end && strips_end) begin
      busy_q <= 1'b0;
    end
    if (start_i || adv_i) begin
      sec_q <= sec_n;
      item_q <= item_n;
    end
    if (start_i) begin
      open_q <= 1'b0;
      fresh_q <= 1'b1;
      slot_q <= 3'd0;
      {r1_q, r2_q, r3_q, o1_q, o2_q, o3_q} <= '0;
      chunk_q <= 13'd0;
      v_q <= stream_i.base;
      q1_q <= stream_i.base;
      q2_q <= stream_i.base;
      q3_q <= stream_i.base;
      b0_q <= stream_i.base;
      b1_q <= stream_i.base;
      b2_q <= stream_i.base;
      b3_q <= stream_i.base;
    end else if (busy_q && adv_i) begin
      if (!slot_end) begin
        slot_q <= slot_q + 3'd1;
        v_q <= sum;
      end else begin
        slot_q <= 3'd0;
        if (!again_i) fresh_q <= 1'b0;
        if (!item_end) begin
          v_q <= q1_q;
        end else begin
          open_q <= 1'b0;
          if (body_on) begin
            v_q <= sum;
            q1_q <= sum;
            r1_q <= (level == 3'd1) ? r1_q + 16'd1 : 16'd0;
            if (level != 3'd1) begin
              q2_q <= sum;
              r2_q <= (level == 3'd2) ? r2_q + 16'd1 : 16'd0;
            end
            if (level == 3'd3) begin
              q3_q <= sum;
              r3_q <= r3_q + 16'd1;
            end
          end else begin
            {r1_q, r2_q, r3_q} <= '0;
            if (!next_strip) begin
              v_q <= b0_q;
              q1_q <= b0_q;
              q2_q <= b0_q;
              q3_q <= b0_q;
            end else begin
              fresh_q <= 1'b1;
              v_q <= sum;
              q1_q <= sum;
              q2_q <= sum;
              q3_q <= sum;
              b0_q <= sum;
              chunk_q <= (level == 3'd4) ? chunk_n : 13'd0;
              if (level >= 3'd5) begin
                b1_q <= sum;
                o1_q <= (level == 3'd5) ? o1_n : 16'd0;
              end
              if (level >= 3'd6) begin
                b2_q <= sum;
                o2_q <= (level == 3'd6) ? o2_n : 16'd0;
              end
              if (level == 3'd7) begin
                b3_q <= sum;
                o3_q <= o3_n;
              end
            end
          end
        end
      end
    end else if (busy_q && open_i[sec_q]) begin
      open_q <= 1'b1;
    end
  end

  assign busy_o = busy_q;
  assign valid_o = busy_q && (!gated_i || open_q);
  assign addr_o = v_q;
  assign lanes_o = count;
  assign e_o = {chunk, 4'd0};
  assign r1_o = r1_q;
  assign slot_o = slot_q;
  assign section_o = sec_q;
  assign item_o = item_q;
  assign next_section_o = sec_n;
  assign next_item_o = item_n;
  assign fresh_o = fresh_q;
  assign round_o = slot_end;
  assign turn_o = slot_end && item_end;
endmodule
