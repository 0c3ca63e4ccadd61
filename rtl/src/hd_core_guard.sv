// SPDX-License-Identifier: Apache-2.0
// Between the core and the front end: ends what the core does, at once and whatever state it is in,
// without breaking a transfer on the memory port; and keeps PROGRESS going over it.
//
// reset_i (a pulse): no new request of the core goes out any more (one that waits outside is not
// withdrawn), the answers and write data of those under way pass until none is missing, then the
// core's reset is low for four cycles. busy_o is high from the next cycle until then, and while the
// core itself is busy. Whatever the core reports meanwhile is not passed on.
// Requests of master 0, which pass through the core, must have ended before.
//
//   reset_i in t | busy_o in t+1 | core_rst_no low from the cycle after the last answer on
module hd_core_guard (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        reset_i,
    output logic        busy_o,
    output logic        done_o,
    output logic [31:0] progress_o,   // since power-up
    // core
    output logic        core_rst_no,
    input  logic        core_busy_i,
    input  logic        core_done_i,
    input  logic [31:0] core_progress_i,
    // memory port of the core: what decides
    input  logic        core_req_valid_i,
    output logic        core_req_ready_o,
    input  logic        core_req_write_i,
    input  logic [6:0]  core_req_beats_i,
    // and to the outside
    output logic        req_valid_o,
    input  logic        req_ready_i,
    input  logic        r_take_i,     // a beat of read data has been taken
    input  logic        b_valid_i
);
  localparam [1:0] PASS = 2'd0, DRAIN = 2'd1, LOW = 2'd2;
  logic [1:0] state_q;
  logic [1:0] low_q;
  logic block_q;
  logic rst_q;
  logic [16:0] reads_q;   // beats to come
  logic [10:0] writes_q;  // answers to come
  logic [31:0] base_q;
  logic accept;

  assign accept = req_valid_o && req_ready_i;
  assign req_valid_o = core_req_valid_i && !block_q;
  assign core_req_ready_o = req_ready_i && !block_q;
  assign core_rst_no = rst_q;
  assign busy_o = (state_q != PASS) || core_busy_i;
  assign done_o = core_done_i && (state_q == PASS) && !reset_i;
  assign progress_o = base_q + core_progress_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= PASS;
      block_q <= 1'b0;
      rst_q <= 1'b0;
      reads_q <= '0;
      writes_q <= '0;
      base_q <= '0;
    end else begin
      rst_q <= 1'b1;
      if (accept || r_take_i || b_valid_i) begin
`ifndef SYNTHESIS
        // Answers come to what was asked.
        assert (!r_take_i || reads_q != '0);
        assert (!b_valid_i || writes_q != '0);
`endif
        reads_q <= reads_q + ((accept && !core_req_write_i) ? 17'(core_req_beats_i) : '0)
            - 17'(r_take_i);
        writes_q <= writes_q + 11'(accept && core_req_write_i) - 11'(b_valid_i);
      end
      case (state_q)
        DRAIN: begin
          if (!req_valid_o || req_ready_i) block_q <= 1'b1;
          if (block_q && reads_q == '0 && writes_q == '0) begin
            state_q <= LOW;
            low_q <= 2'd3;
            rst_q <= 1'b0;
          end
        end
        LOW: begin
          low_q <= low_q - 2'd1;
          rst_q <= (low_q == 2'd0);
          // The core's own count goes to zero at the end of the first cycle.
          if (low_q == 2'd3) base_q <= base_q + core_progress_i;
          if (low_q == 2'd0) begin
            state_q <= PASS;
            block_q <= 1'b0;
          end
        end
        default: if (reset_i) state_q <= DRAIN;
      endcase
    end
  end
endmodule
