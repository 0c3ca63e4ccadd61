// SPDX-License-Identifier: Apache-2.0
// A load or store command as hd_dma_prep hands it on: decoded, checked against SRAM and region,
// loops in the order in which the engines walk them.
//
//   box    for c < n3, b < n2, a < n1: a run of n0 elements          (single: a run per element)
//   group  for c < n3, b < n2, chunks of <= 16 elements of n0, a < n1 planes: a run of one chunk
//   index  for j < n1: a run of n0 elements at off + index[j] * s1
package hd_dma_pkg;

  localparam [1:0] KIND_BOX = 2'd0;
  localparam [1:0] KIND_FILL = 2'd1;
  localparam [1:0] KIND_INDEX = 2'd2;
  localparam [1:0] KIND_SYNC = 2'd3;

  localparam int OFFW = 40;  // a region offset that passed the check (base + offset < 2^40)

  typedef struct packed {
    logic [1:0] kind;
    logic bad;              // faults with the three fields below instead of doing anything
    logic [7:0] bad_code;
    logic [63:0] bad_addr;
    logic cont;             // s0 = t0 = element size
    logic group;            // bytes of up to 16 planes are interleaved: t0 is 2, 3, 4 or 16
    logic s_single;         // s0 > 16: one burst per element
    logic t_single;         // t0 > 16: one SRAM word per element
    logic [4:0] esize;      // 1 .. 16 bytes
    logic [3:0] region;
    logic [63:0] base;      // the region's
    logic [63:0] size;
    logic writable;
    logic [20:0] s_span;    // bytes from the first to the last of a run in the region
    logic [20:0] t_span;    // the same in SRAM
    logic [31:0] off;
    logic [23:0] sram;
    logic [15:0] n0;
    logic [15:0] n1;
    logic [15:0] n2;
    logic [15:0] n3;
    logic [31:0] s0;
    logic [31:0] s1;
    logic [31:0] s2;
    logic [31:0] s3;
    logic [23:0] t0;
    logic [23:0] t1;
    logic [23:0] t2;
    logic [23:0] t3;
    logic [23:0] index;     // SRAM byte address of the indices
    logic [31:0] bound;
    logic [31:0] value;     // of fill
  } dma_t;

endpackage
