// SPDX-License-Identifier: Apache-2.0
// Reads the residual words of commands ahead of their vectors, into a FIFO of whole vectors.
//
// The order of vectors is known, so the reader walks the loop nest by itself, one word per cycle:
// K / 16 words per vector (one in modes of 16 channels and in a last block that has only 16). A
// place in the FIFO is reserved when a vector's first word is requested. credit_o counts vectors
// that are complete and not promised to an issued vector yet (issue_i takes one): an issued vector
// finds its residual, so the lanes never wait. pop_i takes the vector at head_o.
// Commands without residual are passed in one cycle each. passed_o is a pulse per command: all its
// words are granted.
// A word beyond the SRAM is not requested; oob_o stands until reset, with the address.
// FIFO: DEPTH x K bytes = 512 B (K = 16), 1 KiB (K = 32). DEPTH covers issue to use (14 cycles) and
// request to FIFO (5 cycles) at one vector per cycle.
//
//   walker -> address register -> request, grant (0) -> .. -> data (2) -> FIFO
module hd_out_residual_reader #(
    parameter int K = 16,
    parameter int SRAM_WORDS = 32768,
    parameter int DEPTH = 32
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    // the next command
    input  logic                 next_valid_i,
    input  hd_output_pkg::ocmd_t next_i,
    output logic                 load_o,      // it is copied
    output logic                 skip_o,      // it has no residual and is passed
    output logic                 passed_o,
    // SRAM
    output logic                 req_o,
    output logic                 urgent_o,
    output logic [35:0]          addr_o,
    input  logic                 gnt_i,
    input  logic [127:0]         rdata_i,     // of a grant two cycles ago
    output logic                 oob_o,
    // vectors
    output logic                 credit_o,
    input  logic                 issue_i,
    output logic [8*K-1:0]       head_o,
    input  logic                 pop_i
);
  localparam int IW = $clog2(DEPTH);
  localparam logic [35:0] WORDS = 36'(SRAM_WORDS);
  hd_output_pkg::ocmd_t cmd_q;
  logic busy_q;

  // Walk: one word per step; half_q is the second word of a vector.
  logic [35:0] addr, waddr;
  logic last, cob_last, step, half_q, two, fill;
  hd_out_walk u_walk (
      .clk_i        (clk_i),
      .load_i       (load_o),
      .step_i       (step),
      .rows_i       (next_i.rows),
      .slot0_i      (next_i.rslot0),
      .roff0_i      (next_i.rroff0),
      .outer_i      (next_i.outer),
      .ow_i         (next_i.ow),
      .srows_i      (next_i.srows),
      .scols_i      (next_i.scols),
      .cobs_i       (next_i.cobs),
      .base_i       (next_i.res_addr),
      .pitch_i      (next_i.res_pitch),
      .xstep_i      (8'd1),
      .plane_i      (next_i.one ? {1'b0, next_i.res_plane} : {next_i.res_plane, 1'b0}),
      .wrap_i       (next_i.res_wrap),
      .addr_o       (waddr),
      .poff_o       (),
      .x_last_o     (),
      .y_last_o     (),
      .row_end_o    (),
      .chunk0_o     (),
      .xpos_o       (),
      .cob_last_o   (cob_last),
      .next_cob_o   (),
      .next_chunk_o (),
      .next_stripe_o(),
      .last_o       (last)
  );
  assign two = !cmd_q.one && !(cob_last && cmd_q.odd);
  assign addr = half_q ? waddr + {16'd0, cmd_q.res_plane} : waddr;

  // Request register.
  logic v_q, vhalf_q, vend_q, vlast_q, bad;
  logic [35:0] a_q;
  logic done;
  logic [7:0] used_q, credit_q;  // places taken; vectors complete and not promised
  assign bad = v_q && a_q >= WORDS;
  assign oob_o = bad;
  assign req_o = v_q && !bad;
  assign urgent_o = credit_q < 8'd4;
  assign addr_o = a_q;
  assign done = v_q && gnt_i && !bad;
  assign fill = busy_q && (!v_q || done) && (half_q || used_q < 8'(DEPTH));
  assign step = fill && (half_q || !two);
  assign load_o = next_valid_i && (!busy_q || (step && last)) && next_i.res && !next_i.novec;
  assign passed_o = (done && vlast_q) || skip_o;
  // A command without residual is passed when the requests before it are granted.
  assign skip_o = next_valid_i && !busy_q && !v_q && (!next_i.res || next_i.novec);

  logic e0_q, e0half_q, e0end_q, e1_q, e1half_q, e1end_q;
  logic [IW-1:0] wp_q, rp_q;
  logic ready;  // a vector becomes complete
  assign ready = e1_q && e1end_q;
  assign credit_o = credit_q != 8'd0;

  logic [127:0] low_q [0:DEPTH-1];
  if (K == 16) begin : g_one
    assign head_o = low_q[rp_q];
  end else begin : g_two
    logic [127:0] high_q [0:DEPTH-1];
    always_ff @(posedge clk_i) if (e1_q && e1half_q) high_q[wp_q] <= rdata_i;
    assign head_o = {high_q[rp_q], low_q[rp_q]};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      v_q <= 1'b0;
      half_q <= 1'b0;
      e0_q <= 1'b0;
      e1_q <= 1'b0;
      used_q <= 8'd0;
      credit_q <= 8'd0;
      wp_q <= '0;
      rp_q <= '0;
    end else begin
      if (load_o) busy_q <= 1'b1;
      else if (step && last) busy_q <= 1'b0;
      if (fill) half_q <= !step;
      if (fill) v_q <= 1'b1;
      else if (done) v_q <= 1'b0;
      e0_q <= done;
      e1_q <= e0_q;
      used_q <= used_q + {7'd0, fill && !half_q} - {7'd0, pop_i};
      credit_q <= credit_q + {7'd0, ready} - {7'd0, issue_i};
      if (ready) wp_q <= wp_q + IW'(1);
      if (pop_i) rp_q <= rp_q + IW'(1);
    end
    if (load_o) cmd_q <= next_i;
    if (fill) begin
      a_q <= addr;
      vhalf_q <= half_q;
      vend_q <= step;
      vlast_q <= step && last;
    end
    e0half_q <= vhalf_q;
    e0end_q <= vend_q;
    e1half_q <= e0half_q;
    e1end_q <= e0end_q;
    if (e1_q && !e1half_q) low_q[wp_q] <= rdata_i;
  end

  // Only while there is a command with residual.
  assign clk_req_o = !rst_ni || next_valid_i || busy_q || v_q || (used_q != 8'd0);

`ifndef SYNTHESIS
  // Vectors are promised when they are complete, leave when they are there, and have a place.
  always_ff @(posedge clk_i)
    if (rst_ni && (fill || issue_i || pop_i || gnt_i)) begin
      assert (!issue_i || credit_o);
      assert (!pop_i || used_q != 8'd0);
      assert (credit_q <= used_q && used_q <= 8'(DEPTH));
      assert (!gnt_i || req_o);
    end
`endif
endmodule
