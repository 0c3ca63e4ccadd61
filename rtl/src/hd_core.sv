// SPDX-License-Identifier: Apache-2.0
// The accelerator core: one command stream at a time, from device memory to device memory.
//
//   device memory port <- hd_mem_arbiter <- stream fetch, load engine, store engine, master 0
//   hd_command_processor: fetch, decode, dispatch, semaphores, faults, counters
//      -> hd_load_engine, hd_store_engine, hd_matrix_engine, hd_vector_engine (engine ports)
//   engines <-> hd_sram (clients: hd_pkg); DMA engines -> hd_region_table
//
// Job side, results and the rules for start_i, abort_i, clear_i, hang_i: hd_command_processor.
// Master 0 of the memory port belongs to whoever surrounds the core (job front end, copy engine);
// tie its req_valid low where nobody does.
// The configuration is one parameter, CONFIG (heddle_pkg::CONFIG_*); all sizes follow from it.
// Trace of a job (hd_trace): with trace_on_i low nothing of it has a clock. trace_cycle_i is what its
// entries count in.
// sram_corrected_o: words of SRAM that were found with a wrong bit and repaired, in each cycle.
// probe_* are what lockstep and traces look at; nothing else uses them.
module hd_core #(
    parameter logic [31:0] CONFIG = heddle_pkg::CONFIG_H256
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    // job side
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
    output hd_pkg::stream_fault_t fault_o,
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
    // trace
    input  logic         trace_on_i,
    input  logic         trace_new_i,
    input  logic [31:0]  trace_cycle_i,
    output logic [31:0]  trace_count_o,
    output logic         trace_valid_o,
    input  logic         trace_ready_i,
    output logic [31:0]  trace_index_o,
    output logic [8*heddle_pkg::TRACE_ENTRY_BYTES-1:0] trace_entry_o,
    // memory port of device memory
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
    // master 0 of it
    input  logic         m0_req_valid_i,
    output logic         m0_req_ready_o,
    input  logic         m0_req_write_i,
    input  logic [39:0]  m0_req_addr_i,
    input  logic [6:0]   m0_req_beats_i,
    input  logic         m0_w_valid_i,
    output logic         m0_w_ready_o,
    input  logic [127:0] m0_w_data_i,
    input  logic [15:0]  m0_w_strb_i,
    output logic         m0_r_valid_o,
    input  logic         m0_r_ready_i,
    output logic [127:0] m0_r_data_o,
    output logic         m0_r_error_o,
    output logic         m0_b_valid_o,
    output logic         m0_b_error_o
);
  localparam int C = heddle_pkg::cfg_lanes_in(CONFIG);
  localparam int K = heddle_pkg::cfg_lanes_out(CONFIG);
  localparam int BANKS = heddle_pkg::cfg_sram_banks(CONFIG);
  localparam int SRAM_BYTES = heddle_pkg::cfg_sram_bytes(CONFIG);
  localparam int SRAM_WORDS = SRAM_BYTES / 16;
  localparam int ACC_DEPTH = heddle_pkg::cfg_acc_pixels(CONFIG);
  localparam int N = hd_pkg::SRAM_CLIENTS;
  localparam int AW = hd_pkg::AW;

  // Command processor.
  logic stop, engine_rst_n, sram_clear, sram_clear_busy, sram_failed;
  logic [AW-1:0] sram_failed_addr;
  logic load_cmd_valid, load_cmd_ready, load_read, load_done, load_fault, load_idle, load_busy;
  logic [32*heddle_pkg::LOAD_WORDS-1:0] load_cmd;
  logic store_cmd_valid, store_cmd_ready, store_read, store_done, store_fault, store_idle, store_busy;
  logic [32*heddle_pkg::STORE_WORDS-1:0] store_cmd;
  logic matrix_cmd_valid, matrix_cmd_ready, matrix_read, matrix_done, matrix_fault, matrix_idle, matrix_busy;
  logic [32*heddle_pkg::CONV_WORDS-1:0] matrix_cmd;
  logic vector_cmd_valid, vector_cmd_ready, vector_read, vector_done, vector_fault, vector_idle, vector_busy;
  logic [32*heddle_pkg::VRUN_WORDS-1:0] vector_cmd;
  hd_pkg::engine_fault_t load_fault_cause, store_fault_cause, matrix_fault_cause, vector_fault_cause;
  logic [63:0] matrix_macs, vector_macs;
  logic [7:0] load_bytes, store_bytes;
  logic load_quiet, store_quiet;
  logic fetch_req_valid, fetch_req_ready, fetch_r_valid, fetch_r_ready;
  logic [39:0] fetch_req_addr;
  logic [6:0] fetch_req_beats;
  logic trace_clear;
  logic [3:0] trace_retire;
  logic [4*hd_pkg::COMMAND_ID_BITS-1:0] trace_command;
  logic [127:0] r_data;
  logic r_error, b_error;
  hd_command_processor #(
      .K(K),
      .ACC_DEPTH(ACC_DEPTH)
  ) u_commands (
      .clk_i                (clk_i),
      .rst_ni               (rst_ni),
      .start_i              (start_i),
      .stream_addr_i        (stream_addr_i),
      .stream_bytes_i       (stream_bytes_i),
      .abort_i              (abort_i),
      .clear_i              (clear_i),
      .hang_i               (hang_i),
      .busy_o               (busy_o),
      .done_o               (done_o),
      .status_o             (status_o),
      .fault_o              (fault_o),
      .commands_o           (commands_o),
      .macs_o               (macs_o),
      .bytes_loaded_o       (bytes_loaded_o),
      .bytes_stored_o       (bytes_stored_o),
      .cycles_o             (cycles_o),
      .matrix_busy_o        (matrix_busy_o),
      .vector_busy_o        (vector_busy_o),
      .dma_busy_o           (dma_busy_o),
      .progress_o           (progress_o),
      .trace_clear_o        (trace_clear),
      .trace_retire_o       (trace_retire),
      .trace_command_o      (trace_command),
      .sram_clear_o         (sram_clear),
      .sram_clear_busy_i    (sram_clear_busy),
      .sram_failed_i        (sram_failed),
      .sram_failed_addr_i   ({{60-AW{1'b0}}, sram_failed_addr, 4'd0}),
      .mem_req_valid_o      (fetch_req_valid),
      .mem_req_ready_i      (fetch_req_ready),
      .mem_req_addr_o       (fetch_req_addr),
      .mem_req_beats_o      (fetch_req_beats),
      .mem_r_valid_i        (fetch_r_valid),
      .mem_r_ready_o        (fetch_r_ready),
      .mem_r_data_i         (r_data),
      .mem_r_error_i        (r_error),
      .stop_o               (stop),
      .engine_rst_no        (engine_rst_n),
      .load_cmd_valid_o     (load_cmd_valid),
      .load_cmd_ready_i     (load_cmd_ready),
      .load_cmd_o           (load_cmd),
      .load_read_i          (load_read),
      .load_done_i          (load_done),
      .load_fault_i         (load_fault),
      .load_fault_cause_i   (load_fault_cause),
      .load_idle_i          (stop ? load_quiet : load_idle),
      .load_busy_i          (load_busy),
      .load_bytes_valid_i   (load_bytes != 8'd0),
      .load_bytes_i         (load_bytes[6:0]),
      .store_cmd_valid_o    (store_cmd_valid),
      .store_cmd_ready_i    (store_cmd_ready),
      .store_cmd_o          (store_cmd),
      .store_read_i         (store_read),
      .store_done_i         (store_done),
      .store_fault_i        (store_fault),
      .store_fault_cause_i  (store_fault_cause),
      .store_idle_i         (stop ? store_quiet : store_idle),
      .store_busy_i         (store_busy),
      .store_bytes_valid_i  (store_bytes != 8'd0),
      .store_bytes_i        (store_bytes[6:0]),
      .matrix_cmd_valid_o   (matrix_cmd_valid),
      .matrix_cmd_ready_i   (matrix_cmd_ready),
      .matrix_cmd_o         (matrix_cmd),
      .matrix_read_i        (matrix_read),
      .matrix_done_i        (matrix_done),
      .matrix_macs_i        (matrix_macs),
      .matrix_fault_i       (matrix_fault),
      .matrix_fault_cause_i (matrix_fault_cause),
      .matrix_idle_i        (matrix_idle),
      .matrix_busy_i        (matrix_busy),
      .vector_cmd_valid_o   (vector_cmd_valid),
      .vector_cmd_ready_i   (vector_cmd_ready),
      .vector_cmd_o         (vector_cmd),
      .vector_read_i        (vector_read),
      .vector_done_i        (vector_done),
      .vector_macs_i        (vector_macs),
      .vector_fault_i       (vector_fault),
      .vector_fault_cause_i (vector_fault_cause),
      .vector_idle_i        (vector_idle),
      .vector_busy_i        (vector_busy)
  );

  // Regions.
  logic [3:0] load_region, store_region;
  logic [63:0] load_base, load_size, store_base, store_size;
  logic load_writable, store_writable;
  hd_region_table u_regions (
      .clk_i            (clk_i),
      .rst_ni           (rst_ni),
      .region_we_i      (region_we_i),
      .region_index_i   (region_index_i),
      .region_base_i    (region_base_i),
      .region_size_i    (region_size_i),
      .region_writable_i(region_writable_i),
      .load_region_i    (load_region),
      .load_base_o      (load_base),
      .load_size_o      (load_size),
      .load_writable_o  (load_writable),
      .store_region_i   (store_region),
      .store_base_o     (store_base),
      .store_size_o     (store_size),
      .store_writable_o (store_writable)
  );

  // SRAM.
  logic [N-1:0] req, urgent, we, gnt;
  logic [N*AW-1:0] addr;
  logic [N*128-1:0] wdata, rdata;
  logic [N*16-1:0] wstrb;
  assign we[1:0] = 2'b11;
  assign we[hd_pkg::SRAM_VECTOR-1:2] = '0;
  assign we[hd_pkg::SRAM_STORE] = 1'b0;
  assign wdata[128*hd_pkg::SRAM_VECTOR-1:256] = '0;
  assign wdata[128*hd_pkg::SRAM_STORE +: 128] = '0;
  assign wstrb[16*hd_pkg::SRAM_VECTOR-1:0] = '1;
  assign wstrb[16*hd_pkg::SRAM_STORE +: 16] = '1;
  logic [$clog2(BANKS):0] sram_corrected;
  assign sram_corrected_o = 6'(sram_corrected);
  hd_sram #(
      .BANKS(BANKS),
      .WORDS(SRAM_WORDS / BANKS)
  ) u_sram (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .clear_i     (sram_clear),
      .clear_busy_o(sram_clear_busy),
      .req_i       (req),
      .urgent_i    (urgent),
      .we_i        (we),
      .addr_i      (addr),
      .wdata_i     (wdata),
      .wstrb_i     (wstrb),
      .gnt_o       (gnt),
      .rdata_o     (rdata),
      .corrected_o (sram_corrected),
      .failed_o    (sram_failed),
      .failed_addr_o(sram_failed_addr)
  );

  // Engines. Each has a gated clock: it runs in reset and while there is a command for it or in it.
  logic load_clk, store_clk, vector_clk;
  hd_clock_gate u_load_clock (
      .clk_i(clk_i),
      .en_i (!engine_rst_n || load_cmd_valid || !load_idle || !load_quiet),
      .clk_o(load_clk)
  );
  hd_clock_gate u_store_clock (
      .clk_i(clk_i),
      .en_i (!engine_rst_n || store_cmd_valid || !store_idle || !store_quiet),
      .clk_o(store_clk)
  );
  hd_clock_gate u_vector_clock (
      .clk_i(clk_i),
      .en_i (!engine_rst_n || vector_cmd_valid || !vector_idle),
      .clk_o(vector_clk)
  );
  logic load_req_valid, load_req_ready, load_req_write, load_r_valid, load_r_ready;
  logic store_req_valid, store_req_ready, store_req_write, store_w_valid, store_w_ready, store_b_valid;
  logic [39:0] load_req_addr, store_req_addr;
  logic [6:0] load_req_beats, store_req_beats;
  logic [127:0] store_w_data;
  logic [15:0] store_w_strb;
  hd_load_engine #(
      .SRAM_BYTES(SRAM_BYTES)
  ) u_load (
      .clk_i            (load_clk),
      .rst_ni           (engine_rst_n),
      .cmd_valid_i      (load_cmd_valid),
      .cmd_ready_o      (load_cmd_ready),
      .cmd_i            (load_cmd),
      .read_o           (load_read),
      .done_o           (load_done),
      .fault_o          (load_fault),
      .fault_cause_o    (load_fault_cause),
      .idle_o           (load_idle),
      .busy_o           (load_busy),
      .stop_i           (stop),
      .quiet_o          (load_quiet),
      .bytes_o          (load_bytes),
      .region_o         (load_region),
      .region_base_i    (load_base),
      .region_size_i    (load_size),
      .region_writable_i(load_writable),
      .sram_req_o       (req[hd_pkg::SRAM_LOAD]),
      .sram_urgent_o    (urgent[hd_pkg::SRAM_LOAD]),
      .sram_we_o        (we[hd_pkg::SRAM_LOAD]),
      .sram_addr_o      (addr[AW*hd_pkg::SRAM_LOAD +: AW]),
      .sram_wdata_o     (wdata[128*hd_pkg::SRAM_LOAD +: 128]),
      .sram_wstrb_o     (wstrb[16*hd_pkg::SRAM_LOAD +: 16]),
      .sram_gnt_i       (gnt[hd_pkg::SRAM_LOAD]),
      .sram_rdata_i     (rdata[128*hd_pkg::SRAM_LOAD +: 128]),
      .req_valid_o      (load_req_valid),
      .req_ready_i      (load_req_ready),
      .req_write_o      (load_req_write),
      .req_addr_o       (load_req_addr),
      .req_beats_o      (load_req_beats),
      .r_valid_i        (load_r_valid),
      .r_ready_o        (load_r_ready),
      .r_data_i         (r_data),
      .r_error_i        (r_error)
  );
  hd_store_engine #(
      .SRAM_BYTES(SRAM_BYTES)
  ) u_store (
      .clk_i            (store_clk),
      .rst_ni           (engine_rst_n),
      .cmd_valid_i      (store_cmd_valid),
      .cmd_ready_o      (store_cmd_ready),
      .cmd_i            (store_cmd),
      .read_o           (store_read),
      .done_o           (store_done),
      .fault_o          (store_fault),
      .fault_cause_o    (store_fault_cause),
      .idle_o           (store_idle),
      .busy_o           (store_busy),
      .stop_i           (stop),
      .quiet_o          (store_quiet),
      .bytes_o          (store_bytes),
      .region_o         (store_region),
      .region_base_i    (store_base),
      .region_size_i    (store_size),
      .region_writable_i(store_writable),
      .sram_req_o       (req[hd_pkg::SRAM_STORE]),
      .sram_urgent_o    (urgent[hd_pkg::SRAM_STORE]),
      .sram_addr_o      (addr[AW*hd_pkg::SRAM_STORE +: AW]),
      .sram_gnt_i       (gnt[hd_pkg::SRAM_STORE]),
      .sram_rdata_i     (rdata[128*hd_pkg::SRAM_STORE +: 128]),
      .req_valid_o      (store_req_valid),
      .req_ready_i      (store_req_ready),
      .req_write_o      (store_req_write),
      .req_addr_o       (store_req_addr),
      .req_beats_o      (store_req_beats),
      .w_valid_o        (store_w_valid),
      .w_ready_i        (store_w_ready),
      .w_data_o         (store_w_data),
      .w_strb_o         (store_w_strb),
      .b_valid_i        (store_b_valid),
      .b_error_i        (b_error)
  );
  logic wait_weight, wait_operand, wait_output;
  hd_matrix_engine #(
      .C(C),
      .K(K),
      .ACC_DEPTH(ACC_DEPTH),
      .SRAM_WORDS(SRAM_WORDS)
  ) u_matrix (
      .clk_i         (clk_i),
      .rst_ni        (engine_rst_n),
      .cmd_valid_i   (matrix_cmd_valid),
      .cmd_ready_o   (matrix_cmd_ready),
      .cmd_i         (matrix_cmd),
      .read_o        (matrix_read),
      .done_o        (matrix_done),
      .macs_o        (matrix_macs),
      .fault_o       (matrix_fault),
      .fault_cause_o (matrix_fault_cause),
      .idle_o        (matrix_idle),
      .busy_o        (matrix_busy),
      .clear_i       (sram_clear),
      .req_o         (req[hd_pkg::SRAM_VECTOR-1:0]),
      .urgent_o      (urgent[hd_pkg::SRAM_VECTOR-1:0]),
      .addr_o        (addr[AW*hd_pkg::SRAM_VECTOR-1:0]),
      .wdata_o       (wdata[255:0]),
      .gnt_i         (gnt[hd_pkg::SRAM_VECTOR-1:0]),
      .rdata_i       (rdata[128*hd_pkg::SRAM_VECTOR-1:0]),
      .wait_weight_o (wait_weight),
      .wait_operand_o(wait_operand),
      .wait_output_o (wait_output)
  );
  hd_vector_engine #(
      .BANKS(BANKS),
      .WORDS(SRAM_WORDS / BANKS)
  ) u_vector (
      .clk_i         (vector_clk),
      .rst_ni        (engine_rst_n),
      .cmd_valid_i   (vector_cmd_valid),
      .cmd_ready_o   (vector_cmd_ready),
      .cmd_i         (vector_cmd),
      .read_o        (vector_read),
      .done_o        (vector_done),
      .macs_o        (vector_macs),
      .fault_o       (vector_fault),
      .fault_cause_o (vector_fault_cause),
      .idle_o        (vector_idle),
      .busy_o        (vector_busy),
      .sram_req_o    (req[hd_pkg::SRAM_VECTOR +: 4]),
      .sram_urgent_o (urgent[hd_pkg::SRAM_VECTOR +: 4]),
      .sram_we_o     (we[hd_pkg::SRAM_VECTOR +: 4]),
      .sram_addr_o   (addr[AW*hd_pkg::SRAM_VECTOR +: 4*AW]),
      .sram_wdata_o  (wdata[128*hd_pkg::SRAM_VECTOR +: 512]),
      .sram_wstrb_o  (wstrb[16*hd_pkg::SRAM_VECTOR +: 64]),
      .sram_gnt_i    (gnt[hd_pkg::SRAM_VECTOR +: 4]),
      .sram_rdata_i  (rdata[128*hd_pkg::SRAM_VECTOR +: 512])
  );

  // Trace. Why the engines stand still: descriptors.toml, trace_entry.stall.
  logic trace_clk, vector_stall;
  logic [1:0] load_stall, store_stall;
  logic [3:0] trace_accept, trace_done;
  hd_clock_gate u_trace_clock (
      .clk_i(clk_i),
      .en_i (!rst_ni || trace_on_i),
      .clk_o(trace_clk)
  );
  assign trace_accept = {vector_cmd_valid && vector_cmd_ready, matrix_cmd_valid && matrix_cmd_ready,
                         store_cmd_valid && store_cmd_ready, load_cmd_valid && load_cmd_ready};
  assign trace_done = {vector_done, matrix_done, store_done, load_done};
  assign load_stall[1] = req[hd_pkg::SRAM_LOAD] && !gnt[hd_pkg::SRAM_LOAD];
  assign load_stall[0] = !req[hd_pkg::SRAM_LOAD] && (load_req_valid || !load_quiet)
      && !(load_r_valid && load_r_ready);
  assign store_stall[1] = req[hd_pkg::SRAM_STORE] && !gnt[hd_pkg::SRAM_STORE];
  assign store_stall[0] = !req[hd_pkg::SRAM_STORE] && (store_req_valid || !store_quiet)
      && !(store_w_valid && store_w_ready);
  assign vector_stall = |(req[hd_pkg::SRAM_VECTOR +: 4] & ~gnt[hd_pkg::SRAM_VECTOR +: 4]);
  hd_trace u_trace (
      .clk_i   (trace_clk),
      .rst_ni  (rst_ni),
      .new_i   (trace_new_i),
      .clear_i (trace_clear),
      .cycle_i (trace_cycle_i),
      .accept_i(trace_accept),
      .done_i  (trace_done),
      .retire_i(trace_retire),
      .command_i(trace_command),
      .stall_i ({2'd0, vector_stall, wait_output, wait_operand, wait_weight,
                 1'b0, store_stall, 1'b0, load_stall}),
      .count_o (trace_count_o),
      .valid_o (trace_valid_o),
      .ready_i (trace_ready_i),
      .index_o (trace_index_o),
      .entry_o (trace_entry_o)
  );

  // Memory port: master m is bit or field m (hd_pkg::MEM_*).
  logic [3:0] m_r_valid, m_b_valid, m_req_ready, m_w_ready;
  assign m0_req_ready_o = m_req_ready[hd_pkg::MEM_FRONT];
  assign fetch_req_ready = m_req_ready[hd_pkg::MEM_FETCH];
  assign load_req_ready = m_req_ready[hd_pkg::MEM_LOAD];
  assign store_req_ready = m_req_ready[hd_pkg::MEM_STORE];
  assign m0_w_ready_o = m_w_ready[hd_pkg::MEM_FRONT];
  assign store_w_ready = m_w_ready[hd_pkg::MEM_STORE];
  assign m0_r_valid_o = m_r_valid[hd_pkg::MEM_FRONT];
  assign fetch_r_valid = m_r_valid[hd_pkg::MEM_FETCH];
  assign load_r_valid = m_r_valid[hd_pkg::MEM_LOAD];
  assign m0_b_valid_o = m_b_valid[hd_pkg::MEM_FRONT];
  assign store_b_valid = m_b_valid[hd_pkg::MEM_STORE];
  assign m0_r_data_o = r_data;
  assign m0_r_error_o = r_error;
  assign m0_b_error_o = b_error;
  hd_mem_arbiter u_memory (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .m_req_valid_i({store_req_valid, load_req_valid, fetch_req_valid, m0_req_valid_i}),
      .m_req_ready_o(m_req_ready),
      .m_req_write_i({store_req_write, load_req_write, 1'b0, m0_req_write_i}),
      .m_req_addr_i ({store_req_addr, load_req_addr, fetch_req_addr, m0_req_addr_i}),
      .m_req_beats_i({store_req_beats, load_req_beats, fetch_req_beats, m0_req_beats_i}),
      .m_w_valid_i  ({store_w_valid, 2'b00, m0_w_valid_i}),
      .m_w_ready_o  (m_w_ready),
      .m_w_data_i   ({store_w_data, 256'd0, m0_w_data_i}),
      .m_w_strb_i   ({store_w_strb, 32'd0, m0_w_strb_i}),
      .m_r_valid_o  (m_r_valid),
      .m_r_ready_i  ({1'b1, load_r_ready, fetch_r_ready, m0_r_ready_i}),
      .m_r_data_o   (r_data),
      .m_r_error_o  (r_error),
      .m_b_valid_o  (m_b_valid),
      .m_b_error_o  (b_error),
      .quiet_o      (),
      .req_valid_o  (mem_req_valid_o),
      .req_ready_i  (mem_req_ready_i),
      .req_write_o  (mem_req_write_o),
      .req_addr_o   (mem_req_addr_o),
      .req_beats_o  (mem_req_beats_o),
      .w_valid_o    (mem_w_valid_o),
      .w_ready_i    (mem_w_ready_i),
      .w_data_o     (mem_w_data_o),
      .w_strb_o     (mem_w_strb_o),
      .r_valid_i    (mem_r_valid_i),
      .r_ready_o    (mem_r_ready_o),
      .r_data_i     (mem_r_data_i),
      .r_error_i    (mem_r_error_i),
      .b_valid_i    (mem_b_valid_i),
      .b_error_i    (mem_b_error_i)
  );

  // What happens, for lockstep, traces and benches: bit e of accept and done is engine load, store,
  // matrix, vector; SRAM vectors are by client; wait: why the matrix engine does not issue.
  logic [3:0] probe_accept, probe_done;
  logic [N-1:0] probe_sram_we;
  logic [N*AW-1:0] probe_sram_addr;
  logic [N*128-1:0] probe_sram_wdata;
  logic [N*16-1:0] probe_sram_wstrb;
  logic [2:0] probe_wait;
  assign probe_accept = trace_accept;
  assign probe_done = trace_done;
  assign probe_sram_we = gnt & we;
  assign probe_sram_addr = addr;
  assign probe_sram_wdata = wdata;
  assign probe_sram_wstrb = wstrb;
  assign probe_wait = {wait_output, wait_operand, wait_weight};
endmodule
