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
// Engines: the engine port of rtl/MICROARCHITECTURE.md. What the command processor takes for granted:
//   * stop_o rises after a fault and stays until the engines are reset; while it is high, idle_i of
//     a DMA engine means "no request made to memory that is not answered in full" (accepted
//     commands no longer count, for they will never end).
//   * engine_rst_no is low in reset, and for two cycles after a fault.
//   * *_bytes_valid_i: bytes moved from or to device memory in this cycle.
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
    output hd_pkg::stream_fault_t fault_o,
    output logic [63:0]   commands_o,
    output logic [63:0]   macs_o,
    output logic [63:0]   bytes_loaded_o,
    output logic [63:0]   bytes_stored_o,
    output logic [63:0]   cycles_o,
    output logic [63:0]   matrix_busy_o,
    output logic [63:0]   vector_busy_o,
    output logic [63:0]   dma_busy_o,
    output logic [31:0]   progress_o,
    // trace (hd_trace); field 0 load, 1 store, 2 matrix, 3 vector
    output logic          trace_clear_o,
    output logic [3:0]    trace_retire_o,
    output logic [4*hd_pkg::COMMAND_ID_BITS-1:0] trace_command_o,  // the engine's oldest
    // clearing of SRAM and accumulators: a pulse, answered by busy from the next cycle on
    output logic          sram_clear_o,
    input  logic          sram_clear_busy_i,
    // a word of SRAM that is lost: a pulse, with its byte address
    input  logic          sram_failed_i,
    input  logic [63:0]   sram_failed_addr_i,
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
    output logic [32*heddle_pkg::LOAD_WORDS-1:0] load_cmd_o,
    input  logic          load_read_i,
    input  logic          load_done_i,
    input  logic          load_fault_i,
    input  hd_pkg::engine_fault_t load_fault_cause_i,
    input  logic          load_idle_i,
    input  logic          load_busy_i,
    input  logic          load_bytes_valid_i,
    input  logic [6:0]    load_bytes_i,
    // store engine
    output logic          store_cmd_valid_o,
    input  logic          store_cmd_ready_i,
    output logic [32*heddle_pkg::STORE_WORDS-1:0] store_cmd_o,
    input  logic          store_read_i,
    input  logic          store_done_i,
    input  logic          store_fault_i,
    input  hd_pkg::engine_fault_t store_fault_cause_i,
    input  logic          store_idle_i,
    input  logic          store_busy_i,
    input  logic          store_bytes_valid_i,
    input  logic [6:0]    store_bytes_i,
    // matrix engine
    output logic          matrix_cmd_valid_o,
    input  logic          matrix_cmd_ready_i,
    output logic [32*heddle_pkg::CONV_WORDS-1:0] matrix_cmd_o,
    input  logic          matrix_read_i,
    input  logic          matrix_done_i,
    input  logic [63:0]   matrix_macs_i,
    input  logic          matrix_fault_i,
    input  hd_pkg::engine_fault_t matrix_fault_cause_i,
    input  logic          matrix_idle_i,
    input  logic          matrix_busy_i,
    // vector engine
    output logic          vector_cmd_valid_o,
    input  logic          vector_cmd_ready_i,
    output logic [32*heddle_pkg::VRUN_WORDS-1:0] vector_cmd_o,
    input  logic          vector_read_i,
    input  logic          vector_done_i,
    input  logic [63:0]   vector_macs_i,
    input  logic          vector_fault_i,
    input  hd_pkg::engine_fault_t vector_fault_cause_i,
    input  logic          vector_idle_i,
    input  logic          vector_busy_i
);
  // What moves only where a command does: it runs for hundreds of cycles.
  logic cmd_clk;
  logic [6:0] clk_req;
  hd_clock_gate u_cmd_clock (
      .clk_i, .en_i((clk_req != '0) || flush || decode_start || !decode_done), .clk_o(cmd_clk)
  );

  // Control.
  logic decode_start, decode_done, decode_legal;
  logic begin_stream, run, flush, fetch_stop, count, aborted, ended, fault, fetch_idle;
  logic [3:0] retired, idle;
  logic [39:0] addr_q;
  logic [27:0] beats_q;
  always_ff @(posedge clk_i) begin
    if (start_i && !busy_o) begin
      addr_q <= stream_addr_i;
      beats_q <= stream_bytes_i[31:4];
    end
  end
  assign idle = {vector_idle_i, matrix_idle_i, store_idle_i, load_idle_i};
  hd_core_ctrl u_ctrl (
      .clk_i, .rst_ni,
      .start_i, .clear_i, .abort_i, .hang_i, .busy_o, .done_o, .sram_clear_o, .sram_clear_busy_i,
      .begin_o(begin_stream), .run_o(run), .flush_o(flush), .fetch_stop_o(fetch_stop),
      .count_o(count), .aborted_o(aborted),
      .ended_i(ended), .fault_i(fault), .fetch_idle_i(fetch_idle),
      .retired_i(retired), .idle_i(idle), .stop_o, .engine_rst_no
  );

  // Stream to commands.
  logic beat_valid, beat_ready, beat_error;
  logic [127:0] beat;
  hd_stream_fetch u_fetch (
      .clk_i, .rst_ni,
      .start_i(begin_stream), .addr_i(addr_q), .beats_i(beats_q), .stop_i(fetch_stop),
      .idle_o(fetch_idle),
      .mem_req_valid_o, .mem_req_ready_i, .mem_req_addr_o, .mem_req_beats_o,
      .mem_r_valid_i, .mem_r_ready_o, .mem_r_data_i, .mem_r_error_i,
      .valid_o(beat_valid), .ready_i(beat_ready), .data_o(beat), .error_o(beat_error)
  );

  logic cmd_valid, cmd_ready, cmd_last;
  logic [32*heddle_pkg::LONGEST_COMMAND_WORDS-1:0] cmd;
  logic [7:0] cmd_status;
  hd_pkg::command_id_t cmd_id;
  logic [39:0] error_addr;
  hd_command_assembler u_assembler (
      .clk_i(cmd_clk), .clk_req_o(clk_req[4]), .rst_ni,
      .start_i(begin_stream), .addr_i(addr_q), .beats_i(beats_q), .stop_i(fetch_stop),
      .beat_valid_i(beat_valid), .beat_ready_o(beat_ready), .beat_i(beat),
      .beat_error_i(beat_error),
      .valid_o(cmd_valid), .ready_i(cmd_ready), .cmd_o(cmd), .status_o(cmd_status),
      .offset_o(cmd_id.offset), .tag_o(cmd_id.tag), .last_o(cmd_last), .error_addr_o(error_addr)
  );

  hd_decode #(.K(K), .ACC_DEPTH(ACC_DEPTH)) u_decode (
      .clk_i(cmd_clk), .rst_ni, .clear_i(flush),
      .start_i(decode_start), .cmd_i(cmd), .done_o(decode_done), .legal_o(decode_legal)
  );

  logic [3:0] push, full, empty, want, take;
  logic front_retire, front_fault, front_stuck;
  logic [7:0] front_code;
  hd_dispatch u_dispatch (
      .clk_i, .rst_ni, .clear_i(flush), .enable_i(run),
      .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready), .opcode_i(cmd[7:0]),
      .status_i(cmd_status), .last_i(cmd_last),
      .decode_start_o(decode_start), .decode_done_i(decode_done), .decode_legal_i(decode_legal),
      .push_o(push), .full_i(full), .empty_i(empty), .retired_i(retired), .idle_i(idle),
      .want_i(want), .take_i(take),
      .retire_o(front_retire), .ended_o(ended), .fault_o(front_fault),
      .fault_stuck_o(front_stuck), .fault_code_o(front_code)
  );

  // Queues and semaphores.
  logic [7:0] wait_enable;
  logic [39:0] wait_sem;
  logic [63:0] wait_count;
  logic [15:0] signal_valid;
  logic [79:0] signal_sem;
  logic [127:0] signal_count;
  logic [3:0] same;
  hd_pkg::engine_commands_t load_commands, store_commands, matrix_commands, vector_commands;

  hd_engine_queue #(.W(heddle_pkg::LOAD_WORDS)) u_load_queue (
      .clk_i(cmd_clk), .clk_req_o(clk_req[0]), .rst_ni, .clear_i(flush), .hold_i(!run),
      .push_i(push[0]), .cmd_i(cmd[32*heddle_pkg::LOAD_WORDS-1:0]), .offset_i(cmd_id.offset),
      .full_o(full[0]), .empty_o(empty[0]), .retired_o(retired[0]),
      .want_o(want[0]), .wait_enable_o(wait_enable[1:0]),
      .wait_sem_o(wait_sem[9:0]), .wait_count_o(wait_count[15:0]),
      .take_i(take[0]), .signal_valid_o(signal_valid[3:0]),
      .signal_sem_o(signal_sem[19:0]), .signal_count_o(signal_count[31:0]),
      .engine_valid_o(load_cmd_valid_o), .engine_ready_i(load_cmd_ready_i),
      .engine_cmd_o(load_cmd_o), .read_i(load_read_i), .done_i(load_done_i),
      .commands_o(load_commands), .same_o(same[0])
  );

  hd_engine_queue #(.W(heddle_pkg::STORE_WORDS)) u_store_queue (
      .clk_i(cmd_clk), .clk_req_o(clk_req[1]), .rst_ni, .clear_i(flush), .hold_i(!run),
      .push_i(push[1]), .cmd_i(cmd[32*heddle_pkg::STORE_WORDS-1:0]), .offset_i(cmd_id.offset),
      .full_o(full[1]), .empty_o(empty[1]), .retired_o(retired[1]),
      .want_o(want[1]), .wait_enable_o(wait_enable[3:2]),
      .wait_sem_o(wait_sem[19:10]), .wait_count_o(wait_count[31:16]),
      .take_i(take[1]), .signal_valid_o(signal_valid[7:4]),
      .signal_sem_o(signal_sem[39:20]), .signal_count_o(signal_count[63:32]),
      .engine_valid_o(store_cmd_valid_o), .engine_ready_i(store_cmd_ready_i),
      .engine_cmd_o(store_cmd_o), .read_i(store_read_i), .done_i(store_done_i),
      .commands_o(store_commands), .same_o(same[1])
  );

  hd_engine_queue #(.W(heddle_pkg::CONV_WORDS)) u_matrix_queue (
      .clk_i(cmd_clk), .clk_req_o(clk_req[2]), .rst_ni, .clear_i(flush), .hold_i(!run),
      .push_i(push[2]), .cmd_i(cmd[32*heddle_pkg::CONV_WORDS-1:0]), .offset_i(cmd_id.offset),
      .full_o(full[2]), .empty_o(empty[2]), .retired_o(retired[2]),
      .want_o(want[2]), .wait_enable_o(wait_enable[5:4]),
      .wait_sem_o(wait_sem[29:20]), .wait_count_o(wait_count[47:32]),
      .take_i(take[2]), .signal_valid_o(signal_valid[11:8]),
      .signal_sem_o(signal_sem[59:40]), .signal_count_o(signal_count[95:64]),
      .engine_valid_o(matrix_cmd_valid_o), .engine_ready_i(matrix_cmd_ready_i),
      .engine_cmd_o(matrix_cmd_o), .read_i(matrix_read_i), .done_i(matrix_done_i),
      .commands_o(matrix_commands), .same_o(same[2])
  );

  hd_engine_queue #(.W(heddle_pkg::VRUN_WORDS)) u_vector_queue (
      .clk_i(cmd_clk), .clk_req_o(clk_req[3]), .rst_ni, .clear_i(flush), .hold_i(!run),
      .push_i(push[3]), .cmd_i(cmd[32*heddle_pkg::VRUN_WORDS-1:0]), .offset_i(cmd_id.offset),
      .full_o(full[3]), .empty_o(empty[3]), .retired_o(retired[3]),
      .want_o(want[3]), .wait_enable_o(wait_enable[7:6]),
      .wait_sem_o(wait_sem[39:30]), .wait_count_o(wait_count[63:48]),
      .take_i(take[3]), .signal_valid_o(signal_valid[15:12]),
      .signal_sem_o(signal_sem[79:60]), .signal_count_o(signal_count[127:96]),
      .engine_valid_o(vector_cmd_valid_o), .engine_ready_i(vector_cmd_ready_i),
      .engine_cmd_o(vector_cmd_o), .read_i(vector_read_i), .done_i(vector_done_i),
      .commands_o(vector_commands), .same_o(same[3])
  );

  logic overflow;
  logic [3:0] overflow_slot;
  logic [4:0] overflow_sem;
  hd_semaphores u_semaphores (
      .clk_i, .rst_ni, .clear_i(begin_stream),
      .signal_valid_i(signal_valid), .signal_sem_i(signal_sem), .signal_count_i(signal_count),
      .overflow_o(overflow), .overflow_slot_o(overflow_slot), .overflow_sem_o(overflow_sem),
      .want_i(want), .wait_enable_i(wait_enable), .wait_sem_i(wait_sem),
      .wait_count_i(wait_count), .take_o(take)
  );

  // Results. Engine faults of a stream that is over are those of the next reset.
  logic [3:0] done;
  logic [4:0] retire;
  logic [7:0] code;
  hd_pkg::command_id_t fault_command, last_command, told;
  assign done = {vector_done_i, matrix_done_i, store_done_i, load_done_i};
  hd_fault_record u_fault_record (
      .clk_i(cmd_clk), .clk_req_o(clk_req[5]), .rst_ni, .clear_i(begin_stream),
      .engine_fault_i({vector_fault_i, matrix_fault_i, store_fault_i, load_fault_i} & {4{count}}),
      .engine_cause_i({vector_fault_cause_i, matrix_fault_cause_i, store_fault_cause_i,
                       load_fault_cause_i}),
      .sram_fault_i(sram_failed_i && count), .sram_addr_i(sram_failed_addr_i),
      .done_i(done),
      .commands_i({vector_commands, matrix_commands, store_commands, load_commands}),
      .same_i(same), .empty_i(empty),
      .overflow_i(overflow), .overflow_slot_i(overflow_slot[3:1]), .overflow_sem_i(overflow_sem),
      .front_retire_i(front_retire), .front_fault_i(front_fault), .front_stuck_i(front_stuck),
      .front_code_i(front_code), .front_command_i(cmd_id), .front_addr_i(error_addr),
      .retire_o(retire), .fault_o(fault), .code_o(code), .command_o(fault_command),
      .engine_o(fault_o.engine), .region_o(fault_o.region), .addr_o(fault_o.addr),
      .last_o(last_command)
  );
  assign trace_clear_o = begin_stream;
  assign trace_retire_o = retire[3:0];
  assign trace_command_o = {vector_commands.oldest, matrix_commands.oldest, store_commands.oldest,
                            load_commands.oldest};

  logic ended_aborted;
  assign ended_aborted = aborted && !fault;
  assign status_o = ended_aborted ? heddle_pkg::ERROR_ABORTED[7:0] : code;
  assign told = ended_aborted ? last_command : fault_command;
  assign fault_o.offset = {told.offset, 4'd0};
  assign fault_o.tag = told.tag;

  hd_core_counters u_counters (
      .clk_i, .event_clk_i(cmd_clk), .clk_req_o(clk_req[6]), .rst_ni, .clear_i(begin_stream),
      .count_i(count),
      .retire_i(retire), .done_i(done),
      .matrix_macs_i, .vector_macs_i,
      .load_bytes_valid_i, .load_bytes_i, .store_bytes_valid_i, .store_bytes_i,
      .busy_i({vector_busy_i, matrix_busy_i, store_busy_i, load_busy_i}),
      .commands_o, .macs_o, .bytes_loaded_o, .bytes_stored_o, .cycles_o,
      .matrix_busy_o, .vector_busy_o, .dma_busy_o, .progress_o
  );

  logic unused;
  assign unused = (stream_bytes_i[3:0] != '0) || overflow_slot[0];
endmodule
