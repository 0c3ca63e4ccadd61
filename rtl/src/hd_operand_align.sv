// SPDX-License-Identifier: Apache-2.0
// Turns the head words of the row FIFOs into C broadcast codes of a pixel (combinational).
//   conv   lanes 16p .. 16p+15 are head word 0 of row port p; lanes_i lanes count
//   fold   row port p: bytes off .. of its head words (a rotation), placed from lane lane on; bytes
//          outside lo <= t < hi lie in the horizontal padding
// keep_o: the lane counts (it is not padding).
module hd_operand_align #(
    parameter int C = 16
) (
    input  logic                                                    en_i,
    input  logic                                                    fold_i,
    input  logic [7:0]                                              lanes_i,
    input  logic [128*hd_matrix_pkg::HEADS*hd_matrix_pkg::ROWS-1:0] head_i,
    input  logic [hd_matrix_pkg::HEADS*hd_matrix_pkg::ROWS-1:0]     null_i,
    input  logic [hd_matrix_pkg::ROWS-1:0]                          part_i,
    input  logic [4*hd_matrix_pkg::ROWS-1:0]                        off_i,
    input  logic [8*hd_matrix_pkg::ROWS-1:0]                        lane_i,
    input  logic [8*hd_matrix_pkg::ROWS-1:0]                        lo_i,
    input  logic [8*hd_matrix_pkg::ROWS-1:0]                        hi_i,
    output logic [8*C-1:0]                                          code_o,
    output logic [C-1:0]                                            keep_o
);
  localparam int ROWS = hd_matrix_pkg::ROWS;
  localparam int HEADS = hd_matrix_pkg::HEADS;
  localparam int WORDS = C / 16 + 1;  // that a segment of C bytes can touch
  localparam int SPAN = 128 * WORDS;

  logic [C-1:0] live;  // conv: lanes of words that are there
  for (genvar p = 0; p < C / 16; p++) begin : g_live
    assign live[16*p +: 16] = {16{!null_i[HEADS*p]}};
  end
  logic [8*C-1:0] code;  // conv
  for (genvar p = 0; p < C / 16; p++) begin : g_code
    assign code[128*p +: 128] = head_i[128*HEADS*p +: 128];
  end

  logic [SPAN-1:0] win;
  logic [8*C-1:0] seg, mask;
  logic [C-1:0] keep;
  logic [16*WORDS-1:0] nul;
  always_comb begin
    code_o = code;
    keep_o = live & ~({C{1'b1}} << lanes_i);
    win = '0;
    seg = '0;
    mask = '0;
    keep = '0;
    nul = '0;
    if (en_i && fold_i) begin
      code_o = '0;
      keep_o = '0;
      for (int p = 0; p < ROWS; p++) begin
        if (part_i[p]) begin
          win = head_i[128*HEADS*p +: SPAN] >> {off_i[4*p +: 4], 3'd0};
          keep = (~({C{1'b1}} << hi_i[8*p +: 8])) & ({C{1'b1}} << lo_i[8*p +: 8]);
          for (int j = 0; j < WORDS; j++) nul[16*j +: 16] = {16{null_i[HEADS*p+j]}};
          nul = nul >> off_i[4*p +: 4];
          keep = (keep & ~nul[C-1:0]) << lane_i[8*p +: 8];
          // Segments follow each other in the lanes: a later one overwrites what is left over.
          mask = {8*C{1'b1}} << {lane_i[8*p +: 8], 3'd0};
          seg = win[8*C-1:0] << {lane_i[8*p +: 8], 3'd0};
          code_o = (code_o & ~mask) | seg;
          keep_o = keep_o | keep;
        end
      end
    end
  end
endmodule
