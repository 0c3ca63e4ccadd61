// SPDX-License-Identifier: Apache-2.0
// Unified SRAM: BANKS single-port banks of 16-byte words, interleaved by word address. Each word is
// protected by a code that corrects one wrong bit and finds two (hd_sram_bank).
//
//   client 0 .. N-1 --> arbiter --> bank request registers --> banks --> read multiplexer per
//   client
//        cycle 0            cycle 0               cycle 1        cycle 2
//
// A request (req, addr, and for a client in WRITES we, wdata and, if in MASKED, wstrb) is held
// until granted. Read data of a grant in cycle t is valid in cycle t + 2. Requests to one bank are
// served in the order of their grants, so a write is visible to every read granted after it.
// A bank grants nothing in the cycle after a write of a part of a word, and for two cycles or more when
// it writes back a word that a reader got corrected.
// Addresses are inside the SRAM: the clients compare bounds.
// corrected_o: so many words were repaired; failed_o, with the address:
// a word with two wrong bits was read (of several in one cycle, that of the lowest bank), three cycles
// after the grant.
// clear_i zeroes everything, one word of every bank per cycle (WORDS cycles, clear_busy_o); no
// client may ask meanwhile.
module hd_sram #(
    parameter int N = hd_pkg::SRAM_CLIENTS,
    parameter int BANKS = 16,
    parameter int WORDS = 2048,  // per bank
    parameter logic [N-1:0] WRITES = hd_pkg::SRAM_WRITES,
    parameter logic [N-1:0] READS = hd_pkg::SRAM_READS,
    parameter logic [N-1:0] MASKED = hd_pkg::SRAM_MASKED,
    parameter logic [N-1:0] ROUND2 = hd_pkg::SRAM_ROUND2,
    parameter logic [N-1:0] CHAIN = hd_pkg::SRAM_CHAIN
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   clear_i,
    output logic                   clear_busy_o,
    input  logic [N-1:0]           req_i,
    input  logic [N-1:0]           urgent_i,
    input  logic [N-1:0]           we_i,
    input  logic [N*hd_pkg::AW-1:0] addr_i,
    input  logic [N*128-1:0]       wdata_i,
    input  logic [N*16-1:0]        wstrb_i,
    output logic [N-1:0]           gnt_o,
    output logic [N*128-1:0]       rdata_o,
    output logic [$clog2(BANKS):0] corrected_o,
    output logic                   failed_o,
    output logic [hd_pkg::AW-1:0]  failed_addr_o
);
  localparam int BB = $clog2(BANKS);
  localparam int WB = $clog2(WORDS);
  localparam int AW = hd_pkg::AW;

  logic [N*BB-1:0] bank;
  for (genvar i = 0; i < N; i++) begin : g_bank_of
    assign bank[BB*i +: BB] = addr_i[AW*i +: BB];
  end
  logic [N-1:0] gnt;
  logic [BANKS-1:0] busy;
  hd_sram_arbiter #(
      .N(N),
      .BANKS(BANKS),
      .ROUND2(ROUND2),
      .CHAIN(CHAIN)
  ) u_arbiter (
      .req_i   (req_i),
      .urgent_i(urgent_i),
      .bank_i  (bank),
      .busy_i  (busy),
      .gnt_o   (gnt)
  );
  assign gnt_o = gnt;

  logic clear_q;
  logic [WB-1:0] clear_row_q;
  assign clear_busy_o = clear_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) clear_q <= 1'b0;
    else if (clear_i) clear_q <= 1'b1;
    else if (clear_row_q == '1) clear_q <= 1'b0;
    if (clear_q) clear_row_q <= clear_row_q + WB'(1);
    else clear_row_q <= '0;
  end

  // Request crossbar: at most one grant per bank.
  logic [BANKS-1:0] en, we, part;
  logic [WB-1:0] row [0:BANKS-1];
  logic [127:0] wdata [0:BANKS-1];
  logic [15:0] wstrb [0:BANKS-1];
  logic [127:0] rdata [0:BANKS-1];
  logic [BANKS-1:0] corrected, failed, wrong;
  logic [8:0] syndrome [0:BANKS-1];
  logic [WB-1:0] failed_row [0:BANKS-1];
  logic [BB-1:0] b;
  always_comb begin
    en = '0;
    we = '0;
    part = '0;
    b = '0;
    for (int i = 0; i < BANKS; i++) begin
      row[i] = clear_row_q;
      wdata[i] = '0;
      wstrb[i] = '1;
    end
    if (clear_q) begin
      en = '1;
      we = '1;
    end else
      for (int i = 0; i < N; i++)
        if (gnt[i]) begin
          b = bank[BB*i +: BB];
          en[b] = 1'b1;
          row[b] = addr_i[AW*i+BB +: WB];
          if (WRITES[i] && we_i[i]) begin
            we[b] = 1'b1;
            wdata[b] = wdata_i[128*i +: 128];
            if (MASKED[i]) begin
              wstrb[b] = wstrb_i[16*i +: 16];
              part[b] = wstrb_i[16*i +: 16] != '1;
            end
          end
        end
  end
  for (genvar i = 0; i < BANKS; i++) begin : g_bank
    hd_sram_bank #(
        .WORDS(WORDS)
    ) u_bank (
        .clk_i        (clk_i),
        .rst_ni       (rst_ni),
        .clear_i      (clear_q),
        .en_i         (en[i]),
        .we_i         (we[i]),
        .part_i       (part[i]),
        .addr_i       (row[i]),
        .wdata_i      (wdata[i]),
        .wstrb_i      (wstrb[i]),
        .busy_o       (busy[i]),
        .rdata_o      (rdata[i]),
        .syndrome_o   (syndrome[i]),
        .corrected_o  (corrected[i]),
        .failed_o     (failed[i]),
        .failed_addr_o(failed_row[i])
    );
    assign wrong[i] = syndrome[i] != '0;
  end

  // Errors. Most cycles have none: for the simulation.
  always_comb begin
    corrected_o = '0;
    failed_addr_o = '0;
    if (corrected != '0)
      for (int i = 0; i < BANKS; i++) corrected_o = corrected_o + (BB + 1)'(corrected[i]);
    if (failed != '0)
      for (int i = BANKS - 1; i >= 0; i--)
        if (failed[i]) failed_addr_o = AW'({failed_row[i], BB'(i)});
  end
  assign failed_o = (failed != '0);

  // Read multiplexers, and correction: the bank of the grant two cycles ago.
  logic [N*BB-1:0] bank1_q, bank2_q;
  always_ff @(posedge clk_i) begin
    bank1_q <= bank;
    bank2_q <= bank1_q;
  end
  for (genvar i = 0; i < N; i++) begin : g_read
    if (READS[i]) begin : g_mux
      always_comb begin
        rdata_o[128*i +: 128] = rdata[bank2_q[BB*i +: BB]];
        // The condition is for the simulation.
        if (wrong != '0)
          rdata_o[128*i +: 128] = rdata[bank2_q[BB*i +: BB]]
              ^ hd_secded_pkg::flips(syndrome[bank2_q[BB*i +: BB]]);
      end
    end else begin : g_none
      assign rdata_o[128*i +: 128] = '0;
    end
  end
endmodule
