// SPDX-License-Identifier: Apache-2.0
// The host memory port for two: the front end's own accesses (main) and the trace, which writes
// bursts of two beats. While the trace asks for nothing main's signals pass through unchanged.
//
// Write data follow in the order of the requests, so a write waits until the other's data are
// through; answers to writes come in that order, too, and go to whose turn it is (a FIFO of DEPTH
// writes). The trace waits for a request that main has made already and for the data of main's
// writes; main makes no new write while the trace waits. A request that was made stays.
module hd_host_merge #(
    parameter int DEPTH = 256  // more writes than main and trace have under way
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    // main
    input  logic         m_req_valid_i,
    output logic         m_req_ready_o,
    input  logic         m_req_write_i,
    input  logic [63:0]  m_req_addr_i,
    input  logic [6:0]   m_req_beats_i,
    input  logic         m_w_valid_i,
    output logic         m_w_ready_o,
    input  logic [127:0] m_w_data_i,
    input  logic [15:0]  m_w_strb_i,
    output logic         m_b_valid_o,
    // trace
    input  logic         t_req_valid_i,
    output logic         t_req_ready_o,
    input  logic [63:0]  t_req_addr_i,
    input  logic         t_w_valid_i,
    output logic         t_w_ready_o,
    input  logic [127:0] t_w_data_i,
    output logic         t_b_valid_o,
    // host
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic         req_write_o,
    output logic [63:0]  req_addr_o,
    output logic [6:0]   req_beats_o,
    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [127:0] w_data_o,
    output logic [15:0]  w_strb_o,
    input  logic         b_valid_i
);
  logic waiting_q;                // main has made a request
  logic [15:0] owed_q;            // beats of main's writes to come
  logic [1:0] trace_owed_q;
  logic pick, pass, accept, answer_trace;

  assign pick = t_req_valid_i && !waiting_q && (owed_q == '0) && (trace_owed_q == '0);
  assign pass = !pick
      && (waiting_q || !m_req_write_i || (!t_req_valid_i && trace_owed_q == '0));
  assign req_valid_o = pick || (m_req_valid_i && pass);
  assign req_write_o = pick || m_req_write_i;
  assign req_addr_o = pick ? t_req_addr_i : m_req_addr_i;
  assign req_beats_o = pick ? 7'd2 : m_req_beats_i;
  assign t_req_ready_o = pick && req_ready_i;
  assign m_req_ready_o = pass && req_ready_i;
  assign accept = req_valid_o && req_ready_i && req_write_o;

  assign w_valid_o = (trace_owed_q != '0) ? t_w_valid_i : m_w_valid_i;
  assign w_data_o = (trace_owed_q != '0) ? t_w_data_i : m_w_data_i;
  assign w_strb_o = (trace_owed_q != '0) ? 16'hffff : m_w_strb_i;
  assign t_w_ready_o = (trace_owed_q != '0) && w_ready_i;
  assign m_w_ready_o = (trace_owed_q == '0) && w_ready_i;

  // Of the writes that are not answered: whether the trace made them.
  logic open, of_trace;
  hd_fifo #(.W(1), .DEPTH(DEPTH)) u_owners (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .push_i(accept), .data_i(pick), .full_o(),
      .valid_o(open), .data_o(of_trace), .pop_i(b_valid_i), .level_o()
  );
  assign answer_trace = open && of_trace;
  assign t_b_valid_o = b_valid_i && answer_trace;
  assign m_b_valid_o = b_valid_i && !answer_trace;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waiting_q <= 1'b0;
      owed_q <= '0;
      trace_owed_q <= '0;
    end else begin
      waiting_q <= m_req_valid_i && pass && !req_ready_i;
      owed_q <= owed_q + ((accept && !pick) ? {9'd0, m_req_beats_i} : 16'd0)
          - {15'd0, m_w_valid_i && m_w_ready_o};
      if (accept && pick) trace_owed_q <= 2'd2;
      else if (t_w_valid_i && t_w_ready_o) trace_owed_q <= trace_owed_q - 2'd1;
    end
  end

`ifndef SYNTHESIS
  // The trace's data follow its request at once.
  always_ff @(posedge clk_i) if (rst_ni && pick) assert (owed_q == '0);
`endif
endmodule
