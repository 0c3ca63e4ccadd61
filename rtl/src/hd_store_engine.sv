// SPDX-License-Identifier: Apache-2.0
// Store engine: commands store, store.scatter and sync.store (rtl/spec/ISA.md).
//
//   command -> hd_dma_prep -> hd_store_read -> SRAM ... words -> hd_beat_fifo -+
//                                  +--- queue of 8 commands ---> hd_store_pack
//                                                                   | beats        | bursts
//                                                                hd_beat_fifo   hd_dma_burst
//                                                                   +--- memory port ---+
//
// read_o comes when the last SRAM word is granted, done_o when all of the command's bursts are
// answered: bursts are numbered, and the number of a command's last burst waits in a queue of 16.
// The SRAM reads of later commands go on meanwhile.
//
// Arrays: write FIFO 128 x 144 bits (2.3 KiB, 1R1W): eight bursts; addresses of unanswered bursts
// 128
// x 40 bits (0.6 KiB), for the address of a bus error; queue 8 x dma_t (about 0.8 KiB).
//
// A write request is made when all its beats are in the write FIFO; its data then flows without a
// gap. A bus error belongs to the oldest command (answers come in order); its address is that of
// the
// burst's first byte. stop_i and quiet_o as in hd_load_engine.
module hd_store_engine #(
    parameter int SRAM_BYTES = 524288
) (
    input  logic                                 clk_i,
    input  logic                                 rst_ni,
    // Command processor.
    input  logic                                 cmd_valid_i,
    output logic                                 cmd_ready_o,
    input  logic [32*heddle_pkg::STORE_WORDS-1:0] cmd_i,
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
    // SRAM client (reads only).
    output logic                                 sram_req_o,
    output logic                                 sram_urgent_o,
    output logic [hd_pkg::AW-1:0]                sram_addr_o,
    input  logic                                 sram_gnt_i,
    input  logic [127:0]                         sram_rdata_i,
    // Memory port (writes only).
    output logic                                 req_valid_o,
    input  logic                                 req_ready_i,
    output logic                                 req_write_o,
    output logic [hd_pkg::MEM_AW-1:0]            req_addr_o,
    output logic [ 6:0]                          req_beats_o,
    output logic                                 w_valid_o,
    input  logic                                 w_ready_i,
    output logic [127:0]                         w_data_o,
    output logic [15:0]                          w_strb_o,
    input  logic                                 b_valid_i,
    input  logic                                 b_error_i
);
  localparam int OFFW = hd_dma_pkg::OFFW;
  localparam int WAITING = 128;  // unanswered bursts at most

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

  // ---- Queue of commands between reading and packing.
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

  logic fault_q, err_q;
  logic word_valid, word_group, word_last, word_taken, row_valid, row_pop, halt, read_busy;
  logic [OFFW-1:0] row;
  hd_pkg::engine_fault_t halt_cause;
  hd_store_read #(
      .PLACES(8)
  ) u_read (
      .clk_i,
      .rst_ni,
      .valid_i(prep_valid),
      .ready_o(prep_ready),
      .dma_i(prep),
      .room_i(room),
      .push_o(push),
      .stop_i(fault_q),
      .read_o,
      .sram_req_o,
      .sram_addr_o,
      .sram_urgent_o,
      .sram_gnt_i,
      .sram_rdata_i,
      .word_valid_o(word_valid),
      .word_group_o(word_group),
      .word_last_o(word_last),
      .taken_i(word_taken),
      .row_valid_o(row_valid),
      .row_o(row),
      .row_pop_i(row_pop),
      .halt_o(halt),
      .halt_cause_o(halt_cause),
      .busy_o(read_busy)
  );

  logic [1:0] count, pop;
  logic [129:0] head0, head1;
  hd_beat_fifo #(
      .W(130),
      .DEPTH(8)
  ) u_words (
      .clk_i,
      .rst_ni,
      .push_i(word_valid),
      .data_i({word_group, word_last, sram_rdata_i}),
      .taken_o(word_taken),
      .count_o(count),
      .head0_o(head0),
      .head1_o(head1),
      .pop_i(pop)
  );

  logic w_room, w_push, burst_valid, burst_ready, burst_writable, end_ready;
  logic ends, pack_busy, pending;
  logic [127:0] w_data;
  logic [15:0] w_strb;
  logic [OFFW-1:0] burst_off;
  logic [10:0] burst_bytes;
  logic [63:0] burst_base, burst_size;
  hd_store_pack u_pack (
      .clk_i,
      .rst_ni,
      .q_valid_i(q_valid),
      .q_dma_i(q_dma),
      .q_pop_o(q_pop),
      .hold_i(fault_q || err_q),
      .row_valid_i(row_valid),
      .row_i(row),
      .row_pop_o(row_pop),
      .count_i(count),
      .head0_i(head0),
      .head1_i(head1),
      .pop_o(pop),
      .w_room_i(w_room),
      .w_push_o(w_push),
      .w_data_o(w_data),
      .w_strb_o(w_strb),
      .burst_valid_o(burst_valid),
      .burst_ready_i(burst_ready),
      .burst_off_o(burst_off),
      .burst_bytes_o(burst_bytes),
      .burst_base_o(burst_base),
      .burst_size_o(burst_size),
      .burst_writable_o(burst_writable),
      .end_ready_i(end_ready),
      .end_o(ends),
      .bytes_o,
      .busy_o(pack_busy),
      .pending_o(pending)
  );

  // ---- Requests.
  logic grant, burst_fault, burst_empty;
  logic [hd_pkg::MEM_AW-1:0] first_byte;
  logic [7:0] burst_code;
  logic [63:0] burst_addr;
  logic [7:0] waiting_q;
  hd_dma_burst u_burst (
      .clk_i,
      .rst_ni,
      .valid_i(burst_valid),
      .ready_o(burst_ready),
      .write_i(1'b1),
      .off_i(burst_off),
      .bytes_i(burst_bytes),
      .base_i(burst_base),
      .size_i(burst_size),
      .writable_i(burst_writable),
      .stop_i(stop_i || fault_q || err_q),
      .go_i(waiting_q < 8'(WAITING)),
      .grant_o(grant),
      .beats_o(),
      .first_o(first_byte),
      .fault_o(burst_fault),
      .fault_code_o(burst_code),
      .fault_addr_o(burst_addr),
      .empty_o(burst_empty),
      .req_valid_o,
      .req_ready_i,
      .req_write_o,
      .req_addr_o,
      .req_beats_o
  );

  // ---- Data of accepted requests.
  logic [7:0] w_level_q;  // in the RAM of the FIFO
  logic w_taken, w_go;
  logic [1:0] w_count;
  logic [9:0] owed_q;  // beats of accepted requests that have not gone
  logic [143:0] w_head;
  assign w_room = (w_level_q != 8'd128);
  hd_beat_fifo #(
      .W(144),
      .DEPTH(128)
  ) u_write (
      .clk_i,
      .rst_ni,
      .push_i(w_push),
      .data_i({w_strb, w_data}),
      .taken_o(w_taken),
      .count_o(w_count),
      .head0_o(w_head),
      .head1_o(),
      .pop_i({1'b0, w_go})
  );
  assign w_valid_o = (w_count != 2'd0) && (owed_q != 10'd0);
  assign w_go = w_valid_o && w_ready_i;
  assign w_data_o = w_head[127:0];
  assign w_strb_o = w_head[143:128];

  // ---- Answers. Bursts are numbered modulo 2^10; far fewer are under way.
  logic [9:0] closed_q, answered_q;
  logic [9:0] last;  // number behind the last burst of the oldest command
  logic last_valid, last_full;
  logic [9:0] passed;
  logic [hd_pkg::MEM_AW-1:0] addr_q[0:WAITING-1];  // first byte of a burst
  logic [6:0] aw_q, ar_q;
  logic [hd_pkg::MEM_AW-1:0] bad_addr_q;
  hd_fifo #(
      .W(10),
      .DEPTH(16)
  ) u_last (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .push_i(ends),
      .data_i(closed_q + {9'd0, burst_valid}),
      .full_o(last_full),
      .valid_o(last_valid),
      .data_o(last),
      .pop_i(done_o),
      .level_o()
  );
  assign end_ready = !last_full;
  assign passed = answered_q - last;
  assign done_o = last_valid && !passed[9] && !fault_q;

  assign fault_o = fault_q;
  assign busy_o = !cmd_ready_o || read_busy || q_valid || pack_busy || pending || last_valid;
  assign quiet_o = !req_valid_o && (burst_empty || stop_i || fault_q || err_q) &&
      (owed_q == 10'd0) && (waiting_q == 8'd0);
  assign idle_o = !busy_o && quiet_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fault_q <= 1'b0;
      err_q <= 1'b0;
      w_level_q <= 8'd0;
      owed_q <= 10'd0;
      waiting_q <= 8'd0;
      closed_q <= 10'd0;
      answered_q <= 10'd0;
      aw_q <= 7'd0;
      ar_q <= 7'd0;
    end else begin
`ifndef SYNTHESIS
      if (w_push) assert (w_room);
`endif
      w_level_q <= w_level_q + {7'd0, w_push} - {7'd0, w_taken};
      owed_q <= owed_q + ((req_valid_o && req_ready_i) ? {3'd0, req_beats_o} : 10'd0) -
          {9'd0, w_go};
      if (grant || b_valid_i) begin
`ifndef SYNTHESIS
        // Answers come to what was asked.
        assert (!b_valid_i || waiting_q != 8'd0);
        assert (waiting_q <= 8'(WAITING));
`endif
        waiting_q <= waiting_q + {7'd0, grant} - {7'd0, b_valid_i};
      end
      aw_q <= aw_q + {6'd0, grant};
      ar_q <= ar_q + {6'd0, b_valid_i};
      if (burst_valid) closed_q <= closed_q + 10'd1;
      // After an error nothing more counts as answered, so only commands before it finish.
      if (b_valid_i && !err_q) begin
        if (b_error_i) err_q <= 1'b1;
        else answered_q <= answered_q + 10'd1;
      end
      if (!fault_q && !done_o) begin
        if (err_q) begin
          fault_q <= 1'b1;
          fault_cause_o.code <= heddle_pkg::ERROR_BUS_ERROR[7:0];
          fault_cause_o.region <= 4'd0;
          fault_cause_o.addr <= {{(64 - hd_pkg::MEM_AW) {1'b0}}, bad_addr_q};
        end else if (burst_fault) begin  // never, unless the check of the command is wrong
          fault_q <= 1'b1;
          fault_cause_o.code <= burst_code;
          fault_cause_o.region <= 4'd0;
          fault_cause_o.addr <= burst_addr;
        end else if (halt && !last_valid &&
            (pack_busy ? !q_valid : (!pending && q_valid && q_dma.bad))) begin
          fault_q <= 1'b1;
          fault_cause_o <= halt_cause;
        end
      end
    end
    if (grant) addr_q[aw_q] <= first_byte;
    if (b_valid_i && b_error_i && !err_q) bad_addr_q <= addr_q[ar_q];
  end
endmodule
