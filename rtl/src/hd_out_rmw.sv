// SPDX-License-Identifier: Apache-2.0
// Read-modify-write of pooled words: takes actions (address, K codes, whether there is something to
// take the maximum with) and passes words to the write queue, in order.
//
// An action without reading passes all its words in one slot; one with reading takes a slot and a
// grant for each of its words (K / 16).
//
//   slot  grant (0)  -> p1 (1) -> p2, data, maximum, write queue (2)
//
// Interlock: a word is not read while a write to its address is in p1, p2 or the write queue (rows
// shorter than this pipeline come back to a word before it is written).
// A word beyond the SRAM is not read; oob_o stands, with the address, and everything behind waits.
module hd_out_rmw #(
    parameter int K = 16,
    parameter int SRAM_WORDS = 32768
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    // actions
    input  logic           valid_i,
    output logic           ready_o,
    input  logic           read_i,
    input  logic           two_i,      // two words (K = 32)
    input  logic           sgn_i,      // codes are signed
    input  logic [35:0]    addr_i,
    input  logic [19:0]    plane_i,    // from the first to the second word
    input  logic [8*K-1:0] code_i,
    output logic           idle_o,
    // SRAM
    output logic           req_o,
    output logic [35:0]    addr_o,
    input  logic           gnt_i,
    input  logic [127:0]   rdata_i,    // of a grant two cycles ago
    output logic           oob_o,
    // write queue
    output logic           look_en_o,
    output logic [35:0]    look_o,
    input  logic           hit_i,
    input  logic           room_i,
    output logic [1:0]     push_o,
    output logic [35:0]    addr0_o,
    output logic [35:0]    addr1_o,
    output logic [127:0]   data0_o,
    output logic [127:0]   data1_o
);
  localparam logic [35:0] WORDS = 36'(SRAM_WORDS);
  // Action at the head; the second word is next when half_q.
  logic v_q, read_q, two_q, sgn_q, half_q;
  logic [35:0] a0_q, a1_q, at;
  logic [8*K-1:0] code_q;
  assign at = half_q ? a1_q : a0_q;

  // Pipeline: one or two words.
  logic [1:0] p1_q, p2_q;  // words
  logic p1r_q, p2r_q, p1s_q, p2s_q;
  logic [35:0] p1a0_q, p1a1_q, p2a0_q, p2a1_q;
  logic [127:0] p1d0_q, p1d1_q, p2d0_q, p2d1_q;

  logic near, bad, go, leave;
  assign near = (p1_q[0] && p1a0_q == at) || (p1_q[1] && p1a1_q == at)
             || (p2_q[0] && p2a0_q == at) || (p2_q[1] && p2a1_q == at);
  assign bad = v_q && read_q && at >= WORDS;
  assign oob_o = bad;
  assign look_en_o = v_q && read_q;
  assign look_o = at;
  assign req_o = v_q && read_q && !bad && room_i && !near && !hit_i;
  assign addr_o = at;
  assign go = read_q ? req_o && gnt_i : v_q && room_i;
  assign leave = go && (!read_q || !two_q || half_q);
  assign ready_o = !v_q || leave;
  assign idle_o = !v_q && p1_q == 2'b00 && p2_q == 2'b00;

  logic [127:0] c0, c1;
  assign c0 = code_q[127:0];
  if (K == 16) begin : g_one
    assign c1 = 128'd0;
  end else begin : g_two
    assign c1 = code_q[255:128];
  end

  // Maximum with what was read; the sign bit is turned so that unsigned comparison does.
  logic [127:0] best;
  always_comb begin
    best = p2d0_q;
    if (p2_q[0] && p2r_q)
      for (int l = 0; l < 16; l++)
        if ((rdata_i[8*l +: 8] ^ {p2s_q, 7'd0}) > (p2d0_q[8*l +: 8] ^ {p2s_q, 7'd0}))
          best[8*l +: 8] = rdata_i[8*l +: 8];
  end
  assign push_o = p2_q;
  assign addr0_o = p2a0_q;
  assign addr1_o = p2a1_q;
  assign data0_o = best;
  assign data1_o = p2d1_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      v_q <= 1'b0;
      half_q <= 1'b0;
      p1_q <= 2'b00;
      p2_q <= 2'b00;
    end else begin
      if (ready_o) v_q <= valid_i;
      if (go && read_q && two_q) half_q <= !half_q;
      p1_q <= go ? {!read_q && two_q, 1'b1} : 2'b00;
      p2_q <= p1_q;
    end
    if (ready_o && valid_i) begin
      read_q <= read_i;
      two_q <= two_i;
      sgn_q <= sgn_i;
      a0_q <= addr_i;
      a1_q <= addr_i + {16'd0, plane_i};
      code_q <= code_i;
    end
    if (go) begin
      p1r_q <= read_q;
      p1s_q <= sgn_q;
      p1a0_q <= at;
      p1a1_q <= a1_q;
      p1d0_q <= half_q ? c1 : c0;
      p1d1_q <= c1;
    end
    if (p1_q[0]) begin
      p2r_q <= p1r_q;
      p2s_q <= p1s_q;
      p2a0_q <= p1a0_q;
      p2a1_q <= p1a1_q;
      p2d0_q <= p1d0_q;
      p2d1_q <= p1d1_q;
    end
  end
endmodule
