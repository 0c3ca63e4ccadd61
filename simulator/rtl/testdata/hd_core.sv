// SPDX-License-Identifier: Apache-2.0
// A core that executes nothing, with the ports of the real one, for the test of
// the wrapper around it (verilated_core.h) and of device memory's timing: it
// reads its stream in bursts of up to BURST beats, as fast as the memory gives
// them, adds up the 32-bit words of each beat's first lane, writes the sum to
// word 3 of its SRAM and to the first beat of region 1, and ends. Word 0 of the
// stream chooses: 1 = it ends only when aborted. Its trace is one entry, in the
// cycle in which it ends.
module hd_core #(
    parameter int BANKS = 16,
    parameter int WORDS = 2048,
    parameter int BURST = 64
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         start_i,
    input  logic [39:0]  stream_addr_i,
    input  logic [31:0]  stream_bytes_i,
    input  logic         region_we_i,
    input  logic [3:0]   region_index_i,
    input  logic [63:0]  region_base_i,
    input  logic [63:0]  region_size_i,
    input  logic         region_writable_i,
    input  logic         abort_i,
    input  logic         clear_i,
    input  logic         hang_i,
    output logic         busy_o,
    output logic         done_o,
    output logic [7:0]   status_o,
    output logic [134:0] fault_o,
    output logic [63:0]  commands_o,
    output logic [63:0]  macs_o,
    output logic [63:0]  bytes_loaded_o,
    output logic [63:0]  bytes_stored_o,
    output logic [63:0]  cycles_o,
    output logic [63:0]  matrix_busy_o,
    output logic [63:0]  vector_busy_o,
    output logic [63:0]  dma_busy_o,
    output logic [31:0]  progress_o,
    output logic [5:0]   sram_corrected_o,
    input  logic         trace_on_i,
    input  logic         trace_new_i,
    input  logic [31:0]  trace_cycle_i,
    output logic [31:0]  trace_count_o,
    output logic         trace_valid_o,
    input  logic         trace_ready_i,
    output logic [31:0]  trace_index_o,
    output logic [255:0] trace_entry_o,
    output logic         mem_req_valid_o,
    input  logic         mem_req_ready_i,
    output logic         mem_req_write_o,
    output logic [39:0]  mem_req_addr_o,
    output logic [6:0]   mem_req_beats_o,
    output logic         mem_w_valid_o,
    input  logic         mem_w_ready_i,
    output logic [127:0] mem_w_data_o,
    output logic [15:0]  mem_w_strb_o,
    input  logic         mem_r_valid_i,
    output logic         mem_r_ready_o,
    input  logic [127:0] mem_r_data_i,
    input  logic         mem_r_error_i,
    input  logic         mem_b_valid_i,
    input  logic         mem_b_error_i,
    input  logic         m0_req_valid_i,
    input  logic         m0_w_valid_i,
    input  logic         m0_r_ready_i
);
  localparam [7:0] OK = 8'd0, BUS_ERROR = 8'd9, ABORTED = 8'd11;

  logic running_q, error_q, endless_q, asked_write_q, sent_q, first_q;
  logic [31:0] to_ask_q, to_get_q, sum_q;
  logic [39:0] next_q;
  logic [63:0] fault_addr_q;
  logic [63:0] base1_q, size1_q;
  logic [10:0] clearing_q;

  // Beats up to the end of the stream, the page and the largest burst.
  wire [31:0] page = 32'd256 - {24'd0, next_q[11:4]};
  wire [31:0] most = to_ask_q < BURST ? to_ask_q : BURST;
  wire [31:0] beats = most < page ? most : page;
  wire get = running_q && mem_r_valid_i;
  wire read_all = to_get_q == 0;
  wire ended = running_q && read_all && (size1_q == 0 || (sent_q && mem_b_valid_i) || error_q) && !endless_q;
  wire stopped = running_q && read_all && abort_i && endless_q;

  assign trace_count_o = {31'd0, trace_new_i};
  assign trace_valid_o = trace_on_i && trace_ready_i && ended;
  assign trace_index_o = 32'd7;
  assign trace_entry_o = {224'd0, trace_cycle_i};

  assign busy_o = running_q || clearing_q != 0;
  assign mem_req_valid_o = running_q && !hang_i &&
      (to_ask_q != 0 || (read_all && size1_q != 0 && !asked_write_q && !endless_q && !error_q));
  assign mem_req_write_o = to_ask_q == 0;
  assign mem_req_addr_o = to_ask_q != 0 ? next_q : base1_q[39:0];
  assign mem_req_beats_o = to_ask_q != 0 ? beats[6:0] : 7'd1;
  assign mem_w_valid_o = asked_write_q && !sent_q;
  assign mem_w_data_o = {96'd0, sum_q};
  assign mem_w_strb_o = 16'h000f;
  assign mem_r_ready_o = 1'b1;
  wire write_sram = ended && !error_q;

  always_ff @(posedge clk_i) begin
    done_o <= 1'b0;
    if (!rst_ni) begin
      running_q <= 1'b0;
      clearing_q <= 0;
      progress_o <= 0;
      size1_q <= 0;
    end else begin
      if (region_we_i && region_index_i == 4'd1) begin
        base1_q <= region_base_i;
        size1_q <= region_writable_i ? region_size_i : 64'd0;
      end
      if (clear_i) clearing_q <= 11'd1024;
      else if (clearing_q != 0) clearing_q <= clearing_q - 1;
      if (start_i) begin
        running_q <= 1'b1;
        next_q <= stream_addr_i;
        to_ask_q <= stream_bytes_i / 16;
        to_get_q <= stream_bytes_i / 16;
        sum_q <= 0;
        error_q <= 1'b0;
        endless_q <= 1'b0;
        asked_write_q <= 1'b0;
        sent_q <= 1'b0;
        first_q <= 1'b1;
        cycles_o <= 0;
        bytes_loaded_o <= 0;
        dma_busy_o <= 0;
      end
      if (running_q) begin
        cycles_o <= cycles_o + 1;
        if (mem_req_valid_o && mem_req_ready_i) begin
          if (mem_req_write_o) asked_write_q <= 1'b1;
          else begin
            next_q <= next_q + {4'd0, beats, 4'd0};
            to_ask_q <= to_ask_q - beats;
          end
        end
        if (mem_w_valid_o && mem_w_ready_i) sent_q <= 1'b1;
        if (get) begin
          to_get_q <= to_get_q - 1;
          sum_q <= sum_q + mem_r_data_i[31:0];
          bytes_loaded_o <= bytes_loaded_o + 16;
          dma_busy_o <= dma_busy_o + 1;
          if (first_q) endless_q <= mem_r_data_i[31:0] == 1;
          first_q <= 1'b0;
          if (mem_r_error_i) begin
            error_q <= 1'b1;
            fault_addr_q <= {24'd0, next_q};
          end
        end
        if (sent_q && mem_b_valid_i && mem_b_error_i) error_q <= 1'b1;
        if (ended || stopped) begin
          running_q <= 1'b0;
          done_o <= 1'b1;
          progress_o <= progress_o + 1;
          status_o <= stopped ? ABORTED : error_q || (mem_b_valid_i && mem_b_error_i) ? BUS_ERROR : OK;
        end
      end
    end
  end
  assign sram_corrected_o = 6'd0;
  // hd_pkg::stream_fault_t: engine, region, offset, tag, address.
  assign fault_o = {3'd1, 4'd2, 32'd4, 32'd5, fault_addr_q};
  assign commands_o = 64'd1;
  assign macs_o = 64'd0;
  assign bytes_stored_o = 64'd4;
  assign matrix_busy_o = 64'd0;
  assign vector_busy_o = 64'd0;

  // What an observer looks at: the load engine writes SRAM word 3, and in the cycle before it reads
  // word 5 and reaches its read point.
  logic [18:0] gnt;
  logic load_read, store_read, matrix_read, vector_read;
  logic read_sram;
  assign read_sram = sent_q && !mem_b_valid_i && !read_q;
  assign gnt = {1'b0, write_sram || read_sram, 17'd0};
  assign {load_read, store_read, matrix_read, vector_read} = {read_sram, 3'd0};
  logic read_q;
  always_ff @(posedge clk_i) read_q <= sent_q && !start_i;
  logic [3:0] probe_accept, probe_done;
  logic [2:0] probe_wait;
  logic [18:0] probe_sram_we;
  logic [19*16-1:0] probe_sram_addr, probe_sram_wstrb;
  logic [19*128-1:0] probe_sram_wdata;
  always_comb begin
    probe_wait = {2'd0, running_q && !read_all};
    probe_accept = {3'd0, start_i};
    probe_done = {3'd0, write_sram};
    probe_sram_we = {1'b0, write_sram, 17'd0};
    probe_sram_addr = 0;
    probe_sram_wstrb = 0;
    probe_sram_wdata = 0;
    probe_sram_addr[16*17+:16] = write_sram ? 16'd3 : 16'd5;
    probe_sram_wstrb[16*17+:16] = 16'h000f;
    probe_sram_wdata[128*17+:32] = sum_q;
  end
  for (genvar b = 0; b < BANKS; b = b + 1) begin : g_bank
    hd_sram_bank #(.WORDS(WORDS)) u_bank (
        .clk_i, .rst_ni, .clear_i(1'b0),
        .en_i(b == 3 && write_sram),
        .we_i(1'b1),
        .part_i(1'b0),  // the rest of a part would be written a cycle later
        .addr_i({$clog2(WORDS){1'b0}}),
        .wdata_i(probe_sram_wdata[128*17+:128]),
        .wstrb_i(16'h000f),
        .busy_o(), .rdata_o(), .syndrome_o(), .corrected_o(), .failed_o(), .failed_addr_o()
    );
  end
  hd_matrix_seq u_seq (.step_i(get));
endmodule

// The signal that tells of the matrix engine's steps: here, a beat of the stream.
module hd_matrix_seq (
    input logic step_i
);
  logic step;
  assign step = step_i;
endmodule
