// SPDX-License-Identifier: Apache-2.0
// Packing side of the store engine: walks the command again and makes beats of device memory out of
// SRAM words, and bursts out of beats.
//
//   0  the two oldest words and the walker give the bytes of one beat (contiguous runs) or one
//      element (strided ones); or one plane of a chunk (grouped, through hd_dma_collect)
//   1  pending beat: what follows in the same beat is merged into it, whatever row it is of;
// anything
//      else pushes it into the write FIFO
// A burst goes on while beats follow each other within 256 bytes of device memory and within a
// command (short bursts: their data waits less for the end); when it ends, all its beats are in
// the FIFO (or go in at the same time), and it is offered to
// hd_dma_burst. So a run of D beats takes D cycles, and dense rows join into long bursts.
//
// end_o: a command's last burst was closed (or it has none: sync), in order.
module hd_store_pack (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        q_valid_i,
    input  hd_dma_pkg::dma_t            q_dma_i,
    output logic                        q_pop_o,
    input  logic                        hold_i,       // a fault: begin nothing
    input  logic                        row_valid_i,
    input  logic [hd_dma_pkg::OFFW-1:0] row_i,
    output logic                        row_pop_o,
    input  logic [ 1:0]                 count_i,
    input  logic [129:0]                head0_i,      // of a grouped command, last of a chunk, word
    input  logic [129:0]                head1_i,
    output logic [ 1:0]                 pop_o,
    // Write FIFO.
    input  logic                        w_room_i,
    output logic                        w_push_o,
    output logic [127:0]                w_data_o,
    output logic [15:0]                 w_strb_o,
    // Bursts.
    output logic                        burst_valid_o,
    input  logic                        burst_ready_i,
    output logic [hd_dma_pkg::OFFW-1:0] burst_off_o,
    output logic [10:0]                 burst_bytes_o,
    output logic [63:0]                 burst_base_o,
    output logic [63:0]                 burst_size_o,
    output logic                        burst_writable_o,
    input  logic                        end_ready_i,
    output logic                        end_o,
    output logic [ 7:0]                 bytes_o,
    output logic                        busy_o,       // a command is being packed
    output logic                        pending_o     // a beat is pending
);
  localparam int OFFW = hd_dma_pkg::OFFW;
  hd_dma_pkg::dma_t d_q;
  logic busy_q, idx;
  assign idx = (d_q.kind == hd_dma_pkg::KIND_INDEX);

  logic run, run_last, next, load, plane_last;
  logic [4:0] run_n, plane;
  logic [OFFW-1:0] run_src;
  logic [23:0] run_dst;
  hd_dma_walk u_walk (
      .clk_i,
      .rst_ni,
      .load_i(load),
      .cmd_first_i(q_dma_i),
      .cmd_i(d_q),
      .elements_i(1'b0),
      .planes_i(1'b1),
      .next_i(next),
      .valid_o(run),
      .last_o(run_last),
      .src_o(run_src),
      .dst_o(run_dst),
      .n_o(run_n),
      .plane_o(plane),
      .plane_last_o(plane_last)
  );

  // ---- Planes of a grouped command, instead of words.
  logic coll_take, coll_valid;
  logic [127:0] vec;
  logic [23:0] dst0;  // element 0 of plane 0
  assign dst0 = run_dst - {19'd0, plane};
  hd_dma_collect u_collect (
      .clk_i,
      .rst_ni,
      .word_valid_i(count_i != 2'd0 && head0_i[129]),
      .word_i(head0_i[127:0]),
      .last_i(head0_i[128]),
      .take_o(coll_take),
      .valid_o(coll_valid),
      .use_i(busy_q && d_q.group && coll_valid),
      .stride_i(d_q.t0[4:0]),
      .o_i({1'b0, dst0[3:0]} + plane),
      .vec_o(vec),
      .free_i(next && d_q.group && plane_last)
  );

  // ---- The operation of this cycle.
  logic flow;  // a run of bytes
  logic cont_q, there, two, fire, op_end, run_end;
  logic [OFFW-1:0] src, src_q;
  logic [3:0] dst, dst_q;   // byte in the SRAM word
  logic [20:0] rem, rem_q;  // bytes of a contiguous run, else elements
  logic [3:0] b;            // byte in the beat
  logic [4:0] k, room, shift;
  logic [5:0] upto, step;
  logic [1:0] pops;
  logic [15:0] strb;
  logic [383:0] window;
  logic [127:0] data;
  logic [OFFW-1:4] beat;  // device beat address
  logic [OFFW-1:0] dev;
  always_comb begin
    src = src_q;
    dst = dst_q;
    rem = rem_q;
    there = 1'b0;
    dev = '0;
    b = 4'd0;
    k = 5'd0;
    room = 5'd0;
    upto = 6'd0;
    step = 6'd0;
    two = 1'b0;
    run_end = 1'b0;
    pops = 2'd0;
    shift = 5'd0;
    strb = 16'd0;
    if (busy_q) begin
      there = run;
      if (!cont_q) begin
        src = idx ? row_i : run_src;
        dst = d_q.group ? 4'd0 : run_dst[3:0];
        rem = d_q.group ? {16'd0, run_n} : d_q.cont ? d_q.t_span : {5'd0, d_q.n0};
        if (idx) there = run && row_valid_i;
      end
      dev = d_q.base[OFFW-1:0] + src;
      b = dev[3:0];
      room = 5'd16 - {1'b0, b};
      k = !flow ? d_q.esize : (rem < {16'd0, room}) ? rem[4:0] : room;
      run_end = flow ? (rem == {16'd0, k}) : (rem == 21'd1);
      upto = {2'd0, dst} + {1'b0, k};
      step = {2'd0, dst} + (d_q.cont ? {1'b0, k} : {1'b0, d_q.t0[4:0]});
      two = (upto > 6'd16);
      if (d_q.group) there = there && coll_valid;
      else if (count_i == 2'd0 || (two && count_i == 2'd1)) there = 1'b0;
      if (d_q.group) pops = 2'd0;
      else if (run_end || d_q.t_single) pops = two ? 2'd2 : 2'd1;
      else pops = {1'b0, step[5] | step[4]};
      shift = 5'd16 + {1'b0, dst} - {1'b0, b};
      strb = ((16'd1 << k[3:0]) - 16'd1) | {16{k[4]}};
      strb = strb << b;
    end
  end
  assign flow = d_q.cont || d_q.group;
  assign beat = dev[OFFW-1:4];
  assign window = {head1_i[127:0], d_q.group ? vec : head0_i[127:0], 128'd0};
  always_comb begin
    data = 128'd0;
    if (there) data = 128'(window >> {shift, 3'd0});
  end

  // ---- The pending beat and its burst.
  logic pend_q, pend_end_q, same, goes_on, push, push_ok;
  logic [127:0] pend_data_q;
  logic [15:0] pend_strb_q;
  logic [OFFW-1:4] pend_beat_q;
  logic [OFFW-1:0] low_q, high_q, high;  // the burst's bytes: low .. high-1
  logic [127:0] mask;
  assign high = src + OFFW'(k);
  assign same = there && pend_q && !pend_end_q && (beat == pend_beat_q);
  assign goes_on = there && pend_q && !pend_end_q && (beat == pend_beat_q + (OFFW-4)'(1)) &&
      (pend_beat_q[7:4] != 4'd15);
  // May the pending beat leave? At its end it needs a place for the burst, too.
  assign push_ok = w_room_i && (goes_on || (burst_ready_i && (end_ready_i || !pend_end_q)));
  assign fire = there && !hold_i && (!pend_q || same || push_ok);
  assign push = pend_q && push_ok && !same && !hold_i && (pend_end_q || fire);
  assign w_push_o = push;
  assign w_data_o = pend_data_q;
  assign w_strb_o = pend_strb_q;
  assign burst_valid_o = push && !goes_on;
  assign burst_off_o = low_q;
  assign burst_bytes_o = 11'(high_q - low_q);

  // The region's entry belongs to the pending beat, whose command may have been left already.
  logic [63:0] base_q, size_q;
  logic writable_q;
  assign burst_base_o = base_q;
  assign burst_size_o = size_q;
  assign burst_writable_o = writable_q;

  assign next = fire && run_end;
  assign op_end = next && run_last;
  assign row_pop_o = next && idx;
  assign pop_o = coll_take ? 2'd1 : fire ? pops : 2'd0;  // never both: words come in order
  assign bytes_o = fire ? {3'd0, k} : 8'd0;

  logic sync, q_go;
  assign q_go = q_valid_i && !q_dma_i.bad && !hold_i;
  assign sync = q_go && !busy_q && q_dma_i.kind == hd_dma_pkg::KIND_SYNC && !pend_q && end_ready_i;
  assign load = q_go && q_dma_i.kind != hd_dma_pkg::KIND_SYNC && (!busy_q || op_end);
  assign q_pop_o = sync || load;
  assign end_o = sync || (push && pend_end_q);
  assign busy_o = busy_q;
  assign pending_o = pend_q;

  generate
    for (genvar i = 0; i < 16; i = i + 1) begin : g_mask
      assign mask[8*i+:8] = {8{strb[i]}};
    end
  endgenerate

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      cont_q <= 1'b0;
      pend_q <= 1'b0;
      pend_end_q <= 1'b0;
    end else begin
      if (load) begin
        busy_q <= 1'b1;
        d_q <= q_dma_i;
      end else if (op_end) begin
        busy_q <= 1'b0;
      end
      if (fire) begin
        cont_q <= !run_end;
        src_q <= src + (flow ? OFFW'(k) : OFFW'(d_q.s0));
        dst_q <= dst + (flow ? k[3:0] : d_q.t0[3:0]);
        rem_q <= rem - (flow ? {16'd0, k} : 21'd1);
      end
      if (fire) begin
        pend_q <= 1'b1;
        pend_end_q <= op_end;
      end else if (push) begin
        pend_q <= 1'b0;
      end
    end
    if (fire) begin
      pend_beat_q <= beat;
      pend_strb_q <= same ? pend_strb_q | strb : strb;
      pend_data_q <= same ? (pend_data_q & ~mask) | (data & mask) : data;
      base_q <= d_q.base;
      size_q <= d_q.size;
      writable_q <= d_q.writable;
      if (same || goes_on) begin
        if (src < low_q) low_q <= src;
        if (high > high_q) high_q <= high;
      end else begin
        low_q <= src;
        high_q <= high;
      end
    end
  end
endmodule
