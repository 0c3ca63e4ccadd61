// SPDX-License-Identifier: Apache-2.0
// Fetches runs of SRAM words, up to two per cycle, into a FIFO that shows its first HEADS words.
//
//   run -> [column counter] -> two request slots -> arbiter ... 2 cycles ... -> FIFO -> heads
//
// Words arrive in order: slot 1 is granted only together with (or after) slot 0, which the arbiter
// guarantees for a pair of clients. A null word (padding) takes a place in the FIFO but no SRAM
// access. Places are reserved when a slot is filled, so the FIFO cannot overflow. The fetch crosses
// runs without a bubble and runs ahead of the consumer until the FIFO is full.
// urgent_o: fewer than LOW words are in the FIFO or on their way.
// pop_i must not exceed level_o.
module hd_fetch #(
    parameter int DEPTH = 16,
    parameter int LOW = 4
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    input  logic                                run_valid_i,
    output logic                                run_ready_o,
    input  hd_matrix_pkg::run_t                 run_i,
    // SRAM: two clients, granted in the same cycle, data two cycles later
    output logic [1:0]                          req_o,
    output logic                                urgent_o,
    output logic [2*hd_matrix_pkg::AW-1:0]      addr_o,
    input  logic [1:0]                          gnt_i,
    input  logic [255:0]                        rdata_i,
    // consumer
    output logic [7:0]                          level_o,
    output logic [128*hd_matrix_pkg::HEADS-1:0] head_o,
    output logic [hd_matrix_pkg::HEADS-1:0]     null_o,
    input  logic [2:0]                          pop_i
);
  localparam int IW = $clog2(DEPTH);
  localparam [7:0] DEPTH8 = 8'(DEPTH);

  // Column counter.
  hd_matrix_pkg::run_t run_q;  // count = 0: idle
  logic [15:0] col1, addr1;
  logic null0, null1;
  assign col1 = run_q.col + run_q.cstep;
  assign addr1 = run_q.addr + run_q.astep;
  assign null0 = run_q.null_row || run_q.col[15] || (run_q.col >= run_q.limit);
  assign null1 = run_q.null_row || col1[15] || (col1 >= run_q.limit);

  // Request slots; slot 1 is valid only if slot 0 is.
  logic v0_q, v1_q, n0_q, n1_q;
  logic [15:0] a0_q, a1_q;
  logic done0, done1;
  assign req_o = {v1_q && !n1_q, v0_q && !n0_q};
  assign addr_o = {a1_q, a0_q};
  assign done0 = v0_q && (n0_q || gnt_i[0]);
  assign done1 = v1_q && done0 && (n1_q || gnt_i[1]);

  logic [1:0] stay, have, take, want;
  logic [7:0] used_q;
  logic [7:0] room;
  assign room = DEPTH8 - used_q;
  assign stay = {1'b0, v0_q} + {1'b0, v1_q} - {1'b0, done0} - {1'b0, done1};
  assign have = (run_q.count >= 16'd2) ? 2'd2 : run_q.count[1:0];
  assign want = (have < 2'd2 - stay) ? have : 2'd2 - stay;
  assign take = ({6'd0, want} <= room) ? want : room[1:0];
  assign run_ready_o = (run_q.count == {14'd0, take});

  // Answers: two cycles behind the grant.
  logic d0_q, d1_q, dn0_q, dn1_q, e0_q, e1_q, en0_q, en1_q;

  // FIFO.
  logic [127:0] mem_q [0:DEPTH-1];
  logic [DEPTH-1:0] nul_q;
  logic [IW-1:0] wp_q, rp_q;
  logic [7:0] level_q;
  logic [IW-1:0] wp1;
  assign wp1 = wp_q + IW'(1);
  assign level_o = level_q;
  assign urgent_o = used_q < 8'(LOW);
  always_comb begin
    for (int j = 0; j < hd_matrix_pkg::HEADS; j++) begin
      head_o[128*j +: 128] = mem_q[rp_q + IW'(j)];
      null_o[j] = nul_q[rp_q + IW'(j)];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q.count <= 16'd0;
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
    end else begin
      if (run_ready_o) begin
        if (run_valid_i) run_q <= run_i;
        else run_q.count <= 16'd0;
      end else begin
        run_q.count <= run_q.count - {14'd0, take};
        if (take == 2'd1) begin
          run_q.col <= col1;
          run_q.addr <= addr1;
        end else if (take == 2'd2) begin
          run_q.col <= col1 + run_q.cstep;
          run_q.addr <= addr1 + run_q.astep;
        end
      end
      case (stay)
        2'd0: begin
          v0_q <= (take != 2'd0);
          v1_q <= (take == 2'd2);
          n0_q <= null0;
          n1_q <= null1;
          a0_q <= run_q.addr;
          a1_q <= addr1;
        end
        2'd1: begin
          v1_q <= (take != 2'd0);
          n1_q <= null0;
          a1_q <= run_q.addr;
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
      wp_q <= wp_q + IW'(e0_q) + IW'(e1_q);
      rp_q <= rp_q + IW'(pop_i);
      level_q <= level_q + {7'd0, e0_q} + {7'd0, e1_q} - {5'd0, pop_i};
    end
    dn0_q <= n0_q;
    dn1_q <= n1_q;
    en0_q <= dn0_q;
    en1_q <= dn1_q;
    if (e0_q) begin
      mem_q[wp_q] <= rdata_i[127:0];
      nul_q[wp_q] <= en0_q;
    end
    if (e1_q) begin
      mem_q[wp1] <= rdata_i[255:128];
      nul_q[wp1] <= en1_q;
    end
  end
endmodule
