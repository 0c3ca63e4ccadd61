// SPDX-License-Identifier: Apache-2.0
// Records the first fault of a stream: code, command, engine, region and address.
//
// Sources of one cycle, first one taken: the SRAM (of no command: it gets the one that retired last),
// the engines (load, store, matrix, vector; the fault is that of the oldest command they have
// accepted), a semaphore that overflows (address = its number; the command whose signal it was), the
// front end (a command it has in hand, or, with front_stuck_i, the oldest head of a queue). The record
// is there from the next cycle on (fault_o), until clear_i.
//
// retire_o: the commands that retire in this cycle, without one whose signal overflows.
// last_o: the command that retired last (of several: the lowest engine's).
module hd_fault_record (
    input  logic         clk_i,
    input  logic         rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic         clear_i,
    // engines: 0 load, 1 store, 2 matrix, 3 vector
    input  logic [3:0]   engine_fault_i,
    input  logic [4*hd_pkg::ENGINE_FAULT_BITS-1:0] engine_cause_i,
    input  logic [3:0]   done_i,
    // queues (hd_engine_queue)
    input  logic [4*hd_pkg::ENGINE_COMMANDS_BITS-1:0] commands_i,
    input  logic [3:0]   same_i,
    input  logic [3:0]   empty_i,
    // SRAM
    input  logic         sram_fault_i,
    input  logic [63:0]  sram_addr_i,
    // semaphores
    input  logic         overflow_i,
    input  logic [2:0]   overflow_slot_i,   // engine, point (1: input_read)
    input  logic [4:0]   overflow_sem_i,
    // front end
    input  logic         front_retire_i,
    input  logic         front_fault_i,
    input  logic         front_stuck_i,
    input  logic [7:0]   front_code_i,
    input  hd_pkg::command_id_t front_command_i,
    input  logic [39:0]  front_addr_i,   // of a bus error
    // results
    output logic [4:0]   retire_o,       // engines, front end in bit 4
    output logic         fault_o,
    output logic [7:0]   code_o,
    output hd_pkg::command_id_t command_o,
    output logic [2:0]   engine_o,
    output logic [3:0]   region_o,
    output logic [63:0]  addr_o,
    output hd_pkg::command_id_t last_o
);
  localparam int CB = hd_pkg::ENGINE_COMMANDS_BITS;

  // The new fault of this cycle.
  logic hit;
  hd_pkg::engine_fault_t cause;
  hd_pkg::command_id_t command;
  hd_pkg::engine_commands_t commands;  // of the engine that is looked at
  logic [2:0] engine;
  logic any_head;
  always_comb begin
    hit = sram_fault_i || (engine_fault_i != '0) || overflow_i || front_fault_i;
    cause = '0;
    command = '0;
    commands = '0;
    engine = heddle_pkg::ENGINE_CONTROL;
    any_head = 1'b0;
    if (hit && !fault_o) begin
      if (sram_fault_i) begin
        cause.code = heddle_pkg::ERROR_SRAM_UNCORRECTABLE[7:0];
        cause.addr = sram_addr_i;
        command = last_o;
      end else if (engine_fault_i != '0) begin
        for (int e = 3; e >= 0; e--) begin
          if (engine_fault_i[e]) begin
            cause = engine_cause_i[hd_pkg::ENGINE_FAULT_BITS*e +: hd_pkg::ENGINE_FAULT_BITS];
            commands = commands_i[CB*e +: CB];
            command = commands.oldest;
            engine = 3'(e + 1);
          end
        end
      end else if (overflow_i) begin
        cause.code = heddle_pkg::ERROR_SEMAPHORE_OVERFLOW[7:0];
        cause.addr = {59'd0, overflow_sem_i};
        engine = {1'b0, overflow_slot_i[2:1]} + 3'd1;
        for (int e = 0; e < 4; e++) begin
          commands = commands_i[CB*e +: CB];
          if (overflow_slot_i[2:1] == 2'(e)) begin
            command = overflow_slot_i[0] ? commands.oldest_read : commands.oldest;
          end
        end
      end else if (front_stuck_i) begin
        cause.code = front_code_i;
        for (int e = 0; e < 4; e++) begin
          commands = commands_i[CB*e +: CB];
          if (!empty_i[e] && (!any_head || (commands.head.offset < command.offset))) begin
            any_head = 1'b1;
            command = commands.head;
          end
        end
      end else begin
        cause.code = front_code_i;
        command = front_command_i;
        if (front_code_i == heddle_pkg::ERROR_BUS_ERROR[7:0]) cause.addr = {24'd0, front_addr_i};
      end
    end
  end

  always_comb begin
    retire_o = {front_retire_i, done_i};
    if (overflow_i) begin
      for (int e = 0; e < 4; e++) begin
        if ((overflow_slot_i[2:1] == 2'(e)) && (!overflow_slot_i[0] || same_i[e])) begin
          retire_o[e] = 1'b0;
        end
      end
    end
    if (fault_o) retire_o = '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      fault_o <= 1'b0;
      code_o <= heddle_pkg::ERROR_OK[7:0];
      command_o <= '0;
      engine_o <= heddle_pkg::ENGINE_CONTROL;
      region_o <= '0;
      addr_o <= '0;
      last_o <= '0;
    end else begin
      if (hit && !fault_o) begin
        fault_o <= 1'b1;
        code_o <= cause.code;
        command_o <= command;
        engine_o <= engine;
        region_o <= cause.region;
        addr_o <= cause.addr;
      end
      if (retire_o != '0) begin
        last_o <= front_command_i;
        for (int e = 3; e >= 0; e--) begin
          if (retire_o[e]) last_o <= commands_i[CB*e +: hd_pkg::COMMAND_ID_BITS];  // .oldest
        end
      end
    end
  end

  // Only where something retires or fails.
  assign clk_req_o = !rst_ni || clear_i || hit || (retire_o != '0);
endmodule
