// SPDX-License-Identifier: Apache-2.0
// The rules between fields of `vrun` and `vmac` (combinational; 1 for every other opcode). Fields of
// streams and features that are switched off are not looked at. Micro-instructions are not here:
// they are read from SRAM when the command runs.
module hd_decode_vector (
    input  logic          check_i,  // 0: nothing is computed
    input  logic [32*heddle_pkg::VRUN_WORDS-1:0] cmd_i,
    output logic          legal_o
);
  // log2 of the bytes of an element.
  function automatic [1:0] element_log2(input [3:0] element);
    case (element)
      heddle_pkg::ELEMENT_TYPE_U8, heddle_pkg::ELEMENT_TYPE_S8: element_log2 = 2'd0;
      heddle_pkg::ELEMENT_TYPE_U16, heddle_pkg::ELEMENT_TYPE_S16, heddle_pkg::ELEMENT_TYPE_F16,
      heddle_pkg::ELEMENT_TYPE_BF16:
      element_log2 = 2'd1;
      default: element_log2 = 2'd2;
    endcase
  endfunction

  function automatic multiple(input [1:0] low, input [1:0] log2);
    multiple = (log2 == 2'd0) || (!low[0] && ((log2 == 2'd1) || !low[1]));
  endfunction

  function automatic is_float(input [3:0] element);
    is_float = (element == heddle_pkg::ELEMENT_TYPE_F16) ||
               (element == heddle_pkg::ELEMENT_TYPE_BF16) ||
               (element == heddle_pkg::ELEMENT_TYPE_F32);
  endfunction

  // Base and the seven strides of a stream's words are multiples of the element.
  function automatic stream_rule(input [32*heddle_pkg::STREAM_WORDS-1:0] cmd_group);
    stream_rule = multiple(
        cmd_group[1:0] | cmd_group[33:32] | cmd_group[65:64] | cmd_group[97:96] |
        cmd_group[129:128] | cmd_group[161:160] | cmd_group[193:192] | cmd_group[225:224],
        element_log2(cmd_group[27:24]));
  endfunction

  heddle_pkg::vrun_t cmd_run;
  heddle_pkg::vmac_t cmd_mac;
  assign cmd_run = cmd_i;
  assign cmd_mac = cmd_i;

  logic rule_a, rule_b, rule_c, rule_d, stores;
  always_comb begin
    legal_o = 1'b1;
    rule_a = 1'b0;
    rule_b = 1'b0;
    rule_c = 1'b0;
    rule_d = 1'b0;
    stores = 1'b0;
    if (check_i && ((cmd_i[7:0] == heddle_pkg::OP_VRUN) ||
                    (cmd_i[7:0] == heddle_pkg::OP_VMAC))) begin
      // Both instructions have their streams in the same words.
      rule_a = stream_rule(cmd_i[32*heddle_pkg::VRUN_A_WORD +: 32*heddle_pkg::STREAM_WORDS]);
      rule_b = stream_rule(cmd_i[32*heddle_pkg::VRUN_B_WORD +: 32*heddle_pkg::STREAM_WORDS]);
      rule_c = stream_rule(cmd_i[32*heddle_pkg::VRUN_C_WORD +: 32*heddle_pkg::STREAM_WORDS]);
      rule_d = stream_rule(cmd_i[32*heddle_pkg::VRUN_D_WORD +: 32*heddle_pkg::STREAM_WORDS]);
      if (cmd_i[7:0] == heddle_pkg::OP_VRUN) begin
        stores = (cmd_run.store != heddle_pkg::STORE_MODE_NONE);
        if ({2'd0, cmd_run.prologue} + {2'd0, cmd_run.body} + {2'd0, cmd_run.epilogue} >
            heddle_pkg::VECTOR_PROGRAM_MAX[10:0])
          legal_o = 1'b0;
        if (cmd_run.store_one && !stores) legal_o = 1'b0;
        if (cmd_run.gather_a) begin
          if (!cmd_run.enable_a || !cmd_run.enable_c) legal_o = 1'b0;
          if (!multiple(cmd_run.index_stride[1:0], element_log2(cmd_run.a_type))) legal_o = 1'b0;
        end
        if (cmd_run.pick_a) begin
          if (!cmd_run.enable_a || cmd_run.gather_a) legal_o = 1'b0;
          if (!multiple(cmd_run.index_stride[1:0], element_log2(cmd_run.a_type))) legal_o = 1'b0;
        end
        if (cmd_run.scatter_d) begin
          if (!stores || !cmd_run.enable_c) legal_o = 1'b0;
          if (!multiple(cmd_run.index_stride[1:0], element_log2(cmd_run.d_type))) legal_o = 1'b0;
        end
        if ((cmd_run.gather_a || cmd_run.scatter_d) &&
            (cmd_run.c_type != heddle_pkg::ELEMENT_TYPE_S32))
          legal_o = 1'b0;
        if (cmd_run.enable_a && !rule_a) legal_o = 1'b0;
        if (cmd_run.enable_b && !rule_b) legal_o = 1'b0;
        if (cmd_run.enable_c && !rule_c) legal_o = 1'b0;
        if (stores && !rule_d) legal_o = 1'b0;
      end else begin
        if (!is_float(cmd_mac.a_type) || !rule_a) legal_o = 1'b0;
        if (!is_float(cmd_mac.b_type) || !rule_b) legal_o = 1'b0;
        if (cmd_mac.initial_ && (!is_float(cmd_mac.c_type) || !rule_c)) legal_o = 1'b0;
        if (!is_float(cmd_mac.d_type) || !rule_d) legal_o = 1'b0;
      end
    end
  end
endmodule
