// SPDX-License-Identifier: Apache-2.0
// Types shared by the units of the matrix engine.
//
// A command is heddle_pkg::conv_t (the fields of the instruction) and mder_t (values every unit
// would otherwise derive again; hd_matrix_decode computes them once, while the command's
// predecessor runs). SRAM addresses inside the engine are 36-bit signed words: no sum of fields
// overflows them, so hd_fetch alone compares bounds.
// Members are unsigned vectors; those marked "signed" hold two's complement and are used through
// $signed, since yosys 0.23 drops the sign of struct members.
package hd_matrix_pkg;

  localparam int ROWS  = 4;   // row ports: fold_rows_max of the instruction set; depthwise uses 3
  localparam int HEADS = 4;   // FIFO words a row port shows (and can pop) per cycle
  localparam int AW    = 16;  // SRAM word address

  localparam int LAW = 36;  // unclipped SRAM word address, signed: no sum of fields overflows it

  // Derived values of a conv command, beside heddle_pkg::conv_t. hd_matrix_decode computes them once
  // per command. "blocks" are cob, the unit of the loop nest: K output channels, in modes depthwise
  // and maxpool 16.
  //
  // The loop nest of every unit is
  //     for row stripe: for column chunk: for cob: [for pass:] for y: for x      cob_outer = 0
  //     for cob: for row stripe: for column chunk: [for pass:] for y: for x      cob_outer = 1
  // cob_outer is set with average pooling only, so that the sums of one block are enough. Row
  // stripes have srows rows, column chunks scols columns; the last ones have what is left. With one
  // pass, or with held accumulators, srows = out_rows and scols = ow.
  typedef struct packed {
    // --- for everybody
    logic        dwise;     // mode depthwise or maxpool: vectors of 16 channels
    logic        cob_outer;
    logic [15:0] srows;     // output rows per stripe
    logic [15:0] scols;     // output columns per chunk
    logic [15:0] cobs;      // blocks of K (dwise: 16) output channels
    logic [15:0] oblocks;   // blocks of 16 output channels that exist: ceil(co / 16)
    // --- input side
    logic [15:0] cibs;      // conv: tiles of C input channels
    logic [15:0] iblocks;   // ceil(ci / 16)
    logic [7:0]  ilanes;    // conv: input channels of the last tile, 1 .. C
    logic [21:0] iy0;       // signed: input row of kernel row 0 of the first output row
    logic [21:0] slot0;     // signed: its row slot (0 <= slot0 < in_wrap in a rolling buffer)
    logic [15:0] sy_w;      // sy, in a rolling buffer modulo in_wrap
    logic [35:0] org;       // signed: in_addr + slot0 * in_pitch
    logic [35:0] wrap_a;    // in_wrap * in_pitch
    logic [35:0] sy_a;      // sy_w * in_pitch
    logic [35:0] dy_a;      // dy * in_pitch
    logic [35:0] sx_a;      // sx * in_xstep
    logic [35:0] dx_a;      // dx * in_xstep
    logic [35:0] pl_a;      // signed: pad_left * in_xstep
    logic [35:0] xchunk_a;  // scols * sx * in_xstep
    logic [23:0] xchunk;    // scols * xs;  xs = sx, fold: sx * fold_channels
    logic [23:0] xspan;     // (columns of a chunk - 1) * xs
    logic [23:0] xspan_l;   // the same for the last chunk
    logic [7:0]  xs;
    // --- depthwise window
    logic        wide;      // 2 rows x 8 columns instead of 3 x 5
    logic        narrow;    // one kernel column per pass, fetched with the stride
    logic [7:0]  rp;        // kernel rows per pass
    logic [7:0]  gw;        // kernel columns per pass
    logic [15:0] taps;      // kh * kw
    // --- fold
    logic [11:0] len;       // kw * fold_channels: bytes of a kernel row
    logic        foldx;     // dilated columns: a pass is one piece of one tap
    logic [11:0] dxc;       // (dx - 1) * fold_channels
    logic [23:0] plc;       // signed: pad_left * fold_channels
    logic [23:0] wc;        // iw * fold_channels
    // --- held accumulators
    logic        held;      // acc_hold or acc_continue: entry = cob * npix + pixel
    logic [15:0] npix;      // out_rows * ow
  } mder_t;

  // hd_output_stage (everything behind hd_accumulator) has these ports:
  //
  //   parameter int C = 16, K = 16, SRAM_WORDS = 32768
  //   input  clk_i, rst_ni
  //   // commands: two slots, each unit takes its own copy in order
  //   input  heddle_pkg::conv_t cmd0_i, cmd1_i      input  hd_matrix_pkg::mder_t der0_i, der1_i
  //   input  avail_i     a command may be taken in this cycle from slot sel_i
  //   input  sel_i
  //   output take_o      it is taken at the end of this cycle
  //   output res_read_o pulse per command, in order: its residual, and pool reads are granted
  //   output done_o      pulse per command, in order, not before res_read_o: all writes granted
  //   input  hold_done_i pulse per acc_hold command, when its last accumulator write is made. The
  //                      stage gives done_o (and res_read_o) of the command then, and not before
  //   output fault_o     level: an SRAM access of the oldest command that is not done is out of
  //   output [63:0] fault_addr_o                       bounds (it was not made); SRAM byte address
  //   input  stop_i      level: a fault was reported; no request is made from now on
  //   output busy_o
  //   // vectors
  //   input  issue_i     a last-pass pixel has been issued (its vector arrives VECTOR_DELAY later)
  //   output room_o      a further one may be issued (counted with those under way)
  //   input  valid_i, pbank_i, [32*K-1:0] acc_i     in nest order (see mder_t). One vector is K
  //                      channels, with dwise 16 in the low 16 lanes. Mode maxpool: the lane is the
  //                      8-bit code, extended as its type. Nothing arrives with acc_hold
  //   // parameters: two words per cycle into set pset_i at word pidx_i (even). Words of a set: for
  //   // each of K / 16 blocks (those that exist) 4 words bias, 4 words scale. Set pbank_i of a
  //   // vector belongs to it. READ THEM IN THE CYCLE OF valid_i (register what is used later): the
  //   // set may be written from the third cycle after the last vector of its block on.
  //   input  pld_i, pset_i, [7:0] pidx_i, [255:0] pdata_i
  //   // table: one word per cycle, 16 per command with lut, before the command's parameters, into
  //   // set lset_i, which is 0 for the first command with a table and alternates from one such
  //   // command to the next (the stage keeps its own count). A set is not written again before
  //   // TABLE_DELAY cycles after the last vector of the last command that used it.
  //   input  lld_i, lset_i, [3:0] lidx_i, [127:0] ldata_i
  //   // SRAM: writer pair, residual reader
  //   output [2:0] req_o, urgent_o   output [3*AW-1:0] addr_o   (0, 1: writer, 2: residual reader)
  //   output [255:0] wdata_o         input [2:0] gnt_i          input [127:0] rdata_i (reader)
  localparam int VECTOR_DELAY = 5;
  localparam int TABLE_DELAY = 32;

  // One pixel on its way from the sequencer to the accumulators.
  typedef struct packed {
    logic        first;     // first pass: do not take the accumulator
    logic        last;      // to the output stage instead of the accumulator
    logic        fin;       // last pixel of a command with acc_hold
    logic        maxi;      // mode maxpool: maximum instead of sum
    logic        pbank;     // which set of output parameters
    logic [15:0] pix;       // accumulator entry
  } pixel_t;

  // A run of words to fetch: word j is at addr + j * astep; it is read when null_row is clear
  // and 0 <= col + j * cstep < limit, and is a zero word (null) otherwise.
  typedef struct packed {
    logic        null_row;
    logic [19:0] count;
    logic [23:0] col;       // signed
    logic [3:0]  cstep;
    logic [15:0] limit;
    logic [35:0] addr;      // signed
    logic [19:0] astep;
  } run_t;

endpackage
