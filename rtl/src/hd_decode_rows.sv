// SPDX-License-Identifier: Apache-2.0
// The rules of `conv` that need products, one product per cycle in one 16 x 9 multiplier:
//
//   state  product              gives
//   ROW0   out_row0 * sy        base = input row of the first tap of the first row
//   SPAN   (out_rows-1) * sy    rows from there to the last output row's first tap
//   KERNEL (kh-1) * dy          rows from a row's first tap to its last; in_wrap must hold them
//   POOL   (n-1) * pool_s       only with max pooling: where the last pooled row before pool_row0
//                               begins, n = min(pool_row0, pool_oh)
//   ACC0   ceil(co/K) * rows    only with held accumulators: entries, in two steps
//   ACC1   that * ow
//   VERDICT
//
// Input rows (in_wrap = 0): illegal if a tap reads a row iy with 0 <= iy < limit,
// limit = min(ih, in_row0). The rows are base + i*sy + j*dy, i < out_rows, j < kh. If base >= 0 the
// smallest is base; if the largest is below zero, none is inside. Otherwise (padding and in_row0 >
// 0, hardly ever) the state WALK looks at one kernel row per cycle: of its taps that are inside the
// smallest is at (base + j*dy) mod sy, if the last output row reaches zero at all, which needs
// pad_top mod sy and dy mod sy: states MOD, a bit-serial remainder, 17 cycles each.
//
// Pooled rows (out_wrap = 0): illegal if one with py < n has a window that meets the rows of this
// command. Windows move down with py, so only the last one that begins above the end of the command
// can matter: it is n-1, or, if that begins below, the one that begins
// (end-1 + pool_pad) mod pool_s rows above end-1; again a bit-serial remainder, and needed only
// where windows leave gaps.
//
// start_i in cycle 0, then done_o (for one cycle, with legal_o) 4 to 7 cycles later without MOD and
// WALK, at most 50 + kh with them. The fields must be within their ranges and hd_decode_conv's
// rules hold.
module hd_decode_rows #(
    parameter int K = 16,          // lanes_out, a power of two
    parameter int ACC_DEPTH = 256  // acc_pixels, below 512
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          clear_i,
    input  logic          start_i,
    input  logic [32*heddle_pkg::CONV_WORDS-1:0] cmd_i,
    output logic          done_o,
    output logic          legal_o
);
  localparam [3:0] IDLE = 4'd0;
  localparam [3:0] ROW0 = 4'd1;
  localparam [3:0] SPAN = 4'd2;
  localparam [3:0] KERNEL = 4'd3;
  localparam [3:0] POOL = 4'd4;
  localparam [3:0] ACC0 = 4'd5;
  localparam [3:0] ACC1 = 4'd6;
  localparam [3:0] VERDICT = 4'd7;
  localparam [3:0] MOD_POOL = 4'd8;
  localparam [3:0] MOD_PAD = 4'd9;
  localparam [3:0] MOD_STEP = 4'd10;
  localparam [3:0] WALK = 4'd11;
  localparam int KL = $clog2(K);
  localparam [15:0] ACC_MAX = 16'(ACC_DEPTH);

  heddle_pkg::conv_t cmd_conv;
  assign cmd_conv = cmd_i;

  // What must be looked at.
  logic maxpool, acc, pool;
  assign maxpool = (cmd_conv.mode == heddle_pkg::MATRIX_MODE_MAXPOOL);
  assign acc = (cmd_conv.acc_continue || cmd_conv.acc_hold) && !maxpool;
  assign pool = (cmd_conv.pool == heddle_pkg::POOL_KIND_MAX) && !maxpool && !cmd_conv.acc_hold &&
                ((cmd_conv.out_type == heddle_pkg::OUT_TYPE_U8) ||
                 (cmd_conv.out_type == heddle_pkg::OUT_TYPE_S8)) &&
                (cmd_conv.out_wrap == '0) && (pooled != '0);
  logic [15:0] limit, pooled, blocks;
  assign limit = (cmd_conv.ih < cmd_conv.in_row0) ? cmd_conv.ih : cmd_conv.in_row0;
  assign pooled = (cmd_conv.pool_row0 < cmd_conv.pool_oh) ? cmd_conv.pool_row0 : cmd_conv.pool_oh;
  assign blocks = 16'(({1'b0, cmd_conv.co} + 17'(K - 1)) >> KL);

  logic [3:0] state_q;
  logic bad_q;
  logic slow_rows_q;            // the walk is needed
  logic signed [21:0] base_q;   // then: first tap of kernel row walk_q
  logic signed [21:0] span_q;
  logic signed [21:0] window_q; // first row of the last pooled window
  logic [8:0] entries_q;
  logic [7:0] walk_q;
  logic [3:0] step_q, phase_q;  // dy mod sy, (first tap) mod sy

  // Multiplier.
  logic [15:0] mul_a;
  logic [8:0] mul_b;
  logic [24:0] product;
  always_comb begin
    mul_a = '0;
    mul_b = '0;
    case (state_q)
      ROW0: begin
        mul_a = cmd_conv.out_row0;
        mul_b = {5'd0, cmd_conv.sy};
      end
      SPAN: begin
        mul_a = cmd_conv.out_rows - 16'd1;
        mul_b = {5'd0, cmd_conv.sy};
      end
      KERNEL: begin
        mul_a = {8'd0, cmd_conv.kh - 8'd1};
        mul_b = {1'b0, cmd_conv.dy};
      end
      POOL: begin
        mul_a = pooled - 16'd1;
        mul_b = {5'd0, cmd_conv.pool_s};
      end
      ACC0: begin
        mul_a = blocks;
        mul_b = cmd_conv.out_rows[8:0];
      end
      ACC1: begin
        mul_a = cmd_conv.ow;
        mul_b = entries_q;
      end
      default: ;
    endcase
    product = (state_q == IDLE) ? '0 : {9'd0, mul_a} * {16'd0, mul_b};
  end

  // Remainder: one bit of the dividend per cycle, the highest first.
  logic [16:0] dividend_q;
  logic [4:0] bits_q;
  logic [3:0] rem_q, divisor;
  logic [4:0] rem_shift;
  logic [3:0] rem_next;
  assign divisor = (state_q == MOD_POOL) ? cmd_conv.pool_s : cmd_conv.sy;
  assign rem_shift = {rem_q, dividend_q[16]};
  assign rem_next = 4'((rem_shift >= {1'b0, divisor}) ? rem_shift - {1'b0, divisor} : rem_shift);

  // Verdicts.
  logic signed [21:0] end_row;     // first row after those of the command
  logic signed [21:0] last_window; // last row of the window window_q
  logic [16:0] gap;                // a window that begins this many rows above end-1 still meets
  logic [4:0] phase_sum;
  assign end_row = $signed({6'd0, cmd_conv.out_row0}) + $signed({6'd0, cmd_conv.out_rows});
  assign last_window = window_q + $signed({18'd0, cmd_conv.pool_k}) - 22'sd1;
  assign gap = {1'b0, cmd_conv.out_rows} + {13'd0, cmd_conv.pool_k} - 17'd2;
  assign phase_sum = {1'b0, phase_q} + {1'b0, step_q};

  assign done_o = (state_q == VERDICT) && !slow_rows_q;
  assign legal_o = !bad_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      state_q <= IDLE;
      slow_rows_q <= 1'b0;
    end else begin
      case (state_q)
        IDLE:
        if (start_i) begin
          state_q <= ROW0;
          bad_q <= 1'b0;
          slow_rows_q <= 1'b0;
        end
        ROW0: begin
          base_q <= $signed(product[21:0]) - 22'(cmd_conv.pad_top);
          state_q <= SPAN;
        end
        SPAN: begin
          span_q <= $signed(product[21:0]);
          state_q <= KERNEL;
        end
        KERNEL: begin
          if ((cmd_conv.in_wrap != '0) && (cmd_conv.in_wrap <= product[15:0])) bad_q <= 1'b1;
          state_q <= pool ? POOL : acc ? ACC0 : VERDICT;
          if ((cmd_conv.in_wrap == '0) && (limit != '0)) begin
            if (base_q >= 0) begin
              if (base_q < $signed({6'd0, limit})) bad_q <= 1'b1;
            end else if (base_q + span_q + $signed({6'd0, product[15:0]}) >= 0) begin
              slow_rows_q <= 1'b1;
            end
          end
        end
        POOL: begin
          window_q <= $signed(product[21:0]) - $signed({18'd0, cmd_conv.pool_pad});
          dividend_q <= end_row[16:0] - 17'd1 + {13'd0, cmd_conv.pool_pad};
          bits_q <= 5'd17;
          rem_q <= '0;
          state_q <= MOD_POOL;
        end
        MOD_POOL: begin
          if (window_q < end_row) begin
            if (last_window >= $signed({6'd0, cmd_conv.out_row0})) bad_q <= 1'b1;
            state_q <= acc ? ACC0 : VERDICT;
          end else if (gap >= {13'd0, cmd_conv.pool_s} - 17'd1) begin
            bad_q <= 1'b1;
            state_q <= acc ? ACC0 : VERDICT;
          end else if (bits_q == '0) begin
            if ({13'd0, rem_q} <= gap) bad_q <= 1'b1;
            state_q <= acc ? ACC0 : VERDICT;
          end
        end
        ACC0: begin
          entries_q <= product[8:0];
          if ((blocks > ACC_MAX) || (cmd_conv.out_rows > ACC_MAX) || (cmd_conv.ow > ACC_MAX) ||
              (product > {9'd0, ACC_MAX}))
            bad_q <= 1'b1;
          state_q <= ACC1;
        end
        ACC1: begin
          if (product > {9'd0, ACC_MAX}) bad_q <= 1'b1;
          state_q <= VERDICT;
        end
        VERDICT:
        if (slow_rows_q && !bad_q) begin
          slow_rows_q <= 1'b0;
          dividend_q <= {1'b0, cmd_conv.pad_top};  // positive, for base is negative
          bits_q <= 5'd17;
          rem_q <= '0;
          state_q <= MOD_PAD;
        end else begin
          slow_rows_q <= 1'b0;
          if (!slow_rows_q) state_q <= IDLE;
        end
        MOD_PAD:
        if (bits_q == '0) begin
          phase_q <= (rem_q == '0) ? 4'd0 : cmd_conv.sy - rem_q;
          dividend_q <= {9'd0, cmd_conv.dy};
          bits_q <= 5'd17;
          rem_q <= '0;
          state_q <= MOD_STEP;
        end
        MOD_STEP:
        if (bits_q == '0) begin
          step_q <= rem_q;
          walk_q <= '0;
          state_q <= WALK;
        end
        WALK: begin
          walk_q <= walk_q + 8'd1;
          base_q <= base_q + $signed({14'd0, cmd_conv.dy});
          phase_q <= 4'((phase_sum >= {1'b0, cmd_conv.sy}) ? phase_sum - {1'b0, cmd_conv.sy}
                                                           : phase_sum);
          if (base_q >= 0) begin
            if (base_q < $signed({6'd0, limit})) bad_q <= 1'b1;
            state_q <= VERDICT;
          end else if ((base_q + span_q >= 0) && ({12'd0, phase_q} < limit)) begin
            bad_q <= 1'b1;
            state_q <= VERDICT;
          end else if (walk_q == cmd_conv.kh - 8'd1) begin
            state_q <= VERDICT;
          end
        end
        default: state_q <= IDLE;
      endcase
      if ((bits_q != '0) &&
          ((state_q == MOD_POOL) || (state_q == MOD_PAD) || (state_q == MOD_STEP))) begin
        rem_q <= rem_next;
        dividend_q <= {dividend_q[15:0], 1'b0};
        bits_q <= bits_q - 5'd1;
      end
    end
  end

  logic unused;
  assign unused = product[24];
endmodule
