// SPDX-License-Identifier: Apache-2.0
// The job front end: takes descriptors from the rings, runs their steps in order, writes completion
// records; abort and resets. What a driver sees is in registers.toml and descriptors.toml.
//
// Rules beyond those:
// - A descriptor that cannot be fetched or a record that cannot be written halts the card with
//   DEVICE_ERROR = host_dma, because no job can be told. After RESET.engine the descriptor is
//   fetched again; a record that could not be written is lost.
// - A job that ABORT ended leaves the card halted; a job that faults does not. While halted nothing
//   is fetched; rings and doorbells work.
// - Nothing of a job runs unless all its steps are well-formed.
// - A larger reason to stop overrules a smaller one: abort (at the next boundary of a command,
//   piece or step), reset of the engine (the stream ends at once), reset of the card, reset of the
//   function (nothing more is written to the host). A copy ends at a piece in every case.
// - What the job has changed (TAIL, counters, RUNNING, halted) is visible in registers before the
//   sequence number is in host memory, interrupts come after it.
// - A step with flag overlap starts as soon as its run has, or the step before it has ended. If the
//   run fails, no further step starts. The run step ends when neither it nor such a step is under
//   way; a failed run's status then stands before that of a failed step. Its requests to device
//   memory go through the core, so the core is reset only when it has ended.
// - With flag trace, a run step ends when its entries are in host memory (hd_trace_writer), or lost
//   with a reset. If one could not be written, the job fails behind its run with host_dma, unless the
//   run itself or a step beside it failed.
// - Words of SRAM that were repaired are counted, whatever runs; DEVICE_ERROR tells of them where it
//   has nothing worse to tell.
// - After power-up, a reset or a job with clear_sram, SRAM and accumulators are cleared before the
//   next stream begins.
//
// Core port (hd_core): start, abort (level until done) and clear as there; core_reset_o is a pulse
// that ends what the core does, at once and without done, core_busy_i stays high until it is over.
// core_hang_o is high during a stream that began while hang_i (fault injection) was high.
//
//   idle: 1 cycle to the fetch of a descriptor; between two steps 8 cycles
module hd_job_engine #(
    localparam int RW = $clog2(heddle_pkg::REGIONS),
    localparam int SW = $clog2(heddle_pkg::STEPS_MAX)
) (
    input  logic            clk_i,
    input  logic            free_clk_i,  // not gated, for the counter of cycles
    input  logic            rst_ni,
    input  logic [63:0]     dram_bytes_i,
    input  logic            function_reset_i,  // pulse
    input  logic            hang_i,
    // register writes
    input  logic [31:0]     wdata_i,
    input  logic            reset_we_i,
    input  logic            abort_we_i,
    input  logic            device_error_we_i,
    input  logic            ring_error_i,      // a register write to the rings was refused
    // registers
    output logic            clear_o,           // registers, interrupts, rings as after power-up
    output logic            active_o,          // low: nothing happens until an input changes
    // nothing changes here until the core is done or another unit asks for something
    output logic            idle_o,
    output logic [31:0]     status_o,
    output logic [31:0]     progress_o,
    output logic [63:0]     running_o,
    output logic [31:0]     device_error_o,
    output logic [63:0]     cycles_o,
    output logic [63:0]     macs_o,
    output logic [31:0]     jobs_o,
    output logic [31:0]     faults_o,
    output logic [31:0]     resets_o,
    output logic [31:0]     sram_corrected_o,
    output logic [3:0]      raise_o,
    // rings
    input  logic            next_valid_i,
    input  logic [1:0]      next_ring_i,
    input  logic [63:0]     next_iova_i,
    output logic            take_o,
    output logic            finish_o,
    input  logic            record_on_i,
    input  logic [63:0]     record_iova_i,
    input  logic [31:0]     record_sequence_i,
    output logic            record_take_o,
    // host memory (the copy engine has a port of its own; while it is active, nothing moves here)
    output logic            host_req_valid_o,
    input  logic            host_req_ready_i,
    output logic            host_req_write_o,
    output logic [63:0]     host_req_addr_o,
    output logic [6:0]      host_req_beats_o,
    output logic            host_w_valid_o,
    input  logic            host_w_ready_i,
    output logic [127:0]    host_w_data_o,
    output logic [15:0]     host_w_strb_o,
    input  logic            host_r_valid_i,
    input  logic [127:0]    host_r_data_i,
    input  logic            host_r_error_i,
    input  logic            host_b_valid_i,
    input  logic            host_b_error_i,
    // copy engine
    output logic            copy_start_o,
    output logic            copy_active_o,
    output logic            stop_o,
    output logic [8*heddle_pkg::STEP_BYTES-1:0] step_o,
    input  logic            copy_done_i,
    input  logic [7:0]      copy_status_i,
    input  logic [63:0]     copy_fault_addr_i,
    input  logic [63:0]     copy_bytes_i,
    input  logic            piece_i,
    // core
    output logic            core_start_o,
    output logic [hd_pkg::MEM_AW-1:0] core_stream_addr_o,
    output logic [31:0]     core_stream_bytes_o,
    output logic            region_we_o,
    output logic [RW-1:0]   region_index_o,
    output logic [63:0]     region_base_o,
    output logic [63:0]     region_size_o,
    output logic            region_writable_o,
    output logic            core_abort_o,
    output logic            core_clear_o,
    output logic            core_reset_o,
    output logic            core_hang_o,
    input  logic            core_busy_i,
    input  logic            core_done_i,
    input  logic [7:0]      core_status_i,
    input  hd_pkg::stream_fault_t core_fault_i,
    input  logic [63:0]     core_commands_i,
    input  logic [63:0]     core_macs_i,
    input  logic [63:0]     core_bytes_loaded_i,
    input  logic [63:0]     core_bytes_stored_i,
    input  logic [63:0]     core_matrix_busy_i,
    input  logic [63:0]     core_vector_busy_i,
    input  logic [63:0]     core_dma_busy_i,
    input  logic [31:0]     core_progress_i,
    input  logic [5:0]      core_sram_corrected_i,
    // trace: hd_trace (on, new, cycle, count), hd_trace_writer
    output logic            trace_on_o,
    output logic            trace_new_o,
    output logic [31:0]     trace_cycle_o,
    output logic            trace_stop_o,
    output logic [63:0]     trace_iova_o,
    output logic [31:0]     trace_room_o,
    output logic [5:0]      trace_step_o,
    input  logic [31:0]     trace_count_i,
    input  logic            trace_idle_i,
    input  logic            trace_bad_i
);
  localparam [4:0] IDLE = 5'd0, DESCRIPTOR = 5'd1, CHECK = 5'd2, STEPS = 5'd3, NEXT = 5'd4,
      LOAD = 5'd5, DISPATCH = 5'd6, TABLE = 5'd7, CLEAR = 5'd8, CLEARED = 5'd9, RUN = 5'd10,
      KILL = 5'd11, COPY = 5'd12, STEPPED = 5'd13, BODY = 5'd14, WROTE = 5'd15, COMMIT = 5'd16, SEQUENCE = 5'd17,
      TELL = 5'd18, RESET = 5'd19, QUIET = 5'd20;
  localparam [2:0] NONE = 3'd0, ABORT = 3'd1, ENGINE = 3'd2, CARD = 3'd3, SILENT = 3'd4;
  localparam int STEPS_SHIFT = $clog2(heddle_pkg::STEP_BYTES);
  localparam int TRACE_SHIFT = $clog2(heddle_pkg::TRACE_ENTRY_BYTES);

  localparam [1:0] ALONE = 2'd0, LOOK = 2'd1, FETCHED = 2'd2, BESIDE = 2'd3;

  logic [4:0] state_q;
  // Steps that are executed with the run: none (left), the next is looked at, read, under way.
  logic [1:0] beside_q;
  logic ran_q;              // the run has ended
  logic trace_q;            // the job is traced
  logic beside_bad_q;       // such a step failed, with status and address
  logic [7:0] beside_status_q;
  logic [63:0] beside_addr_q;
  logic [2:0] stop_q, stop_kept, stop_asked;
  logic running_q, halted_q, written_q;
  logic [1:0] ring_q;
  logic [SW-1:0] index_q;
  logic [7:0] result_q;
  logic [63:0] cycle_q, first_q;
  logic settle_q;  // first cycle of a wait for the core
  logic stale_q;   // SRAM must be cleared before the next stream
  logic [SW:0] steps;
  heddle_pkg::job_descriptor_t job_q;
  heddle_pkg::completion_t record_q;
  heddle_pkg::step_t step;

  // -- Host: fetch and record
  logic fetch_q, fetch_busy, fetch_valid, fetch_done, fetch_error, fetch_req;
  logic [63:0] fetch_addr_q, fetch_req_addr, record_req_addr;
  logic [8:0] fetch_words_q;
  logic [127:0] fetch_data;
  logic [6:0] fetch_beats, record_beats;
  logic body_q, sequence_q, record_done, record_error, record_req;

  hd_host_fetch u_fetch (
      .clk_i,
      .rst_ni,
      .start_i(fetch_q),
      .addr_i(fetch_addr_q),
      .words_i(fetch_words_q),
      .busy_o(fetch_busy),
      .valid_o(fetch_valid),
      .data_o(fetch_data),
      .done_o(fetch_done),
      .error_o(fetch_error),
      .req_valid_o(fetch_req),
      .req_ready_i(host_req_ready_i && !record_req),
      .req_addr_o(fetch_req_addr),
      .req_beats_o(fetch_beats),
      .r_valid_i(host_r_valid_i && fetch_busy),
      .r_data_i(host_r_data_i),
      .r_error_i(host_r_error_i)
  );

  hd_record_writer u_record (
      .clk_i,
      .rst_ni,
      .body_i(body_q),
      .sequence_i(sequence_q),
      .iova_i(fetch_addr_q),
      .record_i(record_q),
      .done_o(record_done),
      .error_o(record_error),
      .req_valid_o(record_req),
      .req_ready_i(host_req_ready_i),
      .req_addr_o(record_req_addr),
      .req_beats_o(record_beats),
      .w_valid_o(host_w_valid_o),
      .w_ready_i(host_w_ready_i),
      .w_data_o(host_w_data_o),
      .w_strb_o(host_w_strb_o),
      .b_valid_i(host_b_valid_i && !copy_active_o),
      .b_error_i(host_b_error_i)
  );
  assign host_req_valid_o = record_req || fetch_req;
  assign host_req_write_o = record_req;
  assign host_req_addr_o = record_req ? record_req_addr : fetch_req_addr;
  assign host_req_beats_o = record_req ? record_beats : fetch_beats;

  // -- Steps and region table
  logic step_bad, step_read, step_ready, table_bad;
  logic [SW-1:0] step_bad_index, next_index;
  logic [heddle_pkg::STEPS_MAX-1:0] overlap;
  logic joins, run_ends, run_failed;
  logic [RW-1:0] table_bad_index;
  assign step = step_o;
  assign step_read = (state_q == NEXT || joins) && (stop_q == NONE);
  // index_q is the run's step until the first that joins it, and then that of the last that did.
  assign next_index = index_q + 1'b1;
  assign joins = (state_q == RUN) && (beside_q == LOOK) && overlap[next_index]
      && ({1'b0, index_q} + 1'b1 != steps) && !run_failed;
  // The run has ended with this cycle, or had before.
  assign run_ends = ran_q || core_done_i;
  assign run_failed = ran_q ? (result_q != heddle_pkg::ERROR_OK[7:0])
      : (core_done_i && core_status_i != heddle_pkg::ERROR_OK[7:0]);

  hd_step_store u_steps (
      .clk_i,
      .rst_ni,
      .clear_i(state_q == CHECK),
      .valid_i(fetch_valid && state_q == STEPS),
      .data_i(fetch_data),
      .bad_o(step_bad),
      .bad_step_o(step_bad_index),
      .overlap_o(overlap),
      .read_i(step_read),
      .index_i((state_q == NEXT) ? index_q : next_index),
      .ready_o(step_ready),
      .step_o(step_o)
  );

  hd_table_check u_table (
      .clk_i,
      .rst_ni,
      .dram_bytes_i,
      .clear_i(state_q == DISPATCH),
      .valid_i(fetch_valid && state_q == TABLE),
      .data_i(fetch_data),
      .bad_o(table_bad),
      .bad_region_o(table_bad_index),
      .region_we_o,
      .region_index_o,
      .region_base_o,
      .region_size_o,
      .region_writable_o
  );

  // -- Checks
  logic job_legal, traced, stream_out;
  assign traced = (job_q.flags & heddle_pkg::JOB_DESCRIPTOR_FLAGS_TRACE_MASK) != 32'd0;
  assign steps = job_q.step_count[SW:0];
  assign job_legal = (job_q.step_count != 32'd0) && (job_q.step_count <= heddle_pkg::STEPS_MAX)
      && ((job_q.flags & ~(heddle_pkg::JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_MASK
                           | heddle_pkg::JOB_DESCRIPTOR_FLAGS_INTERRUPT_MASK
                           | heddle_pkg::JOB_DESCRIPTOR_FLAGS_TRACE_MASK)) == 32'd0)
      && (job_q.reserved0 == 32'd0) && (job_q.reserved1 == 32'd0) && (job_q.reserved2 == 128'd0)
      && (traced ? job_q.trace_iova[TRACE_SHIFT-1:0] == '0
          : (job_q.trace_iova == 64'd0) && (job_q.trace_entries == 32'd0))
      && (job_q.steps_iova[STEPS_SHIFT-1:0] == '0);
  assign stream_out = (step.length > dram_bytes_i)
      || (step.device_address > dram_bytes_i - step.length);

  // -- Stop
  logic ending, late;
  assign ending = (state_q == BODY) || (state_q == WROTE) || (state_q == COMMIT);
  // An abort that came when the job had ended, or with which it ended, is over.
  assign late = (stop_q == ABORT) && ((state_q == IDLE) || (state_q == BODY));
  assign stop_kept = (late || state_q == QUIET) ? NONE : stop_q;
  always_comb begin
    stop_asked = NONE;
    if (abort_we_i && running_q && !ending && wdata_i == job_q.fence[31:0]) stop_asked = ABORT;
    if (reset_we_i && (wdata_i & heddle_pkg::REG_RESET_ENGINE_MASK) != 32'd0) stop_asked = ENGINE;
    if (reset_we_i && (wdata_i & heddle_pkg::REG_RESET_CARD_MASK) != 32'd0) stop_asked = CARD;
    if (function_reset_i) stop_asked = SILENT;
  end
  assign stop_o = (stop_q != NONE);

  // -- Registers
  logic [31:0] pieces_q, progress_base_q, device_error_q, jobs_q, faults_q, resets_q;
  // Public for the test that it stays at its largest value.
  logic [31:0] corrected_q  /*verilator public_flat_rw*/;
  logic [32:0] corrected_sum;
  logic [63:0] macs_q;
  logic host_lost;  // no job can be told
  assign active_o = (state_q != IDLE) || (stop_q != NONE) || (next_valid_i && !halted_q);
  assign clear_o = function_reset_i || (state_q == QUIET && stop_q == CARD);
  assign status_o = ((stop_q <= ABORT) ? heddle_pkg::REG_STATUS_READY_MASK : 32'd0)
      | (running_q ? heddle_pkg::REG_STATUS_BUSY_MASK : 32'd0)
      | (running_q ? {30'd0, ring_q} << heddle_pkg::REG_STATUS_RING_SHIFT : 32'd0)
      | (halted_q ? heddle_pkg::REG_STATUS_HALTED_MASK : 32'd0);
  assign progress_o = core_progress_i + pieces_q - progress_base_q;
  assign running_o = running_q ? job_q.fence : 64'd0;
  assign device_error_o = device_error_q;
  assign cycles_o = cycle_q;
  assign macs_o = macs_q;
  assign jobs_o = jobs_q;
  assign faults_o = faults_q;
  assign resets_o = resets_q;
  assign sram_corrected_o = corrected_q;
  assign corrected_sum = {1'b0, corrected_q} + {27'd0, core_sram_corrected_i};
  assign host_lost = (stop_q != SILENT)
      && ((state_q == DESCRIPTOR && fetch_done && fetch_error) || (state_q == TELL && !written_q));

  always_comb begin
    raise_o = 4'd0;
    if (state_q == TELL && stop_q != SILENT) begin
      if (written_q && (job_q.flags & heddle_pkg::JOB_DESCRIPTOR_FLAGS_INTERRUPT_MASK) != 32'd0)
        raise_o = raise_o | heddle_pkg::REG_INT_STATUS_COMPLETION_MASK[3:0];
      if (result_q != heddle_pkg::ERROR_OK[7:0])
        raise_o = raise_o | heddle_pkg::REG_INT_STATUS_FAULT_MASK[3:0];
    end
    if (host_lost || core_sram_corrected_i != 6'd0)
      raise_o = raise_o | heddle_pkg::REG_INT_STATUS_ERROR_MASK[3:0];
  end

  assign take_o = (state_q == IDLE) && (stop_q == NONE) && !halted_q && next_valid_i;
  assign finish_o = (state_q == COMMIT) && (stop_q != SILENT);
  assign record_take_o = (state_q == BODY) && (stop_q != SILENT) && record_on_i;

  assign copy_active_o = (state_q == COPY) || (beside_q == BESIDE);
  logic copy_q, core_start_q, core_clear_q, core_reset_q, hang_q;
  assign copy_start_o = copy_q;
  assign core_start_o = core_start_q;
  assign core_clear_o = core_clear_q;
  assign core_reset_o = core_reset_q;
  assign core_hang_o = hang_q;
  assign core_abort_o = (state_q == RUN) && (stop_q == ABORT) && !ran_q;
  assign core_stream_addr_o = step.device_address[hd_pkg::MEM_AW-1:0];
  assign core_stream_bytes_o = step.length[31:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stop_q <= NONE;
      pieces_q <= 32'd0;
      progress_base_q <= 32'd0;
      device_error_q <= 32'd0;
      macs_q <= 64'd0;
      jobs_q <= 32'd0;
      faults_q <= 32'd0;
      resets_q <= 32'd0;
      corrected_q <= 32'd0;
    end else begin
      stop_q <= (stop_asked > stop_kept) ? stop_asked : stop_kept;
      if (piece_i) pieces_q <= pieces_q + 32'd1;
      if (clear_o || stop_q == SILENT)
        progress_base_q <= core_progress_i + pieces_q + {31'd0, piece_i};
      if (clear_o) device_error_q <= 32'd0;
      else if (host_lost) device_error_q <= heddle_pkg::ERROR_HOST_DMA;
      else if (ring_error_i) device_error_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR;
      else if (device_error_we_i) device_error_q <= device_error_q & ~wdata_i;
      else if (core_sram_corrected_i != 6'd0 && device_error_q == 32'd0)
        device_error_q <= heddle_pkg::ERROR_SRAM_CORRECTED;
      if (clear_o) corrected_q <= 32'd0;
      else if (core_sram_corrected_i != 6'd0)
        corrected_q <= corrected_sum[32] ? 32'hffffffff : corrected_sum[31:0];
      if (clear_o) begin
        macs_q <= 64'd0;
        jobs_q <= 32'd0;
        faults_q <= 32'd0;
      end else if (finish_o) begin
        macs_q <= macs_q + record_q.macs;
        jobs_q <= jobs_q + 32'd1;
        if (result_q != heddle_pkg::ERROR_OK[7:0]) faults_q <= faults_q + 32'd1;
      end
      if (reset_we_i && (wdata_i & heddle_pkg::REG_RESET_WO_BITS) != 32'd0)
        resets_q <= resets_q + 32'd1;
    end
  end

  always_ff @(posedge free_clk_i) begin
    if (!rst_ni || clear_o) cycle_q <= 64'd0;
    else cycle_q <= cycle_q + 64'd1;
  end

  // What the step began (fetch, table, pulses) has come to rest after some cycles of its run.
  logic [1:0] calm_q;
  always_ff @(posedge clk_i) calm_q <= (state_q != RUN) ? 2'd0 : calm_q + {1'b0, calm_q != 2'd3};
  assign idle_o = (calm_q == 2'd3) && (state_q == RUN) && (beside_q == ALONE) && (stop_q == NONE)
      && !run_ends && !trace_q;

  // -- Trace
  assign trace_on_o = trace_q;
  assign trace_new_o = trace_q && (state_q == STEPS);
  assign trace_cycle_o = trace_q ? cycle_q[31:0] - first_q[31:0] : 32'd0;
  assign trace_stop_o = (stop_q > ABORT);
  assign trace_iova_o = job_q.trace_iova;
  assign trace_room_o = job_q.trace_entries;
  assign trace_step_o = record_q.fault_step[5:0];

  // -- The sequence
  always_ff @(posedge clk_i) begin
    fetch_q <= 1'b0;
    body_q <= 1'b0;
    sequence_q <= 1'b0;
    copy_q <= 1'b0;
    core_start_q <= 1'b0;
    core_clear_q <= 1'b0;
    core_reset_q <= 1'b0;
    settle_q <= 1'b0;
    if (!rst_ni) begin
      state_q <= IDLE;
      running_q <= 1'b0;
      halted_q <= 1'b0;
      stale_q <= 1'b1;
      hang_q <= 1'b0;
      beside_q <= ALONE;
      trace_q <= 1'b0;
    end else begin
      case (state_q)
        IDLE: begin
          running_q <= 1'b0;
          if (stop_q > ABORT) begin
            state_q <= RESET;
            core_reset_q <= 1'b1;
            settle_q <= 1'b1;
          end else if (take_o) begin
            state_q <= DESCRIPTOR;
            ring_q <= next_ring_i;
            first_q <= cycle_q;
            fetch_q <= 1'b1;
            fetch_addr_q <= next_iova_i;
            fetch_words_q <= 9'(heddle_pkg::JOB_DESCRIPTOR_BYTES / heddle_pkg::WORD_BYTES);
          end
        end
        DESCRIPTOR: begin
          if (fetch_valid) job_q <= {fetch_data, job_q[8*heddle_pkg::JOB_DESCRIPTOR_BYTES-1:128]};
          if (fetch_done) begin
            state_q <= fetch_error || stop_q == SILENT ? IDLE : CHECK;
            running_q <= !fetch_error && stop_q != SILENT;
            if (fetch_error && stop_q != SILENT) halted_q <= 1'b1;
          end
        end
        CHECK: begin
          record_q <= '0;
          record_q.fence <= job_q.fence;
          record_q.ring <= {30'd0, ring_q};
          record_q.context_id <= job_q.context_id;
          index_q <= '0;
          beside_bad_q <= 1'b0;
          trace_q <= job_legal && traced;
          if (job_legal) begin
            state_q <= STEPS;
            fetch_q <= 1'b1;
            fetch_addr_q <= job_q.steps_iova;
            fetch_words_q <= 9'({steps, 2'd0});
          end else begin
            state_q <= BODY;
            result_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR[7:0];
          end
        end
        STEPS: begin
          if (fetch_done) begin
            state_q <= BODY;
            if (fetch_error) begin
              result_q <= heddle_pkg::ERROR_HOST_DMA[7:0];
              record_q.fault_address <= job_q.steps_iova;
            end else if (step_bad) begin
              result_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR[7:0];
              record_q.fault_step <= 32'(step_bad_index);
            end else begin
              state_q <= NEXT;
              if ((job_q.flags & heddle_pkg::JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_MASK) != 32'd0)
                stale_q <= 1'b1;
            end
          end
        end
        NEXT: begin
          record_q.fault_step <= 32'(index_q);
          if (stop_q != NONE) begin
            state_q <= BODY;
            result_q <= heddle_pkg::ERROR_ABORTED[7:0];
          end else begin
            state_q <= LOAD;
          end
        end
        LOAD: if (step_ready) state_q <= DISPATCH;
        DISPATCH: begin
          fetch_addr_q <= step.table_iova;
          fetch_words_q <= 9'(heddle_pkg::REGIONS
              * heddle_pkg::REGION_BYTES / heddle_pkg::WORD_BYTES);
          if (step.type_ != heddle_pkg::STEP_TYPE_RUN) begin
            state_q <= COPY;
            copy_q <= 1'b1;
          end else if (stream_out) begin
            state_q <= BODY;
            result_q <= heddle_pkg::ERROR_COPY_BOUNDS[7:0];
            record_q.fault_address <= (step.device_address > dram_bytes_i)
                ? step.device_address : dram_bytes_i;
          end else begin
            state_q <= TABLE;
            fetch_q <= 1'b1;
          end
        end
        TABLE: begin
          if (fetch_done) begin
            state_q <= BODY;
            if (fetch_error) begin
              result_q <= heddle_pkg::ERROR_HOST_DMA[7:0];
              record_q.fault_address <= step.table_iova;
            end else if (table_bad) begin
              result_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR[7:0];
              record_q.fault_region <= 32'(table_bad_index);
              record_q.fault_address <= step.table_iova
                  + 64'(table_bad_index) * {32'd0, heddle_pkg::REGION_BYTES};
            end else begin
              state_q <= CLEAR;
            end
          end
        end
        CLEAR: begin
          if (stop_q != NONE) begin
            state_q <= BODY;
            result_q <= heddle_pkg::ERROR_ABORTED[7:0];
          end else if (stale_q) begin
            state_q <= CLEARED;
            core_clear_q <= 1'b1;
            settle_q <= 1'b1;
            stale_q <= 1'b0;
          end else begin
            state_q <= RUN;
            core_start_q <= 1'b1;
            hang_q <= hang_i;
            ran_q <= 1'b0;
            beside_q <= ALONE;
          end
        end
        CLEARED: if (!settle_q && !core_clear_q && !core_busy_i) state_q <= CLEAR;
        RUN: begin
          if (trace_q) record_q.trace_count <= trace_count_i;
          case (beside_q)
            // The first look is in the second cycle: the core has its address from step_o.
            ALONE: if (core_start_q) beside_q <= LOOK;
            LOOK: beside_q <= (joins && stop_q == NONE) ? FETCHED : ALONE;
            FETCHED:
            if (step_ready) begin
              beside_q <= ALONE;
              if (stop_q == NONE && !run_failed) begin
                beside_q <= BESIDE;
                copy_q <= 1'b1;
                index_q <= next_index;
              end
            end
            default:
            if (copy_done_i) begin
              record_q.bytes_copied <= record_q.bytes_copied + copy_bytes_i;
              beside_q <= LOOK;
              if (copy_status_i != heddle_pkg::ERROR_OK[7:0]) begin
                beside_q <= ALONE;
                beside_bad_q <= 1'b1;
                beside_status_q <= copy_status_i;
                beside_addr_q <= copy_fault_addr_i;
              end
            end
          endcase
          if (core_done_i && stop_q <= ABORT) begin
            ran_q <= 1'b1;
            result_q <= core_status_i;
            record_q.commands <= record_q.commands + core_commands_i;
            record_q.macs <= record_q.macs + core_macs_i;
            record_q.bytes_loaded <= record_q.bytes_loaded + core_bytes_loaded_i;
            record_q.bytes_stored <= record_q.bytes_stored + core_bytes_stored_i;
            record_q.matrix_busy <= record_q.matrix_busy + core_matrix_busy_i;
            record_q.vector_busy <= record_q.vector_busy + core_vector_busy_i;
            record_q.dma_busy <= record_q.dma_busy + core_dma_busy_i;
            hang_q <= 1'b0;
            if (core_status_i != heddle_pkg::ERROR_OK[7:0]) begin
              record_q.fault_offset <= core_fault_i.offset;
              record_q.fault_tag <= core_fault_i.tag;
              record_q.fault_engine <= {29'd0, core_fault_i.engine};
              record_q.fault_region <= {28'd0, core_fault_i.region};
              record_q.fault_address <= core_fault_i.addr;
            end
          end
          if (stop_q > ABORT) begin
            if (beside_q == ALONE && !(trace_q && !trace_idle_i)) begin
              state_q <= KILL;
              core_reset_q <= 1'b1;
              settle_q <= 1'b1;
            end
          end else if (run_ends && (beside_q == ALONE || (beside_q == LOOK && !joins))
              && !(trace_q && !trace_idle_i)) begin
            state_q <= STEPPED;
          end
        end
        KILL: begin
          if (!settle_q && !core_reset_q && !core_busy_i) begin
            state_q <= BODY;
            stale_q <= 1'b1;
            hang_q <= 1'b0;
            result_q <= heddle_pkg::ERROR_ABORTED[7:0];
          end
        end
        COPY: begin
          if (copy_done_i) begin
            state_q <= STEPPED;
            result_q <= copy_status_i;
            record_q.bytes_copied <= record_q.bytes_copied + copy_bytes_i;
            if (copy_status_i != heddle_pkg::ERROR_OK[7:0])
              record_q.fault_address <= copy_fault_addr_i;
          end
        end
        STEPPED: begin
          index_q <= index_q + 1'b1;
          state_q <= NEXT;
          if (result_q != heddle_pkg::ERROR_OK[7:0]) begin
            state_q <= BODY;
          end else if (beside_bad_q) begin
            state_q <= BODY;
            result_q <= beside_status_q;
            record_q.fault_step <= 32'(index_q);
            record_q.fault_address <= beside_addr_q;
          end else if (trace_q && trace_bad_i) begin
            state_q <= BODY;
            result_q <= heddle_pkg::ERROR_HOST_DMA[7:0];
            record_q.fault_address <= job_q.trace_iova;
          end else if ({1'b0, index_q} + 1'b1 == steps) begin
            state_q <= BODY;
            record_q.fault_step <= 32'd0;
          end
        end
        BODY: begin
          trace_q <= 1'b0;
          record_q.status <= {24'd0, result_q};
          record_q.cycles <= cycle_q - first_q;
          record_q.sequence_ <= record_sequence_i;
          fetch_addr_q <= record_iova_i;
          body_q <= record_on_i;
          written_q <= record_on_i;
          if (stop_q == SILENT) begin
            state_q <= IDLE;
            body_q <= 1'b0;
          end else begin
            state_q <= record_on_i ? WROTE : COMMIT;
            // Not if the abort came after the last boundary and had nothing to end.
            if (stop_q == ABORT && result_q == heddle_pkg::ERROR_ABORTED[7:0]) halted_q <= 1'b1;
          end
        end
        WROTE: begin
          if (record_done) begin
            written_q <= !record_error;
            state_q <= COMMIT;
          end
        end
        COMMIT: begin
          running_q <= 1'b0;
          sequence_q <= written_q && stop_q != SILENT;
          state_q <= (stop_q == SILENT) ? IDLE : written_q ? SEQUENCE : TELL;
        end
        SEQUENCE: begin
          if (record_done) begin
            written_q <= !record_error;
            state_q <= TELL;
          end
        end
        TELL: begin
          state_q <= IDLE;
          if (!written_q) halted_q <= 1'b1;
        end
        RESET: if (!settle_q && !core_reset_q && !core_busy_i) state_q <= QUIET;
        default: begin  // QUIET
          state_q <= IDLE;
          stale_q <= 1'b1;
          halted_q <= 1'b0;
          hang_q <= 1'b0;
        end
      endcase
      if (function_reset_i) begin
        halted_q <= 1'b0;
        stale_q <= 1'b1;
      end
    end
  end
endmodule
