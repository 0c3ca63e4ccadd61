// SPDX-License-Identifier: Apache-2.0
// Vector engine: executes vrun, vmac and sync.vector, one command after another (engine port of
// hd_core, W = 52; a vmac is a vrun with a program of its own, hd_vec_program).
//
//   hd_vec_setup     bounds, mode (strips of 8 groups or one group at a time)  \  side by side,
//   hd_vec_program   loads and checks the microprogram                         /  10 cycles or more
//   hd_vec_stream    A, B, C and the indices of gather and scatter: operand vectors, ahead of
//   hd_vec_pick      indices that the program computes, on their way to stream A
//   hd_vec_sequencer micro-instructions x slots, one per cycle, to
//   hd_vec_operands  registers (8.5 KiB), operand selection, in the next cycle to
//   hd_vec_lanes     results 4 cycles later; to
//   hd_vec_store     stream D
//   hd_vec_ports     four SRAM clients that fetch or write one line of 64 bytes per cycle
//
// A command is done when its last line has been granted. Its operands have been read (read_o) when the
// streams have fetched everything. A fault stops everything: no SRAM access begins after fault_o.
// Arrays: program 2 KiB, registers 8.5 KiB, line buffers 4 x 1 KiB, operand queues 4 x 256 B, store queue
// 1 KiB, indices of `pick` 160 B.
module hd_vector_engine #(
    parameter int BANKS = 16,
    parameter int WORDS = 2048   // per bank
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    cmd_valid_i,
    output logic                    cmd_ready_o,
    input  logic [32*heddle_pkg::VRUN_WORDS-1:0] cmd_i,
    output logic                    read_o,
    output logic                    done_o,
    output logic [63:0]             macs_o,
    output logic                    fault_o,
    output hd_pkg::engine_fault_t fault_cause_o,
    output logic                    idle_o,
    output logic                    busy_o,
    // SRAM clients: the four ports
    output logic [3:0]              sram_req_o,
    output logic [3:0]              sram_urgent_o,
    output logic [3:0]              sram_we_o,
    output logic [4*hd_pkg::AW-1:0] sram_addr_o,
    output logic [511:0]            sram_wdata_o,
    output logic [63:0]             sram_wstrb_o,
    input  logic [3:0]              sram_gnt_i,
    input  logic [511:0]            sram_rdata_i
);
  localparam int BA = hd_vec_pkg::BA;
  localparam int LA = hd_vec_pkg::LA;
  localparam int SRAM_BYTES = BANKS * WORDS * 16;
  localparam int QUEUE = 16;
  localparam [2:0] IDLE = 3'd0, SYNC = 3'd1, SETUP = 3'd2, START = 3'd3, RUN = 3'd4, FAULT = 3'd5;

  logic [2:0] state_q;
  logic [32*heddle_pkg::VRUN_WORDS-1:0] cmd_q;
  logic vmac_q, was_read_q, new_q;
  heddle_pkg::vrun_t cmd_run;
  heddle_pkg::vmac_t cmd_mac;
  assign cmd_run = cmd_q;
  assign cmd_mac = cmd_q;

  // Setup and program.
  logic setup_done, setup_fault, strips, gated;
  logic [63:0] setup_addr, macs;
  logic [1:0] dim;
  logic ready, bad;
  logic [7:0] bad_index;
  hd_vec_pkg::counts_t counts, names_a, names_b, names_c;
  logic [2:1] outs;
  logic [2:0] reads, reads_late;
  assign reads = {names_c != 0, names_b != 0, names_a != 0};
  assign reads_late = {names_c.epilogue != 0, names_b.epilogue != 0, names_a.epilogue != 0};
  hd_vec_setup #(
      .SRAM_BYTES(SRAM_BYTES)
  ) u_setup (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .start_i     (new_q),
      .cmd_i       (cmd_q),
      .vmac_i      (vmac_q),
      .read_i      (reads),
      .read_late_i (reads_late),
      .done_o      (setup_done),
      .fault_o     (setup_fault),
      .fault_addr_o(setup_addr),
      .macs_o      (macs),
      .strips_o    (strips),
      .dim_o       (dim),
      .gated_o     (gated)
  );
  logic prog_req, seq_read, pick;
  logic [LA-1:0] prog_line;
  logic [4:0] ack;
  logic [3:0] fill, fill_bank, prog_fill;
  logic [11:0] fill_source, fill_way;
  logic [1:0] section, next_section;
  logic [8:0] item, next_item;
  logic [63:0] micro;
  hd_vec_program u_program (
      .clk_i      (clk_i),
      .rst_ni     (rst_ni),
      .start_i    (new_q),
      .vmac_i     (vmac_q),
      .initial_i  (cmd_mac.initial_),
      .clamp_i    (cmd_mac.clamp),
      .prog_addr_i(cmd_run.prog_addr[hd_pkg::AW-1:0]),
      .prologue_i (cmd_run.prologue),
      .body_i     (cmd_run.body),
      .epilogue_i (cmd_run.epilogue),
      .enable_i   ({cmd_run.enable_c, cmd_run.enable_b, cmd_run.enable_a}),
      .pick_i     (pick),
      .ready_o    (ready),
      .bad_o      (bad),
      .bad_index_o(bad_index),
      .counts_o   (counts),
      .names_a_o  (names_a),
      .names_b_o  (names_b),
      .names_c_o  (names_c),
      .outs_o     (outs),
      .req_o      (prog_req),
      .line_o     (prog_line),
      .ack_i      (ack[hd_vec_pkg::SRC_PROGRAM]),
      .fill_i     (prog_fill),
      .rdata_i    (sram_rdata_i),
      .read_i     (seq_read),
      .next_section_i(next_section),
      .next_item_i(next_item),
      .section_i  (section),
      .item_i     (item),
      .micro_o    (micro)
  );
  // A program that leaves SRAM is not fetched beyond it (setup reports it).
  logic prog_inside;
  assign prog_inside = 32'(prog_line) < 32'(SRAM_BYTES / 64) &&
      {12'd0, cmd_run.prog_addr} < 32'(SRAM_BYTES / 16);

  // Loops and streams as the units take them.
  hd_vec_pkg::loops_t loops_q;
  hd_vec_pkg::stream_t sa, sb, sc, sd;
  logic store_body, store_epilogue, gather, scatter, gated_q;
  assign store_body = !vmac_q && cmd_run.store == heddle_pkg::STORE_MODE_BODY;
  assign store_epilogue = vmac_q || cmd_run.store == heddle_pkg::STORE_MODE_EPILOGUE;
  assign gather = !vmac_q && cmd_run.gather_a;
  assign pick = !vmac_q && cmd_run.pick_a;
  assign scatter = !vmac_q && cmd_run.scatter_d;
  always_comb begin
    sa.kind = cmd_run.a_type;
    sa.negative = cmd_run.a_lane_stride[23];
    sa.base = cmd_run.a_base[BA-1:0];
    sa.lane = cmd_run.a_lane_stride[BA-1:0];
    sa.r1 = cmd_run.a_r1_stride[BA-1:0];
    sa.r2 = cmd_run.a_r2_stride[BA-1:0];
    sa.r3 = cmd_run.a_r3_stride[BA-1:0];
    sa.o1 = cmd_run.a_o1_stride[BA-1:0];
    sa.o2 = cmd_run.a_o2_stride[BA-1:0];
    sa.o3 = cmd_run.a_o3_stride[BA-1:0];
    sb.kind = cmd_run.b_type;
    sb.negative = cmd_run.b_lane_stride[23];
    sb.base = cmd_run.b_base[BA-1:0];
    sb.lane = cmd_run.b_lane_stride[BA-1:0];
    sb.r1 = cmd_run.b_r1_stride[BA-1:0];
    sb.r2 = cmd_run.b_r2_stride[BA-1:0];
    sb.r3 = cmd_run.b_r3_stride[BA-1:0];
    sb.o1 = cmd_run.b_o1_stride[BA-1:0];
    sb.o2 = cmd_run.b_o2_stride[BA-1:0];
    sb.o3 = cmd_run.b_o3_stride[BA-1:0];
    sc.kind = cmd_run.c_type;
    sc.negative = cmd_run.c_lane_stride[23];
    sc.base = cmd_run.c_base[BA-1:0];
    sc.lane = cmd_run.c_lane_stride[BA-1:0];
    sc.r1 = cmd_run.c_r1_stride[BA-1:0];
    sc.r2 = cmd_run.c_r2_stride[BA-1:0];
    sc.r3 = cmd_run.c_r3_stride[BA-1:0];
    sc.o1 = cmd_run.c_o1_stride[BA-1:0];
    sc.o2 = cmd_run.c_o2_stride[BA-1:0];
    sc.o3 = cmd_run.c_o3_stride[BA-1:0];
    sd.kind = cmd_run.d_type;
    sd.negative = cmd_run.d_lane_stride[23];
    sd.base = cmd_run.d_base[BA-1:0];
    sd.lane = cmd_run.d_lane_stride[BA-1:0];
    sd.r1 = cmd_run.d_r1_stride[BA-1:0];
    sd.r2 = cmd_run.d_r2_stride[BA-1:0];
    sd.r3 = cmd_run.d_r3_stride[BA-1:0];
    sd.o1 = cmd_run.d_o1_stride[BA-1:0];
    sd.o2 = cmd_run.d_o2_stride[BA-1:0];
    sd.o3 = cmd_run.d_o3_stride[BA-1:0];
  end
  // Indices: once per section or iteration for A, once per store.
  hd_vec_pkg::counts_t index_counts;
  assign index_counts.prologue = {8'd0, gather && names_a.prologue != 0};
  assign index_counts.body = {8'd0, gather && names_a.body != 0} + {8'd0, scatter && store_body};
  assign index_counts.epilogue = {8'd0, gather && names_a.epilogue != 0} +
      {8'd0, scatter && store_epilogue};

  // Streams.
  logic start, stop, index_valid, index_pop_a, index_pop_d, fault_a, fault_d, fault_pick;
  logic pick_valid, pick_pop;
  logic [16*BA-1:0] pick_at, lane_at_a;
  logic [2:0] open, stream_valid, stream_pop;
  logic [3:0] req, busy_s;
  logic [31:0] fault_index_a, fault_index_d;
  logic [511:0] index;
  logic [511:0] operand [0:2];
  logic [4*LA-1:0] line;
  logic [11:0] way;
  logic [3:0] fills [0:3];
  assign start = state_q == START;
  assign stop = state_q == FAULT;
  for (genvar k = 0; k < 4; k++) begin : g_fill
    for (genvar p = 0; p < 4; p++) begin : g_port
      assign fills[k][p] = fill[p] && fill_source[3*p +: 3] == 3'(k);
    end
  end
  for (genvar p = 0; p < 4; p++) begin : g_prog_fill
    assign prog_fill[p] = fill[p] && fill_source[3*p +: 3] == hd_vec_pkg::SRC_PROGRAM;
  end

  for (genvar k = 0; k < 4; k++) begin : g_stream
    hd_vec_pkg::counts_t uses;
    hd_vec_pkg::stream_t from;
    logic valid;
    logic [511:0] data;
    logic pop, index_pop, fault, pops_pick;
    logic [31:0] fault_index;
    logic [16*BA-1:0] lane_at;
    if (k == 0) begin : g_a
      assign uses = names_a;
      assign from = sa;
      assign index_pop_a = index_pop;
      assign fault_a = fault;
      assign fault_index_a = fault_index;
      assign pick_pop = pops_pick;
      assign lane_at_a = lane_at;
    end else if (k == 1) begin : g_b
      assign uses = names_b;
      assign from = sb;
    end else if (k == 2) begin : g_c
      assign uses = names_c;
      assign from = sc;
    end else begin : g_index
      assign uses = index_counts;
      assign from = sc;
      assign index = data;
      assign index_valid = valid;
    end
    if (k < 3) begin : g_operand
      assign operand[k] = data;
      assign stream_valid[k] = valid;
      assign pop = stream_pop[k];
    end else begin : g_indices
      assign pop = index_pop_a || index_pop_d;
    end
    hd_vec_stream #(
        .PICK(k == 0 ? 1 : 0)
    ) u_stream (
        .clk_i         (clk_i),
        .rst_ni        (rst_ni),
        .start_i       (start),
        .loops_i       (loops_q),
        .stream_i      (from),
        .counts_i      (uses),
        .gated_i       (gated_q),
        .open_i        (open),
        .gather_i      (k == 0 && gather),
        .bound_i       (cmd_run.index_bound),
        .index_stride_i(cmd_run.index_stride[BA-1:0]),
        .index_valid_i (index_valid),
        .index_i       (index),
        .index_pop_o   (index_pop),
        .fault_o       (fault),
        .fault_index_o (fault_index),
        .pick_i        (k == 0 && pick),
        .pick_valid_i  (pick_valid),
        .pick_at_i     (pick_at),
        .pick_pop_o    (pops_pick),
        .lane_at_o     (lane_at),
        .req_o         (req[k]),
        .req_line_o    (line[LA*k +: LA]),
        .req_way_o     (way[3*k +: 3]),
        .req_ack_i     (ack[k]),
        .fill_i        (fills[k]),
        .fill_bank_i   (fill_bank),
        .fill_way_i    (fill_way),
        .rdata_i       (sram_rdata_i),
        .valid_o       (valid),
        .data_o        (data),
        .pop_i         (pop),
        .busy_o        (busy_s[k])
    );
  end

  // Sequencer, operands, lanes.
  logic issue, take, tree, is_index, pick_room, pick_wait, over, to_pick;
  logic seq_busy, written, lanes_ready, store_done, store_busy;
  logic [7:0] op, take_op;
  logic [4:0] a, b, d3, lanes;
  logic [2:0] is_reg, zero, slot;
  logic [1:0] round;
  logic [31:0] imm;
  logic [15:0] e, r1;
  logic [8:0] tag, take_tag, written_tag;
  logic [511:0] xa, xb, xc, written_data;
  logic reads_on, writes_on;
  hd_vec_sequencer #(
      .STORE_QUEUE(QUEUE)
  ) u_sequencer (
      .clk_i           (clk_i),
      .rst_ni          (rst_ni),
      .start_i         (start),
      .stop_i          (stop),
      .loops_i         (loops_q),
      .counts_i        (counts),
      .outs_i          (outs),
      .store_body_i    (store_body),
      .store_epilogue_i(store_epilogue),
      .gated_i         (gated_q),
      .quiet_i         (!store_busy && !writes_on),
      .open_o          (open),
      .read_o          (seq_read),
      .next_section_o  (next_section),
      .next_item_o     (next_item),
      .section_o       (section),
      .item_o          (item),
      .micro_i         (micro),
      .stream_valid_i  (stream_valid),
      .stream_pop_o    (stream_pop),
      .issue_o         (issue),
      .op_o            (op),
      .a_o             (a),
      .b_o             (b),
      .c_o             (d3),
      .reg_o           (is_reg),
      .zero_o          (zero),
      .tree_o          (tree),
      .round_o         (round),
      .imm_o           (imm),
      .slot_o          (slot),
      .lanes_o         (lanes),
      .e_o             (e),
      .r1_o            (r1),
      .tag_o           (tag),
      .pick_o          (is_index),
      .pick_room_i     (pick_room),
      .over_o          (over),
      .written_i       (written),
      .written_tag_i   (written_tag[7:0]),
      .ready_i         (lanes_ready),
      .store_done_i    (store_done),
      .busy_o          (seq_busy)
  );
  hd_vec_operands u_operands (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .en_i        (issue),
      .op_i        (op),
      .tag_i       (tag),
      .a_i         (a),
      .b_i         (b),
      .c_i         (d3),
      .reg_i       (is_reg),
      .zero_i      (zero),
      .tree_i      (tree),
      .round_i     (round),
      .imm_i       (imm),
      .slot_i      (slot),
      .lanes_i     (lanes),
      .e_i         (e),
      .r1_i        (r1),
      .args_i      (vmac_q ? {64'd0, cmd_mac.clamp_max, cmd_mac.clamp_min} :
                    {cmd_run.arg3, cmd_run.arg2, cmd_run.arg1, cmd_run.arg0}),
      .stride_i    (cmd_run.index_stride),
      .stream_a_i  (operand[0]),
      .stream_b_i  (operand[1]),
      .stream_c_i  (operand[2]),
      .en_o        (take),
      .op_o        (take_op),
      .tag_o       (take_tag),
      .a_o         (xa),
      .b_o         (xb),
      .c_o         (xc),
      .write_i     (written && !to_pick),
      .write_reg_i (written_tag[4:0]),
      .write_slot_i(written_tag[7:5]),
      .write_data_i(written_data)
  );
  assign to_pick = written_tag[4:0] == hd_vec_pkg::DESTINATION_PICK;
  logic [31:0] fault_index_pick;
  hd_vec_pick u_pick (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .issue_i      (issue && is_index),
      .lanes_i      (lanes),
      .slot_i       (slot),
      .a_i          (xa),
      .bound_i      (cmd_run.index_bound),
      .room_o       (pick_room),
      .push_i       (written && to_pick),
      .data_i       (written_data),
      .lane_at_i    (lane_at_a),
      .valid_o      (pick_valid),
      .at_o         (pick_at),
      .pop_i        (pick_pop),
      .over_i       (over),
      .wait_o       (pick_wait),
      .fault_o      (fault_pick),
      .fault_index_o(fault_index_pick)
  );
  hd_vec_lanes u_lanes (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .en_i   (take),
      .op_i   (take_op),
      .a_i    (xa),
      .b_i    (xb),
      .c_i    (xc),
      .tag_i  (take_tag),
      .ready_o(lanes_ready),
      .valid_o(written),
      .tag_o  (written_tag),
      .d_o    (written_data)
  );
  // Stores.
  logic wreq, wack;
  logic [LA-1:0] wline;
  logic [511:0] wdata;
  logic [63:0] wstrb;
  hd_vec_store #(
      .QUEUE(QUEUE)
  ) u_store (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .start_i       (start),
      .loops_i       (loops_q),
      .stream_i      (sd),
      .body_i        (store_body),
      .epilogue_i    (store_epilogue),
      .one_i         (!vmac_q && cmd_run.store_one),
      .flush_i       (gated_q || !seq_busy),
      .scatter_i     (scatter),
      .index_stream_i(sc),
      .bound_i       (cmd_run.index_bound),
      .index_stride_i(cmd_run.index_stride[BA-1:0]),
      .index_valid_i (index_valid),
      .index_i       (index),
      .index_pop_o   (index_pop_d),
      .fault_o       (fault_d),
      .fault_index_o (fault_index_d),
      .push_i        (written && written_tag[8]),
      .data_i        (written_data),
      .done_o        (store_done),
      .busy_o        (store_busy),
      .req_o         (wreq),
      .line_o        (wline),
      .wdata_o       (wdata),
      .wstrb_o       (wstrb),
      .ack_i         (wack)
  );

  logic we;
  hd_vec_ports u_ports (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .stop_i      (stop || fault_a || fault_d || fault_pick),
      .req_i       ({prog_req && prog_inside, req}),
      .line_i      ({prog_line, line}),
      .way_i       ({3'd0, way}),
      .ack_o       (ack),
      .wreq_i      (wreq),
      .wline_i     (wline),
      .wdata_i     (wdata),
      .wstrb_i     (wstrb),
      .wack_o      (wack),
      .fill_o      (fill),
      .source_o    (fill_source),
      .bank_o      (fill_bank),
      .slot_o      (fill_way),
      .reads_o     (reads_on),
      .writes_o    (writes_on),
      .sram_req_o  (sram_req_o),
      .sram_we_o   (we),
      .sram_addr_o (sram_addr_o),
      .sram_wdata_o(sram_wdata_o),
      .sram_wstrb_o(sram_wstrb_o),
      .sram_gnt_i  (sram_gnt_i)
  );
  assign sram_we_o = {4{we}};
  assign sram_urgent_o = 4'd0;

  // Commands.
  logic all_read, all_done;
  assign all_read = state_q == RUN && busy_s == 0 && !reads_on && !pick_wait;
  assign all_done = all_read && !seq_busy && !store_busy && !writes_on && !stop;
  assign cmd_ready_o = state_q == IDLE;
  assign read_o = state_q == SYNC || (all_read && !was_read_q);
  assign done_o = state_q == SYNC || all_done;
  assign macs_o = (state_q == RUN && vmac_q) ? macs : 64'd0;
  assign fault_o = state_q == FAULT;
  assign idle_o = state_q == IDLE;
  assign busy_o = state_q != IDLE;

  logic [7:0] opcode;
  assign opcode = cmd_i[7:0];
  always_ff @(posedge clk_i) begin
    new_q <= 1'b0;
    if (!rst_ni) begin
      state_q <= IDLE;
    end else begin
      case (state_q)
        IDLE:
        if (cmd_valid_i) begin
          state_q <= (opcode == heddle_pkg::OP_SYNC_VECTOR) ? SYNC : SETUP;
          new_q <= opcode != heddle_pkg::OP_SYNC_VECTOR;
        end
        SYNC: state_q <= IDLE;
        SETUP:
        if (setup_done && !new_q) begin
          if (setup_fault || bad) state_q <= FAULT;
          else if (ready) state_q <= START;
        end
        START: state_q <= RUN;
        RUN: begin
          if (fault_a || fault_d || fault_pick) state_q <= FAULT;
          else if (all_done) state_q <= IDLE;
        end
        default: ;
      endcase
    end
    if (state_q == IDLE && cmd_valid_i) begin
      cmd_q <= cmd_i;
      vmac_q <= opcode == heddle_pkg::OP_VMAC;
    end
    fault_cause_o.region <= 4'd0;
    if (state_q == SETUP) begin
      if (setup_fault) begin
        fault_cause_o.code <= heddle_pkg::ERROR_SRAM_BOUNDS[7:0];
        fault_cause_o.addr <= setup_addr;
      end else begin
        fault_cause_o.code <= heddle_pkg::ERROR_ILLEGAL_PROGRAM[7:0];
        fault_cause_o.addr <= {56'd0, bad_index};
      end
      loops_q.strips <= strips;
      loops_q.dim <= dim;
      loops_q.lanes <= cmd_run.lanes;
      loops_q.chunks <= 13'(({1'b0, cmd_run.lanes} + 17'd15) >> 4);
      loops_q.n_r1 <= cmd_run.n_r1;
      loops_q.n_r2 <= cmd_run.n_r2;
      loops_q.n_r3 <= cmd_run.n_r3;
      loops_q.n_o1 <= cmd_run.n_o1;
      loops_q.n_o2 <= cmd_run.n_o2;
      loops_q.n_o3 <= cmd_run.n_o3;
      loops_q.tail <= vmac_q ? 4'd0 : cmd_run.tail[3:0];
      gated_q <= gated;
    end
    if (state_q == RUN && (fault_a || fault_d || fault_pick)) begin
      fault_cause_o.code <= heddle_pkg::ERROR_INDEX_BOUNDS[7:0];
      fault_cause_o.addr <= {32'd0, fault_a ? fault_index_a : fault_d ? fault_index_d : fault_index_pick};
    end
    was_read_q <= state_q == RUN && (was_read_q || all_read);
  end
endmodule
