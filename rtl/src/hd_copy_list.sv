// SPDX-License-Identifier: Apache-2.0
// Reads a scatter list from host memory: once to check it, once to hand out its entries.
//
// check_i (a pulse while idle_o) reads the list in chunks of 4 KiB from table_iova_i on and looks
// that no entry is empty and that the lengths add up to length_i; check_done_o (a pulse) tells the
// result: status_o and fault_addr_o, which names the chunk that could not be read, the entry that
// is wrong, or the list if it is too short. A chunk is judged when all of it has been read. stop_i
// is looked at after each chunk.
// feed_i reads it again and offers the entries; what they say may have changed. end_o is high when
// all have been taken, and when the rest could not be read (then also feed_error_o, with
// fault_addr_o naming the chunk). stop_i ends it once the reads under way have come back.
//
// The entries wait in a FIFO of 64 (1 KiB); 32 are asked for at a time when there is room, so a
// fetch overlaps with the use of what was fetched before.
module hd_copy_list (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         check_i,
    input  logic         feed_i,
    input  logic [63:0]  table_iova_i,  // stable until the end
    input  logic [16:0]  count_i,       // 1 to SG_ENTRIES_MAX
    input  logic [63:0]  length_i,
    input  logic         stop_i,
    output logic         check_done_o,
    output logic [7:0]   status_o,
    output logic [63:0]  fault_addr_o,
    output logic         entry_valid_o,
    input  logic         entry_ready_i,
    output logic [63:0]  entry_iova_o,
    output logic [63:0]  entry_length_o,
    output logic         end_o,
    output logic         feed_error_o,
    output logic         idle_o,
    // host memory, reads
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic [63:0]  req_addr_o,
    output logic [6:0]   req_beats_o,
    input  logic         r_valid_i,
    input  logic [127:0] r_data_i,
    input  logic         r_error_i
);
  localparam int CHUNK = heddle_pkg::PAGE_BYTES / heddle_pkg::SG_ENTRY_BYTES;  // 256 entries
  localparam int DEPTH = 64;
  localparam int ASK = DEPTH / 2;
  localparam [1:0] IDLE = 2'd0, CHECK = 2'd1, FEED = 2'd2, ENDED = 2'd3;

  logic [1:0] state_q;
  logic start_q;             // a fetch begins
  logic [16:0] at_q, left_q; // first entry of the fetch, entries to fetch from there on
  logic [16:0] most;
  logic [8:0] n;
  logic [63:0] sum_q;        // bytes that are still to be accounted for
  logic bad_q;
  logic [63:0] bad_addr_q, entry_addr_q, fault_q;
  logic [7:0] result_q;
  logic done_q, error_q;
  logic busy, valid, done, error;
  logic [127:0] data;
  logic [63:0] entry_length;

  logic [127:0] fifo_q[0:DEPTH-1];
  logic [6:0] in_q, whole_q, out_q;  // written, of fetches that have succeeded, taken
  logic [6:0] level;

  assign level = in_q - out_q;
  assign most = (state_q == FEED) ? 17'(ASK) : 17'(CHUNK);
  assign n = (left_q < most) ? left_q[8:0] : most[8:0];
  assign entry_length = data[8*heddle_pkg::SG_ENTRY_LENGTH_OFFSET +: 64];

  hd_host_fetch u_fetch (
      .clk_i,
      .rst_ni,
      .start_i(start_q),
      .addr_i(table_iova_i + {43'd0, at_q, 4'd0}),
      .words_i(n),
      .busy_o(busy),
      .valid_o(valid),
      .data_o(data),
      .done_o(done),
      .error_o(error),
      .req_valid_o,
      .req_ready_i,
      .req_addr_o,
      .req_beats_o,
      .r_valid_i,
      .r_data_i,
      .r_error_i
  );

  assign idle_o = (state_q == IDLE) || (state_q == ENDED);
  assign check_done_o = done_q;
  assign status_o = result_q;
  assign fault_addr_o = fault_q;
  assign entry_valid_o = (whole_q != out_q);
  assign {entry_length_o, entry_iova_o} = fifo_q[out_q[5:0]];
  assign end_o = (state_q == ENDED) && (whole_q == out_q);
  assign feed_error_o = error_q;

  logic [63:0] chunk_addr;  // of the chunk in which the fetch is
  assign chunk_addr = table_iova_i + {43'd0, at_q[16:8], 12'd0};

  always_ff @(posedge clk_i) begin
    start_q <= 1'b0;
    done_q  <= 1'b0;
    if (!rst_ni) begin
      state_q <= IDLE;
      error_q <= 1'b0;
      in_q <= '0;
      whole_q <= '0;
      out_q <= '0;
    end else begin
      if (entry_valid_o && entry_ready_i) out_q <= out_q + 7'd1;
      case (state_q)
        CHECK: begin
          if (valid) begin
            entry_addr_q <= entry_addr_q + {32'd0, heddle_pkg::SG_ENTRY_BYTES};
            sum_q <= sum_q - entry_length;
            if (!bad_q && (entry_length == 64'd0 || entry_length > sum_q)) begin
              bad_q <= 1'b1;
              bad_addr_q <= entry_addr_q;
            end
          end
          if (done) begin
            at_q <= at_q + {8'd0, n};
            left_q <= left_q - {8'd0, n};
            if (error || bad_q || stop_i || left_q == {8'd0, n}) begin
              state_q <= IDLE;
              done_q <= 1'b1;
              result_q <= heddle_pkg::ERROR_OK[7:0];
              if (error) begin
                result_q <= heddle_pkg::ERROR_HOST_DMA[7:0];
                fault_q <= chunk_addr;
              end else if (bad_q) begin
                result_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR[7:0];
                fault_q <= bad_addr_q;
              end else if (stop_i) begin
                result_q <= heddle_pkg::ERROR_ABORTED[7:0];
                fault_q <= 64'd0;
              end else if (sum_q != 64'd0) begin
                result_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR[7:0];
                fault_q <= table_iova_i;
              end
            end else begin
              start_q <= 1'b1;
            end
          end
        end
        FEED: begin
          if (valid) in_q <= in_q + 7'd1;
          if (done) begin
            at_q <= at_q + {8'd0, n};
            left_q <= left_q - {8'd0, n};
            if (error) begin
              // The words of a failed fetch are worth nothing.
              error_q <= 1'b1;
              fault_q <= chunk_addr;
            end else begin
              whole_q <= in_q;
            end
            if (error || stop_i || left_q == {8'd0, n}) state_q <= ENDED;
          end else if (!busy && !start_q) begin
            if (stop_i) state_q <= ENDED;
            else if (level <= 7'(DEPTH - ASK)) start_q <= 1'b1;
          end
        end
        default: begin
          if (check_i || feed_i) begin
            state_q <= check_i ? CHECK : FEED;
            start_q <= 1'b1;
            at_q <= '0;
            left_q <= count_i;
            sum_q <= length_i;
            bad_q <= 1'b0;
            error_q <= 1'b0;
            entry_addr_q <= table_iova_i;
            in_q <= '0;
            whole_q <= '0;
            out_q <= '0;
          end
        end
      endcase
    end
    if (valid && state_q == FEED) fifo_q[in_q[5:0]] <= data;
  end
endmodule
