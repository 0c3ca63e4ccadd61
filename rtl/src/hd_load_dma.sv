// SPDX-License-Identifier: Apache-2.0
// SRAM side of the load DMA: writes a stream of 16-byte words to successive SRAM words.
//
// start_i with base_i and count_i begins a transfer (busy_o low); words come in by valid/ready
// through a
// FIFO of DEPTH words, one per cycle, and leave one per cycle when the bank is free. A request that
// has waited AGE cycles becomes urgent, so the DMA cannot starve behind the array's streams.
// busy_o falls when the last word is visible.
module hd_load_dma #(
    parameter int DEPTH = 16,
    parameter int AGE = 16
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         start_i,
    input  logic [hd_matrix_pkg::AW-1:0] base_i,
    input  logic [15:0]                  count_i,
    output logic                         busy_o,
    input  logic                         valid_i,
    output logic                         ready_o,
    input  logic [127:0]                 data_i,
    output logic                         req_o,
    output logic                         urgent_o,
    output logic [hd_matrix_pkg::AW-1:0] addr_o,
    output logic [127:0]                 wdata_o,
    input  logic                         gnt_i
);
  localparam int IW = $clog2(DEPTH);
  logic [127:0] mem_q [0:DEPTH-1];
  logic [IW-1:0] wp_q, rp_q;
  logic [7:0] level_q, age_q;
  logic [15:0] in_q, out_q;  // words still to come in, to go out
  logic [hd_matrix_pkg::AW-1:0] addr_q;
  logic push;
  assign ready_o = (in_q != 16'd0) && (level_q < 8'(DEPTH));
  assign push = valid_i && ready_o;
  assign req_o = (level_q != 8'd0);
  assign urgent_o = (age_q >= 8'(AGE));
  assign addr_o = addr_q;
  assign wdata_o = mem_q[rp_q];
  assign busy_o = (out_q != 16'd0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wp_q <= '0;
      rp_q <= '0;
      level_q <= 8'd0;
      age_q <= 8'd0;
      in_q <= 16'd0;
      out_q <= 16'd0;
    end else begin
      if (start_i && !busy_o) begin
        in_q <= count_i;
        out_q <= count_i;
      end else begin
        if (push) in_q <= in_q - 16'd1;
        if (gnt_i) out_q <= out_q - 16'd1;
      end
      if (push) wp_q <= wp_q + IW'(1);
      if (gnt_i) rp_q <= rp_q + IW'(1);
      level_q <= level_q + {7'd0, push} - {7'd0, gnt_i};
      age_q <= (req_o && !gnt_i) ? age_q + {7'd0, age_q != 8'd255} : 8'd0;
    end
    if (push) mem_q[wp_q] <= data_i;
    if (start_i && !busy_o) addr_q <= base_i;
    else if (gnt_i) addr_q <= addr_q + 16'd1;
  end
endmodule
