// SPDX-License-Identifier: Apache-2.0
// K x C multipliers: cell k sums C products into one int32 per cycle.
//
//   cycle 0  issue: operand registers <- broadcast lanes (conv, fold) or window (depthwise)
//   cycle 1  products and tree                     } written as one expression; the register
//   cycle 2  (tree, second half)                   } behind it is there for retiming
//   cycle 3  psum_o valid together with pix_o
//
// Operands are codes minus zero point, 9 bits signed; padding is 0.
// Weights: shadow registers are filled word by word, swap_i copies them to the active ones. A word
// is 16 lanes of one cell (row), or one lane or tap of 16 cells (column); the first word of a
// depthwise tile clears the other taps. Each cell has its weight zero point.
// Depthwise window: multiplier m of cell k sees channel k of tap m. Taps are 3 rows x 5 columns or,
// with wide, 2 x 8; new columns enter on the right, one per step of a chain of HEADS shifts. Row
// ports p = 0..2 feed rows 0..2.
// Mode maxpool: the maximum over the taps whose weight is not zero; what is not inside is qmin.
//
// The operand and weight registers are one clocked process with blocking assignments: consumers
// stand before producers, so each statement sees the values of the previous cycle, and the rolled
// loops over unpacked arrays become vector code under Verilator. No other clocked process reads
// them or what is made of them.
//
// A counter that chooses an array's element is cut to bits, not cast, and starts from a sized
// literal: see rtl/README.md, "What synthesis makes of it".
module hd_mac_array #(
    parameter int C = 16,
    parameter int K = 16
) (
    input  logic                                      clk_i,
    input  logic                                      rst_ni,
    // pixel
    input  logic                                      issue_i,
    input  hd_matrix_pkg::pixel_t                     pix_i,
    input  logic                                      dw_i,
    input  logic [8*C-1:0]                            code_i,
    input  logic [C-1:0]                              keep_i,
    // window
    input  logic                                      shift_i,
    input  logic                                      clear_i,
    input  logic                                      wide_i,
    input  logic [2:0]                                cols_i,
    input  logic [2:0]                                real_i,
    input  logic                                      a_signed_i,
    input  logic [8:0]                                za_i,    // maxpool: 0
    input  logic [2:0]                                part_i,
    input  logic [128*hd_matrix_pkg::HEADS*3-1:0]     head_i,
    input  logic [hd_matrix_pkg::HEADS*3-1:0]         null_i,
    // weights, see hd_weight_loader
    input  logic                                      swap_i,
    input  logic [1:0]                                ld_i,
    input  logic                                      ld_clear_i,
    input  logic                                      ld_one_i,
    input  logic                                      ld_col_i,
    input  logic                                      ld_grp_i,
    input  logic [4:0]                                ld_cells_i,
    input  logic                                      ld_keep_i,
    input  logic [7:0]                                pos0_i,
    input  logic [7:0]                                pos1_i,
    input  logic [255:0]                              wdata_i,
    input  logic [1:0]                                wnull_i,
    input  logic                                      w_signed_i,
    input  logic [8:0]                                zw_i,
    input  logic                                      zset_i,
    input  logic                                      zld_i,
    input  logic                                      zgrp_i,
    // result
    output logic                                      valid_o,
    output hd_matrix_pkg::pixel_t                     pix_o,
    output logic [32*K-1:0]                           psum_o
);
  localparam int HEADS = hd_matrix_pkg::HEADS;  // 4: null_i's index is {row, head}
  localparam [31:0] CU = 32'(C);
  localparam [31:0] KU = 32'(K);
  localparam [31:0] HU = 32'(HEADS);
  localparam [31:0] HALVES = 32'(C / 16);
  localparam int EW = 9;  // an operand or weight
  localparam int CB = $clog2(C);
  localparam int KB = $clog2(K);
  localparam [KB-1:0] EIGHT = 8;
  localparam int EIGHTS = C / 8;

  // 64-bit views: byte selects of wider vectors are slow in simulation.
  logic [63:0] head64 [0:6*HEADS-1];
  logic [63:0] wdat64 [0:3];
  logic [63:0] code64 [0:EIGHTS-1];
  for (genvar g = 0; g < 6 * HEADS; g++) begin : g_head
    assign head64[g] = head_i[64*g +: 64];
  end
  for (genvar g = 0; g < 4; g++) begin : g_wdat
    assign wdat64[g] = wdata_i[64*g +: 64];
  end
  for (genvar g = 0; g < EIGHTS; g++) begin : g_code
    assign code64[g] = code_i[64*g +: 64];
  end

  // Code byte minus zero point, both 9 bits signed; the difference fits in 9 bits.
  function automatic signed [EW-1:0] operand(input [7:0] code, input is_signed, input [8:0] zero);
    logic [8:0] d;
    d = {is_signed && code[7], code} - zero;
    operand = EW'($signed(d));
  endfunction

  logic v1_q, dw1_q, max1_q, sg1_q, v2_q, v3_q;
  hd_matrix_pkg::pixel_t p1_q, p2_q, p3_q;
  logic signed [31:0] s [0:K-1];
  logic [32*K-1:0] s1, ps2_q, ps3_q;
  for (genvar g = 0; g < K; g++) begin : g_sum
    assign s1[32*g +: 32] = s[g];
  end
  always_ff @(posedge clk_i) begin
    v1_q <= rst_ni && issue_i;
    v2_q <= rst_ni && v1_q;
    v3_q <= rst_ni && v2_q;
    if (issue_i) begin
      dw1_q <= dw_i;
      max1_q <= pix_i.maxi;
      sg1_q <= a_signed_i;
      p1_q <= pix_i;
    end
    if (v1_q) p2_q <= p1_q;
    if (v2_q) begin
      p3_q <= p2_q;
      ps3_q <= ps2_q;
    end
  end
  assign valid_o = v3_q;
  assign pix_o = p3_q;
  assign psum_o = ps3_q;

  // State of the process below; no other clocked process reads it.
  logic signed [EW-1:0] a [0:C-1];
  logic signed [EW-1:0] win [0:15][0:15];    // [tap][channel]
  logic signed [EW-1:0] wact [0:C-1][0:K-1];
  logic signed [EW-1:0] wshd [0:C-1][0:K-1];
  logic [8:0] zero [0:K-1];                  // weight zero points of the cells

  // Products and tree of the pixel whose operands are registered.
  always_comb begin : tree
    logic signed [31:0] t [0:K-1];
    logic [31:0] k, c;
    logic signed [EW-1:0] x;
    logic signed [31:0] wx, low;
    for (k = 32'd0; k < KU; k = k + 1) t[k[KB-1:0]] = 0;
    x = 0;
    wx = 0;
    c = 0;
    low = sg1_q ? -32'sd128 : 32'sd0;
    if (v1_q) begin
      if (max1_q) begin
        for (k = 32'd0; k < KU; k = k + 1) t[k[KB-1:0]] = low;
        for (c = 32'd0; c < 16; c = c + 1)
          for (k = 32'd0; k < 16; k = k + 1) begin
            wx = (wact[c[CB-1:0]][k[KB-1:0]] != 0) ? 32'(win[c[3:0]][k[3:0]]) : low;
            if (wx > t[k[KB-1:0]]) t[k[KB-1:0]] = wx;
          end
      end else if (dw1_q) begin
        for (c = 32'd0; c < 16; c = c + 1)
          for (k = 32'd0; k < 16; k = k + 1)
            t[k[KB-1:0]] = t[k[KB-1:0]]
                + 32'(win[c[3:0]][k[3:0]]) * 32'(wact[c[CB-1:0]][k[KB-1:0]]);
      end else begin
        for (c = 32'd0; c < CU; c = c + 1) begin
          x = a[c[CB-1:0]];
          for (k = 32'd0; k < KU; k = k + 1)
            t[k[KB-1:0]] = t[k[KB-1:0]] + 32'(x) * 32'(wact[c[CB-1:0]][k[KB-1:0]]);
        end
      end
    end
    for (k = 32'd0; k < KU; k = k + 1) s[k[KB-1:0]] = t[k[KB-1:0]];
  end

  // verilator lint_off BLKSEQ
  // Reason: see the header.
  always_ff @(posedge clk_i) begin : array
    logic signed [EW-1:0] enter [0:63];
    logic [31:0] k, c, m, j, row;
    logic [2:0] live;
    logic signed [EW-1:0] fill;
    logic [63:0] w0, w1;

    // Sums of the operands as they were before the edge: here, since in another process it would be
    // a race with the assignments below.
    if (v1_q) ps2_q <= s1;

    // Operands.
    if (issue_i && !dw_i)
      for (c = 32'd0; c < CU; c = c + 1)
        a[c[CB-1:0]] = keep_i[c[CB-1:0]]
            ? operand(8'(code64[c[CB-1:3]] >> {c[2:0], 3'd0}), a_signed_i, za_i) : 0;
    if (shift_i) begin
      fill = (pix_i.maxi && a_signed_i) ? EW'(-128) : 0;
      if (clear_i)
        for (m = 32'd0; m < 16; m = m + 1)
          for (k = 32'd0; k < 16; k = k + 1) win[m[3:0]][k[3:0]] = fill;
      for (j = 32'd0; j < HU; j = j + 1)
        if (j < {29'd0, cols_i}) begin
          // The column that enters: code minus zero point, or zero.
          for (row = 32'd0; row < 3; row = row + 1) begin
            w0 = head64[(row*HU+j)*2];
            w1 = head64[(row*HU+j)*2+1];
            live[row[1:0]] = (j < {29'd0, real_i}) && part_i[row[1:0]]
                             && !null_i[{row[1:0], j[1:0]}];
            if (live[row[1:0]])
              for (k = 32'd0; k < 8; k = k + 1) begin
                enter[{row[1:0], 1'b0, k[2:0]}] = operand(8'(w0 >> (8*k)), a_signed_i, za_i);
                enter[{row[1:0], 1'b1, k[2:0]}] = operand(8'(w1 >> (8*k)), a_signed_i, za_i);
              end
            else
              for (k = 32'd0; k < 16; k = k + 1) enter[{row[1:0], k[3:0]}] = fill;
          end
          if (wide_i) begin
            for (row = 32'd0; row < 2; row = row + 1) begin
              for (m = 32'd0; m < 7; m = m + 1)
                for (k = 32'd0; k < 16; k = k + 1)
                  win[{row[0], m[2:0]}][k[3:0]] = win[{row[0], m[2:0] + 3'd1}][k[3:0]];
              for (k = 32'd0; k < 16; k = k + 1)
                win[{row[0], 3'd7}][k[3:0]] = enter[{row[1:0], k[3:0]}];
            end
          end else begin
            for (row = 32'd0; row < 3; row = row + 1) begin
              for (m = 32'd0; m < 4; m = m + 1)
                for (k = 32'd0; k < 16; k = k + 1)
                  win[row[3:0]*4'd5 + m[3:0]][k[3:0]] = win[row[3:0]*4'd5 + m[3:0] + 4'd1][k[3:0]];
              for (k = 32'd0; k < 16; k = k + 1)
                win[row[3:0]*4'd5 + 4'd4][k[3:0]] = enter[{row[1:0], k[3:0]}];
            end
            // Multiplier 15 has no tap in this shape.
            for (k = 32'd0; k < 16; k = k + 1) win[15][k[3:0]] = 0;
          end
        end
    end

    // Weights: active <- shadow, then the shadow takes the next words.
    if (swap_i)
      for (c = 32'd0; c < CU; c = c + 1)
        for (k = 32'd0; k < KU; k = k + 1)
          wact[c[CB-1:0]][k[KB-1:0]] = wshd[c[CB-1:0]][k[KB-1:0]];
    if (zset_i)
      for (k = 32'd0; k < KU; k = k + 1) zero[k[KB-1:0]] = zw_i;
    if (zld_i)
      for (row = 32'd0; row < KU; row = row + 16)
        if (row[4] == zgrp_i)
          for (k = 32'd0; k < 8; k = k + 1) begin
            zero[row[KB-1:0]+k[KB-1:0]] = 9'(operand(8'(wdat64[0] >> (8*k)), w_signed_i, 9'd0));
            zero[row[KB-1:0]+EIGHT+k[KB-1:0]] =
                9'(operand(8'(wdat64[1] >> (8*k)), w_signed_i, 9'd0));
          end
    if (ld_i[0] && ld_clear_i)
      for (c = 32'd0; c < CU; c = c + 1)
        for (k = 32'd0; k < KU; k = k + 1) wshd[c[CB-1:0]][k[KB-1:0]] = 0;
    for (j = 32'd0; j < 2; j = j + 1)
      if (ld_i[j[0]]) begin
        w0 = wdat64[{j[0], 1'b0}];
        w1 = wdat64[{j[0], 1'b1}];
        // Loops over all positions with constant indices: a write enable per register.
        if (ld_col_i) begin
          for (row = 32'd0; row < KU; row = row + 16)
            if (row[4] == ld_grp_i) begin
              for (k = 32'd0; k < 8; k = k + 1) begin
                enter[{3'd0, k[2:0]}] = operand(8'(w0 >> (8*k)), w_signed_i,
                                                zero[row[KB-1:0]+k[KB-1:0]]);
                enter[{3'd1, k[2:0]}] = operand(8'(w1 >> (8*k)), w_signed_i,
                                                zero[row[KB-1:0]+EIGHT+k[KB-1:0]]);
              end
              for (k = 32'd0; k < 16; k = k + 1) begin
                if (ld_one_i) enter[{2'd0, k[3:0]}] = 1;
                else if (wnull_i[j[0]] || k >= {27'd0, ld_cells_i}) enter[{2'd0, k[3:0]}] = 0;
              end
              for (c = 32'd0; c < CU; c = c + 1)
                if (c[7:0] == (j[0] ? pos1_i : pos0_i))
                  for (k = 32'd0; k < 16; k = k + 1)
                    wshd[c[CB-1:0]][row[KB-1:0]+k[KB-1:0]] = enter[{2'd0, k[3:0]}];
            end
        end else begin
          // Word position = cell * (C / 16) + group of 16 lanes.
          for (m = 32'd0; m < KU; m = m + 1)
            for (row = 32'd0; row < CU; row = row + 16)
              if (8'(m * HALVES + {28'd0, row[7:4]}) == (j[0] ? pos1_i : pos0_i)) begin
                for (k = 32'd0; k < 8; k = k + 1) begin
                  enter[{3'd0, k[2:0]}] = operand(8'(w0 >> (8*k)), w_signed_i, zero[m[KB-1:0]]);
                  enter[{3'd1, k[2:0]}] = operand(8'(w1 >> (8*k)), w_signed_i, zero[m[KB-1:0]]);
                end
                for (k = 32'd0; k < 16; k = k + 1)
                  wshd[row[CB-1:0]+k[CB-1:0]][m[KB-1:0]] =
                      (wnull_i[j[0]] || !ld_keep_i) ? 0 : enter[{2'd0, k[3:0]}];
              end
        end
      end
  end
  // verilator lint_on BLKSEQ
endmodule
