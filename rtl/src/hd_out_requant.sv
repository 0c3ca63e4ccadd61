// SPDX-License-Identifier: Apache-2.0
// Stage 1 of the output stage: K lanes, one vector per cycle, never stalls. Holds the per-channel
// parameters, two sets of (per 16 channels) 4 words bias and 4 words scale.
//
// Mode maxpool passes through the arithmetic with bias 0, scale 1 and no clamp, which is exact.
// Pipeline: acc_i and the parameters in cycle 0; code_o and the vector's constants and tag with valid_o
// in cycle CRO_CYCLES. f32 outputs are computed in hd_out_float.
module hd_out_requant #(
    parameter int K = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic                valid_i,
    input  logic                pbank_i,
    input  logic [32*K-1:0]     acc_i,
    input  logic [1:0]          tag_i,
    input  hd_output_pkg::s1c_t c_i,
    input  logic                pld_i,
    input  logic                pset_i,
    input  logic [7:0]          pidx_i,
    input  logic [255:0]        pdata_i,
    // parameters of the vector, cycle 0
    output logic [32*K-1:0]     bias_o,
    output logic [32*K-1:0]     scale_o,
    // vectors of 32-bit outputs: cycle 1, cycle FLOAT_CYCLES
    output logic                sum_valid_o,
    output logic                sum_i32_o,
    output logic [32*K-1:0]     sum_o,
    output logic                wide_valid_o,
    // vectors of codes
    output logic                valid_o,
    output logic [1:0]          tag_o,
    output hd_output_pkg::s1c_t c_o,
    output logic [8*K-1:0]      code_o
);
  localparam int N = hd_output_pkg::CRO_CYCLES;
  localparam int F = hd_output_pkg::FLOAT_CYCLES;
  localparam int PB = $clog2(K / 2);
  logic [127:0] par_q [0:K-1];
  always_ff @(posedge clk_i) begin
    if (pld_i) begin
      par_q[{pset_i, pidx_i[PB-1:0]}] <= pdata_i[127:0];
      par_q[{pset_i, pidx_i[PB-1:1], 1'b1}] <= pdata_i[255:128];
    end
  end

  logic [N-1:0] v_q, en;
  logic [1:0] tag_q [0:N-1];
  logic [$bits(c_i)-1:0] c_q [0:N-1];  // bits: synthesis takes an array of structs for one struct
  assign en = {v_q[N-2:0], valid_i && !c_i.wide};
  assign valid_o = v_q[N-1];
  assign tag_o = tag_q[N-1];
  assign c_o = c_q[N-1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) v_q <= '0;
    else v_q <= en;
    if (en[0]) begin
      tag_q[0] <= tag_i;
      c_q[0] <= c_i;
    end
    for (int j = 1; j < N; j++)
      if (v_q[j-1]) begin
        tag_q[j] <= tag_q[j-1];
        c_q[j] <= c_q[j-1];
      end
  end

  // Parameters of the lanes, read for a vector only. Cycle 0.
  logic [32*K-1:0] bias, scale, bias_set, scale_set;
  if (K == 16) begin : g_one
    assign bias_set = {par_q[{pbank_i, 3'd3}], par_q[{pbank_i, 3'd2}],
                       par_q[{pbank_i, 3'd1}], par_q[{pbank_i, 3'd0}]};
    assign scale_set = {par_q[{pbank_i, 3'd7}], par_q[{pbank_i, 3'd6}],
                        par_q[{pbank_i, 3'd5}], par_q[{pbank_i, 3'd4}]};
  end else begin : g_two
    assign bias_set = {par_q[{pbank_i, 4'd11}], par_q[{pbank_i, 4'd10}],
                       par_q[{pbank_i, 4'd9}], par_q[{pbank_i, 4'd8}],
                       par_q[{pbank_i, 4'd3}], par_q[{pbank_i, 4'd2}],
                       par_q[{pbank_i, 4'd1}], par_q[{pbank_i, 4'd0}]};
    assign scale_set = {par_q[{pbank_i, 4'd15}], par_q[{pbank_i, 4'd14}],
                        par_q[{pbank_i, 4'd13}], par_q[{pbank_i, 4'd12}],
                        par_q[{pbank_i, 4'd7}], par_q[{pbank_i, 4'd6}],
                        par_q[{pbank_i, 4'd5}], par_q[{pbank_i, 4'd4}]};
  end
  always_comb begin
    bias = '0;
    scale = '0;
    if (valid_i && c_i.raw) begin
      scale = {K{32'h3f800000}};
    end else if (valid_i) begin
      bias = bias_set;
      scale = scale_set;
    end
  end
  hd_cro_lane #(
      .LANES(K)
  ) u_lanes (
      .clk_i   (clk_i),
      .rst_ni  (rst_ni),
      .en_i    (valid_i && !c_i.wide),
      .acc_i   (acc_i),
      .bias_i  (bias),
      .scale_i (scale),
      .lo_i    (c_i.raw ? 9'h101 : c_i.lo),
      .hi_i    (c_i.raw ? 9'h0ff : c_i.hi),
      .zp_i    (c_i.raw ? 9'd0 : c_i.zo),
      .signed_i(c_i.sgn),
      .valid_o (),
      .y_o     (code_o)
  );

  // 32-bit outputs. The place in the FIFO is taken in cycle 1, where an i32 vector has its value; it
  // is complete in cycle FLOAT_CYCLES, like an f32 vector.
  logic [F-1:0] w_q;
  logic [32*K-1:0] sum_q, sum;
  logic i32_q;
  for (genvar k = 0; k < K; k++) begin : g_sum
    assign sum[32*k +: 32] = acc_i[32*k +: 32] + bias[32*k +: 32];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) w_q <= '0;
    else w_q <= {w_q[F-2:0], valid_i && c_i.wide};
    if (valid_i && c_i.wide) i32_q <= !c_i.f32;
    if (valid_i && c_i.wide && !c_i.f32) sum_q <= sum;
  end
  assign sum_valid_o = w_q[0];
  assign sum_i32_o = i32_q;
  assign sum_o = sum_q;
  assign wide_valid_o = w_q[F-1];
  assign bias_o = bias;
  assign scale_o = scale;

  // Only while there is a vector; most passes of a block give none.
  assign clk_req_o = !rst_ni || valid_i || pld_i || (v_q != '0) || (w_q != '0);
endmodule
