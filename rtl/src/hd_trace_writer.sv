// SPDX-License-Identifier: Apache-2.0
// Writes the entries of a job's trace to host memory: entry `index` to iova_i + 32 * index, if that
// is less than room_i; others are dropped.
//
// clear_i (before a job): forgets an error. iova_i (32-byte aligned), room_i and step_i are stable
// while entries come. An entry is taken when the one before has left; up to 63 writes are under way.
// stop_i: what comes is dropped, and so it is after a write that failed (bad_o, until clear_i).
// idle_o: no entry waits, none is under way.
//
//   entry in cycle t | request from t+1 on | data in the cycles after it was taken
module hd_trace_writer (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,
    input  logic [63:0]  iova_i,
    input  logic [31:0]  room_i,
    input  logic [5:0]   step_i,
    input  logic         stop_i,
    output logic         idle_o,
    output logic         bad_o,
    // entries (hd_trace)
    input  logic         valid_i,
    output logic         ready_o,
    input  logic [31:0]  index_i,
    input  logic [8*heddle_pkg::TRACE_ENTRY_BYTES-1:0] entry_i,
    // host memory: bursts of two beats
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic [63:0]  req_addr_o,
    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [127:0] w_data_o,
    input  logic         b_valid_i,
    input  logic         b_error_i
);
  logic req_q, data_q, second_q, bad_q;
  logic [5:0] open_q;  // writes that are not answered
  logic [63:0] addr_q;
  heddle_pkg::trace_entry_t entry_q;
  logic take, use_it, asked, sent;

  assign ready_o = !req_q && (!data_q || sent) && (open_q != '1);
  assign take = valid_i && ready_o;
  assign use_it = take && (index_i < room_i) && !stop_i && !bad_q;
  assign asked = req_q && req_ready_i;
  assign sent = data_q && second_q && w_ready_i;
  assign idle_o = !valid_i && !req_q && !data_q && (open_q == '0);
  assign bad_o = bad_q;
  assign req_valid_o = req_q;
  assign req_addr_o = addr_q;
  assign w_valid_o = data_q;
  assign w_data_o = second_q ? entry_q[8*heddle_pkg::TRACE_ENTRY_BYTES-1:128] : entry_q[127:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
      data_q <= 1'b0;
      open_q <= '0;
      bad_q <= 1'b0;
    end else begin
      if (use_it) req_q <= 1'b1;
      else if (asked) req_q <= 1'b0;
      if (asked) data_q <= 1'b1;
      else if (sent) data_q <= 1'b0;
      open_q <= open_q + {5'd0, use_it} - {5'd0, b_valid_i};
      if (clear_i) bad_q <= 1'b0;
      else if (b_valid_i && b_error_i) bad_q <= 1'b1;
    end
    if (use_it) begin
      addr_q <= iova_i + {27'd0, index_i, 5'd0};
      entry_q <= entry_i;
      entry_q.flags <= entry_i[159:128]
          | ({26'd0, step_i} << heddle_pkg::TRACE_ENTRY_FLAGS_STEP_SHIFT);
    end
    if (asked) second_q <= 1'b0;
    else if (data_q && w_ready_i) second_q <= 1'b1;
  end

`ifndef SYNTHESIS
  // The contract of the ports, and what the state never is.
  always_ff @(posedge clk_i)
    if (rst_ni && (req_q || b_valid_i)) begin
      assert (!b_valid_i || open_q != '0);
      assert (!(req_q && data_q));
    end
`endif
endmodule
