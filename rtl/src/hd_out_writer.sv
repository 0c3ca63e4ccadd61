// SPDX-License-Identifier: Apache-2.0
// Output FIFO and writer: takes one vector of K codes per cycle and writes up to two words per
// cycle.
//
// The addresses follow the order in which vectors arrive: stripe, output-channel block, row,
// column;
// the words of a vector (K / 16, depthwise one) go to successive planes. Two words per cycle let
// the writer make up for lost SRAM slots where a vector arrives in every cycle (depthwise).
// room_o: a vector may be issued; it counts the vectors under way (issue_i), so the FIFO never
// overflows and the array never stalls. urgent_o: at least LOW words wait.
module hd_out_writer #(
    parameter int K = 16,
    parameter int DEPTH = 32,
    parameter int LOW = 6
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  hd_matrix_pkg::mcmd_t           cmd0_i,
    input  hd_matrix_pkg::mcmd_t           cmd1_i,
    input  logic                           avail_i,
    input  logic                           sel_i,
    output logic                           take_o,
    output logic                           busy_o,
    // vectors
    input  logic                           issue_i,
    output logic                           room_o,
    input  logic                           valid_i,
    input  logic [8*K-1:0]                 y_i,
    // SRAM: a pair of clients
    output logic [1:0]                     req_o,
    output logic                           urgent_o,
    output logic [2*hd_matrix_pkg::AW-1:0] addr_o,
    output logic [255:0]                   wdata_o,
    input  logic [1:0]                     gnt_i
);
  localparam int IW = $clog2(DEPTH);
  localparam int BLOCKS = K / 16;
  localparam [7:0] BLOCKS8 = 8'(BLOCKS);

  // FIFO of vectors; pos_q.blk is the next word of the vector at its head.
  logic [8*K-1:0] mem_q [0:DEPTH-1];
  logic [IW-1:0] wp_q, rp_q, rp1;
  logic [7:0] level_q, used_q;
  assign rp1 = rp_q + IW'(1);
  assign room_o = used_q < 8'(DEPTH);
  assign urgent_o = level_q >= 8'(LOW);

  // Position of the next word, of the one behind it, and of the one behind that.
  logic busy_q, init_q;
  hd_matrix_pkg::mcmd_t cmd_q;
  hd_matrix_pkg::wpos_t pos_q, pos1, pos2;
  logic [15:0] stripe_step_q, block_step;
  logic [7:0] wpv;  // words per vector
  assign wpv = (cmd_q.mode == hd_matrix_pkg::MODE_DW) ? 8'd1 : BLOCKS8;
  assign block_step = (wpv == 8'd1) ? cmd_q.oplane : {cmd_q.oplane[14:0], 1'b0};
  logic vec0, vec1, done0, done1;
  hd_out_step u_step0 (
      .cmd_i        (cmd_q),
      .wpv_i        (wpv),
      .block_step_i (block_step),
      .stripe_step_i(stripe_step_q),
      .pos_i        (pos_q),
      .pos_o        (pos1),
      .vec_o        (vec0),
      .done_o       (done0)
  );
  hd_out_step u_step1 (
      .cmd_i        (cmd_q),
      .wpv_i        (wpv),
      .block_step_i (block_step),
      .stripe_step_i(stripe_step_q),
      .pos_i        (pos1),
      .pos_o        (pos2),
      .vec_o        (vec1),
      .done_o       (done1)
  );
  logic n_done;
  logic [1:0] n_pop;
  assign n_done = (gnt_i[0] && done0) || (gnt_i[1] && done1);
  assign n_pop = {1'b0, gnt_i[0] && vec0} + {1'b0, gnt_i[1] && vec1};

  logic [127:0] word0, word1;
  if (BLOCKS == 1) begin : g_one
    assign word0 = mem_q[rp_q];
    assign word1 = mem_q[rp1];
  end else begin : g_two
    logic [8*K-1:0] vec_a, vec_b;
    assign vec_a = mem_q[rp_q];
    assign vec_b = mem_q[rp1];
    assign word0 = pos_q.blk[0] ? vec_a[255:128] : vec_a[127:0];
    assign word1 = vec0 ? vec_b[127:0] : vec_a[255:128];
  end

  assign req_o[0] = busy_q && (level_q != 8'd0);
  assign req_o[1] = busy_q && !done0 && (vec0 ? (level_q >= 8'd2) : (level_q != 8'd0));
  assign addr_o = {pos1.addr, pos_q.addr};
  assign wdata_o = {word1, word0};
  assign take_o = !busy_q && !init_q && avail_i;
  assign busy_o = busy_q || init_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      init_q <= 1'b0;
      wp_q <= '0;
      rp_q <= '0;
      level_q <= 8'd0;
      used_q <= 8'd0;
    end else begin
      init_q <= take_o;
      if (init_q) busy_q <= 1'b1;
      else if (n_done) busy_q <= 1'b0;
      if (valid_i) wp_q <= wp_q + IW'(1);
      rp_q <= rp_q + IW'(n_pop);
      level_q <= level_q + {7'd0, valid_i} - {6'd0, n_pop};
      used_q <= used_q + {7'd0, issue_i} - {6'd0, n_pop};
    end
    if (valid_i) mem_q[wp_q] <= y_i;
    if (take_o) cmd_q <= sel_i ? cmd1_i : cmd0_i;
    if (init_q) begin
      pos_q.left <= cmd_q.oh;
      pos_q.srow <= (cmd_q.oh < cmd_q.srows) ? cmd_q.oh : cmd_q.srows;
      pos_q.x <= 16'd0;
      pos_q.cob <= 8'd0;
      pos_q.blk <= 8'd0;
      pos_q.stripe_a <= cmd_q.obase;
      pos_q.block_a <= cmd_q.obase;
      pos_q.row_a <= cmd_q.obase;
      pos_q.pix_a <= cmd_q.obase;
      pos_q.addr <= cmd_q.obase;
      stripe_step_q <= cmd_q.srows * cmd_q.opitch;
    end else if (gnt_i[1]) begin
      pos_q <= pos2;
    end else if (gnt_i[0]) begin
      pos_q <= pos1;
    end
  end
endmodule
