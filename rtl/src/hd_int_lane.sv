// SPDX-License-Identifier: Apache-2.0
// Integer and move operations of LANES 32-bit lanes; op_i is a code of the micro-instructions
// (ISA.md): mov, sel, iadd .. iltu. Comparisons and extremes are of int32, iltu's of uint32; shifts
// take b mod 32. Any other code gives zero.
// Pipeline: operands into registers with en_i (cycle 0), y_o in cycle 1 when valid_o
// is set, otherwise zero.
module hd_int_lane #(
    parameter int LANES = 16
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                en_i,
    input  logic [7:0]          op_i,
    input  logic [32*LANES-1:0] a_i,
    input  logic [32*LANES-1:0] b_i,
    input  logic [32*LANES-1:0] c_i,
    output logic                valid_o,
    output logic [32*LANES-1:0] y_o
);
  localparam [31:0] N = LANES;
  localparam [31:0] SIGN = 32'h80000000;
  localparam int B = LANES > 1 ? $clog2(LANES) : 1;

  logic valid_q;
  logic [7:0] op_q;
  logic [32*LANES-1:0] a_q;
  logic [32*LANES-1:0] b_q;
  logic [32*LANES-1:0] c_q;

  assign valid_o = valid_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && en_i;
    if (en_i) begin
      op_q <= op_i;
      a_q <= a_i;
      b_q <= b_i;
      c_q <= c_i;
    end
  end

  // A loop per operation, so that only one of them is simulated. int32 are compared as unsigned
  // numbers, 2^31 added.
  always_comb begin : lanes
    logic [31:0] l, av, bv, cv;
    l = 0; av = 0; bv = 0; cv = 0;
    y_o = '0;
    if (valid_q) begin
      case (op_q)
        heddle_pkg::UOP_MOV:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av;
          end
        heddle_pkg::UOP_SEL:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            cv = c_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av != 32'd0 ? bv : cv;
          end
        heddle_pkg::UOP_IADD:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av + bv;
          end
        heddle_pkg::UOP_ISUB:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av - bv;
          end
        heddle_pkg::UOP_IMUL:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av * bv;
          end
        heddle_pkg::UOP_IAND:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av & bv;
          end
        heddle_pkg::UOP_IOR:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av | bv;
          end
        heddle_pkg::UOP_IXOR:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av ^ bv;
          end
        heddle_pkg::UOP_ISHL:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av << bv[4:0];
          end
        heddle_pkg::UOP_ISHR:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av >> bv[4:0];
          end
        heddle_pkg::UOP_ISAR:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = (av >> bv[4:0]) | (av[31] ? ~(32'hffffffff >> bv[4:0]) : 32'd0);
          end
        heddle_pkg::UOP_IMIN:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = (av ^ SIGN) < (bv ^ SIGN) ? av : bv;
          end
        heddle_pkg::UOP_IMAX:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = (av ^ SIGN) > (bv ^ SIGN) ? av : bv;
          end
        heddle_pkg::UOP_ILT:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = (av ^ SIGN) < (bv ^ SIGN) ? 32'hffffffff : 32'd0;
          end
        heddle_pkg::UOP_IEQ:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av == bv ? 32'hffffffff : 32'd0;
          end
        heddle_pkg::UOP_ILTU:
          for (l = 32'd0; l < N; l = l + 1) begin
            av = a_q[{l[B-1:0], 5'd0} +: 32];
            bv = b_q[{l[B-1:0], 5'd0} +: 32];
            y_o[{l[B-1:0], 5'd0} +: 32] = av < bv ? 32'hffffffff : 32'd0;
          end
        default: y_o = '0;
      endcase
    end
  end
endmodule
