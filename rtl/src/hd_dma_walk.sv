// SPDX-License-Identifier: Apache-2.0
// Walks the loops of one command (hd_dma_pkg) and gives one run per cycle: where it begins in the
// region (src_o) and in SRAM (dst_o). The engines have two of these each, one in front of the
// latency and one behind it, so that no burst needs a record of its own.
//
// load_i takes the start from cmd_first_i; from the next cycle on valid_o is 1, cmd_i must hold
// the same
// command, and next_i steps. last_o: no run after this one; the step behind it clears valid_o.
// One adder per side: the next run is a stored loop start plus one stride.
//
// elements_i: a run per element of dimension 0. planes_i: in a grouped walk, a run per plane of
// each
// chunk (otherwise a run per chunk). A chunk ends where plane 0 reaches a 16-byte boundary of
// device
// memory (n_o elements), so planes of equal alignment need one beat per chunk.
module hd_dma_walk (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        load_i,
    input  hd_dma_pkg::dma_t            cmd_first_i,
    input  hd_dma_pkg::dma_t            cmd_i,
    input  logic                        elements_i,
    input  logic                        planes_i,
    input  logic                        next_i,
    output logic                        valid_o,
    output logic                        last_o,
    output logic [hd_dma_pkg::OFFW-1:0] src_o,
    output logic [23:0]                 dst_o,
    output logic [ 4:0]                 n_o,           // elements of the chunk
    output logic [ 4:0]                 plane_o,       // number of the plane
    output logic                        plane_last_o
);
  localparam int OFFW = hd_dma_pkg::OFFW;
  logic valid_q;
  logic [15:0] i0_q, i1_q, i2_q, i3_q, left_q;  // left_q: elements of the row not yet walked
  // Starts: of this run, of the run's elements, of the chunk, of the row, of the block of rows.
  logic [OFFW-1:0] s_q, s1_q, sx_q, s2_q, s3_q;
  logic [23:0] t_q, t1_q, tx_q, t2_q, t3_q;

  logic last0, last1, lastx, last2, last3;
  logic [4:0] room;
  always_comb begin
    room = 5'd16;
    n_o = 5'd0;
    last0 = 1'b1;
    last1 = 1'b1;
    lastx = 1'b1;
    last2 = 1'b1;
    last3 = 1'b1;
    if (valid_q) begin
      room = 5'd16 - {1'b0, cmd_i.base[3:0] + sx_q[3:0]};
      n_o = (left_q < {11'd0, room}) ? left_q[4:0] : room;
      last0 = !elements_i || (i0_q + 16'd1 == cmd_i.n0);
      last1 = (cmd_i.group && !planes_i) || (i1_q + 16'd1 == cmd_i.n1);
      lastx = !cmd_i.group || (left_q == {11'd0, n_o});
      last2 = (i2_q + 16'd1 == cmd_i.n2);
      last3 = (i3_q + 16'd1 == cmd_i.n3);
    end
  end
  assign last_o = last0 && last1 && lastx && last2 && last3;
  assign valid_o = valid_q;
  assign src_o = s_q;
  assign dst_o = t_q;
  assign plane_o = i1_q[4:0];
  assign plane_last_o = last1;

  // The step.
  logic [OFFW-1:0] s_from, s_add, s_n;
  logic [23:0] t_from, t_add, t_n;
  logic [23:0] n_t0;
  always_comb begin
    s_from = s_q;
    s_add = OFFW'(cmd_i.s0);
    t_from = t_q;
    t_add = cmd_i.t0;
    n_t0 = 24'd0;
    if (!valid_q || !last0) begin
    end else if (!last1) begin
      s_from = s1_q;
      s_add = OFFW'(cmd_i.s1);
      t_from = t1_q;
      t_add = cmd_i.t1;
    end else if (!lastx) begin
      n_t0 = {19'd0, n_o};
      s_from = sx_q;
      s_add = OFFW'(n_o);
      t_from = tx_q;
      case (cmd_i.t0[4:0])  // t0 is 2, 3, 4 or 16 in a grouped walk
        5'd2: t_add = n_t0 << 1;
        5'd3: t_add = (n_t0 << 1) + n_t0;
        5'd4: t_add = n_t0 << 2;
        default: t_add = n_t0 << 4;
      endcase
    end else if (!last2) begin
      s_from = s2_q;
      s_add = OFFW'(cmd_i.s2);
      t_from = t2_q;
      t_add = cmd_i.t2;
    end else begin
      s_from = s3_q;
      s_add = OFFW'(cmd_i.s3);
      t_from = t3_q;
      t_add = cmd_i.t3;
    end
    s_n = s_from + s_add;
    t_n = t_from + t_add;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (load_i) begin
      valid_q <= 1'b1;
      i0_q <= 16'd0;
      i1_q <= 16'd0;
      i2_q <= 16'd0;
      i3_q <= 16'd0;
      left_q <= cmd_first_i.n0;
      s_q <= OFFW'(cmd_first_i.off);
      s1_q <= OFFW'(cmd_first_i.off);
      sx_q <= OFFW'(cmd_first_i.off);
      s2_q <= OFFW'(cmd_first_i.off);
      s3_q <= OFFW'(cmd_first_i.off);
      t_q <= cmd_first_i.sram;
      t1_q <= cmd_first_i.sram;
      tx_q <= cmd_first_i.sram;
      t2_q <= cmd_first_i.sram;
      t3_q <= cmd_first_i.sram;
    end else if (valid_q && next_i) begin
      if (last_o) valid_q <= 1'b0;
      s_q <= s_n;
      t_q <= t_n;
      i0_q <= last0 ? 16'd0 : i0_q + 16'd1;
      if (last0) begin
        s1_q <= s_n;
        t1_q <= t_n;
        i1_q <= last1 ? 16'd0 : i1_q + 16'd1;
      end
      if (last0 && last1) begin
        sx_q <= s_n;
        tx_q <= t_n;
        left_q <= lastx ? cmd_i.n0 : left_q - {11'd0, n_o};
      end
      if (last0 && last1 && lastx) begin
        s2_q <= s_n;
        t2_q <= t_n;
        i2_q <= last2 ? 16'd0 : i2_q + 16'd1;
      end
      if (last0 && last1 && lastx && last2) begin
        s3_q <= s_n;
        t3_q <= t_n;
        i3_q <= i3_q + 16'd1;
      end
    end
  end
endmodule
