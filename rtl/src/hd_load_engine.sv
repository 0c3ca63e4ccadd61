// SPDX-License-Identifier: Apache-2.0
// Load engine: commands load, fill, load.gather and sync.load (rtl/spec/ISA.md).
//
//   command -> hd_dma_prep -> hd_load_request -> memory port ... beats -> hd_beat_fifo
//                                  |                                          |
//                                  +--- queue of 8 commands ----------> hd_load_place -> SRAM
//
// The request side runs ahead of the return side by up to BEATS beats and 8 commands, so a latency of
// 400 cycles is hidden across rows and commands. Commands finish in order; read_o and done_o come
// together, in the cycle in which the last word is granted.
//
// Arrays: beat FIFO 512 x 129 bits (8.1 KiB, 1R1W): more than latency x 1 beat plus one burst;
// queue 8 x hd_dma_pkg::dma_t (about 0.8 KiB of registers): small commands, too, hide the latency.
//
// stop_i holds back new bursts. After a fault or stop, quiet_o says that no request is held and all
// answers have come: the engine may then be reset. (idle_o would stay 0 with a command unfinished.)
module hd_load_engine #(
    parameter int SRAM_BYTES = 524288
) (
    input  logic                                 clk_i,
    input  logic                                 rst_ni,
    // Command processor.
    input  logic                                 cmd_valid_i,
    output logic                                 cmd_ready_o,
    input  logic [32*heddle_pkg::LOAD_WORDS-1:0] cmd_i,
    output logic                                 read_o,
    output logic                                 done_o,
    output logic                                 fault_o,
    output hd_pkg::engine_fault_t fault_cause_o,
    input  logic                                 stop_i,
    output logic                                 idle_o,
    output logic                                 busy_o,
    output logic                                 quiet_o,
    output logic [ 7:0]                          bytes_o,   // of elements, this cycle
    // hd_region_table.
    output logic [ 3:0]                          region_o,
    input  logic [63:0]                          region_base_i,
    input  logic [63:0]                          region_size_i,
    input  logic                                 region_writable_i,
    // SRAM client.
    output logic                                 sram_req_o,
    output logic                                 sram_urgent_o,
    output logic                                 sram_we_o,
    output logic [hd_pkg::AW-1:0]                sram_addr_o,
    output logic [127:0]                         sram_wdata_o,
    output logic [15:0]                          sram_wstrb_o,
    input  logic                                 sram_gnt_i,
    input  logic [127:0]                         sram_rdata_i,
    // Memory port (reads only).
    output logic                                 req_valid_o,
    input  logic                                 req_ready_i,
    output logic                                 req_write_o,
    output logic [hd_pkg::MEM_AW-1:0]            req_addr_o,
    output logic [ 6:0]                          req_beats_o,
    input  logic                                 r_valid_i,
    output logic                                 r_ready_o,
    input  logic [127:0]                         r_data_i,
    input  logic                                 r_error_i
);
  localparam int BEATS = 512;  // in flight: asked for and not in SRAM
  logic prep_valid, prep_ready, push, room, q_valid, q_pop;
  hd_dma_pkg::dma_t prep, q_dma;
  hd_dma_prep #(
      .SRAM_BYTES(SRAM_BYTES)
  ) u_prep (
      .clk_i,
      .rst_ni,
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_i,
      .region_o,
      .region_base_i,
      .region_size_i,
      .region_writable_i,
      .valid_o(prep_valid),
      .ready_i(prep_ready),
      .dma_o(prep)
  );

  // ---- Queue of commands whose data is under way.
  logic full;
  assign room = !full;
  hd_fifo #(
      .W($bits(prep)),
      .DEPTH(8)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .push_i(push),
      .data_i(prep),
      .full_o(full),
      .valid_o(q_valid),
      .data_o(q_dma),
      .pop_i(q_pop),
      .level_o()
  );

  // ---- Requests.
  logic taken, row_valid, row_pop, idx_req, idx_gnt, halt, request_busy, request_quiet, grant;
  logic [hd_dma_pkg::OFFW-1:0] row;
  logic [hd_pkg::AW-1:0] idx_addr;
  hd_pkg::engine_fault_t halt_cause;
  logic [6:0] beats;
  hd_load_request #(
      .PLACES(BEATS)
  ) u_request (
      .clk_i,
      .rst_ni,
      .valid_i(prep_valid),
      .ready_o(prep_ready),
      .dma_i(prep),
      .room_i(room),
      .push_o(push),
      .stop_i(stop_i || fault_o),
      .taken_i(taken),
      .row_valid_o(row_valid),
      .row_o(row),
      .row_pop_i(row_pop),
      .idx_req_o(idx_req),
      .idx_addr_o(idx_addr),
      .idx_gnt_i(idx_gnt),
      .idx_data_i(sram_rdata_i),
      .halt_o(halt),
      .halt_cause_o(halt_cause),
      .busy_o(request_busy),
      .quiet_o(request_quiet),
      .grant_o(grant),
      .beats_o(beats),
      .req_valid_o,
      .req_ready_i,
      .req_addr_o,
      .req_beats_o
  );
  assign req_write_o = 1'b0;

  // ---- Beats. There is a place for every beat that was asked for.
  logic [1:0] count, pop;
  logic [128:0] head0, head1;
  assign r_ready_o = 1'b1;
  hd_beat_fifo #(
      .W(129),
      .DEPTH(BEATS)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .push_i(r_valid_i),
      .data_i({r_error_i, r_data_i}),
      .taken_o(taken),
      .count_o(count),
      .head0_o(head0),
      .head1_o(head1),
      .pop_i(pop)
  );

  logic wr_req, wr_urgent, wr_gnt, place_busy;
  logic [hd_pkg::AW-1:0] wr_addr;
  hd_load_place u_place (
      .clk_i,
      .rst_ni,
      .q_valid_i(q_valid),
      .q_dma_i(q_dma),
      .q_pop_o(q_pop),
      .halt_i(halt),
      .halt_cause_i(halt_cause),
      .row_valid_i(row_valid),
      .row_i(row),
      .row_pop_o(row_pop),
      .count_i(count),
      .head0_i(head0),
      .head1_i(head1),
      .pop_o(pop),
      .wr_req_o(wr_req),
      .wr_urgent_o(wr_urgent),
      .wr_addr_o(wr_addr),
      .wr_data_o(sram_wdata_o),
      .wr_strb_o(sram_wstrb_o),
      .wr_gnt_i(wr_gnt),
      .done_o,
      .bytes_o,
      .busy_o(place_busy),
      .fault_o,
      .fault_cause_o
  );
  assign read_o = done_o;

  // ---- One SRAM client for words and indices. Indices go first (one word in four rows), but a
  // request that was made is held until it is granted.
  logic held_q, held_idx_q, pick_idx;
  assign pick_idx = held_q ? held_idx_q : idx_req;
  assign sram_req_o = pick_idx ? idx_req : wr_req;
  assign sram_we_o = !pick_idx;
  assign sram_addr_o = pick_idx ? idx_addr : wr_addr;
  assign sram_urgent_o = wr_urgent;
  assign idx_gnt = sram_gnt_i && pick_idx;
  assign wr_gnt = sram_gnt_i && !pick_idx;

  localparam int UW = $clog2(BEATS + 1);
  logic [UW-1:0] under_way_q;  // beats asked for and not answered
  assign quiet_o = request_quiet && (under_way_q == '0);
  assign busy_o = !cmd_ready_o || request_busy || q_valid || place_busy;
  assign idle_o = !busy_o && quiet_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q <= 1'b0;
      held_idx_q <= 1'b0;
      under_way_q <= '0;
    end else begin
      held_q <= sram_req_o && !sram_gnt_i;
      held_idx_q <= pick_idx;
      if (grant || r_valid_i) begin
`ifndef SYNTHESIS
        // Answers come to what was asked, and have a place.
        assert (!r_valid_i || under_way_q != '0);
        assert (under_way_q <= UW'(BEATS));
`endif
        under_way_q <= under_way_q + (grant ? UW'(beats) : UW'(0)) - UW'(r_valid_i);
      end
`ifndef SYNTHESIS
      if (held_q) assert (sram_req_o);
`endif
    end
  end
endmodule
