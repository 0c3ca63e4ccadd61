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

  // Masters of the memory port.
  localparam int MEM_FRONT = 0;  // job front end and copy engine
  localparam int MEM_FETCH = 1;  // command stream
  localparam int MEM_LOAD = 2;
  localparam int MEM_STORE = 3;
  localparam int MEM_MASTERS = 4;

endpackage
