// SPDX-License-Identifier: Apache-2.0
// Adds the array's sums over the passes of a block; K int32 (wrapping) per pixel. In mode maxpool it
// takes the maximum instead.
//
//   first pass: r = psum; later: r = acc[pix] + psum; last pass: r to the output stage, else to
//   acc.
//
// The RAM (DEPTH entries of K int32: 16 KiB with K = 16, 32 KiB with K = 32) has one read and one
// write port. A pixel returns no sooner than two cycles later (the sequencer sees to it), so there
// is no hazard between its write and its next read and nothing is forwarded.
// Pipeline: in cycle 0 the sums and their pixel are registered and the read is issued; in cycle 1
// the addition; out_valid_o in cycle 2. hold_done_o: the last entry of a command with acc_hold has
// been written. clear_i zeroes everything, an entry per cycle (clear_busy_o); nothing may come in.
module hd_accumulator #(
    parameter int K = 16,
    parameter int DEPTH = 256
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  clear_i,
    output logic                  clear_busy_o,
    input  logic                  valid_i,
    input  hd_matrix_pkg::pixel_t pix_i,
    input  logic [32*K-1:0]       psum_i,
    output logic                  valid_o,
    output logic                  pbank_o,
    output logic [32*K-1:0]       acc_o,
    output logic                  hold_done_o
);
  localparam int AB = $clog2(DEPTH);
  logic [32*K-1:0] mem [0:DEPTH-1];
  logic [32*K-1:0] rd_q, psum_q, sum, maxi, out_q;
  logic valid_q, vout_q, pbank_q, hold_q, clear_q;
  logic [AB-1:0] clear_pix_q;
  hd_matrix_pkg::pixel_t pix_q;
  for (genvar k = 0; k < K; k++) begin : g_sum
    assign sum[32*k +: 32] = psum_q[32*k +: 32] + (pix_q.first ? 32'd0 : rd_q[32*k +: 32]);
    assign maxi[32*k +: 32] = (!pix_q.first && $signed(rd_q[32*k +: 32])
                                                > $signed(psum_q[32*k +: 32]))
                              ? rd_q[32*k +: 32] : psum_q[32*k +: 32];
  end
  logic write;
  assign write = valid_q && !pix_q.last;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && valid_i;
    vout_q <= rst_ni && valid_q && pix_q.last;
    hold_q <= rst_ni && write && pix_q.fin;
    if (valid_i) begin
      pix_q <= pix_i;
      psum_q <= psum_i;
      if (!pix_i.first) rd_q <= mem[pix_i.pix[AB-1:0]];
    end
    if (write || clear_q)
      mem[clear_q ? clear_pix_q : pix_q.pix[AB-1:0]] <= clear_q ? '0 : pix_q.maxi ? maxi : sum;
    if (valid_q && pix_q.last) begin
      out_q <= pix_q.maxi ? maxi : sum;
      pbank_q <= pix_q.pbank;
    end
    if (!rst_ni) clear_q <= 1'b0;
    else if (clear_i) begin
      clear_q <= 1'b1;
      clear_pix_q <= '0;
    end else if (clear_q) begin
      clear_pix_q <= clear_pix_q + AB'(1);
      if (clear_pix_q == '1) clear_q <= 1'b0;
    end
  end
  assign valid_o = vout_q;
  assign pbank_o = pbank_q;
  assign acc_o = out_q;
  assign hold_done_o = hold_q;
  assign clear_busy_o = clear_q;

`ifndef SYNTHESIS
  // The contract of the ports, and what the state never is.
  always_ff @(posedge clk_i)
    if (rst_ni && valid_i) begin
      assert (!clear_q);
      assert (!(!pix_i.first && write && pix_i.pix == pix_q.pix));
      assert ((pix_i.first && pix_i.last) || 32'(pix_i.pix) < DEPTH);
    end
`endif
endmodule
