// SPDX-License-Identifier: Apache-2.0
// State of the core: start, end, abort, fault, clear, and the reset of the engines after a fault.
//
//   IDLE -> (CLEAR -> CLEARING) -> START -> RUN ------------------- ended_i --> DONE -> IDLE
//                                            |---- abort_i --> ABORT -- quiet --^
//                                            |                   | fault_i      |
//                                            '-- fault_i --> STOP <-'           |
//                                                             '-> RESET (2) ----'
//
// START   begin_o: fetch, assembler, semaphores, records and counters start afresh
// RUN     run_o: dispatch and queues work
// ABORT   nothing further starts; left when engines have ended what they accepted and no answer of
//         memory is missing
// STOP    stop_o: as ABORT, but the DMA engines begin no burst and nobody waits for commands: left
//         when no master of memory awaits an answer. It takes four cycles at least, so that what was
//         handed over in the cycle of the fault is seen.
// RESET   engine_rst_no low
// DONE    done_o; the queues are emptied
// hang_i  freezes RUN (run_o low, abort_i, fault_i and ended_i not looked at) and ABORT.
//
// clear_i and start_i are looked at in IDLE only. sram_clear_o is a pulse (CLEAR); the units that
// clear answer with busy from the next cycle on (CLEARING).
module hd_core_ctrl (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       start_i,
    input  logic       clear_i,
    input  logic       abort_i,
    input  logic       hang_i,
    output logic       busy_o,
    output logic       done_o,
    output logic       sram_clear_o,
    input  logic       sram_clear_busy_i,
    // front end and queues
    output logic       begin_o,
    output logic       run_o,
    output logic       flush_o,         // empty the queues
    output logic       fetch_stop_o,
    output logic       count_o,         // cycles of the stream
    output logic       aborted_o,       // until begin_o
    input  logic       ended_i,
    input  logic       fault_i,
    input  logic       fetch_idle_i,
    input  logic [3:0] retired_i,       // tables of the queues are empty
    input  logic [3:0] idle_i,          // engines: load, store, matrix, vector
    // engines
    output logic       stop_o,
    output logic       engine_rst_no
);
  localparam [3:0] IDLE = 4'd0;
  localparam [3:0] CLEAR = 4'd1;
  localparam [3:0] CLEARING = 4'd2;
  localparam [3:0] START = 4'd3;
  localparam [3:0] RUN = 4'd4;
  localparam [3:0] ABORT = 4'd5;
  localparam [3:0] STOP = 4'd6;
  localparam [3:0] RESET = 4'd7;
  localparam [3:0] DONE = 4'd8;

  logic [3:0] state_q;
  logic start_q;        // a stream follows the clear
  logic aborted_q;
  logic engine_rst_q;
  logic [1:0] wait_q;   // cycles left in STOP before idle_i is looked at, and in RESET

  assign busy_o = (state_q != IDLE);
  assign done_o = (state_q == DONE);
  assign sram_clear_o = (state_q == CLEAR);
  assign begin_o = (state_q == START);
  assign run_o = (state_q == RUN) && !hang_i && !abort_i && !fault_i;
  assign flush_o = (state_q == START) || (state_q == RESET) || (state_q == DONE);
  assign fetch_stop_o = (state_q == ABORT) || (state_q == STOP) || (state_q == RESET) ||
                        (state_q == DONE);
  assign count_o = (state_q == RUN) || (state_q == ABORT) || (state_q == STOP) ||
                   (state_q == RESET) || (state_q == DONE);
  assign aborted_o = aborted_q;
  assign stop_o = (state_q == STOP) || (state_q == RESET);
  assign engine_rst_no = engine_rst_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      engine_rst_q <= 1'b0;
      aborted_q <= 1'b0;
    end else begin
      engine_rst_q <= 1'b1;
      case (state_q)
        IDLE: begin
          start_q <= start_i;
          if (clear_i) state_q <= CLEAR;
          else if (start_i) state_q <= START;
        end
        CLEAR: state_q <= CLEARING;
        CLEARING: if (!sram_clear_busy_i) state_q <= start_q ? START : IDLE;
        START: begin
          state_q <= RUN;
          aborted_q <= 1'b0;
        end
        RUN:
        if (!hang_i) begin
          if (fault_i) begin
            state_q <= STOP;
            wait_q <= 2'd3;
          end else if (ended_i) begin
            state_q <= DONE;
          end else if (abort_i) begin
            state_q <= ABORT;
            aborted_q <= 1'b1;
          end
        end
        ABORT:
        if (!hang_i) begin
          if (fault_i) begin
            state_q <= STOP;
            wait_q <= 2'd3;
          end else if (fetch_idle_i && (retired_i == '1) && (idle_i == '1)) begin
            state_q <= DONE;
          end
        end
        STOP:
        if (wait_q != '0) begin
          wait_q <= wait_q - 2'd1;
        end else if (fetch_idle_i && (idle_i[1:0] == '1)) begin
          state_q <= RESET;
          engine_rst_q <= 1'b0;
          wait_q <= 2'd1;
        end
        RESET:
        if (wait_q != '0) begin
          wait_q <= wait_q - 2'd1;
          engine_rst_q <= 1'b0;
        end else begin
          state_q <= DONE;
        end
        DONE: state_q <= IDLE;
        default: state_q <= IDLE;
      endcase
    end
  end
endmodule
