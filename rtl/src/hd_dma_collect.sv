// SPDX-License-Identifier: Apache-2.0
// The reverse of hd_dma_spread: SRAM words with interleaved bytes come in, planes are read out.
//
// Words of a chunk (up to 16 elements, up to 16 words) are taken one per cycle; last_i marks the
// chunk's last. When all are there, valid_o; vec_o holds in byte j the byte o_i + j*stride_i of the
// chunk's words (stride 2, 3 or 4, or 16 with o_i <= 15), combinationally for the plane that is
// asked
// for; free_i gives the chunk up. Two buffers of 16 words (2 x 16 x 128 bits of registers): one
// fills while the other is read.
module hd_dma_collect (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         word_valid_i,
    input  logic [127:0] word_i,
    input  logic         last_i,
    output logic         take_o,
    output logic         valid_o,
    input  logic         use_i,         // vec_o is looked at
    input  logic [4:0]   stride_i,
    input  logic [4:0]   o_i,
    output logic [127:0] vec_o,
    input  logic         free_i
);
  logic [127:0] rows_q[0:31];
  logic [1:0] full_q;
  logic fill_q, drain_q;
  logic [3:0] row_q;
  assign take_o = word_valid_i && !full_q[fill_q];
  assign valid_o = full_q[drain_q];

  logic [639:0] image;
  always_comb begin : gather
    logic [31:0] j;
    j = 0;
    vec_o = 128'd0;
    image = 640'd0;
    if (use_i) begin
      if (stride_i[4]) begin
        for (j = 32'd0; j < 16; j = j + 1) vec_o[8*j+:8] = rows_q[{drain_q, j[3:0]}][8*o_i[3:0]+:8];
      end else begin
        for (j = 32'd0; j < 5; j = j + 1) image[128*j+:128] = rows_q[{drain_q, j[3:0]}];
        image = image >> {o_i, 3'd0};
        for (j = 32'd0; j < 16; j = j + 1) begin
          case (stride_i[2:0])
            3'd2: vec_o[8*j+:8] = image[16*j+:8];
            3'd3: vec_o[8*j+:8] = image[24*j+:8];
            default: vec_o[8*j+:8] = image[32*j+:8];
          endcase
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 2'd0;
      fill_q <= 1'b0;
      drain_q <= 1'b0;
      row_q <= 4'd0;
    end else begin
      if (take_o) begin
        row_q <= last_i ? 4'd0 : row_q + 4'd1;
        if (last_i) begin
          full_q[fill_q] <= 1'b1;
          fill_q <= !fill_q;
        end
      end
      if (free_i) begin
        full_q[drain_q] <= 1'b0;
        drain_q <= !drain_q;
      end
    end
    if (take_o) rows_q[{fill_q, row_q}] <= word_i;
  end
endmodule
