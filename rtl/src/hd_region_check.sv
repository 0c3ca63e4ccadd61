// SPDX-License-Identifier: Apache-2.0
// Is an access to bytes first_i .. last_i (offsets in a region) allowed? Combinational.
//
// ok_o = 0: code_o and addr_o say why. Bounds come before read-only; addr_o is the offset of the
// first byte outside (0 for read-only). A region that reaches beyond the 40 address bits of device
// memory does not answer there: bus_error with the device address, as of a memory that is too
// small.
// Nothing wraps: last_i < first_i is out of bounds, and the sum with the base has a carry bit.
module hd_region_check (
    input  logic [63:0] first_i,
    input  logic [63:0] last_i,
    input  logic        write_i,
    input  logic [63:0] base_i,
    input  logic [63:0] size_i,
    input  logic        writable_i,
    output logic        ok_o,
    output logic [ 7:0] code_o,
    output logic [63:0] addr_o
);
  logic [64:0] device;
  assign device = {1'b0, base_i} + {1'b0, last_i};

  always_comb begin
    ok_o = 1'b0;
    code_o = 8'd0;
    addr_o = 64'd0;
    if (last_i >= size_i || first_i > last_i) begin
      code_o = heddle_pkg::ERROR_REGION_BOUNDS[7:0];
      addr_o = (first_i >= size_i) ? first_i : size_i;
    end else if (write_i && !writable_i) begin
      code_o = heddle_pkg::ERROR_REGION_READONLY[7:0];
    end else if (device[64:hd_pkg::MEM_AW] != '0) begin
      code_o = heddle_pkg::ERROR_BUS_ERROR[7:0];
      addr_o = device[63:0];
    end else begin
      ok_o = 1'b1;
    end
  end
endmodule
