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
// commands_o says which commands these are: the oldest of the table, the oldest in it that has not
// reached input_read, and the head.
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
    // for faults
    output hd_pkg::engine_commands_t commands_o,
    output logic            same_o       // oldest and oldest_read are one command
);
  localparam int DEPTH = heddle_pkg::QUEUE_DEPTH;
  localparam int TABLE = 8;  // more than any engine accepts before its first is done
  localparam int TW = $clog2(TABLE);

  typedef struct packed {
    logic       point;
    logic [7:0] count;
    logic [4:0] sem;
    logic       enable;
  } signal_t;
  typedef struct packed {
    logic [27:0] offset;  // in beats
    logic [31:0] tag;
    signal_t     signal1;
    signal_t     signal0;
  } entry_t;
  localparam int EW = hd_pkg::COMMAND_ID_BITS + 2 * 15;

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
  entry_t at_read, at_done, entry;
  assign at_read = table_q[read_q[TW-1:0]];
  assign at_done = table_q[done_q[TW-1:0]];
  always_comb begin
    signal_valid_o = '0;
    if (done) begin
      signal_valid_o[0] = at_done.signal0.enable
          && (at_done.signal0.point == heddle_pkg::SIGNAL_POINT_OUTPUT_VISIBLE);
      signal_valid_o[1] = at_done.signal1.enable
          && (at_done.signal1.point == heddle_pkg::SIGNAL_POINT_OUTPUT_VISIBLE);
    end
    if (read) begin
      signal_valid_o[2] = at_read.signal0.enable
          && (at_read.signal0.point == heddle_pkg::SIGNAL_POINT_INPUT_READ);
      signal_valid_o[3] = at_read.signal1.enable
          && (at_read.signal1.point == heddle_pkg::SIGNAL_POINT_INPUT_READ);
    end
  end
  assign signal_sem_o = {at_read.signal1.sem, at_read.signal0.sem, at_done.signal1.sem, at_done.signal0.sem};
  assign signal_count_o = {at_read.signal1.count, at_read.signal0.count,
                           at_done.signal1.count, at_done.signal0.count};
  assign commands_o.head.offset = head_offset;
  assign commands_o.head.tag = cmd_header.tag;
  assign commands_o.oldest_read.offset = at_read.offset;
  assign commands_o.oldest_read.tag = at_read.tag;
  assign commands_o.oldest.offset = at_done.offset;
  assign commands_o.oldest.tag = at_done.tag;

  assign entry.offset = head_offset;
  assign entry.tag = cmd_header.tag;
  assign entry.signal1 = {cmd_header.signal1_point, cmd_header.signal1_count, cmd_header.signal1_sem,
                          cmd_header.signal1_enable};
  assign entry.signal0 = {cmd_header.signal0_point, cmd_header.signal0_count, cmd_header.signal0_sem,
                          cmd_header.signal0_enable};

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
    if (pop) table_q[accept_q[TW-1:0]] <= entry;
  end

  // A command runs for hundreds of cycles; in between nothing moves.
  assign clk_req_o = !rst_ni || clear_i || push_i || pop || take_i || read || done;
endmodule
