// SPDX-License-Identifier: Apache-2.0
// The trace of a job's commands: what each engine has accepted and not retired, when, and why it
// stood still; an entry for each command that retires (descriptors.toml, trace_entry).
//
// The clock runs in reset and while a job is traced, so that nothing of it moves for other jobs.
// new_i (a level, before the first stream of a job): counts from zero. clear_i (a stream begins):
// forgets commands that were never done. Engines: bit or field 0 load, 1 store, 2 matrix, 3 vector.
//   accept_i  the engine takes a command
//   done_i    its oldest is done: no later than that is it forgotten
//   retire_i  and counts, as the command that command_i names; only with done_i
//   stall_i   bit 3 * engine + reason
//
// A command that retires in cycle t is in a FIFO of its engine in t+1 (valid_o, if it is alone).
// Of several engines' entries those of one engine are in order; index_o says which command of the
// job it is. If a FIFO is full the entry is lost, and its number is given to no other: DEPTH commands
// of an engine may retire while the host's port is the copy engine's.
//
// flags_o.step is 0: who writes the entries knows it.
//
// Storage: 4 x (8 x 32 + DEPTH x 252) bits.
module hd_trace #(
    parameter int DEPTH = 8
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         new_i,
    input  logic         clear_i,
    input  logic [31:0]  cycle_i,
    // engines
    input  logic [3:0]   accept_i,
    input  logic [3:0]   done_i,
    input  logic [3:0]   retire_i,
    input  logic [4*hd_pkg::COMMAND_ID_BITS-1:0] command_i,
    input  logic [11:0]  stall_i,
    // entries
    output logic [31:0]  count_o,
    output logic         valid_o,
    input  logic         ready_i,
    output logic [31:0]  index_o,
    output logic [8*heddle_pkg::TRACE_ENTRY_BYTES-1:0] entry_o
);
  localparam int TABLE = 8;  // hd_engine_queue's
  localparam int TW = $clog2(TABLE);

  typedef struct packed {
    logic [31:0] number;
    logic [95:0] stall;   // by reason
    logic [27:0] offset;  // in beats
    logic [31:0] tag;
    logic [31:0] end_;
    logic [31:0] begin_;
  } entry_t;
  localparam int CB = hd_pkg::COMMAND_ID_BITS;
  localparam int W = 32 + 96 + CB + 32 + 32;

  logic [31:0] count_q;
  logic [2:0] retired;
  logic [3:0] valid, pop;
  logic [W-1:0] head [0:3];
  assign retired = {2'd0, retire_i[0]} + {2'd0, retire_i[1]} + {2'd0, retire_i[2]}
      + {2'd0, retire_i[3]};
  assign count_o = count_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || new_i) count_q <= 32'd0;
    else count_q <= count_q + {29'd0, retired};
  end

  generate
    for (genvar e = 0; e < 4; e = e + 1) begin : g_engine
      logic [31:0] begin_q [0:TABLE-1];
      logic [TW:0] accept_q, done_q;
      logic [95:0] stall_q, stall;  // of the oldest command, up to the last and with this cycle
      logic [31:0] number;          // its own, should it retire
      logic [W-1:0] entry;
      logic held, full;
      assign held = (accept_q != done_q);
      assign stall = {stall_q[95:64] + {31'd0, stall_i[3*e+2]},
                      stall_q[63:32] + {31'd0, stall_i[3*e+1]},
                      stall_q[31:0] + {31'd0, stall_i[3*e]}};
      if (e == 0) begin : g_first
        assign number = count_q;
      end else begin : g_behind
        logic [1:0] below;
        always_comb begin
          below = 2'd0;
          for (int i = 0; i < e; i++) below = below + {1'b0, retire_i[i]};
        end
        assign number = count_q + {30'd0, below};
      end
      // An entry_t, and a command_id_t in it; yosys takes no structs in here.
      assign entry = {number, stall, command_i[CB*e +: CB], cycle_i, begin_q[done_q[TW-1:0]]};

      always_ff @(posedge clk_i) begin
        if (!rst_ni || clear_i) begin
          accept_q <= '0;
          done_q <= '0;
          stall_q <= '0;
        end else begin
          if (accept_i[e]) accept_q <= accept_q + (TW + 1)'(1);
          if (done_i[e] && held) done_q <= done_q + (TW + 1)'(1);
          if (done_i[e]) stall_q <= '0;
          else if (held) stall_q <= stall;
        end
        if (accept_i[e]) begin_q[accept_q[TW-1:0]] <= cycle_i;
      end
`ifndef SYNTHESIS
      always_ff @(posedge clk_i)
        if (rst_ni && !clear_i && held) assert (accept_q - done_q <= (TW + 1)'(TABLE));
`endif

      hd_fifo #(.W(W), .DEPTH(DEPTH)) u_fifo (
          .clk_i, .rst_ni, .clear_i(new_i),
          .push_i(retire_i[e] && held && !full), .data_i(entry), .full_o(full),
          .valid_o(valid[e]), .data_o(head[e]), .pop_i(pop[e]), .level_o()
      );
    end
  endgenerate

  // The engines' entries in turn.
  logic [1:0] turn_q, pick, after;
  entry_t picked;
  always_comb begin
    pick = turn_q;
    after = turn_q;
    for (int i = 3; i >= 1; i--) begin
      after = turn_q + 2'(i);
      if (valid[after]) pick = after;
    end
  end
  always_comb begin
    case (pick)
      2'd0: picked = head[0];
      2'd1: picked = head[1];
      2'd2: picked = head[2];
      default: picked = head[3];
    endcase
  end
  assign valid_o = (valid != 4'd0);
  assign pop = (valid_o && ready_i) ? (4'd1 << pick) : 4'd0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) turn_q <= 2'd0;
    else if (valid_o && ready_i) turn_q <= pick;
  end

  heddle_pkg::trace_entry_t out;
  always_comb begin
    out = '0;
    out.begin_ = picked.begin_;
    out.end_ = picked.end_;
    out.offset = {picked.offset, 4'd0};
    out.tag = picked.tag;
    out.stall = picked.stall;
    out.flags = heddle_pkg::TRACE_ENTRY_FLAGS_VALID_MASK | ({30'd0, pick} + 32'd1);
  end
  assign index_o = picked.number;
  assign entry_o = out;
endmodule
