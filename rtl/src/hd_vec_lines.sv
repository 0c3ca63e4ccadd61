// SPDX-License-Identifier: Apache-2.0
// Line buffer of one operand stream, 1 KiB (two banks x 8 lines x 64 bytes), and what makes vectors of
// its lines.
//
//   cycle t    a step is taken: one line of each bank goes into the window (128 bytes)
//   cycle t+1  every lane of the step picks its element from the window and converts it
//   cycle t+2  after the last step of a vector: the vector enters the queue of four
//
// The buffer is eight arrays of 8 x 128 bits (bank x word of the line), one write and one read port
// each: a port of the engine fills its own word. Lanes that no step serves (not valid) read 0.
module hd_vec_lines (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [3:0]   kind_i,       // ELEMENT_TYPE_*
    input  logic [3:0]   fill_i,
    input  logic [3:0]   fill_bank_i,
    input  logic [11:0]  fill_way_i,
    input  logic [511:0] rdata_i,
    input  logic         step_i,
    output logic         take_o,
    input  logic [15:0]  mask_i,
    input  logic [111:0] at_i,
    input  logic [2:0]   way0_i,
    input  logic [2:0]   way1_i,
    input  logic         first_i,
    input  logic         last_i,
    output logic         valid_o,
    output logic [511:0] data_o,
    input  logic         pop_i,
    output logic         busy_o        // steps under way (vectors in the queue do not count)
);
  // Window: bank 0 words 0..15, bank 1 words 16..31.
  logic [31:0] window_q [0:31];
  for (genvar b = 0; b < 2; b++) begin : g_bank
    for (genvar p = 0; p < 4; p++) begin : g_word
      logic [127:0] line_q [0:7];
      logic [127:0] word;
      assign word = line_q[b == 0 ? way0_i : way1_i];
      always_ff @(posedge clk_i) begin
        if (fill_i[p] && fill_bank_i[p] == 1'(b))
          line_q[fill_way_i[3*p +: 3]] <= rdata_i[128*p +: 128];
        if (take_o) begin
          window_q[16*b+4*p] <= word[31:0];
          window_q[16*b+4*p+1] <= word[63:32];
          window_q[16*b+4*p+2] <= word[95:64];
          window_q[16*b+4*p+3] <= word[127:96];
        end
      end
    end
  end

  logic win_q, first_q, last_q, full_q;
  logic [15:0] mask_q;
  logic [6:0] at_q [0:15];
  logic [31:0] vec_q [0:15];
  logic [511:0] vec;
  logic [511:0] queue_q [0:3];
  logic [1:0] rd_q, wr_q;
  logic [2:0] held_q;
  // Room for every vector under way.
  assign take_o = step_i && held_q + {2'd0, win_q} + {2'd0, full_q} < 3'd4;
  logic [31:0] element [0:15];
  always_comb begin
    for (int l = 0; l < 16; l++) element[l] = '0;
    if (win_q)
      for (int l = 0; l < 16; l++)
        if (mask_q[l])
          element[l] = hd_vec_pkg::load_element(kind_i, window_q[at_q[l][6:2]], at_q[l][1:0]);
  end
  for (genvar l = 0; l < 16; l++) begin : g_lane
    always_ff @(posedge clk_i) begin
      if (take_o) at_q[l] <= at_i[7*l +: 7];
      if (win_q && (first_q || mask_q[l])) vec_q[l] <= element[l];
    end
    assign vec[32*l +: 32] = vec_q[l];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      win_q <= 1'b0;
      full_q <= 1'b0;
      held_q <= '0;
      rd_q <= '0;
      wr_q <= '0;
    end else begin
      win_q <= take_o;
      full_q <= win_q && last_q;
      if (full_q) wr_q <= wr_q + 2'd1;
      if (pop_i) rd_q <= rd_q + 2'd1;
      if (full_q != pop_i) held_q <= full_q ? held_q + 3'd1 : held_q - 3'd1;
    end
    if (take_o) begin
      mask_q <= mask_i;
      first_q <= first_i;
      last_q <= last_i;
    end
    if (full_q) queue_q[wr_q] <= vec;
  end
  assign valid_o = held_q != 0;
  assign data_o = queue_q[rd_q];
  assign busy_o = win_q || full_q;

`ifndef SYNTHESIS
  // A vector leaves if there is one, and comes if there is room.
  always_ff @(posedge clk_i)
    if (rst_ni && (full_q || pop_i)) begin
      assert (!full_q || held_q < 3'd4);
      assert (!pop_i || valid_o);
    end
`endif
endmodule
