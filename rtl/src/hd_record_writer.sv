// SPDX-License-Identifier: Apache-2.0
// Writes a completion record to host memory: first all but the sequence number (body_i), then that
// (sequence_i). Either is a pulse while idle, with iova_i and record_i stable until done_o, a pulse
// when the write is visible, with error_o if it failed.
//
//   body: one burst of 8 beats, the last one in part; sequence: one beat in part
module hd_record_writer (
    input  logic                                      clk_i,
    input  logic                                      rst_ni,
    input  logic                                      body_i,
    input  logic                                      sequence_i,
    input  logic [63:0]                               iova_i,  // 128-byte aligned
    input  logic [8*heddle_pkg::COMPLETION_BYTES-1:0] record_i,
    output logic                                      done_o,
    output logic                                      error_o,
    // host memory, writes
    output logic                                      req_valid_o,
    input  logic                                      req_ready_i,
    output logic [63:0]                               req_addr_o,
    output logic [6:0]                                req_beats_o,
    output logic                                      w_valid_o,
    input  logic                                      w_ready_i,
    output logic [127:0]                              w_data_o,
    output logic [15:0]                               w_strb_o,
    input  logic                                      b_valid_i,
    input  logic                                      b_error_i
);
  localparam int WORDS = heddle_pkg::COMPLETION_BYTES / heddle_pkg::WORD_BYTES;
  localparam int LW = $clog2(WORDS);
  localparam [LW-1:0] LAST = LW'(heddle_pkg::COMPLETION_SEQUENCE_OFFSET / heddle_pkg::WORD_BYTES);
  localparam [15:0] SEQUENCE_STRB = 16'hf
      << (heddle_pkg::COMPLETION_SEQUENCE_OFFSET % heddle_pkg::WORD_BYTES);

  logic req_q, data_q, sequence_q, done_q, error_q;
  logic [LW-1:0] word_q;
  logic [127:0] word;

  always_comb begin
    word = '0;
    if (data_q) begin
      for (int i = 0; i < WORDS; i++) if (word_q == LW'(i)) word = record_i[128*i +: 128];
    end
  end

  assign req_valid_o = req_q;
  assign req_addr_o = sequence_q ? iova_i + {{(60 - LW){1'b0}}, LAST, 4'd0} : iova_i;
  assign req_beats_o = sequence_q ? 7'd1 : 7'(WORDS);
  assign w_valid_o = data_q;
  assign w_data_o = word;
  assign w_strb_o = sequence_q ? SEQUENCE_STRB : (word_q == LAST) ? ~SEQUENCE_STRB : 16'hffff;
  assign done_o = done_q;
  assign error_o = error_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
      data_q <= 1'b0;
      done_q <= 1'b0;
    end else begin
      done_q <= b_valid_i;
      if (body_i || sequence_i) req_q <= 1'b1;
      else if (req_ready_i) req_q <= 1'b0;
      if (req_q && req_ready_i) data_q <= 1'b1;
      else if (w_ready_i && word_q == LAST) data_q <= 1'b0;
    end
    if (body_i || sequence_i) begin
      sequence_q <= sequence_i;
      word_q <= sequence_i ? LAST : '0;
    end else if (data_q && w_ready_i) begin
      word_q <= word_q + 1'b1;
    end
    if (b_valid_i) error_q <= b_error_i;
  end

`ifndef SYNTHESIS
  // The contract of the ports, and what the state never is.
  always_ff @(posedge clk_i)
    if (rst_ni && (body_i || sequence_i || b_valid_i)) begin
      assert (!(body_i && sequence_i));
      assert (!(body_i || sequence_i) || (!req_q && !data_q));
      assert (!b_valid_i || (!req_q && !data_q));
    end
`endif
endmodule
