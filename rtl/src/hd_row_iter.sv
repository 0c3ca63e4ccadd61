// SPDX-License-Identifier: Apache-2.0
// Rows that row port PORT must fetch for a command, one run of words per row, in the order in which
// the sequencer consumes them: for stripe, output-channel block, pass, output row.
//   conv       one word per output pixel; port p reads channel block cib * C/16 + p
//   depthwise  every input column once; port p reads kernel row ky + p
//   fold       every word of the packed row that the pass touches; port p reads kernel row r + p
// One row per cycle; a pass in which the port has no part costs one cycle. Rows in the padding are
// runs of null words, so the consumer never asks where a word came from.
module hd_row_iter #(
    parameter int PORT = 0,
    parameter int C = 16
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
  localparam [7:0] P8 = 8'(PORT);
  localparam [15:0] P16 = 16'(PORT);
  localparam logic IN_CONV = (PORT < C / 16);

  typedef enum logic [1:0] {
    IDLE,
    INIT,
    RUN
  } state_e;
  state_e state_q;
  hd_matrix_pkg::mcmd_t cmd_q;
  hd_matrix_pkg::spike_der_t der_q;
  logic [15:0] left_q, srow_q, iy_s_q, ra_s_q, iy_y_q, ra_y_q, cob_a_q;
  logic [7:0] cob_q;

  logic pass_last, pass_adv, pass_restart;
  logic [7:0] ky;
  logic [15:0] p_row, p_row_a, p_col, p_off_a;
  logic [hd_matrix_pkg::ROWS-1:0] seg_en;
  logic [8*hd_matrix_pkg::ROWS-1:0] seg_q, seg_n;
  hd_pass_ctr #(
      .C(C)
  ) u_pass (
      .clk_i     (clk_i),
      .cmd_i     (cmd_q),
      .der_i     (der_q),
      .restart_i (pass_restart),
      .adv_i     (pass_adv),
      .first_o   (),
      .last_o    (pass_last),
      .ky_o      (ky),
      .row_o     (p_row),
      .row_a_o   (p_row_a),
      .col_o     (p_col),
      .off_a_o   (p_off_a),
      .seg_en_o  (seg_en),
      .seg_q_o   (seg_q),
      .seg_lane_o(),
      .seg_n_o   (seg_n)
  );

  // The run of the current row.
  logic part;
  logic [15:0] iy, row_a, port_a, fold_f, fold_e, fold_h, fold_t;
  assign fold_f = {8'd0, seg_q[8*PORT +: 8]} - der_q.plc;          // first byte of the first pixel
  assign fold_e = fold_f + der_q.spanc + {8'd0, seg_n[8*PORT +: 8]} - 16'd1;  // last of the last
  assign fold_h = $signed(fold_f) >>> 4;
  assign fold_t = $signed(fold_e) >>> 4;
  assign port_a = P16 * ((cmd_q.mode == hd_matrix_pkg::MODE_CONV) ? cmd_q.iplane : cmd_q.ipitch);
  assign iy = iy_y_q + p_row + ((cmd_q.mode == hd_matrix_pkg::MODE_CONV) ? 16'd0 : P16);
  assign row_a = ra_y_q + p_row_a + port_a;
  always_comb begin
    run_o.null_row = iy[15] || (iy >= cmd_q.ih);
    case (cmd_q.mode)
      hd_matrix_pkg::MODE_DW: begin
        part = (P8 < der_q.rp) && ({1'b0, ky} + {1'b0, P8} < {1'b0, cmd_q.kh})
               && (der_q.ncol != 16'd0);
        run_o.count = der_q.ncol;
        run_o.col = der_q.col0;
        run_o.cstep = 16'd1;
        run_o.limit = cmd_q.iw;
        run_o.addr = row_a + cob_a_q + (cmd_q.pl[15] ? -der_q.pl_a : 16'd0);
        run_o.astep = cmd_q.ixstep;
      end
      hd_matrix_pkg::MODE_FOLD: begin
        part = seg_en[PORT];
        run_o.count = fold_t - fold_h + 16'd1;
        run_o.col = fold_h;
        run_o.cstep = 16'd1;
        run_o.limit = der_q.roww;
        run_o.addr = row_a + fold_h;
        run_o.astep = 16'd1;
      end
      default: begin
        part = IN_CONV;
        run_o.count = cmd_q.ow;
        run_o.col = p_col - cmd_q.pl;
        run_o.cstep = {8'd0, cmd_q.sx};
        run_o.limit = cmd_q.iw;
        run_o.addr = row_a + p_off_a - der_q.pl_a;
        run_o.astep = der_q.sx_a;
      end
    endcase
  end

  logic run, next_row, next_pass, y_last, cob_last, stripe_last;
  assign run = (state_q == RUN);
  assign run_valid_o = run && part;
  assign y_last = (srow_q == 16'd1);
  assign cob_last = (cob_q + 8'd1 == cmd_q.cob);
  assign stripe_last = (left_q <= cmd_q.srows);
  assign next_row = run_valid_o && run_ready_i && !y_last;
  assign next_pass = run && (!part || (run_ready_i && y_last));
  assign pass_restart = (state_q == INIT) || (next_pass && pass_last);
  assign pass_adv = next_pass;
  assign take_o = (state_q == IDLE) && avail_i;

  logic [15:0] left_n;
  assign left_n = left_q - cmd_q.srows;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= IDLE;
    else begin
      case (state_q)
        IDLE: if (avail_i) state_q <= INIT;
        INIT: state_q <= RUN;
        default: if (next_pass && pass_last && cob_last && stripe_last) state_q <= IDLE;
      endcase
    end
    if (take_o) begin
      cmd_q <= sel_i ? cmd1_i : cmd0_i;
      der_q <= sel_i ? der1_i : der0_i;
    end
    if (state_q == INIT) begin
      left_q <= cmd_q.oh;
      srow_q <= (cmd_q.oh < cmd_q.srows) ? cmd_q.oh : cmd_q.srows;
      iy_s_q <= cmd_q.iy0;
      iy_y_q <= cmd_q.iy0;
      ra_s_q <= der_q.org;
      ra_y_q <= der_q.org;
      cob_q <= 8'd0;
      cob_a_q <= 16'd0;
    end else if (next_row) begin
      srow_q <= srow_q - 16'd1;
      iy_y_q <= iy_y_q + {8'd0, cmd_q.sy};
      ra_y_q <= ra_y_q + der_q.sy_a;
    end else if (next_pass) begin
      srow_q <= (left_q < cmd_q.srows) ? left_q : cmd_q.srows;
      iy_y_q <= iy_s_q;
      ra_y_q <= ra_s_q;
      if (pass_last) begin
        cob_q <= cob_last ? 8'd0 : cob_q + 8'd1;
        cob_a_q <= cob_last ? 16'd0 : cob_a_q + cmd_q.iplane;
        if (cob_last) begin
          left_q <= left_n;
          srow_q <= (left_n < cmd_q.srows) ? left_n : cmd_q.srows;
          iy_s_q <= iy_s_q + der_q.ssy;
          iy_y_q <= iy_s_q + der_q.ssy;
          ra_s_q <= ra_s_q + der_q.ssy_a;
          ra_y_q <= ra_s_q + der_q.ssy_a;
        end
      end
    end
  end
endmodule
