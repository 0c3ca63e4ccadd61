// SPDX-License-Identifier: Apache-2.0
// Runs of table, parameter and weight words of a command, in the order of use:
//   table (with lut), then in the order of the nest for every block of output channels:
//   parameters of its existing blocks of 16 channels, then the tiles of all passes.
// Weights and parameters are read again for every stripe and chunk. The loader counts words, a run
// may be anything. Runs of a tile:
//   packed   the tile's words; depthwise: one run per kernel row of the pass
//   row      for every group of 16 input channels: K words, one per output channel
//   column   for every group of 16 output channels: C words, one per input channel
// Words of channels that do not exist are null. Mode maxpool reads nothing; acc_hold reads of the
// parameters only the zero points.
// end_o: all words of a command have been granted.
module hd_weight_iter #(
    parameter int C = 16,
    parameter int K = 16
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
    input  logic                 drained_i,
    output logic                 end_o
);
  localparam int CB = $clog2(C);
  localparam int KB = $clog2(K);
  localparam [19:0] TILE_WORDS = 20'(C * K / 16);
  localparam [15:0] HALVES = 16'(C / 16);  // groups of 16 input channels in a tile
  localparam [15:0] GROUPS = 16'(K / 16);  // groups of 16 output channels
  typedef enum logic [2:0] {
    IDLE,
    INIT,
    TABLE,
    PARAM,
    TILE,
    DRAIN
  } state_e;
  state_e state_q;
  heddle_pkg::conv_t cmd_q;
  hd_matrix_pkg::mder_t der_q;
  logic row_q, column_q, zeros_q, none_q;  // zeros: only the zero points of the parameters
  logic [35:0] wa_b_q, wa_q, wr_q;  // weights: of the block, of the pass, of the next run
  logic [35:0] pa_b_q, pa_q;        // parameters of the block, of the next run
  logic [15:0] sub_q;               // block of 16 channels, kernel row or group in the pass
  logic [15:0] ci_q, oc_q;          // first input channel of the pass, output channel of the block

  logic pass_last, tile_last, go, sub_last, vec_end;
  logic [1:0] p_rows;
  logic [3:0] p_cols;
  logic [7:0] p_kx;
  logic [15:0] p_blk;
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
      .step_i    ((state_q == INIT) || tile_last),
      .first_o   (),
      .last_o    (pass_last),
      .vec_end_o (vec_end),
      .ci_last_o (),
      .ky_o      (),
      .kx_o      (p_kx),
      .rows_o    (p_rows),
      .cols_o    (p_cols),
      .blk_o     (p_blk),
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
  logic block_end, cob_inc, cob_wrap, done;
  logic [15:0] cob;
  hd_nest_ctr u_nest (
      .clk_i        (clk_i),
      .out_rows_i   (cmd_q.out_rows),
      .ow_i         (cmd_q.ow),
      .der_i        (der_q),
      .restart_i    (state_q == INIT),
      .adv_i        (block_end),
      .rows_o       (),
      .cols_o       (),
      .cob_o        (cob),
      .xlast_o      (),
      .cob_inc_o    (cob_inc),
      .cob_wrap_o   (cob_wrap),
      .chunk_inc_o  (),
      .chunk_wrap_o (),
      .stripe_inc_o (),
      .stripe_wrap_o(),
      .done_o       (done)
  );

  logic [15:0] blocks;  // of 16 output channels in this cob that exist
  always_comb begin
    blocks = 16'd1;
    if (state_q == PARAM && K > 16 && !der_q.dwise && ({cob[14:0], 1'b0} + 16'd1 < der_q.oblocks))
      blocks = 16'd2;
  end

  logic [15:0] subs;
  always_comb begin
    run_o = '0;
    run_o.limit = 16'd1;
    run_o.astep = 20'd1;
    subs = 16'd1;
    run_valid_o = 1'b0;
    case (state_q)
      TABLE: begin
        run_valid_o = 1'b1;
        run_o.addr = {16'd0, cmd_q.lut_addr};
        run_o.count = 20'd16;
      end
      PARAM: begin
        run_valid_o = !cmd_q.acc_hold || zeros_q;
        run_o.addr = zeros_q ? pa_q + 36'd8 : pa_q;
        run_o.count = zeros_q ? 20'd1 : cmd_q.zw_channel ? 20'd9 : 20'd8;
        subs = blocks;
      end
      TILE: begin
        run_valid_o = 1'b1;
        run_o.addr = wr_q;
        if (row_q) begin
          run_o.count = 20'(K);
          run_o.col = {8'd0, oc_q};
          run_o.cstep = 4'd1;
          run_o.limit = cmd_q.co;
          run_o.astep = cmd_q.w_step;
          run_o.null_row = (p_blk + sub_q >= der_q.iblocks);
          subs = HALVES;
        end else if (column_q) begin
          run_o.count = 20'(C);
          run_o.col = {8'd0, ci_q};
          run_o.cstep = 4'd1;
          run_o.limit = cmd_q.ci;
          run_o.astep = cmd_q.w_step;
          run_o.null_row = ({4'd0, oc_q[15:4]} + sub_q >= der_q.oblocks);
          subs = GROUPS;
        end else if (der_q.dwise) begin
          run_o.count = {16'd0, p_cols};
          run_o.addr = wr_q + {28'd0, p_kx};
          subs = {14'd0, p_rows};
        end else begin
          run_o.count = TILE_WORDS;
        end
      end
      default: ;
    endcase
  end
  logic step;  // the run is taken, or there is none
  assign go = run_valid_o && run_ready_i;
  assign step = go || (state_q == PARAM && !run_valid_o);
  assign sub_last = (sub_q + 16'd1 == subs);
  assign tile_last = (state_q == TILE) && go && sub_last;
  assign block_end = tile_last && pass_last;
  assign take_o = (state_q == IDLE) && avail_i;
  assign end_o = (state_q == DRAIN) && drained_i;

  // Weights of the next block.
  logic [35:0] wa_n;
  always_comb begin
    wa_n = wa_b_q;
    if (block_end && cob_inc) begin
      if (cob_wrap) wa_n = {16'd0, cmd_q.w_addr};
      else if (row_q) wa_n = wa_b_q + ({16'd0, cmd_q.w_step} << KB);
      else if (column_q) wa_n = wa_b_q + {16'd0, cmd_q.w_plane} * {20'd0, GROUPS};
      else if (der_q.dwise) wa_n = wa_b_q + {20'd0, der_q.taps};
      else wa_n = wr_q + {16'd0, TILE_WORDS};
    end
  end

  // The copy of the command by itself: in one process with the rest, simulation would move it in
  // every cycle.
  always_ff @(posedge clk_i)
    if (take_o) begin
      cmd_q <= sel_i ? cmd1_i : cmd0_i;
      der_q <= sel_i ? der1_i : der0_i;
    end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= IDLE;
    else begin
      case (state_q)
        IDLE:
          if (avail_i) begin
            state_q <= INIT;
            none_q <= (sel_i ? cmd1_i.mode : cmd0_i.mode) == heddle_pkg::MATRIX_MODE_MAXPOOL;
          end
        INIT: begin
          row_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_CONV)
                   && (cmd_q.w_mode == heddle_pkg::WEIGHT_MODE_ROW);
          column_q <= (cmd_q.mode == heddle_pkg::MATRIX_MODE_CONV)
                      && (cmd_q.w_mode == heddle_pkg::WEIGHT_MODE_COLUMN);
          zeros_q <= cmd_q.acc_hold && cmd_q.zw_channel;
          wa_b_q <= {16'd0, cmd_q.w_addr};
          wa_q <= {16'd0, cmd_q.w_addr};
          wr_q <= {16'd0, cmd_q.w_addr};
          pa_b_q <= {16'd0, cmd_q.param_addr};
          pa_q <= {16'd0, cmd_q.param_addr};
          sub_q <= 16'd0;
          ci_q <= 16'd0;
          oc_q <= 16'd0;
          state_q <= none_q ? DRAIN : (cmd_q.lut && !cmd_q.acc_hold) ? TABLE : PARAM;
        end
        TABLE: if (go) state_q <= PARAM;
        PARAM:
          if (step) begin
            sub_q <= sub_q + 16'd1;
            pa_q <= pa_q + (cmd_q.zw_channel ? 36'd9 : 36'd8);
            if (sub_last || !run_valid_o) begin
              sub_q <= 16'd0;
              state_q <= TILE;
            end
          end
        TILE:
          if (go) begin
            sub_q <= sub_last ? 16'd0 : sub_q + 16'd1;
            if (row_q || column_q) begin
              wr_q <= wr_q + {16'd0, cmd_q.w_plane};
              if (sub_last) begin
                wa_q <= row_q ? wr_q + {16'd0, cmd_q.w_plane}
                              : wa_q + ({16'd0, cmd_q.w_step} << CB);
                wr_q <= row_q ? wr_q + {16'd0, cmd_q.w_plane}
                              : wa_q + ({16'd0, cmd_q.w_step} << CB);
                ci_q <= ci_q + 16'(C);
              end
            end else if (der_q.dwise) begin
              // Kernel rows of the pass; the next column group starts at the same rows.
              wr_q <= wr_q + {28'd0, cmd_q.kw};
              if (sub_last) begin
                if ({1'b0, p_kx} + {5'd0, p_cols} == {1'b0, cmd_q.kw})
                  wa_q <= wr_q + {28'd0, cmd_q.kw};
                else wr_q <= wa_q;
              end
            end else begin
              if (vec_end) wr_q <= wr_q + {16'd0, TILE_WORDS};
            end
            if (block_end) begin
              wa_b_q <= wa_n;
              wa_q <= wa_n;
              wr_q <= wa_n;
              ci_q <= 16'd0;
              if (cob_inc) begin
                oc_q <= cob_wrap ? 16'd0 : oc_q + 16'(K);
                pa_b_q <= cob_wrap ? {16'd0, cmd_q.param_addr}
                                   : pa_b_q + (der_q.dwise ? 36'd1 : {20'd0, GROUPS})
                                              * (cmd_q.zw_channel ? 36'd9 : 36'd8);
                pa_q <= cob_wrap ? {16'd0, cmd_q.param_addr}
                                 : pa_b_q + (der_q.dwise ? 36'd1 : {20'd0, GROUPS})
                                            * (cmd_q.zw_channel ? 36'd9 : 36'd8);
              end else pa_q <= pa_b_q;
              state_q <= done ? DRAIN : PARAM;
            end
          end
        default: if (end_o) state_q <= IDLE;
      endcase
    end
  end

  // A run takes many cycles; between runs nothing moves.
  assign clk_req_o = !rst_ni || take_o || (state_q == INIT) || step || end_o;
endmodule
