// SPDX-License-Identifier: Apache-2.0
// Reads a structure from host memory: words_i (1 to 256) words of 16 bytes from any address.
//
// start_i (while busy_o is low) begins; the words come out in order on valid_o/data_o, without
// backpressure, and done_o (a pulse, never with valid_o) ends it, with error_o when a part of the
// range could not be read. What was shown before an error is worth nothing.
//
// An address that is no multiple of 16 needs one beat more; each word is then cut out of two beats.
// Bursts of up to 64 beats end at multiples of 1024 bytes, so none crosses a page; all are under
// way at the same time.
//
//   beat in cycle t | word in cycle t+1 | done_o two cycles after the last beat
module hd_host_fetch (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         start_i,
    input  logic [63:0]  addr_i,
    input  logic [8:0]   words_i,
    output logic         busy_o,
    output logic         valid_o,
    output logic [127:0] data_o,
    output logic         done_o,
    output logic         error_o,
    // host memory, reads
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic [63:0]  req_addr_o,
    output logic [6:0]   req_beats_o,
    input  logic         r_valid_i,
    input  logic [127:0] r_data_i,
    input  logic         r_error_i
);
  logic [59:0] word_q;             // of the next burst
  logic [8:0] req_left_q, rsp_left_q;  // beats to ask for, to come
  logic [6:0] burst, to_edge;
  logic [3:0] shift_q;
  logic busy_q, first_q, valid_q, done_q, error_q;
  logic [127:0] last_q, data_q;
  logic [127:0] cut;
  logic [8:0] beats;

  assign beats = words_i + {8'd0, addr_i[3:0] != 4'd0};
  assign to_edge = 7'd64 - {1'b0, word_q[5:0]};
  assign burst = (req_left_q < {2'd0, to_edge}) ? req_left_q[6:0] : to_edge;
  assign req_valid_o = (req_left_q != 9'd0);
  assign req_addr_o = {word_q, 4'd0};
  assign req_beats_o = burst;
  assign busy_o = busy_q;
  assign valid_o = valid_q;
  assign data_o = data_q;
  assign done_o = done_q;
  assign error_o = error_q;

  always_comb begin
    cut = '0;
    if (r_valid_i) cut = 128'({r_data_i, last_q} >> {shift_q, 3'd0});
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      req_left_q <= 9'd0;
      rsp_left_q <= 9'd0;
      valid_q <= 1'b0;
      done_q <= 1'b0;
      error_q <= 1'b0;
    end else begin
      valid_q <= r_valid_i && (shift_q == 4'd0 || !first_q);
      done_q <= busy_q && !done_q && (rsp_left_q == 9'd0);
      if (start_i) begin
        busy_q <= 1'b1;
        req_left_q <= beats;
        rsp_left_q <= beats;
        error_q <= 1'b0;
      end else begin
        if (req_valid_o && req_ready_i) req_left_q <= req_left_q - {2'd0, burst};
        if (r_valid_i) begin
          rsp_left_q <= rsp_left_q - 9'd1;
          error_q <= error_q | r_error_i;
        end
        if (done_q) busy_q <= 1'b0;
      end
    end
    if (start_i) begin
      word_q <= addr_i[63:4];
      shift_q <= addr_i[3:0];
      first_q <= 1'b1;
    end else begin
      if (req_valid_o && req_ready_i) word_q <= word_q + {53'd0, burst};
      if (r_valid_i) begin
        first_q <= 1'b0;
        last_q <= r_data_i;
        data_q <= (shift_q == 4'd0) ? r_data_i : cut;
      end
    end
  end

`ifndef SYNTHESIS
  // The contract of the ports, and what the state never is.
  always_ff @(posedge clk_i)
    if (rst_ni && (start_i || r_valid_i)) begin
      assert (!start_i || !busy_q);
      assert (!r_valid_i || rsp_left_q > req_left_q);
    end
`endif
endmodule
