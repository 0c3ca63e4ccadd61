// SPDX-License-Identifier: Apache-2.0
// The front end of the card: register block, interrupts, rings, job engine and copy engine, with
// ports to the host (registers, memory, interrupt requests), to device memory (master 0) and to the
// compute core. Wiring, besides the clocks of the units and the register through which accesses enter.
module hd_front #(
    localparam int RW = $clog2(heddle_pkg::REGIONS)
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    // what the card is
    input  logic [31:0]  config_i,
    input  logic [3:0]   core_kind_i,
    input  logic [63:0]  dram_bytes_i,   // a change of it is told by INT_STATUS.memory
    input  logic [63:0]  unique_i,
    // reset of the PCI function: everything but COUNTER_RESETS as after power-up, no record
    input  logic         function_reset_i,
    // fault injection: a stream that begins while it is high hangs until it is reset
    input  logic         hang_i,
    // a pulse when registers and interrupts are put back: the MSI-X table outside, too
    output logic         clear_o,
    // low: nothing happens until an input changes, so the clock may stop
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
    output logic [hd_pkg::MEM_AW-1:0] mem_req_addr_o,
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
    // core (hd_job_engine)
    output logic         core_start_o,
    output logic [hd_pkg::MEM_AW-1:0] core_stream_addr_o,
    output logic [31:0]  core_stream_bytes_o,
    output logic         region_we_o,
    output logic [RW-1:0] region_index_o,
    output logic [63:0]  region_base_o,
    output logic [63:0]  region_size_o,
    output logic         region_writable_o,
    output logic         core_abort_o,
    output logic         core_clear_o,
    output logic         core_reset_o,
    output logic         core_hang_o,
    input  logic         core_busy_i,
    input  logic         core_done_i,
    input  logic [7:0]   core_status_i,
    input  hd_pkg::stream_fault_t core_fault_i,
    input  logic [63:0]  core_commands_i,
    input  logic [63:0]  core_macs_i,
    input  logic [63:0]  core_bytes_loaded_i,
    input  logic [63:0]  core_bytes_stored_i,
    input  logic [63:0]  core_matrix_busy_i,
    input  logic [63:0]  core_vector_busy_i,
    input  logic [63:0]  core_dma_busy_i,
    input  logic [31:0]  core_progress_i,
    input  logic [5:0]   core_sram_corrected_i,
    // trace (hd_trace)
    output logic         trace_on_o,
    output logic         trace_new_o,
    output logic [31:0]  trace_cycle_o,
    input  logic [31:0]  trace_count_i,
    input  logic         trace_valid_i,
    output logic         trace_ready_o,
    input  logic [31:0]  trace_index_i,
    input  logic [8*heddle_pkg::TRACE_ENTRY_BYTES-1:0] trace_entry_i
);
  localparam int R = heddle_pkg::RINGS;

  logic clear, jobs_active;
  logic [31:0] wdata, status, progress, device_error, completion_tail, jobs, faults, resets;
  logic [31:0] sram_corrected;
  logic [63:0] running, cycles, macs, completion_base;
  logic [3:0] int_status, raise, raise_write;
  logic [32*R-1:0] ring_head, ring_tail;
  logic [64*R-1:0] ring_base;
  logic [R-1:0] ring_size_we, ring_head_we;
  logic reset_we, abort_we, int_status_we, int_enable_we, int_raise_we, device_error_we;
  logic completion_size_we;
  logic ring_error;

  // While the core runs a stream, everything here waits for it, for the driver or for a reset; the
  // copy engine works in its own steps only.
  logic front_clk, copy_clk, jobs_idle, copy_active, known_q, resized, access_q;
  logic [63:0] dram_bytes_q;
  hd_clock_gate u_clock (
      .clk_i,
      .en_i(!rst_ni || !jobs_idle || req_i || access_q || ack_o || irq_valid_o || resized
            || function_reset_i || core_sram_corrected_i != 6'd0),
      .clk_o(front_clk)
  );
  hd_clock_gate u_copy_clock (
      .clk_i,
      .en_i(!rst_ni || copy_active),
      .clk_o(copy_clk)
  );

  // An access enters through a register: what decodes it does not follow the pins.
  logic access_write_q;
  logic [15:0] access_addr_q;
  logic [31:0] access_wdata_q;
  logic [3:0] access_strb_q;
  always_ff @(posedge front_clk) begin
    access_q <= rst_ni && req_i && !ack_o;
    if (req_i) begin
      access_write_q <= write_i;
      access_addr_q <= addr_i;
      access_wdata_q <= wdata_i;
      access_strb_q <= strb_i;
    end
  end

  hd_registers u_registers (
      .clk_i(front_clk),
      .rst_ni,
      .clear_i(clear),
      .req_i(access_q),
      .write_i(access_write_q),
      .addr_i(access_addr_q),
      .wdata_i(access_wdata_q),
      .strb_i(access_strb_q),
      .ack_o,
      .rdata_o,
      .config_i,
      .core_kind_i,
      .dram_bytes_i,
      .unique_i,
      .status_i(status),
      .progress_i(progress),
      .running_i(running),
      .int_status_i(int_status),
      .device_error_i(device_error),
      .completion_tail_i(completion_tail),
      .ring_head_i(ring_head),
      .ring_tail_i(ring_tail),
      .cycles_i(cycles),
      .macs_i(macs),
      .jobs_i(jobs),
      .faults_i(faults),
      .resets_i(resets),
      .sram_corrected_i(sram_corrected),
      .wdata_o(wdata),
      .reset_we_o(reset_we),
      .abort_we_o(abort_we),
      .int_status_we_o(int_status_we),
      .int_enable_we_o(int_enable_we),
      .int_raise_we_o(int_raise_we),
      .device_error_we_o(device_error_we),
      .completion_size_we_o(completion_size_we),
      .ring_size_we_o(ring_size_we),
      .ring_head_we_o(ring_head_we),
      .completion_base_o(completion_base),
      .ring_base_o(ring_base)
  );

  assign clear_o = clear;
  assign active_o = jobs_active || irq_valid_o || req_i || function_reset_i || resized;

  assign resized = known_q && (dram_bytes_q != dram_bytes_i);
  always_ff @(posedge front_clk) begin
    known_q <= rst_ni;
    dram_bytes_q <= dram_bytes_i;
  end
  assign raise_write = (int_raise_we ? wdata[3:0] : 4'd0)
      | (ring_error ? heddle_pkg::REG_INT_STATUS_ERROR_MASK[3:0] : 4'd0);

  hd_interrupts u_interrupts (
      .clk_i(front_clk),
      .rst_ni,
      .clear_i(clear),
      .raise_jobs_i(raise),
      .raise_write_i(raise_write),
      .raise_memory_i(resized ? heddle_pkg::REG_INT_STATUS_MEMORY_MASK[3:0] : 4'd0),
      .ack_i(int_status_we ? wdata[3:0] : 4'd0),
      .enable_we_i(int_enable_we),
      .enable_i(wdata[3:0]),
      .status_o(int_status),
      .irq_valid_o,
      .irq_vector_o,
      .irq_ready_i
  );

  logic next_valid, take, finish, record_on, record_take;
  logic [1:0] next_ring;
  logic [63:0] next_iova, record_iova;
  logic [31:0] record_sequence;

  hd_rings u_rings (
      .clk_i(front_clk),
      .rst_ni,
      .clear_i(clear),
      .wdata_i(wdata),
      .ring_size_we_i(ring_size_we),
      .ring_head_we_i(ring_head_we),
      .completion_size_we_i(completion_size_we),
      .ring_base_i(ring_base),
      .completion_base_i(completion_base),
      .error_o(ring_error),
      .next_valid_o(next_valid),
      .next_ring_o(next_ring),
      .next_iova_o(next_iova),
      .take_i(take),
      .finish_i(finish),
      .record_on_o(record_on),
      .record_iova_o(record_iova),
      .record_sequence_o(record_sequence),
      .record_take_i(record_take),
      .head_o(ring_head),
      .tail_o(ring_tail),
      .completion_tail_o(completion_tail)
  );

  logic copy_start, stop, copy_done, piece;
  logic [7:0] copy_status;
  logic [63:0] copy_fault_addr, copy_bytes;
  logic [8*heddle_pkg::STEP_BYTES-1:0] step;
  logic job_req_valid, job_req_write, job_w_valid, copy_req_valid, copy_req_write, copy_w_valid;
  logic [63:0] job_req_addr, copy_req_addr;
  logic [6:0] job_req_beats, copy_req_beats;
  logic [127:0] job_w_data, copy_w_data;
  logic [15:0] job_w_strb, copy_w_strb;

  // What the job engine and the copy engine ask of the host: one of them at a time.
  logic main_req_valid, main_req_ready, main_req_write, main_w_valid, main_w_ready, main_b_valid;
  logic [63:0] main_req_addr;
  logic [6:0] main_req_beats;
  logic [127:0] main_w_data;
  logic [15:0] main_w_strb;
  logic trace_stop, trace_idle, trace_bad;
  logic [63:0] trace_iova;
  logic [31:0] trace_room;
  logic [5:0] trace_step;

  hd_job_engine u_jobs (
      .clk_i(front_clk),
      .free_clk_i(clk_i),
      .rst_ni,
      .dram_bytes_i,
      .function_reset_i,
      .hang_i,
      .wdata_i(wdata),
      .reset_we_i(reset_we),
      .abort_we_i(abort_we),
      .device_error_we_i(device_error_we),
      .ring_error_i(ring_error),
      .clear_o(clear),
      .active_o(jobs_active),
      .idle_o(jobs_idle),
      .status_o(status),
      .progress_o(progress),
      .running_o(running),
      .device_error_o(device_error),
      .cycles_o(cycles),
      .macs_o(macs),
      .jobs_o(jobs),
      .faults_o(faults),
      .resets_o(resets),
      .sram_corrected_o(sram_corrected),
      .raise_o(raise),
      .next_valid_i(next_valid),
      .next_ring_i(next_ring),
      .next_iova_i(next_iova),
      .take_o(take),
      .finish_o(finish),
      .record_on_i(record_on),
      .record_iova_i(record_iova),
      .record_sequence_i(record_sequence),
      .record_take_o(record_take),
      .host_req_valid_o(job_req_valid),
      .host_req_ready_i(main_req_ready && !copy_active),
      .host_req_write_o(job_req_write),
      .host_req_addr_o(job_req_addr),
      .host_req_beats_o(job_req_beats),
      .host_w_valid_o(job_w_valid),
      .host_w_ready_i(main_w_ready && !copy_active),
      .host_w_data_o(job_w_data),
      .host_w_strb_o(job_w_strb),
      .host_r_valid_i(host_r_valid_i && !copy_active),
      .host_r_data_i,
      .host_r_error_i,
      .host_b_valid_i(main_b_valid && !copy_active),
      .host_b_error_i,
      .copy_start_o(copy_start),
      .copy_active_o(copy_active),
      .stop_o(stop),
      .step_o(step),
      .copy_done_i(copy_done),
      .copy_status_i(copy_status),
      .copy_fault_addr_i(copy_fault_addr),
      .copy_bytes_i(copy_bytes),
      .piece_i(piece),
      .core_start_o,
      .core_stream_addr_o,
      .core_stream_bytes_o,
      .region_we_o,
      .region_index_o,
      .region_base_o,
      .region_size_o,
      .region_writable_o,
      .core_abort_o,
      .core_clear_o,
      .core_reset_o,
      .core_hang_o,
      .core_busy_i,
      .core_done_i,
      .core_status_i,
      .core_fault_i,
      .core_commands_i,
      .core_macs_i,
      .core_bytes_loaded_i,
      .core_bytes_stored_i,
      .core_matrix_busy_i,
      .core_vector_busy_i,
      .core_dma_busy_i,
      .core_progress_i,
      .core_sram_corrected_i,
      .trace_on_o,
      .trace_new_o,
      .trace_cycle_o,
      .trace_stop_o(trace_stop),
      .trace_iova_o(trace_iova),
      .trace_room_o(trace_room),
      .trace_step_o(trace_step),
      .trace_count_i,
      .trace_idle_i(trace_idle),
      .trace_bad_i(trace_bad)
  );

  logic trace_req_valid, trace_req_ready, trace_w_valid, trace_w_ready, trace_b_valid;
  logic [63:0] trace_req_addr;
  logic [127:0] trace_w_data;
  hd_trace_writer u_trace (
      .clk_i(front_clk),
      .rst_ni,
      .clear_i(trace_new_o),
      .iova_i(trace_iova),
      .room_i(trace_room),
      .step_i(trace_step),
      .stop_i(trace_stop),
      .idle_o(trace_idle),
      .bad_o(trace_bad),
      .valid_i(trace_valid_i),
      .ready_o(trace_ready_o),
      .index_i(trace_index_i),
      .entry_i(trace_entry_i),
      .req_valid_o(trace_req_valid),
      .req_ready_i(trace_req_ready),
      .req_addr_o(trace_req_addr),
      .w_valid_o(trace_w_valid),
      .w_ready_i(trace_w_ready),
      .w_data_o(trace_w_data),
      .b_valid_i(trace_b_valid),
      .b_error_i(host_b_error_i)
  );

  hd_copy_engine u_copy (
      .clk_i(copy_clk),
      .rst_ni,
      .dram_bytes_i,
      .start_i(copy_start),
      .step_i(step),
      .stop_i(stop && copy_active),
      .done_o(copy_done),
      .status_o(copy_status),
      .fault_addr_o(copy_fault_addr),
      .bytes_copied_o(copy_bytes),
      .piece_o(piece),
      .host_req_valid_o(copy_req_valid),
      .host_req_ready_i(main_req_ready && copy_active),
      .host_req_write_o(copy_req_write),
      .host_req_addr_o(copy_req_addr),
      .host_req_beats_o(copy_req_beats),
      .host_w_valid_o(copy_w_valid),
      .host_w_ready_i(main_w_ready && copy_active),
      .host_w_data_o(copy_w_data),
      .host_w_strb_o(copy_w_strb),
      .host_r_valid_i(host_r_valid_i && copy_active),
      .host_r_data_i,
      .host_r_error_i,
      .host_b_valid_i(main_b_valid && copy_active),
      .host_b_error_i,
      .mem_req_valid_o,
      .mem_req_ready_i,
      .mem_req_write_o,
      .mem_req_addr_o,
      .mem_req_beats_o,
      .mem_w_valid_o,
      .mem_w_ready_i,
      .mem_w_data_o,
      .mem_w_strb_o,
      .mem_r_valid_i,
      .mem_r_data_i,
      .mem_r_error_i,
      .mem_b_valid_i,
      .mem_b_error_i
  );

  assign main_req_valid = copy_active ? copy_req_valid : job_req_valid;
  assign main_req_write = copy_active ? copy_req_write : job_req_write;
  assign main_req_addr = copy_active ? copy_req_addr : job_req_addr;
  assign main_req_beats = copy_active ? copy_req_beats : job_req_beats;
  assign main_w_valid = copy_active ? copy_w_valid : job_w_valid;
  assign main_w_data = copy_active ? copy_w_data : job_w_data;
  assign main_w_strb = copy_active ? copy_w_strb : job_w_strb;
  hd_host_merge u_host (
      .clk_i(front_clk),
      .rst_ni,
      .m_req_valid_i(main_req_valid),
      .m_req_ready_o(main_req_ready),
      .m_req_write_i(main_req_write),
      .m_req_addr_i(main_req_addr),
      .m_req_beats_i(main_req_beats),
      .m_w_valid_i(main_w_valid),
      .m_w_ready_o(main_w_ready),
      .m_w_data_i(main_w_data),
      .m_w_strb_i(main_w_strb),
      .m_b_valid_o(main_b_valid),
      .t_req_valid_i(trace_req_valid),
      .t_req_ready_o(trace_req_ready),
      .t_req_addr_i(trace_req_addr),
      .t_w_valid_i(trace_w_valid),
      .t_w_ready_o(trace_w_ready),
      .t_w_data_i(trace_w_data),
      .t_b_valid_o(trace_b_valid),
      .req_valid_o(host_req_valid_o),
      .req_ready_i(host_req_ready_i),
      .req_write_o(host_req_write_o),
      .req_addr_o(host_req_addr_o),
      .req_beats_o(host_req_beats_o),
      .w_valid_o(host_w_valid_o),
      .w_ready_i(host_w_ready_i),
      .w_data_o(host_w_data_o),
      .w_strb_o(host_w_strb_o),
      .b_valid_i(host_b_valid_i)
  );
  assign host_r_ready_o = 1'b1;
  assign mem_r_ready_o = 1'b1;
endmodule
