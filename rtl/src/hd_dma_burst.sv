// SPDX-License-Identifier: Apache-2.0
// The gate to device memory: the only place where a DMA engine makes requests.
//
//   0  a burst is offered: offset in the region and bytes (first to last byte within 1 KiB of
// device
//      memory, so at most 64 beats and never across 4 KiB), with the region's entry
//   1  every burst is compared with the region here, whatever was checked before (hd_region_check);
//      one that is not allowed is never requested: fault_o is held until reset and the gate shut
//   2  request, held until it is taken
// One burst per cycle. stop_i holds bursts back in stage 1. go_i: the sender's room for the answer
// (or, for writes, its data) is there; grant_o tells that it was used, beats_o how
// much.
// Proved in rtl/formal: a request's bytes lie in the region that was offered with it, a write only
// if that region is writable. (Beats are whole: up to 15 bytes before and behind the burst's bytes
// are read with it and dropped, or not strobed.)
module hd_dma_burst (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        valid_i,
    output logic                        ready_o,
    input  logic                        write_i,
    input  logic [hd_dma_pkg::OFFW-1:0] off_i,
    input  logic [10:0]                 bytes_i,     // 1 .. 1024
    input  logic [63:0]                 base_i,
    input  logic [63:0]                 size_i,
    input  logic                        writable_i,
    input  logic                        stop_i,
    input  logic                        go_i,
    output logic                        grant_o,
    output logic [ 6:0]                 beats_o,
    output logic [hd_pkg::MEM_AW-1:0]   first_o,     // device address of its first byte
    output logic                        fault_o,
    output logic [ 7:0]                 fault_code_o,
    output logic [63:0]                 fault_addr_o,
    output logic                        empty_o,     // nothing in stages 1 and 2
    output logic                        req_valid_o,
    input  logic                        req_ready_i,
    output logic                        req_write_o,
    output logic [hd_pkg::MEM_AW-1:0]   req_addr_o,
    output logic [ 6:0]                 req_beats_o
);
  localparam int OFFW = hd_dma_pkg::OFFW;
  logic v1_q, v2_q, write1_q, writable1_q, fault_q;
  logic [OFFW-1:0] off1_q;
  logic [10:0] bytes1_q;
  logic [63:0] base1_q, size1_q;

  logic ok;
  logic [7:0] code;
  logic [63:0] addr, last;
  logic [hd_pkg::MEM_AW-1:0] dev;
  logic [11:0] span;
  assign last = {{(64 - OFFW) {1'b0}}, off1_q} + {53'd0, bytes1_q} - 64'd1;
  hd_region_check u_check (
      .first_i({{(64 - OFFW) {1'b0}}, off1_q}),
      .last_i(last),
      .write_i(write1_q),
      .base_i(base1_q),
      .size_i(size1_q),
      .writable_i(writable1_q),
      .ok_o(ok),
      .code_o(code),
      .addr_o(addr)
  );
  assign first_o = dev;
  assign dev = base1_q[hd_pkg::MEM_AW-1:0] + off1_q;
  // Beats from the one with the first byte to the one with the last.
  assign span = {8'd0, dev[3:0]} + {1'b0, bytes1_q} + 12'd15;
  assign beats_o = span[10:4];

  logic free2;
  assign free2 = !v2_q || req_ready_i;
  assign grant_o = v1_q && ok && !fault_q && !stop_i && go_i && free2;
  assign ready_o = !v1_q || grant_o;
  assign fault_o = fault_q;
  assign empty_o = !v2_q && (!v1_q || fault_q);
  assign req_valid_o = v2_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      v1_q <= 1'b0;
      v2_q <= 1'b0;
      fault_q <= 1'b0;
    end else begin
      if (ready_o) v1_q <= valid_i;
      if (free2) v2_q <= grant_o;
      if (v1_q && !ok && !fault_q) begin
        fault_q <= 1'b1;
        fault_code_o <= code;
        fault_addr_o <= addr;
      end
    end
    if (ready_o && valid_i) begin
      off1_q <= off_i;
      bytes1_q <= bytes_i;
      base1_q <= base_i;
      size1_q <= size_i;
      writable1_q <= writable_i;
      write1_q <= write_i;
    end
    if (grant_o) begin
      req_addr_o <= {dev[hd_pkg::MEM_AW-1:4], 4'd0};
      req_beats_o <= beats_o;
      req_write_o <= write1_q;
    end
  end
endmodule
