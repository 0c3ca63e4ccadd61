// SPDX-License-Identifier: Apache-2.0
// Rows that row port PORT must fetch for a command, one run of words per row, in the order in which
// the sequencer consumes them: the loop nest of hd_matrix_pkg::mder_t, rows innermost.
//   conv              one word per output pixel; port p reads channel block cib * C/16 + p
//   depthwise window  every input column once; port p reads kernel row ky + p
//   depthwise narrow  one word per output pixel; port p reads kernel row ky + p
//   fold              every word of the packed row that the pass touches; port p: row ky + p
// Rows in the padding, and channel blocks that do not exist, are runs of null words, so the consumer
// never asks where a word came from.
//
// Fold: a row is fetched with the words between the taps of its pixels (column strides, dilation),
// which nothing needs. Where the words of a row run out of the SRAM (far), the run waits 20 cycles
// for a division that finds the row's last byte under a tap, and ends there: what remains beyond the
// SRAM belongs to a tap and is a fault (hd_fetch).
//
// One row per cycle into a register in front of hd_fetch. A row is counted by its input row iy, its
// slot in the buffer (modulo in_wrap) and its address; kernel rows lie less than in_wrap slots
// further on, so that one subtraction is enough.
// end_o: all words of a command have been granted (the port is drained; the words are in its FIFO,
// which bridges the few cycles until the next command's).
module hd_row_iter #(
    parameter int PORT = 0,
    parameter int C = 16,
    parameter int SRAM_WORDS = 32768
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  heddle_pkg::conv_t    cmd0_i,
    input  hd_matrix_pkg::mder_t der0_i,
    input  heddle_pkg::conv_t    cmd1_i,
    input  hd_matrix_pkg::mder_t der1_i,
    input  logic                 avail_i,
    input  logic                 sel_i,
    output logic                 take_o,
    output logic                 run_valid_o,
    input  logic                 run_ready_i,
    output hd_matrix_pkg::run_t  run_o,
    input  logic                 drained_i,   // the fetch has nothing to ask for
    output logic                 end_o
);
  localparam [7:0] P8 = 8'(PORT);
  localparam [15:0] P16 = 16'(PORT);
  localparam [17:0] P18 = 18'(PORT);
  localparam [35:0] P36 = 36'(PORT);
  localparam [35:0] END = 36'(SRAM_WORDS);
  localparam logic IN_CONV = (PORT < C / 16);
  localparam logic IN_DW = (PORT < 3);

  typedef enum logic [1:0] {
    IDLE,
    INIT,
    RUN,
    DRAIN
  } state_e;
  state_e state_q;
  heddle_pkg::conv_t cmd_q;
  hd_matrix_pkg::mder_t der_q;
  logic conv_q, fold_q, window_q;
  logic [15:0] srow_q;
  logic signed [21:0] iy_s_q, iy_q, slot_s_q, slot_q;  // first row of the stripe, present row
  logic [35:0] ra_s_q, ra_q;
  logic signed [23:0] col_q;                           // of the chunk, kernel column 0
  logic [35:0] col_a_q, cob_a_q;

  logic pass_last, pass_step, pass_restart;
  logic [1:0] p_rows;
  logic [3:0] p_cols;
  logic [15:0] p_blk;
  logic [17:0] p_row, p_col;
  logic [35:0] p_row_a, p_col_a, p_blk_a;
  logic [hd_matrix_pkg::ROWS-1:0] seg_en;
  logic [20*hd_matrix_pkg::ROWS-1:0] seg_q;
  logic [8*hd_matrix_pkg::ROWS-1:0] seg_n;
  hd_pass_ctr #(
      .C(C)
  ) u_pass (
      .clk_i     (clk_i),
      .mode_i    (cmd_q.mode),
      .kh_i      (cmd_q.kh),
      .kw_i      (cmd_q.kw),
      .dy_i      (cmd_q.dy),
      .dx_i      (cmd_q.dx),
      .channels_i(cmd_q.fold_channels),
      .der_i     (der_q),
      .plane_i   (cmd_q.in_plane),
      .restart_i (pass_restart),
      .step_i    (pass_step),
      .first_o   (),
      .last_o    (pass_last),
      .vec_end_o (),
      .ci_last_o (),
      .ky_o      (),
      .kx_o      (),
      .rows_o    (p_rows),
      .cols_o    (p_cols),
      .blk_o     (p_blk),
      .row_o     (p_row),
      .row_a_o   (p_row_a),
      .col_o     (p_col),
      .col_a_o   (p_col_a),
      .blk_a_o   (p_blk_a),
      .seg_en_o  (seg_en),
      .seg_q_o   (seg_q),
      .seg_lane_o(),
      .seg_n_o   (seg_n)
  );
  logic block_end, xlast, cob_inc, cob_wrap, chunk_inc, chunk_wrap, stripe_inc, stripe_wrap, done;
  logic [15:0] n_rows, n_cols;
  hd_nest_ctr u_nest (
      .clk_i        (clk_i),
      .out_rows_i   (cmd_q.out_rows),
      .ow_i         (cmd_q.ow),
      .der_i        (der_q),
      .restart_i    (state_q == INIT),
      .adv_i        (block_end),
      .rows_o       (n_rows),
      .cols_o       (n_cols),
      .cob_o        (),
      .xlast_o      (xlast),
      .cob_inc_o    (cob_inc),
      .cob_wrap_o   (cob_wrap),
      .chunk_inc_o  (chunk_inc),
      .chunk_wrap_o (chunk_wrap),
      .stripe_inc_o (stripe_inc),
      .stripe_wrap_o(stripe_wrap),
      .done_o       (done)
  );

  logic valid_q, fresh_q;  // fresh: first row of a block
  hd_matrix_pkg::run_t run_q;
  assign run_valid_o = valid_q;
  assign run_o = run_q;

  // Division of a far row: the distance of its last byte from the first pixel, modulo their step.
  // The remainder is how far from the end the last pixel begins that does not begin behind it.
  logic [4:0] wait_q;  // steps left
  logic [19:0] num_q;
  logic [5:0] rem_q;
  logic [7:0] n_q;     // bytes of a pixel that the pass takes
  logic dividing;
  assign dividing = (wait_q != 5'd0);

  // One row.
  logic go, y_last;
  assign go = (state_q == RUN) && !dividing && (!valid_q || run_ready_i);
  assign y_last = fresh_q ? (n_rows == 16'd1) : (srow_q == 16'd1);

  logic row_end;
  assign row_end = go && y_last;
  assign pass_restart = (state_q == INIT) || pass_last;
  assign pass_step = (state_q == INIT) || row_end;
  assign block_end = row_end && pass_last;
  assign take_o = (state_q == IDLE) && avail_i;
  assign end_o = (state_q == DRAIN) && !valid_q && !dividing && drained_i;

  // A port without any part in a command skips it.
  logic skip;
  assign skip = conv_q ? !IN_CONV : !fold_q && !IN_DW;

  // The copy of the command by itself: in one process with the rest, simulation would move it in
  // every cycle.
  always_ff @(posedge clk_i)
    if (take_o) begin
      cmd_q <= sel_i ? cmd1_i : cmd0_i;
      der_q <= sel_i ? der1_i : der0_i;
    end

  hd_matrix_pkg::run_t run;
  logic part, wrapped, far;
  logic signed [21:0] iy, k_row, slot, wrap22, slot_n;
  logic [35:0] row_a, k_row_a, ra_n;
  logic signed [23:0] f, h, t, c0, c1, span, words, last_word, left;
  logic [6:0] rem;
  // verilator lint_off BLKSEQ
  // Reason: temporary values of the clocked process, set before they are read; a row takes many
  // cycles, and nothing is computed in those between.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      valid_q <= 1'b0;
      wait_q <= 5'd0;
    end else begin
      case (state_q)
        IDLE:
          if (avail_i) begin
            state_q <= INIT;
            conv_q <= (sel_i ? cmd1_i.mode : cmd0_i.mode) == heddle_pkg::MATRIX_MODE_CONV;
            fold_q <= (sel_i ? cmd1_i.mode : cmd0_i.mode) == heddle_pkg::MATRIX_MODE_FOLD;
            window_q <= sel_i ? (der1_i.dwise && !der1_i.narrow)
                              : (der0_i.dwise && !der0_i.narrow);
          end
        INIT: state_q <= skip ? DRAIN : RUN;
        RUN: if (block_end && done) state_q <= DRAIN;
        default: if (end_o) state_q <= IDLE;
      endcase
      if (go) begin
        run = '0;
        far = 1'b0;
        k_row = $signed({4'd0, p_row});
        k_row_a = p_row_a;
        if (!conv_q) begin
          k_row = $signed({4'd0, p_row + P18 * {10'd0, cmd_q.dy}});
          k_row_a = p_row_a + P36 * der_q.dy_a;
        end
        iy = iy_q + k_row;
        slot = slot_q + k_row;
        wrap22 = $signed({6'd0, cmd_q.in_wrap});
        wrapped = (cmd_q.in_wrap != 16'd0) && (slot >= wrap22);
        row_a = ra_q + k_row_a - (wrapped ? der_q.wrap_a : 36'd0);
        span = $signed(xlast ? der_q.xspan_l : der_q.xspan);
        run.null_row = (iy < 22'sd0) || (iy >= $signed({6'd0, cmd_q.ih}));
        if (fold_q) begin
          part = seg_en[PORT];
          f = $signed({4'd0, seg_q[20*PORT +: 20]}) + col_q;             // first byte of the first
          t = f + span + $signed({16'd0, seg_n[8*PORT +: 8]}) - 24'sd1;   // last of the last
          h = f >>> 4;
          t = t >>> 4;
          run.count = 20'(t - h + 24'sd1);
          run.col = h;
          run.cstep = 4'd1;
          words = $signed((der_q.wc + 24'd15) >> 4);
          run.limit = words[15:0];
          run.addr = row_a + 36'(h);
          run.astep = 20'd1;
          last_word = (t < words) ? t : words - 24'sd1;
          left = $signed(der_q.wc) - 24'sd1 - f;  // bytes from the first one to the row's last
          far = part && !run.null_row && (last_word >= 24'sd0) && (last_word >= h)
                && (row_a + 36'(last_word) >= END) && (left < span);
          if (far && left < 24'sd0) begin
            run.limit = 16'd0;
            far = 1'b0;
          end
          num_q <= left[19:0];
          rem_q <= 6'd0;
          n_q <= seg_n[8*PORT +: 8];
        end else if (window_q) begin
          c0 = col_q + $signed({6'd0, p_col});
          c1 = c0 + span + $signed({20'd0, p_cols});
          if (c1 > $signed({8'd0, cmd_q.iw})) c1 = $signed({8'd0, cmd_q.iw});
          run.addr = row_a + cob_a_q;
          if (c0 < 24'sd0) c0 = 24'sd0;
          else run.addr = row_a + cob_a_q + col_a_q + p_col_a;
          part = (P8[1:0] < p_rows) && IN_DW && (c1 > c0);
          run.count = 20'(c1 - c0);
          run.col = c0;
          run.cstep = 4'd1;
          run.limit = cmd_q.iw;
          run.astep = {12'd0, cmd_q.in_xstep};
        end else begin
          part = conv_q ? IN_CONV : (P8[1:0] < p_rows) && IN_DW;
          if (conv_q && p_blk + P16 >= der_q.iblocks) run.null_row = 1'b1;
          run.count = {4'd0, n_cols};
          run.col = col_q + $signed({6'd0, p_col});
          run.cstep = cmd_q.sx;
          run.limit = cmd_q.iw;
          run.addr = row_a + col_a_q + p_col_a
                     + (conv_q ? p_blk_a + P36 * {16'd0, cmd_q.in_plane} : cob_a_q);
          run.astep = der_q.sx_a[19:0];
        end
        valid_q <= part && !far;
        if (far) wait_q <= 5'd20;
        if (part) run_q <= run;
      end else if (run_ready_i) valid_q <= 1'b0;
      if (dividing) begin
        rem = {rem_q, num_q[19]};
        if (rem >= der_q.xs[6:0]) rem = rem - der_q.xs[6:0];
        num_q <= num_q << 1;
        rem_q <= rem[5:0];
        wait_q <= wait_q - 5'd1;
        // The pixel may end before the row does.
        left = $signed(der_q.wc) - 24'sd1;
        if ({1'b0, rem} >= n_q) left = left - $signed({17'd0, rem}) + $signed({16'd0, n_q}) - 24'sd1;
        if (wait_q == 5'd1) begin
          valid_q <= 1'b1;
          run_q.limit <= (left < 24'sd0) ? 16'd0 : 16'((left >>> 4) + 24'sd1);
        end
      end
    end
    if (state_q == INIT) begin
      iy_s_q <= $signed(der_q.iy0);
      iy_q <= $signed(der_q.iy0);
      slot_s_q <= $signed(der_q.slot0);
      slot_q <= $signed(der_q.slot0);
      ra_s_q <= der_q.org;
      ra_q <= der_q.org;
      col_q <= fold_q ? -$signed(der_q.plc) : 24'sd0 - 24'($signed(cmd_q.pad_left));
      col_a_q <= -der_q.pl_a;
      cob_a_q <= 36'd0;
      fresh_q <= 1'b1;
    end else if (go) begin
      // The row after this one.
      slot_n = slot_q + $signed({6'd0, der_q.sy_w});
      ra_n = ra_q + der_q.sy_a;
      wrap22 = $signed({6'd0, cmd_q.in_wrap});
      if (cmd_q.in_wrap != 16'd0 && slot_n >= wrap22) begin
        slot_n = slot_n - wrap22;
        ra_n = ra_n - der_q.wrap_a;
      end
      fresh_q <= y_last;
      srow_q <= (fresh_q ? n_rows : srow_q) - 16'd1;
      iy_q <= iy_q + $signed({18'd0, cmd_q.sy});
      slot_q <= slot_n;
      ra_q <= ra_n;
      if (y_last) begin
        iy_q <= iy_s_q;
        slot_q <= slot_s_q;
        ra_q <= ra_s_q;
      end
      if (block_end) begin
        if (cob_inc) cob_a_q <= cob_wrap ? 36'd0 : cob_a_q + {16'd0, cmd_q.in_plane};
        if (chunk_inc) begin
          if (chunk_wrap) begin
            col_q <= fold_q ? -$signed(der_q.plc) : 24'sd0 - 24'($signed(cmd_q.pad_left));
            col_a_q <= -der_q.pl_a;
          end else begin
            col_q <= col_q + $signed(der_q.xchunk);
            col_a_q <= col_a_q + der_q.xchunk_a;
          end
        end
        if (stripe_inc) begin
          if (stripe_wrap) begin
            iy_s_q <= $signed(der_q.iy0);
            iy_q <= $signed(der_q.iy0);
            slot_s_q <= $signed(der_q.slot0);
            slot_q <= $signed(der_q.slot0);
            ra_s_q <= der_q.org;
            ra_q <= der_q.org;
          end else begin
            iy_s_q <= iy_q + $signed({18'd0, cmd_q.sy});
            iy_q <= iy_q + $signed({18'd0, cmd_q.sy});
            slot_s_q <= slot_n;
            slot_q <= slot_n;
            ra_s_q <= ra_n;
            ra_q <= ra_n;
          end
        end
      end
    end
  end
  // verilator lint_on BLKSEQ

  // A row takes many cycles; between rows nothing moves.
  assign clk_req_o = !rst_ni || take_o || (state_q == INIT) || go || dividing
                  || (valid_q && run_ready_i) || end_o;
endmodule
