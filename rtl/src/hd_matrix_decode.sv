// SPDX-License-Identifier: Apache-2.0
// Derived fields of a conv command (hd_matrix_pkg::mder_t), computed over a few cycles with two
// multipliers and a divider of four quotient bits per cycle.
//
//   cycle 0    accept: the command is registered
//   cycle 1    sums, block counts, products with fields of 4 bits
//   cycle 2..  slot of the first input row (a division only if it lies more than one wrap away);
//              strides in words; number of pixels
//   then       shape of stripes and chunks; a division only where the pixels of a command with
//              several passes do not fit the accumulators
//   last       products with the chunk
//
// 8 cycles in the common case; about 12 more with stripes. valid_o holds until ready_i.
// Stripes get equal heights (rows / stripes, rounded up): a last stripe shorter than the load of a
// weight tile would leave the array waiting. Columns likewise when a row is longer than the
// accumulators.
module hd_matrix_decode #(
    parameter int C = 16,
    parameter int K = 16,
    parameter int ACC_DEPTH = 256
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic                 valid_i,
    output logic                 ready_o,
    input  heddle_pkg::conv_t    cmd_i,
    output logic                 valid_o,
    input  logic                 ready_i,
    output heddle_pkg::conv_t    cmd_o,
    output hd_matrix_pkg::mder_t der_o
);
  localparam int CB = $clog2(C);
  localparam int KB = $clog2(K);
  localparam int DB = $clog2(ACC_DEPTH);
  localparam [31:0] DEPTH32 = ACC_DEPTH;
  typedef enum logic [3:0] {
    IDLE,
    SUMS,
    SLOT,
    SLOT_DIV,
    ORIGIN,
    SHAPE,
    DIV_FIT,
    DIV_STRIPES,
    DIV_ROWS,
    DIV_COLS,
    CHUNK,
    CHUNK_A,
    READY
  } state_e;
  state_e state_q;
  heddle_pkg::conv_t cmd_q;
  hd_matrix_pkg::mder_t d_q;
  logic one_pass_q;
  logic [31:0] pixels_q;
  logic [15:0] last_q, chunks_q;  // columns of the last chunk; number of chunks

  // Two multipliers; operands depend on the state.
  logic signed [23:0] ma, mc;
  logic signed [20:0] mb, md;
  logic signed [44:0] pa, pb;
  assign pa = ma * mb;
  assign pb = mc * md;

  // Divider: num / den, four bits per cycle, 24-bit numerator in six cycles.
  logic [23:0] num_q;
  logic [15:0] den_q, rem_q;
  logic [23:0] quo_q;
  logic [2:0] div_q;  // cycles left
  logic [16:0] r;
  logic [23:0] qn;
  always_comb begin
    r = {1'b0, rem_q};
    qn = quo_q;
    if (div_q != 3'd0)
      for (int i = 0; i < 4; i++) begin
        r = {r[15:0], num_q[23-i]};
        qn = {qn[22:0], 1'b0};
        if (r >= {1'b0, den_q}) begin
          r = r - {1'b0, den_q};
          qn[0] = 1'b1;
        end
      end
  end

  logic dwise, fold, wrap;
  logic [1:0] mode;
  assign mode = cmd_q.mode;
  assign dwise = (mode == heddle_pkg::MATRIX_MODE_DEPTHWISE)
                 || (mode == heddle_pkg::MATRIX_MODE_MAXPOOL);
  assign fold = (mode == heddle_pkg::MATRIX_MODE_FOLD);
  assign wrap = (cmd_q.in_wrap != 16'd0);

  // sy modulo in_wrap: at most 15 modulo less than 15.
  logic [3:0] sy_mod;
  always_comb begin
    sy_mod = cmd_q.sy;
    if (state_q == SLOT && wrap && {12'd0, cmd_q.sy} >= cmd_q.in_wrap) begin
      sy_mod = 4'd0;
      for (int i = 0; i < 4; i++) begin
        sy_mod = {sy_mod[2:0], cmd_q.sy[3-i]};
        if ({12'd0, sy_mod} >= cmd_q.in_wrap) sy_mod = sy_mod - cmd_q.in_wrap[3:0];
      end
    end
  end

  // Depthwise window (see hd_mac_array): columns one by one fit 3 x 5 or 2 x 8 taps.
  logic narrow, wide;
  logic [7:0] rmax, cmax, rp, gw;
  assign narrow = (cmd_q.dx != 8'd1) || (cmd_q.sx > 4'd4) || ({4'd0, cmd_q.sx} > cmd_q.kw);
  assign wide = !narrow && (cmd_q.kw > 8'd5);
  assign rmax = wide ? 8'd2 : 8'd3;
  assign cmax = narrow ? 8'd1 : wide ? 8'd8 : 8'd5;
  assign rp = (cmd_q.kh < rmax) ? cmd_q.kh : rmax;
  assign gw = (cmd_q.kw < cmax) ? cmd_q.kw : cmax;
  logic [11:0] len;
  assign len = cmd_q.kw * {8'd0, cmd_q.fold_channels};

  logic [15:0] ciblk, coblk;
  assign ciblk = 16'((17'(cmd_q.ci) + 17'(C - 1)) >> CB);
  assign coblk = 16'((17'(cmd_q.co) + 17'(K - 1)) >> KB);

  logic signed [21:0] wrap22, iy0;
  assign wrap22 = $signed({6'd0, cmd_q.in_wrap});
  assign iy0 = $signed(d_q.iy0);
  logic [23:0] abs_iy0;
  assign abs_iy0 = {2'd0, iy0[21] ? -iy0 : iy0};

  always_comb begin
    ma = 24'sd0;
    mb = 21'sd0;
    mc = 24'sd0;
    md = 21'sd0;
    case (state_q)
      SUMS: begin
        ma = $signed({8'd0, cmd_q.out_rows});
        mb = $signed({5'd0, cmd_q.ow});
        mc = 24'($signed(cmd_q.pad_left));
        md = $signed({13'd0, cmd_q.in_xstep});
      end
      SLOT: begin
        ma = $signed({16'd0, cmd_q.dy});
        mb = $signed({5'd0, cmd_q.in_pitch});
        mc = $signed({16'd0, cmd_q.dx});
        md = $signed({13'd0, cmd_q.in_xstep});
      end
      ORIGIN: begin
        ma = 24'($signed(d_q.slot0));
        mb = $signed({5'd0, cmd_q.in_pitch});
        mc = $signed({8'd0, d_q.sy_w});
        md = $signed({5'd0, cmd_q.in_pitch});
      end
      SHAPE: begin
        ma = $signed({8'd0, cmd_q.in_wrap});
        mb = $signed({5'd0, cmd_q.in_pitch});
      end
      DIV_COLS: begin  // columns of all chunks but the last
        mc = $signed({8'd0, chunks_q - 16'd1});
        md = $signed({5'd0, qn[15:0]});
      end
      CHUNK: begin
        ma = $signed({8'd0, d_q.scols});
        mb = $signed({13'd0, d_q.xs});
        mc = $signed({8'd0, last_q});
        md = $signed({13'd0, d_q.xs});
      end
      CHUNK_A: begin
        ma = $signed(d_q.xchunk);
        mb = $signed({13'd0, cmd_q.in_xstep});
      end
      default: ;
    endcase
  end

  logic div_end;
  assign div_end = (div_q == 3'd1);
  assign ready_o = (state_q == IDLE);
  assign valid_o = (state_q == READY);
  assign cmd_o = cmd_q;
  assign der_o = d_q;

  // By itself: in one process with the rest, simulation would move it in every cycle.
  always_ff @(posedge clk_i) if (valid_i && ready_o) cmd_q <= cmd_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      div_q <= 3'd0;
    end else begin
      if (div_q != 3'd0) begin
        div_q <= div_q - 3'd1;
        num_q <= num_q << 4;
        rem_q <= r[15:0];
        quo_q <= qn;
      end
      case (state_q)
        IDLE:
          if (valid_i) state_q <= SUMS;
        SUMS: begin
          d_q.dwise <= dwise;
          d_q.cob_outer <= (cmd_q.pool == heddle_pkg::POOL_KIND_AVERAGE)
                           && (mode != heddle_pkg::MATRIX_MODE_MAXPOOL);
          d_q.oblocks <= 16'((17'(cmd_q.co) + 17'd15) >> 4);
          d_q.cobs <= dwise ? 16'((17'(cmd_q.co) + 17'd15) >> 4) : coblk;
          d_q.cibs <= ciblk;
          d_q.iblocks <= 16'((17'(cmd_q.ci) + 17'd15) >> 4);
          d_q.ilanes <= 8'(cmd_q.ci - 16'((ciblk - 16'd1) << CB));
          d_q.iy0 <= {6'd0, cmd_q.out_row0} * {18'd0, cmd_q.sy} - 22'($signed(cmd_q.pad_top));
          d_q.sx_a <= 36'({8'd0, cmd_q.sx} * {4'd0, cmd_q.in_xstep});
          d_q.xs <= fold ? {4'd0, cmd_q.sx} * {4'd0, cmd_q.fold_channels} : {4'd0, cmd_q.sx};
          d_q.wide <= wide;
          d_q.narrow <= narrow;
          d_q.rp <= rp;
          d_q.gw <= gw;
          d_q.taps <= {8'd0, cmd_q.kh} * {8'd0, cmd_q.kw};
          d_q.len <= len;
          d_q.foldx <= fold && (cmd_q.dx != 8'd1) && (cmd_q.kw != 8'd1);
          d_q.dxc <= ({4'd0, cmd_q.dx} - 12'd1) * {8'd0, cmd_q.fold_channels};
          d_q.plc <= 24'($signed(cmd_q.pad_left)) * {20'd0, cmd_q.fold_channels};
          d_q.wc <= {8'd0, cmd_q.iw} * {20'd0, cmd_q.fold_channels};
          d_q.held <= !dwise && (cmd_q.acc_hold || cmd_q.acc_continue);
          case (mode)
            heddle_pkg::MATRIX_MODE_CONV:
              one_pass_q <= (cmd_q.kh == 8'd1) && (cmd_q.kw == 8'd1) && (ciblk == 16'd1);
            heddle_pkg::MATRIX_MODE_FOLD:
              one_pass_q <= (cmd_q.kh <= 8'd4) && (cmd_q.dx == 8'd1 || cmd_q.kw == 8'd1)
                            && ({9'd0, len} * {13'd0, cmd_q.kh} <= 21'(C));
            default: one_pass_q <= (cmd_q.kh == rp) && (cmd_q.kw == gw);
          endcase
          pixels_q <= pa[31:0];
          d_q.npix <= pa[15:0];
          d_q.pl_a <= pb[35:0];
          state_q <= SLOT;
        end
        SLOT: begin
          d_q.dy_a <= pa[35:0];
          d_q.dx_a <= pb[35:0];
          d_q.sy_w <= {12'd0, sy_mod};
          state_q <= ORIGIN;
          if (!wrap) d_q.slot0 <= d_q.iy0 - {6'd0, cmd_q.in_row0};
          else if (iy0 >= 22'sd0 && iy0 < wrap22) d_q.slot0 <= d_q.iy0;
          else if (iy0 < 22'sd0 && iy0 >= -wrap22) d_q.slot0 <= iy0 + wrap22;
          else begin
            num_q <= abs_iy0;
            den_q <= cmd_q.in_wrap;
            rem_q <= 16'd0;
            quo_q <= 24'd0;
            div_q <= 3'd6;
            state_q <= SLOT_DIV;
          end
        end
        SLOT_DIV:
          if (div_end) begin
            d_q.slot0 <= (iy0[21] && r != 17'd0) ? 22'(wrap22 - $signed({5'd0, r})) : {5'd0, r};
            state_q <= ORIGIN;
          end
        ORIGIN: begin
          d_q.org <= {16'd0, cmd_q.in_addr} + pa[35:0];
          d_q.sy_a <= pb[35:0];
          state_q <= SHAPE;
        end
        SHAPE: begin
          d_q.wrap_a <= pa[35:0];
          d_q.srows <= cmd_q.out_rows;
          d_q.scols <= cmd_q.ow;
          last_q <= cmd_q.ow;
          state_q <= CHUNK;
          rem_q <= 16'd0;
          quo_q <= 24'd0;
          if (!one_pass_q && !d_q.held && pixels_q > DEPTH32) begin
            if ({16'd0, cmd_q.ow} > DEPTH32) begin
              // Columns: chunks of equal width, one row each.
              d_q.srows <= 16'd1;
              chunks_q <= 16'((17'(cmd_q.ow) + 17'(ACC_DEPTH - 1)) >> DB);
              num_q <= {8'd0, cmd_q.ow} + {8'd0, 16'((17'(cmd_q.ow) + 17'(ACC_DEPTH - 1)) >> DB)}
                       - 24'd1;
              den_q <= 16'((17'(cmd_q.ow) + 17'(ACC_DEPTH - 1)) >> DB);
              div_q <= 3'd6;
              state_q <= DIV_COLS;
            end else begin
              num_q <= 24'(ACC_DEPTH) << 8;  // 16 bits: four cycles
              den_q <= cmd_q.ow;
              div_q <= 3'd4;
              state_q <= DIV_FIT;
            end
          end
        end
        DIV_FIT:  // rows that fit -> number of stripes
          if (div_end) begin
            num_q <= ({8'd0, cmd_q.out_rows} + {8'd0, qn[15:0]} - 24'd1) << 4;
            den_q <= qn[15:0];
            rem_q <= 16'd0;
            quo_q <= 24'd0;
            div_q <= 3'd5;
            state_q <= DIV_STRIPES;
          end
        DIV_STRIPES:  // number of stripes -> rows of each
          if (div_end) begin
            num_q <= ({8'd0, cmd_q.out_rows} + {8'd0, qn[15:0]} - 24'd1) << 4;
            den_q <= qn[15:0];
            rem_q <= 16'd0;
            quo_q <= 24'd0;
            div_q <= 3'd5;
            state_q <= DIV_ROWS;
          end
        DIV_ROWS:
          if (div_end) begin
            d_q.srows <= qn[15:0];
            state_q <= CHUNK;
          end
        DIV_COLS:
          if (div_end) begin
            d_q.scols <= qn[15:0];
            last_q <= cmd_q.ow - pb[15:0];
            state_q <= CHUNK;
          end
        CHUNK: begin
          d_q.xchunk <= pa[23:0];
          d_q.xspan <= pa[23:0] - {16'd0, d_q.xs};
          d_q.xspan_l <= pb[23:0] - {16'd0, d_q.xs};
          state_q <= CHUNK_A;
        end
        CHUNK_A: begin
          d_q.xchunk_a <= pa[35:0];
          state_q <= READY;
        end
        default: if (ready_i) state_q <= IDLE;
      endcase
    end
  end

  // Only while there is a command.
  assign clk_req_o = !rst_ni || valid_i || !ready_o;
endmodule
