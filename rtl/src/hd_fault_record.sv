// SPDX-License-Identifier: Apache-2.0
// Records the first fault of a stream: code, and the command's offset, tag, engine, region, address.
//
// Sources of one cycle, first one taken: the SRAM (of no command: offset and tag are those of the one
// that retired last), the engines (load, store, matrix, vector; the fault is that
// of the oldest command they have accepted), a semaphore that overflows (address = its number; the
// command whose signal it was), the front end (a command it has in hand, or, with front_stuck_i, the
// oldest head of a queue). The record is there from the next cycle on (fault_o), until clear_i.
//
// retire_o: the commands that retire in this cycle, without one whose signal overflows.
// last_*_o: offset and tag of the command that retired last (of several: the lowest engine's).
module hd_fault_record (
    input  logic         clk_i,
    input  logic         rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic         clear_i,
    // engines: 0 load, 1 store, 2 matrix, 3 vector
    input  logic [3:0]   engine_fault_i,
    input  logic [31:0]  engine_code_i,
    input  logic [15:0]  engine_region_i,
    input  logic [255:0] engine_addr_i,
    input  logic [3:0]   done_i,
    // records of the queues (hd_engine_queue), three per engine
    input  logic [335:0] record_offset_i,
    input  logic [383:0] record_tag_i,
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
    input  logic [27:0]  front_offset_i,
    input  logic [31:0]  front_tag_i,
    input  logic [39:0]  front_addr_i,   // of a bus error
    // results
    output logic [4:0]   retire_o,       // engines, front end in bit 4
    output logic         fault_o,
    output logic [7:0]   code_o,
    output logic [27:0]  offset_o,       // in beats
    output logic [31:0]  tag_o,
    output logic [2:0]   engine_o,
    output logic [3:0]   region_o,
    output logic [63:0]  addr_o,
    output logic [27:0]  last_offset_o,
    output logic [31:0]  last_tag_o
);
  // The new fault of this cycle.
  logic hit;
  logic [7:0] code;
  logic [27:0] offset;
  logic [31:0] tag;
  logic [2:0] engine;
  logic [3:0] region;
  logic [63:0] addr;
  logic any_head;
  logic [3:0] place;  // record 3*engine + kind
  always_comb begin
    hit = sram_fault_i || (engine_fault_i != '0) || overflow_i || front_fault_i;
    code = '0;
    offset = '0;
    tag = '0;
    engine = heddle_pkg::ENGINE_CONTROL;
    region = '0;
    addr = '0;
    any_head = 1'b0;
    place = '0;
    if (hit && !fault_o) begin
      if (sram_fault_i) begin
        code = heddle_pkg::ERROR_SRAM_UNCORRECTABLE[7:0];
        addr = sram_addr_i;
        offset = last_offset_o;
        tag = last_tag_o;
      end else if (engine_fault_i != '0) begin
        for (int e = 3; e >= 0; e--) begin
          if (engine_fault_i[e]) begin
            code = engine_code_i[8*e +: 8];
            region = engine_region_i[4*e +: 4];
            addr = engine_addr_i[64*e +: 64];
            offset = record_offset_i[84*e +: 28];
            tag = record_tag_i[96*e +: 32];
            engine = 3'(e + 1);
          end
        end
      end else if (overflow_i) begin
        code = heddle_pkg::ERROR_SEMAPHORE_OVERFLOW[7:0];
        addr = {59'd0, overflow_sem_i};
        engine = {1'b0, overflow_slot_i[2:1]} + 3'd1;
        place = {2'd0, overflow_slot_i[2:1]} * 4'd3 + {3'd0, overflow_slot_i[0]};
        offset = record_offset_i[28*place +: 28];
        tag = record_tag_i[32*place +: 32];
      end else if (front_stuck_i) begin
        code = front_code_i;
        for (int e = 0; e < 4; e++) begin
          if (!empty_i[e] && (!any_head || (record_offset_i[84*e+56 +: 28] < offset))) begin
            any_head = 1'b1;
            offset = record_offset_i[84*e+56 +: 28];
            tag = record_tag_i[96*e+64 +: 32];
          end
        end
      end else begin
        code = front_code_i;
        offset = front_offset_i;
        tag = front_tag_i;
        if (front_code_i == heddle_pkg::ERROR_BUS_ERROR[7:0]) addr = {24'd0, front_addr_i};
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
      offset_o <= '0;
      tag_o <= '0;
      engine_o <= heddle_pkg::ENGINE_CONTROL;
      region_o <= '0;
      addr_o <= '0;
      last_offset_o <= '0;
      last_tag_o <= '0;
    end else begin
      if (hit && !fault_o) begin
        fault_o <= 1'b1;
        code_o <= code;
        offset_o <= offset;
        tag_o <= tag;
        engine_o <= engine;
        region_o <= region;
        addr_o <= addr;
      end
      if (retire_o != '0) begin
        last_offset_o <= front_offset_i;
        last_tag_o <= front_tag_i;
        for (int e = 3; e >= 0; e--) begin
          if (retire_o[e]) begin
            last_offset_o <= record_offset_i[84*e +: 28];
            last_tag_o <= record_tag_i[96*e +: 32];
          end
        end
      end
    end
  end

  // Only where something retires or fails.
  assign clk_req_o = !rst_ni || clear_i || hit || (retire_o != '0);
endmodule
