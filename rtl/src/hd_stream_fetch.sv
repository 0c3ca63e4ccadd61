// SPDX-License-Identifier: Apache-2.0
// Reads a command stream from device memory, ahead of its use.
//
//   start_i -> requests of up to 16 beats, each to the next 256-byte boundary -> memory
//           -> FIFO of DEPTH beats -> valid_o, data_o (one 128-bit beat = four command words)
//
// cycle 0: start_i; 1: first request; then a request whenever a burst fits into the FIFO, so up to
// DEPTH/16 bursts are under way. 64 beats cover 100 cycles of latency at more than half a beat per
// cycle; the shortest command is one beat, and no engine retires commands at that rate. The FIFO
// always has room for what was asked for, so mem_r_ready_o is constant.
//
// stop_i (level): no further request, FIFO emptied, answers to requests already made are thrown
// away. A request that waits for mem_req_ready_i stays until it is accepted. idle_o: no request
// waits and no answer is missing. start_i only when idle_o. A beat that memory answered with an
// error comes out with error_o.
//
// On-chip memory: hd_fifo of 64 x 129 bits (1 KiB).
module hd_stream_fetch #(
    parameter int DEPTH = 64  // beats; a power of two, at least 16
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         start_i,
    input  logic [39:0]  addr_i,   // 64-byte aligned
    input  logic [27:0]  beats_i,  // length of the stream
    input  logic         stop_i,
    output logic         idle_o,
    // memory port, reads only
    output logic         mem_req_valid_o,
    input  logic         mem_req_ready_i,
    output logic [39:0]  mem_req_addr_o,
    output logic [6:0]   mem_req_beats_o,
    input  logic         mem_r_valid_i,
    output logic         mem_r_ready_o,
    input  logic [127:0] mem_r_data_i,
    input  logic         mem_r_error_i,
    // beats in order
    output logic         valid_o,
    input  logic         ready_i,
    output logic [127:0] data_o,
    output logic         error_o
);
  localparam int LW = $clog2(DEPTH) + 1;

  logic req_q;                // a request waits for memory
  logic [35:0] next_q;        // word address of the next request; of this one while req_q
  logic [4:0] beats_q;        // its length
  logic [27:0] left_q;        // beats not yet asked for, without those of the waiting request
  logic [LW-1:0] room_q;      // free places of the FIFO that no answer will take
  logic [LW-1:0] missing_q;   // beats asked for that have not come

  logic [4:0] to_border, size;
  assign to_border = 5'd16 - {1'b0, next_q[3:0]};
  assign size = (left_q < {23'd0, to_border}) ? left_q[4:0] : to_border;

  logic ask, accept, push, pop;
  assign ask = !req_q && (left_q != '0) && (room_q >= LW'(16)) && !stop_i;
  assign accept = req_q && mem_req_ready_i;
  assign push = mem_r_valid_i && !stop_i;
  assign pop = valid_o && ready_i;

  assign mem_req_valid_o = req_q;
  assign mem_req_addr_o = {next_q, 4'd0};
  assign mem_req_beats_o = {2'd0, beats_q};
  assign mem_r_ready_o = 1'b1;
  assign idle_o = !req_q && (missing_q == '0);

  hd_fifo #(.W(129), .DEPTH(DEPTH)) u_fifo (
      .clk_i, .rst_ni,
      .clear_i(stop_i || start_i),
      .push_i(push), .data_i({mem_r_error_i, mem_r_data_i}), .full_o(),
      .valid_o, .data_o({error_o, data_o}), .pop_i(pop), .level_o()
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
      left_q <= '0;
      room_q <= '0;
      missing_q <= '0;
    end else begin
      if (start_i) begin
        next_q <= addr_i[39:4];
        left_q <= beats_i;
        room_q <= LW'(DEPTH);
      end else begin
        if (stop_i) left_q <= '0;
        else if (ask) left_q <= left_q - {23'd0, size};
        if (ask || pop) begin
`ifndef SYNTHESIS
          assert (room_q <= LW'(DEPTH));
`endif
          room_q <= room_q - (ask ? LW'(size) : LW'(0)) + LW'(pop);
        end
        if (accept) next_q <= next_q + {31'd0, beats_q};
      end
      if (ask) begin
        req_q <= 1'b1;
        beats_q <= size;
      end else if (accept) begin
        req_q <= 1'b0;
      end
      if (ask || mem_r_valid_i) begin
`ifndef SYNTHESIS
        assert (!mem_r_valid_i || missing_q != '0);  // answers come to what was asked
`endif
        missing_q <= missing_q + (ask ? LW'(size) : LW'(0)) - LW'(mem_r_valid_i);
      end
    end
  end

  logic unused;
  assign unused = (addr_i[3:0] != 4'd0);
endmodule
