// SPDX-License-Identifier: Apache-2.0
// Checks a region table as it is fetched and passes its entries on.
//
// clear_i before the first word; words come in order, two per region. Each complete region appears
// on region_* for one cycle (region_we_o). bad_o tells that an entry was malformed, bad_region_o
// which was the first: reserved fields or flags not zero, or, if the size is not 0, a base that is
// misaligned or a range that device memory does not have.
//
//   second word of a region in cycle t | region_we_o, bad_o in t+1
module hd_table_check #(
    localparam int IW = $clog2(heddle_pkg::REGIONS)
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic [63:0]   dram_bytes_i,
    input  logic          clear_i,
    input  logic          valid_i,
    input  logic [127:0]  data_i,
    output logic          bad_o,
    output logic [IW-1:0] bad_region_o,
    output logic          region_we_o,
    output logic [IW-1:0] region_index_o,
    output logic [63:0]   region_base_o,
    output logic [63:0]   region_size_o,
    output logic          region_writable_o
);
  localparam int ALIGN_SHIFT = $clog2(heddle_pkg::REGION_ALIGN);
  heddle_pkg::region_t come;
  logic [127:0] first_q;
  logic [IW:0] in_q;
  logic we_q, bad_q, writable_q, wrong, whole;
  logic [IW-1:0] bad_region_q, index_q;
  logic [63:0] base_q, size_q;

  assign come = {data_i, first_q};
  assign whole = valid_i && in_q[0];
  always_comb begin
    wrong = 1'b0;
    if (whole) begin
      wrong = ((come.flags & ~heddle_pkg::REGION_FLAGS_WRITABLE_MASK) != 32'd0)
          || (come.reserved0 != 32'd0) || (come.reserved1 != 64'd0);
      if (come.size != 64'd0) begin
        wrong = wrong || (come.base[ALIGN_SHIFT-1:0] != '0)
            || (come.size > dram_bytes_i) || (come.base > dram_bytes_i - come.size);
      end
    end
  end

  assign bad_o = bad_q;
  assign bad_region_o = bad_region_q;
  assign region_we_o = we_q;
  assign region_index_o = index_q;
  assign region_base_o = base_q;
  assign region_size_o = size_q;
  assign region_writable_o = writable_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) we_q <= 1'b0;
    else we_q <= whole;
    if (clear_i) begin
      in_q <= '0;
      bad_q <= 1'b0;
    end else if (valid_i) begin
      in_q <= in_q + 1'b1;
      if (wrong && !bad_q) begin
        bad_q <= 1'b1;
        bad_region_q <= in_q[IW:1];
      end
    end
    if (valid_i && !in_q[0]) first_q <= data_i;
    if (whole) begin
      index_q <= in_q[IW:1];
      base_q <= come.base;
      size_q <= come.size;
      writable_q <= (come.flags & heddle_pkg::REGION_FLAGS_WRITABLE_MASK) != 32'd0;
    end
  end
endmodule
