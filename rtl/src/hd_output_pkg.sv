// SPDX-License-Identifier: Apache-2.0
// Types shared by the units of the output stage: one conv command as they see it, in three parts,
// because the parts are used in different places (rtl/src/hd_output_stage.sv).
//
// Addresses are in words of 16 bytes and OAW bits wide, which no sum of fields overflows; they are
// compared with the size of the SRAM where a request is made. Members marked "signed" hold two's
// complement and are used through $signed.
package hd_output_pkg;

  localparam int OAW = 36;
  localparam int ENTRIES = 4;  // commands in the stage, from taken to done
  localparam int CRO_CYCLES = 4;       // stage 1: accumulator to code
  localparam int FLOAT_CYCLES = 10;    // accumulator to f32 (hd_float_lane)
  localparam int RESIDUAL_CYCLES = 11; // code and residual to code

  // What the walkers and the producers of words need.
  typedef struct packed {
    logic        novec;      // no vector comes: acc_hold, or not a conv
    logic        hold;
    logic        wide;       // 32-bit output
    logic        sgn;        // codes that leave the stage are int8
    logic        res;        // has a residual
    logic [1:0]  pool;       // heddle_pkg::POOL_KIND_*
    logic        one;        // a vector is one word (16 channels)
    logic        odd;        // ... of the last block of K = 32 channels
    logic        outer;      // cob_outer of mder_t
    logic [44:0] vectors;    // out_rows * ow * cobs
    logic [15:0] rows;
    logic [15:0] ow;
    logic [15:0] srows;
    logic [15:0] scols;
    logic [15:0] cobs;
    logic [19:0] out_addr;
    logic [15:0] out_pitch;
    logic [7:0]  out_xstep;
    logic [19:0] out_plane;
    logic [15:0] out_wrap;
    logic [15:0] slot0;      // slot of the first row, with max pooling of the first pooled row
    logic [35:0] roff0;      // slot0 * out_pitch
    logic [19:0] res_addr;
    logic [15:0] res_pitch;
    logic [19:0] res_plane;
    logic [15:0] res_wrap;
    logic [15:0] rslot0;
    logic [35:0] rroff0;
    logic        top;        // out_row0 = 0
    logic [3:0]  pool_k;
    logic [3:0]  pool_s;
    logic [3:0]  pool_pad;
    logic [15:0] pool_oh;
    logic [15:0] pool_ow;
    logic [16:0] py0;        // lowest pooled row whose window does not end before the first row
    logic [5:0]  ya0;        // signed: position of the first row in that window; < 0: above it
    logic [31:0] pool_scale;
    logic [8:0]  pool_zero_in;   // signed
    logic [8:0]  pool_zero_out;  // signed
  } ocmd_t;

  // Constants of stage 1 and of the table, by the command of the vector.
  typedef struct packed {
    logic        raw;        // mode maxpool: the code passes
    logic        wide;
    logic        f32;
    logic        bias_f32;
    logic        sgn;
    logic        lut;
    logic        lset;       // set of the table
    logic [8:0]  zo;         // signed
    logic [8:0]  lo;         // signed: act_min
    logic [8:0]  hi;         // signed: act_max
  } s1c_t;

  // Constants of the residual stage.
  typedef struct packed {
    logic [1:0]  op;         // heddle_pkg::RESIDUAL_OP_*
    logic        sgn;        // out codes are int8
    logic        res_signed;
    logic        res_first;
    logic [8:0]  res_zero;   // signed
    logic [8:0]  mid_zero;   // signed
    logic [8:0]  lo;         // signed: res_min
    logic [8:0]  hi;         // signed: res_max
    logic [31:0] a;
    logic [31:0] b;
    logic [31:0] k;
  } s2c_t;

endpackage
