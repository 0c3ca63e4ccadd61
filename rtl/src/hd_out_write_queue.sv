// SPDX-License-Identifier: Apache-2.0
// Queue of words to write, in order, up to two in and two out per cycle; the pair of SRAM clients.
//
// An entry is a word with its address, or only a mark (nop) that ends a command; last ends one as
// well. Two words out per cycle make up for lost SRAM slots where a word comes in every cycle.
// done_o is given when an entry with last leaves (at most one per cycle; not before last_ok_i, that
// is the command's res_read_o). Entries are pushed only while room_o says so: at least 2 + SPARE
// places are free, SPARE being words under way in the read-modify-write pipeline.
// A word beyond the SRAM is not written; fault_o stands when such a word is at the head: everything
// before it has been written, and nothing is requested any more.
// hit_o: some queued word has address look_i (for the interlock of read-modify-write).
module hd_out_write_queue #(
    parameter int SRAM_WORDS = 32768,
    parameter int DEPTH = 16,
    parameter int LOW = 6,
    parameter int SPARE = 4
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  stop_i,
    input  logic [1:0]            push_i,   // [1] only with [0]
    input  logic [1:0]            nop_i,
    input  logic [1:0]            last_i,
    input  logic [35:0]           addr0_i,
    input  logic [35:0]           addr1_i,
    input  logic [127:0]          data0_i,
    input  logic [127:0]          data1_i,
    output logic                  room_o,
    output logic                  empty_o,
    input  logic                  look_en_i,
    input  logic [35:0]           look_i,
    output logic                  hit_o,
    input  logic                  last_ok_i,
    output logic                  done_o,
    output logic                  fault_o,
    output logic [35:0]           fault_addr_o,
    output logic [1:0]            req_o,
    output logic                  urgent_o,
    output logic [2*hd_pkg::AW-1:0] addr_o,
    output logic [255:0]          wdata_o,
    input  logic [1:0]            gnt_i
);
  localparam int IW = $clog2(DEPTH);
  localparam int AW = hd_pkg::AW;
  localparam logic [35:0] WORDS = 36'(SRAM_WORDS);
  logic [127:0] data_q [0:DEPTH-1];
  logic [35:0] addr_q [0:DEPTH-1];
  logic [DEPTH-1:0] nop_q, last_q, used_q;
  logic [IW-1:0] wp_q, rp_q, wp1, rp1;
  logic [7:0] level_q;
  assign wp1 = wp_q + IW'(1);
  assign rp1 = rp_q + IW'(1);
  assign room_o = level_q <= 8'(DEPTH - 2 - SPARE);
  assign empty_o = level_q == 8'd0;
  assign urgent_o = level_q >= 8'(LOW);

  logic have0, have1, bad0, bad1, real0, real1, pop0, pop1, ok0;
  logic [35:0] a0, a1;
  assign a0 = addr_q[rp_q];
  assign a1 = addr_q[rp1];
  assign have0 = level_q != 8'd0;
  assign have1 = level_q > 8'd1;
  assign bad0 = !nop_q[rp_q] && (a0 >= WORDS);
  assign bad1 = !nop_q[rp1] && (a1 >= WORDS);
  assign ok0 = have0 && !bad0 && !(last_q[rp_q] && !last_ok_i);
  assign real0 = ok0 && !nop_q[rp_q];
  // The second goes only if the first does; one command ends per cycle.
  assign real1 = ok0 && have1 && !bad1 && !nop_q[rp1] && (!last_q[rp1] || (last_ok_i && !last_q[rp_q]));
  assign req_o = stop_i ? 2'b00 : {real1, real0};
  assign addr_o = {a1[AW-1:0], a0[AW-1:0]};
  assign wdata_o = {data_q[rp1], data_q[rp_q]};
  assign pop0 = ok0 && !stop_i && (nop_q[rp_q] || gnt_i[0]);
  assign pop1 = pop0 && real1 && gnt_i[1];
  assign done_o = (pop0 && last_q[rp_q]) || (pop1 && last_q[rp1]);
  assign fault_o = have0 && bad0;
  assign fault_addr_o = a0;

  always_comb begin
    hit_o = 1'b0;
    if (look_en_i)
      for (int i = 0; i < DEPTH; i++)
        if (used_q[i] && !nop_q[i] && addr_q[i] == look_i) hit_o = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wp_q <= '0;
      rp_q <= '0;
      level_q <= 8'd0;
      used_q <= '0;
    end else begin
      if (push_i[0]) begin
        used_q[wp_q] <= 1'b1;
        nop_q[wp_q] <= nop_i[0];
        last_q[wp_q] <= last_i[0];
      end
      if (push_i[1]) begin
        used_q[wp1] <= 1'b1;
        nop_q[wp1] <= nop_i[1];
        last_q[wp1] <= last_i[1];
      end
      if (pop0) used_q[rp_q] <= 1'b0;
      if (pop1) used_q[rp1] <= 1'b0;
      wp_q <= wp_q + IW'(push_i[0]) + IW'(push_i[1]);
      rp_q <= rp_q + IW'(pop0) + IW'(pop1);
      level_q <= level_q + {7'd0, push_i[0]} + {7'd0, push_i[1]} - {7'd0, pop0} - {7'd0, pop1};
    end
    if (push_i[0]) begin
      addr_q[wp_q] <= addr0_i;
      data_q[wp_q] <= data0_i;
    end
    if (push_i[1]) begin
      addr_q[wp1] <= addr1_i;
      data_q[wp1] <= data1_i;
    end
  end

`ifndef SYNTHESIS
  // The contract of the ports, and what the state never is.
  always_ff @(posedge clk_i)
    if (rst_ni && (level_q != 8'd0 || push_i != 2'b00)) begin
      assert (level_q <= 8'(DEPTH));
      assert (!push_i[1] || push_i[0]);
      assert (push_i == 2'b00 || level_q <= 8'(DEPTH - 2));
    end
`endif
endmodule
