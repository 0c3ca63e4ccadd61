// SPDX-License-Identifier: Apache-2.0
// Stands in for hd_output_stage until that is there: i32, mode maxpool and plain 8-bit outputs, one
// command at a time. Ports as described in hd_matrix_pkg.
module hd_output_simple #(
    parameter int K = 16,
    parameter int SRAM_WORDS = 32768
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  heddle_pkg::conv_t    cmd0_i,
    input  hd_matrix_pkg::mder_t der0_i,
    input  heddle_pkg::conv_t    cmd1_i,
    input  hd_matrix_pkg::mder_t der1_i,
    input  logic                 avail_i,
    input  logic                 sel_i,
    output logic                 take_o,
    output logic                 res_read_o,
    output logic                 done_o,
    input  logic                 hold_done_i,
    output logic                 fault_o,
    output logic [63:0]          fault_addr_o,
    input  logic                 stop_i,
    output logic                 busy_o,
    input  logic                 issue_i,
    output logic                 room_o,
    input  logic                 valid_i,
    input  logic                 pbank_i,
    input  logic [32*K-1:0]      acc_i,
    input  logic                 pld_i,
    input  logic                 pset_i,
    input  logic [7:0]           pidx_i,
    input  logic [255:0]         pdata_i,
    output logic [2:0]           req_o,
    output logic [2:0]           urgent_o,
    output logic [3*hd_matrix_pkg::AW-1:0] addr_o,
    output logic [255:0]         wdata_o,
    input  logic [2:0]           gnt_i
);
  localparam int DEPTH = 32;
  heddle_pkg::conv_t cmd_q;
  hd_matrix_pkg::mder_t der_q;
  logic busy_q, init_q;
  logic [31:0] issued_q, total_q;
  logic [7:0] used_q, level_q;
  logic [4:0] wp_q, rp_q;
  logic wide;
  assign wide = cmd_q.out_type[1];
  assign take_o = avail_i && !busy_q && !init_q;
  assign busy_o = busy_q || init_q;
  assign room_o = busy_q && (issued_q != total_q) && (used_q < 8'(DEPTH));

  logic [127:0] par_q [0:K-1];
  always_ff @(posedge clk_i)
    if (pld_i) begin
      par_q[{pset_i, pidx_i[$clog2(K/2)-1:0]}] <= pdata_i[127:0];
      par_q[{pset_i, pidx_i[$clog2(K/2)-1:1], 1'b1}] <= pdata_i[255:128];
    end
  logic [3:0] en;
  logic [2:0] v_q;
  logic vout_q;
  logic [32*K-1:0] sum0_q, sum1_q, sum2_q, sum3_q, res, vec;
  logic [8*K-1:0] y;
  assign en = {v_q, valid_i};
  logic signed [15:0] lo, hi;
  assign lo = 16'($signed(cmd_q.act_min)) + 16'($signed(cmd_q.zo));
  assign hi = 16'($signed(cmd_q.act_max)) + 16'($signed(cmd_q.zo));
  logic maxi;
  assign maxi = (cmd_q.mode == heddle_pkg::MATRIX_MODE_MAXPOOL);
  for (genvar k = 0; k < K; k++) begin : g_lane
    localparam int PB = $clog2(K / 2);
    localparam [PB-1:0] WORD = PB'(k / 16 * 8 + k % 16 / 4);
    logic [127:0] bias_w, scale_w;
    assign bias_w = par_q[{pbank_i, WORD}];
    assign scale_w = par_q[{pbank_i, WORD + PB'(4)}];
    hd_requant_lane u_lane (
        .clk_i  (clk_i),
        .en_i   (en),
        .acc_i  (acc_i[32*k +: 32]),
        .bias_i (bias_w[32*(k%4) +: 32]),
        .scale_i(scale_w[32*(k%4) +: 32]),
        .zp_i   (cmd_q.zo[8:0]),
        .lo_i   (lo[8:0]),
        .hi_i   (hi[8:0]),
        .y_o    (y[8*k +: 8])
    );
    always_ff @(posedge clk_i)
      sum0_q[32*k +: 32] <= acc_i[32*k +: 32] + (maxi ? 32'd0 : bias_w[32*(k%4) +: 32]);
    assign vec[32*k +: 32] = wide || maxi ? sum3_q[32*k +: 32] : {24'd0, y[8*k +: 8]};
  end
  always_ff @(posedge clk_i) begin
    v_q <= rst_ni ? en[2:0] : 3'd0;
    vout_q <= rst_ni && en[3];
    sum1_q <= sum0_q;
    sum2_q <= sum1_q;
    sum3_q <= sum2_q;
  end

  logic [32*K-1:0] mem [0:DEPTH-1];
  assign res = mem[rp_q];
  // Position.
  logic [15:0] left_q, xleft_q, y_q, x_q, cob_q;
  logic [2:0] sub_q, subs;  // word of the vector
  logic [1:0] groups;
  assign groups = (K > 16 && !der_q.dwise && {cob_q[14:0], 1'b0} + 16'd1 < der_q.oblocks)
                  ? 2'd2 : 2'd1;
  assign subs = wide ? {groups[0], 2'b00} + {groups[1], 2'b00} + {groups[1], 2'b00} - 3'd1
                     : {1'b0, groups} - 3'd1;
  logic [15:0] row, rows, cols, blk;
  assign row = (cmd_q.out_wrap != 16'd0)
      ? (cmd_q.out_row0 + cmd_q.out_rows - left_q + y_q) % cmd_q.out_wrap
      : cmd_q.out_rows - left_q + y_q;
  assign rows = (left_q < der_q.srows) ? left_q : der_q.srows;
  assign cols = (xleft_q < der_q.scols) ? xleft_q : der_q.scols;
  assign blk = (der_q.dwise ? cob_q : 16'(cob_q * (K / 16)))
               + (wide ? {15'd0, sub_q[2]} : {15'd0, sub_q[0]});
  logic [35:0] addr;
  assign addr = {16'd0, cmd_q.out_addr} + blk * {16'd0, cmd_q.out_plane}
                + row * {20'd0, cmd_q.out_pitch}
                + (cmd_q.ow - xleft_q + x_q) * {28'd0, cmd_q.out_xstep}
                + (wide ? {34'd0, sub_q[1:0]} : 36'd0);
  always_comb begin
    wdata_o = '0;
    if (wide) wdata_o[127:0] = res[128*sub_q +: 128];
    else
      for (int k = 0; k < 16; k++)
        wdata_o[8*k +: 8] = sub_q[0] && K > 16 ? res[32*((k+16)%K) +: 8] : res[32*k +: 8];
  end
  assign req_o = {2'b00, busy_q && level_q != 8'd0 && !fault_q && !stop_i && addr < 36'(SRAM_WORDS)};
  assign urgent_o = {2'b00, level_q >= 8'd6};
  assign addr_o = {32'd0, addr[15:0]};
  logic fault_q;
  logic [63:0] fault_addr_q;
  assign fault_o = fault_q;
  assign fault_addr_o = fault_addr_q;

  logic go, vec_end, x_last, y_last, c_last, xl, yl, all_end;
  assign go = gnt_i[0];
  assign vec_end = go && (sub_q == subs);
  assign x_last = (x_q + 16'd1 == cols);
  assign y_last = (y_q + 16'd1 == rows);
  assign c_last = (cob_q + 16'd1 == der_q.cobs);
  assign xl = (xleft_q <= der_q.scols);
  assign yl = (left_q <= der_q.srows);
  assign all_end = vec_end && x_last && y_last && c_last && xl && yl;
  assign done_o = busy_q && (all_end || hold_done_i);
  assign res_read_o = done_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      init_q <= 1'b0;
      wp_q <= '0;
      rp_q <= '0;
      level_q <= '0;
      used_q <= '0;
      fault_q <= 1'b0;
    end else begin
      init_q <= take_o;
      if (take_o) begin
        cmd_q <= sel_i ? cmd1_i : cmd0_i;
        der_q <= sel_i ? der1_i : der0_i;
      end
      if (init_q) begin
        busy_q <= 1'b1;
        issued_q <= 32'd0;
        total_q <= cmd_q.acc_hold ? 32'd0 : {16'd0, cmd_q.out_rows} * cmd_q.ow * der_q.cobs;
        left_q <= cmd_q.out_rows;
        xleft_q <= cmd_q.ow;
        y_q <= 16'd0;
        x_q <= 16'd0;
        cob_q <= 16'd0;
        sub_q <= 3'd0;
      end
      if (issue_i) issued_q <= issued_q + 32'd1;
      used_q <= used_q + {7'd0, issue_i} - {7'd0, vec_end};
      level_q <= level_q + {7'd0, vout_q} - {7'd0, vec_end};
      if (vout_q) begin
        mem[wp_q] <= vec;
        wp_q <= wp_q + 5'd1;
      end
      if (busy_q && level_q != 8'd0 && addr >= 36'(SRAM_WORDS) && !fault_q) begin
        fault_q <= 1'b1;
        fault_addr_q <= {24'd0, addr, 4'd0};
      end
      if (go) sub_q <= (sub_q == subs) ? 3'd0 : sub_q + 3'd1;
      if (vec_end) begin
        rp_q <= rp_q + 5'd1;
        x_q <= x_q + 16'd1;
        if (x_last) begin
          x_q <= 16'd0;
          y_q <= y_q + 16'd1;
          if (y_last) begin
            y_q <= 16'd0;
            if (!der_q.cob_outer || (xl && yl)) cob_q <= c_last ? 16'd0 : cob_q + 16'd1;
            if (der_q.cob_outer || c_last) begin
              xleft_q <= xl ? cmd_q.ow : xleft_q - der_q.scols;
              if (xl) left_q <= yl ? cmd_q.out_rows : left_q - der_q.srows;
            end
          end
        end
      end
      if (done_o) busy_q <= 1'b0;
    end
  end
endmodule
