// SPDX-License-Identifier: Apache-2.0
// Moves pieces of up to 4 KiB from a read port to a write port, byte-granular on both sides, or
// fills with a pattern.
//
// A piece is written only when all of it has been read without an error, so of a piece that cannot
// be read nothing is written, and writes flow without gaps. Pieces begin to be written, and are
// reported done (retire_o, with their bytes), in their order; reads of later pieces overlap with
// writes of earlier ones. Two pieces whose ranges overlap are therefore safe only if no piece
// reads what an earlier one writes.
//
// stop_i: pieces whose writing has not begun are dropped; the others are finished and reported. A
// read or write error ends everything (fail_o until clear_i, with address and bytes of the failing
// piece): later pieces may have been written in part if it was a write.
// Then, as at the end of the work, idle_o is high when nothing is under way on either port.
//
// Words are kept as they will be written: a beat that comes in is rotated by the difference of the
// two alignments and each of 16 byte lanes stores to its own word, so a misaligned copy costs one
// beat per piece. The lanes are one array of WORDS x 16 bytes (16 KiB, 1R1W): three unaligned
// pieces of 257 words, which keeps 16 bytes per cycle up to read latencies of 250 cycles. A fill
// does not use them.
//
//   beat in, rotated and stored in cycle t | last beat of the piece: request t+3 | data after the
//   request's acceptance, one word per cycle
module hd_copy_mover #(
    parameter int WORDS = 1024,
    parameter int SLOTS = 4  // pieces under way
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,    // before the first piece: forget a failure
    input  logic         fill_i,     // stable while busy
    input  logic [31:0]  pattern_i,
    input  logic         piece_valid_i,
    output logic         piece_ready_o,
    input  logic [63:0]  piece_src_i,
    input  logic [63:0]  piece_dst_i,
    input  logic [12:0]  piece_bytes_i,
    input  logic         stop_i,
    output logic         retire_o,
    output logic [12:0]  retire_bytes_o,
    output logic         fail_o,
    output logic         fail_write_o,
    output logic [63:0]  fail_addr_o,
    output logic [12:0]  fail_bytes_o,
    output logic         idle_o,
    // read port
    output logic         rreq_valid_o,
    input  logic         rreq_ready_i,
    output logic [63:0]  rreq_addr_o,
    output logic [6:0]   rreq_beats_o,
    input  logic         r_valid_i,
    input  logic [127:0] r_data_i,
    input  logic         r_error_i,
    // write port
    output logic         wreq_valid_o,
    input  logic         wreq_ready_i,
    output logic [63:0]  wreq_addr_o,
    output logic [6:0]   wreq_beats_o,
    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [127:0] w_data_o,
    output logic [15:0]  w_strb_o,
    input  logic         b_valid_i,
    input  logic         b_error_i
);
  localparam int SW = $clog2(SLOTS);
  localparam int AW = $clog2(WORDS);
  localparam int PIECE_WORDS = 257;

  // Pieces: pushed, asked for, read, requested, sent, visible. Each pointer follows the one before.
  logic [SW:0] push_q, rptr_q, read_q, wptr_q, sent_q, done_q;
  logic [SW-1:0] push, rptr, read, wptr, sent, done;
  assign push = push_q[SW-1:0];
  assign rptr = rptr_q[SW-1:0];
  assign read = read_q[SW-1:0];
  assign wptr = wptr_q[SW-1:0];
  assign sent = sent_q[SW-1:0];
  assign done = done_q[SW-1:0];

  logic [63:0] src_q[0:SLOTS-1], dst_q[0:SLOTS-1];
  logic [12:0] bytes_q[0:SLOTS-1];
  logic [8:0] words_q[0:SLOTS-1];   // to write
  logic [8:0] beats_q[0:SLOTS-1];   // to read
  logic [15:0] head_q[0:SLOTS-1], tail_q[0:SLOTS-1];  // strobes of the first and the last word
  logic [AW-1:0] base_q[0:SLOTS-1];
  logic [2:0] bursts_q[0:SLOTS-1];  // write bursts
  logic [SLOTS-1:0] bad_q;          // could not be read

  logic fail_q, fail_write_q;
  logic [63:0] fail_addr_q;
  logic [12:0] fail_bytes_q;
  logic quit, flush;
  assign quit = stop_i || fail_q;

  // -- In
  logic [8:0] new_words, new_beats;
  logic [12:0] new_end;
  logic [AW-1:0] alloc_q;
  logic [AW:0] used_q;
  logic take, room;
  assign room = fill_i || (used_q <= (AW + 1)'(WORDS - PIECE_WORDS));
  assign piece_ready_o = !quit && room && ((push_q - done_q) != (SW + 1)'(SLOTS));
  assign take = piece_valid_i && piece_ready_o;
  assign new_end = {9'd0, piece_dst_i[3:0]} + piece_bytes_i - 13'd1;
  assign new_words = new_end[12:4] + 9'd1;
  assign new_beats = 9'(({9'd0, piece_src_i[3:0]} + piece_bytes_i - 13'd1) >> 4) + 9'd1;

  // -- Read requests
  logic [59:0] rword_q;
  logic [8:0] rleft_q;
  logic [6:0] redge, rburst;
  assign redge = 7'd64 - {1'b0, rword_q[5:0]};
  assign rburst = (rleft_q < {2'd0, redge}) ? rleft_q[6:0] : redge;
  logic rreq_q;
  logic [59:0] rreq_word_q;
  logic [6:0] rreq_beats_q;
  logic [AW:0] rout_q;  // beats that must come
  assign rreq_valid_o = rreq_q;
  assign rreq_addr_o = {rreq_word_q, 4'd0};
  assign rreq_beats_o = rreq_beats_q;

  // -- Read data. Lanes from the rotation up belong to word `low`, those below it to the next.
  logic [8:0] beat_q;
  logic [3:0] turn;
  logic signed [9:0] low;
  logic [15:0] strb_low, strb_high, lane_we;
  logic [127:0] turned;
  logic [AW-1:0] lane_low, lane_high;
  logic rlast;
  assign rlast = r_valid_i && (beat_q + 9'd1 == beats_q[read]);
  always_comb begin
    turn      = 4'd0;
    low       = '0;
    strb_low  = '0;
    strb_high = '0;
    turned    = '0;
    lane_we   = '0;
    if (r_valid_i) begin
      turn = dst_q[read][3:0] - src_q[read][3:0];
      low = $signed({1'b0, beat_q}) - ((dst_q[read][3:0] < src_q[read][3:0]) ? 10'sd1 : 10'sd0);
      strb_low = (low < 0 || low >= $signed({1'b0, words_q[read]})) ? 16'd0 : 16'hffff;
      strb_high = (low + 10'sd1 >= $signed({1'b0, words_q[read]})) ? 16'd0 : 16'hffff;
      if (low == 10'sd0) strb_low = strb_low & head_q[read];
      if (low == -10'sd1) strb_high = strb_high & head_q[read];
      if (low + 10'sd1 == $signed({1'b0, words_q[read]})) strb_low = strb_low & tail_q[read];
      if (low + 10'sd2 == $signed({1'b0, words_q[read]})) strb_high = strb_high & tail_q[read];
      turned = 128'({r_data_i, r_data_i} >> {5'd16 - {1'b0, turn}, 3'd0});
      for (int l = 0; l < 16; l++) lane_we[l] = (l >= 32'(turn)) ? strb_low[l] : strb_high[l];
      if (quit) lane_we = '0;
    end
  end
  assign lane_low = base_q[read] + AW'(low);
  assign lane_high = lane_low + AW'(1);

  // -- Write requests
  logic wgo;
  logic wbusy_q;
  logic [59:0] wword_q;
  logic [8:0] wleft_q;
  logic [6:0] wedge, wburst;
  assign wedge = 7'd64 - {1'b0, wword_q[5:0]};
  assign wburst = (wleft_q < {2'd0, wedge}) ? wleft_q[6:0] : wedge;
  assign wgo = !wbusy_q && (wptr_q != read_q) && !quit;
  logic wreq_q;
  logic [59:0] wreq_word_q;
  logic [6:0] wreq_beats_q;
  logic [10:0] owed_q;  // beats of accepted requests that have not been sent
  logic [5:0] bout_q;   // answers that must come
  assign wreq_valid_o = wreq_q;
  assign wreq_addr_o = {wreq_word_q, 4'd0};
  assign wreq_beats_o = wreq_beats_q;

  // -- Write data
  logic busy, send;
  logic [AW-1:0] rp_q, rp;
  logic [8:0] word_q;
  logic wlast;
  logic [127:0] stored;
  assign busy = (push_q != done_q);
  assign w_valid_o = (owed_q != 11'd0);
  assign send = w_valid_o && w_ready_i;
  assign wlast = (word_q + 9'd1 == words_q[sent]);
  assign rp = rp_q + AW'(send && !fill_i);
  logic [31:0] spun;  // the pattern as it lies in an aligned word
  assign spun = 32'({pattern_i, pattern_i} >> {3'd4 - {1'b0, dst_q[sent][1:0]}, 3'd0});
  assign w_data_o = fill_i ? {4{spun}} : stored;
  assign w_strb_o = ((word_q == 9'd0) ? head_q[sent] : 16'hffff)
      & (wlast ? tail_q[sent] : 16'hffff);

  for (genvar l = 0; l < 16; l++) begin : g_lane
    logic [7:0] mem_q[0:WORDS-1];
    logic [7:0] out_q;
    assign stored[8*l +: 8] = out_q;
    always_ff @(posedge clk_i) begin
      if (lane_we[l]) mem_q[(l >= 32'(turn)) ? lane_low : lane_high] <= turned[8*l +: 8];
      if (busy && !fill_i) out_q <= mem_q[rp];
    end
  end

  // -- Answers
  logic [2:0] got_q;
  logic wbad_q, answered;
  assign answered = b_valid_i && !fail_q && (got_q + 3'd1 == bursts_q[done]);
  assign retire_o = answered && !wbad_q && !b_error_i;
  assign retire_bytes_o = bytes_q[done];
  assign fail_o = fail_q;
  assign fail_write_o = fail_write_q;
  assign fail_addr_o = fail_addr_q;
  assign fail_bytes_o = fail_bytes_q;
  // What quits is over when the ports are quiet; after stop_i also every begun piece is reported.
  assign flush = quit && busy && (rout_q == '0) && !rreq_q && !wreq_q
      && (owed_q == '0) && (bout_q == '0) && (fail_q || (!wbusy_q && wptr_q == done_q));
  assign idle_o = !busy;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush) begin
      push_q <= '0;
      rptr_q <= '0;
      read_q <= '0;
      wptr_q <= '0;
      sent_q <= '0;
      done_q <= '0;
      alloc_q <= '0;
      used_q <= '0;
      rp_q <= '0;
      rleft_q <= '0;
      beat_q <= '0;
      wbusy_q <= 1'b0;
      word_q <= '0;
      got_q <= '0;
      wbad_q <= 1'b0;
      bad_q <= '0;
    end else begin
      if (take) begin
        push_q <= push_q + 1'b1;
        bad_q[push] <= 1'b0;
        if (!fill_i) alloc_q <= alloc_q + AW'(new_words);
      end
      if (busy || take) begin
        used_q <= used_q + ((take && !fill_i) ? (AW + 1)'(new_words) : '0)
            - (AW + 1)'(send && !fill_i);
      end
      if (fill_i) begin
        if (take) begin
          rptr_q <= rptr_q + 1'b1;
          read_q <= read_q + 1'b1;
        end
      end else begin
        if (rleft_q != '0) begin
          if (!quit && (!rreq_q || rreq_ready_i)) begin
            rleft_q <= rleft_q - {2'd0, rburst};
            if (rleft_q == {2'd0, rburst}) rptr_q <= rptr_q + 1'b1;
          end
        end else if (rptr_q != push_q) begin
          rleft_q <= beats_q[rptr];
        end
        if (r_valid_i) begin
          if (r_error_i) bad_q[read] <= 1'b1;
          beat_q <= rlast ? '0 : beat_q + 9'd1;
          if (rlast) read_q <= read_q + 1'b1;
        end
      end
      if (wgo && !bad_q[wptr]) begin
        wbusy_q <= 1'b1;
      end else if (wbusy_q && !fail_q && (!wreq_q || wreq_ready_i)) begin
        if (wleft_q == {2'd0, wburst}) begin
          wbusy_q <= 1'b0;
          wptr_q <= wptr_q + 1'b1;
        end
      end
      if (send) begin
        rp_q <= rp;
        word_q <= wlast ? '0 : word_q + 9'd1;
        if (wlast) sent_q <= sent_q + 1'b1;
      end
      if (b_valid_i && !fail_q) begin
        got_q <= answered ? '0 : got_q + 3'd1;
        wbad_q <= (wbad_q || b_error_i) && !answered;
        if (retire_o) done_q <= done_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rreq_q <= 1'b0;
      wreq_q <= 1'b0;
      rout_q <= '0;
      owed_q <= '0;
      bout_q <= '0;
      fail_q <= 1'b0;
    end else begin
      if (!rreq_q || rreq_ready_i) rreq_q <= (rleft_q != '0) && !quit;
      if (!wreq_q || wreq_ready_i) wreq_q <= wbusy_q && !fail_q;
      if (busy) begin
        rout_q <= rout_q + ((rreq_q && rreq_ready_i) ? (AW + 1)'(rreq_beats_q) : '0)
            - (AW + 1)'(r_valid_i);
        owed_q <= owed_q + ((wreq_q && wreq_ready_i) ? 11'(wreq_beats_q) : '0) - 11'(send);
        bout_q <= bout_q + 6'(wreq_q && wreq_ready_i) - 6'(b_valid_i);
      end
      if (clear_i) fail_q <= 1'b0;
      // A piece that could not be read is told when all before it are done.
      if (wgo && bad_q[wptr] && wptr_q == done_q) fail_q <= 1'b1;
      if (answered && (wbad_q || b_error_i)) fail_q <= 1'b1;
    end
    if (!fail_q) begin
      if (answered) begin
        fail_write_q <= 1'b1;
        fail_addr_q <= dst_q[done];
        fail_bytes_q <= bytes_q[done];
      end else if (wgo) begin
        fail_write_q <= 1'b0;
        fail_addr_q <= src_q[wptr];
        fail_bytes_q <= bytes_q[wptr];
      end
    end
    if (!rreq_q || rreq_ready_i) begin
      rreq_word_q <= rword_q;
      rreq_beats_q <= rburst;
    end
    if (rleft_q == '0) rword_q <= src_q[rptr][63:4];
    else if (!rreq_q || rreq_ready_i) rword_q <= rword_q + {53'd0, rburst};
    if (!wreq_q || wreq_ready_i) begin
      wreq_word_q <= wword_q;
      wreq_beats_q <= wburst;
    end
    if (!wbusy_q) begin
      wword_q <= dst_q[wptr][63:4];
      wleft_q <= words_q[wptr];
    end else if (!wreq_q || wreq_ready_i) begin
      wword_q <= wword_q + {53'd0, wburst};
      wleft_q <= wleft_q - {2'd0, wburst};
    end
    if (take) begin
      src_q[push] <= piece_src_i;
      dst_q[push] <= piece_dst_i;
      bytes_q[push] <= piece_bytes_i;
      words_q[push] <= new_words;
      beats_q[push] <= new_beats;
      head_q[push] <= 16'hffff << piece_dst_i[3:0];
      tail_q[push] <= 16'hffff >> (4'd15 - new_end[3:0]);
      base_q[push] <= alloc_q;
      bursts_q[push] <= 3'(({4'd0, piece_dst_i[9:4]} + {1'b0, new_words} + 10'd63) >> 6);
    end
  end

`ifndef SYNTHESIS
  // Each pointer follows the one before; answers come to what was asked.
  always_ff @(posedge clk_i)
    if (rst_ni && (busy || take || r_valid_i || b_valid_i)) begin
      assert (push_q - done_q <= (SW + 1)'(SLOTS));
      assert (rptr_q - done_q <= push_q - done_q);
      assert (read_q - done_q <= rptr_q - done_q);
      assert (wptr_q - done_q <= read_q - done_q);
      assert (sent_q - done_q <= wptr_q - done_q);
      assert (used_q <= (AW + 1)'(WORDS));
      assert (!r_valid_i || rout_q != '0);
      assert (!b_valid_i || bout_q != '0);
    end
`endif
endmodule
