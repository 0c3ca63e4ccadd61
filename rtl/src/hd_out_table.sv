// SPDX-License-Identifier: Apache-2.0
// The 256-byte table of a command, two sets, looked up by K lanes at once.
//
// A set is 16 words, loaded one per cycle. 512 bytes of registers with K read ports of one byte.
// Pipeline: code_i in cycle 0, code_o in cycle 1; without lut_i the code passes.
module hd_out_table #(
    parameter int K = 16
) (
    input  logic           clk_i,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic           lld_i,
    input  logic           lset_i,
    input  logic [3:0]     lidx_i,
    input  logic [127:0]   ldata_i,
    input  logic           valid_i,
    input  logic           lut_i,
    input  logic           set_i,
    input  logic [8*K-1:0] code_i,
    output logic [8*K-1:0] code_o
);
  logic [127:0] mem_q [0:31];
  logic [8*K-1:0] code_q, found;
  assign code_o = code_q;
  // One byte per lane; the loop runs only where there is something to look up.
  always_comb begin
    found = code_i;
    if (valid_i && lut_i)
      for (logic [31:0] k = 32'd0; k < K; k = k + 1)
        found[8*k +: 8] = mem_q[{set_i, code_i[8*k+4 +: 4]}][{code_i[8*k +: 4], 3'd0} +: 8];
  end
  always_ff @(posedge clk_i) begin
    if (lld_i) mem_q[{lset_i, lidx_i}] <= ldata_i;
    if (valid_i) code_q <= found;
  end

  // Only where something is written or looked up.
  assign clk_req_o = lld_i || valid_i;
endmodule
