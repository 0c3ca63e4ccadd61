// SPDX-License-Identifier: Apache-2.0
// hd_decode, `conv`, the cycle after start: commands that break a rule which needs no product are
// refused there, all others go on to hd_decode_rows (hd_decode_rows_formal). The rules are written
// here a second time, by word and bit of ISA.md's table, without the generated checks or the structs.
module hd_decode_conv_formal (
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

  // A 16-bit integer is one of low .. 255 (255 - low < 32768).
  function automatic within(input [15:0] v, input [15:0] low);
    within = (v - low <= 16'd255 - low);
  endfunction
  function automatic code(input [15:0] v, input is_signed);
    code = is_signed ? (v + 16'd128 < 16'd256) : (v < 16'd256);
  endfunction
  function automatic above(input [15:0] a, input [15:0] b);  // a > b, signed
    above = ((a ^ 16'h8000) > (b ^ 16'h8000));
  endfunction

  logic ok;
  logic depthwise, fold, maxpool, wide, hold, out_s8;
  logic [1:0] w_mode, res_op, pool;
  logic [3:0] channels;
  always_comb begin
    depthwise = (w[4][1:0] == 2'd1);
    fold = (w[4][1:0] == 2'd2);
    maxpool = (w[4][1:0] == 2'd3);
    w_mode = w[4][5:4];
    wide = w[4][7];  // u8, s8, i32, f32
    out_s8 = (w[4][7:6] == 2'd1);
    hold = w[4][9];
    res_op = w[4][14:13];
    pool = w[4][18:17];
    channels = w[4][22:19];

    // Header and fields by themselves.
    ok = (w[0] == 32'h00002830) && (w[1][31:28] == 4'd0) && (w[2][31:30] == 2'd0);
    if (w[1][0] && w[1][14] && (w[1][5:1] == w[1][19:15])) ok = 1'b0;
    if (w[2][0] && w[2][15] && (w[2][5:1] == w[2][20:16])) ok = 1'b0;
    if ((w[4] >= 32'h800000) || (w_mode == 2'd3) || (res_op == 2'd3) || (pool == 2'd3)) ok = 1'b0;
    if (channels > 4'd8) ok = 1'b0;
    if ((w[6] >= 32'h1000000) || (w[11] >= 32'h1000000)) ok = 1'b0;
    for (int i = 5; i < 30; i++) begin  // addresses and planes: 20 bits
      if ((i == 5 || i == 7 || i == 10 || i == 12 || (i >= 19 && i <= 22) || i == 26 || i == 27 ||
           i == 29) && (w[i] >= 32'h100000))
        ok = 1'b0;
    end
    if ((w[8][15:0] == 0) || (w[8][31:16] == 0)) ok = 1'b0;
    if ((w[13][15:0] == 0) || (w[13][31:16] == 0)) ok = 1'b0;
    if ((w[18][15:0] == 0) || (w[18][31:16] == 0)) ok = 1'b0;
    if ((w[15][7:0] == 0) || (w[15][15:8] == 0) || (w[15][19:16] == 0) || (w[15][23:20] == 0))
      ok = 1'b0;
    if ((w[15] >= 32'h1000000) || (w[16] >= 32'h10000)) ok = 1'b0;
    if ((w[16][7:0] == 0) || (w[16][15:8] == 0)) ok = 1'b0;
    if ((w[24] >= 32'h10000) || (w[35] >= 32'h1000) || (w[37] >= 32'h10000)) ok = 1'b0;
    if (!within(w[24][15:0], -16'd128)) ok = 1'b0;
    for (int i = 23; i < 40; i++) begin
      if ((i == 23 || i == 33 || i == 34 || i == 39) &&
          (!within(w[i][15:0], -16'd128) || !within(w[i][31:16], -16'd128)))
        ok = 1'b0;
    end
    if (!within(w[25][15:0], -16'd255) || !within(w[25][31:16], -16'd255)) ok = 1'b0;

    // Fields together.
    if ({16'd0, w[14][15:0]} + {16'd0, w[13][31:16]} > 32'd65536) ok = 1'b0;
    if ((w_mode != 2'd0) && ((w[4][1:0] != 2'd0) || (w[15][15:0] != 16'h0101))) ok = 1'b0;
    if ((depthwise || maxpool) && ((w[18][15:0] != w[18][31:16]) || (w[4][9:8] != 2'd0))) ok = 1'b0;
    if (fold && ((channels == 4'd0) || (w[18][15:0] != {12'd0, channels}))) ok = 1'b0;
    if (!fold && (channels != 4'd0)) ok = 1'b0;
    if ({28'd0, w[15][23:20]} * {28'd0, channels} > 32'd48) ok = 1'b0;
    if (maxpool) begin  // no output stage, no zero points
      if (wide || (out_s8 != w[4][2])) ok = 1'b0;
      if (w[4][12] || (res_op != 2'd0) || (pool != 2'd0) || w[4][10] || w[4][11]) ok = 1'b0;
    end else begin
      if (!code(w[23][15:0], w[4][2]) || !code(w[23][31:16], w[4][3])) ok = 1'b0;
      if ((hold || wide) && (w[4][12] || (res_op != 2'd0) || (pool != 2'd0))) ok = 1'b0;
      if (w[4][10] && (w[4][7:6] != 2'd3)) ok = 1'b0;
      if (!wide && !hold) begin
        if (!code(w[24][15:0], out_s8) || above(w[25][15:0], w[25][31:16])) ok = 1'b0;
        if ((res_op != 2'd0) && (above(w[34][15:0], w[34][31:16]) || !code(w[34][15:0], out_s8) ||
                                 !code(w[34][31:16], out_s8)))
          ok = 1'b0;
        if ((pool == 2'd2) && ((w[14][31:16] != 0) || !code(w[39][15:0], out_s8) ||
                               !code(w[39][31:16], out_s8)))
          ok = 1'b0;
        if ((pool == 2'd1) && ((w[35][3:0] == 0) || (w[35][7:4] == 0) ||
                               (w[35][11:8] >= w[35][3:0])))
          ok = 1'b0;
      end
    end
  end

  logic started_q = 1'b0;
  logic ok_q;
  always_ff @(posedge clk_i) begin
    first_q <= 1'b0;
    assume (cmd_i[7:0] == 8'h30);
    started_q <= !first_q;
`ifdef BROKEN_RULE
    ok_q <= ok && !cmd_i[33];  // a rule that does not exist
`else
    ok_q <= ok;
`endif
    if (started_q) begin
      assert (done == !ok_q);
      if (done) assert (!legal);
    end
  end
endmodule
