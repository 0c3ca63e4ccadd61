// SPDX-License-Identifier: Apache-2.0
// Moves words from the weight FIFO into the shadow weight registers, the parameter registers and
// the table of the output stage, two per cycle (table and zero points: one). The next tile is
// loaded while the current one works: full_o says that the shadow holds a whole tile, swap_i (from
// the sequencer) makes it the active one; loading goes on in the cycle of the swap. A tile
// therefore costs C*K/32 cycles (8, 16, 32), hidden behind stripes of that many pixels.
//
// A word is 16 lanes of one cell (packed and row weights) or one lane of 16 cells (column weights,
// depthwise: ld_col_o). Mode maxpool has no weights: every tap of the window gets a one, so the
// array knows which positions are taps.
//
// Parameters have two sets, used in turn by successive blocks. A set is overwritten only after the
// last pixel of its block has reached the output stage: the block after it has been swapped in and
// HOLD cycles have passed. The table's two sets alternate between commands with a table; a set is
// free when the command after its last user has begun and TABLE_DELAY cycles have passed.
module hd_weight_loader #(
    parameter int C = 16,
    parameter int K = 16,
    parameter int HOLD = 4
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
    // FIFO
    input  logic [7:0]           level_i,
    output logic [1:0]           pop_o,
    // shadow weights: the word at pop position 0 and 1 goes to pos0 / pos1
    output logic [1:0]           ld_o,
    output logic                 ld_clear_o,  // first word of a depthwise tile: other taps to zero
    output logic                 ld_one_o,    // mode maxpool: ones instead of the FIFO's words
    output logic                 ld_col_o,    // pos = lane, word = cells grp * 16 ..; else pos = row
    output logic                 ld_grp_o,
    output logic [4:0]           ld_cells_o,  // column: cells that exist in the group; others zero
    output logic                 ld_keep_o,   // row: the cell exists
    output logic [7:0]           pos0_o,      // row: cell * (C / 16) + group of 16 lanes
    output logic [7:0]           pos1_o,
    output logic [8:0]           zw_o,        // of the command
    output logic                 zset_o,      // all cells take zw_o as zero point
    output logic                 zld_o,       // cells zgrp * 16 .. take the bytes of FIFO word 0
    output logic                 zgrp_o,
    output logic                 w_signed_o,
    output logic                 full_o,
    input  logic                 swap_i,
    // parameters: word pidx_o and pidx_o + 1 of set pset_o
    output logic                 pld_o,
    output logic                 pset_o,
    output logic [7:0]           pidx_o,
    // table: word lidx_o of set lset_o
    output logic                 lld_o,
    output logic                 lset_o,
    output logic [3:0]           lidx_o
);
  localparam int CB = $clog2(C);
  localparam int KB = $clog2(K);
  localparam int HB = $clog2(C / 16);
  localparam [7:0] TILE_WORDS = 8'(C * K / 16);
  localparam [5:0] TABLE_HOLD = 6'(hd_matrix_pkg::VECTOR_DELAY + hd_matrix_pkg::TABLE_DELAY + 1);
  typedef enum logic [2:0] {
    IDLE,
    INIT,
    TABLE,
    PARAM,
    ZERO,
    TILE
  } state_e;
  state_e state_q;
  heddle_pkg::conv_t cmd_q;
  hd_matrix_pkg::mder_t der_q;
  logic row_q, column_q, dwise_q, maxi_q, w_signed_q, zw_q;
  logic [8:0] zero_q;
  logic [7:0] idx_q, lr_q, lc_q;
  logic blk_q;  // block of 16 channels whose parameters are loaded
  logic [15:0] oc_q;
  logic full_q, head_q, chead_q, begin_q, pset_q, lset_q;
  logic [2:0] hold_q;
  logic [5:0] thold_q;

  logic pass_last, pass_first, tile_done;
  logic [1:0] p_rows;
  logic [3:0] p_cols;
  hd_pass_ctr #(
      .C(C)
  ) u_pass (
      .clk_i     (clk_i),
      .mode_i    (cmd_q.mode),
      .kh_i      (cmd_q.kh),
      .kw_i      (cmd_q.kw),
      .dy_i      (8'd0),
      .dx_i      (8'd0),
      .channels_i(cmd_q.fold_channels),
      .der_i     (der_q),
      .plane_i   (20'd0),
      .restart_i ((state_q == INIT) || pass_last),
      .step_i    ((state_q == INIT) || tile_done),
      .first_o   (pass_first),
      .last_o    (pass_last),
      .vec_end_o (),
      .ci_last_o (),
      .ky_o      (),
      .kx_o      (),
      .rows_o    (p_rows),
      .cols_o    (p_cols),
      .blk_o     (),
      .row_o     (),
      .row_a_o   (),
      .col_o     (),
      .col_a_o   (),
      .blk_a_o   (),
      .seg_en_o  (),
      .seg_q_o   (),
      .seg_lane_o(),
      .seg_n_o   ()
  );
  logic cob_inc, cob_wrap, done;
  hd_nest_ctr u_nest (
      .clk_i        (clk_i),
      .out_rows_i   (cmd_q.out_rows),
      .ow_i         (cmd_q.ow),
      .der_i        (der_q),
      .restart_i    (state_q == INIT),
      .adv_i        (tile_done && pass_last),
      .rows_o       (),
      .cols_o       (),
      .cob_o        (),
      .xlast_o      (),
      .cob_inc_o    (cob_inc),
      .cob_wrap_o   (cob_wrap),
      .chunk_inc_o  (),
      .chunk_wrap_o (),
      .stripe_inc_o (),
      .stripe_wrap_o(),
      .done_o       (done)
  );

  // Blocks of 16 output channels that exist from oc_q on, at most those of a cob.
  logic blk_last, exists1;
  assign exists1 = (K > 16) && !dwise_q && ({1'b0, oc_q} + 17'd16 < {1'b0, cmd_q.co});
  assign blk_last = blk_q || !exists1;

  // Words of the current unit, and how many move now.
  logic [1:0] n;
  logic [7:0] words, todo;
  logic free;  // the other set of parameters may be written
  assign free = !full_q && (hold_q == 3'd0);
  always_comb begin
    n = 2'd0;
    words = 8'd8;
    todo = 8'd0;
    case (state_q)
      TABLE: if (!full_q && thold_q == 6'd0 && level_i != 8'd0) n = 2'd1;
      PARAM:
        if (free && level_i >= 8'd2) n = 2'd2;
      ZERO: if (free && level_i != 8'd0) n = 2'd1;
      TILE: begin
        words = dwise_q ? {6'd0, p_rows} * {4'd0, p_cols} : TILE_WORDS;
        todo = words - idx_q;
        if (!full_q || swap_i) begin
          if ((level_i >= 8'd2 || maxi_q) && todo >= 8'd2) n = 2'd2;
          else if ((level_i != 8'd0 || maxi_q) && todo == 8'd1) n = 2'd1;
        end
      end
      default: ;
    endcase
  end
  assign pop_o = maxi_q ? 2'd0 : n;
  assign tile_done = (state_q == TILE) && (n != 2'd0) && (todo == {6'd0, n});

  // Tap position of the word in the window (newest column on the right).
  logic [7:0] lr1, lc1, slot0, slot1, base, idx1;
  always_comb begin
    lr1 = 8'd0;
    lc1 = 8'd0;
    slot0 = 8'd0;
    slot1 = 8'd0;
    base = 8'd0;
    idx1 = idx_q + 8'd1;
    pos0_o = 8'd0;
    pos1_o = 8'd0;
    ld_grp_o = 1'b0;
    if (state_q == TILE) begin
      if (dwise_q) begin
        lr1 = (lc_q + 8'd1 == {4'd0, p_cols}) ? lr_q + 8'd1 : lr_q;
        lc1 = (lc_q + 8'd1 == {4'd0, p_cols}) ? 8'd0 : lc_q + 8'd1;
        base = (der_q.wide ? 8'd8 : 8'd5) - {4'd0, p_cols};
        slot0 = (der_q.wide ? {lr_q[4:0], 3'd0} : {lr_q[5:0], 2'd0} + lr_q) + base + lc_q;
        slot1 = (der_q.wide ? {lr1[4:0], 3'd0} : {lr1[5:0], 2'd0} + lr1) + base + lc1;
        pos0_o = slot0;
        pos1_o = slot1;
      end else if (row_q) begin
        // Words come cell by cell for each group of lanes.
        pos0_o = ({{(8-KB){1'b0}}, idx_q[KB-1:0]} << HB) + (idx_q >> KB);
        pos1_o = ({{(8-KB){1'b0}}, idx1[KB-1:0]} << HB) + (idx_q >> KB);
      end else if (column_q) begin
        pos0_o = {{(8-CB){1'b0}}, idx_q[CB-1:0]};
        pos1_o = {{(8-CB){1'b0}}, idx1[CB-1:0]};
        ld_grp_o = (K > 16) && (8'(idx_q >> CB) != 8'd0);
      end else begin
        pos0_o = idx_q;
        pos1_o = idx1;
      end
    end
  end
  assign ld_o = (state_q == TILE) ? {n == 2'd2, n != 2'd0} : 2'b00;
  assign ld_clear_o = dwise_q && (idx_q == 8'd0);
  assign ld_one_o = maxi_q;
  assign ld_col_o = dwise_q || column_q;
  // Column: cells at and beyond co are zero. Row: null words. Packed with zero points per channel:
  // cells of a block without parameters are zero.
  logic [15:0] cells_left;
  always_comb begin
    cells_left = 16'd16;
    if (column_q) begin
      cells_left = cmd_q.co - oc_q;
      if (ld_grp_o) cells_left = (cells_left > 16'd16) ? cells_left - 16'd16 : 16'd0;
    end
  end
  assign ld_cells_o = (cells_left > 16'd16) ? 5'd16 : cells_left[4:0];
  assign ld_keep_o = !(zw_q && !exists1 && !dwise_q && (8'(pos0_o >> HB) >= 8'd16));
  assign zw_o = zero_q;
  assign w_signed_o = w_signed_q;
  assign zset_o = (state_q == PARAM || state_q == ZERO || state_q == TILE) && begin_q && !zw_q;
  assign zld_o = (state_q == ZERO) && (n != 2'd0);
  assign zgrp_o = blk_q;
  assign full_o = full_q;
  assign pld_o = (state_q == PARAM) && (n != 2'd0);
  assign pset_o = pset_q;
  assign pidx_o = {4'd0, blk_q, 3'd0} + idx_q;
  assign lld_o = (state_q == TABLE) && (n != 2'd0);
  assign lset_o = lset_q;
  assign lidx_o = idx_q[3:0];
  assign take_o = (state_q == IDLE) && avail_i;

  // The first state of a block: parameters, only zero points, or neither.
  state_e first_state;
  assign first_state = maxi_q ? TILE : !cmd_q.acc_hold ? PARAM : zw_q ? ZERO : TILE;

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
      full_q <= 1'b0;
      head_q <= 1'b0;
      chead_q <= 1'b0;
      pset_q <= 1'b0;
      lset_q <= 1'b0;
      hold_q <= 3'd0;
      thold_q <= 6'd0;
      begin_q <= 1'b0;
      maxi_q <= 1'b0;
    end else begin
      case (state_q)
        IDLE:
          if (avail_i) begin
            state_q <= INIT;
            maxi_q <= (sel_i ? cmd1_i.mode : cmd0_i.mode) == heddle_pkg::MATRIX_MODE_MAXPOOL;
          end
        INIT: begin
          row_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_CONV)
                   && (cmd_q.w_mode == heddle_pkg::WEIGHT_MODE_ROW);
          column_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_CONV)
                      && (cmd_q.w_mode == heddle_pkg::WEIGHT_MODE_COLUMN);
          dwise_q <= der_q.dwise;
          w_signed_q <= cmd_q.w_signed;
          zw_q <= cmd_q.zw_channel && !maxi_q;
          zero_q <= cmd_q.zw[8:0];
          begin_q <= 1'b1;
          idx_q <= 8'd0;
          blk_q <= 1'b0;
          oc_q <= 16'd0;
          lr_q <= 8'd0;
          lc_q <= 8'd0;
          if (maxi_q) state_q <= TILE;
          else if (cmd_q.lut && !cmd_q.acc_hold) state_q <= TABLE;
          else if (!cmd_q.acc_hold) state_q <= PARAM;
          else state_q <= cmd_q.zw_channel ? ZERO : TILE;
        end
        TABLE:
          if (n != 2'd0) begin
            idx_q <= idx_q + 8'd1;
            if (idx_q == 8'd15) begin
              idx_q <= 8'd0;
              lset_q <= !lset_q;
              state_q <= PARAM;
            end
          end
        PARAM:
          if (n != 2'd0) begin
            idx_q <= idx_q + 8'd2;
            if (idx_q == 8'd6) begin
              idx_q <= 8'd0;
              if (zw_q) state_q <= ZERO;
              else begin
                blk_q <= !blk_last;
                if (blk_last) state_q <= TILE;
              end
            end
          end
        ZERO:
          if (n != 2'd0) begin
            blk_q <= !blk_last;
            if (blk_last) state_q <= TILE;
            else if (!cmd_q.acc_hold) state_q <= PARAM;
          end
        TILE:
          if (n != 2'd0) begin
            idx_q <= idx_q + {6'd0, n};
            lr_q <= lr1;
            lc_q <= lc1;
            if (n == 2'd2) begin
              lr_q <= (lc1 + 8'd1 == {4'd0, p_cols}) ? lr1 + 8'd1 : lr1;
              lc_q <= (lc1 + 8'd1 == {4'd0, p_cols}) ? 8'd0 : lc1 + 8'd1;
            end
            if (tile_done) begin
              idx_q <= 8'd0;
              lr_q <= 8'd0;
              lc_q <= 8'd0;
              begin_q <= 1'b0;
              if (pass_last) begin
                pset_q <= !pset_q;
                if (cob_inc) oc_q <= cob_wrap ? 16'd0 : oc_q + (dwise_q ? 16'd16 : 16'(K));
                state_q <= done ? IDLE : first_state;
              end
            end
          end
        default: ;
      endcase
      full_q <= (full_q && !swap_i) || tile_done;
      if (tile_done) begin
        head_q <= pass_first;
        chead_q <= begin_q;
      end
      if (swap_i && head_q) hold_q <= 3'(HOLD);
      else if (hold_q != 3'd0) hold_q <= hold_q - 3'd1;
      if (swap_i && chead_q) thold_q <= TABLE_HOLD;
      else if (thold_q != 6'd0) thold_q <= thold_q - 6'd1;
    end
  end

  // Nothing moves while the loaded tile waits, or the words for it.
  assign clk_req_o = !rst_ni || take_o || (state_q == INIT) || (n != 2'd0) || swap_i
             || (hold_q != 3'd0) || (thold_q != 6'd0);

`ifndef SYNTHESIS
  // A tile is swapped in when it is complete.
  always_ff @(posedge clk_i) if (rst_ni && swap_i) assert (full_q);
`endif
endmodule
