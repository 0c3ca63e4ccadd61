// SPDX-License-Identifier: Apache-2.0
// Queue of one engine: commands that wait, and a table of those that the engine has accepted.
//
//   push -> FIFO of queue_depth commands -> head: takes its units -> engine -> table of 8
//                                                                      |  read_i: signals, point 0
//                                                                      |  done_i: signals, point 1
//
// cycle 0  push_i
// cycle 1  the command is at the head (queue empty): want_o asks for its units; in the cycle of
//          take_i engine_valid_o rises as well, so a command whose units are there starts at once.
//          Units taken are remembered if the engine is not ready.
// read_i, done_i: the signals leave in the same cycle (signal_*); slots 0 and 1 for done_i, 2 and 3
//          for read_i. done_i retires the oldest command of the table.
// hold_i (level): take no units, hand over nothing. clear_i: forget everything.
//
// record 0 is the oldest command of the table, 1 the oldest that has not reached input_read, 2 the
// head: their offset (in beats) and tag, for faults.
//
// On-chip memory: 8 x 32*W bits (load and store 640 B, matrix 1.25 KiB, vector 1.63 KiB), and 8 x 90 bits.
module hd_engine_queue #(
    parameter int W = heddle_pkg::LOAD_WORDS  // words of the engine's longest command
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic            clear_i,
    input  logic            hold_i,
    // from dispatch
    input  logic            push_i,
    input  logic [32*W-1:0] cmd_i,
    input  logic [27:0]     offset_i,
    output logic            full_o,
    output logic            empty_o,     // no command waits
    output logic            retired_o,   // no command is in the table
    // semaphores
    output logic            want_o,
    output logic [1:0]      wait_enable_o,
    output logic [9:0]      wait_sem_o,
    output logic [15:0]     wait_count_o,
    input  logic            take_i,
    output logic [3:0]      signal_valid_o,
    output logic [19:0]     signal_sem_o,
    output logic [31:0]     signal_count_o,
    // engine
    output logic            engine_valid_o,
    input  logic            engine_ready_i,
    output logic [32*W-1:0] engine_cmd_o,
    input  logic            read_i,
    input  logic            done_i,
    // records
    output logic [83:0]     record_offset_o,
    output logic [95:0]     record_tag_o,
    output logic            same_o       // records 0 and 1 are one command
);
  localparam int DEPTH = heddle_pkg::QUEUE_DEPTH;
  localparam int TABLE = 8;  // more than any engine accepts before its first is done
  localparam int TW = $clog2(TABLE);
  localparam int EW = 90;    // entry: offset 28, tag 32, signal word 30

  // Queue. Offsets have a FIFO of their own: simulators would put offset and command together into
  // one long word in every cycle in which the assembler takes a beat.
  logic valid, pop;
  logic [27:0] head_offset;
  heddle_pkg::header_t cmd_header;
  hd_fifo #(.W(32 * W), .DEPTH(DEPTH)) u_commands (
      .clk_i, .rst_ni, .clear_i,
      .push_i, .data_i(cmd_i), .full_o,
      .valid_o(valid), .data_o(engine_cmd_o), .pop_i(pop), .level_o()
  );
  hd_fifo #(.W(28), .DEPTH(DEPTH)) u_offsets (
      .clk_i, .rst_ni, .clear_i,
      .push_i, .data_i(offset_i), .full_o(),
      .valid_o(), .data_o(head_offset), .pop_i(pop), .level_o()
  );
  assign cmd_header = engine_cmd_o[32*heddle_pkg::HEADER_WORDS-1:0];
  assign empty_o = !valid;

  // Table: accepted at accept_q, oldest not at input_read at read_q, oldest not done at done_q.
  logic [EW-1:0] table_q [0:TABLE-1];
  logic [TW:0] accept_q, read_q, done_q;
  logic room, read, done, armed_q;
  assign room = (accept_q - done_q) != (TW + 1)'(TABLE);
  assign retired_o = (accept_q == done_q);
  assign same_o = (read_q == done_q);
  assign read = read_i && (read_q != accept_q);
  assign done = done_i && !retired_o;

  // Start.
  assign want_o = valid && !armed_q && room && !hold_i;
  assign wait_enable_o = {cmd_header.wait1_enable, cmd_header.wait0_enable};
  assign wait_sem_o = {cmd_header.wait1_sem, cmd_header.wait0_sem};
  assign wait_count_o = {cmd_header.wait1_count, cmd_header.wait0_count};
  assign engine_valid_o = valid && room && !hold_i && (armed_q || take_i);
  assign pop = engine_valid_o && engine_ready_i;

  // Signals.
  logic [EW-1:0] at_read, at_done;
  assign at_read = table_q[read_q[TW-1:0]];
  assign at_done = table_q[done_q[TW-1:0]];
  always_comb begin
    signal_valid_o = '0;
    if (done) begin
      signal_valid_o[0] = at_done[0] && (at_done[14] == heddle_pkg::SIGNAL_POINT_OUTPUT_VISIBLE);
      signal_valid_o[1] = at_done[15] && (at_done[29] == heddle_pkg::SIGNAL_POINT_OUTPUT_VISIBLE);
    end
    if (read) begin
      signal_valid_o[2] = at_read[0] && (at_read[14] == heddle_pkg::SIGNAL_POINT_INPUT_READ);
      signal_valid_o[3] = at_read[15] && (at_read[29] == heddle_pkg::SIGNAL_POINT_INPUT_READ);
    end
  end
  assign signal_sem_o = {at_read[20:16], at_read[5:1], at_done[20:16], at_done[5:1]};
  assign signal_count_o = {at_read[28:21], at_read[13:6], at_done[28:21], at_done[13:6]};
  assign record_offset_o = {head_offset, at_read[89:62], at_done[89:62]};
  assign record_tag_o = {cmd_header.tag, at_read[61:30], at_done[61:30]};

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      accept_q <= '0;
      read_q <= '0;
      done_q <= '0;
      armed_q <= 1'b0;
    end else if (pop || take_i || read || done) begin
`ifndef SYNTHESIS
      // The contract of the ports, and what the state never is.
      assert (accept_q - done_q <= (TW + 1)'(TABLE));
      assert (accept_q - read_q <= accept_q - done_q);
      assert (!take_i || want_o);
`endif
      if (pop) armed_q <= 1'b0;
      else if (take_i) armed_q <= 1'b1;
      if (pop) accept_q <= accept_q + (TW + 1)'(1);
      if (read) read_q <= read_q + (TW + 1)'(1);
      if (done) done_q <= done_q + (TW + 1)'(1);
    end
    if (pop) begin
      table_q[accept_q[TW-1:0]] <= {head_offset, cmd_header.tag,
          cmd_header.signal1_point, cmd_header.signal1_count, cmd_header.signal1_sem, cmd_header.signal1_enable,
          cmd_header.signal0_point, cmd_header.signal0_count, cmd_header.signal0_sem, cmd_header.signal0_enable};
    end
  end

  // A command runs for hundreds of cycles; in between nothing moves.
  assign clk_req_o = !rst_ni || clear_i || push_i || pop || take_i || read || done;
endmodule
