// SPDX-License-Identifier: Apache-2.0
// hd_mem_arbiter: requests reach memory in the order in which they were taken from the masters,
// unchanged; every beat of read data, every place for write data and every write answer goes to the
// master whose request is the oldest one open; none is lost. The reference is a shift register of
// requests in the order of taking. Memory answers only what it was asked (assumed), in order.
module hd_mem_arbiter_formal #(
    parameter int DEPTH = 2
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic [3:0]   valid_i,
    input logic [3:0]   write_i,
    input logic [7:0]   addr_i,      // two bits of address per master, two of data
    input logic [27:0]  beats_i,
    input logic [3:0]   w_valid_i,
    input logic [7:0]   w_data_i,
    input logic [3:0]   r_ready_i,
    input logic         req_ready_i,
    input logic         w_ready_i,
    input logic         r_valid_i,
    input logic         b_valid_i
);
  localparam int N = DEPTH + 1;
  logic [3:0] ready, w_ready, r_valid_m, b_valid_m, quiet;
  logic req_valid, req_write, w_valid, r_ready;
  logic [39:0] req_addr;
  logic [6:0] req_beats;
  logic [127:0] w_data;

  logic [159:0] addr;
  logic [511:0] data;
  assign addr = {38'd0, addr_i[7:6], 38'd0, addr_i[5:4], 38'd0, addr_i[3:2], 38'd0, addr_i[1:0]};
  assign data = {126'd0, w_data_i[7:6], 126'd0, w_data_i[5:4], 126'd0, w_data_i[3:2], 126'd0,
                 w_data_i[1:0]};

  // What memory may do: it knows requests that it took. Two beats at most keep the proof small.
  logic [2:0] mem_reads_q, mem_writes_q, mem_answers_q;  // beats, beats, bursts
  logic r_valid, b_valid;
  assign r_valid = r_valid_i && mem_reads_q != 3'd0;
  assign b_valid = b_valid_i && mem_answers_q != 3'd0;

  hd_mem_arbiter #(.DEPTH(DEPTH)) dut (
      .clk_i, .rst_ni,
      .m_req_valid_i(valid_i), .m_req_ready_o(ready), .m_req_write_i(write_i),
      .m_req_addr_i(addr), .m_req_beats_i(beats_i),
      .m_w_valid_i(w_valid_i), .m_w_ready_o(w_ready), .m_w_data_i(data), .m_w_strb_i(64'd0),
      .m_r_valid_o(r_valid_m), .m_r_ready_i(r_ready_i), .m_r_data_o(), .m_r_error_o(),
      .m_b_valid_o(b_valid_m), .m_b_error_o(), .quiet_o(quiet),
      .req_valid_o(req_valid), .req_ready_i(req_ready_i && mem_room), .req_write_o(req_write),
      .req_addr_o(req_addr), .req_beats_o(req_beats),
      .w_valid_o(w_valid), .w_ready_i, .w_data_o(w_data), .w_strb_o(),
      .r_valid_i(r_valid), .r_ready_o(r_ready), .r_data_i(128'd0), .r_error_i(1'b0),
      .b_valid_i(b_valid), .b_error_i(1'b0)
  );
  logic mem_room;
  assign mem_room = (mem_reads_q < 3'd4) && (mem_writes_q < 3'd4) && (mem_answers_q < 3'd4);

  // One taken request per cycle at most: which.
  logic [3:0] took;
  logic [1:0] m;
  logic t_write;
  logic [1:0] t_beats;
  assign took = valid_i & ready;
`ifdef BROKEN_ROUTE
  assign m = took[0] ? 2'd0 : took[1] ? 2'd1 : took[2] ? 2'd3 : 2'd2;
`else
  assign m = took[0] ? 2'd0 : took[1] ? 2'd1 : took[2] ? 2'd2 : 2'd3;
`endif
  assign t_write = |(took & write_i);
  assign t_beats = beats_i[7*m +: 2];

  // Reference queues, entry 0 the oldest: reads {master, beats left}, writes the same, answers.
  logic [4*N-1:0] rd_q, wr_q, rd_s, wr_s;
  logic [2*N-1:0] an_q, an_s;
  logic [2:0] rd_n, wr_n, an_n, rd_a, wr_a, an_a;
  logic r_go, w_go, rd_pop, wr_pop;
  assign r_go = r_valid && r_ready;
  assign w_go = w_valid && w_ready_i;
  assign rd_pop = r_go && rd_q[1:0] == 2'd1;
  assign wr_pop = w_go && wr_q[1:0] == 2'd1;
  always_comb begin
    rd_s = rd_q;
    wr_s = wr_q;
    if (r_go) rd_s[1:0] = rd_q[1:0] - 2'd1;
    if (w_go) wr_s[1:0] = wr_q[1:0] - 2'd1;
    if (rd_pop) rd_s = rd_s >> 4;
    if (wr_pop) wr_s = wr_s >> 4;
    an_s = b_valid ? (an_q >> 2) : an_q;
    rd_a = rd_n - {2'd0, rd_pop};
    wr_a = wr_n - {2'd0, wr_pop};
    an_a = an_n - {2'd0, b_valid};
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rd_n <= 3'd0;
      wr_n <= 3'd0;
      an_n <= 3'd0;
      mem_reads_q <= 3'd0;
      mem_writes_q <= 3'd0;
      mem_answers_q <= 3'd0;
    end else begin
      rd_n <= rd_a + {2'd0, took != 4'd0 && !t_write};
      wr_n <= wr_a + {2'd0, took != 4'd0 && t_write};
      an_n <= an_a + {2'd0, took != 4'd0 && t_write};
      mem_reads_q <= mem_reads_q - {2'd0, r_go} +
          ((req_valid && req_ready_i && mem_room && !req_write) ? {1'b0, req_beats[1:0]} : 3'd0);
      mem_writes_q <= mem_writes_q - {2'd0, w_go} +
          ((req_valid && req_ready_i && mem_room && req_write) ? {1'b0, req_beats[1:0]} : 3'd0);
      mem_answers_q <= mem_answers_q - {2'd0, b_valid} + {2'd0, wr_pop};
    end
    rd_q <= rd_s;
    wr_q <= wr_s;
    an_q <= an_s;
    for (int i = 0; i < N; i++) begin
      if (took != 4'd0 && !t_write && 3'(i) == rd_a) rd_q[4*i +: 4] <= {m, t_beats};
      if (took != 4'd0 && t_write && 3'(i) == wr_a) wr_q[4*i +: 4] <= {m, t_beats};
      if (took != 4'd0 && t_write && 3'(i) == an_a) an_q[2*i +: 2] <= m;
    end
  end

  // The request register: what was taken last is what memory sees.
  logic reg_q = 1'b0;
  logic [47:0] seen_q;
  logic past_q = 1'b0;
  always_ff @(posedge clk_i) begin
    past_q <= 1'b1;
    if (!rst_ni) reg_q <= 1'b0;
    else if (!reg_q || (req_ready_i && mem_room)) reg_q <= (took != 4'd0);
    if (took != 4'd0) seen_q <= {t_write, addr[40*m +: 40], beats_i[7*m +: 7]};
    if (!past_q) assume (!rst_ni);
    for (int i = 0; i < 4; i++) begin
      assume (beats_i[7*i +: 7] == 7'd1 || beats_i[7*i +: 7] == 7'd2);
    end
    if (past_q) begin
      assert (req_valid == reg_q);
      if (req_valid) assert ({req_write, req_addr, req_beats} == seen_q);
      assert ((took & (took - 4'd1)) == 4'd0);
      assert (rd_n <= 3'(DEPTH) && an_n <= 3'(DEPTH));
      // Read data: to the oldest open read, and only there.
      assert (r_valid_m == (r_valid ? 4'd1 << rd_q[3:2] : 4'd0));
      if (r_valid) assert (rd_n != 3'd0 && r_ready == r_ready_i[rd_q[3:2]]);
      // Write data: of the oldest write that memory has taken.
      assert (!w_valid || mem_writes_q != 3'd0);
      if (mem_writes_q != 3'd0) begin
        assert (w_valid == w_valid_i[wr_q[3:2]]);
        assert (w_ready == (w_ready_i ? 4'd1 << wr_q[3:2] : 4'd0));
        assert (w_data == data[128*wr_q[3:2] +: 128]);
      end else begin
        assert (w_ready == 4'd0);
      end
      assert (b_valid_m == (b_valid ? 4'd1 << an_q[1:0] : 4'd0));
    end
    cover (past_q && rd_n == 3'(DEPTH));
    cover (past_q && an_n == 3'(DEPTH) && quiet == 4'b0001);
  end
endmodule
