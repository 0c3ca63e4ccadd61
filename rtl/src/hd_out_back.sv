// SPDX-License-Identifier: Apache-2.0
// Everything behind the arithmetic of the output stage: FIFOs of finished vectors, the walk through
// the command, pooling, and the write queue. It may stall; room was reserved at issue.
//
//   codes -> FIFO (DEPTH) --> plain: the words and their addresses   --> write queue --> SRAM
//   i32, f32 -> FIFO (WIDE) -> two of a vector's words per cycle      |
//                         +-> hd_out_pool_max -> hd_out_rmw ----------+
//                         +-> hd_out_average -------------------------+
//
// One command at a time. Plain and wide commands follow each other without a bubble, their last word
// is marked in the queue; pooling commands end with a mark of their own when they have drained.
// FIFOs: DEPTH x K bytes and WIDE x 4K bytes, 512 B each with K = 16, 1 KiB each with K = 32.
module hd_out_back #(
    parameter int K = 16,
    parameter int SRAM_WORDS = 32768,
    parameter int DEPTH = 32,
    parameter int WIDE = 8
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    output logic                    clk_req_o,       // clk_i is needed
    input  logic                    pool_clk_i,   // clk_i, needed when pool_clk_req_o
    output logic                    pool_clk_req_o,
    input  logic                    stop_i,
    // the next command
    input  logic                    next_valid_i,
    input  hd_output_pkg::ocmd_t    next_i,
    output logic                    load_o,
    output logic                    leave_o,    // pulse: all words of a command are in the queue
    input  logic                    hold_done_i,
    // vectors
    input  logic                    valid_i,
    input  logic [8*K-1:0]          code_i,
    output logic                    pop_o,
    input  logic                    sum_valid_i,  // a vector with wide output, early: takes a place
    input  logic                    sum_i32_i,    // ... and sum_i is its value
    input  logic [32*K-1:0]         sum_i,
    input  logic                    wide_valid_i, // the vector is complete
    input  logic                    wide_f32_i,   // ... float_i is its value
    input  logic [32*K-1:0]         float_i,
    output logic                    wide_pop_o,
    // SRAM: read-modify-write
    output logic                    req_o,
    output logic                    urgent_o,
    output logic [35:0]             addr_o,
    input  logic                    gnt_i,
    input  logic [127:0]            rdata_i,
    // SRAM: write pair
    output logic [1:0]              wreq_o,
    output logic                    wurgent_o,
    output logic [2*hd_pkg::AW-1:0] waddr_o,
    output logic [255:0]            wdata_o,
    input  logic [1:0]              wgnt_i,
    // end of commands
    input  logic                    last_ok_i,
    output logic                    done_o,
    output logic                    fault_o,
    output logic [35:0]             fault_addr_o
);
  localparam int IW = $clog2(DEPTH);
  localparam int WW = $clog2(WIDE);
  hd_output_pkg::ocmd_t cmd_q;
  logic busy_q, leave;

  // --- FIFOs.
  logic [8*K-1:0] mem_q [0:DEPTH-1];
  logic [32*K-1:0] wide_q [0:WIDE-1];
  logic [IW-1:0] wp_q, rp_q;
  logic [WW-1:0] walloc_q, wcommit_q, wrp_q;
  logic [7:0] level_q, wlevel_q, holds_q;
  logic [8*K-1:0] code;
  logic have, whave;
  assign code = mem_q[rp_q];
  assign have = level_q != 8'd0;
  assign whave = wlevel_q != 8'd0;

  // --- What the command is.
  logic plain, wide, pmax, avg;
  assign plain = busy_q && !cmd_q.novec && !cmd_q.wide && cmd_q.pool == heddle_pkg::POOL_KIND_NONE;
  assign wide = busy_q && !cmd_q.novec && cmd_q.wide;
  assign pmax = busy_q && !cmd_q.novec && cmd_q.pool == heddle_pkg::POOL_KIND_MAX;
  assign avg = busy_q && !cmd_q.novec && cmd_q.pool == heddle_pkg::POOL_KIND_AVERAGE;

  // --- Walk.
  logic [35:0] addr, poff;
  logic x_last, y_last, row_end, chunk0, cob_last, next_cob, next_chunk, next_stripe, last, two, step;
  logic [15:0] xpos;
  logic drain_q;  // all vectors are taken; pooling is on its way
  hd_out_walk u_walk (
      .clk_i        (clk_i),
      .load_i       (load_o),
      .step_i       (step),
      .rows_i       (next_i.rows),
      .slot0_i      (next_i.slot0),
      .roff0_i      (next_i.roff0),
      .outer_i      (next_i.outer),
      .ow_i         (next_i.ow),
      .srows_i      (next_i.srows),
      .scols_i      (next_i.scols),
      .cobs_i       (next_i.cobs),
      .base_i       (next_i.out_addr),
      .pitch_i      (next_i.out_pitch),
      .xstep_i      (next_i.out_xstep),
      .plane_i      (next_i.one ? {1'b0, next_i.out_plane} : {next_i.out_plane, 1'b0}),
      .wrap_i       (next_i.out_wrap),
      .addr_o       (addr),
      .poff_o       (poff),
      .x_last_o     (x_last),
      .y_last_o     (y_last),
      .row_end_o    (row_end),
      .chunk0_o     (chunk0),
      .xpos_o       (xpos),
      .cob_last_o   (cob_last),
      .next_cob_o   (next_cob),
      .next_chunk_o (next_chunk),
      .next_stripe_o(next_stripe),
      .last_o       (last)
  );
  assign two = !cmd_q.one && !(cob_last && cmd_q.odd);

  // --- Write queue.
  logic [1:0] push, nop, qlast;
  logic [35:0] qa0, qa1, qfault_addr, look;
  logic [127:0] qd0, qd1;
  logic room, empty, look_en, hit, qfault;
  hd_out_write_queue #(
      .SRAM_WORDS(SRAM_WORDS)
  ) u_queue (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .stop_i      (stop_i),
      .push_i      (push),
      .nop_i       (nop),
      .last_i      (qlast),
      .addr0_i     (qa0),
      .addr1_i     (qa1),
      .data0_i     (qd0),
      .data1_i     (qd1),
      .room_o      (room),
      .empty_o     (empty),
      .look_en_i   (look_en),
      .look_i      (look),
      .hit_o       (hit),
      .last_ok_i   (last_ok_i),
      .done_o      (done_o),
      .fault_o     (qfault),
      .fault_addr_o(qfault_addr),
      .req_o       (wreq_o),
      .urgent_o    (wurgent_o),
      .addr_o      (waddr_o),
      .wdata_o     (wdata_o),
      .gnt_i       (wgnt_i)
  );

  // --- Max pooling.
  logic mpop, midle, mvalid, mready, mread, mtwo, ridle, roob;
  logic [35:0] maddr, ra0, ra1;
  logic [8*K-1:0] mcode;
  logic [1:0] rpush;
  logic [127:0] rd0, rd1;
  hd_out_pool_max #(
      .K(K)
  ) u_max (
      .clk_i        (pool_clk_i),
      .rst_ni       (rst_ni),
      .load_i       (load_q),
      .cmd_i        (cmd_q),
      .valid_i      (pmax && have && !drain_q && !load_q),
      .pop_o        (mpop),
      .code_i       (code),
      .two_i        (two),
      .poff_i       (poff),
      .x_last_i     (x_last),
      .y_last_i     (y_last),
      .row_end_i    (row_end),
      .chunk0_i     (chunk0),
      .xpos_i       (xpos),
      .next_cob_i   (next_cob),
      .next_chunk_i (next_chunk),
      .next_stripe_i(next_stripe),
      .idle_o       (midle),
      .valid_o      (mvalid),
      .ready_i      (mready),
      .read_o       (mread),
      .two_o        (mtwo),
      .addr_o       (maddr),
      .code_o       (mcode)
  );
  logic rreq;
  hd_out_rmw #(
      .K         (K),
      .SRAM_WORDS(SRAM_WORDS)
  ) u_rmw (
      .clk_i    (pool_clk_i),
      .rst_ni   (rst_ni),
      .valid_i  (mvalid),
      .ready_o  (mready),
      .read_i   (mread),
      .two_i    (mtwo),
      .sgn_i    (cmd_q.sgn),
      .addr_i   (maddr),
      .plane_i  (cmd_q.out_plane),
      .code_i   (mcode),
      .idle_o   (ridle),
      .req_o    (rreq),
      .addr_o   (addr_o),
      .gnt_i    (gnt_i && !stop_i),
      .rdata_i  (rdata_i),
      .oob_o    (roob),
      .look_en_o(look_en),
      .look_o   (look),
      .hit_i    (hit),
      .room_i   (room),
      .push_o   (rpush),
      .addr0_o  (ra0),
      .addr1_o  (ra1),
      .data0_o  (rd0),
      .data1_o  (rd1)
  );
  assign req_o = rreq && !stop_i;
  assign urgent_o = level_q >= 8'(DEPTH / 2);

  // --- Average pooling.
  logic apop, aidle, block_end;
  logic [1:0] apush;
  logic [35:0] aa0, aa1;
  logic [8*K-1:0] adata;
  assign block_end = x_last && y_last && (next_cob || last);
  hd_out_average #(
      .K(K)
  ) u_average (
      .clk_i      (pool_clk_i),
      .rst_ni     (rst_ni),
      .cmd_i      (cmd_q),
      .load_i     (load_o),
      .valid_i    (avg && have && !drain_q),
      .pop_o      (apop),
      .code_i     (code),
      .block_end_i(block_end),
      .two_i      (two),
      .poff_i     (poff),
      .idle_o     (aidle),
      .room_i     (room),
      .push_o     (apush),
      .addr0_o    (aa0),
      .addr1_o    (aa1),
      .data_o     (adata)
  );

  // --- Words.
  logic load_q;          // first cycle of a command
  logic [1:0] sub_q;     // wide: which two of the vector's words
  logic ppop, wgo, wpop, mark;
  logic [35:0] wa;
  logic [$clog2(32*K)-1:0] wsel;
  assign ppop = plain && have && room;
  assign wgo = wide && whave && room;
  assign wpop = wgo && sub_q == {two, 1'b1};
  assign wa = (sub_q[1] ? addr + {16'd0, cmd_q.out_plane} : addr) + {34'd0, sub_q[0], 1'b0};
  assign wsel = ($clog2(32*K))'({sub_q, 8'd0});
  assign mark = busy_q && room && (cmd_q.novec ? !cmd_q.hold || holds_q != 8'd0
                                               : drain_q && midle && ridle && aidle);
  always_comb begin
    push = 2'b00;
    nop = 2'b00;
    qlast = 2'b00;
    qa0 = addr;
    qa1 = addr + {16'd0, cmd_q.out_plane};
    qd0 = code[127:0];
    qd1 = code[8*K-1 -: 128];
    if (plain) begin
      push = {ppop && two, ppop};
      qlast = {last, last && !two};
    end else if (wide) begin
      push = {2{wgo}};
      qlast = {last && wpop, 1'b0};
      qa0 = wa;
      qa1 = wa + 36'd1;
      {qd1, qd0} = wide_q[wrp_q][wsel +: 256];
    end else if (pmax && !mark) begin
      push = rpush;
      qa0 = ra0;
      qa1 = ra1;
      qd0 = rd0;
      qd1 = rd1;
    end else if (avg && !mark) begin
      push = apush;
      qa0 = aa0;
      qa1 = aa1;
      qd0 = adata[127:0];
      qd1 = adata[8*K-1 -: 128];
    end else if (mark) begin
      push = 2'b01;
      nop = 2'b01;
      qlast = 2'b01;
    end
  end

  assign pop_o = ppop || mpop || apop;
  assign wide_pop_o = wpop;
  assign step = pop_o || wpop;
  assign leave = mark || ((ppop || wpop) && last);
  assign leave_o = leave;
  assign load_o = next_valid_i && (!busy_q || leave);

  always_ff @(posedge clk_i) begin
    load_q <= load_o;
    if (!rst_ni) begin
      busy_q <= 1'b0;
      drain_q <= 1'b0;
      wp_q <= '0;
      rp_q <= '0;
      walloc_q <= '0;
      wcommit_q <= '0;
      wrp_q <= '0;
      level_q <= 8'd0;
      wlevel_q <= 8'd0;
      holds_q <= 8'd0;
      sub_q <= 2'd0;
    end else begin
      if (load_o) busy_q <= 1'b1;
      else if (leave) busy_q <= 1'b0;
      if (load_o || leave) drain_q <= 1'b0;
      else if ((mpop || apop) && last) drain_q <= 1'b1;
      if (valid_i) wp_q <= wp_q + IW'(1);
      if (pop_o) rp_q <= rp_q + IW'(1);
      level_q <= level_q + {7'd0, valid_i} - {7'd0, pop_o};
      if (sum_valid_i) walloc_q <= walloc_q + WW'(1);
      if (wide_valid_i) wcommit_q <= wcommit_q + WW'(1);
      if (wpop) wrp_q <= wrp_q + WW'(1);
      wlevel_q <= wlevel_q + {7'd0, wide_valid_i} - {7'd0, wpop};
      if (wgo) sub_q <= wpop ? 2'd0 : sub_q + 2'd1;
      holds_q <= holds_q + {7'd0, hold_done_i} - {7'd0, mark && cmd_q.hold};
    end
    if (load_o) cmd_q <= next_i;
    if (valid_i) mem_q[wp_q] <= code_i;
    if (sum_valid_i && sum_i32_i) wide_q[walloc_q] <= sum_i;
    if (wide_valid_i && wide_f32_i) wide_q[wcommit_q] <= float_i;
  end

  // A read beyond the SRAM belongs to the oldest command when all writes before it are made.
  assign fault_o = qfault || (roob && empty && ridle_p);
  assign fault_addr_o = qfault ? qfault_addr : addr_o;
  logic ridle_p;
  assign ridle_p = rpush == 2'b00;

  logic pooling;
  assign pooling = busy_q && cmd_q.pool != heddle_pkg::POOL_KIND_NONE;
  // Most passes of a block give no vector: nothing moves then.
  assign clk_req_o = !rst_ni || load_o || load_q || leave || valid_i || sum_valid_i || wide_valid_i || have
             || whave || !empty || drain_q || pooling || hold_done_i;
  // Pooling moves only in commands that pool.
  assign pool_clk_req_o = !rst_ni || load_o || load_q || pooling;

`ifndef SYNTHESIS
  // Vectors come if there is room, which is counted where they are issued, and leave if there is one.
  always_ff @(posedge clk_i)
    if (rst_ni && (valid_i || pop_o || wide_valid_i || wpop)) begin
      assert (!valid_i || level_q != 8'(DEPTH));
      assert (!pop_o || have);
      assert (!wide_valid_i || wlevel_q != 8'(WIDE));
      assert (!wpop || whave);
    end
`endif
endmodule
