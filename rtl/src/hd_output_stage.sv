// SPDX-License-Identifier: Apache-2.0
// Output stage of the matrix engine: requantisation, table, residual, pooling, wide outputs, writes
// (rtl/spec/ISA.md, conv, "Output stage"). Ports as in hd_matrix_pkg. See rtl/MICROARCHITECTURE.md.
//
//   cmd -> hd_out_command -> ENTRIES commands -> issue counter, tag counter, residual reader, back
//   acc -> hd_out_requant -> hd_out_table -> hd_out_float -> hd_out_back -> SRAM
//   cycle 0     CRO_CYCLES       1         RESIDUAL_CYCLES   FIFO, queue: 2 or more
//
// Behind the issue nothing stalls up to the FIFOs of hd_out_back: room_o is given while the next
// issued vector's command is prepared, its FIFO has a place for this vector besides those under
// way, and its residual is in the residual FIFO.
// A vector carries no command; the tag counter counts vectors per command, and the tag chooses the
// constants at each stage, so commands follow each other without a bubble.
module hd_output_stage #(
    parameter int C = 16,
    parameter int K = 16,
    parameter int SRAM_WORDS = 32768
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  heddle_pkg::conv_t       cmd0_i,
    input  heddle_pkg::conv_t       cmd1_i,
    input  hd_matrix_pkg::mder_t    der0_i,
    input  hd_matrix_pkg::mder_t    der1_i,
    input  logic                    avail_i,
    input  logic                    sel_i,
    output logic                    take_o,
    output logic                    res_read_o,
    output logic                    done_o,
    input  logic                    hold_done_i,
    output logic                    fault_o,
    output logic [63:0]             fault_addr_o,
    input  logic                    stop_i,
    output logic                    busy_o,
    input  logic                    issue_i,
    output logic                    room_o,
    input  logic                    valid_i,
    input  logic                    pbank_i,
    input  logic [32*K-1:0]         acc_i,
    input  logic                    pld_i,
    input  logic                    pset_i,
    input  logic [7:0]              pidx_i,
    input  logic [255:0]            pdata_i,
    input  logic                    lld_i,
    input  logic                    lset_i,
    input  logic [3:0]              lidx_i,
    input  logic [127:0]            ldata_i,
    output logic [2:0]              req_o,
    output logic [2:0]              urgent_o,
    output logic [3*hd_pkg::AW-1:0] addr_o,
    output logic [255:0]            wdata_o,
    input  logic [2:0]              gnt_i,
    input  logic [127:0]            rdata_i
);
  // Clocks: of what runs while there is a command; of commands; of vectors; of what few commands
  // need (residual, float, pooling). More of them cost more in simulation than they save.
  logic clk, cmd_clk, vec_clk, extra_clk;
  logic cmd_clk_req, reader_clk_req, requant_clk_req, table_clk_req, float_clk_req, lane_clk_req,
      back_clk_req, pool_clk_req;
  localparam int AW = hd_pkg::AW;
  localparam int DEPTH = 32;
  localparam int WIDE = 8;
  localparam int E = hd_output_pkg::ENTRIES;

  // --- Commands in the stage.
  logic new_valid, free;
  hd_output_pkg::ocmd_t new_cmd;
  hd_output_pkg::s1c_t new_s1;
  hd_output_pkg::s2c_t new_s2;
  hd_out_command #(
      .K(K)
  ) u_command (
      .clk_i  (cmd_clk),
      .clk_req_o (cmd_clk_req),
      .rst_ni (rst_ni),
      .cmd0_i (cmd0_i),
      .cmd1_i (cmd1_i),
      .der0_i (der0_i),
      .der1_i (der1_i),
      .avail_i(avail_i),
      .sel_i  (sel_i),
      .take_o (take_o),
      .free_i (free),
      .valid_o(new_valid),
      .cmd_o  (new_cmd),
      .s1_o   (new_s1),
      .s2_o   (new_s2)
  );
  // Bits, because synthesis takes an array of structs for one struct.
  logic [$bits(new_cmd)-1:0] ent_q [0:E-1];
  logic [$bits(new_s1)-1:0] s1_q [0:E-1];
  logic [$bits(new_s2)-1:0] s2_q [0:E-1];
  logic [E-1:0] late_q;            // res_read_o is given when the words are in the write queue
  logic [E-1:0] read_q, left_q;    // residual read; words in the write queue
  logic [1:0] new_q, rd_q, rdp_q, bk_q, bkp_q, rr_q, old_q;
  logic [2:0] used_q, n_rd_q, n_bk_q, n_rr_q, n_ok_q;
  assign free = used_q != 3'(E);
  assign busy_o = used_q != 3'd0;

  // Counters of vectors: issued, arrived.
  logic [1:0] issue_tag, tag;
  hd_out_count u_issued (
      .clk_i    (clk),
      .rst_ni   (rst_ni),
      .new_i    (new_valid),
      .novec_i  (new_cmd.novec),
      .vectors_i(new_cmd.vectors),
      .step_i   (issue_i),
      .valid_o  (issue_valid),
      .tag_o    (issue_tag)
  );
  logic issue_valid;
  hd_out_count u_arrived (
      .clk_i    (clk),
      .rst_ni   (rst_ni),
      .new_i    (new_valid),
      .novec_i  (new_cmd.novec),
      .vectors_i(new_cmd.vectors),
      .step_i   (valid_i),
      .valid_o  (),
      .tag_o    (tag)
  );

  // Room.
  logic [7:0] fifo_q, wfifo_q;
  logic credit, pop, wpop, iss_wide, iss_res;
  logic [E-1:0] wide_q, res_q, f32_q;
  logic [7:0] under_way_q;         // residual vectors between issue and the float lanes
  assign iss_wide = wide_q[issue_tag];
  assign iss_res = res_q[issue_tag];
  assign room_o = issue_valid && (iss_wide ? wfifo_q < 8'(WIDE) : fifo_q < 8'(DEPTH))
                && (!iss_res || credit) && !(f32_q[issue_tag] && under_way_q != 8'd0) && !stop_i;

  // --- Residual reader.
  hd_output_pkg::ocmd_t nxr_q, nxb_q;
  logic nxr_v_q, nxb_v_q, r_load, r_passed, r_req, r_urgent, r_oob, fill_r, fill_b, r_take;
  logic [35:0] r_addr;
  logic [8*K-1:0] res_head;
  logic res_pop;
  hd_out_residual_reader #(
      .K         (K),
      .SRAM_WORDS(SRAM_WORDS),
      .DEPTH     (DEPTH)
  ) u_reader (
      .clk_i       (extra_clk),
      .clk_req_o      (reader_clk_req),
      .rst_ni      (rst_ni),
      .next_valid_i(nxr_v_q),
      .next_i      (nxr_q),
      .load_o      (r_load),
      .skip_o      (r_skip),
      .passed_o    (r_passed),
      .req_o       (r_req),
      .urgent_o    (r_urgent),
      .addr_o      (r_addr),
      .gnt_i       (r_gnt),
      .rdata_i     (rdata_i),
      .oob_o       (r_oob),
      .credit_o    (credit),
      .issue_i     (issue_i && iss_res),
      .head_o      (res_head),
      .pop_i       (res_pop)
  );
  logic r_skip, r_gnt;
  assign r_take = r_load || r_skip;
  assign fill_r = (n_rd_q != 3'd0) && (!nxr_v_q || r_take);

  // --- Arithmetic.
  logic sum_valid, sum_i32, flt_valid, wide_valid, y_valid, t_valid_q, z_valid;
  logic [32*K-1:0] sum, flt, bias, scale;
  logic [8*K-1:0] y, t, z;
  logic [1:0] y_tag, t_tag_q;
  hd_output_pkg::s1c_t s1, y_c;
  hd_output_pkg::s2c_t s2;
  assign s1 = s1_q[tag];
  hd_out_requant #(
      .K(K)
  ) u_requant (
      .clk_i      (vec_clk),
      .clk_req_o     (requant_clk_req),
      .rst_ni     (rst_ni),
      .valid_i    (valid_i),
      .pbank_i    (pbank_i),
      .acc_i      (acc_i),
      .tag_i      (tag),
      .c_i        (s1),
      .pld_i      (pld_i),
      .pset_i     (pset_i),
      .pidx_i     (pidx_i),
      .pdata_i    (pdata_i),
      .bias_o      (bias),
      .scale_o     (scale),
      .sum_valid_o (sum_valid),
      .sum_i32_o   (sum_i32),
      .sum_o       (sum),
      .wide_valid_o(wide_valid),
      .valid_o     (y_valid),
      .tag_o       (y_tag),
      .c_o         (y_c),
      .code_o      (y)
  );
  hd_out_table #(
      .K(K)
  ) u_table (
      .clk_i  (vec_clk),
      .clk_req_o (table_clk_req),
      .lld_i  (lld_i),
      .lset_i (lset_i),
      .lidx_i (lidx_i),
      .ldata_i(ldata_i),
      .valid_i(y_valid),
      .lut_i  (y_c.lut),
      .set_i  (y_c.lset),
      .code_i (y),
      .code_o (t)
  );
  assign s2 = s2_q[t_tag_q];
  hd_out_float #(
      .K(K)
  ) u_float (
      .clk_i        (vec_clk),
      .clk_req_o       (float_clk_req),
      .lane_clk_i   (extra_clk),
      .lane_clk_req_o  (lane_clk_req),
      .rst_ni       (rst_ni),
      .f32_valid_i  (valid_i && s1.f32),
      .bias_f32_i   (s1.bias_f32),
      .acc_i        (acc_i),
      .bias_i       (bias),
      .scale_i      (scale),
      .float_valid_o(flt_valid),
      .float_o      (flt),
      .valid_i      (t_valid_q),
      .c_i          (s2),
      .code_i       (t),
      .res_i        (res_head),
      .pop_o        (res_pop),
      .valid_o      (z_valid),
      .code_o       (z)
  );

  // --- Back.
  logic b_load, b_leave, b_done, b_fault, b_req, b_urgent, b_wurgent;
  logic [35:0] b_addr, b_fault_addr;
  logic [1:0] b_wreq;
  hd_out_back #(
      .K         (K),
      .SRAM_WORDS(SRAM_WORDS),
      .DEPTH     (DEPTH),
      .WIDE      (WIDE)
  ) u_back (
      .clk_i       (vec_clk),
      .clk_req_o      (back_clk_req),
      .pool_clk_i  (extra_clk),
      .pool_clk_req_o (pool_clk_req),
      .rst_ni      (rst_ni),
      .stop_i      (stop_i),
      .next_valid_i(nxb_v_q),
      .next_i      (nxb_q),
      .load_o      (b_load),
      .leave_o     (b_leave),
      .hold_done_i (hold_done_i),
      .valid_i     (z_valid),
      .code_i      (z),
      .pop_o       (pop),
      .sum_valid_i (sum_valid),
      .sum_i32_i   (sum_i32),
      .sum_i       (sum),
      .wide_valid_i(wide_valid),
      .wide_f32_i  (flt_valid),
      .float_i     (flt),
      .wide_pop_o  (wpop),
      .req_o       (b_req),
      .urgent_o    (b_urgent),
      .addr_o      (b_addr),
      .gnt_i       (gnt_i[2]),
      .rdata_i     (rdata_i),
      .wreq_o      (b_wreq),
      .wurgent_o   (b_wurgent),
      .waddr_o     (addr_o[2*AW-1:0]),
      .wdata_o     (wdata_o),
      .wgnt_i      (gnt_i[1:0]),
      .last_ok_i   (n_ok_q != 3'd0),
      .done_o      (b_done),
      .fault_o     (b_fault),
      .fault_addr_o(b_fault_addr)
  );
  assign fill_b = (n_bk_q != 3'd0) && (!nxb_v_q || b_load);

  // The reader's port: read-modify-write first.
  assign req_o = {b_req || (r_req && !stop_i), b_wreq};
  assign urgent_o = {b_req ? b_urgent : r_urgent, {2{b_wurgent}}};
  assign addr_o[2*AW +: AW] = b_req ? b_addr[AW-1:0] : r_addr[AW-1:0];
  assign r_gnt = gnt_i[2] && !b_req;

  // A residual word beyond the SRAM is a fault when its command is the oldest.
  logic r_fault;
  assign r_fault = r_oob && rdp_q == old_q;
  assign fault_o = b_fault || r_fault;
  assign fault_addr_o = {24'd0, b_fault ? b_fault_addr : r_addr, 4'd0};
  assign done_o = b_done;

  // --- Order of the two points.
  logic rr;
  assign rr = n_rr_q != 3'd0 && read_q[rr_q] && (!late_q[rr_q] || left_q[rr_q]);
  assign res_read_o = rr;
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      used_q <= 3'd0;
      n_rd_q <= 3'd0;
      n_bk_q <= 3'd0;
      n_rr_q <= 3'd0;
      n_ok_q <= 3'd0;
      new_q <= 2'd0;
      rd_q <= 2'd0;
      rdp_q <= 2'd0;
      bk_q <= 2'd0;
      bkp_q <= 2'd0;
      rr_q <= 2'd0;
      old_q <= 2'd0;
      nxr_v_q <= 1'b0;
      nxb_v_q <= 1'b0;
      t_valid_q <= 1'b0;
      fifo_q <= 8'd0;
      wfifo_q <= 8'd0;
      under_way_q <= 8'd0;
    end else begin
      used_q <= used_q + {2'd0, take_o} - {2'd0, b_done};
      n_rd_q <= n_rd_q + {2'd0, new_valid} - {2'd0, fill_r};
      n_bk_q <= n_bk_q + {2'd0, new_valid} - {2'd0, fill_b};
      n_rr_q <= n_rr_q + {2'd0, new_valid} - {2'd0, rr};
      n_ok_q <= n_ok_q + {2'd0, rr} - {2'd0, b_done};
      if (new_valid) begin
        new_q <= new_q + 2'd1;
        wide_q[new_q] <= new_cmd.wide;
        res_q[new_q] <= new_cmd.res;
        f32_q[new_q] <= new_s1.f32;
        late_q[new_q] <= new_cmd.novec || new_cmd.pool == heddle_pkg::POOL_KIND_MAX;
        read_q[new_q] <= 1'b0;
        left_q[new_q] <= 1'b0;
      end
      if (r_passed) begin
        rdp_q <= rdp_q + 2'd1;
        read_q[rdp_q] <= 1'b1;
      end
      if (b_leave) begin
        bkp_q <= bkp_q + 2'd1;
        left_q[bkp_q] <= 1'b1;
      end
      if (fill_r) rd_q <= rd_q + 2'd1;
      if (fill_b) bk_q <= bk_q + 2'd1;
      nxr_v_q <= fill_r || (nxr_v_q && !r_take);
      nxb_v_q <= fill_b || (nxb_v_q && !b_load);
      if (rr) rr_q <= rr_q + 2'd1;
      if (b_done) old_q <= old_q + 2'd1;
      t_valid_q <= y_valid;
      fifo_q <= fifo_q + {7'd0, issue_i && !iss_wide} - {7'd0, pop};
      under_way_q <= under_way_q + {7'd0, issue_i && iss_res} - {7'd0, res_pop};
      wfifo_q <= wfifo_q + {7'd0, issue_i && iss_wide} - {7'd0, wpop};
    end
    if (y_valid) t_tag_q <= y_tag;
  end

  hd_clock_gate u_cmd_clock (
      .clk_i(clk_i),
      .en_i (cmd_clk_req || new_valid || fill_r || fill_b),
      .clk_o(cmd_clk)
  );
  hd_clock_gate u_vec_clock (
      .clk_i(clk_i),
      .en_i (requant_clk_req || table_clk_req || float_clk_req || back_clk_req),
      .clk_o(vec_clk)
  );
  hd_clock_gate u_extra_clock (
      .clk_i(clk_i),
      .en_i (reader_clk_req || lane_clk_req || pool_clk_req),
      .clk_o(extra_clk)
  );
  always_ff @(posedge cmd_clk) begin
    if (new_valid) begin
      ent_q[new_q] <= new_cmd;
      s1_q[new_q] <= new_s1;
      s2_q[new_q] <= new_s2;
    end
    if (fill_r) nxr_q <= ent_q[rd_q];
    if (fill_b) nxb_q <= ent_q[bk_q];
  end
  hd_clock_gate u_clock (
      .clk_i(clk_i),
      .en_i (!rst_ni || take_o || (used_q != 3'd0)),
      .clk_o(clk)
  );
endmodule
