// SPDX-License-Identifier: Apache-2.0
// The rules between fields of `conv` that need no product (combinational). Those of rows and of
// held accumulators are in hd_decode_rows.
module hd_decode_conv (
    input  logic          check_i,  // 0: nothing is computed
    input  logic [32*heddle_pkg::CONV_WORDS-1:0] cmd_i,
    output logic          legal_o
);
  // The value with these bits 15:7 is one of the 8-bit type.
  function automatic in_type(input [8:0] high, input is_signed);
    in_type = is_signed ? (high == '0) || (high == '1) : (high[8:1] == '0);
  endfunction

  heddle_pkg::conv_t cmd_conv;
  assign cmd_conv = cmd_i;

  // A fold step passes at most 48 bytes: three words, what a row port can fetch ahead.
  localparam [7:0] FOLD_STEP_MAX = 8'd48;

  logic fold, maxpool, held, wide, extra, codes, out_s8;
  logic [7:0] fold_step;
  always_comb begin
    legal_o = 1'b1;
    fold = 1'b0;
    maxpool = 1'b0;
    held = 1'b0;
    wide = 1'b0;
    extra = 1'b0;
    codes = 1'b0;
    out_s8 = 1'b0;
    fold_step = '0;
    if (check_i) begin
      fold = (cmd_conv.mode == heddle_pkg::MATRIX_MODE_FOLD);
      maxpool = (cmd_conv.mode == heddle_pkg::MATRIX_MODE_MAXPOOL);
      held = cmd_conv.acc_continue || cmd_conv.acc_hold;
      wide = (cmd_conv.out_type == heddle_pkg::OUT_TYPE_I32) ||
             (cmd_conv.out_type == heddle_pkg::OUT_TYPE_F32);
      out_s8 = (cmd_conv.out_type == heddle_pkg::OUT_TYPE_S8);
      extra = cmd_conv.lut || (cmd_conv.res_op != heddle_pkg::RESIDUAL_OP_NONE) ||
              (cmd_conv.pool != heddle_pkg::POOL_KIND_NONE);
      fold_step = {4'd0, cmd_conv.sx} * {4'd0, cmd_conv.fold_channels};

      // All modes.
      if (cmd_conv.out_rows - 16'd1 > ~cmd_conv.out_row0) legal_o = 1'b0;  // row 65536
      if ((cmd_conv.w_mode != heddle_pkg::WEIGHT_MODE_PACKED) &&
          ((cmd_conv.mode != heddle_pkg::MATRIX_MODE_CONV) ||
           (cmd_conv.kh != 8'd1) || (cmd_conv.kw != 8'd1)))
        legal_o = 1'b0;
      if (((cmd_conv.mode == heddle_pkg::MATRIX_MODE_DEPTHWISE) || maxpool) &&
          ((cmd_conv.ci != cmd_conv.co) || held))
        legal_o = 1'b0;
      if (fold ? (cmd_conv.fold_channels == 4'd0) ||
                 (cmd_conv.ci != {12'd0, cmd_conv.fold_channels})
               : (cmd_conv.fold_channels != 4'd0))
        legal_o = 1'b0;
      if (fold_step > FOLD_STEP_MAX) legal_o = 1'b0;

      if (maxpool) begin
        if (wide || (out_s8 != cmd_conv.in_signed)) legal_o = 1'b0;
        if (extra || cmd_conv.bias_f32 || cmd_conv.zw_channel) legal_o = 1'b0;
      end else begin
        if (!in_type(cmd_conv.za[15:7], cmd_conv.in_signed)) legal_o = 1'b0;
        if (!in_type(cmd_conv.zw[15:7], cmd_conv.w_signed)) legal_o = 1'b0;
        if ((cmd_conv.acc_hold || wide) && extra) legal_o = 1'b0;
        if (cmd_conv.bias_f32 && (cmd_conv.out_type != heddle_pkg::OUT_TYPE_F32)) legal_o = 1'b0;

        // The output stage, where it makes codes.
        codes = !wide && !cmd_conv.acc_hold;
        if (codes) begin
          if (!in_type(cmd_conv.zo[15:7], out_s8)) legal_o = 1'b0;
          if (cmd_conv.act_min > cmd_conv.act_max) legal_o = 1'b0;
          if ((cmd_conv.res_op != heddle_pkg::RESIDUAL_OP_NONE) &&
              ((cmd_conv.res_min > cmd_conv.res_max) || !in_type(cmd_conv.res_min[15:7], out_s8) ||
               !in_type(cmd_conv.res_max[15:7], out_s8)))
            legal_o = 1'b0;
          if ((cmd_conv.pool == heddle_pkg::POOL_KIND_AVERAGE) &&
              ((cmd_conv.out_wrap != 16'd0) || !in_type(cmd_conv.pool_zero_in[15:7], out_s8) ||
               !in_type(cmd_conv.pool_zero_out[15:7], out_s8)))
            legal_o = 1'b0;
          if ((cmd_conv.pool == heddle_pkg::POOL_KIND_MAX) &&
              ((cmd_conv.pool_k == 4'd0) || (cmd_conv.pool_s == 4'd0) ||
               (cmd_conv.pool_pad >= cmd_conv.pool_k)))
            legal_o = 1'b0;
        end
      end
    end
  end
endmodule
