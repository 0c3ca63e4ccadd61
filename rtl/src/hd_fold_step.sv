// SPDX-License-Identifier: Apache-2.0
// One vector of the first-layer fold: which bytes of which kernel rows fill the C lanes.
//
// A kernel of kh rows is a sequence of kh segments of len = kw * cpix bytes. Vector v starts at
// byte
// q_i of kernel row r_i and takes bytes in sequence until the C lanes are full, the kernel ends, or
// ROWS kernel rows have been touched (then the rest of the lanes is empty and has weight zero).
// Row port i serves the i-th touched row: lanes lane_o[i] .. lane_o[i] + n_o[i] - 1 take bytes
// q_o[i] ... of it. (nr_o, nq_o) is the start of the next vector; last_o: there is none.
// Combinational; instantiated where rows are fetched and where they are consumed.
module hd_fold_step #(
    parameter int C = 16
) (
    input  logic [7:0]                         r_i,
    input  logic [7:0]                         q_i,
    input  logic [7:0]                         len_i,
    input  logic [7:0]                         kh_i,
    output logic [hd_matrix_pkg::ROWS-1:0]     en_o,
    output logic [8*hd_matrix_pkg::ROWS-1:0]   q_o,
    output logic [8*hd_matrix_pkg::ROWS-1:0]   lane_o,
    output logic [8*hd_matrix_pkg::ROWS-1:0]   n_o,
    output logic [7:0]                         nr_o,
    output logic [7:0]                         nq_o,
    output logic                               last_o
);
  localparam [7:0] C8 = C[7:0];
  logic [7:0] r, q, lane, n;
  always_comb begin
    r = r_i;
    q = q_i;
    lane = 8'd0;
    n = 8'd0;
    en_o = '0;
    q_o = '0;
    lane_o = '0;
    n_o = '0;
    for (int i = 0; i < hd_matrix_pkg::ROWS; i++) begin
      // Row port i stands for kernel row r_i + i: a segment cut by the last lane ends the vector.
      if (r < kh_i && lane < C8) begin
        n = ((len_i - q) < (C8 - lane)) ? (len_i - q) : (C8 - lane);
        en_o[i] = 1'b1;
        q_o[8*i +: 8] = q;
        lane_o[8*i +: 8] = lane;
        n_o[8*i +: 8] = n;
        lane = lane + n;
        q = q + n;
        if (q == len_i) begin
          q = 8'd0;
          r = r + 8'd1;
        end
      end
    end
    nr_o = r;
    nq_o = q;
    last_o = (r == kh_i);
  end
endmodule
