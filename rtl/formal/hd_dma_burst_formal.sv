// SPDX-License-Identifier: Apache-2.0
// hd_dma_burst: whatever is offered to it (any walk of any command, with any region entry), a
// request's bytes lie inside the region that was offered with it, inside device memory, and a write
// only goes to a region that is writable. The beats are exactly those that hold the bytes. A request
// is held as it is until it is taken; every burst that passed is requested once, in order.
module hd_dma_burst_formal (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        valid_i,
    input logic        write_i,
    input logic [39:0] off_i,
    input logic [10:0] bytes_i,
    input logic [63:0] base_i,
    input logic [63:0] size_i,
    input logic        writable_i,
    input logic        stop_i,
    input logic        go_i,
    input logic        req_ready_i
);
  logic ready, grant, fault, empty, req_valid, req_write;
  logic [39:0] req_addr, first;
  logic [6:0] beats, req_beats;
  logic [7:0] code;
  logic [63:0] addr;
  logic [63:0] size;
`ifdef BROKEN_SIZE
  assign size = size_i + 64'd1;
`else
  assign size = size_i;
`endif
  hd_dma_burst dut (
      .clk_i, .rst_ni, .valid_i, .ready_o(ready), .write_i, .off_i, .bytes_i, .base_i,
      .size_i(size), .writable_i, .stop_i, .go_i, .grant_o(grant), .beats_o(beats),
      .first_o(first), .fault_o(fault), .fault_code_o(code), .fault_addr_o(addr),
      .empty_o(empty), .req_valid_o(req_valid), .req_ready_i, .req_write_o(req_write),
      .req_addr_o(req_addr), .req_beats_o(req_beats)
  );

  // What was offered, and what of it was granted.
  logic [39:0] off1_q, off2_q;
  logic [10:0] bytes1_q, bytes2_q;
  logic [63:0] base1_q, size1_q, base2_q, size2_q;
  logic w1_q, wr1_q, w2_q, wr2_q, have1_q, have2_q;
  logic [1:0] late_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      have1_q <= 1'b0;
      have2_q <= 1'b0;
    end else begin
      if (ready) have1_q <= valid_i;
      if (!have2_q || req_ready_i) have2_q <= grant;
    end
    if (valid_i && ready) begin
      off1_q <= off_i;
      bytes1_q <= bytes_i;
      base1_q <= base_i;
      size1_q <= size_i;
      w1_q <= write_i;
      wr1_q <= writable_i;
    end
    if (grant) begin
      off2_q <= off1_q;
      bytes2_q <= bytes1_q;
      base2_q <= base1_q;
      size2_q <= size1_q;
      w2_q <= w1_q;
      wr2_q <= wr1_q;
    end
  end

  logic [64:0] region_end, device_first, device_last;
  assign region_end = {25'd0, off2_q} + {54'd0, bytes2_q};
  assign device_first = {1'b0, base2_q} + {25'd0, off2_q};
  assign device_last = device_first + {54'd0, bytes2_q} - 65'd1;

  logic past_q = 1'b0;
  logic held_q = 1'b0;
  logic [39:0] held_addr_q;
  logic [6:0] held_beats_q;
  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    held_q <= rst_ni && past_q && req_valid && !req_ready_i;
    held_addr_q <= req_addr;
    held_beats_q <= req_beats;
    if (!past_q) assume (!rst_ni);
    // The sender keeps a burst within 1 KiB (hd_load_request, hd_store_pack).
    assume (bytes_i <= 11'd1024);
    if (past_q) begin
      assert (req_valid == have2_q);
      if (grant) assert (have1_q && (!have2_q || req_ready_i) && go_i && !stop_i);
      if (req_valid) begin
        assert (bytes2_q != 11'd0);
        assert (region_end <= {1'b0, size2_q});
        assert (device_last[64:40] == 25'd0);
        assert (!req_write || wr2_q);
        assert (req_write == w2_q);
        assert (req_addr == {device_first[39:4], 4'd0});
        assert ({4'd0, req_addr[39:4]} + {33'd0, req_beats} == {4'd0, device_last[39:4]} + 40'd1);
      end
      if (held_q) begin
        assert (req_valid && req_addr == held_addr_q && req_beats == held_beats_q);
      end
      if (fault) assert (!grant);
    end
    cover (past_q && req_valid && req_beats == 7'd64);
    cover (past_q && fault && code == 8'd4);
    // At a region's end: a burst of 64 beats that ends with it, and one that begins inside, behind a
    // request that was made, and crosses it.
    cover (past_q && req_valid && req_beats == 7'd64 && region_end == {1'b0, size2_q});
    cover (past_q && req_valid && fault && code == heddle_pkg::ERROR_REGION_BOUNDS[7:0] &&
           {24'd0, off1_q} < size1_q && {25'd0, off1_q} + {54'd0, bytes1_q} > {1'b0, size1_q} &&
           off1_q == off2_q + {29'd0, bytes2_q});
  end
endmodule
