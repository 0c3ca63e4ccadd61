// SPDX-License-Identifier: Apache-2.0
// hd_load_request: whatever commands it takes (any fields, also such as hd_dma_prep would not hand
// on), whatever indices SRAM gives it: a request of a load has 1 to 64 beats, stays within 4 KiB and
// in device memory, and each of its beats holds bytes of the region of the command it belongs to. No
// request is made that was not granted, none after a fault.
module hd_load_request_formal (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input hd_dma_pkg::dma_t dma_i,
    input logic             room_i,
    input logic             stop_i,
    input logic             taken_i,
    input logic             row_pop_i,
    input logic             idx_gnt_i,
    input logic [127:0]     idx_data_i,
    input logic             req_ready_i
);
  logic push, halt, grant, req_valid;
  logic [6:0] req_beats;
  logic [39:0] req_addr;
  hd_pkg::engine_fault_t cause;
  hd_load_request dut (
      .clk_i, .rst_ni, .valid_i, .ready_o(), .dma_i, .room_i, .push_o(push), .stop_i, .taken_i,
      .row_valid_o(), .row_o(), .row_pop_i, .idx_req_o(), .idx_addr_o(), .idx_gnt_i, .idx_data_i,
      .halt_o(halt), .halt_cause_o(cause), .busy_o(), .quiet_o(),
      .grant_o(grant), .beats_o(), .req_valid_o(req_valid), .req_ready_i, .req_addr_o(req_addr),
      .req_beats_o(req_beats)
  );

  // The region of the command in hand, and of the burst that was granted last.
  logic [63:0] base1_q, size1_q, base2_q, size2_q;
  logic have_q, halted_q;
  logic [1:0] grants_q;
  always_ff @(posedge clk_i) begin
    if (push) begin
      base1_q <= dma_i.base;
`ifdef BROKEN_SIZE
      size1_q <= dma_i.size - 64'd1;
`else
      size1_q <= dma_i.size;
`endif
    end
    if (grant) begin
      base2_q <= base1_q;
      size2_q <= size1_q;
    end
    if (!rst_ni) begin
      have_q <= 1'b0;
      halted_q <= 1'b0;
      grants_q <= 2'd0;
    end else begin
      if (!have_q || req_ready_i) have_q <= grant;
      if (grant && grants_q != 2'd3) grants_q <= grants_q + 2'd1;
      halted_q <= halt;
    end
  end

  logic [65:0] first, past_last, region_first, region_end;
  assign first = {26'd0, req_addr};
  assign past_last = first + {55'd0, req_beats, 4'd0};
  assign region_first = {2'd0, base2_q};
  assign region_end = {2'd0, base2_q} + {2'd0, size2_q};

  logic past_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    if (!past_q) assume (!rst_ni);
    if (past_q) begin
      assert (req_valid == have_q);
      if (halted_q) assert (!grant);
      if (req_valid) begin
        assert (req_beats >= 7'd1 && req_beats <= 7'd64);
        assert (req_addr[3:0] == 4'd0 && {1'b0, req_addr[11:4]} + {2'd0, req_beats} <= 9'd256);
        assert (past_last <= 66'h10000000000);
        assert (first + 66'd16 > region_first && past_last < region_end + 66'd16);
      end
    end
    // A run that is cut at 1 KiB and ends with its region; one that crosses the region's end behind
    // two bursts inside.
    cover (past_q && req_valid && grants_q == 2'd2 && req_beats == 7'd64 &&
           past_last == region_end);
    cover (past_q && halt && grants_q == 2'd2 && cause.code == heddle_pkg::ERROR_REGION_BOUNDS[7:0]);
  end
endmodule
