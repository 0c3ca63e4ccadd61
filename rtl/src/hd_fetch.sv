// SPDX-License-Identifier: Apache-2.0
// Fetches runs of SRAM words, up to two per cycle, into a FIFO that shows its first HEADS words.
//
//   run -> [column counter] -> two request slots -> arbiter ... 2 cycles ... -> FIFO -> heads
//
// Words arrive in order: slot 1 is granted only together with (or after) slot 0, which the arbiter
// guarantees for a pair of clients. A null word (padding) takes a place in the FIFO but no SRAM
// access. Places are reserved when a slot is filled, so the FIFO cannot overflow. The fetch crosses
// runs without a bubble and runs ahead of the consumer until the FIFO is full.
// A word beyond the SRAM is not asked for; it becomes a null word, and fault_o is set (until reset)
// with its byte address.
// urgent_o: fewer than LOW words are in the FIFO or on their way. drained_o: no run, no request.
// pop_i must not exceed level_o. stop_i: no request from now on.
// The FIFO (DEPTH words: 256 bytes) is registers.
module hd_fetch #(
    parameter int DEPTH = 16,
    parameter int LOW = 4,
    parameter int HEADS = hd_matrix_pkg::HEADS,
    parameter int SRAM_WORDS = 32768
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic                                stop_i,
    input  logic                                run_valid_i,
    output logic                                run_ready_o,
    input  hd_matrix_pkg::run_t                 run_i,
    output logic                                drained_o,
    output logic                                fault_o,
    output logic [63:0]                         fault_addr_o,
    // SRAM: two clients, granted in the same cycle, data two cycles later
    output logic [1:0]                          req_o,
    output logic                                urgent_o,
    output logic [2*hd_matrix_pkg::AW-1:0]      addr_o,
    input  logic [1:0]                          gnt_i,
    input  logic [255:0]                        rdata_i,
    // consumer
    output logic [7:0]                          level_o,
    output logic [128*HEADS-1:0]                head_o,
    output logic [HEADS-1:0]                    null_o,
    input  logic [2:0]                          pop_i
);
  localparam int IW = $clog2(DEPTH);
  localparam [7:0] DEPTH8 = 8'(DEPTH);
  localparam [35:0] END = 36'(SRAM_WORDS);

  // Column counter. The run as separate registers: cheaper to simulate than a wide struct.
  logic [19:0] count_q;  // 0: idle
  logic null_row_q;
  logic signed [23:0] col_q, limit_q, cstep_q;
  logic [35:0] addr_q, astep_q;

  // Request slots; slot 1 is valid only if slot 0 is.
  logic v0_q, v1_q, n0_q, n1_q;
  logic [15:0] a0_q, a1_q;
  logic done0, done1;
  assign req_o = stop_i ? 2'b00 : {v1_q && !n1_q, v0_q && !n0_q};
  assign addr_o = {a1_q, a0_q};
  assign done0 = v0_q && (n0_q || gnt_i[0]);
  assign done1 = v1_q && done0 && (n1_q || gnt_i[1]);

  logic [1:0] stay, have, take, want;
  logic [7:0] used_q;
  logic [7:0] room;
  assign room = DEPTH8 - used_q;
  assign stay = {1'b0, v0_q} + {1'b0, v1_q} - {1'b0, done0} - {1'b0, done1};
  assign have = (count_q >= 20'd2) ? 2'd2 : count_q[1:0];
  assign want = (have < 2'd2 - stay) ? have : 2'd2 - stay;
  assign take = ({6'd0, want} < room) ? want : room[1:0];
  assign run_ready_o = (count_q == {18'd0, take});
  assign drained_o = (count_q == 20'd0) && !v0_q;

  logic fault_q;
  logic [39:0] fault_addr_q;
  assign fault_o = fault_q;
  assign fault_addr_o = {{24{fault_addr_q[39]}}, fault_addr_q};

  // Answers: two cycles behind the grant.
  logic d0_q, d1_q, dn0_q, dn1_q, e0_q, e1_q, en0_q, en1_q;

  // FIFO.
  logic [127:0] mem_q [0:DEPTH-1];
  logic [DEPTH-1:0] nul_q;
  logic [IW-1:0] wp_q, rp_q;
  logic [7:0] level_q;
  assign level_o = level_q;
  assign urgent_o = used_q < 8'(LOW);
  for (genvar j = 0; j < HEADS; j++) begin : g_head
    assign head_o[128*j +: 128] = mem_q[rp_q + IW'(j)];
    assign null_o[j] = nul_q[rp_q + IW'(j)];
  end

  // verilator lint_off BLKSEQ
  // Reason: temporary values of the clocked process, set before they are read.
  always_ff @(posedge clk_i) begin : fetch
    // The next two words.
    logic signed [23:0] col1;
    logic [35:0] addr1;
    logic null0, null1, out0, out1;
    if (!rst_ni) begin
      count_q <= 20'd0;
      v0_q <= 1'b0;
      v1_q <= 1'b0;
      used_q <= 8'd0;
      d0_q <= 1'b0;
      d1_q <= 1'b0;
      e0_q <= 1'b0;
      e1_q <= 1'b0;
      wp_q <= '0;
      rp_q <= '0;
      level_q <= 8'd0;
      fault_q <= 1'b0;
    end else begin
      if (take != 2'd0) begin
        col1 = col_q + cstep_q;
        addr1 = addr_q + astep_q;
        null0 = null_row_q || (col_q < 24'sd0) || (col_q >= limit_q);
        null1 = null_row_q || (col1 < 24'sd0) || (col1 >= limit_q);
        out0 = !null0 && (addr_q >= END);
        out1 = !null1 && (addr1 >= END);
        if (stay == 2'd0) begin
          n0_q <= null0 || out0;
          n1_q <= null1 || out1;
          a0_q <= addr_q[15:0];
          a1_q <= addr1[15:0];
        end else begin
          n1_q <= null0 || out0;
          a1_q <= addr_q[15:0];
        end
        if (!fault_q && (out0 || (take == 2'd2 && out1))) begin
          fault_q <= 1'b1;
          fault_addr_q <= {out0 ? addr_q : addr1, 4'd0};
        end
        count_q <= count_q - {18'd0, take};
        col_q <= (take == 2'd1) ? col1 : col1 + cstep_q;
        addr_q <= (take == 2'd1) ? addr1 : addr1 + astep_q;
      end
      if (run_ready_o) begin
        count_q <= 20'd0;
        if (run_valid_i) begin
          count_q <= run_i.count;
          null_row_q <= run_i.null_row;
          col_q <= $signed(run_i.col);
          cstep_q <= $signed({20'd0, run_i.cstep});
          limit_q <= $signed({8'd0, run_i.limit});
          addr_q <= run_i.addr;
          astep_q <= {16'd0, run_i.astep};
        end
      end
      case (stay)
        2'd0: begin
          v0_q <= (take != 2'd0);
          v1_q <= (take == 2'd2);
        end
        2'd1: begin
          v1_q <= (take != 2'd0);
          if (done0) begin
            n0_q <= n1_q;
            a0_q <= a1_q;
          end
        end
        default: ;
      endcase
      used_q <= used_q + {6'd0, take} - {5'd0, pop_i};
      d0_q <= done0;
      d1_q <= done1;
      e0_q <= d0_q;
      e1_q <= d1_q;
      rp_q <= rp_q + IW'(pop_i);
      level_q <= level_q + {7'd0, e0_q} + {7'd0, e1_q} - {5'd0, pop_i};
      dn0_q <= n0_q;
      dn1_q <= n1_q;
      en0_q <= dn0_q;
      en1_q <= dn1_q;
      if (e0_q) begin
        wp_q <= wp_q + IW'(1) + IW'(e1_q);
        mem_q[wp_q] <= rdata_i[127:0];
        nul_q[wp_q] <= en0_q;
        if (e1_q) begin
          mem_q[wp_q + IW'(1)] <= rdata_i[255:128];
          nul_q[wp_q + IW'(1)] <= en1_q;
        end
      end
    end
  end
  // verilator lint_on BLKSEQ

  // Nothing moves while the FIFO is full, or when there is nothing to fetch.
  assign clk_req_o = !rst_ni || (take != 2'd0) || v0_q || d0_q || e0_q || (pop_i != 3'd0)
             || (run_valid_i && run_ready_o);

`ifndef SYNTHESIS
  // The consumer takes what is there, the SRAM grants what is asked for, and every word has a place.
  always_ff @(posedge clk_i)
    if (rst_ni && (take != 2'd0 || pop_i != 3'd0 || gnt_i != 2'd0)) begin
      assert ({5'd0, pop_i} <= level_q);
      assert (level_q <= used_q && used_q <= DEPTH8);
      assert ((gnt_i & ~req_o) == '0);
    end
`endif
endmodule
