// SPDX-License-Identifier: Apache-2.0
// The card: front end and compute core, behind a register port, a host memory port, a device memory
// port and interrupt requests. Wiring only; outside are the PCI configuration space, the MSI-X
// table and messages, the bridge to host memory and the device memory itself.
//
// Device memory: the core's port, of which the front end is master 0 (hd_core). The front end's
// requests go through the core's arbiter, so a reset of the core waits for both to be quiet: the
// front end has nothing under way when it asks for one (hd_core_guard).
//
// CONFIG is what register CONFIG reads (heddle_pkg::CONFIG_*).
module hd_card #(
    parameter logic [31:0] CONFIG = heddle_pkg::CONFIG_H256
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [3:0]   core_kind_i,
    input  logic [63:0]  dram_bytes_i,
    input  logic [63:0]  unique_i,
    input  logic         function_reset_i,
    input  logic         hang_i,
    output logic         clear_o,   // hd_front
    output logic         active_o,
    // registers (hd_registers)
    input  logic         req_i,
    input  logic         write_i,
    input  logic [15:0]  addr_i,
    input  logic [31:0]  wdata_i,
    input  logic [3:0]   strb_i,
    output logic         ack_o,
    output logic [31:0]  rdata_o,
    // interrupt requests (hd_interrupts)
    output logic         irq_valid_o,
    output logic [1:0]   irq_vector_o,
    input  logic         irq_ready_i,
    // host memory
    output logic         host_req_valid_o,
    input  logic         host_req_ready_i,
    output logic         host_req_write_o,
    output logic [63:0]  host_req_addr_o,
    output logic [6:0]   host_req_beats_o,
    output logic         host_w_valid_o,
    input  logic         host_w_ready_i,
    output logic [127:0] host_w_data_o,
    output logic [15:0]  host_w_strb_o,
    input  logic         host_r_valid_i,
    output logic         host_r_ready_o,
    input  logic [127:0] host_r_data_i,
    input  logic         host_r_error_i,
    input  logic         host_b_valid_i,
    input  logic         host_b_error_i,
    // device memory
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
    input  logic         mem_b_error_i
);
  logic start, region_we, region_writable, abort, clear, reset, hang;
  logic guard_busy, guard_done, core_rst_n, core_busy, core_done;
  logic [39:0] stream_addr, m0_req_addr;
  logic [31:0] stream_bytes, guard_progress, core_progress;
  logic [3:0] region_index;
  logic [63:0] region_base, region_size, commands, macs, bytes_loaded, bytes_stored;
  logic [63:0] matrix_busy, vector_busy, dma_busy;
  logic [7:0] status;
  logic [5:0] sram_corrected;
  hd_pkg::stream_fault_t fault;
  logic trace_on, trace_new, trace_valid, trace_ready;
  logic [31:0] trace_cycle, trace_count, trace_index;
  logic [8*heddle_pkg::TRACE_ENTRY_BYTES-1:0] trace_entry;
  logic m0_req_valid, m0_req_ready, m0_req_write, m0_w_valid, m0_w_ready;
  logic m0_r_valid, m0_r_ready, m0_r_error, m0_b_valid, m0_b_error;
  logic [6:0] m0_req_beats;
  logic [127:0] m0_w_data, m0_r_data;
  logic [15:0] m0_w_strb;
  logic core_req_valid, core_req_ready;

  hd_front u_front (
      .clk_i,
      .rst_ni,
      .config_i(CONFIG),
      .core_kind_i,
      .dram_bytes_i,
      .unique_i,
      .function_reset_i,
      .hang_i,
      .clear_o,
      .active_o,
      .req_i,
      .write_i,
      .addr_i,
      .wdata_i,
      .strb_i,
      .ack_o,
      .rdata_o,
      .irq_valid_o,
      .irq_vector_o,
      .irq_ready_i,
      .host_req_valid_o,
      .host_req_ready_i,
      .host_req_write_o,
      .host_req_addr_o,
      .host_req_beats_o,
      .host_w_valid_o,
      .host_w_ready_i,
      .host_w_data_o,
      .host_w_strb_o,
      .host_r_valid_i,
      .host_r_ready_o,
      .host_r_data_i,
      .host_r_error_i,
      .host_b_valid_i,
      .host_b_error_i,
      .mem_req_valid_o(m0_req_valid),
      .mem_req_ready_i(m0_req_ready),
      .mem_req_write_o(m0_req_write),
      .mem_req_addr_o(m0_req_addr),
      .mem_req_beats_o(m0_req_beats),
      .mem_w_valid_o(m0_w_valid),
      .mem_w_ready_i(m0_w_ready),
      .mem_w_data_o(m0_w_data),
      .mem_w_strb_o(m0_w_strb),
      .mem_r_valid_i(m0_r_valid),
      .mem_r_ready_o(m0_r_ready),
      .mem_r_data_i(m0_r_data),
      .mem_r_error_i(m0_r_error),
      .mem_b_valid_i(m0_b_valid),
      .mem_b_error_i(m0_b_error),
      .core_start_o(start),
      .core_stream_addr_o(stream_addr),
      .core_stream_bytes_o(stream_bytes),
      .region_we_o(region_we),
      .region_index_o(region_index),
      .region_base_o(region_base),
      .region_size_o(region_size),
      .region_writable_o(region_writable),
      .core_abort_o(abort),
      .core_clear_o(clear),
      .core_reset_o(reset),
      .core_hang_o(hang),
      .core_busy_i(guard_busy),
      .core_done_i(guard_done),
      .core_status_i(status),
      .core_fault_i(fault),
      .core_commands_i(commands),
      .core_macs_i(macs),
      .core_bytes_loaded_i(bytes_loaded),
      .core_bytes_stored_i(bytes_stored),
      .core_matrix_busy_i(matrix_busy),
      .core_vector_busy_i(vector_busy),
      .core_dma_busy_i(dma_busy),
      .core_progress_i(guard_progress),
      .core_sram_corrected_i(sram_corrected),
      .trace_on_o(trace_on),
      .trace_new_o(trace_new),
      .trace_cycle_o(trace_cycle),
      .trace_count_i(trace_count),
      .trace_valid_i(trace_valid),
      .trace_ready_o(trace_ready),
      .trace_index_i(trace_index),
      .trace_entry_i(trace_entry)
  );

  hd_core_guard u_guard (
      .clk_i,
      .rst_ni,
      .reset_i(reset),
      .busy_o(guard_busy),
      .done_o(guard_done),
      .progress_o(guard_progress),
      .core_rst_no(core_rst_n),
      .core_busy_i(core_busy),
      .core_done_i(core_done),
      .core_progress_i(core_progress),
      .core_req_valid_i(core_req_valid),
      .core_req_ready_o(core_req_ready),
      .core_req_write_i(mem_req_write_o),
      .core_req_beats_i(mem_req_beats_o),
      .req_valid_o(mem_req_valid_o),
      .req_ready_i(mem_req_ready_i),
      .r_take_i(mem_r_valid_i && mem_r_ready_o),
      .b_valid_i(mem_b_valid_i)
  );

  hd_core #(
      .CONFIG(CONFIG)
  ) u_core (
      .clk_i,
      .rst_ni(core_rst_n),
      .start_i(start),
      .stream_addr_i(stream_addr),
      .stream_bytes_i(stream_bytes),
      .region_we_i(region_we),
      .region_index_i(region_index),
      .region_base_i(region_base),
      .region_size_i(region_size),
      .region_writable_i(region_writable),
      .abort_i(abort),
      .clear_i(clear),
      .hang_i(hang),
      .busy_o(core_busy),
      .done_o(core_done),
      .status_o(status),
      .fault_o(fault),
      .commands_o(commands),
      .macs_o(macs),
      .bytes_loaded_o(bytes_loaded),
      .bytes_stored_o(bytes_stored),
      .cycles_o(),
      .matrix_busy_o(matrix_busy),
      .vector_busy_o(vector_busy),
      .dma_busy_o(dma_busy),
      .progress_o(core_progress),
      .sram_corrected_o(sram_corrected),
      .trace_on_i(trace_on),
      .trace_new_i(trace_new),
      .trace_cycle_i(trace_cycle),
      .trace_count_o(trace_count),
      .trace_valid_o(trace_valid),
      .trace_ready_i(trace_ready),
      .trace_index_o(trace_index),
      .trace_entry_o(trace_entry),
      .mem_req_valid_o(core_req_valid),
      .mem_req_ready_i(core_req_ready),
      .mem_req_write_o,
      .mem_req_addr_o,
      .mem_req_beats_o,
      .mem_w_valid_o,
      .mem_w_ready_i,
      .mem_w_data_o,
      .mem_w_strb_o,
      .mem_r_valid_i,
      .mem_r_ready_o,
      .mem_r_data_i,
      .mem_r_error_i,
      .mem_b_valid_i,
      .mem_b_error_i,
      .m0_req_valid_i(m0_req_valid),
      .m0_req_ready_o(m0_req_ready),
      .m0_req_write_i(m0_req_write),
      .m0_req_addr_i(m0_req_addr),
      .m0_req_beats_i(m0_req_beats),
      .m0_w_valid_i(m0_w_valid),
      .m0_w_ready_o(m0_w_ready),
      .m0_w_data_i(m0_w_data),
      .m0_w_strb_i(m0_w_strb),
      .m0_r_valid_o(m0_r_valid),
      .m0_r_ready_i(m0_r_ready),
      .m0_r_data_o(m0_r_data),
      .m0_r_error_o(m0_r_error),
      .m0_b_valid_o(m0_b_valid),
      .m0_b_error_o(m0_b_error)
  );
endmodule
