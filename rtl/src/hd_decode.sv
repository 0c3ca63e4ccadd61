// SPDX-License-Identifier: Apache-2.0
// Accepts exactly the legal encodings: the ranges of every field and the rules "Legal if" of ISA.md.
//
// cycle 0  start_i, the command in cmd_i stays until the verdict: encoding, header rules and all
//          rules of one cycle
// cycle 1  done_o and legal_o for everything but `conv`; they stay until the next start_i
// conv     hd_decode_rows needs 4 cycles more; 1 more with max pooling, 2 more where accumulators
//          are held; up to 300 in the rare cases that its comment names
//
// Where each rule is checked:
//   heddle_pkg::command_legal  opcode, length, reserved bits, enumerations, field ranges (generated)
//   header_rule                control commands without waits and signals; two waits (signals) of
//                              one command name different semaphores
//   transfer_rule              load, store, fill, load.gather, store.scatter: multiples of E
//   hd_decode_vector           vrun: length of the program, what store_one, gather_a, scatter_d
//                              need, index_stride; vrun and vmac: types, multiples of the element
//   hd_decode_conv             conv: modes, features that exclude each other, zero points, clamps,
//                              pool kind, window and padding, fold step, last output row
//   hd_decode_rows             conv: rows before in_row0 or pool_row0, in_wrap, held accumulators
//   hd_dispatch                `end` stands at the stream's last byte
//   engines, when they run     SRAM bounds, regions, indices, micro-instructions (also `stream_x`
//                              operands of streams that are not enabled: illegal_program)
//   nowhere                    waits that program order never satisfies: hd_dispatch reports
//                              illegal_command when that leaves every engine standing still
module hd_decode #(
    parameter int K = 16,          // lanes_out
    parameter int ACC_DEPTH = 256  // acc_pixels, below 512
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          clear_i,  // give up the command in hand
    input  logic          start_i,
    input  logic [32*heddle_pkg::LONGEST_COMMAND_WORDS-1:0] cmd_i,
    output logic          done_o,
    output logic          legal_o
);
  // E = 2^log2 bytes divides all of them: their low four bits together are below E in multiples.
  function automatic multiple(input [3:0] low, input [2:0] log2);
    case (log2)
      3'd0: multiple = 1'b1;
      3'd1: multiple = (low[0] == 1'd0);
      3'd2: multiple = (low[1:0] == 2'd0);
      3'd3: multiple = (low[2:0] == 3'd0);
      default: multiple = (low == 4'd0);
    endcase
  endfunction

  heddle_pkg::header_t cmd_header;
  heddle_pkg::load_t cmd_load;  // `store` has the same fields
  heddle_pkg::fill_t cmd_fill;
  heddle_pkg::load_gather_t cmd_gather;  // `store.scatter` has the same fields
  assign cmd_header = cmd_i[32*heddle_pkg::HEADER_WORDS-1:0];
  assign cmd_load = cmd_i[32*heddle_pkg::LOAD_WORDS-1:0];
  assign cmd_fill = cmd_i[32*heddle_pkg::FILL_WORDS-1:0];
  assign cmd_gather = cmd_i[32*heddle_pkg::LOAD_GATHER_WORDS-1:0];

  logic header_rule, transfer_rule, vector_rule, conv_rule, encoding;
  logic [3:0] low;
  logic is_conv;
  assign is_conv = (cmd_i[7:0] == heddle_pkg::OP_CONV);

  always_comb begin
    header_rule = 1'b0;
    encoding = 1'b0;
    if (start_i) begin
      encoding = heddle_pkg::command_legal(cmd_i);
      if (heddle_pkg::command_engine(cmd_i[7:0]) == heddle_pkg::ENGINE_CONTROL) begin
        header_rule = !cmd_header.wait0_enable && !cmd_header.wait1_enable &&
                      !cmd_header.signal0_enable && !cmd_header.signal1_enable;
      end else begin
        header_rule = !(cmd_header.wait0_enable && cmd_header.wait1_enable &&
                        (cmd_header.wait0_sem == cmd_header.wait1_sem)) &&
                      !(cmd_header.signal0_enable && cmd_header.signal1_enable &&
                        (cmd_header.signal0_sem == cmd_header.signal1_sem));
      end
    end
  end

  always_comb begin
    transfer_rule = 1'b1;
    low = '0;
    if (start_i) begin
      case (cmd_i[7:0])
        heddle_pkg::OP_LOAD, heddle_pkg::OP_STORE: begin
          low = cmd_load.dram_offset[3:0] | cmd_load.sram_addr[3:0] |
                cmd_load.s0[3:0] | cmd_load.s1[3:0] | cmd_load.s2[3:0] | cmd_load.s3[3:0] |
                cmd_load.t0[3:0] | cmd_load.t1[3:0] | cmd_load.t2[3:0] | cmd_load.t3[3:0];
          transfer_rule = multiple(low, cmd_load.elem_log2);
        end
        heddle_pkg::OP_FILL: begin
          low = cmd_fill.sram_addr[3:0] |
                cmd_fill.t0[3:0] | cmd_fill.t1[3:0] | cmd_fill.t2[3:0] | cmd_fill.t3[3:0];
          transfer_rule = multiple(low, {1'b0, cmd_fill.elem_log2});
        end
        heddle_pkg::OP_LOAD_GATHER, heddle_pkg::OP_STORE_SCATTER: begin
          low = cmd_gather.dram_offset[3:0] | cmd_gather.sram_addr[3:0] |
                cmd_gather.s1[3:0] | cmd_gather.t1[3:0];
          transfer_rule = multiple(low, cmd_gather.elem_log2) &&
                          (cmd_gather.index_addr[1:0] == 2'd0);
        end
        default: ;
      endcase
    end
  end

  hd_decode_vector u_vector (
      .check_i(start_i), .cmd_i(cmd_i[32*heddle_pkg::VRUN_WORDS-1:0]), .legal_o(vector_rule)
  );
  hd_decode_conv u_conv (
      .check_i(start_i && is_conv), .cmd_i(cmd_i[32*heddle_pkg::CONV_WORDS-1:0]),
      .legal_o(conv_rule)
  );

  logic rows_q, rows_done, rows_legal;  // rows_q: hd_decode_rows works
  logic rows_start;
  hd_decode_rows #(.K(K), .ACC_DEPTH(ACC_DEPTH)) u_rows (
      .clk_i, .rst_ni, .clear_i,
      .start_i(rows_start), .cmd_i(cmd_i[32*heddle_pkg::CONV_WORDS-1:0]),
      .done_o(rows_done), .legal_o(rows_legal)
  );
  assign rows_start = start_i && is_conv && encoding && header_rule && conv_rule;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      done_o <= 1'b0;
      rows_q <= 1'b0;
    end else if (start_i) begin
      done_o <= !rows_start;
      rows_q <= rows_start;
      legal_o <= encoding && header_rule && transfer_rule && vector_rule && (conv_rule || !is_conv);
    end else if (rows_q && rows_done) begin
      done_o <= 1'b1;
      rows_q <= 1'b0;
      legal_o <= rows_legal;
    end
  end
endmodule
