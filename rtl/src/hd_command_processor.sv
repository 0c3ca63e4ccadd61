// SPDX-License-Identifier: Apache-2.0
// Command processor of the accelerator core: runs one command stream at a time.
//
//   memory -> hd_stream_fetch -> hd_command_assembler -> hd_decode -> hd_dispatch
//                                                                        |
//             load, store, matrix, vector engine  <-  hd_engine_queue x4 <
//                                                            |
//                                                     hd_semaphores        hd_core_ctrl: start, end,
//                                                                          abort, faults, counters
//
// Job side: start_i and clear_i are pulses and taken only while busy_o is low (both in one cycle:
// clear first, then the stream). busy_o rises in the next cycle and falls in the cycle after done_o
// (a clear alone has no done_o). Results are stable from done_o until the next start_i.
//   abort_i  level: no further command starts, commands that engines have accepted end, then done_o
//            with status aborted; offset and tag are those of the command that retired last.
//   hang_i   level: nothing is dispatched or started, abort_i is ignored, done_o does not come.
//
// Engines: the port of RTL.md. What the command processor takes for granted:
//   * stop_o rises after a fault and stays until the engines are reset; while it is high, idle_i of
//     a DMA engine means "no request made to memory that is not answered in full" (accepted
//     commands no longer count, for they will never end).
//   * engine_rst_no is low in reset, and for two cycles after a fault.
//   * *_bytes_valid_i: bytes moved from or to device memory in this cycle.
/* verilator lint_off UNDRIVEN */
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNUSEDPARAM */
module hd_command_processor #(
    parameter int K = 16,          // lanes_out of the configuration
    parameter int ACC_DEPTH = 256  // acc_pixels of the configuration
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    // job side
    input  logic          start_i,
    input  logic [39:0]   stream_addr_i,   // 64-byte aligned
    input  logic [31:0]   stream_bytes_i,  // a multiple of 16
    input  logic          abort_i,
    input  logic          clear_i,
    input  logic          hang_i,
    output logic          busy_o,
    output logic          done_o,
    output logic [7:0]    status_o,
    output logic [31:0]   fault_offset_o,
    output logic [31:0]   fault_tag_o,
    output logic [2:0]    fault_engine_o,
    output logic [3:0]    fault_region_o,
    output logic [63:0]   fault_addr_o,
    output logic [63:0]   commands_o,
    output logic [63:0]   macs_o,
    output logic [63:0]   bytes_loaded_o,
    output logic [63:0]   bytes_stored_o,
    output logic [63:0]   cycles_o,
    output logic [63:0]   matrix_busy_o,
    output logic [63:0]   vector_busy_o,
    output logic [63:0]   dma_busy_o,
    output logic [31:0]   progress_o,
    // clearing of SRAM and accumulators: a pulse, answered by busy from the next cycle on
    output logic          sram_clear_o,
    input  logic          sram_clear_busy_i,
    // memory port, master hd_pkg::MEM_FETCH, reads only
    output logic          mem_req_valid_o,
    input  logic          mem_req_ready_i,
    output logic [39:0]   mem_req_addr_o,
    output logic [6:0]    mem_req_beats_o,
    input  logic          mem_r_valid_i,
    output logic          mem_r_ready_o,
    input  logic [127:0]  mem_r_data_i,
    input  logic          mem_r_error_i,
    // all engines
    output logic          stop_o,
    output logic          engine_rst_no,
    // load engine
    output logic          load_cmd_valid_o,
    input  logic          load_cmd_ready_i,
    output logic [639:0]  load_cmd_o,
    input  logic          load_read_i,
    input  logic          load_done_i,
    input  logic          load_fault_i,
    input  logic [7:0]    load_fault_code_i,
    input  logic [3:0]    load_fault_region_i,
    input  logic [63:0]   load_fault_addr_i,
    input  logic          load_idle_i,
    input  logic          load_busy_i,
    input  logic          load_bytes_valid_i,
    input  logic [6:0]    load_bytes_i,
    // store engine
    output logic          store_cmd_valid_o,
    input  logic          store_cmd_ready_i,
    output logic [639:0]  store_cmd_o,
    input  logic          store_read_i,
    input  logic          store_done_i,
    input  logic          store_fault_i,
    input  logic [7:0]    store_fault_code_i,
    input  logic [3:0]    store_fault_region_i,
    input  logic [63:0]   store_fault_addr_i,
    input  logic          store_idle_i,
    input  logic          store_busy_i,
    input  logic          store_bytes_valid_i,
    input  logic [6:0]    store_bytes_i,
    // matrix engine
    output logic          matrix_cmd_valid_o,
    input  logic          matrix_cmd_ready_i,
    output logic [1279:0] matrix_cmd_o,
    input  logic          matrix_read_i,
    input  logic          matrix_done_i,
    input  logic [63:0]   matrix_macs_i,
    input  logic          matrix_fault_i,
    input  logic [7:0]    matrix_fault_code_i,
    input  logic [3:0]    matrix_fault_region_i,
    input  logic [63:0]   matrix_fault_addr_i,
    input  logic          matrix_idle_i,
    input  logic          matrix_busy_i,
    // vector engine
    output logic          vector_cmd_valid_o,
    input  logic          vector_cmd_ready_i,
    output logic [1663:0] vector_cmd_o,
    input  logic          vector_read_i,
    input  logic          vector_done_i,
    input  logic [63:0]   vector_macs_i,
    input  logic          vector_fault_i,
    input  logic [7:0]    vector_fault_code_i,
    input  logic [3:0]    vector_fault_region_i,
    input  logic [63:0]   vector_fault_addr_i,
    input  logic          vector_idle_i,
    input  logic          vector_busy_i
);
  // The wiring follows.
endmodule
