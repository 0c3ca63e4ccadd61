// SPDX-License-Identifier: Apache-2.0
// Four masters of the memory port into one (hd_pkg::MEM_*: 0 front end, 1 stream fetch, 2 load,
// 3 store).
//
// Requests: one register stage; in every cycle in which it is free the next master is chosen and
// its
// request taken (req_ready_o), so requests and beats go through without bubbles. Order: the stream
// fetch first (few requests, and everything waits for it), then the others in turn, so none waits
// for more than three requests of others besides fetches.
//
// Answers come in the order of the requests, so three FIFOs of master numbers route them:
//   reads under way (DEPTH)      master and beats; the head's beats go to it one per cycle
//   writes without data (DEPTH)  master and beats; the head's w_data goes out, no other master's
//   writes without answer (DEPTH)  master
// A request is taken only if its FIFOs have room. All answer paths are combinational. quiet_o[m]:
// nothing of master m is held or under way; after it, a master's unit may be reset.
// Proved in rtl/formal (DEPTH = 4): every answer reaches the master whose request it answers, in
// order and number, and none is lost.
module hd_mem_arbiter #(
    parameter int DEPTH = 256
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    // Masters: bit m, or the m-th field.
    input  logic [3:0]                m_req_valid_i,
    output logic [3:0]                m_req_ready_o,
    input  logic [3:0]                m_req_write_i,
    input  logic [4*hd_pkg::MEM_AW-1:0] m_req_addr_i,
    input  logic [4*7-1:0]            m_req_beats_i,
    input  logic [3:0]                m_w_valid_i,
    output logic [3:0]                m_w_ready_o,
    input  logic [4*128-1:0]          m_w_data_i,
    input  logic [4*16-1:0]           m_w_strb_i,
    output logic [3:0]                m_r_valid_o,
    input  logic [3:0]                m_r_ready_i,
    output logic [127:0]              m_r_data_o,   // all masters see it
    output logic                      m_r_error_o,
    output logic [3:0]                m_b_valid_o,
    output logic                      m_b_error_o,
    output logic [3:0]                quiet_o,
    // Memory.
    output logic                      req_valid_o,
    input  logic                      req_ready_i,
    output logic                      req_write_o,
    output logic [hd_pkg::MEM_AW-1:0] req_addr_o,
    output logic [6:0]                req_beats_o,
    output logic                      w_valid_o,
    input  logic                      w_ready_i,
    output logic [127:0]              w_data_o,
    output logic [15:0]               w_strb_o,
    input  logic                      r_valid_i,
    output logic                      r_ready_o,
    input  logic [127:0]              r_data_i,
    input  logic                      r_error_i,
    input  logic                      b_valid_i,
    input  logic                      b_error_i
);
  localparam int AW = hd_pkg::MEM_AW;
  localparam int PW = $clog2(DEPTH);

  // ---- Choice.
  logic free, read_room, write_room, take;
  logic [3:0] can;
  logic [1:0] pick, turn_q;  // turn_q: the master that was served last, of 0, 2 and 3
  logic req_q;
  assign free = !req_q || req_ready_i;
  assign can = m_req_valid_i &
      ((m_req_write_i & {4{write_room}}) | (~m_req_write_i & {4{read_room}}));
  always_comb begin
    pick = 2'd1;
    if (!can[1]) begin
      case (turn_q)
        2'd0: pick = can[2] ? 2'd2 : can[3] ? 2'd3 : 2'd0;
        2'd2: pick = can[3] ? 2'd3 : can[0] ? 2'd0 : 2'd2;
        default: pick = can[0] ? 2'd0 : can[2] ? 2'd2 : 2'd3;
      endcase
    end
  end
  assign take = free && (can != 4'd0);
  assign m_req_ready_o = take ? (4'd1 << pick) : 4'd0;
  logic [6:0] pick_beats;
  logic pick_write;
  assign pick_beats = m_req_beats_i[7*pick+:7];
  assign pick_write = m_req_write_i[pick];
  assign req_valid_o = req_q;

  // ---- FIFOs of what is under way. A write waits for its answer at least as long as for its data.
  logic [1:0] read_to, write_from, answer_to;
  logic [6:0] read_beats, write_beats;
  logic read_full, read_open, answer_full, answer_open;
  logic [PW:0] write_n, answer_n;
  logic r_last, w_last;
  assign read_room = !read_full;
  assign write_room = !answer_full;
  hd_fifo #(.W(9), .DEPTH(DEPTH)) u_reads (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .push_i(take && !pick_write), .data_i({pick, pick_beats}), .full_o(read_full),
      .valid_o(read_open), .data_o({read_to, read_beats}), .pop_i(r_last), .level_o()
  );
  hd_fifo #(.W(9), .DEPTH(DEPTH)) u_writes (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .push_i(take && pick_write), .data_i({pick, pick_beats}), .full_o(),
      .valid_o(), .data_o({write_from, write_beats}), .pop_i(w_last), .level_o(write_n)
  );
  hd_fifo #(.W(2), .DEPTH(DEPTH)) u_answers (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .push_i(take && pick_write), .data_i(pick), .full_o(answer_full),
      .valid_o(answer_open), .data_o(answer_to), .pop_i(m_b_valid_o != 4'd0), .level_o(answer_n)
  );

  // ---- Read data.
  logic [6:0] read_done_q;  // beats of the oldest read that are through
  logic r_go;
  assign m_r_valid_o = (r_valid_i && read_open) ? (4'd1 << read_to) : 4'd0;
  assign r_ready_o = read_open && m_r_ready_i[read_to];
  assign m_r_data_o = r_data_i;
  assign m_r_error_o = r_error_i;
  assign r_go = r_valid_i && r_ready_o;
  assign r_last = r_go && (read_done_q + 7'd1 == read_beats);

  // ---- Write data. Only of requests that memory has taken: the one in the register waits.
  logic [6:0] write_done_q;  // beats of the oldest write that are through
  logic w_open, w_go;
  assign w_open = (write_n > {{PW{1'b0}}, req_q && req_write_o});
  assign w_valid_o = w_open && m_w_valid_i[write_from];
  // Fixed parts of the vector: simulators put a whole one together for a part that moves.
  assign w_data_o = write_from[1]
      ? (write_from[0] ? m_w_data_i[3*128+:128] : m_w_data_i[2*128+:128])
      : (write_from[0] ? m_w_data_i[1*128+:128] : m_w_data_i[0*128+:128]);
  assign w_strb_o = m_w_strb_i[16*write_from+:16];
  assign m_w_ready_o = (w_open && w_ready_i) ? (4'd1 << write_from) : 4'd0;
  assign w_go = w_valid_o && w_ready_i;
  assign w_last = w_go && (write_done_q + 7'd1 == write_beats);

  // ---- Write answers.
  assign m_b_valid_o = (b_valid_i && answer_open) ? (4'd1 << answer_to) : 4'd0;
  assign m_b_error_o = b_error_i;

  // ---- Requests of each master that are not answered.
  generate
    for (genvar m = 0; m < 4; m = m + 1) begin : g_quiet
      logic [PW+1:0] open_q;
      assign quiet_o[m] = (open_q == '0);
      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          open_q <= '0;
        end else begin
          open_q <= open_q + {{(PW + 1) {1'b0}}, m_req_ready_o[m]} -
              {{(PW + 1) {1'b0}}, r_last && read_to == m} - {{(PW + 1) {1'b0}}, m_b_valid_o[m]};
        end
      end
    end
  endgenerate

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
      turn_q <= 2'd0;
      read_done_q <= 7'd0;
      write_done_q <= 7'd0;
    end else begin
      if (free) req_q <= take;
      if (take && pick != 2'd1) turn_q <= pick;
      if (r_go) read_done_q <= r_last ? 7'd0 : read_done_q + 7'd1;
      if (w_go) write_done_q <= w_last ? 7'd0 : write_done_q + 7'd1;
    end
    if (take) begin
      req_write_o <= pick_write;
      req_addr_o <= m_req_addr_i[AW*pick+:AW];
      req_beats_o <= pick_beats;
    end
  end

`ifndef SYNTHESIS
  // Answers come to what was asked, and a request stays until it is taken.
  logic held_q;
  logic [AW+7:0] was_q;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && req_valid_o && !req_ready_i;
    if (req_valid_o && !req_ready_i) was_q <= {req_write_o, req_addr_o, req_beats_o};
    if (rst_ni && (take || held_q || r_valid_i || b_valid_i)) begin
      assert (!r_valid_i || read_open);
      assert (!b_valid_i || answer_n > write_n);  // all its data are through
      assert ((m_req_ready_o & ~m_req_valid_i) == '0);
      assert (!held_q || (req_valid_o && {req_write_o, req_addr_o, req_beats_o} == was_q));
    end
  end
`endif
endmodule
