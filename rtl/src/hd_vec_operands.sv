// SPDX-License-Identifier: Apache-2.0
// Registers of the vector engine and the choice of operands.
//
//   cycle 0   en_i: an instruction is issued; the RAMs take its register numbers; its other operands,
//             the operation and the tag go into registers
//   cycle 1   en_o: operands, operation and tag, for the lanes
//
// 17 registers (v0 .. v15 and `out`) x 8 slots x 64 bytes = 8.5 KiB, three read ports and one write port:
// three copies of a RAM with one of each, entry {register, slot}. Who issues sees to it that an entry is
// not read in the cycle in which it is written.
module hd_vec_operands (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         en_i,
    input  logic [7:0]   op_i,
    input  logic [8:0]   tag_i,
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
    output logic         en_o,
    output logic [7:0]   op_o,
    output logic [8:0]   tag_o,
    output logic [511:0] a_o,
    output logic [511:0] b_o,
    output logic [511:0] c_o,
    input  logic         write_i,
    input  logic [4:0]   write_reg_i,
    input  logic [2:0]   write_slot_i,
    input  logic [511:0] write_data_i
);
  localparam int ENTRIES = (heddle_pkg::VECTOR_REGISTERS + 1) * hd_vec_pkg::SLOTS;

  // What has the same form for all operands.
  logic [511:0] index, valid;
  for (genvar l = 0; l < 16; l++) begin : g_lane
    assign index[32*l +: 32] = {16'd0, e_i} + l;
    assign valid[32*l +: 32] = (lanes_i > 5'(l)) ? 32'hffffffff : 32'd0;
  end

  logic [4:0] name [0:2];
  logic [511:0] x [0:2];
  assign name[0] = a_i;
  assign name[1] = b_i;
  assign name[2] = c_i;
  logic en_q;
  for (genvar k = 0; k < 3; k++) begin : g_operand
    logic read, from_ram_q;
    logic [511:0] from_ram, other, other_q;
    assign read = en_i && reg_i[k] && !zero_i[k];
    hd_ram_1r1w #(
        .W    (512),
        .DEPTH(ENTRIES)
    ) u_file (
        .clk_i  (clk_i),
        .write_i(write_i),
        .waddr_i({write_reg_i, write_slot_i}),
        .wdata_i(write_data_i),
        .read_i (read),
        .raddr_i({name[k], slot_i}),
        .rdata_o(from_ram)
    );
    always_comb begin
      other = '0;
      if (en_i && !reg_i[k]) begin
        case (name[k])
          heddle_pkg::OPERAND_STREAM_A: other = stream_a_i;
          heddle_pkg::OPERAND_STREAM_B: other = stream_b_i;
          heddle_pkg::OPERAND_STREAM_C: other = stream_c_i;
          heddle_pkg::OPERAND_LANE: other = index;
          heddle_pkg::OPERAND_VALID: other = valid;
          heddle_pkg::OPERAND_ARG0: other = {16{args_i[31:0]}};
          heddle_pkg::OPERAND_ARG1: other = {16{args_i[63:32]}};
          heddle_pkg::OPERAND_ARG2: other = {16{args_i[95:64]}};
          heddle_pkg::OPERAND_ARG3: other = {16{args_i[127:96]}};
          hd_vec_pkg::OPERAND_STRIDE: other = {16{8'd0, stride_i}};
          heddle_pkg::OPERAND_INDEX_R: other = {16{16'd0, r1_i}};
          default: other = {16{imm_i}};
        endcase
      end
    end
    always_ff @(posedge clk_i) begin
      if (en_i) begin
        from_ram_q <= read;
        if (!read) other_q <= other;
      end
    end
    assign x[k] = !en_q ? '0 : from_ram_q ? from_ram : other_q;
  end

  logic tree_q;
  logic [1:0] round_q;
  logic [7:0] op_q;
  logic [8:0] tag_q;
  always_ff @(posedge clk_i) begin
    en_q <= rst_ni && en_i;
    if (en_i) begin
      op_q <= op_i;
      tag_q <= tag_i;
      tree_q <= tree_i;
      round_q <= round_i;
    end
  end
  assign en_o = en_q;
  assign op_o = op_q;
  assign tag_o = tag_q;

  // Lane l and its partner, the lower one first.
  logic [511:0] low, high;
  always_comb begin
    low = '0;
    high = '0;
    if (en_q && tree_q) begin
      case (round_q)
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
  assign a_o = tree_q ? low : x[0];
  assign b_o = tree_q ? high : x[1];
  assign c_o = x[2];
endmodule
