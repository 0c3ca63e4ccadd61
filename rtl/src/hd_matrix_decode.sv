// SPDX-License-Identifier: Apache-2.0
// Derived fields of a matrix command (combinational; the dispatcher registers them).
//
// Contract: for the limits on the inputs see hd_matrix_pkg. The window of the depthwise mode has
// two
// shapes, 3 rows x 5 columns and 2 rows x 8 columns; wide selects the second when kw > 5.
module hd_matrix_decode #(
    parameter int C = 16,
    parameter int K = 16
) (
    input  hd_matrix_pkg::mcmd_t cmd_i,
    output hd_matrix_pkg::spike_der_t der_o
);
  // The products take one cycle here; the front end of the full core computes them with one
  // sequential multiplier while the command waits in its queue.
  localparam [15:0] TILE_WORDS = 16'(C * K / 16);
  localparam [15:0] BLOCKS = 16'(C / 16);
  logic signed [15:0] reach, end_col;
  logic [7:0] rmax;
  logic [15:0] taps;
  always_comb begin
    der_o       = '0;
    der_o.org   = cmd_i.ibase + cmd_i.iy0 * cmd_i.ipitch;  // modulo 2^16: sign does not matter
    der_o.sy_a  = {8'd0, cmd_i.sy} * cmd_i.ipitch;
    der_o.sx_a  = {8'd0, cmd_i.sx} * cmd_i.ixstep;
    der_o.dy_a  = {8'd0, cmd_i.dy} * cmd_i.ipitch;
    der_o.dx_a  = {8'd0, cmd_i.dx} * cmd_i.ixstep;
    der_o.pl_a  = cmd_i.pl * cmd_i.ixstep;
    der_o.ssy   = cmd_i.srows * {8'd0, cmd_i.sy};
    der_o.ssy_a = cmd_i.srows * der_o.sy_a;
    der_o.ci_a  = BLOCKS * cmd_i.iplane;
    der_o.col0  = cmd_i.pl[15] ? -cmd_i.pl : 16'd0;
    reach       = $signed((cmd_i.ow - 16'd1) * {8'd0, cmd_i.sx} + {8'd0, cmd_i.kw} - cmd_i.pl);
    end_col     = (reach < $signed(cmd_i.iw)) ? reach : $signed(cmd_i.iw);
    der_o.ncol  = (end_col > $signed(der_o.col0)) ? ($unsigned(end_col) - der_o.col0) : 16'd0;
    taps        = {8'd0, cmd_i.kh} * {8'd0, cmd_i.kw};
    der_o.wcnt  = (cmd_i.mode == hd_matrix_pkg::MODE_DW) ? taps
                                                         : taps * {8'd0, cmd_i.cib} * TILE_WORDS;
    der_o.wide  = cmd_i.kw > 8'd5;
    rmax        = der_o.wide ? 8'd2 : 8'd3;
    der_o.rp    = (cmd_i.kh < rmax) ? cmd_i.kh : rmax;
    der_o.len   = cmd_i.kw * {4'd0, cmd_i.cpix};
    der_o.sxc   = {8'd0, cmd_i.sx} * {12'd0, cmd_i.cpix};
    der_o.plc   = cmd_i.pl * {12'd0, cmd_i.cpix};
    der_o.wc    = cmd_i.iw * {12'd0, cmd_i.cpix};
    der_o.roww  = (der_o.wc + 16'd15) >> 4;
    der_o.spanc = (cmd_i.ow - 16'd1) * der_o.sxc;
  end
endmodule
