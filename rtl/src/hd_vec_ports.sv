// SPDX-License-Identifier: Apache-2.0
// The vector engine's four SRAM ports: one line (64 bytes, four neighbouring words) per cycle, read or
// written; port p has word p of every line.
//
//   cycle t    a line is taken from one of the requesters (readers in turn, then the store
//              path: a full store queue stops the readers by itself)
//   cycle t+1  the words that are needed are requested, each until its grant; with all grants in one
//              cycle the next line is taken in that cycle
//   grant + 2  a read word goes to who asked (fill_o, source_o, bank_o, way_o)
//
// stop_i: nothing new is requested (after a fault).
module hd_vec_ports (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        stop_i,
    // readers 0..4: SRC_* of hd_vec_pkg
    input  logic [4:0]                  req_i,
    input  logic [5*hd_vec_pkg::LA-1:0] line_i,
    input  logic [14:0]                 way_i,
    output logic [4:0]                  ack_o,
    // writer
    input  logic                        wreq_i,
    input  logic [hd_vec_pkg::LA-1:0]   wline_i,
    input  logic [511:0]                wdata_i,
    input  logic [63:0]                 wstrb_i,
    output logic                        wack_o,
    // words that arrive
    output logic [3:0]                  fill_o,
    output logic [11:0]                 source_o,
    output logic [3:0]                  bank_o,
    output logic [11:0]                 slot_o,
    output logic                        reads_o,   // lines or words under way to readers
    output logic                        writes_o,  // a line is being written
    // SRAM
    output logic [3:0]                  sram_req_o,
    output logic                        sram_we_o,
    output logic [4*hd_pkg::AW-1:0]     sram_addr_o,
    output logic [511:0]                sram_wdata_o,
    output logic [63:0]                 sram_wstrb_o,
    input  logic [3:0]                  sram_gnt_i
);
  localparam int LA = hd_vec_pkg::LA;

  logic [3:0] pend_q, got1_q, got2_q;
  logic we_q;
  logic [LA-1:0] line_q;
  logic [511:0] data_q;
  logic [63:0] strb_q;
  logic [2:0] source_q, way_q, last_q;
  logic [6:0] what1_q [0:3];  // source, bank, way of the word granted one cycle ago
  logic [6:0] what2_q [0:3];
  logic free;
  assign free = (pend_q & ~sram_gnt_i) == 0 && !stop_i;

  // The reader behind the last one first.
  logic [2:0] pick, p;
  logic any;
  always_comb begin
    pick = 3'd0;
    p = 3'd0;
    any = 1'b0;
    if (req_i != 0 && free) begin
      for (int k = 4; k >= 0; k--) begin
        p = (last_q >= 3'd4 - k[2:0]) ? last_q - (3'd4 - k[2:0]) : last_q + 3'd1 + k[2:0];
        if (req_i[p]) begin
          pick = p;
          any = 1'b1;
        end
      end
    end
  end
  assign wack_o = wreq_i && free && req_i == 0;
  assign ack_o = any ? 5'd1 << pick : 5'd0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pend_q <= '0;
      got1_q <= '0;
      got2_q <= '0;
      last_q <= '0;
    end else begin
      pend_q <= pend_q & ~sram_gnt_i;
      if (wack_o) begin
        for (int i = 0; i < 4; i++) pend_q[i] <= wstrb_i[16*i +: 16] != 0;
      end else if (any) begin
        pend_q <= 4'hf;
        last_q <= pick;
      end
      got1_q <= we_q ? 4'd0 : pend_q & sram_gnt_i;
      got2_q <= got1_q;
    end
    if (wack_o) begin
      we_q <= 1'b1;
      line_q <= wline_i;
      data_q <= wdata_i;
      strb_q <= wstrb_i;
    end else if (any) begin
      we_q <= 1'b0;
      line_q <= line_i[LA*pick +: LA];
      source_q <= pick;
      way_q <= way_i[3*pick +: 3];
    end
    for (int i = 0; i < 4; i++) begin
      if (pend_q[i] && sram_gnt_i[i]) what1_q[i] <= {source_q, line_q[0], way_q};
      if (got1_q[i]) what2_q[i] <= what1_q[i];
    end
  end

  for (genvar i = 0; i < 4; i++) begin : g_port
    assign sram_addr_o[hd_pkg::AW*i +: hd_pkg::AW] = {line_q, 2'(i)};
    assign source_o[3*i +: 3] = what2_q[i][6:4];
    assign bank_o[i] = what2_q[i][3];
    assign slot_o[3*i +: 3] = what2_q[i][2:0];
  end
  assign sram_req_o = pend_q;
  assign sram_we_o = we_q;
  assign sram_wdata_o = data_q;
  assign sram_wstrb_o = strb_q;
  assign fill_o = got2_q;
  assign reads_o = (pend_q != 0 && !we_q) || got1_q != 0 || got2_q != 0;
  assign writes_o = pend_q != 0 && we_q;
endmodule
