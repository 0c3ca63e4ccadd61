// SPDX-License-Identifier: Apache-2.0
// Matrix engine: commands conv and sync.matrix in, SRAM reads and writes out. The figure is in
// rtl/MICROARCHITECTURE.md.
//
//   cmd -> hd_matrix_decode -> hd_cmd_dispatch -> row ports, weights, sequencer, output stage
//      \-> hd_matrix_order: read_o, done_o, macs_o in the order of acceptance
//
// SRAM clients (pairs in stream order): 0-1 output writer, 2..9 row ports 0..3, 10-11 weights, 12
// residual and pooling reader.
// Up to five commands are inside: one in decode, two in the slots, two in the units. A command is
// decoded in 8 to 20 cycles while the ones before it run.
// A word beyond the SRAM is found by the unit that would ask for it, perhaps while earlier commands
// still run; fault_o rises when the command is the oldest (units count the commands they have
// finished). From then on nothing is requested, until reset.
// clear_i zeroes the accumulators (ACC_DEPTH cycles, idle_o low); the engine must be idle.
module hd_matrix_engine #(
    parameter int C = 16,
    parameter int K = 16,
    parameter int ACC_DEPTH = 256,
    parameter int SRAM_WORDS = 32768,
    parameter int WEIGHT_LOW = 16
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    input  logic                              cmd_valid_i,
    output logic                              cmd_ready_o,
    input  logic [32*heddle_pkg::CONV_WORDS-1:0] cmd_i,
    output logic                              read_o,
    output logic                              done_o,
    output logic [63:0]                       macs_o,
    output logic                              fault_o,
    output hd_pkg::engine_fault_t fault_cause_o,
    output logic                              idle_o,
    input  logic                              clear_i,
    // SRAM
    output logic [12:0]                       req_o,
    output logic [12:0]                       urgent_o,
    output logic [13*hd_matrix_pkg::AW-1:0]   addr_o,
    output logic [255:0]                      wdata_o,  // of clients 0 and 1
    input  logic [12:0]                       gnt_i,
    input  logic [13*128-1:0]                 rdata_i,
    // counters
    output logic                              busy_o,
    output logic                              wait_weight_o,
    output logic                              wait_operand_o,
    output logic                              wait_output_o
);
  // Clocks. The array's runs while there is work; that of commands, loop nests and passes where one
  // of these asks for it; row port 0 (all there is with 16 lanes) and the others where they fetch;
  // weights where they are fetched or loaded. More of them cost more in simulation than they save.
  logic clk, cmd_clk, weight_clk;
  logic [ROWS-1:0] row_clk_req;
  logic [8:0] clk_req;
  logic wfetch_clk_req, loader_clk_req, row0_clk, rows_clk;
  hd_clock_gate u_clock (
      .clk_i(clk_i),
      .en_i (!rst_ni || cmd_valid_i || !idle_o || clear_i),
      .clk_o(clk)
  );
  hd_clock_gate u_cmd_clock (
      .clk_i(clk_i),
      .en_i (clk_req != '0),
      .clk_o(cmd_clk)
  );
  hd_clock_gate u_row0_clock (
      .clk_i(clk_i),
      .en_i (row_clk_req[0]),
      .clk_o(row0_clk)
  );
  hd_clock_gate u_rows_clock (
      .clk_i(clk_i),
      .en_i (row_clk_req[ROWS-1:1] != '0),
      .clk_o(rows_clk)
  );
  hd_clock_gate u_weight_clock (
      .clk_i(clk_i),
      .en_i (wfetch_clk_req || loader_clk_req),
      .clk_o(weight_clk)
  );
  localparam int ROWS = hd_matrix_pkg::ROWS;
  localparam int HEADS = hd_matrix_pkg::HEADS;
  localparam int AW = hd_matrix_pkg::AW;

  // Commands.
  heddle_pkg::conv_t cmd;
  assign cmd = cmd_i;
  logic sync, accept, dec_ready, dec_valid, slot_ready, order_busy, order_full, order_empty;
  assign sync = (cmd_i[7:0] == heddle_pkg::OP_SYNC_MATRIX);
  assign cmd_ready_o = !order_full && !order_busy && dec_ready;
  assign accept = cmd_valid_i && cmd_ready_o;
  heddle_pkg::conv_t dec_cmd, cmd0, cmd1;
  hd_matrix_pkg::mder_t dec_der, der0, der1;
  hd_matrix_decode #(
      .C(C),
      .K(K),
      .ACC_DEPTH(ACC_DEPTH)
  ) u_decode (
      .clk_i  (cmd_clk),
      .clk_req_o (clk_req[0]),
      .rst_ni (rst_ni),
      .valid_i(accept && !sync),
      .ready_o(dec_ready),
      .cmd_i  (cmd),
      .valid_o(dec_valid),
      .ready_i(slot_ready),
      .cmd_o  (dec_cmd),
      .der_o  (dec_der)
  );
  // Units: 0..3 row ports, 4 weight reader, 5 weight loader, 6 sequencer, 7 output stage.
  logic [7:0] avail, sel, take;
  hd_cmd_dispatch u_dispatch (
      .clk_i  (cmd_clk),
      .clk_req_o (clk_req[1]),
      .rst_ni (rst_ni),
      .valid_i(dec_valid),
      .ready_o(slot_ready),
      .cmd_i  (dec_cmd),
      .der_i  (dec_der),
      .cmd0_o (cmd0),
      .der0_o (der0),
      .cmd1_o (cmd1),
      .der1_o (der1),
      .avail_o(avail),
      .sel_o  (sel),
      .take_i (take)
  );

  // Order and faults. A unit's fault belongs to the command after those it had finished when it
  // noticed; it goes on with null words and may finish that command, which does not count.
  logic [5:0] ends;
  logic out_done, conv_done, sync_next, block_done, fault_q;
  logic [5:0] unit_fault;  // row ports, weight reader, output stage
  logic [63:0] row_fault_addr [0:ROWS-1];
  logic [63:0] w_fault_addr, out_fault_addr, fault_addr_q;
  logic [3*6-1:0] seq_q;   // commands finished by the unit, modulo 8
  logic [2:0] done_q;      // commands done, modulo 8
  logic [5:0] oldest;      // the fault is the oldest command's
  logic [5:0] finish;
  assign finish = {out_done, ends[4:0]};
  for (genvar i = 0; i < 6; i++) begin : g_seq
    assign oldest[i] = unit_fault[i] && (seq_q[3*i +: 3] == done_q) && !sync_next;
  end
  assign block_done = (oldest != 6'd0) || fault_q;
  hd_matrix_order u_order (
      .clk_i       (cmd_clk),
      .clk_req_o      (clk_req[2]),
      .rst_ni      (rst_ni),
      .accept_i    (accept),
      .sync_i      (sync),
      .cmd_i       (cmd),
      .busy_o      (order_busy),
      .full_o      (order_full),
      .empty_o     (order_empty),
      .end_i       (ends),
      .out_done_i  (out_done),
      .done_block_i(block_done),
      .read_o      (read_o),
      .done_o      (done_o),
      .conv_done_o (conv_done),
      .sync_next_o (sync_next),
      .macs_o      (macs_o)
  );
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      fault_q <= 1'b0;
      seq_q <= '0;
      done_q <= 3'd0;
    end else begin
      if (conv_done) done_q <= done_q + 3'd1;
      for (int i = 0; i < 6; i++)
        if (finish[i] && !unit_fault[i]) seq_q[3*i +: 3] <= seq_q[3*i +: 3] + 3'd1;
      if (!fault_q && oldest != 6'd0) begin
        fault_q <= 1'b1;
        fault_addr_q <= oldest[0] ? row_fault_addr[0] : oldest[1] ? row_fault_addr[1]
                        : oldest[2] ? row_fault_addr[2] : oldest[3] ? row_fault_addr[3]
                        : oldest[4] ? w_fault_addr : out_fault_addr;
      end
    end
  end
  assign fault_o = fault_q;
  assign fault_cause_o.code = heddle_pkg::ERROR_SRAM_BOUNDS[7:0];
  assign fault_cause_o.region = 4'd0;
  assign fault_cause_o.addr = fault_addr_q;

  // Activations.
  logic [8*ROWS-1:0] level;
  logic [128*HEADS*ROWS-1:0] head;
  logic [HEADS*ROWS-1:0] nul;
  logic [3*ROWS-1:0] pop;
  logic [2*ROWS-1:0] row_urgent;
  for (genvar p = 0; p < ROWS; p++) begin : g_row
    logic run_valid, run_ready, urgent, drained, fetch_clk;
    assign fetch_clk = (p == 0) ? row0_clk : rows_clk;
    hd_matrix_pkg::run_t run;
    hd_row_iter #(
        .PORT(p),
        .C(C),
        .SRAM_WORDS(SRAM_WORDS)
    ) u_iter (
        .clk_i      (cmd_clk),
      .clk_req_o     (clk_req[3+p]),
        .rst_ni     (rst_ni),
        .cmd0_i     (cmd0),
        .der0_i     (der0),
        .cmd1_i     (cmd1),
        .der1_i     (der1),
        .avail_i    (avail[p]),
        .sel_i      (sel[p]),
        .take_o     (take[p]),
        .run_valid_o(run_valid),
        .run_ready_i(run_ready),
        .run_o      (run),
        .drained_i  (drained),
        .end_o      (ends[p])
    );
    hd_fetch #(
        .SRAM_WORDS(SRAM_WORDS)
    ) u_fetch (
        .clk_i       (fetch_clk),
      .clk_req_o      (row_clk_req[p]),
        .rst_ni      (rst_ni),
        .stop_i      (fault_q),
        .run_valid_i (run_valid),
        .run_ready_o (run_ready),
        .run_i       (run),
        .drained_o   (drained),
        .fault_o     (unit_fault[p]),
        .fault_addr_o(row_fault_addr[p]),
        .req_o       (req_o[2+2*p +: 2]),
        .urgent_o    (urgent),
        .addr_o      (addr_o[AW*(2+2*p) +: 2*AW]),
        .gnt_i       (gnt_i[2+2*p +: 2]),
        .rdata_i     (rdata_i[128*(2+2*p) +: 256]),
        .level_o     (level[8*p +: 8]),
        .head_o      (head[128*HEADS*p +: 128*HEADS]),
        .null_o      (nul[HEADS*p +: HEADS]),
        .pop_i       (pop[3*p +: 3])
    );
    assign row_urgent[2*p +: 2] = {2{urgent}};
  end

  // Weights and parameters. They go before row ports that have words in store: behind them, a pair
  // of weight requests falls into step with the activations (one bank behind) and gets one word per
  // cycle instead of two. The row ports catch up with their second column.
  logic wrun_valid, wrun_ready, wdrained, wurgent;
  hd_matrix_pkg::run_t wrun;
  logic [7:0] wlevel;
  logic [255:0] whead;
  logic [1:0] wpop, ld, wnull;
  logic ld_clear, ld_one, ld_col, ld_grp, ld_keep, zset, zld, zgrp, w_signed, full, swap;
  logic pld, pset, lld, lset;
  logic [3:0] lidx;
  logic [4:0] ld_cells;
  logic [7:0] pos0, pos1, pidx;
  logic [8:0] zw;
  hd_weight_iter #(
      .C(C),
      .K(K)
  ) u_witer (
      .clk_i      (cmd_clk),
      .clk_req_o     (clk_req[7]),
      .rst_ni     (rst_ni),
      .cmd0_i     (cmd0),
      .der0_i     (der0),
      .cmd1_i     (cmd1),
      .der1_i     (der1),
      .avail_i    (avail[4]),
      .sel_i      (sel[4]),
      .take_o     (take[4]),
      .run_valid_o(wrun_valid),
      .run_ready_i(wrun_ready),
      .run_o      (wrun),
      .drained_i  (wdrained),
      .end_o      (ends[4])
  );
  hd_fetch #(
      .LOW(WEIGHT_LOW),
      .HEADS(2),
      .SRAM_WORDS(SRAM_WORDS)
  ) u_wfetch (
      .clk_i       (weight_clk),
      .clk_req_o      (wfetch_clk_req),
      .rst_ni      (rst_ni),
      .stop_i      (fault_q),
      .run_valid_i (wrun_valid),
      .run_ready_o (wrun_ready),
      .run_i       (wrun),
      .drained_o   (wdrained),
      .fault_o     (unit_fault[4]),
      .fault_addr_o(w_fault_addr),
      .req_o       (req_o[11:10]),
      .urgent_o    (wurgent),
      .addr_o      (addr_o[AW*10 +: 2*AW]),
      .gnt_i       (gnt_i[11:10]),
      .rdata_i     (rdata_i[128*10 +: 256]),
      .level_o     (wlevel),
      .head_o      (whead),
      .null_o      (wnull),
      .pop_i       ({1'b0, wpop})
  );
  hd_weight_loader #(
      .C(C),
      .K(K)
  ) u_loader (
      .clk_i     (weight_clk),
      .clk_req_o    (loader_clk_req),
      .rst_ni    (rst_ni),
      .cmd0_i    (cmd0),
      .der0_i    (der0),
      .cmd1_i    (cmd1),
      .der1_i    (der1),
      .avail_i   (avail[5]),
      .sel_i     (sel[5]),
      .take_o    (take[5]),
      .level_i   (wlevel),
      .pop_o     (wpop),
      .ld_o      (ld),
      .ld_clear_o(ld_clear),
      .ld_one_o  (ld_one),
      .ld_col_o  (ld_col),
      .ld_grp_o  (ld_grp),
      .ld_cells_o(ld_cells),
      .ld_keep_o (ld_keep),
      .pos0_o    (pos0),
      .pos1_o    (pos1),
      .zw_o      (zw),
      .zset_o    (zset),
      .zld_o     (zld),
      .zgrp_o    (zgrp),
      .w_signed_o(w_signed),
      .full_o    (full),
      .swap_i    (swap),
      .pld_o     (pld),
      .pset_o    (pset),
      .pidx_o    (pidx),
      .lld_o     (lld),
      .lset_o    (lset),
      .lidx_o    (lidx)
  );

  // Sequencer, operands, array.
  logic issue, a_signed, shift, clear, wide, room, dw, fold;
  hd_matrix_pkg::pixel_t pix;
  logic [8:0] za;
  logic [7:0] lanes;
  logic [2:0] cols, real_cols;
  logic [ROWS-1:0] part;
  logic [4*ROWS-1:0] off;
  logic [8*ROWS-1:0] lane, lo, hi;
  hd_matrix_seq #(
      .C(C)
  ) u_seq (
      .clk_i         (clk),
      .pass_clk_i    (cmd_clk),
      .pass_clk_req_o   (clk_req[8]),
      .rst_ni        (rst_ni),
      .stop_i        (fault_q),
      .cmd0_i        (cmd0),
      .der0_i        (der0),
      .cmd1_i        (cmd1),
      .der1_i        (der1),
      .avail_i       (avail[6]),
      .sel_i         (sel[6]),
      .take_o        (take[6]),
      .level_i       (level),
      .pop_o         (pop),
      .full_i        (full),
      .swap_o        (swap),
      .room_i        (room),
      .issue_o       (issue),
      .pix_o         (pix),
      .dw_o          (dw),
      .fold_o        (fold),
      .a_signed_o    (a_signed),
      .za_o          (za),
      .lanes_o       (lanes),
      .shift_o       (shift),
      .clear_o       (clear),
      .wide_o        (wide),
      .cols_o        (cols),
      .real_o        (real_cols),
      .part_o        (part),
      .off_o         (off),
      .lane_o        (lane),
      .lo_o          (lo),
      .hi_o          (hi),
      .busy_o        (busy_o),
      .wait_weight_o (wait_weight_o),
      .wait_operand_o(wait_operand_o),
      .wait_output_o (wait_output_o)
  );
  logic [8*C-1:0] code;
  logic [C-1:0] keep;
  hd_operand_align #(
      .C(C)
  ) u_align (
      .en_i   (issue),
      .fold_i (fold),
      .lanes_i(lanes),
      .head_i (head),
      .null_i (nul),
      .part_i (part),
      .off_i  (off),
      .lane_i (lane),
      .lo_i   (lo),
      .hi_i   (hi),
      .code_o (code),
      .keep_o (keep)
  );
  logic ps_valid;
  hd_matrix_pkg::pixel_t ps_pix;
  logic [32*K-1:0] psum;
  hd_mac_array #(
      .C(C),
      .K(K)
  ) u_array (
      .clk_i     (clk),
      .rst_ni    (rst_ni),
      .issue_i   (issue),
      .pix_i     (pix),
      .dw_i      (dw),
      .code_i    (code),
      .keep_i    (keep),
      .shift_i   (shift),
      .clear_i   (clear),
      .wide_i    (wide),
      .cols_i    (cols),
      .real_i    (real_cols),
      .a_signed_i(a_signed),
      .za_i      (za),
      .part_i    (part[2:0]),
      .head_i    (head[128*HEADS*3-1:0]),
      .null_i    (nul[HEADS*3-1:0]),
      .swap_i    (swap),
      .ld_i      (ld),
      .ld_clear_i(ld_clear),
      .ld_one_i  (ld_one),
      .ld_col_i  (ld_col),
      .ld_grp_i  (ld_grp),
      .ld_cells_i(ld_cells),
      .ld_keep_i (ld_keep),
      .pos0_i    (pos0),
      .pos1_i    (pos1),
      .wdata_i   (whead),
      .wnull_i   (wnull),
      .w_signed_i(w_signed),
      .zw_i      (zw),
      .zset_i    (zset),
      .zld_i     (zld),
      .zgrp_i    (zgrp),
      .valid_o   (ps_valid),
      .pix_o     (ps_pix),
      .psum_o    (psum)
  );

  // Accumulators and output.
  logic acc_valid, acc_pbank, hold_done, clear_busy, out_busy;
  logic [32*K-1:0] acc;
  hd_accumulator #(
      .K(K),
      .DEPTH(ACC_DEPTH)
  ) u_acc (
      .clk_i       (clk),
      .rst_ni      (rst_ni),
      .clear_i     (clear_i),
      .clear_busy_o(clear_busy),
      .valid_i     (ps_valid),
      .pix_i       (ps_pix),
      .psum_i      (psum),
      .valid_o     (acc_valid),
      .pbank_o     (acc_pbank),
      .acc_o       (acc),
      .hold_done_o (hold_done)
  );
  logic [2:0] out_req, out_urgent;
  logic [3*AW-1:0] out_addr;
  hd_output_stage #(
      .C(C),
      .K(K),
      .SRAM_WORDS(SRAM_WORDS)
  ) u_output (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .cmd0_i      (cmd0),
      .der0_i      (der0),
      .cmd1_i      (cmd1),
      .der1_i      (der1),
      .avail_i     (avail[7]),
      .sel_i       (sel[7]),
      .take_o      (take[7]),
      .res_read_o  (ends[5]),
      .done_o      (out_done),
      .hold_done_i (hold_done),
      .fault_o     (unit_fault[5]),
      .fault_addr_o(out_fault_addr),
      .stop_i      (fault_q),
      .busy_o      (out_busy),
      .issue_i     (issue && pix.last),
      .room_o      (room),
      .valid_i     (acc_valid),
      .pbank_i     (acc_pbank),
      .acc_i       (acc),
      .pld_i       (pld),
      .pset_i      (pset),
      .pidx_i      (pidx),
      .pdata_i     (whead),
      .lld_i       (lld),
      .lset_i      (lset),
      .lidx_i      (lidx),
      .ldata_i     (whead[127:0]),
      .req_o       (out_req),
      .urgent_o    (out_urgent),
      .addr_o      (out_addr),
      .wdata_o     (wdata_o),
      .gnt_i       ({gnt_i[12], gnt_i[1:0]}),
      .rdata_i     (rdata_i[128*12 +: 128])
  );
  assign req_o[1:0] = out_req[1:0];
  assign req_o[12] = out_req[2];
  assign urgent_o = {out_urgent[2], {2{wurgent}}, row_urgent, out_urgent[1:0]};
  assign addr_o[2*AW-1:0] = out_addr[2*AW-1:0];
  assign addr_o[12*AW +: AW] = out_addr[3*AW-1:2*AW];
  assign idle_o = order_empty && !clear_busy && !out_busy;
endmodule
