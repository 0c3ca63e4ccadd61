// SPDX-License-Identifier: Apache-2.0
// First output stage: K lanes, one vector per cycle, never stalls. Holds the per-channel parameters
// (two sets, see hd_weight_loader) and the zero point and limits of the command.
//
// Parameter words of a set, per 16 channels: 4 words bias (int32), 4 words scale (f32).
// Pipeline: acc_i in cycle 0 (parameters are read then), zp, lo, hi in cycle 3, y_o in cycle 4.
module hd_requant #(
    parameter int K = 16
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            valid_i,
    input  logic            pbank_i,
    input  logic [32*K-1:0] acc_i,
    input  logic [8:0]      zp_i,
    input  logic [8:0]      lo_i,
    input  logic [8:0]      hi_i,
    input  logic            pld_i,
    input  logic            pset_i,
    input  logic [7:0]      pidx_i,
    input  logic [255:0]    pdata_i,
    output logic            valid_o,
    output logic [8*K-1:0]  y_o
);
  // Parameters, 4 channels per word: [set][word].
  logic [127:0] par_q [0:K-1];
  localparam int PB = $clog2(K / 2);
  always_ff @(posedge clk_i) begin
    if (pld_i) begin
      par_q[{pset_i, pidx_i[PB-1:0]}] <= pdata_i[127:0];
      par_q[{pset_i, pidx_i[PB-1:1], 1'b1}] <= pdata_i[255:128];
    end
  end

  logic [2:0] v_q;
  logic vout_q;
  logic [3:0] en;
  assign en = {v_q, valid_i};
  assign valid_o = vout_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      v_q <= 3'd0;
      vout_q <= 1'b0;
    end else begin
      v_q <= en[2:0];
      vout_q <= en[3];
    end
  end

  for (genvar k = 0; k < K; k++) begin : g_lane
    localparam [PB-1:0] WORD = PB'(k / 16 * 8 + k % 16 / 4);
    logic [127:0] bias_w, scale_w;
    assign bias_w = par_q[{pbank_i, WORD}];
    assign scale_w = par_q[{pbank_i, WORD + PB'(4)}];
    hd_requant_lane u_lane (
        .clk_i  (clk_i),
        .en_i   (en),
        .acc_i  (acc_i[32*k +: 32]),
        .bias_i (bias_w[32*(k%4) +: 32]),
        .scale_i(scale_w[32*(k%4) +: 32]),
        .zp_i   (zp_i),
        .lo_i   (lo_i),
        .hi_i   (hi_i),
        .y_o    (y_o[8*k +: 8])
    );
  end
endmodule
