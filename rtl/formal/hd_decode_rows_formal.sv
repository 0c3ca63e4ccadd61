// SPDX-License-Identifier: Apache-2.0
// hd_decode_rows: its verdict on a command comes, and is that of ISA.md's rules about rows and held
// accumulators, written here as loops over rows and taps. The loops bound three fields (out_rows <=
// ROWS, kh <= TAPS, min(pool_row0, pool_oh) <= POOLED); every other field is free, within WIDTH bits.
// One rule at a time, the others satisfied: RULE 0 input rows, 1 pooled rows, 2 held accumulators,
// which has no loop and is proven for all values.
module hd_decode_rows_formal #(
    parameter int ROWS = 3,
    parameter int TAPS = 3,
    parameter int POOLED = 3,
    parameter int WAIT = 100,  // cycles from start to verdict
    parameter int RULE = 0,
    parameter int WIDTH = 16  // of pad_top, out_row0, in_row0 and ih, RULE 0 and 1
) (
    input logic clk_i
);
  (* anyconst *) logic [32*heddle_pkg::CONV_WORDS-1:0] cmd;
  logic [7:0] cycle_q = 8'd0;
  logic done, legal;
  hd_decode_rows dut (
      .clk_i, .rst_ni(cycle_q != 8'd0), .clear_i(1'b0), .start_i(cycle_q == 8'd1), .cmd_i(cmd),
      .done_o(done), .legal_o(legal)
  );

  logic [15:0] row0, rows, ih, in_row0, in_wrap, out_wrap, ow, co, pool_row0, pool_oh;
  logic [7:0] kh, dy;
  logic [3:0] sy, pool_k, pool_s, pool_pad;
  logic signed [15:0] pad_top;
  logic held, pools;
  assign row0 = cmd[32*14 +: 16];
  assign rows = cmd[32*13+16 +: 16];
  assign ow = cmd[32*13 +: 16];
  assign ih = cmd[32*8 +: 16];
  assign in_row0 = cmd[32*9 +: 16];
  assign in_wrap = cmd[32*9+16 +: 16];
  assign out_wrap = cmd[32*14+16 +: 16];
  assign co = cmd[32*18+16 +: 16];
  assign pool_oh = cmd[32*36 +: 16];
  assign pool_row0 = cmd[32*37 +: 16];
  assign kh = cmd[32*15 +: 8];
  assign sy = cmd[32*15+16 +: 4];
  assign dy = cmd[32*16 +: 8];
  assign pad_top = cmd[32*17 +: 16];
  assign pool_k = cmd[32*35 +: 4];
  assign pool_s = cmd[32*35+4 +: 4];
  assign pool_pad = cmd[32*35+8 +: 4];
  assign held = (cmd[32*4+8 +: 2] != 2'd0);
  assign pools = (cmd[32*4+17 +: 2] == 2'd1);

  logic ok;
  logic signed [21:0] iy, first;
  logic [15:0] blocks;
  logic [31:0] entries;
  always_comb begin
    ok = 1'b1;
    iy = '0;
    first = '0;
    blocks = '0;
    entries = '0;
    if ((in_wrap != 0) && ({16'd0, in_wrap} < ({24'd0, kh} - 32'd1) * {24'd0, dy} + 32'd1)) ok = 1'b0;
    if (in_wrap == 0) begin
      for (int i = 0; i < ROWS; i++) begin
        for (int j = 0; j < TAPS; j++) begin
          iy = $signed({6'd0, row0} + 22'(i)) * $signed({18'd0, sy}) - 22'(pad_top) +
              22'(j) * $signed({14'd0, dy});
          if ((16'(i) < rows) && (8'(j) < kh) && (iy >= 0) && (iy < $signed({6'd0, ih})) &&
              (iy < $signed({6'd0, in_row0})))
            ok = 1'b0;
        end
      end
    end
    if (pools && (out_wrap == 0)) begin
      for (int p = 0; p < POOLED; p++) begin
        first = 22'(p) * $signed({18'd0, pool_s}) - $signed({18'd0, pool_pad});
        if ((16'(p) < pool_row0) && (16'(p) < pool_oh) &&
            (first + $signed({18'd0, pool_k}) > $signed({6'd0, row0})) &&
            (first < $signed({6'd0, row0}) + $signed({6'd0, rows})))
          ok = 1'b0;
      end
    end
    // ceil(co/16) * rows * ow <= 256; no factor is 0, so none may be larger.
    blocks = {4'd0, co[15:4]} + {15'd0, co[3:0] != 4'd0};
    entries = {23'd0, blocks[8:0]} * {23'd0, rows[8:0]} * {23'd0, ow[8:0]};
`ifdef BROKEN_LIMIT
    if (held && ((blocks > 256) || (rows > 256) || (ow > 256) || (entries > 258))) ok = 1'b0;
`else
    if (held && ((blocks > 256) || (rows > 256) || (ow > 256) || (entries > 256))) ok = 1'b0;
`endif
  end

  logic verdict_q = 1'b0;
  always_ff @(posedge clk_i) begin
    cycle_q <= cycle_q + 8'd1;
    if (cycle_q != 8'd0 && done) verdict_q <= 1'b1;
    // What hd_decode_conv has checked (hd_decode_conv_formal).
    assume ((rows != 0) && ({16'd0, row0} + {16'd0, rows} <= 32'd65536));
    assume ((kh != 0) && (sy != 0) && (dy != 0) && (ih != 0) && (ow != 0) && (co != 0));
    assume (cmd[32*4 +: 2] != 2'd3 || (!held && !pools));   // maxpool
    assume (!pools || (!cmd[32*4+9] && !cmd[32*4+7]));      // codes are made
    assume (!pools || ((pool_k != 0) && (pool_s != 0) && (pool_pad < pool_k)));
    if (RULE == 0) begin
      assume (!held && !pools && (rows <= ROWS) && (kh <= TAPS));
    end else begin
      assume ((in_wrap == 0) && (in_row0 == 0));
    end
    if (RULE == 1) assume (!held && pools && ((pool_row0 <= POOLED) || (pool_oh <= POOLED)));
    if (RULE == 2) assume (held && !pools);
    if (RULE != 2) begin
      assume (((row0 | in_row0 | ih) >> WIDTH) == 0);
      assume (pad_top < (1 << (WIDTH - 1)) && pad_top >= -(1 << (WIDTH - 1)));
    end
    if (cycle_q > 8'd1) begin
      if (done) assert (legal == ok);
      assert (cycle_q != 8'(WAIT) || done || verdict_q);
    end
  end
endmodule
