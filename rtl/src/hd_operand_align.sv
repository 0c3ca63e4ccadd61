// SPDX-License-Identifier: Apache-2.0
// Turns the head words of the row FIFOs into the C broadcast operands of a pixel (combinational).
//   conv   lanes 16p .. 16p+15 are head word 0 of row port p
//   fold   row port p: bytes off .. of its head words (a rotation), placed from lane lane on; bytes
//          outside lo <= t < hi lie in the horizontal padding
// A lane is 9 bits signed: code minus zero point, or 0 for padding.
module hd_operand_align #(
    parameter int C = 16
) (
    input  logic                                                    fold_i,
    input  logic                                                    a_signed_i,
    input  logic [8:0]                                              za_i,
    input  logic [128*hd_matrix_pkg::HEADS*hd_matrix_pkg::ROWS-1:0] head_i,
    input  logic [hd_matrix_pkg::HEADS*hd_matrix_pkg::ROWS-1:0]     null_i,
    input  logic [hd_matrix_pkg::ROWS-1:0]                          part_i,
    input  logic [4*hd_matrix_pkg::ROWS-1:0]                        off_i,
    input  logic [8*hd_matrix_pkg::ROWS-1:0]                        lane_i,
    input  logic [8*hd_matrix_pkg::ROWS-1:0]                        lo_i,
    input  logic [8*hd_matrix_pkg::ROWS-1:0]                        hi_i,
    output logic [9*C-1:0]                                          a_o
);
  localparam int ROWS = hd_matrix_pkg::ROWS;
  localparam int HEADS = hd_matrix_pkg::HEADS;
  localparam int WORDS = C / 16 + 1;  // that a segment of C bytes can touch
  localparam int SPAN = 128 * WORDS;

  logic [8*C-1:0] code;
  logic [C-1:0] valid;
  logic [SPAN-1:0] win;
  logic [8*C-1:0] seg;
  logic [C-1:0] keep;
  logic [16*WORDS-1:0] nul;
  always_comb begin
    code = '0;
    valid = '0;
    win = '0;
    seg = '0;
    keep = '0;
    nul = '0;
    for (int p = 0; p < ROWS; p++) begin
      if (fold_i) begin
        if (part_i[p]) begin
          win = head_i[128*HEADS*p +: SPAN] >> {off_i[4*p +: 4], 3'd0};
          keep = (~({C{1'b1}} << hi_i[8*p +: 8])) & ({C{1'b1}} << lo_i[8*p +: 8]);
          for (int j = 0; j < WORDS; j++) nul[16*j +: 16] = {16{null_i[HEADS*p+j]}};
          nul = nul >> off_i[4*p +: 4];
          keep = (keep & ~nul[C-1:0]) << lane_i[8*p +: 8];
          seg = win[8*C-1:0] << {lane_i[8*p +: 8], 3'd0};
          for (int c = 0; c < C; c++)
            if (keep[c]) code[8*c +: 8] = seg[8*c +: 8];
          valid = valid | keep;
        end
      end else if (p < C / 16) begin
        code[128*p +: 128] = head_i[128*HEADS*p +: 128];
        valid[16*p +: 16] = {16{!null_i[HEADS*p]}};
      end
    end
  end

  for (genvar c = 0; c < C; c++) begin : g_lane
    logic [8:0] wide;
    assign wide = {a_signed_i && code[8*c+7], code[8*c +: 8]};
    assign a_o[9*c +: 9] = valid[c] ? wide - za_i : 9'd0;
  end
endmodule
