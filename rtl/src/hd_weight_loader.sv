// SPDX-License-Identifier: Apache-2.0
// Moves words from the weight FIFO into the shadow weight registers and the parameter registers,
// two
// per cycle. The next tile is loaded while the current one works: full_o says that the shadow
// holds a
// whole tile, swap_i (from the sequencer) makes it the active one; loading goes on in the cycle of
// the swap. A tile therefore costs C*K/32 cycles (8, 16, 32), hidden behind stripes of that many
// pixels.
//
// Parameters have two sets, used in turn by successive output-channel blocks. A set is overwritten
// only after the last pixel of its block has left the output stage: the block after it has been
// swapped in and HOLD cycles have passed.
module hd_weight_loader #(
    parameter int C = 16,
    parameter int K = 16,
    parameter int HOLD = 4
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  hd_matrix_pkg::mcmd_t cmd0_i,
    input  hd_matrix_pkg::spike_der_t der0_i,
    input  hd_matrix_pkg::mcmd_t cmd1_i,
    input  hd_matrix_pkg::spike_der_t der1_i,
    input  logic                 avail_i,
    input  logic                 sel_i,
    output logic                 take_o,
    // FIFO
    input  logic [7:0]           level_i,
    output logic [1:0]           pop_o,
    // shadow weights: word at pop position 0 and 1 goes to tile position pos0 / pos1
    output logic [1:0]           ld_o,
    output logic                 ld_first_o,  // first word of a tile
    output logic                 ld_dw_o,     // pos = column (multiplier), lanes = cells
    output logic [7:0]           pos0_o,
    output logic [7:0]           pos1_o,
    output logic [8:0]           zw_o,
    output logic                 w_signed_o,
    output logic                 full_o,
    input  logic                 swap_i,
    // parameters: word pidx_o and pidx_o + 1 of set pset_o
    output logic                 pld_o,
    output logic                 pset_o,
    output logic [7:0]           pidx_o
);
  localparam [7:0] TILE_WORDS = 8'(C * K / 16);
  localparam [7:0] PARAM_WORDS = 8'(K / 2);
  typedef enum logic [1:0] {
    IDLE,
    INIT,
    PARAM,
    TILE
  } state_e;
  state_e state_q;
  hd_matrix_pkg::mcmd_t cmd_q;
  hd_matrix_pkg::spike_der_t der_q;
  logic [15:0] left_q;
  logic [7:0] cob_q, idx_q, lr_q, lc_q;
  logic full_q, head_q, pset_q;
  logic [2:0] hold_q;

  logic dw, pass_last, pass_first, tile_done;
  logic [7:0] ky, rows_left, rows, words, todo;
  assign dw = (cmd_q.mode == hd_matrix_pkg::MODE_DW);
  hd_pass_ctr #(
      .C(C)
  ) u_pass (
      .clk_i     (clk_i),
      .cmd_i     (cmd_q),
      .der_i     (der_q),
      .restart_i (state_q == PARAM),
      .adv_i     (tile_done),
      .first_o   (pass_first),
      .last_o    (pass_last),
      .ky_o      (ky),
      .row_o     (),
      .row_a_o   (),
      .col_o     (),
      .off_a_o   (),
      .seg_en_o  (),
      .seg_q_o   (),
      .seg_lane_o(),
      .seg_n_o   ()
  );

  // Words of the current unit, and how many move now.
  logic [1:0] n;
  logic allowed;
  assign rows_left = cmd_q.kh - ky;
  assign rows = (rows_left < der_q.rp) ? rows_left : der_q.rp;
  always_comb begin
    if (state_q == PARAM) words = dw ? 8'd8 : PARAM_WORDS;
    else words = dw ? 8'(rows[1:0] * cmd_q.kw) : TILE_WORDS;
    todo = words - idx_q;
    allowed = (state_q == PARAM) ? (!full_q && hold_q == 3'd0)
                                 : ((state_q == TILE) && (!full_q || swap_i));
    n = 2'd0;
    if (allowed) begin
      if (level_i >= 8'd2 && todo >= 8'd2) n = 2'd2;
      else if (level_i != 8'd0 && todo == 8'd1) n = 2'd1;
    end
  end
  assign pop_o = n;
  assign tile_done = (state_q == TILE) && (n != 2'd0) && (todo == {6'd0, n});

  // Tap position of the word in the window (newest column on the right).
  logic [7:0] lr1, lc1;
  assign lr1 = (lc_q + 8'd1 == cmd_q.kw) ? lr_q + 8'd1 : lr_q;
  assign lc1 = (lc_q + 8'd1 == cmd_q.kw) ? 8'd0 : lc_q + 8'd1;
  logic [7:0] slot0, slot1;
  assign slot0 = der_q.wide ? {lr_q[4:0], 3'd0} + 8'd8 - cmd_q.kw + lc_q
                            : {lr_q[5:0], 2'd0} + lr_q + 8'd5 - cmd_q.kw + lc_q;
  assign slot1 = der_q.wide ? {lr1[4:0], 3'd0} + 8'd8 - cmd_q.kw + lc1
                            : {lr1[5:0], 2'd0} + lr1 + 8'd5 - cmd_q.kw + lc1;
  assign ld_o = (state_q == TILE) ? {n == 2'd2, n != 2'd0} : 2'b00;
  assign ld_first_o = (idx_q == 8'd0);
  assign ld_dw_o = dw;
  assign pos0_o = dw ? slot0 : idx_q;
  assign pos1_o = dw ? slot1 : idx_q + 8'd1;
  assign zw_o = cmd_q.zw;
  assign w_signed_o = cmd_q.w_signed;
  assign full_o = full_q;
  assign pld_o = (state_q == PARAM) && (n == 2'd2);
  assign pset_o = pset_q;
  assign pidx_o = idx_q;
  assign take_o = (state_q == IDLE) && avail_i;

  logic cob_last, stripe_last;
  assign cob_last = (cob_q + 8'd1 == cmd_q.cob);
  assign stripe_last = (left_q <= cmd_q.srows);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      full_q <= 1'b0;
      head_q <= 1'b0;
      pset_q <= 1'b0;
      hold_q <= 3'd0;
    end else begin
      case (state_q)
        IDLE: if (avail_i) state_q <= INIT;
        INIT: state_q <= PARAM;
        PARAM: if (n != 2'd0 && todo == {6'd0, n}) begin
          state_q <= TILE;
          pset_q <= !pset_q;
        end
        default: if (tile_done && pass_last)
          state_q <= (cob_last && stripe_last) ? IDLE : PARAM;
      endcase
      full_q <= (full_q && !swap_i) || tile_done;
      if (tile_done) head_q <= pass_first;
      if (swap_i && head_q) hold_q <= 3'(HOLD);
      else if (hold_q != 3'd0) hold_q <= hold_q - 3'd1;
    end
    if (take_o) begin
      cmd_q <= sel_i ? cmd1_i : cmd0_i;
      der_q <= sel_i ? der1_i : der0_i;
    end
    if (state_q == INIT) begin
      left_q <= cmd_q.oh;
      cob_q <= 8'd0;
      idx_q <= 8'd0;
      lr_q <= 8'd0;
      lc_q <= 8'd0;
    end else if (n != 2'd0) begin
      idx_q <= (todo == {6'd0, n}) ? 8'd0 : idx_q + {6'd0, n};
      if (state_q == TILE) begin
        lr_q <= (n == 2'd2) ? ((lc1 + 8'd1 == cmd_q.kw) ? lr1 + 8'd1 : lr1) : lr1;
        lc_q <= (n == 2'd2) ? ((lc1 + 8'd1 == cmd_q.kw) ? 8'd0 : lc1 + 8'd1) : lc1;
        if (tile_done) begin
          lr_q <= 8'd0;
          lc_q <= 8'd0;
        end
      end
      if (tile_done && pass_last) begin
        cob_q <= cob_last ? 8'd0 : cob_q + 8'd1;
        if (cob_last) left_q <= left_q - cmd_q.srows;
      end
    end
  end
endmodule
