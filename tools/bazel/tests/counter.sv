// SPDX-License-Identifier: Apache-2.0
// A counter that wraps at 2**W; exercises the Verilator rule.
module counter #(
    parameter W = 8
) (
    input  wire         clk,
    input  wire         rst,
    output logic [W-1:0] count
);
  always_ff @(posedge clk) begin
    if (rst) count <= 0;
    else count <= count + 1'b1;
  end
endmodule
