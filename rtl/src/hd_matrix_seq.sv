// SPDX-License-Identifier: Apache-2.0
// Sequencer of the matrix engine: issues one pixel per cycle through all passes of a command,
// without a bubble at row, pass and block ends.
//
//   for stripe: for block of output channels: for pass: for y in stripe: for x in row: issue
//
// A pixel is issued when its operands are at the heads of the row FIFOs, the tile of its pass is
// loaded (first pixel of a pass: swap_o), and, in the last pass, the output FIFO has room (room_i).
// Everything issued flows through the array without stalling.
//
// Depthwise: the window of a row port holds the newest columns on the right. At the start of a row
// it
// is cleared and filled; then sx columns enter per pixel. Up to HEADS columns enter per cycle, the
// real ones from the FIFO, those right of the image as zeros; only a row start that needs more than
// HEADS columns (or a stride above HEADS) costs extra cycles.
// Fold: off/lane/lo/hi describe, per row port, which bytes of the heads go to which lanes.
module hd_matrix_seq #(
    parameter int C = 16
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    input  hd_matrix_pkg::mcmd_t             cmd0_i,
    input  hd_matrix_pkg::spike_der_t             der0_i,
    input  hd_matrix_pkg::mcmd_t             cmd1_i,
    input  hd_matrix_pkg::spike_der_t             der1_i,
    input  logic                             avail_i,
    input  logic                             sel_i,
    output logic                             take_o,
    // row FIFOs
    input  logic [8*hd_matrix_pkg::ROWS-1:0] level_i,
    output logic [3*hd_matrix_pkg::ROWS-1:0] pop_o,
    // weights and output
    input  logic                             full_i,
    output logic                             swap_o,
    input  logic                             room_i,
    // array
    output logic                             issue_o,
    output hd_matrix_pkg::pixel_t            pix_o,
    output logic [1:0]                       mode_o,
    output logic                             a_signed_o,
    output logic [8:0]                       za_o,
    output logic [26:0]                      post_o,    // {ozp, olo, ohi}
    output logic                             shift_o,   // depthwise: columns enter the window
    output logic                             clear_o,   // ... after it has been cleared
    output logic                             wide_o,
    output logic [2:0]                       cols_o,    // ... this many
    output logic [2:0]                       real_o,    // ... of which from the FIFO
    output logic [hd_matrix_pkg::ROWS-1:0]   part_o,    // row port takes part in this pass
    output logic [4*hd_matrix_pkg::ROWS-1:0] off_o,     // fold: byte of head word 0
    output logic [8*hd_matrix_pkg::ROWS-1:0] lane_o,    // fold: its lane
    output logic [8*hd_matrix_pkg::ROWS-1:0] lo_o,      // fold: bytes lo <= t < hi are inside
    output logic [8*hd_matrix_pkg::ROWS-1:0] hi_o,
    output logic                             busy_o,
    output logic                             wait_weight_o,
    output logic                             wait_operand_o,
    output logic                             wait_output_o
);
  localparam int ROWS = hd_matrix_pkg::ROWS;
  typedef enum logic [1:0] {
    IDLE,
    INIT,
    RUN
  } state_e;
  state_e state_q;
  hd_matrix_pkg::mcmd_t cmd_q;
  hd_matrix_pkg::spike_der_t der_q;
  logic [15:0] left_q, srow_q, x_q, pix_q;
  logic [7:0] cob_q;
  logic pbank_q, start_q;       // start: first pixel of a pass
  logic [15:0] cpos_q, need_q;  // depthwise: next column to enter; columns the pixel needs
  logic fresh_q;                // depthwise: first step of a row
  logic [15:0] xoff_q;          // fold: x * sx * cpix

  logic conv, dw, run;
  assign conv = (cmd_q.mode == hd_matrix_pkg::MODE_CONV);
  assign dw = (cmd_q.mode == hd_matrix_pkg::MODE_DW);
  assign run = (state_q == RUN);

  logic pass_first, pass_last, pass_adv, pass_restart;
  logic [7:0] ky;
  logic [ROWS-1:0] seg_en;
  logic [8*ROWS-1:0] seg_q, seg_n;
  hd_pass_ctr #(
      .C(C)
  ) u_pass (
      .clk_i     (clk_i),
      .cmd_i     (cmd_q),
      .der_i     (der_q),
      .restart_i (pass_restart),
      .adv_i     (pass_adv),
      .first_o   (pass_first),
      .last_o    (pass_last),
      .ky_o      (ky),
      .row_o     (),
      .row_a_o   (),
      .col_o     (),
      .off_a_o   (),
      .seg_en_o  (seg_en),
      .seg_q_o   (seg_q),
      .seg_lane_o(lane_o),
      .seg_n_o   (seg_n)
  );

  logic x_last, y_last, cob_last, stripe_last;
  assign x_last = (x_q + 16'd1 == cmd_q.ow);
  assign y_last = (srow_q == 16'd1);
  assign cob_last = (cob_q + 8'd1 == cmd_q.cob);
  assign stripe_last = (left_q <= cmd_q.srows);

  // Depthwise: columns that enter in this cycle.
  logic [15:0] lack, rest;
  logic [2:0] cols, real_cols;
  logic reach;  // after this cycle the window is right for the pixel
  assign lack = $signed(need_q) > $signed(cpos_q) ? need_q - cpos_q : 16'd0;
  assign rest = $signed(cmd_q.iw) > $signed(cpos_q) ? cmd_q.iw - cpos_q : 16'd0;
  assign reach = (lack <= 16'd4);
  assign cols = reach ? lack[2:0] : 3'd4;
  assign real_cols = (rest < {13'd0, cols}) ? rest[2:0] : cols;

  // Per row port: does it take part, how many words must be there, how many leave.
  logic [ROWS-1:0] part, ready;
  logic [15:0] f, span, stepw, left_b, hi;
  logic [7:0] need;
  logic [2:0] pop;
  logic [3*ROWS-1:0] pops;
  always_comb begin
    f = 16'd0;
    span = 16'd0;
    stepw = 16'd0;
    left_b = 16'd0;
    hi = 16'd0;
    for (int p = 0; p < ROWS; p++) begin
      f = {8'd0, seg_q[8*p +: 8]} - der_q.plc + xoff_q;  // first byte of the segment
      span = ({12'd0, f[3:0]} + {8'd0, seg_n[8*p +: 8]} + 16'd15) >> 4;
      stepw = ({12'd0, f[3:0]} + der_q.sxc) >> 4;
      left_b = der_q.wc - f;
      hi = {8'd0, seg_n[8*p +: 8]};
      if ($signed(left_b) < $signed(hi)) hi = left_b[15] ? 16'd0 : left_b;
      off_o[4*p +: 4] = f[3:0];
      lo_o[8*p +: 8] = !f[15] ? 8'd0 : (-f > 16'd255) ? 8'd255 : 8'(-f);
      hi_o[8*p +: 8] = hi[7:0];
      if (conv) begin
        part[p] = (p < C / 16);
        need = 8'd1;
        pop = 3'd1;
      end else if (dw) begin
        part[p] = (8'(p) < der_q.rp) && ({1'b0, ky} + 9'(p) < {1'b0, cmd_q.kh})
                  && (der_q.ncol != 16'd0);
        need = {5'd0, real_cols};
        pop = real_cols;
      end else begin
        part[p] = seg_en[p];
        pop = x_last ? span[2:0] : stepw[2:0];
        need = (span > {13'd0, pop}) ? span[7:0] : {5'd0, pop};
      end
      ready[p] = !part[p] || (level_i[8*p +: 8] >= need);
      pops[3*p +: 3] = part[p] ? pop : 3'd0;
    end
  end

  logic operand_ok, weight_ok, output_ok, pixel, step;
  assign operand_ok = (ready == '1);
  assign weight_ok = !start_q || full_i;
  assign output_ok = !pass_last || room_i;
  // A depthwise step that only fills the window needs neither weights nor room.
  assign pixel = !dw || reach;
  assign step = run && operand_ok && (!pixel || (weight_ok && output_ok));
  assign issue_o = step && pixel;
  assign swap_o = issue_o && start_q;
  assign pop_o = step ? pops : '0;
  assign shift_o = step && dw;
  assign clear_o = fresh_q;
  assign wide_o = der_q.wide;
  assign cols_o = cols;
  assign real_o = real_cols;
  assign part_o = part;
  assign mode_o = cmd_q.mode;
  assign a_signed_o = cmd_q.a_signed;
  assign za_o = cmd_q.za;
  assign post_o = {cmd_q.ozp, cmd_q.olo, cmd_q.ohi};
  always_comb begin
    pix_o.first = pass_first;
    pix_o.last = pass_last;
    pix_o.pbank = pbank_q;
    pix_o.pix = pix_q;
  end
  assign take_o = (state_q == IDLE) && avail_i;
  assign busy_o = run;
  assign wait_operand_o = run && !operand_ok;
  assign wait_weight_o = run && operand_ok && pixel && !weight_ok;
  assign wait_output_o = run && operand_ok && pixel && weight_ok && !output_ok;

  logic row_end, pass_end;
  assign row_end = issue_o && x_last;
  assign pass_end = row_end && y_last;
  assign pass_adv = pass_end;
  assign pass_restart = (state_q == INIT) || (pass_end && pass_last);

  logic [15:0] left_n;
  assign left_n = left_q - cmd_q.srows;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      pbank_q <= 1'b0;
    end else begin
      case (state_q)
        IDLE: if (avail_i) state_q <= INIT;
        INIT: state_q <= RUN;
        default:
          if (pass_end && pass_last && cob_last && stripe_last) state_q <= IDLE;
      endcase
      if (pass_end && pass_last) pbank_q <= !pbank_q;
    end
    if (take_o) begin
      cmd_q <= sel_i ? cmd1_i : cmd0_i;
      der_q <= sel_i ? der1_i : der0_i;
    end
    if (state_q == INIT) begin
      left_q <= cmd_q.oh;
      srow_q <= (cmd_q.oh < cmd_q.srows) ? cmd_q.oh : cmd_q.srows;
      cob_q <= 8'd0;
      start_q <= 1'b1;
      pix_q <= 16'd0;
    end else if (issue_o) begin
      start_q <= pass_end;
      pix_q <= pass_end ? 16'd0 : pix_q + 16'd1;
      if (row_end) srow_q <= srow_q - 16'd1;
      if (pass_end) begin
        srow_q <= (left_q < cmd_q.srows) ? left_q : cmd_q.srows;
        if (pass_last) begin
          cob_q <= cob_last ? 8'd0 : cob_q + 8'd1;
          if (cob_last) begin
            left_q <= left_n;
            srow_q <= (left_n < cmd_q.srows) ? left_n : cmd_q.srows;
          end
        end
      end
    end
    // Position in the row.
    if (state_q == INIT || row_end) begin
      x_q <= 16'd0;
      xoff_q <= 16'd0;
      fresh_q <= 1'b1;
      cpos_q <= der_q.col0;
      need_q <= {8'd0, cmd_q.kw} - cmd_q.pl;
    end else if (step) begin
      fresh_q <= 1'b0;
      cpos_q <= cpos_q + {13'd0, cols};
      if (pixel) begin
        x_q <= x_q + 16'd1;
        xoff_q <= xoff_q + der_q.sxc;
        need_q <= need_q + {8'd0, cmd_q.sx};
      end
    end
  end

endmodule
