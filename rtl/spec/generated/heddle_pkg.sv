// generated from rtl/spec by tools/specgen; do not edit.
// SPDX-License-Identifier: Apache-2.0
//
// The hardware description for RTL. Use it as heddle_pkg::NAME, without import.
/* verilator lint_off UNUSED */
package heddle_pkg;

  // Limits that hold for every configuration.
  // bytes of an SRAM word; the unit of every address whose type is sram_word
  localparam [31:0] WORD_BYTES = 32'h10;
  // entries of a job's region table
  localparam [31:0] REGIONS = 32'h10;
  // counting semaphores; all are zero when a stream starts
  localparam [31:0] SEMAPHORES = 32'h20;
  // largest value a semaphore can hold; a signal beyond it is fault semaphore_overflow
  localparam [31:0] SEMAPHORE_MAX = 32'hff;
  // commands that each engine's queue holds besides the one it executes
  localparam [31:0] QUEUE_DEPTH = 32'd8;
  // 32-bit lanes of the vector engine, the same in every configuration
  localparam [31:0] VECTOR_LANES = 32'h10;
  // vector registers of the vector engine, each vector_lanes x 32 bits
  localparam [31:0] VECTOR_REGISTERS = 32'h10;
  // 64-bit micro-instructions of one microprogram, all sections together
  localparam [31:0] VECTOR_PROGRAM_MAX = 32'h100;
  // largest command stream in bytes
  localparam [31:0] STREAM_BYTES_MAX = 32'h1000000;
  // alignment in bytes of a command stream in device memory
  localparam [31:0] STREAM_ALIGN = 32'h40;
  // alignment in bytes of a region's base in device memory
  localparam [31:0] REGION_ALIGN = 32'h40;
  // 32-bit words of the longest command
  localparam [31:0] COMMAND_WORDS_MAX = 32'h40;
  // job rings; ring 0 has the highest priority
  localparam [31:0] RINGS = 32'd4;
  // largest number of entries of a job ring or of the completion ring; a power of two
  localparam [31:0] RING_ENTRIES_MAX = 32'h400;
  // steps of one job
  localparam [31:0] STEPS_MAX = 32'h40;
  // entries of one scatter list
  localparam [31:0] SG_ENTRIES_MAX = 32'h10000;
  // rows of the kernel that one weight vector of mode fold may touch (number of row ports)
  localparam [31:0] FOLD_ROWS_MAX = 32'd4;
  // largest kernel extent in either direction
  localparam [31:0] KERNEL_MAX = 32'hff;
  // granule of device memory allocation
  localparam [31:0] PAGE_BYTES = 32'h1000;
  // device memory that the driver keeps for command streams' bounce space and its own structures;
  // user allocations are refused beyond the card's size minus this
  localparam [31:0] DEVICE_RESERVE_BYTES = 32'h100000;
  // smallest device memory of a card
  localparam [31:0] DRAM_BYTES_MIN = 32'h4000000;
  // largest device memory of a card
  localparam [63:0] DRAM_BYTES_MAX = 64'h100000000;
  // device memory of a card when nothing else is said
  localparam [31:0] DRAM_BYTES_DEFAULT = 32'h20000000;
  // MSI-X vectors (one MSI vector is used where MSI-X is not enabled)
  localparam [31:0] INTERRUPT_VECTORS = 32'd4;
  // largest length of a copy or fill step in bytes
  localparam [63:0] FILL_BYTES_MAX = 64'h10000000000;

  // Configurations: values of parameter CONFIG, and what each one says.
  localparam [31:0] CONFIG_H256 = 32'd1;
  localparam [31:0] CONFIG_H512 = 32'd2;
  localparam [31:0] CONFIG_H1024 = 32'd3;
  // C: activations that every cell multiplies per cycle
  function automatic [31:0] cfg_lanes_in(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_lanes_in = 32'd16;
      CONFIG_H512: cfg_lanes_in = 32'd32;
      CONFIG_H1024: cfg_lanes_in = 32'd32;
      default: cfg_lanes_in = 32'd0;
    endcase
  endfunction
  // K: output-channel cells
  function automatic [31:0] cfg_lanes_out(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_lanes_out = 32'd16;
      CONFIG_H512: cfg_lanes_out = 32'd16;
      CONFIG_H1024: cfg_lanes_out = 32'd32;
      default: cfg_lanes_out = 32'd0;
    endcase
  endfunction
  // unified SRAM in bytes
  function automatic [31:0] cfg_sram_bytes(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_sram_bytes = 32'd524288;
      CONFIG_H512: cfg_sram_bytes = 32'd524288;
      CONFIG_H1024: cfg_sram_bytes = 32'd1048576;
      default: cfg_sram_bytes = 32'd0;
    endcase
  endfunction
  // single-port SRAM banks, word-interleaved
  function automatic [31:0] cfg_sram_banks(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_sram_banks = 32'd16;
      CONFIG_H512: cfg_sram_banks = 32'd16;
      CONFIG_H1024: cfg_sram_banks = 32'd32;
      default: cfg_sram_banks = 32'd0;
    endcase
  endfunction
  // entries of the accumulator RAM; an entry holds K int32 values
  function automatic [31:0] cfg_acc_pixels(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_acc_pixels = 32'd256;
      CONFIG_H512: cfg_acc_pixels = 32'd256;
      CONFIG_H1024: cfg_acc_pixels = 32'd256;
      default: cfg_acc_pixels = 32'd0;
    endcase
  endfunction
  // device memory bandwidth in bytes per core cycle, reads and writes together
  function automatic [31:0] cfg_dram_bytes_per_cycle(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_dram_bytes_per_cycle = 32'd16;
      CONFIG_H512: cfg_dram_bytes_per_cycle = 32'd16;
      CONFIG_H1024: cfg_dram_bytes_per_cycle = 32'd16;
      default: cfg_dram_bytes_per_cycle = 32'd0;
    endcase
  endfunction
  // cycles from a read request to its first data
  function automatic [31:0] cfg_dram_latency_cycles(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_dram_latency_cycles = 32'd100;
      CONFIG_H512: cfg_dram_latency_cycles = 32'd100;
      CONFIG_H1024: cfg_dram_latency_cycles = 32'd100;
      default: cfg_dram_latency_cycles = 32'd0;
    endcase
  endfunction
  // bytes per cycle of the weight reader
  function automatic [31:0] cfg_weight_port_bytes(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_weight_port_bytes = 32'd32;
      CONFIG_H512: cfg_weight_port_bytes = 32'd32;
      CONFIG_H1024: cfg_weight_port_bytes = 32'd32;
      default: cfg_weight_port_bytes = 32'd0;
    endcase
  endfunction
  // output pixels of 16 channels per cycle in mode depthwise, with the window filled
  function automatic [31:0] cfg_depthwise_pixels(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_depthwise_pixels = 32'd1;
      CONFIG_H512: cfg_depthwise_pixels = 32'd1;
      CONFIG_H1024: cfg_depthwise_pixels = 32'd1;
      default: cfg_depthwise_pixels = 32'd0;
    endcase
  endfunction
  // clock that cycles are converted to time with, in MHz: what a chip of this configuration is
  // meant for, not a measured one
  function automatic [31:0] cfg_clock_mhz(input [31:0] id);
    case (id)
      CONFIG_H256: cfg_clock_mhz = 32'd1000;
      CONFIG_H512: cfg_clock_mhz = 32'd1000;
      CONFIG_H1024: cfg_clock_mhz = 32'd1000;
      default: cfg_clock_mhz = 32'd0;
    endcase
  endfunction

  // who executes a command
  localparam [2:0] ENGINE_CONTROL = 3'd0;
  localparam [2:0] ENGINE_LOAD = 3'd1;
  localparam [2:0] ENGINE_STORE = 3'd2;
  localparam [2:0] ENGINE_MATRIX = 3'd3;
  localparam [2:0] ENGINE_VECTOR = 3'd4;

  // kind of a job step
  localparam [31:0] STEP_TYPE_COPY_IN = 32'd1;
  localparam [31:0] STEP_TYPE_RUN = 32'd2;
  localparam [31:0] STEP_TYPE_COPY_OUT = 32'd3;
  localparam [31:0] STEP_TYPE_COPY = 32'd4;
  localparam [31:0] STEP_TYPE_FILL = 32'd5;

  // what executes the commands
  localparam [3:0] CORE_KIND_SILICON = 4'd0;
  localparam [3:0] CORE_KIND_RTL = 4'd1;
  localparam [3:0] CORE_KIND_FUNCTIONAL = 4'd2;

  // when a signal is given
  localparam [0:0] SIGNAL_POINT_INPUT_READ = 1'd0;
  localparam [0:0] SIGNAL_POINT_OUTPUT_VISIBLE = 1'd1;

  // what the matrix engine computes
  localparam [1:0] MATRIX_MODE_CONV = 2'd0;
  localparam [1:0] MATRIX_MODE_DEPTHWISE = 2'd1;
  localparam [1:0] MATRIX_MODE_FOLD = 2'd2;
  localparam [1:0] MATRIX_MODE_MAXPOOL = 2'd3;

  // where the matrix engine finds its weights
  localparam [1:0] WEIGHT_MODE_PACKED = 2'd0;
  localparam [1:0] WEIGHT_MODE_ROW = 2'd1;
  localparam [1:0] WEIGHT_MODE_COLUMN = 2'd2;

  // element type that the output stage writes
  localparam [1:0] OUT_TYPE_U8 = 2'd0;
  localparam [1:0] OUT_TYPE_S8 = 2'd1;
  localparam [1:0] OUT_TYPE_I32 = 2'd2;
  localparam [1:0] OUT_TYPE_F32 = 2'd3;

  // second stage of the output stage
  localparam [1:0] RESIDUAL_OP_NONE = 2'd0;
  localparam [1:0] RESIDUAL_OP_ADD = 2'd1;
  localparam [1:0] RESIDUAL_OP_MUL = 2'd2;

  // pooling behind the output stage
  localparam [1:0] POOL_KIND_NONE = 2'd0;
  localparam [1:0] POOL_KIND_MAX = 2'd1;
  localparam [1:0] POOL_KIND_AVERAGE = 2'd2;

  // element type of a vector stream
  localparam [3:0] ELEMENT_TYPE_U8 = 4'd0;
  localparam [3:0] ELEMENT_TYPE_S8 = 4'd1;
  localparam [3:0] ELEMENT_TYPE_S16 = 4'd2;
  localparam [3:0] ELEMENT_TYPE_S32 = 4'd3;
  localparam [3:0] ELEMENT_TYPE_F16 = 4'd4;
  localparam [3:0] ELEMENT_TYPE_BF16 = 4'd5;
  localparam [3:0] ELEMENT_TYPE_F32 = 4'd6;
  localparam [3:0] ELEMENT_TYPE_U16 = 4'd7;

  // when a vector command stores
  localparam [1:0] STORE_MODE_NONE = 2'd0;
  localparam [1:0] STORE_MODE_BODY = 2'd1;
  localparam [1:0] STORE_MODE_EPILOGUE = 2'd2;

  // source operand of a micro-instruction
  localparam [4:0] OPERAND_V0 = 5'd0;
  localparam [4:0] OPERAND_V1 = 5'd1;
  localparam [4:0] OPERAND_V2 = 5'd2;
  localparam [4:0] OPERAND_V3 = 5'd3;
  localparam [4:0] OPERAND_V4 = 5'd4;
  localparam [4:0] OPERAND_V5 = 5'd5;
  localparam [4:0] OPERAND_V6 = 5'd6;
  localparam [4:0] OPERAND_V7 = 5'd7;
  localparam [4:0] OPERAND_V8 = 5'd8;
  localparam [4:0] OPERAND_V9 = 5'd9;
  localparam [4:0] OPERAND_V10 = 5'ha;
  localparam [4:0] OPERAND_V11 = 5'hb;
  localparam [4:0] OPERAND_V12 = 5'hc;
  localparam [4:0] OPERAND_V13 = 5'hd;
  localparam [4:0] OPERAND_V14 = 5'he;
  localparam [4:0] OPERAND_V15 = 5'hf;
  localparam [4:0] OPERAND_STREAM_A = 5'h10;
  localparam [4:0] OPERAND_STREAM_B = 5'h11;
  localparam [4:0] OPERAND_STREAM_C = 5'h12;
  localparam [4:0] OPERAND_IMM = 5'h13;
  localparam [4:0] OPERAND_ARG0 = 5'h14;
  localparam [4:0] OPERAND_ARG1 = 5'h15;
  localparam [4:0] OPERAND_ARG2 = 5'h16;
  localparam [4:0] OPERAND_ARG3 = 5'h17;
  localparam [4:0] OPERAND_LANE = 5'h18;
  localparam [4:0] OPERAND_INDEX_R = 5'h19;
  localparam [4:0] OPERAND_VALID = 5'h1a;

  // destination of a micro-instruction
  localparam [4:0] DESTINATION_V0 = 5'd0;
  localparam [4:0] DESTINATION_V1 = 5'd1;
  localparam [4:0] DESTINATION_V2 = 5'd2;
  localparam [4:0] DESTINATION_V3 = 5'd3;
  localparam [4:0] DESTINATION_V4 = 5'd4;
  localparam [4:0] DESTINATION_V5 = 5'd5;
  localparam [4:0] DESTINATION_V6 = 5'd6;
  localparam [4:0] DESTINATION_V7 = 5'd7;
  localparam [4:0] DESTINATION_V8 = 5'd8;
  localparam [4:0] DESTINATION_V9 = 5'd9;
  localparam [4:0] DESTINATION_V10 = 5'ha;
  localparam [4:0] DESTINATION_V11 = 5'hb;
  localparam [4:0] DESTINATION_V12 = 5'hc;
  localparam [4:0] DESTINATION_V13 = 5'hd;
  localparam [4:0] DESTINATION_V14 = 5'he;
  localparam [4:0] DESTINATION_V15 = 5'hf;
  localparam [4:0] DESTINATION_OUT = 5'h10;

  // Opcodes and lengths of commands in 32-bit words.
  localparam [7:0] OP_NOP = 8'd1;
  localparam [7:0] OP_END = 8'd2;
  localparam [7:0] OP_BARRIER = 8'd3;
  localparam [7:0] OP_LOAD = 8'h10;
  localparam [7:0] OP_FILL = 8'h11;
  localparam [7:0] OP_LOAD_GATHER = 8'h12;
  localparam [7:0] OP_SYNC_LOAD = 8'h13;
  localparam [7:0] OP_STORE = 8'h20;
  localparam [7:0] OP_STORE_SCATTER = 8'h21;
  localparam [7:0] OP_SYNC_STORE = 8'h22;
  localparam [7:0] OP_CONV = 8'h30;
  localparam [7:0] OP_SYNC_MATRIX = 8'h31;
  localparam [7:0] OP_VRUN = 8'h40;
  localparam [7:0] OP_VMAC = 8'h41;
  localparam [7:0] OP_SYNC_VECTOR = 8'h42;
  localparam [31:0] NOP_WORDS = 32'd4;
  localparam [31:0] END_WORDS = 32'd4;
  localparam [31:0] BARRIER_WORDS = 32'd4;
  localparam [31:0] LOAD_WORDS = 32'h14;
  localparam [31:0] FILL_WORDS = 32'h10;
  localparam [31:0] LOAD_GATHER_WORDS = 32'hc;
  localparam [31:0] SYNC_LOAD_WORDS = 32'd4;
  localparam [31:0] STORE_WORDS = 32'h14;
  localparam [31:0] STORE_SCATTER_WORDS = 32'hc;
  localparam [31:0] SYNC_STORE_WORDS = 32'd4;
  localparam [31:0] CONV_WORDS = 32'h28;
  localparam [31:0] SYNC_MATRIX_WORDS = 32'd4;
  localparam [31:0] VRUN_WORDS = 32'h34;
  localparam [31:0] VMAC_WORDS = 32'h34;
  localparam [31:0] SYNC_VECTOR_WORDS = 32'd4;
  localparam [31:0] LONGEST_COMMAND_WORDS = 32'h34;
  localparam [31:0] HEADER_WORDS = 32'd4;

  // First word of each repeating group.
  localparam [31:0] STREAM_WORDS = 32'd8;
  localparam [31:0] VRUN_A_WORD = 32'h14;
  localparam [31:0] VRUN_B_WORD = 32'h1c;
  localparam [31:0] VRUN_C_WORD = 32'h24;
  localparam [31:0] VRUN_D_WORD = 32'h2c;
  localparam [31:0] VMAC_A_WORD = 32'h14;
  localparam [31:0] VMAC_B_WORD = 32'h1c;
  localparam [31:0] VMAC_C_WORD = 32'h24;
  localparam [31:0] VMAC_D_WORD = 32'h2c;

  // A command is a vector of its words, word 0 in bits 31:0. Assign it to the packed struct of its
  // instruction to name the fields.
  // Every command starts with these four words.
  typedef struct packed {
    logic [31:0] tag;
    logic [1:0] rsvd_94;
    logic signal1_point;
    logic [7:0] signal1_count;
    logic [4:0] signal1_sem;
    logic signal1_enable;
    logic signal0_point;
    logic [7:0] signal0_count;
    logic [4:0] signal0_sem;
    logic signal0_enable;
    logic [3:0] rsvd_60;
    logic [7:0] wait1_count;
    logic [4:0] wait1_sem;
    logic wait1_enable;
    logic [7:0] wait0_count;
    logic [4:0] wait0_sem;
    logic wait0_enable;
    logic [15:0] rsvd_16;
    logic [7:0] words;
    logic [7:0] opcode;
  } header_t;

  // Address generator of a vector stream: base plus index times stride for each of the seven loop
  // dimensions. Base and strides are multiples of the element size.
  typedef struct packed {
    logic [7:0] rsvd_248;
    logic signed [23:0] o3_stride;
    logic [7:0] rsvd_216;
    logic signed [23:0] o2_stride;
    logic [7:0] rsvd_184;
    logic signed [23:0] o1_stride;
    logic [7:0] rsvd_152;
    logic signed [23:0] r3_stride;
    logic [7:0] rsvd_120;
    logic signed [23:0] r2_stride;
    logic [7:0] rsvd_88;
    logic signed [23:0] r1_stride;
    logic [7:0] rsvd_56;
    logic signed [23:0] lane_stride;
    logic [3:0] rsvd_28;
    logic [3:0] type_;
    logic [23:0] base;
  } stream_t;

  // nop: Does nothing.
  typedef struct packed {
    header_t header;
  } nop_t;

  // end: Ends the stream.
  typedef struct packed {
    header_t header;
  } end_t;

  // barrier: Waits for all engines.
  typedef struct packed {
    header_t header;
  } barrier_t;

  // load: Copies a 4-D strided box of elements from a region to SRAM.
  typedef struct packed {
    logic [103:0] rsvd_536;
    logic [23:0] t3;
    logic [7:0] rsvd_504;
    logic [23:0] t2;
    logic [7:0] rsvd_472;
    logic [23:0] t1;
    logic [7:0] rsvd_440;
    logic [23:0] t0;
    logic [31:0] s3;
    logic [31:0] s2;
    logic [31:0] s1;
    logic [31:0] s0;
    logic [15:0] n3;
    logic [15:0] n2;
    logic [15:0] n1;
    logic [15:0] n0;
    logic [7:0] rsvd_216;
    logic [23:0] sram_addr;
    logic [31:0] dram_offset;
    logic [24:0] rsvd_135;
    logic [2:0] elem_log2;
    logic [3:0] region;
    header_t header;
  } load_t;

  // fill: Fills a 4-D strided box of SRAM elements with a constant.
  typedef struct packed {
    logic [103:0] rsvd_408;
    logic [23:0] t3;
    logic [7:0] rsvd_376;
    logic [23:0] t2;
    logic [7:0] rsvd_344;
    logic [23:0] t1;
    logic [7:0] rsvd_312;
    logic [23:0] t0;
    logic [15:0] n3;
    logic [15:0] n2;
    logic [15:0] n1;
    logic [15:0] n0;
    logic [31:0] value;
    logic [7:0] rsvd_184;
    logic [23:0] sram_addr;
    logic [29:0] rsvd_130;
    logic [1:0] elem_log2;
    header_t header;
  } fill_t;

  // load.gather: Loads rows of a table in device memory, chosen by indices in SRAM.
  typedef struct packed {
    logic [7:0] rsvd_376;
    logic [23:0] t1;
    logic [31:0] s1;
    logic [31:0] bound;
    logic [7:0] rsvd_280;
    logic [23:0] index_addr;
    logic [15:0] count;
    logic [15:0] n0;
    logic [7:0] rsvd_216;
    logic [23:0] sram_addr;
    logic [31:0] dram_offset;
    logic [24:0] rsvd_135;
    logic [2:0] elem_log2;
    logic [3:0] region;
    header_t header;
  } load_gather_t;

  // sync.load: Waits and signals in the queue of the load engine, nothing else.
  typedef struct packed {
    header_t header;
  } sync_load_t;

  // store: Copies a 4-D strided box of elements from SRAM to a region.
  typedef struct packed {
    logic [103:0] rsvd_536;
    logic [23:0] t3;
    logic [7:0] rsvd_504;
    logic [23:0] t2;
    logic [7:0] rsvd_472;
    logic [23:0] t1;
    logic [7:0] rsvd_440;
    logic [23:0] t0;
    logic [31:0] s3;
    logic [31:0] s2;
    logic [31:0] s1;
    logic [31:0] s0;
    logic [15:0] n3;
    logic [15:0] n2;
    logic [15:0] n1;
    logic [15:0] n0;
    logic [7:0] rsvd_216;
    logic [23:0] sram_addr;
    logic [31:0] dram_offset;
    logic [24:0] rsvd_135;
    logic [2:0] elem_log2;
    logic [3:0] region;
    header_t header;
  } store_t;

  // store.scatter: Stores rows to places of a table in device memory, chosen by indices in SRAM.
  typedef struct packed {
    logic [7:0] rsvd_376;
    logic [23:0] t1;
    logic [31:0] s1;
    logic [31:0] bound;
    logic [7:0] rsvd_280;
    logic [23:0] index_addr;
    logic [15:0] count;
    logic [15:0] n0;
    logic [7:0] rsvd_216;
    logic [23:0] sram_addr;
    logic [31:0] dram_offset;
    logic [24:0] rsvd_135;
    logic [2:0] elem_log2;
    logic [3:0] region;
    header_t header;
  } store_scatter_t;

  // sync.store: Waits and signals in the queue of the store engine, nothing else.
  typedef struct packed {
    header_t header;
  } sync_store_t;

  // conv: Convolution, matrix product, depthwise, first layer or pooling of 8-bit codes, with
  // output stage.
  typedef struct packed {
    logic signed [15:0] pool_zero_out;
    logic signed [15:0] pool_zero_in;
    logic [31:0] pool_scale;
    logic [15:0] rsvd_1200;
    logic [15:0] pool_row0;
    logic [15:0] pool_ow;
    logic [15:0] pool_oh;
    logic [19:0] rsvd_1132;
    logic [3:0] pool_pad;
    logic [3:0] pool_s;
    logic [3:0] pool_k;
    logic signed [15:0] res_max;
    logic signed [15:0] res_min;
    logic signed [15:0] mid_zero;
    logic signed [15:0] res_zero;
    logic [31:0] res_k;
    logic [31:0] res_b;
    logic [31:0] res_a;
    logic [11:0] rsvd_948;
    logic [19:0] res_plane;
    logic [15:0] res_wrap;
    logic [15:0] res_pitch;
    logic [11:0] rsvd_884;
    logic [19:0] res_addr;
    logic [11:0] rsvd_852;
    logic [19:0] lut_addr;
    logic signed [15:0] act_max;
    logic signed [15:0] act_min;
    logic [15:0] rsvd_784;
    logic signed [15:0] zo;
    logic signed [15:0] zw;
    logic signed [15:0] za;
    logic [11:0] rsvd_724;
    logic [19:0] param_addr;
    logic [11:0] rsvd_692;
    logic [19:0] w_step;
    logic [11:0] rsvd_660;
    logic [19:0] w_plane;
    logic [11:0] rsvd_628;
    logic [19:0] w_addr;
    logic [15:0] co;
    logic [15:0] ci;
    logic signed [15:0] pad_left;
    logic signed [15:0] pad_top;
    logic [15:0] rsvd_528;
    logic [7:0] dx;
    logic [7:0] dy;
    logic [7:0] rsvd_504;
    logic [3:0] sx;
    logic [3:0] sy;
    logic [7:0] kw;
    logic [7:0] kh;
    logic [15:0] out_wrap;
    logic [15:0] out_row0;
    logic [15:0] out_rows;
    logic [15:0] ow;
    logic [11:0] rsvd_404;
    logic [19:0] out_plane;
    logic [7:0] rsvd_376;
    logic [7:0] out_xstep;
    logic [15:0] out_pitch;
    logic [11:0] rsvd_340;
    logic [19:0] out_addr;
    logic [15:0] in_wrap;
    logic [15:0] in_row0;
    logic [15:0] iw;
    logic [15:0] ih;
    logic [11:0] rsvd_244;
    logic [19:0] in_plane;
    logic [7:0] rsvd_216;
    logic [7:0] in_xstep;
    logic [15:0] in_pitch;
    logic [11:0] rsvd_180;
    logic [19:0] in_addr;
    logic [8:0] rsvd_151;
    logic [3:0] fold_channels;
    logic [1:0] pool;
    logic res_first;
    logic res_signed;
    logic [1:0] res_op;
    logic lut;
    logic zw_channel;
    logic bias_f32;
    logic acc_hold;
    logic acc_continue;
    logic [1:0] out_type;
    logic [1:0] w_mode;
    logic w_signed;
    logic in_signed;
    logic [1:0] mode;
    header_t header;
  } conv_t;

  // sync.matrix: Waits and signals in the queue of the matrix engine, nothing else.
  typedef struct packed {
    header_t header;
  } sync_matrix_t;

  // vrun: Runs a microprogram over streams.
  typedef struct packed {
    logic [7:0] rsvd_1656;
    logic signed [23:0] d_o3_stride;
    logic [7:0] rsvd_1624;
    logic signed [23:0] d_o2_stride;
    logic [7:0] rsvd_1592;
    logic signed [23:0] d_o1_stride;
    logic [7:0] rsvd_1560;
    logic signed [23:0] d_r3_stride;
    logic [7:0] rsvd_1528;
    logic signed [23:0] d_r2_stride;
    logic [7:0] rsvd_1496;
    logic signed [23:0] d_r1_stride;
    logic [7:0] rsvd_1464;
    logic signed [23:0] d_lane_stride;
    logic [3:0] rsvd_1436;
    logic [3:0] d_type;
    logic [23:0] d_base;
    logic [7:0] rsvd_1400;
    logic signed [23:0] c_o3_stride;
    logic [7:0] rsvd_1368;
    logic signed [23:0] c_o2_stride;
    logic [7:0] rsvd_1336;
    logic signed [23:0] c_o1_stride;
    logic [7:0] rsvd_1304;
    logic signed [23:0] c_r3_stride;
    logic [7:0] rsvd_1272;
    logic signed [23:0] c_r2_stride;
    logic [7:0] rsvd_1240;
    logic signed [23:0] c_r1_stride;
    logic [7:0] rsvd_1208;
    logic signed [23:0] c_lane_stride;
    logic [3:0] rsvd_1180;
    logic [3:0] c_type;
    logic [23:0] c_base;
    logic [7:0] rsvd_1144;
    logic signed [23:0] b_o3_stride;
    logic [7:0] rsvd_1112;
    logic signed [23:0] b_o2_stride;
    logic [7:0] rsvd_1080;
    logic signed [23:0] b_o1_stride;
    logic [7:0] rsvd_1048;
    logic signed [23:0] b_r3_stride;
    logic [7:0] rsvd_1016;
    logic signed [23:0] b_r2_stride;
    logic [7:0] rsvd_984;
    logic signed [23:0] b_r1_stride;
    logic [7:0] rsvd_952;
    logic signed [23:0] b_lane_stride;
    logic [3:0] rsvd_924;
    logic [3:0] b_type;
    logic [23:0] b_base;
    logic [7:0] rsvd_888;
    logic signed [23:0] a_o3_stride;
    logic [7:0] rsvd_856;
    logic signed [23:0] a_o2_stride;
    logic [7:0] rsvd_824;
    logic signed [23:0] a_o1_stride;
    logic [7:0] rsvd_792;
    logic signed [23:0] a_r3_stride;
    logic [7:0] rsvd_760;
    logic signed [23:0] a_r2_stride;
    logic [7:0] rsvd_728;
    logic signed [23:0] a_r1_stride;
    logic [7:0] rsvd_696;
    logic signed [23:0] a_lane_stride;
    logic [3:0] rsvd_668;
    logic [3:0] a_type;
    logic [23:0] a_base;
    logic [95:0] rsvd_544;
    logic [31:0] arg3;
    logic [31:0] arg2;
    logic [31:0] arg1;
    logic [31:0] arg0;
    logic [31:0] index_bound;
    logic [7:0] rsvd_376;
    logic [23:0] index_stride;
    logic [22:0] rsvd_329;
    logic pick_a;
    logic scatter_d;
    logic gather_a;
    logic store_one;
    logic [1:0] store;
    logic enable_c;
    logic enable_b;
    logic enable_a;
    logic [10:0] rsvd_309;
    logic [4:0] tail;
    logic [15:0] n_o3;
    logic [15:0] n_o2;
    logic [15:0] n_o1;
    logic [15:0] n_r3;
    logic [15:0] n_r2;
    logic [15:0] n_r1;
    logic [15:0] lanes;
    logic [4:0] rsvd_187;
    logic [8:0] epilogue;
    logic [8:0] body;
    logic [8:0] prologue;
    logic [11:0] rsvd_148;
    logic [19:0] prog_addr;
    header_t header;
  } vrun_t;

  // vmac: Multiply-reduce: fp32 convolution and matrix product.
  typedef struct packed {
    logic [7:0] rsvd_1656;
    logic signed [23:0] d_o3_stride;
    logic [7:0] rsvd_1624;
    logic signed [23:0] d_o2_stride;
    logic [7:0] rsvd_1592;
    logic signed [23:0] d_o1_stride;
    logic [7:0] rsvd_1560;
    logic signed [23:0] d_r3_stride;
    logic [7:0] rsvd_1528;
    logic signed [23:0] d_r2_stride;
    logic [7:0] rsvd_1496;
    logic signed [23:0] d_r1_stride;
    logic [7:0] rsvd_1464;
    logic signed [23:0] d_lane_stride;
    logic [3:0] rsvd_1436;
    logic [3:0] d_type;
    logic [23:0] d_base;
    logic [7:0] rsvd_1400;
    logic signed [23:0] c_o3_stride;
    logic [7:0] rsvd_1368;
    logic signed [23:0] c_o2_stride;
    logic [7:0] rsvd_1336;
    logic signed [23:0] c_o1_stride;
    logic [7:0] rsvd_1304;
    logic signed [23:0] c_r3_stride;
    logic [7:0] rsvd_1272;
    logic signed [23:0] c_r2_stride;
    logic [7:0] rsvd_1240;
    logic signed [23:0] c_r1_stride;
    logic [7:0] rsvd_1208;
    logic signed [23:0] c_lane_stride;
    logic [3:0] rsvd_1180;
    logic [3:0] c_type;
    logic [23:0] c_base;
    logic [7:0] rsvd_1144;
    logic signed [23:0] b_o3_stride;
    logic [7:0] rsvd_1112;
    logic signed [23:0] b_o2_stride;
    logic [7:0] rsvd_1080;
    logic signed [23:0] b_o1_stride;
    logic [7:0] rsvd_1048;
    logic signed [23:0] b_r3_stride;
    logic [7:0] rsvd_1016;
    logic signed [23:0] b_r2_stride;
    logic [7:0] rsvd_984;
    logic signed [23:0] b_r1_stride;
    logic [7:0] rsvd_952;
    logic signed [23:0] b_lane_stride;
    logic [3:0] rsvd_924;
    logic [3:0] b_type;
    logic [23:0] b_base;
    logic [7:0] rsvd_888;
    logic signed [23:0] a_o3_stride;
    logic [7:0] rsvd_856;
    logic signed [23:0] a_o2_stride;
    logic [7:0] rsvd_824;
    logic signed [23:0] a_o1_stride;
    logic [7:0] rsvd_792;
    logic signed [23:0] a_r3_stride;
    logic [7:0] rsvd_760;
    logic signed [23:0] a_r2_stride;
    logic [7:0] rsvd_728;
    logic signed [23:0] a_r1_stride;
    logic [7:0] rsvd_696;
    logic signed [23:0] a_lane_stride;
    logic [3:0] rsvd_668;
    logic [3:0] a_type;
    logic [23:0] a_base;
    logic [159:0] rsvd_480;
    logic [31:0] clamp_max;
    logic [31:0] clamp_min;
    logic [93:0] rsvd_322;
    logic clamp;
    logic initial_;
    logic [15:0] rsvd_304;
    logic [15:0] n_o3;
    logic [15:0] n_o2;
    logic [15:0] n_o1;
    logic [15:0] n_r3;
    logic [15:0] n_r2;
    logic [15:0] n_r1;
    logic [15:0] lanes;
    logic [63:0] rsvd_128;
    header_t header;
  } vmac_t;

  // sync.vector: Waits and signals in the queue of the vector engine, nothing else.
  typedef struct packed {
    header_t header;
  } sync_vector_t;

  // Operations of micro-instructions.
  localparam [7:0] UOP_MOV = 8'd1;
  localparam [7:0] UOP_SEL = 8'd2;
  localparam [7:0] UOP_PICK = 8'd3;
  localparam [7:0] UOP_FADD = 8'h10;
  localparam [7:0] UOP_FSUB = 8'h11;
  localparam [7:0] UOP_FMUL = 8'h12;
  localparam [7:0] UOP_FFMA = 8'h13;
  localparam [7:0] UOP_FDIV = 8'h14;
  localparam [7:0] UOP_FSQRT = 8'h15;
  localparam [7:0] UOP_FMIN = 8'h16;
  localparam [7:0] UOP_FMAX = 8'h17;
  localparam [7:0] UOP_FLT = 8'h18;
  localparam [7:0] UOP_FLE = 8'h19;
  localparam [7:0] UOP_FEQ = 8'h1a;
  localparam [7:0] UOP_F2I = 8'h1b;
  localparam [7:0] UOP_F2I_TRUNC = 8'h1c;
  localparam [7:0] UOP_I2F = 8'h1d;
  localparam [7:0] UOP_RHALF = 8'h1e;
  localparam [7:0] UOP_RBF = 8'h1f;
  localparam [7:0] UOP_IADD = 8'h20;
  localparam [7:0] UOP_ISUB = 8'h21;
  localparam [7:0] UOP_IMUL = 8'h22;
  localparam [7:0] UOP_IAND = 8'h23;
  localparam [7:0] UOP_IOR = 8'h24;
  localparam [7:0] UOP_IXOR = 8'h25;
  localparam [7:0] UOP_ISHL = 8'h26;
  localparam [7:0] UOP_ISHR = 8'h27;
  localparam [7:0] UOP_ISAR = 8'h28;
  localparam [7:0] UOP_IMIN = 8'h29;
  localparam [7:0] UOP_IMAX = 8'h2a;
  localparam [7:0] UOP_ILT = 8'h2b;
  localparam [7:0] UOP_IEQ = 8'h2c;
  localparam [7:0] UOP_ILTU = 8'h2d;
  localparam [7:0] UOP_IDIV = 8'h2e;
  localparam [7:0] UOP_IDIVU = 8'h2f;
  localparam [7:0] UOP_HSUM = 8'h30;
  localparam [7:0] UOP_HMAX = 8'h31;
  localparam [7:0] UOP_HMIN = 8'h32;
  localparam [7:0] UOP_HISUM = 8'h33;
  localparam [7:0] UOP_HIMAX = 8'h34;
  localparam [7:0] UOP_HIMIN = 8'h35;
  // One micro-instruction. Operands that an operation does not take must be zero; imm must be zero
  // unless an operand is `imm`.
  typedef struct packed {
    logic [31:0] imm;
    logic [3:0] rsvd_28;
    logic [4:0] c;
    logic [4:0] b;
    logic [4:0] a;
    logic [4:0] d;
    logic [7:0] op;
  } micro_t;

  // Length of a command in 32-bit words; 0 for an unknown opcode.
  function automatic [7:0] command_words(input [7:0] opcode);
    case (opcode)
      OP_NOP: command_words = 8'd4;
      OP_END: command_words = 8'd4;
      OP_BARRIER: command_words = 8'd4;
      OP_LOAD: command_words = 8'd20;
      OP_FILL: command_words = 8'd16;
      OP_LOAD_GATHER: command_words = 8'd12;
      OP_SYNC_LOAD: command_words = 8'd4;
      OP_STORE: command_words = 8'd20;
      OP_STORE_SCATTER: command_words = 8'd12;
      OP_SYNC_STORE: command_words = 8'd4;
      OP_CONV: command_words = 8'd40;
      OP_SYNC_MATRIX: command_words = 8'd4;
      OP_VRUN: command_words = 8'd52;
      OP_VMAC: command_words = 8'd52;
      OP_SYNC_VECTOR: command_words = 8'd4;
      default: command_words = 8'd0;
    endcase
  endfunction

  // Engine of a command (0 for an unknown opcode: look at command_words).
  function automatic [2:0] command_engine(input [7:0] opcode);
    case (opcode)
      OP_NOP: command_engine = ENGINE_CONTROL;
      OP_END: command_engine = ENGINE_CONTROL;
      OP_BARRIER: command_engine = ENGINE_CONTROL;
      OP_LOAD: command_engine = ENGINE_LOAD;
      OP_FILL: command_engine = ENGINE_LOAD;
      OP_LOAD_GATHER: command_engine = ENGINE_LOAD;
      OP_SYNC_LOAD: command_engine = ENGINE_LOAD;
      OP_STORE: command_engine = ENGINE_STORE;
      OP_STORE_SCATTER: command_engine = ENGINE_STORE;
      OP_SYNC_STORE: command_engine = ENGINE_STORE;
      OP_CONV: command_engine = ENGINE_MATRIX;
      OP_SYNC_MATRIX: command_engine = ENGINE_MATRIX;
      OP_VRUN: command_engine = ENGINE_VECTOR;
      OP_VMAC: command_engine = ENGINE_VECTOR;
      OP_SYNC_VECTOR: command_engine = ENGINE_VECTOR;
      default: command_engine = 3'd0;
    endcase
  endfunction

  // Encoding checks: opcode, length, reserved bits, enumerations and ranges. The rules between
  // fields ("Legal if" of each instruction) are the decoder's own.
  function automatic nop_legal(input [127:0] w);
    nop_legal = 1'b1;
    if ((w & 128'hc0000000f0000000ffff0000) != 128'd0) nop_legal = 1'b0;
    if (w[0 +: 8] != 8'd1) nop_legal = 1'b0;
    if (w[8 +: 8] != 8'd4) nop_legal = 1'b0;
  endfunction

  function automatic end_legal(input [127:0] w);
    end_legal = 1'b1;
    if ((w & 128'hc0000000f0000000ffff0000) != 128'd0) end_legal = 1'b0;
    if (w[0 +: 8] != 8'd2) end_legal = 1'b0;
    if (w[8 +: 8] != 8'd4) end_legal = 1'b0;
  endfunction

  function automatic barrier_legal(input [127:0] w);
    barrier_legal = 1'b1;
    if ((w & 128'hc0000000f0000000ffff0000) != 128'd0) barrier_legal = 1'b0;
    if (w[0 +: 8] != 8'd3) barrier_legal = 1'b0;
    if (w[8 +: 8] != 8'd4) barrier_legal = 1'b0;
  endfunction

  function automatic load_legal(input [639:0] w);
    load_legal = 1'b1;
    if ((w & 640'hffffffffffffffffffffffffff000000ff000000ff000000ff000000000000000000000000000000000000000000000000000000ff00000000000000ffffff8000000000c0000000f0000000ffff0000) != 640'd0) load_legal = 1'b0;
    if (w[0 +: 8] != 8'd16) load_legal = 1'b0;
    if (w[8 +: 8] != 8'd20) load_legal = 1'b0;
    if (w[132 +: 3] > 3'd4) load_legal = 1'b0;
    if (w[224 +: 16] == 16'd0) load_legal = 1'b0;
    if (w[240 +: 16] == 16'd0) load_legal = 1'b0;
    if (w[256 +: 16] == 16'd0) load_legal = 1'b0;
    if (w[272 +: 16] == 16'd0) load_legal = 1'b0;
  endfunction

  function automatic fill_legal(input [511:0] w);
    fill_legal = 1'b1;
    if ((w & 512'hffffffffffffffffffffffffff000000ff000000ff000000ff000000000000000000000000000000ff000000fffffffc00000000c0000000f0000000ffff0000) != 512'd0) fill_legal = 1'b0;
    if (w[0 +: 8] != 8'd17) fill_legal = 1'b0;
    if (w[8 +: 8] != 8'd16) fill_legal = 1'b0;
    if (w[128 +: 2] > 2'd2) fill_legal = 1'b0;
    if (w[224 +: 16] == 16'd0) fill_legal = 1'b0;
    if (w[240 +: 16] == 16'd0) fill_legal = 1'b0;
    if (w[256 +: 16] == 16'd0) fill_legal = 1'b0;
    if (w[272 +: 16] == 16'd0) fill_legal = 1'b0;
  endfunction

  function automatic load_gather_legal(input [383:0] w);
    load_gather_legal = 1'b1;
    if ((w & 384'hff0000000000000000000000ff00000000000000ff00000000000000ffffff8000000000c0000000f0000000ffff0000) != 384'd0) load_gather_legal = 1'b0;
    if (w[0 +: 8] != 8'd18) load_gather_legal = 1'b0;
    if (w[8 +: 8] != 8'd12) load_gather_legal = 1'b0;
    if (w[132 +: 3] > 3'd4) load_gather_legal = 1'b0;
    if (w[224 +: 16] == 16'd0) load_gather_legal = 1'b0;
    if (w[240 +: 16] == 16'd0) load_gather_legal = 1'b0;
    if (w[288 +: 32] == 32'd0) load_gather_legal = 1'b0;
  endfunction

  function automatic sync_load_legal(input [127:0] w);
    sync_load_legal = 1'b1;
    if ((w & 128'hc0000000f0000000ffff0000) != 128'd0) sync_load_legal = 1'b0;
    if (w[0 +: 8] != 8'd19) sync_load_legal = 1'b0;
    if (w[8 +: 8] != 8'd4) sync_load_legal = 1'b0;
  endfunction

  function automatic store_legal(input [639:0] w);
    store_legal = 1'b1;
    if ((w & 640'hffffffffffffffffffffffffff000000ff000000ff000000ff000000000000000000000000000000000000000000000000000000ff00000000000000ffffff8000000000c0000000f0000000ffff0000) != 640'd0) store_legal = 1'b0;
    if (w[0 +: 8] != 8'd32) store_legal = 1'b0;
    if (w[8 +: 8] != 8'd20) store_legal = 1'b0;
    if (w[132 +: 3] > 3'd4) store_legal = 1'b0;
    if (w[224 +: 16] == 16'd0) store_legal = 1'b0;
    if (w[240 +: 16] == 16'd0) store_legal = 1'b0;
    if (w[256 +: 16] == 16'd0) store_legal = 1'b0;
    if (w[272 +: 16] == 16'd0) store_legal = 1'b0;
  endfunction

  function automatic store_scatter_legal(input [383:0] w);
    store_scatter_legal = 1'b1;
    if ((w & 384'hff0000000000000000000000ff00000000000000ff00000000000000ffffff8000000000c0000000f0000000ffff0000) != 384'd0) store_scatter_legal = 1'b0;
    if (w[0 +: 8] != 8'd33) store_scatter_legal = 1'b0;
    if (w[8 +: 8] != 8'd12) store_scatter_legal = 1'b0;
    if (w[132 +: 3] > 3'd4) store_scatter_legal = 1'b0;
    if (w[224 +: 16] == 16'd0) store_scatter_legal = 1'b0;
    if (w[240 +: 16] == 16'd0) store_scatter_legal = 1'b0;
    if (w[288 +: 32] == 32'd0) store_scatter_legal = 1'b0;
  endfunction

  function automatic sync_store_legal(input [127:0] w);
    sync_store_legal = 1'b1;
    if ((w & 128'hc0000000f0000000ffff0000) != 128'd0) sync_store_legal = 1'b0;
    if (w[0 +: 8] != 8'd34) sync_store_legal = 1'b0;
    if (w[8 +: 8] != 8'd4) sync_store_legal = 1'b0;
  endfunction

  function automatic conv_legal(input [1279:0] w);
    conv_legal = 1'b1;
    if ((w & 1280'hffff000000000000fffff0000000000000000000000000000000000000000000fff0000000000000fff00000fff0000000000000ffff000000000000fff00000fff00000fff00000fff000000000000000000000ffff0000ff0000000000000000000000fff00000ff000000fff000000000000000000000fff00000ff000000fff00000ff80000000000000c0000000f0000000ffff0000) != 1280'd0) conv_legal = 1'b0;
    if (w[0 +: 8] != 8'd48) conv_legal = 1'b0;
    if (w[8 +: 8] != 8'd40) conv_legal = 1'b0;
    if (w[132 +: 2] != 2'd0 && w[132 +: 2] != 2'd1 && w[132 +: 2] != 2'd2) conv_legal = 1'b0;
    if (w[141 +: 2] != 2'd0 && w[141 +: 2] != 2'd1 && w[141 +: 2] != 2'd2) conv_legal = 1'b0;
    if (w[145 +: 2] != 2'd0 && w[145 +: 2] != 2'd1 && w[145 +: 2] != 2'd2) conv_legal = 1'b0;
    if (w[147 +: 4] > 4'd8) conv_legal = 1'b0;
    if (w[256 +: 16] == 16'd0) conv_legal = 1'b0;
    if (w[272 +: 16] == 16'd0) conv_legal = 1'b0;
    if (w[416 +: 16] == 16'd0) conv_legal = 1'b0;
    if (w[432 +: 16] == 16'd0) conv_legal = 1'b0;
    if (w[480 +: 8] == 8'd0) conv_legal = 1'b0;
    if (w[488 +: 8] == 8'd0) conv_legal = 1'b0;
    if (w[496 +: 4] == 4'd0) conv_legal = 1'b0;
    if (w[500 +: 4] == 4'd0) conv_legal = 1'b0;
    if (w[512 +: 8] == 8'd0) conv_legal = 1'b0;
    if (w[520 +: 8] == 8'd0) conv_legal = 1'b0;
    if (w[576 +: 16] == 16'd0) conv_legal = 1'b0;
    if (w[592 +: 16] == 16'd0) conv_legal = 1'b0;
    if ($signed(w[736 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[736 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[752 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[752 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[768 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[768 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[800 +: 16]) < -16'sd255) conv_legal = 1'b0;
    if ($signed(w[800 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[816 +: 16]) < -16'sd255) conv_legal = 1'b0;
    if ($signed(w[816 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[1056 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[1056 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[1072 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[1072 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[1088 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[1088 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[1104 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[1104 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[1248 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[1248 +: 16]) > 16'sd255) conv_legal = 1'b0;
    if ($signed(w[1264 +: 16]) < -16'sd128) conv_legal = 1'b0;
    if ($signed(w[1264 +: 16]) > 16'sd255) conv_legal = 1'b0;
  endfunction

  function automatic sync_matrix_legal(input [127:0] w);
    sync_matrix_legal = 1'b1;
    if ((w & 128'hc0000000f0000000ffff0000) != 128'd0) sync_matrix_legal = 1'b0;
    if (w[0 +: 8] != 8'd49) sync_matrix_legal = 1'b0;
    if (w[8 +: 8] != 8'd4) sync_matrix_legal = 1'b0;
  endfunction

  function automatic vrun_legal(input [1663:0] w);
    vrun_legal = 1'b1;
    if ((w & 1664'hff000000ff000000ff000000ff000000ff000000ff000000ff000000f0000000ff000000ff000000ff000000ff000000ff000000ff000000ff000000f0000000ff000000ff000000ff000000ff000000ff000000ff000000ff000000f0000000ff000000ff000000ff000000ff000000ff000000ff000000ff000000f0000000ffffffffffffffffffffffff0000000000000000000000000000000000000000ff000000fffffe00ffe00000000000000000000000000000f8000000fff0000000000000c0000000f0000000ffff0000) != 1664'd0) vrun_legal = 1'b0;
    if (w[0 +: 8] != 8'd64) vrun_legal = 1'b0;
    if (w[8 +: 8] != 8'd52) vrun_legal = 1'b0;
    if (w[160 +: 9] > 9'd256) vrun_legal = 1'b0;
    if (w[169 +: 9] == 9'd0) vrun_legal = 1'b0;
    if (w[169 +: 9] > 9'd256) vrun_legal = 1'b0;
    if (w[178 +: 9] > 9'd256) vrun_legal = 1'b0;
    if (w[192 +: 16] == 16'd0) vrun_legal = 1'b0;
    if (w[208 +: 16] == 16'd0) vrun_legal = 1'b0;
    if (w[224 +: 16] == 16'd0) vrun_legal = 1'b0;
    if (w[240 +: 16] == 16'd0) vrun_legal = 1'b0;
    if (w[256 +: 16] == 16'd0) vrun_legal = 1'b0;
    if (w[272 +: 16] == 16'd0) vrun_legal = 1'b0;
    if (w[288 +: 16] == 16'd0) vrun_legal = 1'b0;
    if (w[304 +: 5] > 5'd15) vrun_legal = 1'b0;
    if (w[323 +: 2] != 2'd0 && w[323 +: 2] != 2'd1 && w[323 +: 2] != 2'd2) vrun_legal = 1'b0;
    if (w[664 +: 4] != 4'd0 && w[664 +: 4] != 4'd1 && w[664 +: 4] != 4'd2 && w[664 +: 4] != 4'd3 && w[664 +: 4] != 4'd4 && w[664 +: 4] != 4'd5 && w[664 +: 4] != 4'd6 && w[664 +: 4] != 4'd7) vrun_legal = 1'b0;
    if (w[920 +: 4] != 4'd0 && w[920 +: 4] != 4'd1 && w[920 +: 4] != 4'd2 && w[920 +: 4] != 4'd3 && w[920 +: 4] != 4'd4 && w[920 +: 4] != 4'd5 && w[920 +: 4] != 4'd6 && w[920 +: 4] != 4'd7) vrun_legal = 1'b0;
    if (w[1176 +: 4] != 4'd0 && w[1176 +: 4] != 4'd1 && w[1176 +: 4] != 4'd2 && w[1176 +: 4] != 4'd3 && w[1176 +: 4] != 4'd4 && w[1176 +: 4] != 4'd5 && w[1176 +: 4] != 4'd6 && w[1176 +: 4] != 4'd7) vrun_legal = 1'b0;
    if (w[1432 +: 4] != 4'd0 && w[1432 +: 4] != 4'd1 && w[1432 +: 4] != 4'd2 && w[1432 +: 4] != 4'd3 && w[1432 +: 4] != 4'd4 && w[1432 +: 4] != 4'd5 && w[1432 +: 4] != 4'd6 && w[1432 +: 4] != 4'd7) vrun_legal = 1'b0;
  endfunction

  function automatic vmac_legal(input [1663:0] w);
    vmac_legal = 1'b1;
    if ((w & 1664'hff000000ff000000ff000000ff000000ff000000ff000000ff000000f0000000ff000000ff000000ff000000ff000000ff000000ff000000ff000000f0000000ff000000ff000000ff000000ff000000ff000000ff000000ff000000f0000000ff000000ff000000ff000000ff000000ff000000ff000000ff000000f0000000ffffffffffffffffffffffffffffffffffffffff0000000000000000fffffffffffffffffffffffcffff0000000000000000000000000000ffffffffffffffff00000000c0000000f0000000ffff0000) != 1664'd0) vmac_legal = 1'b0;
    if (w[0 +: 8] != 8'd65) vmac_legal = 1'b0;
    if (w[8 +: 8] != 8'd52) vmac_legal = 1'b0;
    if (w[192 +: 16] == 16'd0) vmac_legal = 1'b0;
    if (w[208 +: 16] == 16'd0) vmac_legal = 1'b0;
    if (w[224 +: 16] == 16'd0) vmac_legal = 1'b0;
    if (w[240 +: 16] == 16'd0) vmac_legal = 1'b0;
    if (w[256 +: 16] == 16'd0) vmac_legal = 1'b0;
    if (w[272 +: 16] == 16'd0) vmac_legal = 1'b0;
    if (w[288 +: 16] == 16'd0) vmac_legal = 1'b0;
    if (w[664 +: 4] != 4'd0 && w[664 +: 4] != 4'd1 && w[664 +: 4] != 4'd2 && w[664 +: 4] != 4'd3 && w[664 +: 4] != 4'd4 && w[664 +: 4] != 4'd5 && w[664 +: 4] != 4'd6 && w[664 +: 4] != 4'd7) vmac_legal = 1'b0;
    if (w[920 +: 4] != 4'd0 && w[920 +: 4] != 4'd1 && w[920 +: 4] != 4'd2 && w[920 +: 4] != 4'd3 && w[920 +: 4] != 4'd4 && w[920 +: 4] != 4'd5 && w[920 +: 4] != 4'd6 && w[920 +: 4] != 4'd7) vmac_legal = 1'b0;
    if (w[1176 +: 4] != 4'd0 && w[1176 +: 4] != 4'd1 && w[1176 +: 4] != 4'd2 && w[1176 +: 4] != 4'd3 && w[1176 +: 4] != 4'd4 && w[1176 +: 4] != 4'd5 && w[1176 +: 4] != 4'd6 && w[1176 +: 4] != 4'd7) vmac_legal = 1'b0;
    if (w[1432 +: 4] != 4'd0 && w[1432 +: 4] != 4'd1 && w[1432 +: 4] != 4'd2 && w[1432 +: 4] != 4'd3 && w[1432 +: 4] != 4'd4 && w[1432 +: 4] != 4'd5 && w[1432 +: 4] != 4'd6 && w[1432 +: 4] != 4'd7) vmac_legal = 1'b0;
  endfunction

  function automatic sync_vector_legal(input [127:0] w);
    sync_vector_legal = 1'b1;
    if ((w & 128'hc0000000f0000000ffff0000) != 128'd0) sync_vector_legal = 1'b0;
    if (w[0 +: 8] != 8'd66) sync_vector_legal = 1'b0;
    if (w[8 +: 8] != 8'd4) sync_vector_legal = 1'b0;
  endfunction

  // The same for the command whose words are in w, whatever its opcode is.
  function automatic command_legal(input [1663:0] w);
    case (w[0 +: 8])
      OP_NOP: command_legal = nop_legal(w[127:0]);
      OP_END: command_legal = end_legal(w[127:0]);
      OP_BARRIER: command_legal = barrier_legal(w[127:0]);
      OP_LOAD: command_legal = load_legal(w[639:0]);
      OP_FILL: command_legal = fill_legal(w[511:0]);
      OP_LOAD_GATHER: command_legal = load_gather_legal(w[383:0]);
      OP_SYNC_LOAD: command_legal = sync_load_legal(w[127:0]);
      OP_STORE: command_legal = store_legal(w[639:0]);
      OP_STORE_SCATTER: command_legal = store_scatter_legal(w[383:0]);
      OP_SYNC_STORE: command_legal = sync_store_legal(w[127:0]);
      OP_CONV: command_legal = conv_legal(w[1279:0]);
      OP_SYNC_MATRIX: command_legal = sync_matrix_legal(w[127:0]);
      OP_VRUN: command_legal = vrun_legal(w[1663:0]);
      OP_VMAC: command_legal = vmac_legal(w[1663:0]);
      OP_SYNC_VECTOR: command_legal = sync_vector_legal(w[127:0]);
      default: command_legal = 1'b0;
    endcase
  endfunction

  // Structures that card and driver exchange in memory.
  // One entry of a job ring, in host memory that user space cannot reach. The driver writes entry
  // HEAD modulo the ring's size, then the doorbell.
  typedef struct packed {
    logic [127:0] reserved2;
    logic [31:0] reserved1;
    logic [31:0] trace_entries;
    logic [63:0] trace_iova;
    logic [31:0] reserved0;
    logic [31:0] context_id;
    logic [31:0] flags;
    logic [31:0] step_count;
    logic [63:0] steps_iova;
    logic [63:0] fence;
  } job_descriptor_t;

  localparam [31:0] JOB_DESCRIPTOR_BYTES = 32'h40;
  localparam [31:0] JOB_DESCRIPTOR_FENCE_OFFSET = 32'd0;
  localparam [31:0] JOB_DESCRIPTOR_STEPS_IOVA_OFFSET = 32'd8;
  localparam [31:0] JOB_DESCRIPTOR_STEP_COUNT_OFFSET = 32'h10;
  localparam [31:0] JOB_DESCRIPTOR_FLAGS_OFFSET = 32'h14;
  localparam [31:0] JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_MASK = 32'd1;
  localparam [31:0] JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_SHIFT = 32'd0;
  localparam [31:0] JOB_DESCRIPTOR_FLAGS_INTERRUPT_MASK = 32'd2;
  localparam [31:0] JOB_DESCRIPTOR_FLAGS_INTERRUPT_SHIFT = 32'd1;
  localparam [31:0] JOB_DESCRIPTOR_FLAGS_TRACE_MASK = 32'd4;
  localparam [31:0] JOB_DESCRIPTOR_FLAGS_TRACE_SHIFT = 32'd2;
  localparam [31:0] JOB_DESCRIPTOR_CONTEXT_ID_OFFSET = 32'h18;
  localparam [31:0] JOB_DESCRIPTOR_RESERVED0_OFFSET = 32'h1c;
  localparam [31:0] JOB_DESCRIPTOR_TRACE_IOVA_OFFSET = 32'h20;
  localparam [31:0] JOB_DESCRIPTOR_TRACE_ENTRIES_OFFSET = 32'h28;
  localparam [31:0] JOB_DESCRIPTOR_RESERVED1_OFFSET = 32'h2c;
  localparam [31:0] JOB_DESCRIPTOR_RESERVED2_OFFSET = 32'h30;

  // One step of a job. Steps run one after another in order, and every step sees all that the
  // steps before it wrote; flags.overlap alone lets one begin earlier.
  typedef struct packed {
    logic [127:0] reserved1;
    logic [63:0] destination;
    logic [31:0] fill_value;
    logic [31:0] sg_count;
    logic [63:0] table_iova;
    logic [63:0] length;
    logic [63:0] device_address;
    logic [31:0] flags;
    logic [31:0] type_;
  } step_t;

  localparam [31:0] STEP_BYTES = 32'h40;
  localparam [31:0] STEP_TYPE_OFFSET = 32'd0;
  localparam [31:0] STEP_FLAGS_OFFSET = 32'd4;
  localparam [31:0] STEP_FLAGS_OVERLAP_MASK = 32'd1;
  localparam [31:0] STEP_FLAGS_OVERLAP_SHIFT = 32'd0;
  localparam [31:0] STEP_DEVICE_ADDRESS_OFFSET = 32'd8;
  localparam [31:0] STEP_LENGTH_OFFSET = 32'h10;
  localparam [31:0] STEP_TABLE_IOVA_OFFSET = 32'h18;
  localparam [31:0] STEP_SG_COUNT_OFFSET = 32'h20;
  localparam [31:0] STEP_FILL_VALUE_OFFSET = 32'h24;
  localparam [31:0] STEP_DESTINATION_OFFSET = 32'h28;
  localparam [31:0] STEP_RESERVED1_OFFSET = 32'h30;

  // One piece of a host buffer.
  typedef struct packed {
    logic [63:0] length;
    logic [63:0] iova;
  } sg_entry_t;

  localparam [31:0] SG_ENTRY_BYTES = 32'h10;
  localparam [31:0] SG_ENTRY_IOVA_OFFSET = 32'd0;
  localparam [31:0] SG_ENTRY_LENGTH_OFFSET = 32'd8;

  // One entry of a run step's region table. Every burst of the stream is checked against it by the
  // hardware.
  typedef struct packed {
    logic [63:0] reserved1;
    logic [31:0] reserved0;
    logic [31:0] flags;
    logic [63:0] size;
    logic [63:0] base;
  } region_t;

  localparam [31:0] REGION_BYTES = 32'h20;
  localparam [31:0] REGION_BASE_OFFSET = 32'd0;
  localparam [31:0] REGION_SIZE_OFFSET = 32'd8;
  localparam [31:0] REGION_FLAGS_OFFSET = 32'h10;
  localparam [31:0] REGION_FLAGS_WRITABLE_MASK = 32'd1;
  localparam [31:0] REGION_FLAGS_WRITABLE_SHIFT = 32'd0;
  localparam [31:0] REGION_RESERVED0_OFFSET = 32'h14;
  localparam [31:0] REGION_RESERVED1_OFFSET = 32'h18;

  // One entry of the completion ring, written by the card in one piece except `sequence`, which is
  // written last. The driver knows a new entry by its sequence number.
  typedef struct packed {
    logic [31:0] sequence_;
    logic [31:0] trace_count;
    logic [63:0] bytes_copied;
    logic [63:0] dma_busy;
    logic [63:0] vector_busy;
    logic [63:0] matrix_busy;
    logic [63:0] bytes_stored;
    logic [63:0] bytes_loaded;
    logic [63:0] macs;
    logic [63:0] commands;
    logic [63:0] cycles;
    logic [63:0] fault_address;
    logic [31:0] fault_region;
    logic [31:0] fault_engine;
    logic [31:0] fault_tag;
    logic [31:0] fault_offset;
    logic [31:0] fault_step;
    logic [31:0] context_id;
    logic [31:0] ring;
    logic [31:0] status;
    logic [63:0] fence;
  } completion_t;

  localparam [31:0] COMPLETION_BYTES = 32'h80;
  localparam [31:0] COMPLETION_FENCE_OFFSET = 32'd0;
  localparam [31:0] COMPLETION_STATUS_OFFSET = 32'd8;
  localparam [31:0] COMPLETION_RING_OFFSET = 32'hc;
  localparam [31:0] COMPLETION_CONTEXT_ID_OFFSET = 32'h10;
  localparam [31:0] COMPLETION_FAULT_STEP_OFFSET = 32'h14;
  localparam [31:0] COMPLETION_FAULT_OFFSET_OFFSET = 32'h18;
  localparam [31:0] COMPLETION_FAULT_TAG_OFFSET = 32'h1c;
  localparam [31:0] COMPLETION_FAULT_ENGINE_OFFSET = 32'h20;
  localparam [31:0] COMPLETION_FAULT_REGION_OFFSET = 32'h24;
  localparam [31:0] COMPLETION_FAULT_ADDRESS_OFFSET = 32'h28;
  localparam [31:0] COMPLETION_CYCLES_OFFSET = 32'h30;
  localparam [31:0] COMPLETION_COMMANDS_OFFSET = 32'h38;
  localparam [31:0] COMPLETION_MACS_OFFSET = 32'h40;
  localparam [31:0] COMPLETION_BYTES_LOADED_OFFSET = 32'h48;
  localparam [31:0] COMPLETION_BYTES_STORED_OFFSET = 32'h50;
  localparam [31:0] COMPLETION_MATRIX_BUSY_OFFSET = 32'h58;
  localparam [31:0] COMPLETION_VECTOR_BUSY_OFFSET = 32'h60;
  localparam [31:0] COMPLETION_DMA_BUSY_OFFSET = 32'h68;
  localparam [31:0] COMPLETION_BYTES_COPIED_OFFSET = 32'h70;
  localparam [31:0] COMPLETION_TRACE_COUNT_OFFSET = 32'h78;
  localparam [31:0] COMPLETION_SEQUENCE_OFFSET = 32'h7c;

  // One command that a job with flags.trace has retired: all but those of engine control; a
  // command that failed or was not retired has none. Entry i of trace_iova is the command that was
  // retired as number i of the job (from 0; of those of one cycle in the order of enum engine), as
  // long as i is less than trace_entries. All entries are written before the completion record and
  // when the next step starts. An entry that finds the card's queue of entries full is lost: its
  // place in host memory is not written (flags.valid stays zero), and completion.trace_count
  // counts it. The trace changes no cycle of a stream, but for what copies that overlap the run
  // (step.flags.overlap) share with it. If an entry cannot be written, no further one is, the run
  // comes to its end, and the job fails with host_dma at that run; fault_address is trace_iova.
  typedef struct packed {
    logic [95:0] stall;
    logic [31:0] flags;
    logic [31:0] tag;
    logic [31:0] offset;
    logic [31:0] end_;
    logic [31:0] begin_;
  } trace_entry_t;

  localparam [31:0] TRACE_ENTRY_BYTES = 32'h20;
  localparam [31:0] TRACE_ENTRY_BEGIN_OFFSET = 32'd0;
  localparam [31:0] TRACE_ENTRY_END_OFFSET = 32'd4;
  localparam [31:0] TRACE_ENTRY_OFFSET_OFFSET = 32'd8;
  localparam [31:0] TRACE_ENTRY_TAG_OFFSET = 32'hc;
  localparam [31:0] TRACE_ENTRY_FLAGS_OFFSET = 32'h10;
  localparam [31:0] TRACE_ENTRY_FLAGS_ENGINE_MASK = 32'd7;
  localparam [31:0] TRACE_ENTRY_FLAGS_ENGINE_SHIFT = 32'd0;
  localparam [31:0] TRACE_ENTRY_FLAGS_STEP_MASK = 32'h3f00;
  localparam [31:0] TRACE_ENTRY_FLAGS_STEP_SHIFT = 32'd8;
  localparam [31:0] TRACE_ENTRY_FLAGS_ESTIMATED_MASK = 32'h10000;
  localparam [31:0] TRACE_ENTRY_FLAGS_ESTIMATED_SHIFT = 32'h10;
  localparam [31:0] TRACE_ENTRY_FLAGS_VALID_MASK = 32'h20000;
  localparam [31:0] TRACE_ENTRY_FLAGS_VALID_SHIFT = 32'h11;
  localparam [31:0] TRACE_ENTRY_STALL_OFFSET = 32'h14;

  // Byte offsets of the registers in the BAR (of the first one of an array), their reset values,
  // the bits of each kind of access (none is written as no constant) and the masks of their
  // fields.
  localparam [31:0] REG_BLOCK_BYTES = 32'h10000;
  localparam [31:0] REG_ID = 32'd0;
  localparam [31:0] REG_ID_RESET = 32'h4c444548;
  localparam [31:0] REG_ID_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_VERSION = 32'd4;
  localparam [31:0] REG_VERSION_RESET = 32'h10001;
  localparam [31:0] REG_VERSION_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_VERSION_MINOR_MASK = 32'hffff;
  localparam [31:0] REG_VERSION_MINOR_SHIFT = 32'd0;
  localparam [31:0] REG_VERSION_MAJOR_MASK = 32'hffff0000;
  localparam [31:0] REG_VERSION_MAJOR_SHIFT = 32'h10;
  localparam [31:0] REG_CONFIG = 32'd8;
  localparam [31:0] REG_CONFIG_RESET = 32'd1;
  localparam [31:0] REG_CONFIG_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_CORE_KIND = 32'hc;
  localparam [31:0] REG_CORE_KIND_RESET = 32'd0;
  localparam [31:0] REG_CORE_KIND_RO_BITS = 32'hf;
  localparam [31:0] REG_CORE_KIND_KIND_MASK = 32'hf;
  localparam [31:0] REG_CORE_KIND_KIND_SHIFT = 32'd0;
  localparam [31:0] REG_DRAM_LO = 32'h10;
  localparam [31:0] REG_DRAM_LO_RESET = 32'h20000000;
  localparam [31:0] REG_DRAM_LO_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_DRAM_HI = 32'h14;
  localparam [31:0] REG_DRAM_HI_RESET = 32'd0;
  localparam [31:0] REG_DRAM_HI_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_UNIQUE_LO = 32'h18;
  localparam [31:0] REG_UNIQUE_LO_RESET = 32'd0;
  localparam [31:0] REG_UNIQUE_LO_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_UNIQUE_HI = 32'h1c;
  localparam [31:0] REG_UNIQUE_HI_RESET = 32'd0;
  localparam [31:0] REG_UNIQUE_HI_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_STATUS = 32'h20;
  localparam [31:0] REG_STATUS_RESET = 32'd1;
  localparam [31:0] REG_STATUS_RO_BITS = 32'hf07;
  localparam [31:0] REG_STATUS_READY_MASK = 32'd1;
  localparam [31:0] REG_STATUS_READY_SHIFT = 32'd0;
  localparam [31:0] REG_STATUS_BUSY_MASK = 32'd2;
  localparam [31:0] REG_STATUS_BUSY_SHIFT = 32'd1;
  localparam [31:0] REG_STATUS_HALTED_MASK = 32'd4;
  localparam [31:0] REG_STATUS_HALTED_SHIFT = 32'd2;
  localparam [31:0] REG_STATUS_RING_MASK = 32'hf00;
  localparam [31:0] REG_STATUS_RING_SHIFT = 32'd8;
  localparam [31:0] REG_RESET = 32'h24;
  localparam [31:0] REG_RESET_RESET = 32'd0;
  localparam [31:0] REG_RESET_WO_BITS = 32'd3;
  localparam [31:0] REG_RESET_ENGINE_MASK = 32'd1;
  localparam [31:0] REG_RESET_ENGINE_SHIFT = 32'd0;
  localparam [31:0] REG_RESET_CARD_MASK = 32'd2;
  localparam [31:0] REG_RESET_CARD_SHIFT = 32'd1;
  localparam [31:0] REG_ABORT = 32'h28;
  localparam [31:0] REG_ABORT_RESET = 32'd0;
  localparam [31:0] REG_ABORT_WO_BITS = 32'hffffffff;
  localparam [31:0] REG_PROGRESS = 32'h2c;
  localparam [31:0] REG_PROGRESS_RESET = 32'd0;
  localparam [31:0] REG_PROGRESS_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_RUNNING_LO = 32'h30;
  localparam [31:0] REG_RUNNING_LO_RESET = 32'd0;
  localparam [31:0] REG_RUNNING_LO_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_RUNNING_HI = 32'h34;
  localparam [31:0] REG_RUNNING_HI_RESET = 32'd0;
  localparam [31:0] REG_RUNNING_HI_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_INT_STATUS = 32'h40;
  localparam [31:0] REG_INT_STATUS_RESET = 32'd0;
  localparam [31:0] REG_INT_STATUS_W1C_BITS = 32'hf;
  localparam [31:0] REG_INT_STATUS_COMPLETION_MASK = 32'd1;
  localparam [31:0] REG_INT_STATUS_COMPLETION_SHIFT = 32'd0;
  localparam [31:0] REG_INT_STATUS_FAULT_MASK = 32'd2;
  localparam [31:0] REG_INT_STATUS_FAULT_SHIFT = 32'd1;
  localparam [31:0] REG_INT_STATUS_MEMORY_MASK = 32'd4;
  localparam [31:0] REG_INT_STATUS_MEMORY_SHIFT = 32'd2;
  localparam [31:0] REG_INT_STATUS_ERROR_MASK = 32'd8;
  localparam [31:0] REG_INT_STATUS_ERROR_SHIFT = 32'd3;
  localparam [31:0] REG_INT_ENABLE = 32'h44;
  localparam [31:0] REG_INT_ENABLE_RESET = 32'd0;
  localparam [31:0] REG_INT_ENABLE_RW_BITS = 32'hf;
  localparam [31:0] REG_INT_ENABLE_MASK_MASK = 32'hf;
  localparam [31:0] REG_INT_ENABLE_MASK_SHIFT = 32'd0;
  localparam [31:0] REG_INT_RAISE = 32'h48;
  localparam [31:0] REG_INT_RAISE_RESET = 32'd0;
  localparam [31:0] REG_INT_RAISE_WO_BITS = 32'hf;
  localparam [31:0] REG_INT_RAISE_MASK_MASK = 32'hf;
  localparam [31:0] REG_INT_RAISE_MASK_SHIFT = 32'd0;
  localparam [31:0] REG_DEVICE_ERROR = 32'h4c;
  localparam [31:0] REG_DEVICE_ERROR_RESET = 32'd0;
  localparam [31:0] REG_DEVICE_ERROR_W1C_BITS = 32'hffffffff;
  localparam [31:0] REG_COMPLETION_BASE_LO = 32'h60;
  localparam [31:0] REG_COMPLETION_BASE_LO_RESET = 32'd0;
  localparam [31:0] REG_COMPLETION_BASE_LO_RW_BITS = 32'hffffffff;
  localparam [31:0] REG_COMPLETION_BASE_HI = 32'h64;
  localparam [31:0] REG_COMPLETION_BASE_HI_RESET = 32'd0;
  localparam [31:0] REG_COMPLETION_BASE_HI_RW_BITS = 32'hffffffff;
  localparam [31:0] REG_COMPLETION_SIZE = 32'h68;
  localparam [31:0] REG_COMPLETION_SIZE_RESET = 32'd0;
  localparam [31:0] REG_COMPLETION_SIZE_RW_BITS = 32'hffffffff;
  localparam [31:0] REG_COMPLETION_TAIL = 32'h6c;
  localparam [31:0] REG_COMPLETION_TAIL_RESET = 32'd0;
  localparam [31:0] REG_COMPLETION_TAIL_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_RING_BASE_LO = 32'h100;
  localparam [31:0] REG_RING_BASE_LO_RESET = 32'd0;
  localparam [31:0] REG_RING_BASE_LO_COUNT = 32'd4;
  localparam [31:0] REG_RING_BASE_LO_STRIDE = 32'h20;
  localparam [31:0] REG_RING_BASE_LO_RW_BITS = 32'hffffffff;
  localparam [31:0] REG_RING_BASE_HI = 32'h104;
  localparam [31:0] REG_RING_BASE_HI_RESET = 32'd0;
  localparam [31:0] REG_RING_BASE_HI_COUNT = 32'd4;
  localparam [31:0] REG_RING_BASE_HI_STRIDE = 32'h20;
  localparam [31:0] REG_RING_BASE_HI_RW_BITS = 32'hffffffff;
  localparam [31:0] REG_RING_SIZE = 32'h108;
  localparam [31:0] REG_RING_SIZE_RESET = 32'd0;
  localparam [31:0] REG_RING_SIZE_COUNT = 32'd4;
  localparam [31:0] REG_RING_SIZE_STRIDE = 32'h20;
  localparam [31:0] REG_RING_SIZE_RW_BITS = 32'hffffffff;
  localparam [31:0] REG_RING_HEAD = 32'h10c;
  localparam [31:0] REG_RING_HEAD_RESET = 32'd0;
  localparam [31:0] REG_RING_HEAD_COUNT = 32'd4;
  localparam [31:0] REG_RING_HEAD_STRIDE = 32'h20;
  localparam [31:0] REG_RING_HEAD_RW_BITS = 32'hffffffff;
  localparam [31:0] REG_RING_TAIL = 32'h110;
  localparam [31:0] REG_RING_TAIL_RESET = 32'd0;
  localparam [31:0] REG_RING_TAIL_COUNT = 32'd4;
  localparam [31:0] REG_RING_TAIL_STRIDE = 32'h20;
  localparam [31:0] REG_RING_TAIL_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_COUNTER_CYCLES_LO = 32'h200;
  localparam [31:0] REG_COUNTER_CYCLES_LO_RESET = 32'd0;
  localparam [31:0] REG_COUNTER_CYCLES_LO_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_COUNTER_CYCLES_HI = 32'h204;
  localparam [31:0] REG_COUNTER_CYCLES_HI_RESET = 32'd0;
  localparam [31:0] REG_COUNTER_CYCLES_HI_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_COUNTER_MACS_LO = 32'h208;
  localparam [31:0] REG_COUNTER_MACS_LO_RESET = 32'd0;
  localparam [31:0] REG_COUNTER_MACS_LO_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_COUNTER_MACS_HI = 32'h20c;
  localparam [31:0] REG_COUNTER_MACS_HI_RESET = 32'd0;
  localparam [31:0] REG_COUNTER_MACS_HI_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_COUNTER_JOBS = 32'h210;
  localparam [31:0] REG_COUNTER_JOBS_RESET = 32'd0;
  localparam [31:0] REG_COUNTER_JOBS_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_COUNTER_FAULTS = 32'h214;
  localparam [31:0] REG_COUNTER_FAULTS_RESET = 32'd0;
  localparam [31:0] REG_COUNTER_FAULTS_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_COUNTER_RESETS = 32'h218;
  localparam [31:0] REG_COUNTER_RESETS_RESET = 32'd0;
  localparam [31:0] REG_COUNTER_RESETS_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_COUNTER_SRAM_CORRECTED = 32'h21c;
  localparam [31:0] REG_COUNTER_SRAM_CORRECTED_RESET = 32'd0;
  localparam [31:0] REG_COUNTER_SRAM_CORRECTED_RO_BITS = 32'hffffffff;
  localparam [31:0] REG_SCRATCH = 32'hffc;
  localparam [31:0] REG_SCRATCH_RESET = 32'd0;
  localparam [31:0] REG_SCRATCH_RW_BITS = 32'hffffffff;

  // Status codes.
  localparam [31:0] ERROR_OK = 32'd0;
  localparam [31:0] ERROR_ILLEGAL_COMMAND = 32'd1;
  localparam [31:0] ERROR_STREAM_OVERRUN = 32'd2;
  localparam [31:0] ERROR_REGION_BOUNDS = 32'd3;
  localparam [31:0] ERROR_REGION_READONLY = 32'd4;
  localparam [31:0] ERROR_SRAM_BOUNDS = 32'd5;
  localparam [31:0] ERROR_INDEX_BOUNDS = 32'd6;
  localparam [31:0] ERROR_SEMAPHORE_OVERFLOW = 32'd7;
  localparam [31:0] ERROR_ILLEGAL_PROGRAM = 32'd8;
  localparam [31:0] ERROR_BUS_ERROR = 32'd9;
  localparam [31:0] ERROR_TIMEOUT = 32'ha;
  localparam [31:0] ERROR_ABORTED = 32'hb;
  localparam [31:0] ERROR_ILLEGAL_DESCRIPTOR = 32'hc;
  localparam [31:0] ERROR_HOST_DMA = 32'hd;
  localparam [31:0] ERROR_COPY_BOUNDS = 32'he;
  localparam [31:0] ERROR_DEVICE_LOST = 32'hf;
  localparam [31:0] ERROR_NO_DEVICE_MEMORY = 32'h10;
  localparam [31:0] ERROR_SRAM_UNCORRECTABLE = 32'h11;
  localparam [31:0] ERROR_SRAM_CORRECTED = 32'h12;

endpackage
/* verilator lint_on UNUSED */
