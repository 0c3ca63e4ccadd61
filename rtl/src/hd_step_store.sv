// SPDX-License-Identifier: Apache-2.0
// The steps of a job: takes them as they are fetched, checks that each is well-formed, and hands
// them out one by one.
//
// clear_i before the first word; words come in order (four per step) and are stored and checked.
// bad_o tells that a step was malformed, bad_step_o which was the first. A step is malformed if its
// type is unknown, a reserved field is not zero or it may not have its flag; a run step also if its
// stream is misaligned or has no legal length. What the copy engine checks is left to it.
// overlap_o[i]: step i may be executed with the run before it.
// read_i (a pulse) with index_i: step_o is valid from the cycle of ready_o (a pulse) on.
//
// Storage: one array of STEPS_MAX x 64 bytes (4 KiB, 1R1W). A step is read in four words.
//
//   read_i in cycle t | ready_o in t+6
module hd_step_store #(
    localparam int N = heddle_pkg::STEPS_MAX,
    localparam int IW = $clog2(N)
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    input  logic                                clear_i,
    input  logic                                valid_i,
    input  logic [127:0]                        data_i,
    output logic                                bad_o,
    output logic [IW-1:0]                       bad_step_o,
    output logic [N-1:0]                        overlap_o,
    input  logic                                read_i,
    input  logic [IW-1:0]                       index_i,
    output logic                                ready_o,
    output logic [8*heddle_pkg::STEP_BYTES-1:0] step_o
);
  localparam int STREAM_SHIFT = $clog2(heddle_pkg::STREAM_ALIGN);
  localparam int WORD_SHIFT = $clog2(heddle_pkg::WORD_BYTES);
  logic [127:0] mem_q[0:4*N-1];
  logic [127:0] word_q;
  logic [IW+1:0] in_q, at_q;
  logic [2:0] left_q;                   // words to read
  logic got_q, last_q, ready_q;
  logic [8*heddle_pkg::STEP_BYTES-1:0] step_q;
  logic bad_q;
  logic [IW-1:0] bad_step_q;
  logic [N-1:0] overlap_q;
  logic joins_q;  // the step before is a run, or may be executed with one

  // The step whose last word comes in; the words before it are in step_q.
  heddle_pkg::step_t come;
  logic known, wrong, overlaps;
  assign come = {data_i, step_q[8*heddle_pkg::STEP_BYTES-1:128]};
  assign overlaps = (come.flags & heddle_pkg::STEP_FLAGS_OVERLAP_MASK) != 32'd0;
  always_comb begin
    known = 1'b0;
    wrong = 1'b0;
    if (valid_i && in_q[1:0] == 2'd3) begin
      known = (come.type_ == heddle_pkg::STEP_TYPE_COPY_IN)
          || (come.type_ == heddle_pkg::STEP_TYPE_COPY_OUT)
          || (come.type_ == heddle_pkg::STEP_TYPE_COPY)
          || (come.type_ == heddle_pkg::STEP_TYPE_FILL);
      if (come.type_ == heddle_pkg::STEP_TYPE_RUN) begin
        known = (come.device_address[STREAM_SHIFT-1:0] == '0)
            && (come.length != 64'd0) && (come.length <= {32'd0, heddle_pkg::STREAM_BYTES_MAX})
            && (come.length[WORD_SHIFT-1:0] == '0);
      end
      wrong = !known || (come.flags & ~heddle_pkg::STEP_FLAGS_OVERLAP_MASK) != 32'd0
          || (overlaps && (!joins_q || come.type_ == heddle_pkg::STEP_TYPE_RUN))
          || (come.reserved1 != 128'd0);
    end
  end

  assign bad_o = bad_q;
  assign bad_step_o = bad_step_q;
  assign overlap_o = overlap_q;
  assign ready_o = ready_q;
  assign step_o = step_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= 3'd0;
      got_q <= 1'b0;
      last_q <= 1'b0;
      ready_q <= 1'b0;
    end else begin
      if (read_i) left_q <= 3'd4;
      else if (left_q != 3'd0) left_q <= left_q - 3'd1;
      got_q <= (left_q != 3'd0);
      last_q <= (left_q == 3'd1);
      ready_q <= last_q;
    end
    if (clear_i) begin
      in_q <= '0;
      bad_q <= 1'b0;
      overlap_q <= '0;
      joins_q <= 1'b0;
    end else if (valid_i) begin
      in_q <= in_q + 1'b1;
      if (in_q[1:0] == 2'd3) begin
        overlap_q[in_q[IW+1:2]] <= overlaps;
        joins_q <= overlaps || (come.type_ == heddle_pkg::STEP_TYPE_RUN);
      end
      if (wrong && !bad_q) begin
        bad_q <= 1'b1;
        bad_step_q <= in_q[IW+1:2];
      end
    end
    if (read_i) at_q <= {index_i, 2'd0};
    else if (left_q != 3'd0) at_q <= at_q + 1'b1;
    if (valid_i) mem_q[in_q] <= data_i;
    if (left_q != 3'd0) word_q <= mem_q[at_q];
    if (got_q) step_q <= {word_q, step_q[8*heddle_pkg::STEP_BYTES-1:128]};
    else if (valid_i) step_q <= {data_i, step_q[8*heddle_pkg::STEP_BYTES-1:128]};
  end
endmodule
