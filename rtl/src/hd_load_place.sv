// SPDX-License-Identifier: Apache-2.0
// Return side of the load engine: walks the command again and puts arriving beats into SRAM.
//
// Every cycle one operation: the part of a run that lies in one SRAM word (contiguous runs), one
// element (strided ones), or one plane's chunk (grouped, through hd_dma_spread).
//   0  the two oldest beats and the walker give a word: shift by (byte in beat - byte in word)
//   1  request to SRAM, held until granted (urgent when it has waited AGE cycles)
// A word that needs two beats takes both in one cycle, and up to two beats leave, so a run of D
// SRAM
// words takes D cycles whatever the alignments are. The next run, and the next command, follow
// without a gap. fill goes the same way without beats. done_o: the last word was granted.
//
// Faults: a command that was refused (q_bad_i, or halt_i with nothing behind it) or a beat with an
// error: what was under way before is finished, then fault_o rises and nothing is written any more.
// fault_cause_o.addr of a bus error is the device address of the first element in the bad beat.
module hd_load_place #(
    parameter int AGE = 16
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    // Commands, in order.
    input  logic                        q_valid_i,
    input  hd_dma_pkg::dma_t            q_dma_i,
    output logic                        q_pop_o,
    // Why the request side stopped.
    input  logic                        halt_i,
    input  hd_pkg::engine_fault_t       halt_cause_i,
    // Rows of a gather.
    input  logic                        row_valid_i,
    input  logic [hd_dma_pkg::OFFW-1:0] row_i,
    output logic                        row_pop_o,
    // Beats: error, data.
    input  logic [ 1:0]                 count_i,
    input  logic [128:0]                head0_i,
    input  logic [128:0]                head1_i,
    output logic [ 1:0]                 pop_o,
    // SRAM.
    output logic                        wr_req_o,
    output logic                        wr_urgent_o,
    output logic [hd_pkg::AW-1:0]       wr_addr_o,
    output logic [127:0]                wr_data_o,
    output logic [15:0]                 wr_strb_o,
    input  logic                        wr_gnt_i,
    output logic                        done_o,
    output logic [ 7:0]                 bytes_o,
    output logic                        busy_o,
    output logic                        fault_o,
    output hd_pkg::engine_fault_t fault_cause_o
);
  hd_dma_pkg::dma_t d_q;
  logic busy_q, fault_q, err_q;
  logic fill, idx;
  assign fill = (d_q.kind == hd_dma_pkg::KIND_FILL);
  assign idx = (d_q.kind == hd_dma_pkg::KIND_INDEX);

  // ---- The run.
  logic run, run_last, next, plane_last, load;
  logic [hd_dma_pkg::OFFW-1:0] run_src;
  logic [23:0] run_dst;
  logic [4:0] run_n, plane;
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

  // ---- The operation of this cycle.
  logic cont_q, there, two, fire, op_end, run_end, bad_beat;
  logic [hd_dma_pkg::OFFW-1:0] src, src_q;
  logic [23:0] dst, dst_q;
  logic [20:0] rem, rem_q;  // bytes of a contiguous run, else elements
  logic [3:0] a, b;
  logic [4:0] k, room;
  logic [5:0] upto, step;
  logic [1:0] pops;
  logic [4:0] shift;
  logic [383:0] window;
  logic [127:0] pattern;
  logic [15:0] strb;
  always_comb begin
    src = src_q;
    dst = dst_q;
    rem = rem_q;
    there = 1'b0;
    a = 4'd0;
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
        dst = run_dst;
        rem = d_q.group ? {16'd0, run_n} : d_q.cont ? d_q.t_span : {5'd0, d_q.n0};
        if (idx) there = run && row_valid_i;
      end
      a = d_q.base[3:0] + src[3:0];
      b = d_q.group ? 4'd0 : dst[3:0];
      room = 5'd16 - {1'b0, b};
      k = !(d_q.cont || d_q.group) ? d_q.esize : (rem < {16'd0, room}) ? rem[4:0] : room;
      run_end = (d_q.cont || d_q.group) ? (rem == {16'd0, k}) : (rem == 21'd1);
      upto = {2'd0, a} + {1'b0, k};
      step = {2'd0, a} + (d_q.cont ? {1'b0, k} : {1'b0, d_q.s0[4:0]});
      two = (upto > 6'd16);
      if (fill) begin
        pops = 2'd0;
      end else begin
        if (count_i == 2'd0 || (two && count_i == 2'd1)) there = 1'b0;
        if (run_end || d_q.s_single) pops = two ? 2'd2 : 2'd1;
        else pops = {1'b0, step[5] | step[4]};
      end
      shift = 5'd16 + {1'b0, a} - {1'b0, b};
      strb = ((16'd1 << k[3:0]) - 16'd1) | {16{k[4]}};
      strb = strb << b;
    end
  end
  // A beat in error ends everything at the first element taken from it.
  assign bad_beat = there && !fill && (head0_i[128] || (two && head1_i[128]));
  assign window = {head1_i[127:0], head0_i[127:0], 128'd0};
  assign pattern = d_q.esize[0] ? {16{d_q.value[7:0]}} :
      d_q.esize[1] ? {8{d_q.value[15:0]}} : {4{d_q.value}};

  logic out_free, spread_ready, spread_empty, spread_valid, spread_end;
  assign fire = there && !bad_beat && !err_q && !fault_q &&
      (d_q.group ? spread_ready : (out_free && spread_empty));
  assign next = fire && run_end;
  assign op_end = next && run_last;
  assign row_pop_o = next && idx;
  assign pop_o = fire ? pops : 2'd0;
  assign bytes_o = (fire && !fill) ? {3'd0, k} : 8'd0;

  logic [127:0] data;
  always_comb begin
    data = pattern;
    if (fire && !fill) data = 128'(window >> {shift, 3'd0});
  end

  logic [hd_pkg::AW-1:0] spread_word;
  logic [127:0] spread_data;
  logic [15:0] spread_strb;
  // Byte of element 0 of plane 0 in its word, and that word.
  logic [23:0] dst0;
  assign dst0 = dst - {19'd0, plane};
  hd_dma_spread u_spread (
      .clk_i,
      .rst_ni,
      .push_i(fire && d_q.group),
      .ready_o(spread_ready),
      .data_i(data),
      .n_i(k),
      .stride_i(d_q.t0[4:0]),
      .o_i({1'b0, dst0[3:0]} + plane),
      .word_i(dst0[hd_pkg::AW+3:4]),
      .first_i(plane == 5'd0),
      .last_i(plane_last),
      .end_i(op_end),
      .empty_o(spread_empty),
      .valid_o(spread_valid),
      .ready_i(out_free),
      .word_o(spread_word),
      .data_o(spread_data),
      .strb_o(spread_strb),
      .end_o(spread_end)
  );

  // ---- Commands.
  logic sync, q_go;
  assign q_go = q_valid_i && !q_dma_i.bad && !fault_q && !err_q;
  assign sync = q_go && !busy_q && q_dma_i.kind == hd_dma_pkg::KIND_SYNC && out_free &&
      spread_empty;
  assign load = q_go && q_dma_i.kind != hd_dma_pkg::KIND_SYNC && (!busy_q || op_end);
  assign q_pop_o = sync || load;

  // ---- One word to SRAM.
  logic out_q, last_q, null_q, out_gone;
  logic [4:0] age_q;
  assign out_gone = out_q && (null_q || wr_gnt_i);
  assign out_free = !out_q || out_gone;
  assign wr_req_o = out_q && !null_q;
  assign wr_urgent_o = (age_q >= 5'(AGE));
  assign done_o = out_gone && last_q;
  assign busy_o = busy_q || out_q || !spread_empty;
  assign fault_o = fault_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      fault_q <= 1'b0;
      err_q <= 1'b0;
      cont_q <= 1'b0;
      out_q <= 1'b0;
      age_q <= 5'd0;
    end else begin
      if (load) begin
        busy_q <= 1'b1;
        d_q <= q_dma_i;
      end else if (op_end) begin
        busy_q <= 1'b0;
      end
      if (fire) begin
        cont_q <= !run_end;
        src_q <= src + (d_q.cont ? hd_dma_pkg::OFFW'(k) : hd_dma_pkg::OFFW'(d_q.s0));
        dst_q <= dst + (d_q.cont ? 24'(k) : d_q.t0);
        rem_q <= rem - (d_q.cont ? {16'd0, k} : 21'd1);
      end
      if (bad_beat && !err_q && !fault_q) begin
        err_q <= 1'b1;
        fault_cause_o.addr <= d_q.base + {{(64 - hd_dma_pkg::OFFW) {1'b0}}, src} +
            (head0_i[128] ? 64'd0 : 64'd16 - {60'd0, a});
      end
      // The oldest command that is not done is the one that faulted.
      if (!fault_q && !out_q && spread_empty) begin
        if (err_q) begin
          fault_q <= 1'b1;
          fault_cause_o.code <= heddle_pkg::ERROR_BUS_ERROR[7:0];
          fault_cause_o.region <= 4'd0;
        end else if (halt_i && (busy_q ? !q_valid_i : (q_valid_i && q_dma_i.bad))) begin
          fault_q <= 1'b1;
          fault_cause_o <= halt_cause_i;
        end
      end
      if (out_free) out_q <= sync || spread_valid || (fire && !d_q.group);
      age_q <= (wr_req_o && !wr_gnt_i) ? age_q + {4'd0, age_q != 5'd31} : 5'd0;
    end
    if (out_free) begin
      if (spread_valid) begin
        null_q <= 1'b0;
        last_q <= spread_end;
        wr_addr_o <= spread_word;
        wr_data_o <= spread_data;
        wr_strb_o <= spread_strb;
      end else if (sync) begin
        null_q <= 1'b1;
        last_q <= 1'b1;
      end else if (fire && !d_q.group) begin
        null_q <= 1'b0;
        last_q <= op_end;
        wr_addr_o <= dst[hd_pkg::AW+3:4];
        wr_data_o <= data;
        wr_strb_o <= strb;
      end
    end
  end
endmodule
