// SPDX-License-Identifier: Apache-2.0
// Types and small functions that the units of the vector engine share.
//
// A *group* is one (o3, o2, o1, chunk) of vrun or vmac: 16 lanes with their own registers. A *strip*
// is up to SLOTS groups that follow each other along one of the four dimensions and run together,
// each in a slot of its own. A *line* is 64 bytes of SRAM, the four words that the engine's four
// ports fetch or write in one cycle.
package hd_vec_pkg;

  localparam int SLOTS = 8;
  localparam int BA = 20;    // SRAM byte address: hd_pkg::AW + 4 (yosys wants a number here)
  localparam int LA = 14;    // SRAM line address: hd_pkg::AW - 2
  localparam int WAYS = 8;             // lines per bank of a stream's line buffer (two banks)

  localparam [1:0] SEC_PROLOGUE = 2'd0;
  localparam [1:0] SEC_BODY = 2'd1;
  localparam [1:0] SEC_EPILOGUE = 2'd2;

  // Codes that no program has: the operand index_stride, and the destination of indices.
  localparam [4:0] OPERAND_STRIDE = 5'd31;
  localparam [4:0] DESTINATION_PICK = 5'd31;

  // Who asks for a line.
  localparam [2:0] SRC_A = 3'd0;
  localparam [2:0] SRC_B = 3'd1;
  localparam [2:0] SRC_C = 3'd2;
  localparam [2:0] SRC_INDEX = 3'd3;
  localparam [2:0] SRC_PROGRAM = 3'd4;

  // Loops of a command.
  typedef struct packed {
    logic        strips;  // SLOTS groups at a time
    logic [1:0]  dim;     // along chunk, o1, o2 or o3
    logic [15:0] lanes;
    logic [12:0] chunks;
    logic [15:0] n_r1;
    logic [15:0] n_r2;
    logic [15:0] n_r3;
    logic [15:0] n_o1;
    logic [15:0] n_o2;
    logic [15:0] n_o3;
    logic [3:0]  tail;
  } loops_t;

  // A stream whose elements have passed the bounds check: everything modulo 2^BA.
  typedef struct packed {
    logic [3:0]    kind;      // ELEMENT_TYPE_*
    logic          negative;  // sign of the lane stride
    logic [BA-1:0] base;
    logic [BA-1:0] lane;
    logic [BA-1:0] r1;
    logic [BA-1:0] r2;
    logic [BA-1:0] r3;
    logic [BA-1:0] o1;
    logic [BA-1:0] o2;
    logic [BA-1:0] o3;
  } stream_t;

  // How often a unit does its work in each section (micro-instructions, operands, stores).
  typedef struct packed {
    logic [8:0] prologue;
    logic [8:0] body;
    logic [8:0] epilogue;
  } counts_t;

  // log2 of the element size.
  function automatic [1:0] log2_bytes(input [3:0] kind);
    case (kind)
      heddle_pkg::ELEMENT_TYPE_U8, heddle_pkg::ELEMENT_TYPE_S8: log2_bytes = 2'd0;
      heddle_pkg::ELEMENT_TYPE_U16, heddle_pkg::ELEMENT_TYPE_S16, heddle_pkg::ELEMENT_TYPE_F16,
      heddle_pkg::ELEMENT_TYPE_BF16:
      log2_bytes = 2'd1;
      default: log2_bytes = 2'd2;
    endcase
  endfunction

  // fp16 to the f32 of the same value; a NaN becomes the quiet NaN.
  function automatic [31:0] f16_to_f32(input [15:0] h);
    reg [9:0] m;
    reg [7:0] e;
    m = h[9:0];
    e = 8'd113;
    if (h[14:10] == 5'd31) f16_to_f32 = (m != 0) ? 32'h7fc00000 : {h[15], 31'h7f800000};
    else if (h[14:10] != 0) f16_to_f32 = {h[15], {3'd0, h[14:10]} + 8'd112, m, 13'd0};
    else if (m == 0) f16_to_f32 = {h[15], 31'd0};
    else begin
      // Subnormal: the first one moves to the hidden bit.
      if (m[9:2] == 0) begin
        m = {m[1:0], 8'd0};
        e = e - 8'd8;
      end
      if (m[9:6] == 0) begin
        m = {m[5:0], 4'd0};
        e = e - 8'd4;
      end
      if (m[9:8] == 0) begin
        m = {m[7:0], 2'd0};
        e = e - 8'd2;
      end
      if (!m[9]) begin
        m = {m[8:0], 1'd0};
        e = e - 8'd1;
      end
      f16_to_f32 = {h[15], e - 8'd1, m[8:0], 14'd0};
    end
  endfunction

  // The 32 bits of a lane from an element; w is the aligned word it lies in, at byte `at`.
  function automatic [31:0] load_element(input [3:0] kind, input [31:0] w, input [1:0] at);
    reg [15:0] h;
    reg [7:0] b;
    h = at[1] ? w[31:16] : w[15:0];
    b = at[0] ? h[15:8] : h[7:0];
    case (kind)
      heddle_pkg::ELEMENT_TYPE_U8: load_element = {24'd0, b};
      heddle_pkg::ELEMENT_TYPE_S8: load_element = {{24{b[7]}}, b};
      heddle_pkg::ELEMENT_TYPE_U16: load_element = {16'd0, h};
      heddle_pkg::ELEMENT_TYPE_S16: load_element = {{16{h[15]}}, h};
      heddle_pkg::ELEMENT_TYPE_F16: load_element = f16_to_f32(h);
      heddle_pkg::ELEMENT_TYPE_BF16:
      load_element = (h[14:7] == 8'hff && h[6:0] != 0) ? 32'h7fc00000 : {h, 16'd0};
      default: load_element = w;
    endcase
  endfunction

  // f32 to fp16, nearest even.
  function automatic [15:0] f32_to_f16(input [31:0] v);
    reg [7:0] e;
    reg [23:0] m;
    reg [24:0] below;  // what rounding drops, its highest bit first
    reg [15:0] q;
    e = v[30:23];
    m = {1'b1, v[22:0]};
    below = 25'd0;
    q = 16'd0;
    if (v[30:0] > 31'h7f800000) f32_to_f16 = 16'h7e00;
    else if (e >= 8'd143) f32_to_f16 = {v[31], 15'h7c00};
    else begin
      if (e >= 8'd113) begin
        q = {1'b0, e[4:0] - 5'd16, v[22:13]};
        below = {v[12:0], 12'd0};
      end else if (e >= 8'd102) begin
        // Units of 2^-24: shift by 126 - e, 14 .. 24.
        {q[10:0], below} = {m, 12'd0} >> (8'd113 - e);
      end
      if (below > 25'h1000000 || (below == 25'h1000000 && q[0])) q = q + 16'd1;
      f32_to_f16 = {v[31], q[14:0]};
    end
  endfunction

  // f32 to bf16, nearest even.
  function automatic [15:0] f32_to_bf16(input [31:0] v);
    reg [15:0] q;
    q = v[31:16];
    if (v[15:0] > 16'h8000 || (v[15:0] == 16'h8000 && v[16])) q = q + 16'd1;
    f32_to_bf16 = (v[30:0] > 31'h7f800000) ? 16'h7fc0 : q;
  endfunction

  // The element that a lane stores, in the low bytes.
  function automatic [31:0] store_element(input [3:0] kind, input [31:0] v);
    reg over, under;
    case (kind)
      heddle_pkg::ELEMENT_TYPE_U8: begin
        over = !v[31] && v[30:8] != 0;
        store_element = {24'd0, v[31] ? 8'h00 : over ? 8'hff : v[7:0]};
      end
      heddle_pkg::ELEMENT_TYPE_S8: begin
        over = !v[31] && v[30:7] != 0;
        under = v[31] && v[30:7] != 24'hffffff;
        store_element = {24'd0, over ? 8'h7f : under ? 8'h80 : v[7:0]};
      end
      heddle_pkg::ELEMENT_TYPE_U16: begin
        over = !v[31] && v[30:16] != 0;
        store_element = {16'd0, v[31] ? 16'h0000 : over ? 16'hffff : v[15:0]};
      end
      heddle_pkg::ELEMENT_TYPE_S16: begin
        over = !v[31] && v[30:15] != 0;
        under = v[31] && v[30:15] != 16'hffff;
        store_element = {16'd0, over ? 16'h7fff : under ? 16'h8000 : v[15:0]};
      end
      heddle_pkg::ELEMENT_TYPE_F16: store_element = {16'd0, f32_to_f16(v)};
      heddle_pkg::ELEMENT_TYPE_BF16: store_element = {16'd0, f32_to_bf16(v)};
      default: store_element = v;
    endcase
  endfunction

endpackage
