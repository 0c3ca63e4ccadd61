// SPDX-License-Identifier: Apache-2.0
// Takes commands in stream order from the assembler, has each decoded, and puts it into the queue of
// its engine or executes it (engine control).
//
// cycle 0       cmd_valid_i: decode_start_o
// cycle 1 ...   the verdict (1 cycle, `conv` 5 to 8); in the cycle it is there: push_o to the engine's
//               queue if it has room, or the command is executed, and cmd_ready_o
//
// nop: at once. barrier, end: when every engine is idle, its queue empty and everything retired.
// A command that is not legal, or a stream that overruns, faults in the same way: only when all
// earlier commands have retired. So faults of earlier commands come first, and what the stream did
// until there is what the model says.
//
// Standing still: dispatch waits (full queue, barrier, end, fault), no engine has a command, and no
// head of a queue can take its units. Nothing can change that, for units come from running commands
// only: the stream breaks the rule that program order is always possible, which the model calls
// illegal_command too. fault_stuck_o: the fault is that of the oldest head.
//
// enable_i low: nothing is dispatched or executed; decoding may go on.
module hd_dispatch (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       clear_i,
    input  logic       enable_i,
    // assembler and decoder
    input  logic       cmd_valid_i,
    output logic       cmd_ready_o,
    input  logic [7:0] opcode_i,
    input  logic [7:0] status_i,
    input  logic       last_i,
    output logic       decode_start_o,
    input  logic       decode_done_i,
    input  logic       decode_legal_i,
    // queues and engines: 0 load, 1 store, 2 matrix, 3 vector
    output logic [3:0] push_o,
    input  logic [3:0] full_i,
    input  logic [3:0] empty_i,
    input  logic [3:0] retired_i,
    input  logic [3:0] idle_i,
    input  logic [3:0] want_i,
    input  logic [3:0] take_i,
    // events
    output logic       retire_o,  // a control command was executed
    output logic       ended_o,   // it was `end`
    output logic       fault_o,
    output logic       fault_stuck_o,
    output logic [7:0] fault_code_o
);
  logic decoding_q;  // decode_start_o was given for this command
  logic failed, known, bad, quiet, blocked;
  logic [2:0] engine;
  logic [3:0] target;

  assign failed = (status_i != heddle_pkg::ERROR_OK[7:0]);
  assign known = cmd_valid_i && (failed || (decoding_q && decode_done_i));
  assign decode_start_o = cmd_valid_i && !failed && !decoding_q;
  assign quiet = (empty_i == '1) && (retired_i == '1) && (idle_i == '1);

  always_comb begin
    bad = 1'b0;
    engine = heddle_pkg::ENGINE_CONTROL;
    target = '0;
    blocked = 1'b0;
    push_o = '0;
    cmd_ready_o = 1'b0;
    retire_o = 1'b0;
    ended_o = 1'b0;
    fault_o = 1'b0;
    fault_stuck_o = 1'b0;
    fault_code_o = failed ? status_i : heddle_pkg::ERROR_ILLEGAL_COMMAND[7:0];
    if (known && enable_i) begin
      bad = failed || !decode_legal_i || ((opcode_i == heddle_pkg::OP_END) && !last_i);
      engine = heddle_pkg::command_engine(opcode_i);
      case (engine)
        heddle_pkg::ENGINE_LOAD: target = 4'b0001;
        heddle_pkg::ENGINE_STORE: target = 4'b0010;
        heddle_pkg::ENGINE_MATRIX: target = 4'b0100;
        heddle_pkg::ENGINE_VECTOR: target = 4'b1000;
        default: target = 4'b0000;
      endcase
      if (bad) begin
        fault_o = quiet;
        blocked = !quiet;
      end else if (target != '0) begin
        blocked = ((target & full_i) != '0);
        push_o = blocked ? '0 : target;
        cmd_ready_o = !blocked;
      end else begin
        blocked = (opcode_i != heddle_pkg::OP_NOP) && !quiet;
        retire_o = !blocked;
        ended_o = retire_o && (opcode_i == heddle_pkg::OP_END);
        cmd_ready_o = !blocked;
      end
      if (blocked && (empty_i != '1) && (retired_i == '1) && (take_i == '0) &&
          ((want_i | empty_i) == '1)) begin
        fault_o = 1'b1;
        fault_stuck_o = 1'b1;
        fault_code_o = heddle_pkg::ERROR_ILLEGAL_COMMAND[7:0];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i || cmd_ready_o) decoding_q <= 1'b0;
    else if (decode_start_o) decoding_q <= 1'b1;
  end

`ifndef SYNTHESIS
  // The contract of the ports, and what the state never is.
  always_ff @(posedge clk_i)
    if (rst_ni && cmd_ready_o) begin  // push_o is 0 otherwise
      assert ((push_o & full_i) == '0);
      assert (!fault_o);
    end
`endif
endmodule
