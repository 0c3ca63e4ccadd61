// SPDX-License-Identifier: Apache-2.0
// Registers of the vector engine and the choice of operands (combinational, in the cycle of issue).
//
// 17 registers (v0 .. v15 and `out`) x 8 slots x 64 bytes = 8.5 KiB, three read ports and one write port
// (three copies of 1R1W memory in silicon), entry {register, slot}.
module hd_vec_operands (
    input  logic         clk_i,
    input  logic         en_i,
    input  logic [4:0]   a_i,
    input  logic [4:0]   b_i,
    input  logic [4:0]   c_i,
    input  logic [2:0]   reg_i,
    input  logic [2:0]   zero_i,
    input  logic         tree_i,
    input  logic [1:0]   round_i,
    input  logic [31:0]  imm_i,
    input  logic [2:0]   slot_i,
    input  logic [4:0]   lanes_i,
    input  logic [15:0]  e_i,
    input  logic [15:0]  r1_i,
    input  logic [127:0] args_i,        // arg3 .. arg0
    input  logic [23:0]  stride_i,      // OPERAND_STRIDE
    input  logic [511:0] stream_a_i,
    input  logic [511:0] stream_b_i,
    input  logic [511:0] stream_c_i,
    output logic [511:0] a_o,
    output logic [511:0] b_o,
    output logic [511:0] c_o,
    input  logic         write_i,
    input  logic [4:0]   write_reg_i,
    input  logic [2:0]   write_slot_i,
    input  logic [511:0] write_data_i
);
  logic [511:0] file_q [0:17*hd_vec_pkg::SLOTS-1];
  always_ff @(posedge clk_i) begin
    if (write_i) file_q[{write_reg_i, write_slot_i}] <= write_data_i;
  end

  // What has the same form for all operands.
  logic [511:0] index, valid;
  for (genvar l = 0; l < 16; l++) begin : g_lane
    assign index[32*l +: 32] = {16'd0, e_i} + l;
    assign valid[32*l +: 32] = (lanes_i > 5'(l)) ? 32'hffffffff : 32'd0;
  end

  logic [4:0] name [0:2];
  logic [511:0] x [0:2];
  logic [31:0] scalar;
  assign name[0] = a_i;
  assign name[1] = b_i;
  assign name[2] = c_i;
  always_comb begin
    scalar = '0;
    for (int k = 0; k < 3; k++) x[k] = '0;
    if (en_i) begin
      for (int k = 0; k < 3; k++) begin
        if (reg_i[k]) begin
          if (!zero_i[k]) x[k] = file_q[{name[k], slot_i}];
        end else begin
          case (name[k])
            heddle_pkg::OPERAND_STREAM_A: x[k] = stream_a_i;
            heddle_pkg::OPERAND_STREAM_B: x[k] = stream_b_i;
            heddle_pkg::OPERAND_STREAM_C: x[k] = stream_c_i;
            heddle_pkg::OPERAND_LANE: x[k] = index;
            heddle_pkg::OPERAND_VALID: x[k] = valid;
            default: begin
              case (name[k])
                heddle_pkg::OPERAND_ARG0: scalar = args_i[31:0];
                heddle_pkg::OPERAND_ARG1: scalar = args_i[63:32];
                heddle_pkg::OPERAND_ARG2: scalar = args_i[95:64];
                heddle_pkg::OPERAND_ARG3: scalar = args_i[127:96];
                hd_vec_pkg::OPERAND_STRIDE: scalar = {8'd0, stride_i};
                heddle_pkg::OPERAND_INDEX_R: scalar = {16'd0, r1_i};
                default: scalar = imm_i;
              endcase
              x[k] = {16{scalar}};
            end
          endcase
        end
      end
    end
  end

  // Lane l and its partner, the lower one first.
  logic [511:0] low, high;
  always_comb begin
    low = '0;
    high = '0;
    if (en_i && tree_i) begin
      case (round_i)
        2'd0: begin
          low = {2{x[0][255:0]}};
          high = {2{x[0][511:256]}};
        end
        2'd1: begin
          low = {{2{x[0][383:256]}}, {2{x[0][127:0]}}};
          high = {{2{x[0][511:384]}}, {2{x[0][255:128]}}};
        end
        2'd2: begin
          low = {{2{x[0][447:384]}}, {2{x[0][319:256]}}, {2{x[0][191:128]}}, {2{x[0][63:0]}}};
          high = {{2{x[0][511:448]}}, {2{x[0][383:320]}}, {2{x[0][255:192]}}, {2{x[0][127:64]}}};
        end
        default: begin
          low = {{2{x[0][479:448]}}, {2{x[0][415:384]}}, {2{x[0][351:320]}}, {2{x[0][287:256]}},
                 {2{x[0][223:192]}}, {2{x[0][159:128]}}, {2{x[0][95:64]}}, {2{x[0][31:0]}}};
          high = {{2{x[0][511:480]}}, {2{x[0][447:416]}}, {2{x[0][383:352]}}, {2{x[0][319:288]}},
                  {2{x[0][255:224]}}, {2{x[0][191:160]}}, {2{x[0][127:96]}}, {2{x[0][63:32]}}};
        end
      endcase
    end
  end
  assign a_o = tree_i ? low : x[0];
  assign b_o = tree_i ? high : x[1];
  assign c_o = x[2];
endmodule
