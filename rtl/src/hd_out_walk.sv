// SPDX-License-Identifier: Apache-2.0
// Walks the loop nest of a command, vector by vector, with the address of the vector's first word.
//
//     for row stripe: for column chunk: for cob: for y: for x       outer_i: cob is outermost
//
// load_i copies the command (it may come with the step that leaves the previous one); step_i goes
// to the next vector. The copy is here so that nothing of the wide command is looked at per cycle.
// The outputs describe the current vector:
//   addr_o   base + plane offset + row offset + column offset; rows roll in a buffer of wrap_i rows
//   poff_o   the plane offset alone
//   x_last_o, y_last_o   last column of the chunk, last row of the stripe
//   row_end_o   ... and the chunk is the row's last
//   chunk0_o    the chunk is the row's first; xpos_o the column in the chunk
//   cob_last_o  last block of channels
//   next_*_o    what comes after the last row of the stripe: next block, next chunk, next stripe
//   last_o      the command's last vector
module hd_out_walk (
    input  logic        clk_i,
    input  logic        load_i,
    input  logic        step_i,
    // the command, with load_i
    input  logic [15:0] rows_i,
    input  logic [15:0] slot0_i,
    input  logic [35:0] roff0_i,
    input  logic        outer_i,
    input  logic [15:0] ow_i,
    input  logic [15:0] srows_i,
    input  logic [15:0] scols_i,
    input  logic [15:0] cobs_i,
    input  logic [19:0] base_i,
    input  logic [15:0] pitch_i,
    input  logic [7:0]  xstep_i,
    input  logic [20:0] plane_i,   // between blocks of the nest
    input  logic [15:0] wrap_i,
    output logic [35:0] addr_o,
    output logic [35:0] poff_o,
    output logic        x_last_o,
    output logic        y_last_o,
    output logic        row_end_o,
    output logic        chunk0_o,
    output logic [15:0] xpos_o,
    output logic        cob_last_o,
    output logic        next_cob_o,
    output logic        next_chunk_o,
    output logic        next_stripe_o,
    output logic        last_o
);
  logic [15:0] x_q, xn_q, xrest_q;  // column in the chunk, columns of it, columns from it on
  logic [15:0] y_q, yn_q, yrest_q;
  logic [15:0] cob_q, slot_q, slot_s_q;
  logic [35:0] roff_q, roff_s_q, xoff_q, xoff_c_q, poff_q;
  logic chunk0_q;
  logic chunk_last, stripe_last;
  logic [15:0] rows_q, slot0_q, ow_q, srows_q, scols_q, cobs_q, pitch_q, wrap_q;
  logic [35:0] roff0_q;
  logic [19:0] base_q;
  logic [20:0] plane_q;
  logic [7:0] xstep_q;
  logic outer_q;
  assign x_last_o = x_q + 16'd1 == xn_q;
  assign y_last_o = y_q + 16'd1 == yn_q;
  assign chunk_last = xn_q == xrest_q;
  assign stripe_last = yn_q == yrest_q;
  assign cob_last_o = cob_q + 16'd1 == cobs_q;
  assign row_end_o = x_last_o && chunk_last;
  assign chunk0_o = chunk0_q;
  assign xpos_o = x_q;
  assign addr_o = {16'd0, base_q} + poff_q + roff_q + xoff_q;
  assign poff_o = poff_q;
  assign next_cob_o = outer_q ? chunk_last && stripe_last && !cob_last_o : !cob_last_o;
  assign next_chunk_o = !chunk_last && (outer_q || cob_last_o);
  assign next_stripe_o = chunk_last && !stripe_last && (outer_q || cob_last_o);
  assign last_o = x_last_o && y_last_o && cob_last_o && chunk_last && stripe_last;

  // The row behind this one.
  logic [15:0] slot_n;
  logic [35:0] roff_n;
  logic turn;
  assign turn = slot_q + 16'd1 == wrap_q;
  assign slot_n = turn ? 16'd0 : slot_q + 16'd1;
  assign roff_n = turn ? 36'd0 : roff_q + {20'd0, pitch_q};
  // The chunk and the stripe behind this one.
  logic [15:0] xrest_n, yrest_n;
  logic [35:0] xoff_n;
  assign xrest_n = xrest_q - xn_q;
  assign yrest_n = yrest_q - yn_q;
  assign xoff_n = xoff_q + {28'd0, xstep_q};

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      rows_q <= rows_i;
      slot0_q <= slot0_i;
      ow_q <= ow_i;
      srows_q <= srows_i;
      scols_q <= scols_i;
      cobs_q <= cobs_i;
      pitch_q <= pitch_i;
      wrap_q <= wrap_i;
      roff0_q <= roff0_i;
      base_q <= base_i;
      plane_q <= plane_i;
      xstep_q <= xstep_i;
      outer_q <= outer_i;
      x_q <= 16'd0;
      y_q <= 16'd0;
      cob_q <= 16'd0;
      xn_q <= (ow_i < scols_i) ? ow_i : scols_i;
      xrest_q <= ow_i;
      yn_q <= (rows_i < srows_i) ? rows_i : srows_i;
      yrest_q <= rows_i;
      slot_q <= slot0_i;
      slot_s_q <= slot0_i;
      roff_q <= roff0_i;
      roff_s_q <= roff0_i;
      xoff_q <= 36'd0;
      xoff_c_q <= 36'd0;
      poff_q <= 36'd0;
      chunk0_q <= 1'b1;
    end else if (step_i) begin
      if (!x_last_o) begin
        x_q <= x_q + 16'd1;
        xoff_q <= xoff_n;
      end else begin
        x_q <= 16'd0;
        xoff_q <= xoff_c_q;
        if (!y_last_o) begin
          y_q <= y_q + 16'd1;
          slot_q <= slot_n;
          roff_q <= roff_n;
        end else begin
          y_q <= 16'd0;
          slot_q <= slot_s_q;
          roff_q <= roff_s_q;
          if (next_cob_o) begin
            cob_q <= cob_q + 16'd1;
            poff_q <= poff_q + {15'd0, plane_q};
          end else if (!outer_q) begin
            cob_q <= 16'd0;
            poff_q <= 36'd0;
          end
          if (next_chunk_o) begin
            chunk0_q <= 1'b0;
            xrest_q <= xrest_n;
            xn_q <= (xrest_n < scols_q) ? xrest_n : scols_q;
            xoff_q <= xoff_n;
            xoff_c_q <= xoff_n;
          end else if (outer_q || cob_last_o) begin
            chunk0_q <= 1'b1;
            xrest_q <= ow_q;
            xn_q <= (ow_q < scols_q) ? ow_q : scols_q;
            xoff_q <= 36'd0;
            xoff_c_q <= 36'd0;
            if (next_stripe_o) begin
              yrest_q <= yrest_n;
              yn_q <= (yrest_n < srows_q) ? yrest_n : srows_q;
              slot_q <= slot_n;
              slot_s_q <= slot_n;
              roff_q <= roff_n;
              roff_s_q <= roff_n;
            end else begin  // cob outermost: its next block starts at the first row
              yrest_q <= rows_q;
              yn_q <= (rows_q < srows_q) ? rows_q : srows_q;
              slot_q <= slot0_q;
              slot_s_q <= slot0_q;
              roff_q <= roff0_q;
              roff_s_q <= roff0_q;
            end
          end
        end
      end
    end
  end
endmodule
