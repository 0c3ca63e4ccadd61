// SPDX-License-Identifier: Apache-2.0
// Before a vector command runs: does it stay in SRAM, may its groups run together, and how many MACs it
// is. Nine multiply-accumulate steps (one multiplier per stream, for the seven loop dimensions and the
// two halves of the index bound), beside the load of the program.
//
// Bounds: lowest and highest byte of every stream with all loops, in the order program, A, B, C, D; the
// first one that leaves SRAM gives fault_addr_o.
//
// Mode (from done_o on, needs the program's names):
//   strips  SLOTS groups at a time. Right when no group touches what another group stores: D's elements
//           are all different (strides sorted by size, each at least the span of the smaller ones), and
//           every stream that is read lies outside D's extent or runs exactly along D (in place; then
//           nothing may be read again behind the stores of the body). No gather, no scatter. vmac: always,
//           the instruction set demands it.
//   gated   one group at a time, and loads wait for all earlier stores: whenever what is read may meet
//           what is stored otherwise.
//   neither one group at a time, loads run ahead.
// Strips run along the dimension with the most groups; for vmac preferably along one in which an operand
// that differs from lane to lane stays the same, so that it is fetched once for all slots.
module hd_vec_setup #(
    parameter int SRAM_BYTES = 524288
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,      // pulse; cmd_i is stable from here on
    input  logic [32*heddle_pkg::VRUN_WORDS-1:0] cmd_i,
    input  logic                vmac_i,
    input  logic [2:0]          read_i,       // streams {c, b, a} that the program reads
    input  logic [2:0]          read_late_i,  // and those that its epilogue reads
    output logic                done_o,       // level, until the next start
    output logic                fault_o,      // with done_o: a stream leaves SRAM
    output logic [63:0]         fault_addr_o,
    output logic [63:0]         macs_o,
    output logic                strips_o,
    output logic [1:0]          dim_o,
    output logic                gated_o
);
  // vmac_t has its streams and counts where vrun_t has them.
  heddle_pkg::vrun_t cmd_run;
  heddle_pkg::vmac_t cmd_mac;
  assign cmd_run = cmd_i;
  assign cmd_mac = cmd_i;

  localparam int W = 60;  // of a byte address before the check: 7 x 2^16 x 2^23 + 2^32 x 2^24
  localparam signed [W-1:0] END = W'(SRAM_BYTES);

  logic busy_q, done_q;
  logic [3:0] d_q;  // dimension: lane, r1, r2, r3, o1, o2, o3, then low and high half of the index bound
  logic [23:0] stride [0:3];
  logic [1:0] size [0:3];
  logic [23:0] base [0:3];
  logic stores, body_stores;
  logic [15:0] n;
  logic [15:0] count;        // n - 1 of this step
  logic [31:0] last_index;
  assign stores = vmac_i || cmd_run.store != heddle_pkg::STORE_MODE_NONE;
  assign body_stores = !vmac_i && cmd_run.store == heddle_pkg::STORE_MODE_BODY;
  assign last_index = cmd_run.index_bound - 32'd1;
  assign base[0] = cmd_run.a_base;
  assign base[1] = cmd_run.b_base;
  assign base[2] = cmd_run.c_base;
  assign base[3] = cmd_run.d_base;
  assign size[0] = hd_vec_pkg::log2_bytes(cmd_run.a_type);
  assign size[1] = hd_vec_pkg::log2_bytes(cmd_run.b_type);
  assign size[2] = hd_vec_pkg::log2_bytes(cmd_run.c_type);
  assign size[3] = hd_vec_pkg::log2_bytes(cmd_run.d_type);
  always_comb begin
    n = 16'd1;
    for (int s = 0; s < 4; s++) stride[s] = 24'd0;
    if (busy_q) begin
      case (d_q)
        4'd0: begin
          n = cmd_run.lanes;
          stride[0] = cmd_run.a_lane_stride;
          stride[1] = cmd_run.b_lane_stride;
          stride[2] = cmd_run.c_lane_stride;
          stride[3] = cmd_run.d_lane_stride;
        end
        4'd1: begin
          n = cmd_run.n_r1;
          stride[0] = cmd_run.a_r1_stride;
          stride[1] = cmd_run.b_r1_stride;
          stride[2] = cmd_run.c_r1_stride;
          stride[3] = cmd_run.d_r1_stride;
        end
        4'd2: begin
          n = cmd_run.n_r2;
          stride[0] = cmd_run.a_r2_stride;
          stride[1] = cmd_run.b_r2_stride;
          stride[2] = cmd_run.c_r2_stride;
          stride[3] = cmd_run.d_r2_stride;
        end
        4'd3: begin
          n = cmd_run.n_r3;
          stride[0] = cmd_run.a_r3_stride;
          stride[1] = cmd_run.b_r3_stride;
          stride[2] = cmd_run.c_r3_stride;
          stride[3] = cmd_run.d_r3_stride;
        end
        4'd4: begin
          n = cmd_run.n_o1;
          stride[0] = cmd_run.a_o1_stride;
          stride[1] = cmd_run.b_o1_stride;
          stride[2] = cmd_run.c_o1_stride;
          stride[3] = cmd_run.d_o1_stride;
        end
        4'd5: begin
          n = cmd_run.n_o2;
          stride[0] = cmd_run.a_o2_stride;
          stride[1] = cmd_run.b_o2_stride;
          stride[2] = cmd_run.c_o2_stride;
          stride[3] = cmd_run.d_o2_stride;
        end
        4'd6: begin
          n = cmd_run.n_o3;
          stride[0] = cmd_run.a_o3_stride;
          stride[1] = cmd_run.b_o3_stride;
          stride[2] = cmd_run.c_o3_stride;
          stride[3] = cmd_run.d_o3_stride;
        end
        default: begin
          if ((cmd_run.gather_a || cmd_run.pick_a) && !vmac_i) stride[0] = cmd_run.index_stride;
          if (cmd_run.scatter_d && !vmac_i) stride[3] = cmd_run.index_stride;
        end
      endcase
    end
    count = (d_q == 4'd7) ? last_index[15:0] : (d_q == 4'd8) ? last_index[31:16] : n - 16'd1;
  end

  function automatic signed [W-1:0] product(input sign, input [23:0] a, input [15:0] b);
    reg signed [40:0] x, y, p;
    x = {{17{sign}}, a};
    y = {25'd0, b};
    p = x * y;
    product = {{(W-41){p[40]}}, p};
  endfunction

  // Extents, and whether the streams run along D.
  logic signed [W-1:0] low_q [0:3];
  logic signed [W-1:0] high_q [0:3];  // last byte
  logic [2:0] same_q;
  logic signed [W-1:0] term [0:3];
  logic is_r;
  assign is_r = d_q >= 4'd1 && d_q <= 4'd3;
  always_comb begin
    for (int s = 0; s < 4; s++) begin
      term[s] = '0;
      // C of vmac and what is stored behind the loop do not move with r.
      if (busy_q && !(is_r && ((s == 3 && !body_stores) || (s == 2 && vmac_i)))) begin
        // Strides are signed, an index is not.
        term[s] = product((d_q < 4'd7) && stride[s][23], stride[s], count);
        if (d_q == 4'd8) term[s] = term[s] <<< 16;
      end
    end
  end

  // Are D's elements all different? The dimension with the smallest stride first.
  logic [27:0] step [0:6];
  logic [15:0] times [0:6];
  logic [6:0] left_q;
  logic [44:0] span_q;
  logic distinct_q;
  logic [2:0] least;
  logic [15:0] chunks;
  assign chunks = {3'd0, 13'(({1'b0, cmd_run.lanes} + 17'd15) >> 4)};
  function automatic [27:0] size_of(input [23:0] s);
    size_of = {4'd0, s[23] ? 24'd0 - s : s};
  endfunction
  logic [6:0] live;
  logic one;
  assign one = cmd_run.store_one && !vmac_i;
  assign step[0] = one ? size_of(cmd_run.d_lane_stride) << 4 : size_of(cmd_run.d_lane_stride);
  assign step[1] = size_of(cmd_run.d_r1_stride);
  assign step[2] = size_of(cmd_run.d_r2_stride);
  assign step[3] = size_of(cmd_run.d_r3_stride);
  assign step[4] = size_of(cmd_run.d_o1_stride);
  assign step[5] = size_of(cmd_run.d_o2_stride);
  assign step[6] = size_of(cmd_run.d_o3_stride);
  assign times[0] = one ? chunks : cmd_run.lanes;
  assign times[1] = body_stores ? cmd_run.n_r1 : 16'd1;
  assign times[2] = body_stores ? cmd_run.n_r2 : 16'd1;
  assign times[3] = body_stores ? cmd_run.n_r3 : 16'd1;
  assign times[4] = cmd_run.n_o1;
  assign times[5] = cmd_run.n_o2;
  assign times[6] = cmd_run.n_o3;
  always_comb begin
    least = 3'd0;
    live = '0;
    if (busy_q) begin
      for (int d = 0; d < 7; d++) live[d] = left_q[d] && times[d] != 16'd1;
      for (int d = 6; d >= 0; d--)
        if (live[d] && (!live[least] || step[d] <= step[least])) least = d[2:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_q <= 1'b0;
    end else if (start_i) begin
      busy_q <= 1'b1;
      done_q <= 1'b0;
    end else if (busy_q && d_q == 4'd8) begin
      busy_q <= 1'b0;
      done_q <= 1'b1;
    end
    if (start_i) begin
      d_q <= 4'd0;
      same_q <= 3'd7;
      left_q <= 7'h7f;
      distinct_q <= 1'b1;
      span_q <= 45'd1 << size[3];
      macs_o <= 64'd1;
      for (int s = 0; s < 4; s++) begin
        low_q[s] <= W'({1'b0, base[s]});
        high_q[s] <= W'({1'b0, base[s]}) + (W'(1) << size[s]) - W'(1);
      end
    end else if (busy_q) begin
      d_q <= d_q + 4'd1;
      for (int s = 0; s < 4; s++) begin
        if (term[s][W-1]) low_q[s] <= low_q[s] + term[s];
        else high_q[s] <= high_q[s] + term[s];
      end
      if (d_q < 4'd7) begin
        macs_o <= macs_o * {48'd0, n};
        for (int s = 0; s < 3; s++) begin
          if (n != 16'd1 && (is_r && !body_stores ? stride[s] != 0 : stride[s] != stride[3]))
            same_q[s] <= 1'b0;
        end
        if (live[least]) begin
          left_q[least] <= 1'b0;
          span_q <= span_q + {17'd0, step[least]} * {29'd0, times[least] - 16'd1};
          if ({17'd0, step[least]} < span_q) distinct_q <= 1'b0;
        end
      end
    end
  end

  // Bounds.
  logic [3:0] used;
  logic signed [W-1:0] prog_last;
  assign used[0] = vmac_i || (cmd_run.enable_a &&
      !((cmd_run.gather_a || cmd_run.pick_a) && cmd_run.index_bound == 0));
  assign used[1] = vmac_i || cmd_run.enable_b;
  assign used[2] = vmac_i ? cmd_mac.initial_ : cmd_run.enable_c;
  assign used[3] = vmac_i || (stores && !(cmd_run.scatter_d && cmd_run.index_bound == 0));
  assign prog_last = W'({1'b0, cmd_run.prog_addr, 4'd0}) +
      W'({1'b0, {1'b0, cmd_run.prologue} + {1'b0, cmd_run.body} + {1'b0, cmd_run.epilogue}, 3'd0}) - W'(1);
  always_comb begin
    fault_o = 1'b0;
    fault_addr_o = '0;
    if (done_q) begin
      for (int s = 3; s >= 0; s--)
        if (used[s]) begin
          if (low_q[s] < 0) begin
            fault_o = 1'b1;
            fault_addr_o = 64'(low_q[s]);
          end else if (high_q[s] >= END) begin
            fault_o = 1'b1;
            fault_addr_o = 64'(high_q[s]);
          end
        end
      if (!vmac_i && prog_last >= END) begin
        fault_o = 1'b1;
        fault_addr_o = 64'(prog_last);
      end
    end
  end

  // Mode.
  logic [2:0] reads, apart, along;
  logic indexed, clear;
  logic [3:0] few [0:3];
  logic [5:0] score [0:3];
  logic [3:0] reuse;
  logic [5:0] best;
  assign indexed = !vmac_i && (cmd_run.gather_a || cmd_run.scatter_d);
  assign reads = read_i | {indexed, 2'b00};
  always_comb begin
    apart = '0;
    along = '0;
    for (int s = 0; s < 3; s++) begin
      few[s] = '0;
      if (done_q) begin
        apart[s] = high_q[s] < low_q[3] || high_q[3] < low_q[s];
        along[s] = same_q[s] && base[s] == base[3] && size[s] == size[3] &&
            !(body_stores && read_late_i[s]) && !cmd_run.store_one;
      end
    end
    if (cmd_run.pick_a && !vmac_i) along[0] = 1'b0;
    few[0] = (chunks[12:3] != 0) ? 4'd8 : {1'b0, chunks[2:0]};
    few[1] = (cmd_run.n_o1[15:3] != 0) ? 4'd8 : {1'b0, cmd_run.n_o1[2:0]};
    few[2] = (cmd_run.n_o2[15:3] != 0) ? 4'd8 : {1'b0, cmd_run.n_o2[2:0]};
    few[3] = (cmd_run.n_o3[15:3] != 0) ? 4'd8 : {1'b0, cmd_run.n_o3[2:0]};
    reuse = '0;
    if (cmd_run.a_lane_stride != 0)
      reuse = {cmd_run.a_o3_stride == 0, cmd_run.a_o2_stride == 0, cmd_run.a_o1_stride == 0, 1'b0};
    if (cmd_run.b_lane_stride != 0)
      reuse = reuse | {cmd_run.b_o3_stride == 0, cmd_run.b_o2_stride == 0, cmd_run.b_o1_stride == 0, 1'b0};
    best = '0;
    dim_o = 2'd0;
    for (int d = 0; d < 4; d++) begin
      score[d] = {1'b0, few[d], 1'b0};
      if (vmac_i && reuse[d] && few[d] > 4'd1) score[d] = score[d] + 6'd5;
      if (score[d] > best) begin
        best = score[d];
        dim_o = d[1:0];
      end
    end
  end
  assign clear = !stores || (reads & ~apart & ~along) == 0;
  assign strips_o = vmac_i || (!indexed && (!stores || distinct_q) && clear);
  assign gated_o = !vmac_i && stores && !strips_o &&
      (cmd_run.scatter_d || (reads & ~apart) != 0);
  assign done_o = done_q;
endmodule
