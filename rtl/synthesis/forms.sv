// SPDX-License-Identifier: Apache-2.0
// Forms of which yosys 0.23 makes something else than is meant (forms_test.sh).
//
// Loop counters: in its first round a loop has the literal it starts from in place of the counter, with
// the literal's sign, whatever the counter is declared as: with `k = 0`, 4'(k + 8) is the signed number
// -8 once, and no element of an array. A genvar is signed in every round, by the language: x[4'(g)] is
// x[-8] for yosys and for Icarus, while Verilator takes the bits.
//
// Arrays of structs, packed or not: yosys makes one struct, and x[n] is its bit n; nothing is said.
//
// An inout of a task: what the task writes to it never comes back; nothing is said.
//
// Each module is meant to give same_o = 1 for all inputs. What yosys makes of wrong_* does not.

module wrong_loop_index (
    input  logic [7:0] d_i,
    output logic       same_o
);
  logic [7:0] x [0:15];
  logic [31:0] k;
  always_comb begin
    for (k = 0; k < 8; k = k + 1) begin
      x[k[3:0]] = 8'd0;
      x[4'(k + 8)] = d_i;
    end
  end
  assign same_o = (x[8] == d_i) && (x[9] == d_i) && (x[0] == 8'd0);
endmodule

module right_loop_index (
    input  logic [7:0] d_i,
    output logic       same_o
);
  logic [7:0] x [0:15];
  logic [31:0] k;
  always_comb begin
    for (k = 32'd0; k < 8; k = k + 1) begin
      x[k[3:0]] = 8'd0;
      x[k[3:0] + 4'd8] = d_i;
    end
  end
  assign same_o = (x[8] == d_i) && (x[9] == d_i) && (x[0] == 8'd0);
endmodule

// Not an index: 0 - 1 is less than 5 where it has a sign.
module wrong_loop_start (
    input  logic [7:0] d_i,
    output logic       same_o
);
  logic [7:0] sum;
  logic [31:0] k;
  always_comb begin
    sum = d_i;
    for (k = 0; k < 2; k = k + 1) if (k - 1 < 5) sum = sum + 8'd1;
  end
  assign same_o = (sum == d_i + 8'd1);
endmodule

module right_loop_start (
    input  logic [7:0] d_i,
    output logic       same_o
);
  logic [7:0] sum;
  logic [31:0] k;
  always_comb begin
    sum = d_i;
    for (k = 32'd0; k < 2; k = k + 1) if (k - 1 < 5) sum = sum + 8'd1;
  end
  assign same_o = (sum == d_i + 8'd1);
endmodule

module wrong_genvar_index (
    input  logic [7:0] d_i,
    output logic       same_o
);
  logic [7:0] x [0:15];
  for (genvar g = 0; g < 16; g++) begin : g_x
    assign x[4'(g)] = d_i;
  end
  assign same_o = (x[8] == d_i) && (x[7] == d_i);
endmodule

module right_genvar_index (
    input  logic [7:0] d_i,
    output logic       same_o
);
  logic [7:0] x [0:15];
  for (genvar g = 0; g < 16; g++) begin : g_x
    assign x[g] = d_i;
  end
  assign same_o = (x[8] == d_i) && (x[7] == d_i);
endmodule

module wrong_struct_array (
    input  logic [7:0] d_i,
    output logic       same_o
);
  typedef struct packed {
    logic [3:0] hi;
    logic [3:0] lo;
  } pair_t;
  pair_t x [0:1];
  assign x[0] = ~d_i;
  assign x[1] = d_i;
  assign same_o = (x[1] == d_i) && (x[0] == ~d_i);
endmodule

module wrong_struct_packed (
    input  logic [7:0] d_i,
    output logic       same_o
);
  typedef struct packed {
    logic [3:0] hi;
    logic [3:0] lo;
  } pair_t;
  pair_t [1:0] x;
  assign x[0] = ~d_i;
  assign x[1] = d_i;
  assign same_o = (x[1] == d_i) && (x[0] == ~d_i);
endmodule

module right_struct_array (
    input  logic [7:0] d_i,
    output logic       same_o
);
  typedef struct packed {
    logic [3:0] hi;
    logic [3:0] lo;
  } pair_t;
  pair_t one;
  logic [$bits(one)-1:0] x [0:1];
  assign x[0] = ~d_i;
  assign x[1] = d_i;
  assign one = x[1];
  assign same_o = (one == d_i) && (x[0] == ~d_i) && (one.hi == d_i[7:4]);
endmodule

module wrong_task_inout (
    input  logic [7:0] d_i,
    output logic       same_o
);
  logic [7:0] x;
  task automatic replace(input logic [7:0] by, inout logic [7:0] y);
    if (y < by) y = by;
  endtask
  always_comb begin
    x = 8'd17;
    replace(d_i, x);
  end
  assign same_o = (x == (d_i > 8'd17 ? d_i : 8'd17));
endmodule

module right_task_output (
    input  logic [7:0] d_i,
    output logic       same_o
);
  logic [7:0] x;
  task automatic replace(input logic [7:0] by, input logic [7:0] y, output logic [7:0] z);
    z = y;
    if (y < by) z = by;
  endtask
  always_comb replace(d_i, 8'd17, x);
  assign same_o = (x == (d_i > 8'd17 ? d_i : 8'd17));
endmodule
