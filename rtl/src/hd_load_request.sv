// SPDX-License-Identifier: Apache-2.0
// Request side of the load engine: walks a command and asks device memory for its runs.
//
// A prepared command is taken when this unit is free and the queue to the return side has room
// (push_o: it goes there in the same cycle). fill, sync and bad commands cost one cycle here.
// Runs are cut at 1 KiB of device memory; one burst per cycle goes to hd_dma_burst as long as
// places are left in the beat FIFO (credits: PLACES, one back per taken_i). Rows and commands
// follow
// each other without a gap but one cycle per command.
//
// load.gather: for each index: read its word (four indices per read), compare with the bound,
// multiply by the row stride, offer the row; the row's offset also goes to the return side through
// a
// FIFO of 32. About four cycles per row besides its bursts.
//
// halt_o: a fault (index, or a burst that is refused) stopped this unit until reset; it is that of
// the command that was pushed last.
module hd_load_request #(
    parameter int PLACES = 512
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        valid_i,
    output logic                        ready_o,
    input  hd_dma_pkg::dma_t            dma_i,
    input  logic                        room_i,
    output logic                        push_o,
    input  logic                        stop_i,
    input  logic                        taken_i,
    // Rows of a gather for the return side.
    output logic                        row_valid_o,
    output logic [hd_dma_pkg::OFFW-1:0] row_o,
    input  logic                        row_pop_i,
    // Index words from SRAM.
    output logic                        idx_req_o,
    output logic [hd_pkg::AW-1:0]       idx_addr_o,
    input  logic                        idx_gnt_i,
    input  logic [127:0]                idx_data_i,
    output logic                        halt_o,
    output hd_pkg::engine_fault_t       halt_cause_o,
    output logic                        busy_o,
    output logic                        quiet_o,       // no request under way in here
    output logic                        grant_o,       // a burst of beats_o beats was requested
    output logic [ 6:0]                 beats_o,
    output logic                        req_valid_o,
    input  logic                        req_ready_i,
    output logic [hd_pkg::MEM_AW-1:0]   req_addr_o,
    output logic [ 6:0]                 req_beats_o
);
  hd_dma_pkg::dma_t d_q;
  logic busy_q, halt_q, index_fault, burst_ready;
  logic take, work;
  // A command is taken when the last burst of the one before has passed the gate, so that a refusal
  // is never blamed on the wrong one.
  assign take = valid_i && ready_o;
  assign work = !dma_i.bad &&
      (dma_i.kind == hd_dma_pkg::KIND_BOX || dma_i.kind == hd_dma_pkg::KIND_INDEX);
  assign push_o = take;
  assign ready_o = room_i && !busy_q && !halt_q && burst_ready;

  // ---- Rows of a gather.
  logic idx_run, idx_last, idx_next;
  logic [31:0] idx_value;
  logic [hd_dma_pkg::OFFW-1:0] idx_src;
  hd_dma_index u_index (
      .clk_i,
      .rst_ni,
      .start_i(take && work && dma_i.kind == hd_dma_pkg::KIND_INDEX),
      .cmd_first_i(dma_i),
      .cmd_i(d_q),
      .req_o(idx_req_o),
      .addr_o(idx_addr_o),
      .gnt_i(idx_gnt_i),
      .data_i(idx_data_i),
      .valid_o(idx_run),
      .last_o(idx_last),
      .off_o(idx_src),
      .next_i(idx_next),
      .fault_o(index_fault),
      .index_o(idx_value),
      .row_valid_o,
      .row_o,
      .row_pop_i
  );

  // ---- Runs of a box.
  logic box_run, box_last, walk_next, is_idx;
  logic [hd_dma_pkg::OFFW-1:0] box_src;
  logic [4:0] box_n;
  hd_dma_walk u_walk (
      .clk_i,
      .rst_ni,
      .load_i(take && work && dma_i.kind == hd_dma_pkg::KIND_BOX),
      .cmd_first_i(dma_i),
      .cmd_i(d_q),
      .elements_i(d_q.s_single),
      .planes_i(1'b1),
      .next_i(walk_next),
      .valid_o(box_run),
      .last_o(box_last),
      .src_o(box_src),
      .dst_o(),
      .n_o(box_n),
      .plane_o(),
      .plane_last_o()
  );
  assign is_idx = (d_q.kind == hd_dma_pkg::KIND_INDEX);

  // ---- Runs to bursts.
  logic cont_q, run, run_end, run_last, burst_fire;
  logic [hd_dma_pkg::OFFW-1:0] src, src_q;
  logic [20:0] rem, rem_q;
  logic [10:0] room, bytes;
  always_comb begin
    run = 1'b0;
    run_last = 1'b0;
    src = src_q;
    rem = rem_q;
    if (busy_q) begin
      run = is_idx ? idx_run : box_run;
      run_last = is_idx ? idx_last : box_last;
      if (!cont_q) begin
        src = is_idx ? idx_src : box_src;
        rem = d_q.group ? {16'd0, box_n} : d_q.s_single ? {16'd0, d_q.esize} : d_q.s_span;
      end
    end
    room = 11'd1024 - {1'b0, d_q.base[9:0] + src[9:0]};
    bytes = (rem < {10'd0, room}) ? rem[10:0] : room;
    run_end = (rem == {10'd0, bytes});
  end
  assign burst_fire = run && burst_ready && !halt_q;
  assign walk_next = burst_fire && run_end && !is_idx;
  assign idx_next = burst_fire && run_end && is_idx;

  // ---- Bursts to memory.
  localparam int CW = $clog2(PLACES + 1);
  logic [CW-1:0] credit_q;
  logic burst_fault, burst_empty;
  logic [7:0] burst_code;
  logic [63:0] burst_addr;
  hd_dma_burst u_burst (
      .clk_i,
      .rst_ni,
      .valid_i(burst_fire),
      .ready_o(burst_ready),
      .write_i(1'b0),
      .off_i(src),
      .bytes_i(bytes),
      .base_i(d_q.base),
      .size_i(d_q.size),
      .writable_i(d_q.writable),
      .stop_i,
      .go_i(CW'(beats_o) <= credit_q),
      .grant_o,
      .beats_o,
      .first_o(),
      .fault_o(burst_fault),
      .fault_code_o(burst_code),
      .fault_addr_o(burst_addr),
      .empty_o(burst_empty),
      .req_valid_o,
      .req_ready_i,
      .req_write_o(),
      .req_addr_o,
      .req_beats_o
  );
  assign quiet_o = !req_valid_o && (burst_empty || stop_i);
  assign busy_o = busy_q || !burst_empty;
  assign halt_o = halt_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      halt_q <= 1'b0;
      cont_q <= 1'b0;
      credit_q <= CW'(PLACES);
    end else begin
      if (take) begin
        busy_q <= work;
        d_q <= dma_i;
        if (dma_i.bad) begin
          halt_q <= 1'b1;
          halt_cause_o.code <= dma_i.bad_code;
          halt_cause_o.region <= dma_i.region;
          halt_cause_o.addr <= dma_i.bad_addr;
        end
      end else if (burst_fire) begin
        cont_q <= !run_end;
        src_q <= src + hd_dma_pkg::OFFW'(bytes);
        rem_q <= rem - {10'd0, bytes};
        if (run_end && run_last) busy_q <= 1'b0;
      end
      if (!halt_q && index_fault) begin
        halt_q <= 1'b1;
        halt_cause_o.code <= heddle_pkg::ERROR_INDEX_BOUNDS[7:0];
        halt_cause_o.region <= d_q.region;
        halt_cause_o.addr <= {32'd0, idx_value};
      end else if (!halt_q && burst_fault) begin
        halt_q <= 1'b1;
        halt_cause_o.code <= burst_code;
        halt_cause_o.region <= d_q.region;
        halt_cause_o.addr <= burst_addr;
      end
      credit_q <= credit_q - (grant_o ? CW'(beats_o) : CW'(0)) + CW'(taken_i);
    end
  end
endmodule
