// SPDX-License-Identifier: Apache-2.0
// Bench: matrix engine, SRAM and load DMA, wired as in the core; a store client for reading back.
// The command's fields are single ports so that the test need not know the packing.
module hd_core_bench #(
    parameter int C = 16,
    parameter int K = 16,
    parameter int BANKS = 16,
    parameter int WORDS = 2048,
    parameter int EW = 16
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         cmd_valid_i,
    output logic         cmd_ready_o,
    output logic         idle_o,
    input  logic [1:0]   mode,
    input  logic         barrier,
    input  logic         a_signed,
    input  logic         w_signed,
    input  logic [8:0]   za,
    input  logic [8:0]   zw,
    input  logic [15:0]  ibase,
    input  logic [15:0]  ipitch,
    input  logic [15:0]  iplane,
    input  logic [15:0]  ixstep,
    input  logic [15:0]  iw,
    input  logic [15:0]  ih,
    input  logic [15:0]  iy0,
    input  logic [15:0]  pl,
    input  logic [15:0]  ow,
    input  logic [15:0]  oh,
    input  logic [15:0]  srows,
    input  logic [7:0]   kh,
    input  logic [7:0]   kw,
    input  logic [7:0]   sy,
    input  logic [7:0]   sx,
    input  logic [7:0]   dy,
    input  logic [7:0]   dx,
    input  logic [7:0]   cib,
    input  logic [7:0]   cob,
    input  logic [3:0]   cpix,
    input  logic [15:0]  wbase,
    input  logic [15:0]  pbase,
    input  logic [15:0]  obase,
    input  logic [15:0]  opitch,
    input  logic [15:0]  oplane,
    input  logic [15:0]  oxstep,
    input  logic [8:0]   ozp,
    input  logic [8:0]   olo,
    input  logic [8:0]   ohi,
    // load DMA
    input  logic         dma_start_i,
    input  logic [15:0]  dma_base_i,
    input  logic [15:0]  dma_count_i,
    output logic         dma_busy_o,
    input  logic         dma_valid_i,
    output logic         dma_ready_o,
    input  logic [127:0] dma_data_i,
    // store client: data two cycles after the grant
    input  logic         rd_req_i,
    input  logic [15:0]  rd_addr_i,
    output logic         rd_gnt_o,
    output logic [127:0] rd_data_o,
    // counters
    output logic         busy_o,
    output logic         wait_weight_o,
    output logic         wait_operand_o,
    output logic         wait_output_o
);
  localparam int N = 14;
  localparam int AW = hd_matrix_pkg::AW;
  hd_matrix_pkg::mcmd_t cmd;
  always_comb begin
    cmd.mode = mode;
    cmd.barrier = barrier;
    cmd.a_signed = a_signed;
    cmd.w_signed = w_signed;
    cmd.za = za;
    cmd.zw = zw;
    cmd.ibase = ibase;
    cmd.ipitch = ipitch;
    cmd.iplane = iplane;
    cmd.ixstep = ixstep;
    cmd.iw = iw;
    cmd.ih = ih;
    cmd.iy0 = iy0;
    cmd.pl = pl;
    cmd.ow = ow;
    cmd.oh = oh;
    cmd.srows = srows;
    cmd.kh = kh;
    cmd.kw = kw;
    cmd.sy = sy;
    cmd.sx = sx;
    cmd.dy = dy;
    cmd.dx = dx;
    cmd.cib = cib;
    cmd.cob = cob;
    cmd.cpix = cpix;
    cmd.wbase = wbase;
    cmd.pbase = pbase;
    cmd.obase = obase;
    cmd.opitch = opitch;
    cmd.oplane = oplane;
    cmd.oxstep = oxstep;
    cmd.ozp = ozp;
    cmd.olo = olo;
    cmd.ohi = ohi;
  end

  logic [N-1:0] req, urgent, gnt;
  logic [N*AW-1:0] addr;
  logic [N*128-1:0] rdata;
  logic [255:0] out_wdata;
  logic [127:0] dma_wdata;
  hd_matrix_engine #(
      .C(C),
      .K(K),
      .EW(EW)
  ) u_engine (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .cmd_valid_i   (cmd_valid_i),
      .cmd_ready_o   (cmd_ready_o),
      .cmd_i         (cmd),
      .idle_o        (idle_o),
      .req_o         (req[11:0]),
      .urgent_o      (urgent[11:0]),
      .addr_o        (addr[12*AW-1:0]),
      .wdata_o       (out_wdata),
      .gnt_i         (gnt[11:0]),
      .rdata_i       (rdata[12*128-1:0]),
      .busy_o        (busy_o),
      .wait_weight_o (wait_weight_o),
      .wait_operand_o(wait_operand_o),
      .wait_output_o (wait_output_o)
  );
  hd_load_dma u_load (
      .clk_i   (clk_i),
      .rst_ni  (rst_ni),
      .start_i (dma_start_i),
      .base_i  (dma_base_i),
      .count_i (dma_count_i),
      .busy_o  (dma_busy_o),
      .valid_i (dma_valid_i),
      .ready_o (dma_ready_o),
      .data_i  (dma_data_i),
      .req_o   (req[12]),
      .urgent_o(urgent[12]),
      .addr_o  (addr[12*AW +: AW]),
      .wdata_o (dma_wdata),
      .gnt_i   (gnt[12])
  );
  assign req[13] = rd_req_i;
  assign urgent[13] = 1'b0;
  assign addr[13*AW +: AW] = rd_addr_i;
  assign rd_gnt_o = gnt[13];
  assign rd_data_o = rdata[13*128 +: 128];
  hd_sram #(
      .N(N),
      .BANKS(BANKS),
      .WORDS(WORDS),
      .WRITES (14'b01_0000_0000_0011),
      .READS  (14'b10_1111_1111_1100),
      .MASKED (14'd0),
      .ROUND2 (14'b00_0011_1111_1100),
      .CHAIN  (14'b00_1010_1010_1010)
  ) u_sram (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .clear_i     (1'b0),
      .clear_busy_o(),
      .req_i       (req),
      .urgent_i    (urgent),
      .we_i        (14'b01_0000_0000_0011),
      .addr_i      (addr),
      .wdata_i     ({128'd0, dma_wdata, {10{128'd0}}, out_wdata}),
      .wstrb_i     ('1),
      .gnt_o       (gnt),
      .rdata_o     (rdata)
  );
endmodule
