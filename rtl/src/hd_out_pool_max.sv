// SPDX-License-Identifier: Apache-2.0
// Max pooling of the vectors of a command, in nest order: column windows in registers, row windows
// by actions for hd_out_rmw. General k, s <= 15; one vector per cycle while a window is at most 3
// wide and a vector ends at most one window.
//
// Columns. (px, a): lowest window of the row that has not ended, and the position of the current
// column in it (negative: left of the window). A window is emitted when its last column is here
// (a = k - 1), and at the end of a chunk also when it is open: the rest of it comes with the next
// chunk, by read-modify-write. At the end of the row windows without any column give qmin. The
// maximum over the window's columns in this chunk is taken from the current vector and a history
// of 14, two of the history per cycle.
//
// Rows. (py, a) in the same way; py and its row offset are kept for the first row of the stripe.
// For every emitted word the actions of the pooled rows that the row belongs to: a write if it is
// the window's first row and the chunk has its first column, otherwise read-modify-write.
//
// A row step belongs to the vector that ends the row, so the actions of the last word of a row may
// still be under way when the next row begins: they work on a copy.
module hd_out_pool_max #(
    parameter int K = 16
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 load_i,       // a new command: cmd_i, stable from the next cycle on
    input  hd_output_pkg::ocmd_t cmd_i,
    // vector at the head, and where it is (hd_out_walk)
    input  logic                 valid_i,
    output logic                 pop_o,
    input  logic [8*K-1:0]       code_i,
    input  logic                 two_i,
    input  logic [35:0]          poff_i,
    input  logic                 x_last_i,
    input  logic                 y_last_i,
    input  logic                 row_end_i,
    input  logic                 chunk0_i,
    input  logic [15:0]          xpos_i,
    input  logic                 next_cob_i,
    input  logic                 next_chunk_i,
    input  logic                 next_stripe_i,
    output logic                 idle_o,
    // actions
    output logic                 valid_o,
    input  logic                 ready_i,
    output logic                 read_o,
    output logic                 two_o,
    output logic [35:0]          addr_o,
    output logic [8*K-1:0]       code_o
);
  localparam int HISTORY = 14;
  logic signed [5:0] s6, k6;
  assign s6 = $signed({2'b00, cmd_i.pool_s});
  assign k6 = $signed({2'b00, cmd_i.pool_k});

  // --- Columns.
  logic [16:0] px_q, px_c_q, px_n_q;                // current; first of the chunk; of the next chunk
  logic [35:0] off_q, off_c_q, off_n_q;             // px * out_xstep
  logic signed [5:0] a_q, a_c_q, a_n_q;
  logic tail_q;                                     // emitting open windows at the end of a chunk
  logic closes, emit, again, consume, rdone;
  logic [16:0] px1;
  logic [35:0] off1;
  assign px1 = px_q + 17'd1;
  assign off1 = off_q + {28'd0, cmd_i.out_xstep};
  assign closes = a_q == k6 - 6'sd1;
  assign emit = (px_q < {1'b0, cmd_i.pool_ow}) && ((closes && !tail_q) || (x_last_i && (!a_q[5] || row_end_i)));

  // Maximum over the columns: n of them, at most xpos + 1 in this chunk.
  logic [8*K*HISTORY-1:0] hist_q;  // the previous column lowest
  logic [8*K-1:0] part_q, m0, m1, qmin;
  logic [3:0] n, i_q, i1;
  logic more_q, u0, u1;
  assign qmin = {K{cmd_i.sgn, 7'd0}};
  assign n = ({10'd0, $unsigned(a_q)} > xpos_i) ? xpos_i[3:0] + 4'd1 : a_q[3:0] + 4'd1;  // 0 .. 15
  assign i1 = i_q + 4'd1;
  assign u0 = i_q + 4'd1 < n;
  assign u1 = i_q + 4'd2 < n;
  assign rdone = a_q[5] || !(i_q + 4'd3 < n);
  function automatic logic [8*K-1:0] larger(input logic sgn, input logic [8*K-1:0] a, input logic [8*K-1:0] b);
    larger = a;
    for (int l = 0; l < K; l++)
      if ((b[8*l +: 8] ^ {sgn, 7'd0}) > (a[8*l +: 8] ^ {sgn, 7'd0})) larger[8*l +: 8] = b[8*l +: 8];
  endfunction
  always_comb begin
    m0 = '0;
    m1 = '0;
    if (valid_i && emit) begin
      m0 = more_q ? part_q : code_i;
      if (u0) m0 = larger(cmd_i.sgn, m0, hist_q[8*K*i_q +: 8*K]);
      m1 = m0;
      if (u1) m1 = larger(cmd_i.sgn, m0, hist_q[8*K*i1 +: 8*K]);
      if (a_q[5]) m1 = qmin;
    end
  end

  logic out;  // the word leaves to the row side
  assign out = valid_i && emit && rdone && row_ready;
  // The vector leaves when nothing more is emitted at it.
  assign again = x_last_i && (px1 < {1'b0, cmd_i.pool_ow}) && (a_q >= s6 || row_end_i);
  assign consume = valid_i && (!emit || (out && !again));
  assign pop_o = consume;

  // --- Rows.
  logic signed [5:0] ya_q, ya_s_q, yw_q, ya_n;      // of this row; of the stripe's first; at work
  logic [16:0] py_q, py_s_q, pyw_q, py_n;
  logic [15:0] ys_q, ys_s_q, ysw_q, ys_n;
  logic [35:0] yr_q, yr_s_q, yrw_q, yr_n, yrw_n, base_q;
  logic [15:0] ysw_n;
  logic top_q, top_s_q, topw_q, firstx_q, w_q, wtwo_q;
  logic [8*K-1:0] code_q;
  logic row_ready, any, wlast, next_row;
  assign any = !ya_q[5] && (py_q < {1'b0, cmd_i.pool_oh});  // the row belongs to a pooled row
  assign wlast = (yw_q < s6) || (pyw_q + 17'd1 >= {1'b0, cmd_i.pool_oh});
  assign row_ready = !w_q || (ready_i && wlast);
  assign valid_o = w_q;
  assign read_o = !(firstx_q && (topw_q || yw_q == 6'sd0));
  assign two_o = wtwo_q;
  assign addr_o = base_q + yrw_q;
  assign code_o = code_q;
  assign idle_o = !w_q;
  logic turn, turnw;
  assign turnw = ysw_q + 16'd1 == cmd_i.out_wrap;
  assign ysw_n = turnw ? 16'd0 : ysw_q + 16'd1;
  assign yrw_n = turnw ? 36'd0 : yrw_q + {20'd0, cmd_i.out_pitch};
  // The row behind this one.
  assign turn = ys_q + 16'd1 == cmd_i.out_wrap;
  always_comb begin
    ya_n = ya_q + 6'sd1;
    py_n = py_q;
    ys_n = ys_q;
    yr_n = yr_q;
    if (ya_n == k6) begin
      ya_n = ya_n - s6;
      py_n = py_q + 17'd1;
      ys_n = turn ? 16'd0 : ys_q + 16'd1;
      yr_n = turn ? 36'd0 : yr_q + {20'd0, cmd_i.out_pitch};
    end
  end
  assign next_row = consume && x_last_i && !y_last_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      w_q <= 1'b0;
      tail_q <= 1'b0;
      more_q <= 1'b0;
      i_q <= 4'd0;
    end else begin
      if (out) w_q <= any;
      else if (ready_i && wlast) w_q <= 1'b0;
      if (consume) tail_q <= 1'b0;
      else if (out) tail_q <= 1'b1;
      if (out) begin
        more_q <= 1'b0;
        i_q <= 4'd0;
      end else if (valid_i && emit && !rdone) begin
        more_q <= 1'b1;
        i_q <= i_q + 4'd2;
      end
    end
    // A word that waits for the row side keeps its maximum.
    if (valid_i && emit && !out && !rdone) part_q <= m1;

    if (load_i) begin
      px_q <= 17'd0;
      px_c_q <= 17'd0;
      off_q <= 36'd0;
      off_c_q <= 36'd0;
      a_q <= $signed({2'b00, cmd_i.pool_pad});
      a_c_q <= $signed({2'b00, cmd_i.pool_pad});
      ya_q <= $signed(cmd_i.ya0);
      ya_s_q <= $signed(cmd_i.ya0);
      py_q <= cmd_i.py0;
      py_s_q <= cmd_i.py0;
      ys_q <= cmd_i.slot0;
      ys_s_q <= cmd_i.slot0;
      yr_q <= cmd_i.roff0;
      yr_s_q <= cmd_i.roff0;
      top_q <= cmd_i.top;
      top_s_q <= cmd_i.top;
    end else begin
      if (valid_i && x_last_i && !tail_q) begin
        // What the next chunk begins with.
        px_n_q <= closes ? px1 : px_q;
        off_n_q <= closes ? off1 : off_q;
        a_n_q <= closes ? a_q + 6'sd1 - s6 : a_q + 6'sd1;
      end
      if (consume) begin
        if (!x_last_i) begin
          a_q <= closes ? a_q + 6'sd1 - s6 : a_q + 6'sd1;
          if (closes) begin
            px_q <= px1;
            off_q <= off1;
          end
        end else if (y_last_i && next_chunk_i) begin
          px_q <= tail_q ? px_n_q : closes ? px1 : px_q;
          px_c_q <= tail_q ? px_n_q : closes ? px1 : px_q;
          off_q <= tail_q ? off_n_q : closes ? off1 : off_q;
          off_c_q <= tail_q ? off_n_q : closes ? off1 : off_q;
          a_q <= tail_q ? a_n_q : closes ? a_q + 6'sd1 - s6 : a_q + 6'sd1;
          a_c_q <= tail_q ? a_n_q : closes ? a_q + 6'sd1 - s6 : a_q + 6'sd1;
        end else if (y_last_i && !next_cob_i) begin
          px_q <= 17'd0;
          px_c_q <= 17'd0;
          off_q <= 36'd0;
          off_c_q <= 36'd0;
          a_q <= $signed({2'b00, cmd_i.pool_pad});
          a_c_q <= $signed({2'b00, cmd_i.pool_pad});
        end else begin
          px_q <= px_c_q;
          off_q <= off_c_q;
          a_q <= a_c_q;
        end
      end else if (out) begin  // at the end of a chunk: next window, same vector
        px_q <= px1;
        off_q <= off1;
        if (!a_q[5]) a_q <= a_q - s6;  // right of the row: how far does not matter, and may be far
      end
      if (next_row) begin
        ya_q <= ya_n;
        py_q <= py_n;
        ys_q <= ys_n;
        yr_q <= yr_n;
        top_q <= 1'b0;
      end else if (consume && x_last_i && next_stripe_i) begin
        ya_q <= ya_n;
        ya_s_q <= ya_n;
        py_q <= py_n;
        py_s_q <= py_n;
        ys_q <= ys_n;
        ys_s_q <= ys_n;
        yr_q <= yr_n;
        yr_s_q <= yr_n;
        top_q <= 1'b0;
        top_s_q <= 1'b0;
      end else if (consume && x_last_i) begin
        ya_q <= ya_s_q;
        py_q <= py_s_q;
        ys_q <= ys_s_q;
        yr_q <= yr_s_q;
        top_q <= top_s_q;
      end
    end

    if (consume) begin
      if (cmd_i.pool_k > 4'd3) hist_q <= {hist_q[8*K*(HISTORY-1)-1:0], code_i};
      else hist_q[16*K-1:0] <= {hist_q[8*K-1:0], code_i};
    end
    if (out) begin
      code_q <= m1;
      base_q <= {16'd0, cmd_i.out_addr} + poff_i + off_q;
      firstx_q <= chunk0_i || a_q[5] || ({10'd0, $unsigned(a_q)} <= xpos_i);
      wtwo_q <= two_i;
      yw_q <= ya_q;
      pyw_q <= py_q;
      ysw_q <= ys_q;
      yrw_q <= yr_q;
      topw_q <= top_q;
    end else if (w_q && ready_i) begin
      yw_q <= yw_q - s6;
      pyw_q <= pyw_q + 17'd1;
      ysw_q <= ysw_n;
      yrw_q <= yrw_n;
    end
  end
endmodule
