// SPDX-License-Identifier: Apache-2.0
// Walks the passes of one block of output channels, in the order of the packed weights:
//   conv                for ky, kx, cib       (tile of C channels at one tap)
//   depthwise, maxpool  for groups of rp kernel rows, for groups of gw kernel columns
//   fold                for weight vectors (below)
// Row ports, sequencer, weight reader and weight loader each hold one, since they are at different
// passes at the same time. step_i goes to the next pass, with restart_i to the first; the outputs are
// registers and describe the pass from the next cycle on. last_o marks the last. step_i may be late: it
// is an enable, but restart_i chooses what is computed with.
// The offsets (rows, words) of a pass are kept by addition; a step of several kernel rows (at most
// 4) is a few adders.
//
// Fold: a kernel of kh rows is a sequence of kh segments of len = kw * fold_channels bytes. A vector
// starts at byte q of kernel row ky and takes bytes in sequence until the C lanes are full, the
// kernel ends, or ROWS kernel rows have been touched (the lanes beyond count nothing). Row port i
// serves the i-th touched row: lanes seg_lane[i] .. + seg_n[i] - 1 take bytes seg_q[i] ... of it.
// With dilated columns (foldx) the bytes of a segment are not neighbours: a pass is then one tap, or
// the part of it that the vector holds, through row port 0 and with the vector's tile loaded anew;
// vec_end_o tells when the next pass has the next tile. (Slow, but nobody's first layer is dilated.)
module hd_pass_ctr #(
    parameter int C = 16
) (
    input  logic                              clk_i,
    input  logic [1:0]                        mode_i,
    input  logic [7:0]                        kh_i,
    input  logic [7:0]                        kw_i,
    input  logic [7:0]                        dy_i,
    input  logic [7:0]                        dx_i,
    input  logic [3:0]                        channels_i, // fold_channels
    input  hd_matrix_pkg::mder_t              der_i,
    input  logic [19:0]                       plane_i,    // in_plane
    input  logic                              restart_i,
    input  logic                              step_i,
    output logic                              first_o,
    output logic                              last_o,
    output logic                              ci_last_o,  // conv: last tile of channels
    output logic                              vec_end_o,  // fold: the next pass has the next tile
    output logic [7:0]                        ky_o,       // kernel row of row port 0
    output logic [7:0]                        kx_o,       // kernel column (first of the group)
    output logic [1:0]                        rows_o,     // depthwise: kernel rows of this pass
    output logic [3:0]                        cols_o,     // depthwise: kernel columns of this pass
    output logic [15:0]                       blk_o,      // conv: block of 16 channels of row port 0
    output logic [17:0]                       row_o,      // ky * dy
    output logic [35:0]                       row_a_o,    // ky * dy * in_pitch
    output logic [17:0]                       col_o,      // kx * dx
    output logic [35:0]                       col_a_o,    // kx * dx * in_xstep
    output logic [35:0]                       blk_a_o,    // blk * in_plane
    output logic [hd_matrix_pkg::ROWS-1:0]    seg_en_o,
    output logic [20*hd_matrix_pkg::ROWS-1:0] seg_q_o,
    output logic [8*hd_matrix_pkg::ROWS-1:0]  seg_lane_o,
    output logic [8*hd_matrix_pkg::ROWS-1:0]  seg_n_o
);
  localparam int ROWS = hd_matrix_pkg::ROWS;
  localparam [7:0] C8 = C[7:0];
  localparam [15:0] BLOCKS = 16'(C / 16);
  logic first_q, last_q, ci_last_q;
  logic [7:0] ky_q, kx_q;
  logic [1:0] rows_q;
  logic [3:0] cols_q;
  logic [15:0] ci_q, blk_q;
  logic [17:0] row_q, col_q;
  logic [35:0] row_a_q, col_a_q, blk_a_q;
  // Fold: the vector, and where the next one starts.
  logic [7:0] next_r_q;
  logic [11:0] next_q_q;
  logic vec_end_q;
  logic [7:0] next_lane_q, next_kx_q;  // foldx
  logic [3:0] next_ch_q;
  logic [1:0] next_vr_q;               // rows the vector has finished
  logic [19:0] next_pos_q;
  logic [ROWS-1:0] seg_en_q;
  logic [20*ROWS-1:0] seg_q_q;
  logic [8*ROWS-1:0] seg_lane_q, seg_n_q;

  assign first_o = first_q;
  assign last_o = last_q;
  assign ci_last_o = ci_last_q;
  assign vec_end_o = vec_end_q;
  assign ky_o = ky_q;
  assign kx_o = kx_q;
  assign rows_o = rows_q;
  assign cols_o = cols_q;
  assign blk_o = blk_q;
  assign row_o = row_q;
  assign row_a_o = row_a_q;
  assign col_o = col_q;
  assign col_a_o = col_a_q;
  assign blk_a_o = blk_a_q;
  assign seg_en_o = seg_en_q;
  assign seg_q_o = seg_q_q;
  assign seg_lane_o = seg_lane_q;
  assign seg_n_o = seg_n_q;

  logic fold, conv;
  assign fold = (mode_i == heddle_pkg::MATRIX_MODE_FOLD);
  assign conv = (mode_i == heddle_pkg::MATRIX_MODE_CONV);

  // The next pass, all under the enable since a pass lasts for many cycles. Variables of the process
  // are temporary values.
  // verilator lint_off BLKSEQ
  // Reason: temporary values of the clocked process, set before they are read.
  always_ff @(posedge clk_i) begin : next_pass
    logic [7:0] ky, kx, r, lane, n, jump, rows_left, cols_left;
    logic [15:0] ci;
    logic [11:0] q, begin_q;
    logic [13:0] ends [0:3];
    logic [13:0] start;
    logic [7:0] first_r;
    logic cut;
    logic ci_end, kx_end, vec_end;
    logic [7:0] fkx;
    logic [3:0] ch;
    logic [1:0] vr;
    logic [19:0] pos;
    logic [ROWS-1:0] en;
    logic [20*ROWS-1:0] sq;
    logic [8*ROWS-1:0] sl, sn;
    if (step_i) begin
      ky = 8'd0;
      kx = 8'd0;
      ci = 16'd0;
      jump = 8'd0;
      ci_end = 1'b0;
      kx_end = 1'b0;
      r = 8'd0;
      q = 12'd0;
      begin_q = 12'd0;
      for (int i = 0; i < 4; i++) ends[i] = 14'd0;
      start = 14'd0;
      first_r = 8'd0;
      cut = 1'b0;
      lane = 8'd0;
      n = 8'd0;
      en = '0;
      sq = '0;
      sl = '0;
      sn = '0;
      rows_left = 8'd0;
      cols_left = 8'd0;
      vec_end = 1'b1;
      fkx = 8'd0;
      ch = 4'd0;
      vr = 2'd0;
      pos = 20'd0;
      // Fold's kernel row by itself: what the other modes make of ky is no part of its path.
      if (!restart_i) begin
        r = next_r_q;
        ky = ky_q;
        if (fold) begin
          jump = next_r_q - ky_q;
          ky = next_r_q;
        end else begin
          ci_end = !conv || ci_last_q;
          ci = ci_end ? 16'd0 : ci_q + 16'd1;
          kx_end = ({1'b0, kx_q} + {5'd0, conv ? 4'd1 : cols_q} == {1'b0, kw_i});
          kx = !ci_end ? kx_q : kx_end ? 8'd0 : kx_q + {4'd0, conv ? 4'd1 : cols_q};
          if (ci_end && kx_end) jump = conv ? 8'd1 : {6'd0, rows_q};
          ky = ky_q + jump;
        end
      end
      rows_left = kh_i - ky;
      cols_left = kw_i - kx;
      if (der_i.foldx) begin
        if (!restart_i) begin
          lane = next_lane_q;
          fkx = next_kx_q;
          ch = next_ch_q;
          vr = next_vr_q;
          pos = next_pos_q;
        end
        n = {4'd0, channels_i - ch};
        if (n > C8 - lane) n = C8 - lane;
        en[0] = 1'b1;
        sq[19:0] = pos;
        sl[7:0] = lane;
        sn[7:0] = n;
        lane = lane + n;
        ch = ch + n[3:0];
        pos = pos + {12'd0, n};
        vec_end = (lane == C8);
        if (ch == channels_i) begin
          ch = 4'd0;
          fkx = fkx + 8'd1;
          pos = pos + {8'd0, der_i.dxc};
          if (fkx == kw_i) begin
            fkx = 8'd0;
            pos = 20'd0;
            r = r + 8'd1;
            if (vr == 2'(ROWS - 1) || r == kh_i) vec_end = 1'b1;
            vr = vr + 2'd1;
          end
        end
        if (vec_end) begin
          lane = 8'd0;
          vr = 2'd0;
        end
      end else if (fold) begin
        q = restart_i ? 12'd0 : next_q_q;
        // Where the segments would end if there were lanes enough: all at once, a loop of sums is too long.
        ends[0] = {2'd0, der_i.len} - {2'd0, q};
        ends[1] = {1'b0, der_i.len, 1'b0} - {2'd0, q};
        ends[2] = {1'b0, der_i.len, 1'b0} + {2'd0, der_i.len} - {2'd0, q};
        ends[3] = {der_i.len, 2'b0} - {2'd0, q};
        first_r = r;
        begin_q = q;
        for (int i = 0; i < ROWS; i++) begin
          // A segment cut by the last lane (cut) ends the vector.
          start = (i == 0) ? 14'd0 : ends[i-1];
          cut = ends[i] > {6'd0, C8};
          if ({1'b0, first_r} + 9'(i) < {1'b0, kh_i} && start < {6'd0, C8}) begin
            n = cut ? C8 - start[7:0] : (i == 0) ? ends[0][7:0] : der_i.len[7:0];
            en[i] = 1'b1;
            sq[20*i +: 20] = (i == 0) ? {8'd0, begin_q} : 20'd0;
            sl[8*i +: 8] = start[7:0];
            sn[8*i +: 8] = n;
            q = !cut ? 12'd0 : (i == 0) ? begin_q + {4'd0, n} : {4'd0, n};
            r = first_r + (cut ? 8'(i) : 8'(i + 1));
          end
        end
      end
      first_q <= restart_i;
      ky_q <= ky;
      kx_q <= kx;
      ci_q <= ci;
      ci_last_q <= (ci + 16'd1 == der_i.cibs);
      rows_q <= (rows_left < der_i.rp) ? rows_left[1:0] : der_i.rp[1:0];
      cols_q <= (cols_left < der_i.gw) ? cols_left[3:0] : der_i.gw[3:0];
      if (fold) last_q <= (r == kh_i);
      else if (conv)
        last_q <= (ci + 16'd1 == der_i.cibs) && (kx + 8'd1 == kw_i) && (ky + 8'd1 == kh_i);
      else last_q <= (rows_left <= der_i.rp) && (cols_left <= der_i.gw);
      next_r_q <= r;
      vec_end_q <= vec_end;
      next_lane_q <= lane;
      next_kx_q <= fkx;
      next_ch_q <= ch;
      next_vr_q <= vr;
      next_pos_q <= pos;
      next_q_q <= q;
      seg_en_q <= en;
      seg_q_q <= sq;
      seg_lane_q <= sl;
      seg_n_q <= sn;
      if (restart_i) begin
        row_q <= 18'd0;
        row_a_q <= 36'd0;
        col_q <= 18'd0;
        col_a_q <= 36'd0;
        blk_q <= 16'd0;
        blk_a_q <= 36'd0;
      end else begin
        row_q <= row_q + {15'd0, jump[2:0]} * {10'd0, dy_i};
        row_a_q <= row_a_q + {33'd0, jump[2:0]} * der_i.dy_a;
        if (conv) begin
          blk_q <= ci_end ? 16'd0 : blk_q + BLOCKS;
          blk_a_q <= ci_end ? 36'd0 : blk_a_q + 36'(BLOCKS * {20'd0, plane_i});
          if (ci_end) begin
            col_q <= kx_end ? 18'd0 : col_q + {10'd0, dx_i};
            col_a_q <= kx_end ? 36'd0 : col_a_q + der_i.dx_a;
          end
        end else if (!fold) begin
          // Columns of a group: 1 (narrow) or neighbours with dx = 1.
          col_q <= kx_end ? 18'd0 : col_q + {14'd0, cols_q} * {10'd0, dx_i};
          col_a_q <= kx_end ? 36'd0 : col_a_q + {32'd0, cols_q} * der_i.dx_a;
        end
      end
    end
  end
  // verilator lint_on BLKSEQ
endmodule
