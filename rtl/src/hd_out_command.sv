// SPDX-License-Identifier: Apache-2.0
// Takes conv commands and derives what the output stage needs: number of vectors, first row slot and
// its offset (output and residual), first pooled row. One 32 x 16 multiplier and one divider of one
// bit per cycle; a command takes 6 cycles, and 17 more for each of: pooled rows not at the top,
// out_wrap, res_wrap with a first row beyond the buffer. Commands are prepared ahead (ENTRIES), so
// this is hidden unless several commands in a row are shorter.
//
//   take -> ROWS (out_rows * ow) -> CHANNELS (* cobs) -> POOL -> SLOT -> RSLOT -> ROFF -> RROFF -> valid_o
//
// valid_o is a pulse; free_i must say that there is room before a command is taken. A command that
// is not a conv (sync.matrix) passes as one without vectors.
module hd_out_command #(
    parameter int K = 16
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  heddle_pkg::conv_t     cmd0_i,
    input  heddle_pkg::conv_t     cmd1_i,
    input  hd_matrix_pkg::mder_t  der0_i,
    input  hd_matrix_pkg::mder_t  der1_i,
    input  logic                  avail_i,
    input  logic                  sel_i,
    output logic                  take_o,
    input  logic                  free_i,
    output logic                  valid_o,
    output hd_output_pkg::ocmd_t  cmd_o,
    output hd_output_pkg::s1c_t   s1_o,
    output hd_output_pkg::s2c_t   s2_o
);
  typedef enum logic [3:0] {
    IDLE,
    ROWS,
    CHANNELS,
    POOL,
    SLOT,
    RSLOT,
    ROFF,
    RROFF,
    DIVIDE
  } state_e;
  state_e state_q, back_q;
  heddle_pkg::conv_t cmd_q;
  hd_matrix_pkg::mder_t der_q;
  hd_output_pkg::ocmd_t out_q;
  hd_output_pkg::s1c_t s1_q;
  hd_output_pkg::s2c_t s2_q;
  logic valid_q, lset_q;
  assign valid_o = valid_q;
  assign cmd_o = out_q;
  assign s1_o = s1_q;
  assign s2_o = s2_q;
  assign take_o = (state_q == IDLE) && avail_i && free_i && !valid_q;

  logic conv, pmax;
  assign conv = cmd_q.header.opcode == heddle_pkg::OP_CONV;
  assign pmax = cmd_q.pool == heddle_pkg::POOL_KIND_MAX;

  // Multiplier.
  logic [31:0] ma, pixels_q;
  logic [15:0] mb;
  logic [47:0] product;
  always_comb begin
    case (state_q)
      CHANNELS: begin ma = pixels_q;               mb = der_q.cobs; end
      ROFF:     begin ma = {16'd0, out_q.slot0};   mb = cmd_q.out_pitch; end
      RROFF:    begin ma = {16'd0, out_q.rslot0};  mb = cmd_q.res_pitch; end
      default:  begin ma = {16'd0, cmd_q.out_rows}; mb = cmd_q.ow; end
    endcase
    product = {16'd0, ma} * {32'd0, mb};
  end

  // Divider: quotient and rest of num_q / den_q, restoring, 17 bits.
  logic [16:0] num_q, quo_q;
  logic [17:0] rest_q, trial;
  logic [15:0] den_q;
  logic [4:0] bit_q;
  assign trial = {rest_q[16:0], num_q[16]};

  // First pooled row: ends = rows from the first window's last row down to the first row.
  logic [17:0] ends;
  logic [5:0] k1;
  assign k1 = {2'd0, cmd_q.pool_k} - 6'd1;
  assign ends = {2'd0, cmd_q.out_row0} + {14'd0, cmd_q.pool_pad} - {12'd0, k1};
  logic [17:0] pslot;
  assign pslot = {1'b0, out_q.py0} - {2'd0, cmd_q.pool_row0};

  logic divided_q;  // the divider has the answer for the state it comes back to
  logic [16:0] first_row;
  assign first_row = pmax ? out_q.py0 : {1'b0, cmd_q.out_row0};
  always_ff @(posedge clk_i) begin
    valid_q <= 1'b0;
    if (!rst_ni) begin
      state_q <= IDLE;
      lset_q <= 1'b0;
      divided_q <= 1'b0;
    end else begin
      case (state_q)
        IDLE:
          if (take_o) begin
            state_q <= ROWS;
            cmd_q <= sel_i ? cmd1_i : cmd0_i;
            der_q <= sel_i ? der1_i : der0_i;
          end
        ROWS: begin
          pixels_q <= product[31:0];
          state_q <= CHANNELS;
          if (conv && cmd_q.lut) lset_q <= !lset_q;
          s1_q.raw <= cmd_q.mode == heddle_pkg::MATRIX_MODE_MAXPOOL;
          s1_q.wide <= cmd_q.out_type[1];
          s1_q.f32 <= cmd_q.out_type == heddle_pkg::OUT_TYPE_F32;
          s1_q.bias_f32 <= cmd_q.bias_f32;
          s1_q.sgn <= cmd_q.out_type == heddle_pkg::OUT_TYPE_S8;
          s1_q.lut <= cmd_q.lut;
          s1_q.lset <= lset_q;
          s1_q.zo <= cmd_q.zo[8:0];
          s1_q.lo <= cmd_q.act_min[8:0];
          s1_q.hi <= cmd_q.act_max[8:0];
          s2_q.op <= cmd_q.res_op;
          s2_q.sgn <= cmd_q.out_type == heddle_pkg::OUT_TYPE_S8;
          s2_q.res_signed <= cmd_q.res_signed;
          s2_q.res_first <= cmd_q.res_first;
          s2_q.res_zero <= cmd_q.res_zero[8:0];
          s2_q.mid_zero <= cmd_q.mid_zero[8:0];
          s2_q.lo <= cmd_q.res_min[8:0];
          s2_q.hi <= cmd_q.res_max[8:0];
          s2_q.a <= cmd_q.res_a;
          s2_q.b <= cmd_q.res_b;
          s2_q.k <= cmd_q.res_k;
          out_q.novec <= !conv || cmd_q.acc_hold;
          out_q.hold <= conv && cmd_q.acc_hold;
          out_q.wide <= cmd_q.out_type[1];
          out_q.sgn <= cmd_q.out_type == heddle_pkg::OUT_TYPE_S8;
          out_q.res <= cmd_q.res_op != heddle_pkg::RESIDUAL_OP_NONE;
          out_q.pool <= cmd_q.pool;
          out_q.one <= (K == 16) || der_q.dwise;
          out_q.odd <= der_q.oblocks[0];
          out_q.outer <= der_q.cob_outer;
          out_q.rows <= cmd_q.out_rows;
          out_q.ow <= cmd_q.ow;
          out_q.srows <= der_q.srows;
          out_q.scols <= der_q.scols;
          out_q.cobs <= der_q.cobs;
          out_q.out_addr <= cmd_q.out_addr;
          out_q.out_pitch <= cmd_q.out_pitch;
          out_q.out_xstep <= cmd_q.out_xstep;
          out_q.out_plane <= cmd_q.out_plane;
          out_q.out_wrap <= cmd_q.out_wrap;
          out_q.res_addr <= cmd_q.res_addr;
          out_q.res_pitch <= cmd_q.res_pitch;
          out_q.res_plane <= cmd_q.res_plane;
          out_q.res_wrap <= cmd_q.res_wrap;
          out_q.top <= cmd_q.out_row0 == 16'd0;
          out_q.pool_k <= cmd_q.pool_k;
          out_q.pool_s <= cmd_q.pool_s;
          out_q.pool_pad <= cmd_q.pool_pad;
          out_q.pool_oh <= cmd_q.pool_oh;
          out_q.pool_ow <= cmd_q.pool_ow;
          out_q.pool_scale <= cmd_q.pool_scale;
          out_q.pool_zero_in <= cmd_q.pool_zero_in[8:0];
          out_q.pool_zero_out <= cmd_q.pool_zero_out[8:0];
          out_q.py0 <= 17'd0;
          out_q.ya0 <= cmd_q.out_row0[5:0] + {2'd0, cmd_q.pool_pad};
        end
        CHANNELS: begin
          out_q.vectors <= product[44:0];
          state_q <= out_q.novec ? RROFF : pmax ? POOL : SLOT;
        end
        // The lowest window that does not end before the first row: ceil(ends / s).
        POOL: begin
          divided_q <= 1'b0;
          if (divided_q || ends[17] || ends == 18'd0) begin
            state_q <= SLOT;
            if (divided_q) begin
              out_q.py0 <= quo_q + {16'd0, rest_q != 18'd0};
              out_q.ya0 <= (rest_q == 18'd0) ? k1 : k1 + rest_q[5:0] - {2'd0, cmd_q.pool_s};
            end
          end else begin
            num_q <= ends[16:0];
            den_q <= {12'd0, cmd_q.pool_s};
            back_q <= POOL;
            rest_q <= 18'd0;
            state_q <= DIVIDE;
          end
        end
        SLOT: begin
          divided_q <= 1'b0;
          if (cmd_q.out_wrap == 16'd0 || first_row < {1'b0, cmd_q.out_wrap} || divided_q) begin
            state_q <= RSLOT;
            if (divided_q) out_q.slot0 <= rest_q[15:0];
            else if (cmd_q.out_wrap != 16'd0) out_q.slot0 <= first_row[15:0];
            else out_q.slot0 <= (pmax && !pslot[17]) ? pslot[15:0] : 16'd0;
          end else begin
            num_q <= first_row;
            den_q <= cmd_q.out_wrap;
            back_q <= SLOT;
            rest_q <= 18'd0;
            state_q <= DIVIDE;
          end
        end
        RSLOT: begin
          divided_q <= 1'b0;
          if (!out_q.res || cmd_q.res_wrap == 16'd0 || cmd_q.out_row0 < cmd_q.res_wrap || divided_q)
          begin
            state_q <= ROFF;
            if (divided_q) out_q.rslot0 <= rest_q[15:0];
            else out_q.rslot0 <= (cmd_q.res_wrap == 16'd0) ? 16'd0 : cmd_q.out_row0;
          end else begin
            num_q <= {1'b0, cmd_q.out_row0};
            den_q <= cmd_q.res_wrap;
            back_q <= RSLOT;
            rest_q <= 18'd0;
            state_q <= DIVIDE;
          end
        end
        ROFF: begin
          out_q.roff0 <= product[35:0];
          state_q <= RROFF;
        end
        RROFF: begin
          out_q.rroff0 <= product[35:0];
          state_q <= IDLE;
          valid_q <= 1'b1;
        end
        DIVIDE: begin
          if (trial >= {2'd0, den_q}) begin
            rest_q <= trial - {2'd0, den_q};
            quo_q <= {quo_q[15:0], 1'b1};
          end else begin
            rest_q <= trial;
            quo_q <= {quo_q[15:0], 1'b0};
          end
          num_q <= {num_q[15:0], 1'b0};
          bit_q <= bit_q + 5'd1;
          if (bit_q == 5'd16) begin
            state_q <= back_q;
            divided_q <= 1'b1;
          end
        end
        default: state_q <= IDLE;
      endcase
    end
    if (state_q != DIVIDE) bit_q <= 5'd0;
  end

  // Only while there is a command.
  assign clk_req_o = !rst_ni || take_o || (state_q != IDLE) || valid_q;
endmodule
