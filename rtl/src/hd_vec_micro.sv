// SPDX-License-Identifier: Apache-2.0
// Decoder of one micro-instruction (combinational): is it legal for a command that uses the streams
// enable_i = {c, b, a}, which operands it takes, and what a lane does. With pick_i stream A is read by
// `pick` only.
module hd_vec_micro (
    input  logic [63:0] micro_i,
    input  logic [2:0]  enable_i,
    input  logic        pick_i,
    output logic        legal_o,
    output logic        takes_b_o,
    output logic        takes_c_o,
    output logic        tree_o,      // over the lanes: four steps
    output logic        pick_o,      // two steps: indices to stream A, its elements from there
    output logic [7:0]  op_o,        // what a lane does (for a tree: of two lanes)
    output logic [2:0]  streams_o    // streams it names {c, b, a}
);
  heddle_pkg::micro_t m;
  assign m = micro_i;

  logic known, takes_b, takes_c;
  always_comb begin
    known = 1'b1;
    takes_b = 1'b1;
    takes_c = 1'b0;
    tree_o = 1'b0;
    pick_o = 1'b0;
    op_o = m.op;
    case (m.op)
      heddle_pkg::UOP_SEL, heddle_pkg::UOP_FFMA: takes_c = 1'b1;
      heddle_pkg::UOP_MOV, heddle_pkg::UOP_F2I, heddle_pkg::UOP_F2I_TRUNC, heddle_pkg::UOP_I2F,
      heddle_pkg::UOP_FSQRT, heddle_pkg::UOP_RHALF, heddle_pkg::UOP_RBF:
      takes_b = 1'b0;
      heddle_pkg::UOP_PICK: begin
        takes_b = 1'b0;
        pick_o = 1'b1;
        known = pick_i;
      end
      heddle_pkg::UOP_HSUM, heddle_pkg::UOP_HMAX, heddle_pkg::UOP_HMIN, heddle_pkg::UOP_HISUM,
      heddle_pkg::UOP_HIMAX, heddle_pkg::UOP_HIMIN: begin
        takes_b = 1'b0;
        tree_o = 1'b1;
        case (m.op)
          heddle_pkg::UOP_HSUM: op_o = heddle_pkg::UOP_FADD;
          heddle_pkg::UOP_HMAX: op_o = heddle_pkg::UOP_FMAX;
          heddle_pkg::UOP_HMIN: op_o = heddle_pkg::UOP_FMIN;
          heddle_pkg::UOP_HISUM: op_o = heddle_pkg::UOP_IADD;
          heddle_pkg::UOP_HIMAX: op_o = heddle_pkg::UOP_IMAX;
          default: op_o = heddle_pkg::UOP_IMIN;
        endcase
      end
      heddle_pkg::UOP_FADD, heddle_pkg::UOP_FSUB, heddle_pkg::UOP_FMUL, heddle_pkg::UOP_FDIV,
      heddle_pkg::UOP_FMIN,
      heddle_pkg::UOP_FMAX, heddle_pkg::UOP_FLT, heddle_pkg::UOP_FLE, heddle_pkg::UOP_FEQ,
      heddle_pkg::UOP_IADD, heddle_pkg::UOP_ISUB, heddle_pkg::UOP_IMUL, heddle_pkg::UOP_IAND,
      heddle_pkg::UOP_IOR, heddle_pkg::UOP_IXOR, heddle_pkg::UOP_ISHL, heddle_pkg::UOP_ISHR,
      heddle_pkg::UOP_ISAR, heddle_pkg::UOP_IMIN, heddle_pkg::UOP_IMAX, heddle_pkg::UOP_ILT,
      heddle_pkg::UOP_IEQ, heddle_pkg::UOP_ILTU, heddle_pkg::UOP_IDIV, heddle_pkg::UOP_IDIVU: ;
      default: known = 1'b0;
    endcase
  end

  function automatic named(input [4:0] s, input [4:0] a, input [4:0] b, input [4:0] c);
    named = a == s || b == s || c == s;
  endfunction

  // Operands that it does not take are zero (register v0), so all three may be looked at.
  logic imm;
  assign imm = m.a == heddle_pkg::OPERAND_IMM || (takes_b && m.b == heddle_pkg::OPERAND_IMM) ||
      (takes_c && m.c == heddle_pkg::OPERAND_IMM);
  logic plain;
  assign plain = named(heddle_pkg::OPERAND_STREAM_A, m.a, m.b, m.c);
  assign streams_o = {named(heddle_pkg::OPERAND_STREAM_C, m.a, m.b, m.c),
                      named(heddle_pkg::OPERAND_STREAM_B, m.a, m.b, m.c), plain || pick_o};
  assign legal_o = known && m.rsvd_28 == 0 && m.d <= heddle_pkg::DESTINATION_OUT &&
      m.a <= heddle_pkg::OPERAND_VALID && m.b <= heddle_pkg::OPERAND_VALID &&
      m.c <= heddle_pkg::OPERAND_VALID && (takes_b || m.b == 0) && (takes_c || m.c == 0) &&
      (imm || m.imm == 0) && (streams_o & ~enable_i) == 0 && !(plain && pick_i);
  assign takes_b_o = takes_b;
  assign takes_c_o = takes_c;
endmodule
