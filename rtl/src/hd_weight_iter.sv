// SPDX-License-Identifier: Apache-2.0
// Runs of parameter and weight words of a command, in the order of use:
// for stripe: for output-channel block: parameters, then the tiles of all passes.
// Weights and parameters are read again for every stripe. A run may span tiles; the loader counts.
module hd_weight_iter #(
    parameter int C = 16,
    parameter int K = 16
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
    output logic                 run_valid_o,
    input  logic                 run_ready_i,
    output hd_matrix_pkg::run_t  run_o
);
  localparam [15:0] TILE_WORDS = 16'(C * K / 16);
  localparam [15:0] PARAM_WORDS = 16'(K / 2);
  typedef enum logic [1:0] {
    IDLE,
    INIT,
    PARAM,
    TILE
  } state_e;
  state_e state_q;
  hd_matrix_pkg::mcmd_t cmd_q;
  hd_matrix_pkg::spike_der_t der_q;
  logic [15:0] left_q, pa_q, wa_q;
  logic [7:0] cob_q;

  logic fold, pass_last, go, tile_last, cob_last, stripe_last;
  assign fold = (cmd_q.mode == hd_matrix_pkg::MODE_FOLD);
  assign go = run_valid_o && run_ready_i;
  assign tile_last = !fold || pass_last;
  assign cob_last = (cob_q + 8'd1 == cmd_q.cob);
  assign stripe_last = (left_q <= cmd_q.srows);
  hd_pass_ctr #(
      .C(C)
  ) u_pass (
      .clk_i     (clk_i),
      .cmd_i     (cmd_q),
      .der_i     (der_q),
      .restart_i (state_q == PARAM),
      .adv_i     (go),
      .first_o   (),
      .last_o    (pass_last),
      .ky_o      (),
      .row_o     (),
      .row_a_o   (),
      .col_o     (),
      .off_a_o   (),
      .seg_en_o  (),
      .seg_q_o   (),
      .seg_lane_o(),
      .seg_n_o   ()
  );

  assign run_valid_o = (state_q == PARAM) || (state_q == TILE);
  assign take_o = (state_q == IDLE) && avail_i;
  always_comb begin
    run_o.null_row = 1'b0;
    run_o.col = 16'd0;
    run_o.cstep = 16'd0;
    run_o.limit = 16'd1;
    run_o.astep = 16'd1;
    if (state_q == PARAM) begin
      run_o.addr = pa_q;
      run_o.count = (cmd_q.mode == hd_matrix_pkg::MODE_DW) ? 16'd8 : PARAM_WORDS;
    end else begin
      run_o.addr = wa_q;
      run_o.count = fold ? TILE_WORDS : der_q.wcnt;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= IDLE;
    else begin
      case (state_q)
        IDLE: if (avail_i) state_q <= INIT;
        INIT: state_q <= PARAM;
        PARAM: if (go) state_q <= TILE;
        default: if (go && tile_last) state_q <= (cob_last && stripe_last) ? IDLE : PARAM;
      endcase
    end
    if (take_o) begin
      cmd_q <= sel_i ? cmd1_i : cmd0_i;
      der_q <= sel_i ? der1_i : der0_i;
    end
    if (state_q == INIT) begin
      left_q <= cmd_q.oh;
      pa_q <= cmd_q.pbase;
      wa_q <= cmd_q.wbase;
      cob_q <= 8'd0;
    end else if (go && state_q == PARAM) begin
      pa_q <= pa_q + run_o.count;
    end else if (go) begin
      wa_q <= wa_q + run_o.count;
      if (tile_last) begin
        cob_q <= cob_q + 8'd1;
        if (cob_last) begin
          cob_q <= 8'd0;
          left_q <= left_q - cmd_q.srows;
          pa_q <= cmd_q.pbase;
          wa_q <= cmd_q.wbase;
        end
      end
    end
  end
endmodule
