// SPDX-License-Identifier: Apache-2.0
// Sequencer of the matrix engine: issues one pixel per cycle through all passes of a command,
// without a bubble at row, pass and block ends; one cycle between commands.
//
//   loop nest of hd_matrix_pkg::mder_t, innermost: for pass: for y in stripe: for x in chunk: issue
//
// A pixel is issued when its operands are at the heads of the row FIFOs, the tile of its pass is
// loaded (first pixel of a pass: swap_o), and, if it goes to the output stage, that has room
// (room_i). Everything issued flows through the array without stalling. Two passes begin at least
// two cycles apart: hd_accumulator needs that between two visits of an entry.
//
// Depthwise: the window of a row port holds the newest columns on the right. At the start of a row
// it is cleared and filled; then sx columns enter per pixel. Up to HEADS columns enter per cycle,
// the real ones from the FIFO, those right of the image as zeros; only a row start that needs more
// than HEADS columns costs extra cycles. Narrow: one column (a word of the FIFO) enters per pixel.
// Fold: off/lane/lo/hi describe, per row port, which bytes of the heads go to which lanes.
// Accumulator entries are counted within stripe and chunk, with held accumulators from cob * npix.
module hd_matrix_seq #(
    parameter int C = 16
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    input  logic                             pass_clk_i,   // clk_i, needed when pass_clk_req_o
    output logic                             pass_clk_req_o,
    input  logic                             stop_i,
    input  heddle_pkg::conv_t                cmd0_i,
    input  hd_matrix_pkg::mder_t             der0_i,
    input  heddle_pkg::conv_t                cmd1_i,
    input  hd_matrix_pkg::mder_t             der1_i,
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
    output logic                             dw_o,
    output logic                             fold_o,
    output logic                             a_signed_o,
    output logic [8:0]                       za_o,
    output logic [7:0]                       lanes_o,   // conv: lanes that count
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
  heddle_pkg::conv_t cmd_q;
  hd_matrix_pkg::mder_t der_q;
  // What the issue of every pixel looks at, as plain registers.
  logic conv_q, fold_q, maxi_q, narrow_q, wide_q, a_signed_q, hold_q, cont_q, held_q;
  logic [8:0] za_q;
  logic signed [23:0] iw_q, wc_q, xs_q;
  logic [15:0] srow_q, x_q, pix_q, base_q;  // base: first entry of the block
  logic pbank_q, start_q, swapped_q;        // start: first pixel of a pass
  logic signed [23:0] chunk_q;              // first column (fold: byte) of the chunk
  logic signed [23:0] lack_q;               // depthwise: columns that the pixel still needs; < 0: too many
  logic [23:0] rest_q;                      // ... columns of the image that have not entered
  logic fresh_q;                            // first step of a row
  logic signed [23:0] xoff_q;               // fold: first byte of the pixel, kernel column 0

  logic run;
  assign run = (state_q == RUN) && !stop_i;

  logic pass_first, pass_last, pass_step, pass_restart, ci_last;
  logic [1:0] p_rows;
  logic [3:0] p_cols;
  logic [7:0] p_kx;
  logic [ROWS-1:0] seg_en;
  logic [20*ROWS-1:0] seg_q;
  logic [8*ROWS-1:0] seg_n, seg_lane;
  hd_pass_ctr #(
      .C(C)
  ) u_pass (
      .clk_i     (pass_clk_i),
      .mode_i    (cmd_q.mode),
      .kh_i      (cmd_q.kh),
      .kw_i      (cmd_q.kw),
      .dy_i      (8'd0),
      .dx_i      (8'd0),
      .channels_i(cmd_q.fold_channels),
      .der_i     (der_q),
      .plane_i   (20'd0),
      .restart_i (pass_restart),
      .step_i    (pass_step),
      .first_o   (pass_first),
      .last_o    (pass_last),
      .vec_end_o (),
      .ci_last_o (ci_last),
      .ky_o      (),
      .kx_o      (p_kx),
      .rows_o    (p_rows),
      .cols_o    (p_cols),
      .blk_o     (),
      .row_o     (),
      .row_a_o   (),
      .col_o     (),
      .col_a_o   (),
      .blk_a_o   (),
      .seg_en_o  (seg_en),
      .seg_q_o   (seg_q),
      .seg_lane_o(seg_lane),
      .seg_n_o   (seg_n)
  );
  logic block_end, cob_inc, cob_wrap, chunk_inc, chunk_wrap, done;
  logic [15:0] n_rows, n_cols;
  hd_nest_ctr u_nest (
      .clk_i        (pass_clk_i),
      .out_rows_i   (cmd_q.out_rows),
      .ow_i         (cmd_q.ow),
      .der_i        (der_q),
      .restart_i    (state_q == INIT),
      .adv_i        (block_end),
      .rows_o       (n_rows),
      .cols_o       (n_cols),
      .cob_o        (),
      .xlast_o      (),
      .cob_inc_o    (cob_inc),
      .cob_wrap_o   (cob_wrap),
      .chunk_inc_o  (chunk_inc),
      .chunk_wrap_o (chunk_wrap),
      .stripe_inc_o (),
      .stripe_wrap_o(),
      .done_o       (done)
  );

  logic x_last, y_last, dw;
  assign x_last = (x_q + 16'd1 == n_cols);
  assign y_last = (srow_q + 16'd1 == n_rows);
  assign dw = !conv_q && !fold_q;

  // Depthwise: columns that enter in this cycle. At the start of a row counting begins anew, at the first
  // column of the pixel or of the image: this is the longest path, so every case is one sum of registers.
  logic signed [23:0] first_col, first_end, first_rest, lack;
  logic [23:0] rest;
  logic [2:0] cols, real_cols;
  logic reach;  // after this cycle the window is right for the pixel
  always_comb begin
    first_col = 24'sd0;
    first_end = 24'sd0;
    first_rest = 24'sd0;
    lack = 24'sd0;
    rest = 24'd0;
    cols = 3'd1;
    real_cols = 3'd1;
    reach = 1'b1;
    if (run && dw && !narrow_q) begin
      first_col = chunk_q + $signed({16'd0, p_kx});
      first_end = chunk_q + $signed({16'd0, p_kx}) + $signed({20'd0, p_cols});
      first_rest = iw_q - chunk_q - $signed({16'd0, p_kx});
      if (fresh_q && first_col[23]) begin
        lack = first_end;
        rest = iw_q;
      end else if (fresh_q) begin
        lack = {20'd0, p_cols};
        rest = first_rest[23] ? 24'd0 : first_rest;
      end else begin
        lack = lack_q;
        rest = rest_q;
      end
      reach = (lack <= 24'sd4);
      cols = lack[23] ? 3'd0 : reach ? lack[2:0] : 3'd4;
      real_cols = (rest < {21'd0, cols}) ? rest[2:0] : cols;
    end
  end

  // Per row port: does it take part, how many words must be there, how many leave.
  logic [ROWS-1:0] part;
  logic operand_ok;
  logic signed [23:0] f, left_b;
  logic [23:0] span, stepw;
  logic [7:0] want, n;
  logic [2:0] pop;
  logic [3*ROWS-1:0] pops;
  always_comb begin
    part = '0;
    pops = '0;
    operand_ok = 1'b1;
    f = 24'sd0;
    left_b = 24'sd0;
    span = 24'd0;
    stepw = 24'd0;
    want = 8'd0;
    n = 8'd0;
    pop = 3'd0;
    off_o = '0;
    lo_o = '0;
    hi_o = '0;
    if (run) begin
      if (conv_q) begin
        part = ROWS'((1 << (C / 16)) - 1);
        for (int p = 0; p < C / 16; p++) begin
          if (level_i[8*p +: 8] == 8'd0) operand_ok = 1'b0;
          pops[3*p +: 3] = 3'd1;
        end
      end else if (dw) begin
        for (int p = 0; p < 3; p++) begin
          part[p] = (2'(p) < p_rows);
          if (part[p]) begin
            if (level_i[8*p +: 8] < {5'd0, real_cols}) operand_ok = 1'b0;
            pops[3*p +: 3] = real_cols;
          end
        end
      end else begin
        part = seg_en;
        for (int p = 0; p < ROWS; p++)
          if (seg_en[p]) begin
            n = seg_n[8*p +: 8];
            f = $signed({4'd0, seg_q[20*p +: 20]}) + xoff_q;  // first byte of the segment
            span = ({20'd0, f[3:0]} + {16'd0, n} + 24'd15) >> 4;
            stepw = ({20'd0, f[3:0]} + xs_q) >> 4;
            left_b = wc_q - f;
            off_o[4*p +: 4] = f[3:0];
            lo_o[8*p +: 8] = (f >= 24'sd0) ? 8'd0 : (f < -24'sd255) ? 8'd255 : 8'(-f);
            hi_o[8*p +: 8] = (left_b >= $signed({16'd0, n})) ? n
                             : (left_b < 24'sd0) ? 8'd0 : left_b[7:0];
            pop = x_last ? span[2:0] : stepw[2:0];
            want = (span > {21'd0, pop}) ? span[7:0] : {5'd0, pop};
            if (level_i[8*p +: 8] < want) operand_ok = 1'b0;
            pops[3*p +: 3] = pop;
          end
      end
    end
  end

  logic weight_ok, output_ok, to_output, step;
  assign to_output = pass_last && !hold_q;
  assign weight_ok = !start_q || (full_i && !swapped_q);
  assign output_ok = !to_output || room_i;
  // A depthwise step that only fills the window needs neither weights nor room.
  assign step = run && operand_ok && (!reach || (weight_ok && output_ok));
  assign issue_o = step && reach;
  assign swap_o = issue_o && start_q;
  assign pop_o = step ? pops : '0;
  assign shift_o = step && dw;
  assign clear_o = fresh_q;
  assign wide_o = wide_q;
  assign cols_o = cols;
  assign real_o = real_cols;
  assign part_o = part;
  assign lane_o = seg_lane;
  assign dw_o = dw;
  assign fold_o = fold_q;
  assign a_signed_o = a_signed_q;
  assign za_o = za_q;
  assign lanes_o = ci_last ? der_q.ilanes : 8'(C);

  logic row_end, pass_end;
  assign row_end = issue_o && x_last;
  assign pass_end = row_end && y_last;
  assign block_end = pass_end && pass_last;
  assign pass_restart = (state_q == INIT) || pass_last;
  assign pass_step = (state_q == INIT) || pass_end;
  always_comb begin
    pix_o.first = pass_first && !cont_q;
    pix_o.last = to_output;
    pix_o.fin = hold_q && block_end && done;
    pix_o.maxi = maxi_q;
    pix_o.pbank = pbank_q;
    pix_o.pix = pix_q;
  end
  assign take_o = avail_i && ((state_q == IDLE) || (block_end && done));
  assign busy_o = run;
  assign wait_operand_o = run && !operand_ok;
  assign wait_weight_o = run && operand_ok && reach && !weight_ok;
  assign wait_output_o = run && operand_ok && reach && weight_ok && !output_ok;

  // First entry of the next block.
  logic [15:0] base_n;
  always_comb begin
    base_n = base_q;
    if (block_end && held_q && cob_inc) base_n = cob_wrap ? 16'd0 : base_q + der_q.npix;
  end

  // The copy of the command by itself: in one process with the rest, simulation would move it in
  // every cycle.
  always_ff @(posedge clk_i)
    if (take_o) begin
      cmd_q <= sel_i ? cmd1_i : cmd0_i;
      der_q <= sel_i ? der1_i : der0_i;
    end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      pbank_q <= 1'b0;
      swapped_q <= 1'b0;
    end else begin
      swapped_q <= swap_o;
      if (take_o) begin
        state_q <= INIT;
      end else if (state_q == INIT) begin
        state_q <= RUN;
      end else if (block_end && done) state_q <= IDLE;
      if (block_end) pbank_q <= !pbank_q;
    end
    if (state_q == INIT) begin
      conv_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_CONV);
      fold_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_FOLD);
      maxi_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_MAXPOOL);
      narrow_q <= der_q.narrow;
      wide_q <= der_q.wide;
      a_signed_q <= cmd_q.in_signed;
      za_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_MAXPOOL) ? 9'd0 : cmd_q.za[8:0];
      hold_q <= cmd_q.acc_hold;
      cont_q <= cmd_q.acc_continue;
      held_q <= der_q.held;
      iw_q <= $signed({8'd0, cmd_q.iw});
      wc_q <= $signed(der_q.wc);
      xs_q <= $signed({16'd0, der_q.xs});
      srow_q <= 16'd0;
      x_q <= 16'd0;
      pix_q <= 16'd0;
      base_q <= 16'd0;
      start_q <= 1'b1;
      fresh_q <= 1'b1;
      chunk_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_FOLD) ? -$signed(der_q.plc)
                                                              : 24'sd0 - 24'($signed(cmd_q.pad_left));
      xoff_q <= -$signed(der_q.plc);
    end else if (step) begin
      fresh_q <= row_end;
      if (dw) begin
        lack_q <= !reach ? lack - 24'sd4 : lack[23] ? lack + xs_q : xs_q;
        rest_q <= rest - {21'd0, real_cols};
      end
      if (issue_o) begin
        start_q <= pass_end;
        pix_q <= pix_q + 16'd1;
        x_q <= x_q + 16'd1;
        if (fold_q) xoff_q <= xoff_q + xs_q;
        if (row_end) begin
          x_q <= 16'd0;
          xoff_q <= chunk_q;
          srow_q <= srow_q + 16'd1;
          if (pass_end) begin
            srow_q <= 16'd0;
            pix_q <= base_n;
            base_q <= base_n;
            if (block_end && chunk_inc) begin
              chunk_q <= chunk_wrap ? (fold_q ? -$signed(der_q.plc) : 24'sd0 - 24'($signed(cmd_q.pad_left)))
                                    : chunk_q + $signed(der_q.xchunk);
              xoff_q <= chunk_wrap ? (fold_q ? -$signed(der_q.plc) : 24'sd0 - 24'($signed(cmd_q.pad_left)))
                                   : chunk_q + $signed(der_q.xchunk);
            end
          end
        end
      end
    end
  end

  assign pass_clk_req_o = pass_step;
endmodule
