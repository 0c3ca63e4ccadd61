// SPDX-License-Identifier: Apache-2.0
// Matrix engine: commands in, SRAM reads and writes out. See rtl/README.md for the figure.
//
// SRAM clients (pairs in stream order): 0-1 output writer, 2..9 row ports 0..3, 10-11 weights.
// Zero point and limits of the output stage belong to the command of the vector; they are delayed
// along the pipeline from the sequencer's command copy.
module hd_matrix_engine #(
    parameter int C = 16,
    parameter int K = 16,
    parameter int ACC_DEPTH = 256,
    parameter int EW = 9,
    parameter int WEIGHT_LOW = 16
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    input  logic                              cmd_valid_i,
    output logic                              cmd_ready_o,
    input  hd_matrix_pkg::mcmd_t              cmd_i,
    output logic                              idle_o,  // all writes of all commands are visible
    // SRAM
    output logic [11:0]                       req_o,
    output logic [11:0]                       urgent_o,
    output logic [12*hd_matrix_pkg::AW-1:0]   addr_o,
    output logic [255:0]                      wdata_o,  // of clients 0 and 1
    input  logic [11:0]                       gnt_i,
    input  logic [12*128-1:0]                 rdata_i,
    // counters
    output logic                              busy_o,
    output logic                              wait_weight_o,
    output logic                              wait_operand_o,
    output logic                              wait_output_o
);
  localparam int ROWS = hd_matrix_pkg::ROWS;
  localparam int HEADS = hd_matrix_pkg::HEADS;
  localparam int AW = hd_matrix_pkg::AW;
  // Units: 0..3 row ports, 4 weight reader, 5 weight loader, 6 sequencer, 7 writer.
  logic [7:0] avail, sel, take;
  hd_matrix_pkg::mcmd_t cmd0, cmd1;
  hd_matrix_pkg::spike_der_t der0, der1;
  logic writer_busy, slots_idle;
  hd_cmd_dispatch #(
      .C(C),
      .K(K)
  ) u_dispatch (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .valid_i      (cmd_valid_i),
      .ready_o      (cmd_ready_o),
      .cmd_i        (cmd_i),
      .cmd0_o       (cmd0),
      .der0_o       (der0),
      .cmd1_o       (cmd1),
      .der1_o       (der1),
      .avail_o      (avail),
      .sel_o        (sel),
      .take_i       (take),
      .writer_busy_i(writer_busy),
      .idle_o       (slots_idle)
  );
  assign idle_o = slots_idle && !writer_busy;

  logic [8*ROWS-1:0] level;
  logic [128*HEADS*ROWS-1:0] head;
  logic [HEADS*ROWS-1:0] nul;
  logic [3*ROWS-1:0] pop;
  logic out_urgent;
  logic [2*ROWS-1:0] row_urgent;
  assign urgent_o = {{2{wurgent}}, row_urgent, {2{out_urgent}}};
  for (genvar p = 0; p < ROWS; p++) begin : g_row
    logic run_valid, run_ready, urgent;
    hd_matrix_pkg::run_t run;
    hd_row_iter #(
        .PORT(p),
        .C(C)
    ) u_iter (
        .clk_i      (clk_i),
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
        .run_o      (run)
    );
    hd_fetch u_fetch (
        .clk_i      (clk_i),
        .rst_ni     (rst_ni),
        .run_valid_i(run_valid),
        .run_ready_o(run_ready),
        .run_i      (run),
        .req_o      (req_o[2+2*p +: 2]),
        .urgent_o   (urgent),
        .addr_o     (addr_o[AW*(2+2*p) +: 2*AW]),
        .gnt_i      (gnt_i[2+2*p +: 2]),
        .rdata_i    (rdata_i[128*(2+2*p) +: 256]),
        .level_o    (level[8*p +: 8]),
        .head_o     (head[128*HEADS*p +: 128*HEADS]),
        .null_o     (nul[HEADS*p +: HEADS]),
        .pop_i      (pop[3*p +: 3])
    );
    assign row_urgent[2*p +: 2] = {2{urgent}};
  end

  // Weights and parameters.
  logic wrun_valid, wrun_ready;
  hd_matrix_pkg::run_t wrun;
  logic [7:0] wlevel;
  logic [128*HEADS-1:0] whead;
  logic [1:0] wpop, ld;
  logic ld_first, ld_dw, w_signed, full, swap, pld, pset;
  logic [7:0] pos0, pos1, pidx;
  logic [8:0] zw;
  hd_weight_iter #(
      .C(C),
      .K(K)
  ) u_witer (
      .clk_i      (clk_i),
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
      .run_o      (wrun)
  );
  // Weights go before row ports that have words in store: behind them, a pair of weight requests
  // falls
  // into step with the activations (one bank behind) and gets one word per cycle instead of two.
  // The
  // row ports catch up with their second column.
  logic wurgent;
  hd_fetch #(
      .LOW(WEIGHT_LOW)
  ) u_wfetch (
      .clk_i      (clk_i),
      .rst_ni     (rst_ni),
      .run_valid_i(wrun_valid),
      .run_ready_o(wrun_ready),
      .run_i      (wrun),
      .req_o      (req_o[11:10]),
      .urgent_o   (wurgent),
      .addr_o     (addr_o[AW*10 +: 2*AW]),
      .gnt_i      (gnt_i[11:10]),
      .rdata_i    (rdata_i[128*10 +: 256]),
      .level_o    (wlevel),
      .head_o     (whead),
      .null_o     (),
      .pop_i      ({1'b0, wpop})
  );
  hd_weight_loader #(
      .C(C),
      .K(K)
  ) u_loader (
      .clk_i     (clk_i),
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
      .ld_first_o(ld_first),
      .ld_dw_o   (ld_dw),
      .pos0_o    (pos0),
      .pos1_o    (pos1),
      .zw_o      (zw),
      .w_signed_o(w_signed),
      .full_o    (full),
      .swap_i    (swap),
      .pld_o     (pld),
      .pset_o    (pset),
      .pidx_o    (pidx)
  );

  // Sequencer, operands, array.
  logic issue, a_signed, shift, clear, wide, room;
  hd_matrix_pkg::pixel_t pix;
  logic [1:0] mode;
  logic [8:0] za;
  logic [26:0] post;
  logic [2:0] cols, real_cols;
  logic [ROWS-1:0] part;
  logic [4*ROWS-1:0] off;
  logic [8*ROWS-1:0] lane, lo, hi;
  hd_matrix_seq #(
      .C(C)
  ) u_seq (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
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
      .mode_o        (mode),
      .a_signed_o    (a_signed),
      .za_o          (za),
      .post_o        (post),
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
  logic [9*C-1:0] a;
  hd_operand_align #(
      .C(C)
  ) u_align (
      .fold_i    (mode == hd_matrix_pkg::MODE_FOLD),
      .a_signed_i(a_signed),
      .za_i      (za),
      .head_i    (head),
      .null_i    (nul),
      .part_i    (part),
      .off_i     (off),
      .lane_i    (lane),
      .lo_i      (lo),
      .hi_i      (hi),
      .a_o       (a)
  );
  logic ps_valid;
  hd_matrix_pkg::pixel_t ps_pix;
  logic [32*K-1:0] psum;
  hd_mac_array #(
      .C(C),
      .K(K),
      .EW(EW)
  ) u_array (
      .clk_i     (clk_i),
      .rst_ni    (rst_ni),
      .issue_i   (issue),
      .pix_i     (pix),
      .dw_i      (mode == hd_matrix_pkg::MODE_DW),
      .a_i       (a),
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
      .ld_first_i(ld_first),
      .ld_dw_i   (ld_dw),
      .pos0_i    (pos0),
      .pos1_i    (pos1),
      .wdata_i   (whead[255:0]),
      .w_signed_i(w_signed),
      .zw_i      (zw),
      .valid_o   (ps_valid),
      .pix_o     (ps_pix),
      .psum_o    (psum)
  );

  // Accumulators and output.
  logic acc_valid, acc_pbank, y_valid;
  logic [32*K-1:0] acc;
  logic [8*K-1:0] y;
  hd_accumulator #(
      .K(K),
      .DEPTH(ACC_DEPTH)
  ) u_acc (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .valid_i(ps_valid),
      .pix_i  (ps_pix),
      .psum_i (psum),
      .valid_o(acc_valid),
      .pbank_o(acc_pbank),
      .acc_o  (acc)
  );

  // From issue to the last step of the output stage: 3 (array) + 2 (accumulator) + 3.
  localparam int POST = 8;
  logic [27*POST-1:0] post_q;
  always_ff @(posedge clk_i) post_q <= {post_q[27*(POST-1)-1:0], post};
  logic [26:0] post_now;
  assign post_now = post_q[27*(POST-1) +: 27];
  hd_requant #(
      .K(K)
  ) u_requant (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .valid_i(acc_valid),
      .pbank_i(acc_pbank),
      .acc_i  (acc),
      .zp_i   (post_now[26:18]),
      .lo_i   (post_now[17:9]),
      .hi_i   (post_now[8:0]),
      .pld_i  (pld),
      .pset_i (pset),
      .pidx_i (pidx),
      .pdata_i(whead[255:0]),
      .valid_o(y_valid),
      .y_o    (y)
  );
  hd_out_writer #(
      .K(K)
  ) u_writer (
      .clk_i   (clk_i),
      .rst_ni  (rst_ni),
      .cmd0_i  (cmd0),
      .cmd1_i  (cmd1),
      .avail_i (avail[7]),
      .sel_i   (sel[7]),
      .take_o  (take[7]),
      .busy_o  (writer_busy),
      .issue_i (issue && pix.last),
      .room_o  (room),
      .valid_i (y_valid),
      .y_i     (y),
      .req_o   (req_o[1:0]),
      .urgent_o(out_urgent),
      .addr_o  (addr_o[2*AW-1:0]),
      .wdata_o (wdata_o),
      .gnt_i   (gnt_i[1:0])
  );
endmodule
