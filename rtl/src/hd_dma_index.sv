// SPDX-License-Identifier: Apache-2.0
// The rows of load.gather and store.scatter: reads int32 indices from SRAM, compares them with the
// bound and gives the rows' offsets off + index * s1, one after another.
//
//   WORD   request the SRAM word that holds index j
//   WAIT   two cycles until its data is there
//   MUL    compare, multiply                 (index not in 0 .. bound-1: fault_o, held until reset)
//   ADD    offset of the row
//   RUN    offered (valid_o) until next_i
// Four indices per word: about 4.75 cycles per row. The caller holds cmd_i from the cycle after
// start_i to the last row. Each row's offset is also stored for a second walk of the same rows
// (row_*, 32 deep: at five cycles per row more than a latency of 100; a row is not offered before it
// has a place there).
module hd_dma_index (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        start_i,
    input  hd_dma_pkg::dma_t            cmd_first_i,
    input  hd_dma_pkg::dma_t            cmd_i,
    output logic                        req_o,
    output logic [hd_pkg::AW-1:0]       addr_o,
    input  logic                        gnt_i,
    input  logic [127:0]                data_i,
    output logic                        valid_o,
    output logic                        last_o,
    output logic [hd_dma_pkg::OFFW-1:0] off_o,
    input  logic                        next_i,
    output logic                        fault_o,
    output logic [31:0]                 index_o,
    output logic                        row_valid_o,
    output logic [hd_dma_pkg::OFFW-1:0] row_o,
    input  logic                        row_pop_i
);
  localparam int OFFW = hd_dma_pkg::OFFW;
  localparam [2:0] IDLE = 3'd0, WORD = 3'd1, WAIT = 3'd2, WAIT2 = 3'd3, MUL = 3'd4, ADD = 3'd5,
      RUN = 3'd6, FAULT = 3'd7;
  logic [2:0] state_q;
  logic [15:0] j_q;
  logic [21:0] at_q;  // of the index, in units of four bytes
  logic [127:0] word_q;
  logic [31:0] index;
  logic [OFFW-1:0] off_q;
  logic [63:0] prod_q;
  logic [31:0] bad_q;

  always_comb begin
    case (at_q[1:0])
      2'd0: index = word_q[31:0];
      2'd1: index = word_q[63:32];
      2'd2: index = word_q[95:64];
      default: index = word_q[127:96];
    endcase
  end

  logic push, full;
  logic [OFFW-1:0] row;
  assign push = (state_q == ADD) && !full;
  assign row = OFFW'(prod_q) + OFFW'(cmd_i.off);
  assign req_o = (state_q == WORD);
  assign addr_o = at_q[hd_pkg::AW+1:2];
  assign valid_o = (state_q == RUN);
  assign last_o = (j_q + 16'd1 == cmd_i.n1);
  assign off_o = off_q;
  assign fault_o = (state_q == FAULT);
  assign index_o = bad_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= IDLE;
    end else begin
      case (state_q)
        IDLE: if (start_i) begin
          state_q <= WORD;
          j_q <= 16'd0;
          at_q <= cmd_first_i.index[23:2];
        end
        WORD: if (gnt_i) state_q <= WAIT;
        WAIT: state_q <= WAIT2;
        WAIT2: begin
          word_q <= data_i;
          state_q <= MUL;
        end
        MUL: begin
          prod_q <= index * cmd_i.s1;
          bad_q <= index;
          if (index[31] || index >= cmd_i.bound) state_q <= FAULT;
          else state_q <= ADD;
        end
        ADD: if (push) begin
          off_q <= row;
          state_q <= RUN;
        end
        RUN: if (next_i) begin
          j_q <= j_q + 16'd1;
          at_q <= at_q + 22'd1;
          state_q <= last_o ? IDLE : (at_q[1:0] == 2'd3) ? WORD : MUL;
        end
        default: ;  // FAULT
      endcase
    end
  end

  hd_fifo #(
      .W(OFFW),
      .DEPTH(32)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .push_i(push),
      .data_i(row),
      .full_o(full),
      .valid_o(row_valid_o),
      .data_o(row_o),
      .pop_i(row_pop_i),
      .level_o()
  );
endmodule
