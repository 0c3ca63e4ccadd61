// SPDX-License-Identifier: Apache-2.0
// Interleaves bytes of up to 16 planes into SRAM words: a chunk of up to 16 elements of each plane
// comes in, one plane per cycle, and leaves as whole words, one per cycle.
//
// Element j of a plane lies at byte o_i + j*stride_i behind the first byte of word word_i (o_i =
// byte
// of element 0 of plane 0, plus the plane's number); stride 2, 3 or 4 (five words at most) or 16
// (one
// word per element, o_i <= 15). first_i, last_i: first and last plane of the chunk; end_i with
// last_i: last chunk of the command, handed on with its last word (end_o).
//
// Two buffers of 16 words (2 x 16 x 144 bits of registers): one fills while the other is written.
// Push in t, first word offered in t+1 after the last plane's push. With stride 3 or 4 and as many
// planes 12 to 16 bytes leave per cycle; with stride 16 as many bytes as there are planes.
module hd_dma_spread (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  push_i,
    output logic                  ready_o,
    input  logic [127:0]          data_i,    // element j in byte j
    input  logic [4:0]            n_i,       // 1 .. 16 elements
    input  logic [4:0]            stride_i,
    input  logic [4:0]            o_i,
    input  logic [hd_pkg::AW-1:0] word_i,
    input  logic                  first_i,
    input  logic                  last_i,
    input  logic                  end_i,
    output logic                  empty_o,
    output logic                  valid_o,
    input  logic                  ready_i,
    output logic [hd_pkg::AW-1:0] word_o,
    output logic [127:0]          data_o,
    output logic [15:0]           strb_o,
    output logic                  end_o
);
  // Rows 0..15 of buffer 0, then of buffer 1.
  logic [127:0] data_q[0:31];
  logic [15:0] strb_q[0:31];
  logic [1:0] full_q, end_q;
  logic [hd_pkg::AW-1:0] word0_q, word1_q;
  logic [3:0] last0_q, last1_q;  // number of the buffer's last row
  logic fill_q, drain_q;
  logic [3:0] row_q;

  // Narrow strides: the image of the chunk as 80 bytes, and which of them it has. Computed only
  // when a plane is pushed.
  logic [15:0] live;
  logic [127:0] ones;
  logic [79:0] marks;
  logic [639:0] image, mask;
  logic narrow;
  logic [8:0] reach;
  assign narrow = !stride_i[4];
  always_comb begin : spread
    logic [31:0] j;
    j = 0;
    live = 16'd0;
    ones = 128'd0;
    marks = 80'd0;
    image = 640'd0;
    mask = 640'd0;
    reach = 9'd0;
    if (push_i) begin
      live = ((16'd1 << n_i[3:0]) - 16'd1) | {16{n_i[4]}};
      for (j = 32'd0; j < 16; j = j + 1) ones[8*j+:8] = {8{live[j[3:0]]}};
      reach = {4'd0, o_i} + ({4'd0, n_i} - 9'd1) * {4'd0, stride_i};
      if (narrow) begin
        for (j = 32'd0; j < 16; j = j + 1) begin
          case (stride_i[2:0])
            3'd2: begin
              image[16*j+:8] = data_i[8*j+:8];
              mask[16*j+:8] = ones[8*j+:8];
              marks[2*j] = live[j[3:0]];
            end
            3'd3: begin
              image[24*j+:8] = data_i[8*j+:8];
              mask[24*j+:8] = ones[8*j+:8];
              marks[3*j] = live[j[3:0]];
            end
            default: begin
              image[32*j+:8] = data_i[8*j+:8];
              mask[32*j+:8] = ones[8*j+:8];
              marks[4*j] = live[j[3:0]];
            end
          endcase
        end
        image = image << {o_i, 3'd0};
        mask = mask << {o_i, 3'd0};
        marks = marks << o_i;
      end
    end
  end

  assign ready_o = !full_q[fill_q];
  assign empty_o = (full_q == 2'd0);
  assign valid_o = full_q[drain_q];
  assign word_o = (drain_q ? word1_q : word0_q) + {12'd0, row_q};
  assign data_o = data_q[{drain_q, row_q}];
  assign strb_o = strb_q[{drain_q, row_q}];
  logic row_last;
  assign row_last = (row_q == (drain_q ? last1_q : last0_q));
  assign end_o = end_q[drain_q] && row_last;

  generate
    for (genvar r = 0; r < 32; r = r + 1) begin : g_row
      always_ff @(posedge clk_i) begin
        if (push_i && fill_q == (r >= 16)) begin
          if (!narrow) begin
            if (live[r%16]) data_q[r][8*o_i[3:0]+:8] <= data_i[8*(r%16)+:8];
            strb_q[r] <= (first_i ? 16'd0 : strb_q[r]) | ({15'd0, live[r%16]} << o_i[3:0]);
          end else if (r % 16 < 5) begin
            data_q[r] <= (data_q[r] & ~mask[128*(r%16)%640+:128]) |
                (image[128*(r%16)%640+:128] & mask[128*(r%16)%640+:128]);
            strb_q[r] <= (first_i ? 16'd0 : strb_q[r]) | marks[16*(r%16)%80+:16];
          end
        end
      end
    end
  endgenerate

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 2'd0;
      fill_q <= 1'b0;
      drain_q <= 1'b0;
      row_q <= 4'd0;
    end else begin
      if (push_i && last_i) begin
        full_q[fill_q] <= 1'b1;
        fill_q <= !fill_q;
      end
      if (valid_o && ready_i) begin
        row_q <= row_last ? 4'd0 : row_q + 4'd1;
        if (row_last) begin
          full_q[drain_q] <= 1'b0;
          drain_q <= !drain_q;
        end
      end
    end
    if (push_i && last_i) begin
      end_q[fill_q] <= end_i;
      if (fill_q) begin
        word1_q <= word_i;
        last1_q <= narrow ? reach[7:4] : n_i[3:0] - 4'd1;
      end else begin
        word0_q <= word_i;
        last0_q <= narrow ? reach[7:4] : n_i[3:0] - 4'd1;
      end
    end
  end
endmodule
