// SPDX-License-Identifier: Apache-2.0
// hd_decode accepts exactly the legal encodings, for one opcode OP that is decided in one cycle
// (every one but `conv`): start, and in the next cycle there is a verdict, and it is the
// specification's. That is written here a second time, by word and bit of ISA.md's tables, without
// the generated checks or the structs.
module hd_decode_formal #(
    parameter [7:0] OP = 8'h10
) (
    input logic          clk_i,
    input logic [32*heddle_pkg::LONGEST_COMMAND_WORDS-1:0] cmd_i
);
  logic done, legal;
  logic first_q = 1'b1;
  hd_decode dut (
      .clk_i, .rst_ni(!first_q), .clear_i(1'b0), .start_i(1'b1), .cmd_i,
      .done_o(done), .legal_o(legal)
  );

  logic [31:0] w [0:51];
  always_comb for (int i = 0; i < 52; i++) w[i] = cmd_i[32*i +: 32];

  // Any of the low bits that E = 2^n must not have.
  function automatic odd(input [31:0] v, input [2:0] n);
    odd = (v & ((32'd1 << n) - 32'd1)) != 32'd0;
  endfunction
  function automatic [2:0] type_log2(input [3:0] t);
    type_log2 = (t < 4'd2) ? 3'd0 : (t == 4'd3 || t == 4'd6) ? 3'd2 : 3'd1;
  endfunction

  logic [7:0] length;
  logic ok, control, transfer;
  logic [2:0] n;
  logic [3:0] used;  // streams A to D
  always_comb begin
    control = (OP < 8'h10);
    transfer = (OP == 8'h10) || (OP == 8'h20);
    length = transfer ? 8'd20 : (OP == 8'h11) ? 8'd16 :
             (OP == 8'h12 || OP == 8'h21) ? 8'd12 : (OP == 8'h40 || OP == 8'h41) ? 8'd52 : 8'd4;
    n = '0;
    used = '0;
    // Header.
    ok = (w[0] == {16'd0, length, OP}) && (w[1][31:28] == 4'd0) && (w[2][31:30] == 2'd0);
    if (control && (w[1][0] || w[1][14] || w[2][0] || w[2][15])) ok = 1'b0;
    if (w[1][0] && w[1][14] && (w[1][5:1] == w[1][19:15])) ok = 1'b0;
    if (w[2][0] && w[2][15] && (w[2][5:1] == w[2][20:16])) ok = 1'b0;

    if (transfer) begin
      n = w[4][6:4];
      if ((w[4] > 32'h4f) || (w[6] >= 32'h1000000)) ok = 1'b0;
      for (int i = 7; i < 9; i++) if ((w[i][15:0] == 0) || (w[i][31:16] == 0)) ok = 1'b0;
      for (int i = 13; i < 17; i++) if (w[i] >= 32'h1000000) ok = 1'b0;
      for (int i = 17; i < 20; i++) if (w[i] != 32'd0) ok = 1'b0;
      if (odd(w[5], n) || odd(w[6], n)) ok = 1'b0;
      for (int i = 9; i < 17; i++) if (odd(w[i], n)) ok = 1'b0;
    end
    if (OP == 8'h11) begin
      n = w[4][2:0];
      if ((w[4] > 32'd2) || (w[5] >= 32'h1000000)) ok = 1'b0;
      for (int i = 7; i < 9; i++) if ((w[i][15:0] == 0) || (w[i][31:16] == 0)) ok = 1'b0;
      for (int i = 9; i < 13; i++) if ((w[i] >= 32'h1000000) || odd(w[i], n)) ok = 1'b0;
      for (int i = 13; i < 16; i++) if (w[i] != 32'd0) ok = 1'b0;
      if (odd(w[5], n)) ok = 1'b0;
    end
    if (OP == 8'h12 || OP == 8'h21) begin
      n = w[4][6:4];
      if ((w[4] > 32'h4f) || (w[6] >= 32'h1000000) || (w[8] >= 32'h1000000)) ok = 1'b0;
      if ((w[7][15:0] == 0) || (w[7][31:16] == 0) || (w[9] == 0)) ok = 1'b0;
      if ((w[11] >= 32'h1000000) || odd(w[8], 3'd2)) ok = 1'b0;
      if (odd(w[5], n) || odd(w[6], n) || odd(w[10], n) || odd(w[11], n)) ok = 1'b0;
    end
    if (OP == 8'h40 || OP == 8'h41) begin
      for (int i = 6; i < 9; i++) if ((w[i][15:0] == 0) || (w[i][31:16] == 0)) ok = 1'b0;
      if (w[9][15:0] == 0) ok = 1'b0;
      for (int i = 17; i < 20; i++) if (w[i] != 32'd0) ok = 1'b0;
      for (int g = 0; g < 4; g++) begin
        if (w[20+8*g][31:24] > 8'd7) ok = 1'b0;
        for (int i = 1; i < 8; i++) if (w[20+8*g+i][31:24] != 8'd0) ok = 1'b0;
      end
      if (OP == 8'h40) begin
        if ((w[4] >= 32'h100000) || (w[5] >= 32'h8000000) || (w[10] >= 32'h200)) ok = 1'b0;
        if ((w[9] >= 32'h100000) || (w[11] >= 32'h1000000)) ok = 1'b0;
        if ((w[5][8:0] > 9'd256) || (w[5][17:9] > 9'd256) || (w[5][26:18] > 9'd256)) ok = 1'b0;
        if (w[5][17:9] == 9'd0) ok = 1'b0;
        if ({23'd0, w[5][8:0]} + {23'd0, w[5][17:9]} + {23'd0, w[5][26:18]} > 32'd256) ok = 1'b0;
        if (w[10][4:3] == 2'd3) ok = 1'b0;
        if (w[10][5] && (w[10][4:3] == 2'd0)) ok = 1'b0;
        if (w[10][6] && (w[10][2] == 1'b0 || w[10][0] == 1'b0)) ok = 1'b0;
        if (w[10][7] && (w[10][2] == 1'b0 || w[10][4:3] == 2'd0)) ok = 1'b0;
        if (w[10][8] && (w[10][6] || w[10][0] == 1'b0)) ok = 1'b0;
        if (w[10][7:6] != 2'd0 && w[36][27:24] != 4'd3) ok = 1'b0;
        if ((w[10][6] || w[10][8]) && odd(w[11], type_log2(w[20][27:24]))) ok = 1'b0;
        if (w[10][7] && odd(w[11], type_log2(w[44][27:24]))) ok = 1'b0;
        used = {w[10][4:3] != 2'd0, w[10][2:0]};
      end else begin
        if ((w[4] != 0) || (w[5] != 0) || (w[9][31:16] != 0) || (w[10] > 32'd3)) ok = 1'b0;
        if ((w[11] != 0) || (w[12] != 0) || (w[15] != 0) || (w[16] != 0)) ok = 1'b0;
        used = {1'b1, w[10][0], 2'b11};
        for (int g = 0; g < 4; g++) begin
          if (used[g] && (w[20+8*g][27:24] < 4'd4 || w[20+8*g][27:24] == 4'd7)) ok = 1'b0;
        end
      end
      for (int g = 0; g < 4; g++) begin
        for (int i = 0; i < 8; i++) begin
          if (used[g] && odd(w[20+8*g+i], type_log2(w[20+8*g][27:24]))) ok = 1'b0;
        end
      end
    end
  end

  logic started_q = 1'b0;
  logic ok_q;
  always_ff @(posedge clk_i) begin
    first_q <= 1'b0;
    assume (cmd_i[7:0] == OP);
    started_q <= !first_q;
`ifdef BROKEN_RULE
    ok_q <= ok && !cmd_i[33];  // a rule that does not exist
`else
    ok_q <= ok;
`endif
    if (started_q) begin
      assert (done);
      assert (legal == ok_q);
    end
  end
endmodule
