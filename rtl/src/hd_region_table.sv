// SPDX-License-Identifier: Apache-2.0
// The region table of the stream that runs: REGIONS entries {base, size, writable}.
//
// Written entry by entry before the stream starts (never while a DMA engine works); read
// combinationally by the load and the store engine. An entry that was never written after reset has
// size 0: every access to it is out of bounds. REGIONS x 129 bits of registers.
module hd_region_table #(
    localparam int N = heddle_pkg::REGIONS,
    localparam int IW = $clog2(N)
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          region_we_i,
    input  logic [IW-1:0] region_index_i,
    input  logic [63:0]   region_base_i,
    input  logic [63:0]   region_size_i,
    input  logic          region_writable_i,
    input  logic [IW-1:0] load_region_i,
    output logic [63:0]   load_base_o,
    output logic [63:0]   load_size_o,
    output logic          load_writable_o,
    input  logic [IW-1:0] store_region_i,
    output logic [63:0]   store_base_o,
    output logic [63:0]   store_size_o,
    output logic          store_writable_o
);
  logic [63:0] base_q[0:N-1];
  logic [63:0] size_q[0:N-1];
  logic [N-1:0] writable_q;
  logic [N-1:0] bound_q;  // written since reset

  assign load_base_o = base_q[load_region_i];
  assign load_size_o = bound_q[load_region_i] ? size_q[load_region_i] : 64'd0;
  assign load_writable_o = writable_q[load_region_i];
  assign store_base_o = base_q[store_region_i];
  assign store_size_o = bound_q[store_region_i] ? size_q[store_region_i] : 64'd0;
  assign store_writable_o = writable_q[store_region_i];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bound_q <= '0;
      writable_q <= '0;
    end else if (region_we_i) begin
      bound_q[region_index_i] <= 1'b1;
      writable_q[region_index_i] <= region_writable_i;
    end
    if (region_we_i) begin
      base_q[region_index_i] <= region_base_i;
      size_q[region_index_i] <= region_size_i;
    end
  end
endmodule
