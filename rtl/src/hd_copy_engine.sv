// SPDX-License-Identifier: Apache-2.0
// The copy engine: runs a copy_in, copy_out, copy or fill step (descriptors.toml).
//
// start_i (a pulse while idle) with step_i, stable until done_o (a pulse), which comes with
// status_o, fault_addr_o and bytes_copied_o; nothing is under way then. The work goes in pieces of
// at most 4 KiB: of a copy with host memory they end at page boundaries of the host, of a copy
// within device memory and of a fill they count from its start (from its end if the destination
// lies above the source, so that the copy is as if the source had been read first). piece_o is a
// pulse for each piece that is visible. stop_i ends the step after the pieces that are being
// written; the step has then failed as aborted, even if it was the last one.
//
// Everything in host memory is checked when it is read: the scatter list is read twice, and what
// it says the second time cannot lead out of the checked range of device memory.
//
// fault_addr_o: length or list of a malformed step; first address that device memory lacks; host
// or device address of the piece that failed, or of the chunk of the list that could not be read.
// A device address that failed because memory shrank meanwhile is copy_bounds, else bus_error.
//
// Reads of pieces and of the list share the host's answer path in the order of their requests.
//
//   16 bytes per cycle; from start_i to the first read request 3 cycles, after the list is checked
module hd_copy_engine (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic [63:0]                  dram_bytes_i,
    input  logic                         start_i,
    input  logic [8*heddle_pkg::STEP_BYTES-1:0] step_i,
    input  logic                         stop_i,
    output logic                         done_o,
    output logic [7:0]                   status_o,
    output logic [63:0]                  fault_addr_o,
    output logic [63:0]                  bytes_copied_o,
    output logic                         piece_o,
    // host memory
    output logic                         host_req_valid_o,
    input  logic                         host_req_ready_i,
    output logic                         host_req_write_o,
    output logic [63:0]                  host_req_addr_o,
    output logic [6:0]                   host_req_beats_o,
    output logic                         host_w_valid_o,
    input  logic                         host_w_ready_i,
    output logic [127:0]                 host_w_data_o,
    output logic [15:0]                  host_w_strb_o,
    input  logic                         host_r_valid_i,
    input  logic [127:0]                 host_r_data_i,
    input  logic                         host_r_error_i,
    input  logic                         host_b_valid_i,
    input  logic                         host_b_error_i,
    // device memory
    output logic                         mem_req_valid_o,
    input  logic                         mem_req_ready_i,
    output logic                         mem_req_write_o,
    output logic [hd_pkg::MEM_AW-1:0]    mem_req_addr_o,
    output logic [6:0]                   mem_req_beats_o,
    output logic                         mem_w_valid_o,
    input  logic                         mem_w_ready_i,
    output logic [127:0]                 mem_w_data_o,
    output logic [15:0]                  mem_w_strb_o,
    input  logic                         mem_r_valid_i,
    input  logic [127:0]                 mem_r_data_i,
    input  logic                         mem_r_error_i,
    input  logic                         mem_b_valid_i,
    input  logic                         mem_b_error_i
);
  localparam [63:0] PIECE = {32'd0, heddle_pkg::PAGE_BYTES};
  localparam [2:0] IDLE = 3'd0, LOOK = 3'd1, BOUNDS = 3'd2, LIST = 3'd3, MOVE = 3'd4, DRAIN = 3'd5;

  logic [2:0] state_q;
  heddle_pkg::step_t step;
  assign step = step_i;
  logic is_in, is_out, is_copy, is_fill, with_host;
  assign is_in = step.type_ == heddle_pkg::STEP_TYPE_COPY_IN;
  assign is_out = step.type_ == heddle_pkg::STEP_TYPE_COPY_OUT;
  assign is_copy = step.type_ == heddle_pkg::STEP_TYPE_COPY;
  assign is_fill = step.type_ == heddle_pkg::STEP_TYPE_FILL;
  assign with_host = is_in || is_out;

  // -- Bounds of [device_address, + length) and [destination, + length)
  logic length_bad, device_out, destination_out;
  assign length_bad = (step.length == 64'd0) || (step.length > heddle_pkg::FILL_BYTES_MAX);
  assign device_out = (step.length > dram_bytes_i)
      || (step.device_address > dram_bytes_i - step.length);
  assign destination_out = (step.length > dram_bytes_i)
      || (step.destination > dram_bytes_i - step.length);

  logic list_bad;
  assign list_bad = (step.sg_count == 32'd0) || (step.sg_count > heddle_pkg::SG_ENTRIES_MAX)
      || (step.table_iova[3:0] != 4'd0);

  // -- Pieces to move
  logic [63:0] device_q, left_q;     // next device address; bytes not handed to the mover
  logic [63:0] iova_q, rest_q;       // of the entry
  logic [63:0] page_left, bytes, moved;
  logic down, piece_valid, piece_ready, more;
  logic [63:0] piece_src, piece_dst;
  logic entry_valid, entry_ready, list_end, list_error;
  logic [63:0] entry_iova, entry_length;
  assign down = step.destination > step.device_address;
  assign page_left = PIECE - {52'd0, iova_q[11:0]};
  assign moved = down ? left_q - bytes : step.length - left_q;
  always_comb begin
    bytes = PIECE;
    piece_src = 64'd0;
    piece_dst = 64'd0;
    if (state_q == MOVE) begin
      if (with_host) begin
        bytes = (rest_q < page_left) ? rest_q : page_left;
        piece_src = is_in ? iova_q : device_q;
        piece_dst = is_in ? device_q : iova_q;
      end else begin
        bytes = (left_q < PIECE) ? left_q : PIECE;
        piece_src = step.device_address + moved;
        piece_dst = is_fill ? device_q : step.destination + moved;
      end
    end
  end
  assign more = with_host ? (rest_q != 64'd0) : (left_q != 64'd0);
  assign piece_valid = (state_q == MOVE) && more;
  assign entry_ready = (state_q == MOVE) && (rest_q == 64'd0);

  logic fail, fail_write, idle, clear, retire, list_idle, list_done;
  logic [63:0] fail_addr, list_fault, fail_last;
  logic [12:0] fail_bytes, retire_bytes;
  logic [7:0] list_status;
  logic check_q, feed_q;
  assign clear = (state_q == LOOK);
  assign fail_last = fail_addr + {51'd0, fail_bytes};
  assign piece_o = retire;

  // -- Ports of the parts
  logic rreq_valid, rreq_ready, wreq_valid, wreq_ready, lreq_valid, lreq_ready;
  logic [63:0] rreq_addr, wreq_addr, lreq_addr;
  logic [6:0] rreq_beats, wreq_beats, lreq_beats;
  logic r_valid, r_error, l_valid, w_valid, w_ready, b_valid, b_error;
  logic [127:0] r_data, w_data;
  logic [15:0] w_strb;

  hd_copy_list u_list (
      .clk_i,
      .rst_ni,
      .check_i(check_q),
      .feed_i(feed_q),
      .table_iova_i(step.table_iova),
      .count_i(step.sg_count[16:0]),
      .length_i(step.length),
      .stop_i(stop_i || fail),
      .check_done_o(list_done),
      .status_o(list_status),
      .fault_addr_o(list_fault),
      .entry_valid_o(entry_valid),
      .entry_ready_i(entry_ready),
      .entry_iova_o(entry_iova),
      .entry_length_o(entry_length),
      .end_o(list_end),
      .feed_error_o(list_error),
      .idle_o(list_idle),
      .req_valid_o(lreq_valid),
      .req_ready_i(lreq_ready),
      .req_addr_o(lreq_addr),
      .req_beats_o(lreq_beats),
      .r_valid_i(l_valid),
      .r_data_i(host_r_data_i),
      .r_error_i(host_r_error_i)
  );

  hd_copy_mover u_mover (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .fill_i(is_fill),
      .pattern_i(step.fill_value),
      .piece_valid_i(piece_valid),
      .piece_ready_o(piece_ready),
      .piece_src_i(piece_src),
      .piece_dst_i(piece_dst),
      .piece_bytes_i(bytes[12:0]),
      .stop_i(stop_i),
      .retire_o(retire),
      .retire_bytes_o(retire_bytes),
      .fail_o(fail),
      .fail_write_o(fail_write),
      .fail_addr_o(fail_addr),
      .fail_bytes_o(fail_bytes),
      .idle_o(idle),
      .rreq_valid_o(rreq_valid),
      .rreq_ready_i(rreq_ready),
      .rreq_addr_o(rreq_addr),
      .rreq_beats_o(rreq_beats),
      .r_valid_i(r_valid),
      .r_data_i(r_data),
      .r_error_i(r_error),
      .wreq_valid_o(wreq_valid),
      .wreq_ready_i(wreq_ready),
      .wreq_addr_o(wreq_addr),
      .wreq_beats_o(wreq_beats),
      .w_valid_o(w_valid),
      .w_ready_i(w_ready),
      .w_data_o(w_data),
      .w_strb_o(w_strb),
      .b_valid_i(b_valid),
      .b_error_i(b_error)
  );

  // -- Host port: list, then pieces. Whose answer comes next is in a FIFO of 32 bursts.
  logic [6:0] order_beats, order_beat_q;  // of the oldest burst; those of it that are here
  logic order_full, order_room, order_list, pick_list, order_last;
  hd_fifo #(.W(8), .DEPTH(32)) u_order (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .push_i(host_req_valid_o && host_req_ready_i && !host_req_write_o),
      .data_i({pick_list, host_req_beats_o}), .full_o(order_full),
      .valid_o(), .data_o({order_list, order_beats}), .pop_i(order_last), .level_o()
  );
  assign order_room = !order_full;
  assign order_last = host_r_valid_i && (order_beat_q + 7'd1 == order_beats);
  // A request stays on the port until it is accepted: the list may not overtake one that waits.
  logic waiting_q;
  assign pick_list = lreq_valid && !waiting_q;
  always_comb begin
    host_req_valid_o = 1'b0;
    host_req_write_o = 1'b0;
    host_req_addr_o  = lreq_addr;
    host_req_beats_o = lreq_beats;
    lreq_ready = 1'b0;
    if (pick_list) begin
      host_req_valid_o = order_room;
      lreq_ready = order_room && host_req_ready_i;
    end else if (is_in) begin
      host_req_valid_o = rreq_valid && order_room;
      host_req_addr_o  = rreq_addr;
      host_req_beats_o = rreq_beats;
    end else if (is_out) begin
      host_req_valid_o = wreq_valid;
      host_req_write_o = 1'b1;
      host_req_addr_o  = wreq_addr;
      host_req_beats_o = wreq_beats;
    end
  end
  assign l_valid = host_r_valid_i && order_list;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      order_beat_q <= '0;
      waiting_q <= 1'b0;
    end else begin
      waiting_q <= host_req_valid_o && !host_req_ready_i && !pick_list;
      if (host_r_valid_i) order_beat_q <= order_last ? 7'd0 : order_beat_q + 7'd1;
    end
  end

  // -- Device port: writes first, unless a read waits already.
  logic mem_read_q, mem_pick_read;
  assign mem_pick_read = !is_in && rreq_valid && (mem_read_q || is_out || !wreq_valid);
  assign mem_req_valid_o = mem_pick_read || (!is_out && wreq_valid);
  assign mem_req_write_o = !mem_pick_read;
  assign mem_req_addr_o = mem_pick_read ? rreq_addr[hd_pkg::MEM_AW-1:0]
      : wreq_addr[hd_pkg::MEM_AW-1:0];
  assign mem_req_beats_o = mem_pick_read ? rreq_beats : wreq_beats;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) mem_read_q <= 1'b0;
    else mem_read_q <= mem_pick_read && !mem_req_ready_i;
  end

  assign rreq_ready = is_in ? host_req_ready_i && order_room && !pick_list
      : mem_req_ready_i && mem_pick_read;
  assign wreq_ready = is_out ? host_req_ready_i && !pick_list : mem_req_ready_i && !mem_pick_read;
  assign r_valid = is_in ? host_r_valid_i && !order_list : mem_r_valid_i;
  assign r_data = is_in ? host_r_data_i : mem_r_data_i;
  assign r_error = is_in ? host_r_error_i : mem_r_error_i;
  assign host_w_valid_o = is_out && w_valid;
  assign host_w_data_o = w_data;
  assign host_w_strb_o = w_strb;
  assign mem_w_valid_o = !is_out && w_valid;
  assign mem_w_data_o = w_data;
  assign mem_w_strb_o = w_strb;
  assign w_ready = is_out ? host_w_ready_i : mem_w_ready_i;
  assign b_valid = is_out ? host_b_valid_i : mem_b_valid_i;
  assign b_error = is_out ? host_b_error_i : mem_b_error_i;

  // -- The step
  logic done_q, stopped_q;
  logic [7:0] status_q;
  logic [63:0] fault_q, copied_q;
  logic fed;  // the mover has all pieces
  assign fed = with_host ? list_end && rest_q == 64'd0 : left_q == 64'd0;
  assign done_o = done_q;
  assign status_o = status_q;
  assign fault_addr_o = fault_q;
  assign bytes_copied_o = copied_q;

  always_ff @(posedge clk_i) begin
    done_q  <= 1'b0;
    check_q <= 1'b0;
    feed_q  <= 1'b0;
    if (!rst_ni) begin
      state_q <= IDLE;
    end else begin
      case (state_q)
        LOOK: begin
          status_q <= heddle_pkg::ERROR_OK[7:0];
          fault_q <= 64'd0;
          copied_q <= 64'd0;
          stopped_q <= 1'b0;
          device_q <= step.device_address;
          left_q <= step.length;
          rest_q <= 64'd0;
          state_q <= BOUNDS;
        end
        BOUNDS: begin
          state_q <= with_host ? LIST : MOVE;
          check_q <= with_host;
          if (length_bad) begin
            status_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR[7:0];
            fault_q <= step.length;
          end else if (device_out) begin
            status_q <= heddle_pkg::ERROR_COPY_BOUNDS[7:0];
            fault_q <= (step.device_address > dram_bytes_i) ? step.device_address : dram_bytes_i;
          end else if (is_copy && destination_out) begin
            status_q <= heddle_pkg::ERROR_COPY_BOUNDS[7:0];
            fault_q <= (step.destination > dram_bytes_i) ? step.destination : dram_bytes_i;
          end else if (is_fill && step.length[1:0] != 2'd0) begin
            status_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR[7:0];
            fault_q <= step.length;
          end else if (with_host && list_bad) begin
            status_q <= heddle_pkg::ERROR_ILLEGAL_DESCRIPTOR[7:0];
            fault_q <= step.table_iova;
          end
          if (length_bad || device_out || (is_copy && destination_out) || (with_host && list_bad)
              || (is_fill && step.length[1:0] != 2'd0)) begin
            check_q <= 1'b0;
            done_q  <= 1'b1;
            state_q <= IDLE;
          end
        end
        LIST: begin
          if (list_done) begin
            status_q <= list_status;
            fault_q <= list_fault;
            if (list_status == heddle_pkg::ERROR_OK[7:0]) begin
              fault_q <= 64'd0;
              feed_q  <= 1'b1;
              state_q <= MOVE;
            end else begin
              done_q  <= 1'b1;
              state_q <= IDLE;
            end
          end
        end
        MOVE: begin
          if (entry_valid && entry_ready) begin
            iova_q <= entry_iova;
            rest_q <= (entry_length < left_q) ? entry_length : left_q;
          end
          if (piece_valid && piece_ready) begin
            left_q <= left_q - bytes;
            rest_q <= rest_q - bytes;
            iova_q <= iova_q + bytes;
            device_q <= device_q + bytes;
          end
          if (stop_i || fail || (fed && !feed_q)) state_q <= DRAIN;
        end
        DRAIN: begin
          if (idle && list_idle) begin
            done_q  <= 1'b1;
            state_q <= IDLE;
            if (fail) begin
              fault_q <= fail_addr;
              if (with_host && (fail_write == is_out)) status_q <= heddle_pkg::ERROR_HOST_DMA[7:0];
              else if (fail_last > dram_bytes_i) status_q <= heddle_pkg::ERROR_COPY_BOUNDS[7:0];
              else status_q <= heddle_pkg::ERROR_BUS_ERROR[7:0];
            end else if (stop_i || stopped_q) begin
              status_q <= heddle_pkg::ERROR_ABORTED[7:0];
            end else if (with_host && list_error) begin
              status_q <= heddle_pkg::ERROR_HOST_DMA[7:0];
              fault_q <= list_fault;
            end
          end
        end
        default: if (start_i) state_q <= LOOK;
      endcase
      if (state_q != IDLE && state_q != LOOK && stop_i) stopped_q <= 1'b1;
      if (retire && with_host) copied_q <= copied_q + {51'd0, retire_bytes};
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && start_i) assert (state_q == IDLE);
`endif
endmodule
