// SPDX-License-Identifier: Apache-2.0
// What the units of the core share: widths of addresses, and who is who at the SRAM and at the
// memory port. Facts of the instruction set are in heddle_pkg (generated).
package hd_pkg;

  localparam int AW = 16;      // SRAM word address: up to 65536 words of 16 bytes (h1024)
  localparam int MEM_AW = 40;  // byte address of device memory

  // Clients of the SRAM. The order is the order of the arbiter's last round.
  localparam int SRAM_WRITER = 0;     // 0-1: output writer
  localparam int SRAM_ROWS = 2;       // 2-9: row ports 0..3, a pair each
  localparam int SRAM_WEIGHTS = 10;   // 10-11: weight reader
  localparam int SRAM_RESIDUAL = 12;  // residual operand, pooling read-modify-write
  localparam int SRAM_VECTOR = 13;    // 13-16: vector engine
  localparam int SRAM_LOAD = 17;      // load DMA: writes, and reads indices
  localparam int SRAM_STORE = 18;     // store DMA: reads
  localparam int SRAM_CLIENTS = 19;

  // By client: may it write, may it read, does it write parts of words, is it asked in the
  // arbiter's second round, does it follow the client before it (second of a pair).
  localparam [SRAM_CLIENTS-1:0] SRAM_WRITES = 19'b01_1111_0_00_00000000_11;
  localparam [SRAM_CLIENTS-1:0] SRAM_READS  = 19'b11_1111_1_11_11111111_00;
  localparam [SRAM_CLIENTS-1:0] SRAM_MASKED = 19'b01_1111_0_00_00000000_00;
  localparam [SRAM_CLIENTS-1:0] SRAM_ROUND2 = 19'b00_0000_0_00_11111111_00;
  localparam [SRAM_CLIENTS-1:0] SRAM_CHAIN  = 19'b00_0000_0_10_10101010_10;

  // Which command: where its stream has it, in beats of 16 bytes, and its tag.
  typedef struct packed {
    logic [27:0] offset;
    logic [31:0] tag;
  } command_id_t;
  localparam int COMMAND_ID_BITS = 28 + 32;

  // What the core knows of an engine's commands (hd_engine_queue).
  typedef struct packed {
    command_id_t head;         // the next to be started
    command_id_t oldest_read;  // the oldest started that has not read all of its input
    command_id_t oldest;       // the oldest started that is not done
  } engine_commands_t;
  localparam int ENGINE_COMMANDS_BITS = 3 * COMMAND_ID_BITS;

  // Why an engine's oldest command failed. What the address means depends on the code
  // (rtl/spec/errors.toml).
  typedef struct packed {
    logic [7:0]  code;  // heddle_pkg::ERROR_*
    logic [3:0]  region;
    logic [63:0] addr;
  } engine_fault_t;
  localparam int ENGINE_FAULT_BITS = 8 + 4 + 64;

  // Where a stream failed, as the completion record has it. The offset is in bytes.
  typedef struct packed {
    logic [2:0]  engine;
    logic [3:0]  region;
    logic [31:0] offset;
    logic [31:0] tag;
    logic [63:0] addr;
  } stream_fault_t;

  // Masters of the memory port.
  localparam int MEM_FRONT = 0;  // job front end and copy engine
  localparam int MEM_FETCH = 1;  // command stream
  localparam int MEM_LOAD = 2;
  localparam int MEM_STORE = 3;
  localparam int MEM_MASTERS = 4;

endpackage
