// SPDX-License-Identifier: Apache-2.0
// Types shared by the units of the matrix engine.
//
// mcmd_t is one matrix command as the units see it: the fields of the instruction plus nothing
// else.
// mder_t are values every unit would otherwise derive again (products of fields); hd_matrix_decode
// computes them once per command, off the critical path, because a command is decoded while its
// predecessor runs.
//
// Units: SRAM addresses, pitches, planes and steps are in 16-byte words and wrap modulo 2^16.
// Members are unsigned vectors; those marked "signed" hold two's complement and are used through
// $signed, since yosys 0.23 drops the sign of struct members.
package hd_matrix_pkg;

  localparam [1:0] MODE_CONV = 2'd0;  // C lanes = C channels of one pixel
  localparam [1:0] MODE_DW   = 2'd1;  // cell k = channel k, multiplier m = tap m
  localparam [1:0] MODE_FOLD = 2'd2;  // C lanes = bytes of packed row segments

  localparam int ROWS  = 4;   // row ports: fold_rows_max of the instruction set; depthwise uses 3
  localparam int HEADS = 4;   // FIFO words a row port shows (and can pop) per cycle
  localparam int AW    = 16;  // SRAM word address

  typedef struct packed {
    logic [1:0]  mode;
    logic        barrier;   // operands are read only after every earlier command's writes
    logic        a_signed;  // activations are s8 (else u8)
    logic        w_signed;  // weights are s8 (else u8)
    logic [8:0]  za;        // signed: zero point of the activations
    logic [8:0]  zw;        // signed: zero point of the weights
    logic [15:0] ibase;
    logic [15:0] ipitch;
    logic [15:0] iplane;
    logic [15:0] ixstep;
    logic [15:0] iw;        // valid input columns (pixels)
    logic [15:0] ih;        // valid input rows
    logic [15:0] iy0;       // signed: input row under kernel row 0 of the first output row
    logic [15:0] pl;        // signed: left padding; negative = start further right
    logic [15:0] ow;        // output columns
    logic [15:0] oh;        // output rows of this command
    logic [15:0] srows;     // output rows per stripe; srows * ow <= ACC_DEPTH unless one pass
    logic [7:0]  kh;
    logic [7:0]  kw;
    logic [7:0]  sy;
    logic [7:0]  sx;
    logic [7:0]  dy;        // conv only (depthwise: strided views)
    logic [7:0]  dx;
    logic [7:0]  cib;       // conv: input channels / C, rounded up
    logic [7:0]  cob;       // output channels / K (depthwise: / 16), rounded up
    logic [3:0]  cpix;      // fold: bytes per packed pixel
    logic [15:0] wbase;     // packed tiles
    logic [15:0] pbase;     // parameters: per 16 channels 4 words bias (int32), 4 words scale (f32)
    logic [15:0] obase;
    logic [15:0] opitch;
    logic [15:0] oplane;
    logic [15:0] oxstep;
    logic [8:0]  ozp;       // signed: zero point of the output
    logic [8:0]  olo;       // signed: smallest output value
    logic [8:0]  ohi;       // signed: largest output value
  } mcmd_t;

  typedef struct packed {
    logic [15:0] org;       // ibase + iy0 * ipitch
    logic [15:0] sy_a;      // sy * ipitch
    logic [15:0] sx_a;      // sx * ixstep
    logic [15:0] dy_a;      // dy * ipitch
    logic [15:0] dx_a;      // dx * ixstep
    logic [15:0] pl_a;      // pl * ixstep
    logic [15:0] ssy;       // srows * sy
    logic [15:0] ssy_a;     // srows * sy * ipitch
    logic [15:0] ci_a;      // conv: (C / 16) * iplane
    logic [15:0] col0;      // depthwise: first column fetched, max(0, -pl)
    logic [15:0] ncol;      // depthwise: columns fetched per row, 0 = all padding
    logic [7:0]  rp;        // depthwise: kernel rows per pass
    logic        wide;      // depthwise: window of 2 x 8 instead of 3 x 5 taps
    logic [7:0]  len;       // fold: kw * cpix, bytes of one row segment
    logic [15:0] sxc;       // fold: sx * cpix, bytes per output pixel
    logic [15:0] plc;       // fold: pl * cpix
    logic [15:0] wc;        // fold: iw * cpix, bytes of a packed row
    logic [15:0] roww;      // fold: words of a packed row
    logic [15:0] spanc;     // fold: (ow - 1) * sx * cpix
    logic [15:0] wcnt;      // conv, depthwise: weight words of one block of output channels
  } mder_t;

  // One pixel on its way from the feeder to the accumulators.
  typedef struct packed {
    logic        first;     // first pass: do not add the accumulator
    logic        last;      // last pass: to the output stage instead of the accumulator
    logic        pbank;     // which set of output parameters
    logic [15:0] pix;       // index in the stripe = accumulator address
  } pixel_t;

  // A run of words to fetch: word j is at addr + j * astep; it is read when null_row is clear
  // and 0 <= col + j * cstep < limit, and is a zero word (null) otherwise.
  typedef struct packed {
    logic        null_row;
    logic [15:0] count;
    logic [15:0] col;       // signed
    logic [15:0] cstep;
    logic [15:0] limit;
    logic [15:0] addr;
    logic [15:0] astep;
  } run_t;

  // Position of the output writer in a command; addresses in words.
  typedef struct packed {
    logic [15:0] left;      // rows from this stripe on
    logic [15:0] srow;      // rows left in the stripe
    logic [15:0] x;
    logic [7:0]  cob;
    logic [7:0]  blk;       // plane of the vector
    logic [15:0] stripe_a;  // first pixel of the stripe, plane 0
    logic [15:0] block_a;   // ... in the first plane of the block
    logic [15:0] row_a;     // first pixel of the row, first plane of the block
    logic [15:0] pix_a;     // pixel, first plane of the block
    logic [15:0] addr;      // the word
  } wpos_t;

endpackage
