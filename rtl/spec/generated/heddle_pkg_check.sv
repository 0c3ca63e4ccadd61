// generated from rtl/spec by tools/specgen; do not edit.
// SPDX-License-Identifier: Apache-2.0
//
// Reads field number `index` of the command (or, with `micro`, of the micro-instruction) in `words`
// through its packed struct. Fields count in bit order, the header's first; signed ones are extended.
/* verilator lint_off UNUSED */
/* verilator lint_off WIDTH */
module heddle_pkg_check (
    input  logic [1663:0] words,
    input  logic        micro,
    input  logic [7:0]  index,
    output logic [31:0] value,
    output logic        legal,
    output logic [7:0]  length,
    output logic [7:0]  engine
);
  heddle_pkg::nop_t c_nop;
  assign c_nop = words[127:0];
  heddle_pkg::end_t c_end;
  assign c_end = words[127:0];
  heddle_pkg::barrier_t c_barrier;
  assign c_barrier = words[127:0];
  heddle_pkg::load_t c_load;
  assign c_load = words[639:0];
  heddle_pkg::fill_t c_fill;
  assign c_fill = words[511:0];
  heddle_pkg::load_gather_t c_load_gather;
  assign c_load_gather = words[383:0];
  heddle_pkg::sync_load_t c_sync_load;
  assign c_sync_load = words[127:0];
  heddle_pkg::store_t c_store;
  assign c_store = words[639:0];
  heddle_pkg::store_scatter_t c_store_scatter;
  assign c_store_scatter = words[383:0];
  heddle_pkg::sync_store_t c_sync_store;
  assign c_sync_store = words[127:0];
  heddle_pkg::conv_t c_conv;
  assign c_conv = words[1279:0];
  heddle_pkg::sync_matrix_t c_sync_matrix;
  assign c_sync_matrix = words[127:0];
  heddle_pkg::vrun_t c_vrun;
  assign c_vrun = words[1663:0];
  heddle_pkg::vmac_t c_vmac;
  assign c_vmac = words[1663:0];
  heddle_pkg::sync_vector_t c_sync_vector;
  assign c_sync_vector = words[127:0];
  heddle_pkg::micro_t m;
  assign m = words[63:0];
  assign legal = heddle_pkg::command_legal(words);
  assign length = heddle_pkg::command_words(words[0 +: 8]);
  assign engine = heddle_pkg::command_engine(words[0 +: 8]);

  always_comb begin
    value = 32'd0;
    if (micro) begin
      case (index)
        8'd0: value = m.op;
        8'd1: value = m.d;
        8'd2: value = m.a;
        8'd3: value = m.b;
        8'd4: value = m.c;
        8'd5: value = m.imm;
        default: value = 32'd0;
      endcase
    end else begin
      case (words[0 +: 8])
        heddle_pkg::OP_NOP:
          case (index)
            8'd0: value = c_nop.header.opcode;
            8'd1: value = c_nop.header.words;
            8'd2: value = c_nop.header.wait0_enable;
            8'd3: value = c_nop.header.wait0_sem;
            8'd4: value = c_nop.header.wait0_count;
            8'd5: value = c_nop.header.wait1_enable;
            8'd6: value = c_nop.header.wait1_sem;
            8'd7: value = c_nop.header.wait1_count;
            8'd8: value = c_nop.header.signal0_enable;
            8'd9: value = c_nop.header.signal0_sem;
            8'd10: value = c_nop.header.signal0_count;
            8'd11: value = c_nop.header.signal0_point;
            8'd12: value = c_nop.header.signal1_enable;
            8'd13: value = c_nop.header.signal1_sem;
            8'd14: value = c_nop.header.signal1_count;
            8'd15: value = c_nop.header.signal1_point;
            8'd16: value = c_nop.header.tag;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_END:
          case (index)
            8'd0: value = c_end.header.opcode;
            8'd1: value = c_end.header.words;
            8'd2: value = c_end.header.wait0_enable;
            8'd3: value = c_end.header.wait0_sem;
            8'd4: value = c_end.header.wait0_count;
            8'd5: value = c_end.header.wait1_enable;
            8'd6: value = c_end.header.wait1_sem;
            8'd7: value = c_end.header.wait1_count;
            8'd8: value = c_end.header.signal0_enable;
            8'd9: value = c_end.header.signal0_sem;
            8'd10: value = c_end.header.signal0_count;
            8'd11: value = c_end.header.signal0_point;
            8'd12: value = c_end.header.signal1_enable;
            8'd13: value = c_end.header.signal1_sem;
            8'd14: value = c_end.header.signal1_count;
            8'd15: value = c_end.header.signal1_point;
            8'd16: value = c_end.header.tag;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_BARRIER:
          case (index)
            8'd0: value = c_barrier.header.opcode;
            8'd1: value = c_barrier.header.words;
            8'd2: value = c_barrier.header.wait0_enable;
            8'd3: value = c_barrier.header.wait0_sem;
            8'd4: value = c_barrier.header.wait0_count;
            8'd5: value = c_barrier.header.wait1_enable;
            8'd6: value = c_barrier.header.wait1_sem;
            8'd7: value = c_barrier.header.wait1_count;
            8'd8: value = c_barrier.header.signal0_enable;
            8'd9: value = c_barrier.header.signal0_sem;
            8'd10: value = c_barrier.header.signal0_count;
            8'd11: value = c_barrier.header.signal0_point;
            8'd12: value = c_barrier.header.signal1_enable;
            8'd13: value = c_barrier.header.signal1_sem;
            8'd14: value = c_barrier.header.signal1_count;
            8'd15: value = c_barrier.header.signal1_point;
            8'd16: value = c_barrier.header.tag;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_LOAD:
          case (index)
            8'd0: value = c_load.header.opcode;
            8'd1: value = c_load.header.words;
            8'd2: value = c_load.header.wait0_enable;
            8'd3: value = c_load.header.wait0_sem;
            8'd4: value = c_load.header.wait0_count;
            8'd5: value = c_load.header.wait1_enable;
            8'd6: value = c_load.header.wait1_sem;
            8'd7: value = c_load.header.wait1_count;
            8'd8: value = c_load.header.signal0_enable;
            8'd9: value = c_load.header.signal0_sem;
            8'd10: value = c_load.header.signal0_count;
            8'd11: value = c_load.header.signal0_point;
            8'd12: value = c_load.header.signal1_enable;
            8'd13: value = c_load.header.signal1_sem;
            8'd14: value = c_load.header.signal1_count;
            8'd15: value = c_load.header.signal1_point;
            8'd16: value = c_load.header.tag;
            8'd17: value = c_load.region;
            8'd18: value = c_load.elem_log2;
            8'd19: value = c_load.dram_offset;
            8'd20: value = c_load.sram_addr;
            8'd21: value = c_load.n0;
            8'd22: value = c_load.n1;
            8'd23: value = c_load.n2;
            8'd24: value = c_load.n3;
            8'd25: value = c_load.s0;
            8'd26: value = c_load.s1;
            8'd27: value = c_load.s2;
            8'd28: value = c_load.s3;
            8'd29: value = c_load.t0;
            8'd30: value = c_load.t1;
            8'd31: value = c_load.t2;
            8'd32: value = c_load.t3;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_FILL:
          case (index)
            8'd0: value = c_fill.header.opcode;
            8'd1: value = c_fill.header.words;
            8'd2: value = c_fill.header.wait0_enable;
            8'd3: value = c_fill.header.wait0_sem;
            8'd4: value = c_fill.header.wait0_count;
            8'd5: value = c_fill.header.wait1_enable;
            8'd6: value = c_fill.header.wait1_sem;
            8'd7: value = c_fill.header.wait1_count;
            8'd8: value = c_fill.header.signal0_enable;
            8'd9: value = c_fill.header.signal0_sem;
            8'd10: value = c_fill.header.signal0_count;
            8'd11: value = c_fill.header.signal0_point;
            8'd12: value = c_fill.header.signal1_enable;
            8'd13: value = c_fill.header.signal1_sem;
            8'd14: value = c_fill.header.signal1_count;
            8'd15: value = c_fill.header.signal1_point;
            8'd16: value = c_fill.header.tag;
            8'd17: value = c_fill.elem_log2;
            8'd18: value = c_fill.sram_addr;
            8'd19: value = c_fill.value;
            8'd20: value = c_fill.n0;
            8'd21: value = c_fill.n1;
            8'd22: value = c_fill.n2;
            8'd23: value = c_fill.n3;
            8'd24: value = c_fill.t0;
            8'd25: value = c_fill.t1;
            8'd26: value = c_fill.t2;
            8'd27: value = c_fill.t3;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_LOAD_GATHER:
          case (index)
            8'd0: value = c_load_gather.header.opcode;
            8'd1: value = c_load_gather.header.words;
            8'd2: value = c_load_gather.header.wait0_enable;
            8'd3: value = c_load_gather.header.wait0_sem;
            8'd4: value = c_load_gather.header.wait0_count;
            8'd5: value = c_load_gather.header.wait1_enable;
            8'd6: value = c_load_gather.header.wait1_sem;
            8'd7: value = c_load_gather.header.wait1_count;
            8'd8: value = c_load_gather.header.signal0_enable;
            8'd9: value = c_load_gather.header.signal0_sem;
            8'd10: value = c_load_gather.header.signal0_count;
            8'd11: value = c_load_gather.header.signal0_point;
            8'd12: value = c_load_gather.header.signal1_enable;
            8'd13: value = c_load_gather.header.signal1_sem;
            8'd14: value = c_load_gather.header.signal1_count;
            8'd15: value = c_load_gather.header.signal1_point;
            8'd16: value = c_load_gather.header.tag;
            8'd17: value = c_load_gather.region;
            8'd18: value = c_load_gather.elem_log2;
            8'd19: value = c_load_gather.dram_offset;
            8'd20: value = c_load_gather.sram_addr;
            8'd21: value = c_load_gather.n0;
            8'd22: value = c_load_gather.count;
            8'd23: value = c_load_gather.index_addr;
            8'd24: value = c_load_gather.bound;
            8'd25: value = c_load_gather.s1;
            8'd26: value = c_load_gather.t1;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_SYNC_LOAD:
          case (index)
            8'd0: value = c_sync_load.header.opcode;
            8'd1: value = c_sync_load.header.words;
            8'd2: value = c_sync_load.header.wait0_enable;
            8'd3: value = c_sync_load.header.wait0_sem;
            8'd4: value = c_sync_load.header.wait0_count;
            8'd5: value = c_sync_load.header.wait1_enable;
            8'd6: value = c_sync_load.header.wait1_sem;
            8'd7: value = c_sync_load.header.wait1_count;
            8'd8: value = c_sync_load.header.signal0_enable;
            8'd9: value = c_sync_load.header.signal0_sem;
            8'd10: value = c_sync_load.header.signal0_count;
            8'd11: value = c_sync_load.header.signal0_point;
            8'd12: value = c_sync_load.header.signal1_enable;
            8'd13: value = c_sync_load.header.signal1_sem;
            8'd14: value = c_sync_load.header.signal1_count;
            8'd15: value = c_sync_load.header.signal1_point;
            8'd16: value = c_sync_load.header.tag;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_STORE:
          case (index)
            8'd0: value = c_store.header.opcode;
            8'd1: value = c_store.header.words;
            8'd2: value = c_store.header.wait0_enable;
            8'd3: value = c_store.header.wait0_sem;
            8'd4: value = c_store.header.wait0_count;
            8'd5: value = c_store.header.wait1_enable;
            8'd6: value = c_store.header.wait1_sem;
            8'd7: value = c_store.header.wait1_count;
            8'd8: value = c_store.header.signal0_enable;
            8'd9: value = c_store.header.signal0_sem;
            8'd10: value = c_store.header.signal0_count;
            8'd11: value = c_store.header.signal0_point;
            8'd12: value = c_store.header.signal1_enable;
            8'd13: value = c_store.header.signal1_sem;
            8'd14: value = c_store.header.signal1_count;
            8'd15: value = c_store.header.signal1_point;
            8'd16: value = c_store.header.tag;
            8'd17: value = c_store.region;
            8'd18: value = c_store.elem_log2;
            8'd19: value = c_store.dram_offset;
            8'd20: value = c_store.sram_addr;
            8'd21: value = c_store.n0;
            8'd22: value = c_store.n1;
            8'd23: value = c_store.n2;
            8'd24: value = c_store.n3;
            8'd25: value = c_store.s0;
            8'd26: value = c_store.s1;
            8'd27: value = c_store.s2;
            8'd28: value = c_store.s3;
            8'd29: value = c_store.t0;
            8'd30: value = c_store.t1;
            8'd31: value = c_store.t2;
            8'd32: value = c_store.t3;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_STORE_SCATTER:
          case (index)
            8'd0: value = c_store_scatter.header.opcode;
            8'd1: value = c_store_scatter.header.words;
            8'd2: value = c_store_scatter.header.wait0_enable;
            8'd3: value = c_store_scatter.header.wait0_sem;
            8'd4: value = c_store_scatter.header.wait0_count;
            8'd5: value = c_store_scatter.header.wait1_enable;
            8'd6: value = c_store_scatter.header.wait1_sem;
            8'd7: value = c_store_scatter.header.wait1_count;
            8'd8: value = c_store_scatter.header.signal0_enable;
            8'd9: value = c_store_scatter.header.signal0_sem;
            8'd10: value = c_store_scatter.header.signal0_count;
            8'd11: value = c_store_scatter.header.signal0_point;
            8'd12: value = c_store_scatter.header.signal1_enable;
            8'd13: value = c_store_scatter.header.signal1_sem;
            8'd14: value = c_store_scatter.header.signal1_count;
            8'd15: value = c_store_scatter.header.signal1_point;
            8'd16: value = c_store_scatter.header.tag;
            8'd17: value = c_store_scatter.region;
            8'd18: value = c_store_scatter.elem_log2;
            8'd19: value = c_store_scatter.dram_offset;
            8'd20: value = c_store_scatter.sram_addr;
            8'd21: value = c_store_scatter.n0;
            8'd22: value = c_store_scatter.count;
            8'd23: value = c_store_scatter.index_addr;
            8'd24: value = c_store_scatter.bound;
            8'd25: value = c_store_scatter.s1;
            8'd26: value = c_store_scatter.t1;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_SYNC_STORE:
          case (index)
            8'd0: value = c_sync_store.header.opcode;
            8'd1: value = c_sync_store.header.words;
            8'd2: value = c_sync_store.header.wait0_enable;
            8'd3: value = c_sync_store.header.wait0_sem;
            8'd4: value = c_sync_store.header.wait0_count;
            8'd5: value = c_sync_store.header.wait1_enable;
            8'd6: value = c_sync_store.header.wait1_sem;
            8'd7: value = c_sync_store.header.wait1_count;
            8'd8: value = c_sync_store.header.signal0_enable;
            8'd9: value = c_sync_store.header.signal0_sem;
            8'd10: value = c_sync_store.header.signal0_count;
            8'd11: value = c_sync_store.header.signal0_point;
            8'd12: value = c_sync_store.header.signal1_enable;
            8'd13: value = c_sync_store.header.signal1_sem;
            8'd14: value = c_sync_store.header.signal1_count;
            8'd15: value = c_sync_store.header.signal1_point;
            8'd16: value = c_sync_store.header.tag;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_CONV:
          case (index)
            8'd0: value = c_conv.header.opcode;
            8'd1: value = c_conv.header.words;
            8'd2: value = c_conv.header.wait0_enable;
            8'd3: value = c_conv.header.wait0_sem;
            8'd4: value = c_conv.header.wait0_count;
            8'd5: value = c_conv.header.wait1_enable;
            8'd6: value = c_conv.header.wait1_sem;
            8'd7: value = c_conv.header.wait1_count;
            8'd8: value = c_conv.header.signal0_enable;
            8'd9: value = c_conv.header.signal0_sem;
            8'd10: value = c_conv.header.signal0_count;
            8'd11: value = c_conv.header.signal0_point;
            8'd12: value = c_conv.header.signal1_enable;
            8'd13: value = c_conv.header.signal1_sem;
            8'd14: value = c_conv.header.signal1_count;
            8'd15: value = c_conv.header.signal1_point;
            8'd16: value = c_conv.header.tag;
            8'd17: value = c_conv.mode;
            8'd18: value = c_conv.in_signed;
            8'd19: value = c_conv.w_signed;
            8'd20: value = c_conv.w_mode;
            8'd21: value = c_conv.out_type;
            8'd22: value = c_conv.acc_continue;
            8'd23: value = c_conv.acc_hold;
            8'd24: value = c_conv.bias_f32;
            8'd25: value = c_conv.zw_channel;
            8'd26: value = c_conv.lut;
            8'd27: value = c_conv.res_op;
            8'd28: value = c_conv.res_signed;
            8'd29: value = c_conv.res_first;
            8'd30: value = c_conv.pool;
            8'd31: value = c_conv.fold_channels;
            8'd32: value = c_conv.in_addr;
            8'd33: value = c_conv.in_pitch;
            8'd34: value = c_conv.in_xstep;
            8'd35: value = c_conv.in_plane;
            8'd36: value = c_conv.ih;
            8'd37: value = c_conv.iw;
            8'd38: value = c_conv.in_row0;
            8'd39: value = c_conv.in_wrap;
            8'd40: value = c_conv.out_addr;
            8'd41: value = c_conv.out_pitch;
            8'd42: value = c_conv.out_xstep;
            8'd43: value = c_conv.out_plane;
            8'd44: value = c_conv.ow;
            8'd45: value = c_conv.out_rows;
            8'd46: value = c_conv.out_row0;
            8'd47: value = c_conv.out_wrap;
            8'd48: value = c_conv.kh;
            8'd49: value = c_conv.kw;
            8'd50: value = c_conv.sy;
            8'd51: value = c_conv.sx;
            8'd52: value = c_conv.dy;
            8'd53: value = c_conv.dx;
            8'd54: value = c_conv.pad_top;
            8'd55: value = c_conv.pad_left;
            8'd56: value = c_conv.ci;
            8'd57: value = c_conv.co;
            8'd58: value = c_conv.w_addr;
            8'd59: value = c_conv.w_plane;
            8'd60: value = c_conv.w_step;
            8'd61: value = c_conv.param_addr;
            8'd62: value = c_conv.za;
            8'd63: value = c_conv.zw;
            8'd64: value = c_conv.zo;
            8'd65: value = c_conv.act_min;
            8'd66: value = c_conv.act_max;
            8'd67: value = c_conv.lut_addr;
            8'd68: value = c_conv.res_addr;
            8'd69: value = c_conv.res_pitch;
            8'd70: value = c_conv.res_wrap;
            8'd71: value = c_conv.res_plane;
            8'd72: value = c_conv.res_a;
            8'd73: value = c_conv.res_b;
            8'd74: value = c_conv.res_k;
            8'd75: value = c_conv.res_zero;
            8'd76: value = c_conv.mid_zero;
            8'd77: value = c_conv.res_min;
            8'd78: value = c_conv.res_max;
            8'd79: value = c_conv.pool_k;
            8'd80: value = c_conv.pool_s;
            8'd81: value = c_conv.pool_pad;
            8'd82: value = c_conv.pool_oh;
            8'd83: value = c_conv.pool_ow;
            8'd84: value = c_conv.pool_row0;
            8'd85: value = c_conv.pool_scale;
            8'd86: value = c_conv.pool_zero_in;
            8'd87: value = c_conv.pool_zero_out;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_SYNC_MATRIX:
          case (index)
            8'd0: value = c_sync_matrix.header.opcode;
            8'd1: value = c_sync_matrix.header.words;
            8'd2: value = c_sync_matrix.header.wait0_enable;
            8'd3: value = c_sync_matrix.header.wait0_sem;
            8'd4: value = c_sync_matrix.header.wait0_count;
            8'd5: value = c_sync_matrix.header.wait1_enable;
            8'd6: value = c_sync_matrix.header.wait1_sem;
            8'd7: value = c_sync_matrix.header.wait1_count;
            8'd8: value = c_sync_matrix.header.signal0_enable;
            8'd9: value = c_sync_matrix.header.signal0_sem;
            8'd10: value = c_sync_matrix.header.signal0_count;
            8'd11: value = c_sync_matrix.header.signal0_point;
            8'd12: value = c_sync_matrix.header.signal1_enable;
            8'd13: value = c_sync_matrix.header.signal1_sem;
            8'd14: value = c_sync_matrix.header.signal1_count;
            8'd15: value = c_sync_matrix.header.signal1_point;
            8'd16: value = c_sync_matrix.header.tag;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_VRUN:
          case (index)
            8'd0: value = c_vrun.header.opcode;
            8'd1: value = c_vrun.header.words;
            8'd2: value = c_vrun.header.wait0_enable;
            8'd3: value = c_vrun.header.wait0_sem;
            8'd4: value = c_vrun.header.wait0_count;
            8'd5: value = c_vrun.header.wait1_enable;
            8'd6: value = c_vrun.header.wait1_sem;
            8'd7: value = c_vrun.header.wait1_count;
            8'd8: value = c_vrun.header.signal0_enable;
            8'd9: value = c_vrun.header.signal0_sem;
            8'd10: value = c_vrun.header.signal0_count;
            8'd11: value = c_vrun.header.signal0_point;
            8'd12: value = c_vrun.header.signal1_enable;
            8'd13: value = c_vrun.header.signal1_sem;
            8'd14: value = c_vrun.header.signal1_count;
            8'd15: value = c_vrun.header.signal1_point;
            8'd16: value = c_vrun.header.tag;
            8'd17: value = c_vrun.prog_addr;
            8'd18: value = c_vrun.prologue;
            8'd19: value = c_vrun.body;
            8'd20: value = c_vrun.epilogue;
            8'd21: value = c_vrun.lanes;
            8'd22: value = c_vrun.n_r1;
            8'd23: value = c_vrun.n_r2;
            8'd24: value = c_vrun.n_r3;
            8'd25: value = c_vrun.n_o1;
            8'd26: value = c_vrun.n_o2;
            8'd27: value = c_vrun.n_o3;
            8'd28: value = c_vrun.tail;
            8'd29: value = c_vrun.enable_a;
            8'd30: value = c_vrun.enable_b;
            8'd31: value = c_vrun.enable_c;
            8'd32: value = c_vrun.store;
            8'd33: value = c_vrun.store_one;
            8'd34: value = c_vrun.gather_a;
            8'd35: value = c_vrun.scatter_d;
            8'd36: value = c_vrun.pick_a;
            8'd37: value = c_vrun.index_stride;
            8'd38: value = c_vrun.index_bound;
            8'd39: value = c_vrun.arg0;
            8'd40: value = c_vrun.arg1;
            8'd41: value = c_vrun.arg2;
            8'd42: value = c_vrun.arg3;
            8'd43: value = c_vrun.a_base;
            8'd44: value = c_vrun.a_type;
            8'd45: value = c_vrun.a_lane_stride;
            8'd46: value = c_vrun.a_r1_stride;
            8'd47: value = c_vrun.a_r2_stride;
            8'd48: value = c_vrun.a_r3_stride;
            8'd49: value = c_vrun.a_o1_stride;
            8'd50: value = c_vrun.a_o2_stride;
            8'd51: value = c_vrun.a_o3_stride;
            8'd52: value = c_vrun.b_base;
            8'd53: value = c_vrun.b_type;
            8'd54: value = c_vrun.b_lane_stride;
            8'd55: value = c_vrun.b_r1_stride;
            8'd56: value = c_vrun.b_r2_stride;
            8'd57: value = c_vrun.b_r3_stride;
            8'd58: value = c_vrun.b_o1_stride;
            8'd59: value = c_vrun.b_o2_stride;
            8'd60: value = c_vrun.b_o3_stride;
            8'd61: value = c_vrun.c_base;
            8'd62: value = c_vrun.c_type;
            8'd63: value = c_vrun.c_lane_stride;
            8'd64: value = c_vrun.c_r1_stride;
            8'd65: value = c_vrun.c_r2_stride;
            8'd66: value = c_vrun.c_r3_stride;
            8'd67: value = c_vrun.c_o1_stride;
            8'd68: value = c_vrun.c_o2_stride;
            8'd69: value = c_vrun.c_o3_stride;
            8'd70: value = c_vrun.d_base;
            8'd71: value = c_vrun.d_type;
            8'd72: value = c_vrun.d_lane_stride;
            8'd73: value = c_vrun.d_r1_stride;
            8'd74: value = c_vrun.d_r2_stride;
            8'd75: value = c_vrun.d_r3_stride;
            8'd76: value = c_vrun.d_o1_stride;
            8'd77: value = c_vrun.d_o2_stride;
            8'd78: value = c_vrun.d_o3_stride;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_VMAC:
          case (index)
            8'd0: value = c_vmac.header.opcode;
            8'd1: value = c_vmac.header.words;
            8'd2: value = c_vmac.header.wait0_enable;
            8'd3: value = c_vmac.header.wait0_sem;
            8'd4: value = c_vmac.header.wait0_count;
            8'd5: value = c_vmac.header.wait1_enable;
            8'd6: value = c_vmac.header.wait1_sem;
            8'd7: value = c_vmac.header.wait1_count;
            8'd8: value = c_vmac.header.signal0_enable;
            8'd9: value = c_vmac.header.signal0_sem;
            8'd10: value = c_vmac.header.signal0_count;
            8'd11: value = c_vmac.header.signal0_point;
            8'd12: value = c_vmac.header.signal1_enable;
            8'd13: value = c_vmac.header.signal1_sem;
            8'd14: value = c_vmac.header.signal1_count;
            8'd15: value = c_vmac.header.signal1_point;
            8'd16: value = c_vmac.header.tag;
            8'd17: value = c_vmac.lanes;
            8'd18: value = c_vmac.n_r1;
            8'd19: value = c_vmac.n_r2;
            8'd20: value = c_vmac.n_r3;
            8'd21: value = c_vmac.n_o1;
            8'd22: value = c_vmac.n_o2;
            8'd23: value = c_vmac.n_o3;
            8'd24: value = c_vmac.initial_;
            8'd25: value = c_vmac.clamp;
            8'd26: value = c_vmac.clamp_min;
            8'd27: value = c_vmac.clamp_max;
            8'd28: value = c_vmac.a_base;
            8'd29: value = c_vmac.a_type;
            8'd30: value = c_vmac.a_lane_stride;
            8'd31: value = c_vmac.a_r1_stride;
            8'd32: value = c_vmac.a_r2_stride;
            8'd33: value = c_vmac.a_r3_stride;
            8'd34: value = c_vmac.a_o1_stride;
            8'd35: value = c_vmac.a_o2_stride;
            8'd36: value = c_vmac.a_o3_stride;
            8'd37: value = c_vmac.b_base;
            8'd38: value = c_vmac.b_type;
            8'd39: value = c_vmac.b_lane_stride;
            8'd40: value = c_vmac.b_r1_stride;
            8'd41: value = c_vmac.b_r2_stride;
            8'd42: value = c_vmac.b_r3_stride;
            8'd43: value = c_vmac.b_o1_stride;
            8'd44: value = c_vmac.b_o2_stride;
            8'd45: value = c_vmac.b_o3_stride;
            8'd46: value = c_vmac.c_base;
            8'd47: value = c_vmac.c_type;
            8'd48: value = c_vmac.c_lane_stride;
            8'd49: value = c_vmac.c_r1_stride;
            8'd50: value = c_vmac.c_r2_stride;
            8'd51: value = c_vmac.c_r3_stride;
            8'd52: value = c_vmac.c_o1_stride;
            8'd53: value = c_vmac.c_o2_stride;
            8'd54: value = c_vmac.c_o3_stride;
            8'd55: value = c_vmac.d_base;
            8'd56: value = c_vmac.d_type;
            8'd57: value = c_vmac.d_lane_stride;
            8'd58: value = c_vmac.d_r1_stride;
            8'd59: value = c_vmac.d_r2_stride;
            8'd60: value = c_vmac.d_r3_stride;
            8'd61: value = c_vmac.d_o1_stride;
            8'd62: value = c_vmac.d_o2_stride;
            8'd63: value = c_vmac.d_o3_stride;
            default: value = 32'd0;
          endcase
        heddle_pkg::OP_SYNC_VECTOR:
          case (index)
            8'd0: value = c_sync_vector.header.opcode;
            8'd1: value = c_sync_vector.header.words;
            8'd2: value = c_sync_vector.header.wait0_enable;
            8'd3: value = c_sync_vector.header.wait0_sem;
            8'd4: value = c_sync_vector.header.wait0_count;
            8'd5: value = c_sync_vector.header.wait1_enable;
            8'd6: value = c_sync_vector.header.wait1_sem;
            8'd7: value = c_sync_vector.header.wait1_count;
            8'd8: value = c_sync_vector.header.signal0_enable;
            8'd9: value = c_sync_vector.header.signal0_sem;
            8'd10: value = c_sync_vector.header.signal0_count;
            8'd11: value = c_sync_vector.header.signal0_point;
            8'd12: value = c_sync_vector.header.signal1_enable;
            8'd13: value = c_sync_vector.header.signal1_sem;
            8'd14: value = c_sync_vector.header.signal1_count;
            8'd15: value = c_sync_vector.header.signal1_point;
            8'd16: value = c_sync_vector.header.tag;
            default: value = 32'd0;
          endcase
        default: value = 32'd0;
      endcase
    end
  end
endmodule
/* verilator lint_on WIDTH */
/* verilator lint_on UNUSED */
