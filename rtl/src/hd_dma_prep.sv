// SPDX-License-Identifier: Apache-2.0
// Decodes and checks one load or store command: what hd_dma_pkg::dma_t says.
//
//   0     accept the command, decode
//   1..4  one dimension per cycle: (n-1)*s and (n-1)*t, one multiplier each
//   5     last product added
//   6     compare with the SRAM's size and the region, choose the walk
//   7..   offered until taken; the next command is accepted in the cycle after
// Eight cycles per command; the engines work on earlier commands meanwhile.
//
// The check is of the command as a whole, as in simulator/model: the highest SRAM byte first
// (indices before rows), then the highest byte of the region, then read-only. Every burst is
// compared again where it is requested (hd_dma_burst).
//
// The walk. `group` is for bytes that are planar in the region and interleaved in SRAM (s0 = 1, t0
// = 2, 3, 4 or 16): the dimension with t = 1 becomes the planes, or one with a single step. With t0
// = 16 the planes must lie in one word for every pixel.
module hd_dma_prep #(
    parameter int SRAM_BYTES = 524288
) (
    input  logic                                     clk_i,
    input  logic                                     rst_ni,
    input  logic                                     cmd_valid_i,
    output logic                                     cmd_ready_o,
    input  logic [32*heddle_pkg::LOAD_WORDS-1:0]     cmd_i,
    output logic [ 3:0]                              region_o,
    input  logic [63:0]                              region_base_i,
    input  logic [63:0]                              region_size_i,
    input  logic                                     region_writable_i,
    output logic                                     valid_o,
    input  logic                                     ready_i,
    output hd_dma_pkg::dma_t                         dma_o
);
  logic [2:0] step_q;  // 0: idle, 7: offered
  hd_dma_pkg::dma_t d_q;
  logic store_q;
  logic [63:0] prod_s_q, sum_s_q;
  logic [39:0] prod_t_q;
  logic [43:0] sum_t_q;

  heddle_pkg::load_t cmd_box;
  heddle_pkg::fill_t cmd_fill;
  heddle_pkg::load_gather_t cmd_rows;
  logic [7:0] op;
  assign cmd_box = cmd_i;
  assign cmd_fill = cmd_i[32*heddle_pkg::FILL_WORDS-1:0];
  assign cmd_rows = cmd_i[32*heddle_pkg::LOAD_GATHER_WORDS-1:0];
  assign op = cmd_box.header.opcode;

  // One dimension.
  logic [31:0] n_s, s_mul;
  logic [15:0] n_t;
  logic [23:0] t_mul;
  always_comb begin
    n_s = {16'd0, d_q.n0};
    n_t = d_q.n0;
    s_mul = d_q.s0;
    t_mul = d_q.t0;
    if (step_q == 3'd2) begin
      n_s = (d_q.kind == hd_dma_pkg::KIND_INDEX) ? d_q.bound : {16'd0, d_q.n1};
      n_t = d_q.n1;
      s_mul = d_q.s1;
      t_mul = d_q.t1;
    end else if (step_q == 3'd3) begin
      n_s = {16'd0, d_q.n2};
      n_t = d_q.n2;
      s_mul = d_q.s2;
      t_mul = d_q.t2;
    end else if (step_q == 3'd4) begin
      n_s = {16'd0, d_q.n3};
      n_t = d_q.n3;
      s_mul = d_q.s3;
      t_mul = d_q.t3;
    end
  end

  // Checks, in step 6.
  logic region_ok;
  logic [7:0] region_code;
  logic [63:0] region_addr, region_off;
  hd_region_check u_check (
      .first_i(sum_s_q),
      .last_i(sum_s_q),
      .write_i(store_q),
      .base_i(region_base_i),
      .size_i(region_size_i),
      .writable_i(region_writable_i),
      .ok_o(region_ok),
      .code_o(region_code),
      .addr_o(region_addr)
  );
  assign region_o = d_q.region;
  assign region_off = region_addr;
  logic [24:0] index_last;
  assign index_last = {1'b0, d_q.index} + {7'd0, d_q.n1, 2'b00} - 25'd1;

  // Which dimension holds the planes: 0 = none.
  logic t0_ok;
  logic [3:1] plane, lone;
  logic [1:0] pick;
  logic words_ok;
  always_comb begin
    t0_ok = 1'b0;
    plane = 3'd0;
    lone = 3'd0;
    pick = 2'd0;
    words_ok = 1'b1;
    if (step_q == 3'd6) begin
      t0_ok = (d_q.kind == hd_dma_pkg::KIND_BOX) && (d_q.esize == 5'd1) && (d_q.s0 == 32'd1) &&
          (d_q.t0 == 24'd2 || d_q.t0 == 24'd3 || d_q.t0 == 24'd4 || d_q.t0 == 24'd16);
      plane[1] = (d_q.t1 == 24'd1) && (d_q.n1 > 16'd1) && ({8'd0, d_q.n1} <= d_q.t0);
      plane[2] = (d_q.t2 == 24'd1) && (d_q.n2 > 16'd1) && ({8'd0, d_q.n2} <= d_q.t0);
      plane[3] = (d_q.t3 == 24'd1) && (d_q.n3 > 16'd1) && ({8'd0, d_q.n3} <= d_q.t0);
      lone[1] = (d_q.n1 == 16'd1);
      lone[2] = (d_q.n2 == 16'd1);
      lone[3] = (d_q.n3 == 16'd1);
      if (plane != 3'd0) pick = plane[1] ? 2'd1 : plane[2] ? 2'd2 : 2'd3;
      else if (lone != 3'd0) pick = lone[1] ? 2'd1 : lone[2] ? 2'd2 : 2'd3;
      // With t0 = 16, byte 0 of the first pixel plus the planes stay in a word if all other
      // strides are whole words.
      if (d_q.t0 == 24'd16 && plane != 3'd0) begin
        words_ok = ({1'b0, d_q.sram[3:0]} + (pick == 2'd1 ? d_q.n1[4:0] :
                    pick == 2'd2 ? d_q.n2[4:0] : d_q.n3[4:0]) <= 5'd16) &&
            (pick == 2'd1 || lone[1] || d_q.t1[3:0] == 4'd0) &&
            (pick == 2'd2 || lone[2] || d_q.t2[3:0] == 4'd0) &&
            (pick == 2'd3 || lone[3] || d_q.t3[3:0] == 4'd0);
      end
    end
  end

  assign cmd_ready_o = (step_q == 3'd0);
  assign valid_o = (step_q == 3'd7);
  assign dma_o = d_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= 3'd0;
    end else begin
      case (step_q)
        3'd0: if (cmd_valid_i) begin
          step_q <= 3'd1;
          store_q <= 1'b0;
          d_q.bad <= 1'b0;
          d_q.bad_code <= 8'd0;
          d_q.bad_addr <= 64'd0;
          d_q.group <= 1'b0;
          d_q.region <= cmd_box.region;
          d_q.off <= cmd_box.dram_offset;
          d_q.sram <= cmd_box.sram_addr;
          d_q.esize <= 5'd1 << cmd_box.elem_log2;
          d_q.n0 <= cmd_box.n0;
          d_q.n1 <= cmd_box.n1;
          d_q.n2 <= cmd_box.n2;
          d_q.n3 <= cmd_box.n3;
          // Strides of a dimension of one step mean nothing.
          d_q.s0 <= (cmd_box.n0 == 16'd1) ? 32'd1 << cmd_box.elem_log2 : cmd_box.s0;
          d_q.t0 <= (cmd_box.n0 == 16'd1) ? 24'd1 << cmd_box.elem_log2 : cmd_box.t0;
          d_q.s1 <= cmd_box.s1;
          d_q.s2 <= cmd_box.s2;
          d_q.s3 <= cmd_box.s3;
          d_q.t1 <= cmd_box.t1;
          d_q.t2 <= cmd_box.t2;
          d_q.t3 <= cmd_box.t3;
          d_q.index <= cmd_rows.index_addr;
          d_q.bound <= cmd_rows.bound;
          d_q.value <= cmd_fill.value;
          sum_s_q <= {32'd0, cmd_box.dram_offset};
          sum_t_q <= {20'd0, cmd_box.sram_addr};
          prod_s_q <= 64'd0;
          prod_t_q <= 40'd0;
          case (op)
            heddle_pkg::OP_LOAD: d_q.kind <= hd_dma_pkg::KIND_BOX;
            heddle_pkg::OP_STORE: begin
              d_q.kind <= hd_dma_pkg::KIND_BOX;
              store_q <= 1'b1;
            end
            heddle_pkg::OP_FILL: begin
              d_q.kind <= hd_dma_pkg::KIND_FILL;
              d_q.esize <= 5'd1 << cmd_fill.elem_log2;
              d_q.sram <= cmd_fill.sram_addr;
              sum_t_q <= {20'd0, cmd_fill.sram_addr};
              d_q.n0 <= cmd_fill.n0;
              d_q.n1 <= cmd_fill.n1;
              d_q.n2 <= cmd_fill.n2;
              d_q.n3 <= cmd_fill.n3;
              d_q.s0 <= 32'd1 << cmd_fill.elem_log2;
              d_q.t0 <= (cmd_fill.n0 == 16'd1) ? 24'd1 << cmd_fill.elem_log2 : cmd_fill.t0;
              d_q.t1 <= cmd_fill.t1;
              d_q.t2 <= cmd_fill.t2;
              d_q.t3 <= cmd_fill.t3;
            end
            heddle_pkg::OP_LOAD_GATHER, heddle_pkg::OP_STORE_SCATTER: begin
              d_q.kind <= hd_dma_pkg::KIND_INDEX;
              store_q <= (op == heddle_pkg::OP_STORE_SCATTER);
              d_q.n1 <= cmd_rows.count;
              d_q.n2 <= 16'd1;
              d_q.n3 <= 16'd1;
              d_q.s0 <= 32'd1 << cmd_rows.elem_log2;
              d_q.t0 <= 24'd1 << cmd_rows.elem_log2;
              d_q.s1 <= cmd_rows.s1;
              d_q.t1 <= cmd_rows.t1;
            end
            default: d_q.kind <= hd_dma_pkg::KIND_SYNC;
          endcase
        end
        3'd1, 3'd2, 3'd3, 3'd4: begin
          step_q <= (d_q.kind == hd_dma_pkg::KIND_SYNC) ? 3'd7 : step_q + 3'd1;
          prod_s_q <= ({32'd0, n_s} - 64'd1) * {32'd0, s_mul};
          prod_t_q <= ({24'd0, n_t} - 40'd1) * {16'd0, t_mul};
          sum_s_q <= sum_s_q + prod_s_q;
          sum_t_q <= sum_t_q + {4'd0, prod_t_q};
          if (step_q == 3'd2) begin  // dimension 0 is there
            d_q.s_span <= prod_s_q[20:0] + {16'd0, d_q.esize};
            d_q.t_span <= prod_t_q[20:0] + {16'd0, d_q.esize};
          end
          d_q.cont <= (d_q.s0 == {27'd0, d_q.esize}) && (d_q.t0 == {19'd0, d_q.esize});
          d_q.s_single <= (d_q.s0 > 32'd16);
          d_q.t_single <= (d_q.t0 > 24'd16);
        end
        3'd5: begin
          step_q <= 3'd6;
          sum_s_q <= sum_s_q + prod_s_q + {59'd0, d_q.esize} - 64'd1;
          sum_t_q <= sum_t_q + {4'd0, prod_t_q} + {39'd0, d_q.esize} - 44'd1;
        end
        3'd6: begin
          step_q <= 3'd7;
          d_q.base <= region_base_i;
          d_q.size <= region_size_i;
          d_q.writable <= region_writable_i;
          if (d_q.kind == hd_dma_pkg::KIND_INDEX && index_last >= 25'(SRAM_BYTES)) begin
            d_q.bad <= 1'b1;
            d_q.bad_code <= heddle_pkg::ERROR_SRAM_BOUNDS[7:0];
            d_q.bad_addr <= {39'd0, index_last};
            d_q.region <= 4'd0;
          end else if (sum_t_q >= 44'(SRAM_BYTES)) begin
            d_q.bad <= 1'b1;
            d_q.bad_code <= heddle_pkg::ERROR_SRAM_BOUNDS[7:0];
            d_q.bad_addr <= {20'd0, sum_t_q};
            d_q.region <= 4'd0;
          end else if (d_q.kind != hd_dma_pkg::KIND_FILL && !region_ok) begin
            d_q.bad <= 1'b1;
            d_q.bad_code <= region_code;
            d_q.bad_addr <= region_off;
            if (region_code == heddle_pkg::ERROR_BUS_ERROR[7:0]) d_q.region <= 4'd0;
          end
          if (t0_ok && words_ok && pick != 2'd0) begin
            d_q.group <= 1'b1;
            if (pick == 2'd2) begin
              d_q.n1 <= d_q.n2;
              d_q.s1 <= d_q.s2;
              d_q.t1 <= d_q.t2;
              d_q.n2 <= d_q.n1;
              d_q.s2 <= d_q.s1;
              d_q.t2 <= d_q.t1;
            end else if (pick == 2'd3) begin
              d_q.n1 <= d_q.n3;
              d_q.s1 <= d_q.s3;
              d_q.t1 <= d_q.t3;
              d_q.n3 <= d_q.n1;
              d_q.s3 <= d_q.s1;
              d_q.t3 <= d_q.t1;
            end
          end
        end
        default: if (ready_i) step_q <= 3'd0;
      endcase
    end
  end
endmodule
