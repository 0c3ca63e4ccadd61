// SPDX-License-Identifier: Apache-2.0
// Walks the passes of one block of output channels, in the order of the packed weights:
//   conv       for ky, kx, cib        (tile of C channels at one tap)
//   depthwise  for groups of rp kernel rows (tile of up to 3 x 5 or 2 x 8 taps)
//   fold       for vectors            (see hd_fold_step)
// Row ports, sequencer, weight reader and weight loader each hold one, since they are at different
// passes at the same time. restart_i goes to the first pass, adv_i to the next; last_o marks the
// last.
// The offsets (rows, words) of a pass are kept by addition, never by multiplication.
module hd_pass_ctr #(
    parameter int C = 16
) (
    input  logic                             clk_i,
    input  hd_matrix_pkg::mcmd_t             cmd_i,
    input  hd_matrix_pkg::spike_der_t             der_i,
    input  logic                             restart_i,
    input  logic                             adv_i,
    output logic                             first_o,
    output logic                             last_o,
    output logic [7:0]                       ky_o,      // kernel row (of row port 0)
    output logic [15:0]                      row_o,     // ky * dy
    output logic [15:0]                      row_a_o,   // ky * dy * ipitch
    output logic [15:0]                      col_o,     // conv: kx * dx
    output logic [15:0]                      off_a_o,   // conv: words of (kx, cib)
    output logic [hd_matrix_pkg::ROWS-1:0]   seg_en_o,  // fold: see hd_fold_step
    output logic [8*hd_matrix_pkg::ROWS-1:0] seg_q_o,
    output logic [8*hd_matrix_pkg::ROWS-1:0] seg_lane_o,
    output logic [8*hd_matrix_pkg::ROWS-1:0] seg_n_o
);
  logic [7:0] ky_q, kx_q, ci_q, q_q;
  logic [15:0] row_q, row_a_q, col_q, col_a_q, ci_a_q;
  logic first_q;

  logic [7:0] fold_r, fold_q;
  logic fold_last;
  hd_fold_step #(
      .C(C)
  ) u_fold (
      .r_i   (ky_q),
      .q_i   (q_q),
      .len_i (der_i.len),
      .kh_i  (cmd_i.kh),
      .en_o  (seg_en_o),
      .q_o   (seg_q_o),
      .lane_o(seg_lane_o),
      .n_o   (seg_n_o),
      .nr_o  (fold_r),
      .nq_o  (fold_q),
      .last_o(fold_last)
  );

  logic ci_last, kx_last, ky_last, dw_last;
  assign ci_last = (ci_q + 8'd1 == cmd_i.cib);
  assign kx_last = (kx_q + 8'd1 == cmd_i.kw);
  assign ky_last = (ky_q + 8'd1 == cmd_i.kh);
  assign dw_last = ({1'b0, ky_q} + {1'b0, der_i.rp} >= {1'b0, cmd_i.kh});

  // Rows by which the kernel row moves: at most ROWS, so the product is a few adders.
  logic [7:0] jump;
  assign jump = (cmd_i.mode == hd_matrix_pkg::MODE_FOLD) ? fold_r - ky_q : der_i.rp;

  always_comb begin
    case (cmd_i.mode)
      hd_matrix_pkg::MODE_DW:   last_o = dw_last;
      hd_matrix_pkg::MODE_FOLD: last_o = fold_last;
      default:                  last_o = ci_last && kx_last && ky_last;
    endcase
  end
  assign first_o = first_q;
  assign ky_o = ky_q;
  assign row_o = row_q;
  assign row_a_o = row_a_q;
  assign col_o = col_q;
  assign off_a_o = col_a_q + ci_a_q;

  always_ff @(posedge clk_i) begin
    if (restart_i) begin
      first_q <= 1'b1;
      ky_q <= 8'd0;
      kx_q <= 8'd0;
      ci_q <= 8'd0;
      q_q <= 8'd0;
      row_q <= 16'd0;
      row_a_q <= 16'd0;
      col_q <= 16'd0;
      col_a_q <= 16'd0;
      ci_a_q <= 16'd0;
    end else if (adv_i) begin
      first_q <= 1'b0;
      if (cmd_i.mode != hd_matrix_pkg::MODE_CONV) begin
        ky_q <= ky_q + jump;
        row_q <= row_q + {8'd0, jump};
        row_a_q <= row_a_q + {13'd0, jump[2:0]} * cmd_i.ipitch;
        q_q <= (cmd_i.mode == hd_matrix_pkg::MODE_FOLD) ? fold_q : 8'd0;
      end else if (!ci_last) begin
        ci_q <= ci_q + 8'd1;
        ci_a_q <= ci_a_q + der_i.ci_a;
      end else begin
        ci_q <= 8'd0;
        ci_a_q <= 16'd0;
        if (!kx_last) begin
          kx_q <= kx_q + 8'd1;
          col_q <= col_q + {8'd0, cmd_i.dx};
          col_a_q <= col_a_q + der_i.dx_a;
        end else begin
          kx_q <= 8'd0;
          col_q <= 16'd0;
          col_a_q <= 16'd0;
          ky_q <= ky_q + 8'd1;
          row_q <= row_q + {8'd0, cmd_i.dy};
          row_a_q <= row_a_q + der_i.dy_a;
        end
      end
    end
  end
endmodule
