// SPDX-License-Identifier: Apache-2.0
// SRAM side of the store engine: walks a command and reads the words of its runs, one per cycle.
//
// A prepared command is taken when this unit is free and the queue to the packing side has room
// (push_o). Words come to the packing side in order through a FIFO (PLACES words; one is asked for
// only when it has a place). read_o: the command's last word was granted, so its bytes may be
// overwritten (banks serve in the order of grants); in order, once per command.
//
// store.scatter: hd_dma_index reads the indices through the same SRAM client and hands the rows'
// offsets to the packing side; its requests come before words, but a request once made is held.
// A grouped command reads each word of a chunk once.
module hd_store_read #(
    parameter int PLACES = 8
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        valid_i,
    output logic                        ready_o,
    input  hd_dma_pkg::dma_t            dma_i,
    input  logic                        room_i,
    output logic                        push_o,
    input  logic                        stop_i,
    output logic                        read_o,
    // SRAM client.
    output logic                        sram_req_o,
    output logic [hd_pkg::AW-1:0]       sram_addr_o,
    output logic                        sram_urgent_o,
    input  logic                        sram_gnt_i,
    input  logic [127:0]                sram_rdata_i,
    // To the packing side.
    output logic                        word_valid_o,  // sram_rdata_i is a word of a run
    output logic                        word_group_o,  // of a grouped command
    output logic                        word_last_o,   // the last of the run
    input  logic                        taken_i,
    output logic                        row_valid_o,
    output logic [hd_dma_pkg::OFFW-1:0] row_o,
    input  logic                        row_pop_i,
    output logic                        halt_o,
    output hd_pkg::engine_fault_t       halt_cause_o,
    output logic                        busy_o
);
  hd_dma_pkg::dma_t d_q;
  logic busy_q, halt_q, take, work, walk, next;
  logic [23:0] run_dst;
  logic [4:0] run_n;
  assign ready_o = room_i && !busy_q && !halt_q && !stop_i;
  assign take = valid_i && ready_o;
  assign push_o = take;
  assign work = (dma_i.kind != hd_dma_pkg::KIND_SYNC) && !dma_i.bad;

  hd_dma_walk u_walk (
      .clk_i,
      .rst_ni,
      .load_i(take && work),
      .cmd_first_i(dma_i),
      .cmd_i(d_q),
      .elements_i(d_q.t_single && !d_q.group),
      .planes_i(1'b0),
      .next_i(next),
      .valid_o(walk),
      .last_o(),
      .src_o(),
      .dst_o(run_dst),
      .n_o(run_n),
      .plane_o(),
      .plane_last_o()
  );

  // ---- Rows of a scatter.
  logic idx_req, idx_gnt, idx_run, idx_last, idx_fault, idx_busy_q;
  logic [hd_pkg::AW-1:0] idx_addr;
  logic [31:0] idx_value;
  hd_dma_index u_index (
      .clk_i,
      .rst_ni,
      .start_i(take && work && dma_i.kind == hd_dma_pkg::KIND_INDEX),
      .cmd_first_i(dma_i),
      .cmd_i(d_q),
      .req_o(idx_req),
      .addr_o(idx_addr),
      .gnt_i(idx_gnt),
      .data_i(sram_rdata_i),
      .valid_o(idx_run),
      .last_o(idx_last),
      .off_o(),
      .next_i(idx_run),
      .fault_o(idx_fault),
      .index_o(idx_value),
      .row_valid_o,
      .row_o,
      .row_pop_i
  );

  // ---- Words of a run.
  logic cont_q, word_req, word_gnt, word_end;
  logic [19:0] at, at_q, last, last_q;  // word addresses
  logic [23:0] run_last;
  logic [20:0] len;
  logic [9:0] reach;
  logic [3:0] free_q;
  always_comb begin
    // From the first to the last byte of the run, less one.
    reach = {5'd0, run_n - 5'd1} * {5'd0, d_q.t0[4:0]} + {5'd0, d_q.n1[4:0]} - 10'd1;
    len = d_q.group ? {11'd0, reach} :
        d_q.t_single ? {16'd0, d_q.esize} - 21'd1 : d_q.t_span - 21'd1;
    run_last = run_dst + {3'd0, len};
    at = cont_q ? at_q : run_dst[23:4];
    last = cont_q ? last_q : run_last[23:4];
    word_end = (at == last);
  end
  assign word_req = walk && (free_q != 4'd0);
  assign next = word_gnt && word_end;

  // ---- One client.
  logic held_q, held_idx_q, pick_idx;
  logic [2:0] word1_q, word2_q;
  logic [4:0] age_q;
  assign pick_idx = held_q ? held_idx_q : idx_req;
  assign sram_req_o = pick_idx ? idx_req : word_req;
  assign sram_addr_o = pick_idx ? idx_addr : at[hd_pkg::AW-1:0];
  assign sram_urgent_o = (age_q >= 5'd16);
  assign idx_gnt = sram_gnt_i && pick_idx;
  assign word_gnt = sram_gnt_i && !pick_idx;
  assign word_valid_o = word2_q[0];
  assign word_group_o = word2_q[1];
  assign word_last_o = word2_q[2];

  logic ends;
  assign ends = busy_q && !walk && !idx_busy_q && !halt_q;
  assign read_o = ends || (take && dma_i.kind == hd_dma_pkg::KIND_SYNC);
  assign busy_o = busy_q;
  assign halt_o = halt_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      halt_q <= 1'b0;
      cont_q <= 1'b0;
      idx_busy_q <= 1'b0;
      free_q <= 4'(PLACES);
      held_q <= 1'b0;
      held_idx_q <= 1'b0;
      word1_q <= 3'd0;
      word2_q <= 3'd0;
      age_q <= 5'd0;
    end else begin
      if (take) begin
        busy_q <= work;
        d_q <= dma_i;
        idx_busy_q <= work && dma_i.kind == hd_dma_pkg::KIND_INDEX;
        if (dma_i.bad) begin
          halt_q <= 1'b1;
          halt_cause_o.code <= dma_i.bad_code;
          halt_cause_o.region <= dma_i.region;
          halt_cause_o.addr <= dma_i.bad_addr;
        end
      end else if (ends) begin
        busy_q <= 1'b0;
      end
      if (idx_run && idx_last) idx_busy_q <= 1'b0;
      if (idx_fault && !halt_q) begin
        halt_q <= 1'b1;
        halt_cause_o.code <= heddle_pkg::ERROR_INDEX_BOUNDS[7:0];
        halt_cause_o.region <= d_q.region;
        halt_cause_o.addr <= {32'd0, idx_value};
      end
      if (word_gnt) begin
        cont_q <= !word_end;
        at_q <= at + 20'd1;
        last_q <= last;
      end
      free_q <= free_q - {3'd0, word_gnt} + {3'd0, taken_i};
      word1_q <= word_gnt ? {word_end, d_q.group, 1'b1} : 3'd0;
      word2_q <= word1_q;
      held_q <= sram_req_o && !sram_gnt_i;
      held_idx_q <= pick_idx;
      age_q <= (sram_req_o && !sram_gnt_i) ? age_q + {4'd0, age_q != 5'd31} : 5'd0;
    end
  end
endmodule
