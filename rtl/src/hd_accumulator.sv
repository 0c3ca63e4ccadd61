// SPDX-License-Identifier: Apache-2.0
// Adds the array's sums over the passes of a block; K int32 (wrapping) per pixel.
//
//   first pass: r = psum; later: r = acc[pix] + psum; last pass: r to the output stage, else to
//   acc.
//
// The RAM has one read and one write port. A pixel returns no sooner than one tile load (C*K/32 >=
// 8
// cycles) later, since every pass begins with a new tile, so there is no hazard between its write
// and its next read and nothing is forwarded.
// Pipeline: in cycle 0 the sums and their pixel are registered and the read is issued; in cycle 1
// the
// addition; out_valid_o in cycle 2.
module hd_accumulator #(
    parameter int K = 16,
    parameter int DEPTH = 256
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  valid_i,
    input  hd_matrix_pkg::pixel_t pix_i,
    input  logic [32*K-1:0]       psum_i,
    output logic                  valid_o,
    output logic                  pbank_o,
    output logic [32*K-1:0]       acc_o
);
  localparam int AB = $clog2(DEPTH);
  logic [32*K-1:0] mem [0:DEPTH-1];
  logic [32*K-1:0] rd_q, psum_q, sum, out_q;
  logic valid_q, vout_q, pbank_q;
  hd_matrix_pkg::pixel_t pix_q;
  for (genvar k = 0; k < K; k++) begin : g_sum
    assign sum[32*k +: 32] = psum_q[32*k +: 32] + (pix_q.first ? 32'd0 : rd_q[32*k +: 32]);
  end
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && valid_i;
    vout_q <= rst_ni && valid_q && pix_q.last;
    pix_q <= pix_i;
    pbank_q <= pix_q.pbank;
    if (valid_i) begin
      psum_q <= psum_i;
      if (!pix_i.first) rd_q <= mem[pix_i.pix[AB-1:0]];
    end
    if (valid_q && !pix_q.last) mem[pix_q.pix[AB-1:0]] <= sum;
    if (valid_q && pix_q.last) out_q <= sum;
  end
  assign valid_o = vout_q;
  assign pbank_o = pbank_q;
  assign acc_o = out_q;
endmodule
