// SPDX-License-Identifier: Apache-2.0
// One lane of the first output stage: int32 accumulator to an 8-bit code.
//
//   v = f32(f32(acc + bias) * scale)         int32 wraps; each f32() rounds to nearest even
//   y = min(max(rne(v) + zp, lo), hi)        rne to nearest even, saturating
//
// scale is a normal, finite float or zero (a subnormal counts as zero). A product below the normal
// range is
// below 1/2 and rounds to 0 anyway, so subnormal products need no care. Clamping after rounding
// equals clamping before it, since the limits are integers.
// Pipeline: acc_i, bias_i, scale_i in cycle 0; y_o in cycle 4 (registers behind add, convert,
// multiply,
// round). Registers move only under en_i[stage].
module hd_requant_lane (
    input  logic        clk_i,
    input  logic [3:0]  en_i,
    input  logic [31:0] acc_i,
    input  logic [31:0] bias_i,
    input  logic [31:0] scale_i,
    input  logic [8:0]  zp_i,
    input  logic [8:0]  lo_i,
    input  logic [8:0]  hi_i,
    output logic [7:0]  y_o
);
  // 1. bias
  logic [31:0] sum_q, sc1_q;
  // 2. int32 -> 24-bit significand times 2^exp
  logic sgn2_q, zero2_q;
  logic [23:0] man2_q;
  logic [5:0] exp2_q;
  logic [31:0] sc2_q;
  logic [31:0] mag, nrm;
  logic [5:0] sh;
  logic [24:0] rnd;
  always_comb begin
    mag = sum_q[31] ? -sum_q : sum_q;
    nrm = mag;
    sh = 6'd0;
    if (nrm[31:16] == 16'd0) begin nrm = nrm << 16; sh = sh + 6'd16; end
    if (nrm[31:24] == 8'd0)  begin nrm = nrm << 8;  sh = sh + 6'd8; end
    if (nrm[31:28] == 4'd0)  begin nrm = nrm << 4;  sh = sh + 6'd4; end
    if (nrm[31:30] == 2'd0)  begin nrm = nrm << 2;  sh = sh + 6'd2; end
    if (!nrm[31])            begin nrm = nrm << 1;  sh = sh + 6'd1; end
    rnd = {1'b0, nrm[31:8]} + {24'd0, nrm[7] && (nrm[6:0] != 7'd0 || nrm[8])};
  end
  // 3. product: significand in [2^23, 2^24), value = man * 2^(exp - 23)
  logic sgn3_q, zero3_q;
  logic [23:0] man3_q;
  logic signed [9:0] exp3_q;
  logic [47:0] prod;
  logic [24:0] prnd;
  logic phigh;
  always_comb begin
    prod = {24'd0, man2_q} * {24'd0, 1'b1, sc2_q[22:0]};
    phigh = prod[47];
    if (phigh) prnd = {1'b0, prod[47:24]} + {24'd0, prod[23] && (prod[22:0] != 23'd0 || prod[24])};
    else       prnd = {1'b0, prod[46:23]} + {24'd0, prod[22] && (prod[21:0] != 22'd0 || prod[23])};
  end
  // 4. to integer, zero point, clamp
  logic signed [17:0] integ, val;
  logic [4:0] rsh;
  logic [23:0] fl, below;
  logic up;
  always_comb begin
    rsh = 5'd23 - exp3_q[4:0];
    fl = man3_q >> rsh;
    below = (rsh == 5'd0) ? 24'd0 : man3_q << (5'd24 - rsh);
    up = below[23] && (below[22:0] != 23'd0 || fl[0]);
    if (zero3_q || exp3_q < -10'sd1) integ = 18'sd0;
    else if (exp3_q == -10'sd1) integ = (man3_q[22:0] != 23'd0) ? 18'sd1 : 18'sd0;
    else if (exp3_q > 10'sd14) integ = 18'sd32768;
    else integ = $signed(fl[17:0] + {17'd0, up});
    val = (sgn3_q ? -integ : integ) + 18'($signed(zp_i));
    if (val < 18'($signed(lo_i))) val = 18'($signed(lo_i));
    if (val > 18'($signed(hi_i))) val = 18'($signed(hi_i));
  end
  logic [7:0] y_q;
  assign y_o = y_q;
  always_ff @(posedge clk_i) begin
    if (en_i[0]) begin
      sum_q <= acc_i + bias_i;
      sc1_q <= scale_i;
    end
    if (en_i[1]) begin
      sgn2_q <= sum_q[31];
      zero2_q <= (sum_q == 32'd0) || (sc1_q[30:23] == 8'd0);
      man2_q <= rnd[24] ? 24'h800000 : rnd[23:0];
      exp2_q <= 6'd31 - sh + {5'd0, rnd[24]};
      sc2_q <= sc1_q;
    end
    if (en_i[2]) begin
      sgn3_q <= sgn2_q ^ sc2_q[31];
      zero3_q <= zero2_q;
      man3_q <= prnd[24] ? 24'h800000 : prnd[23:0];
      exp3_q <= $signed({4'd0, exp2_q} + {2'd0, sc2_q[30:23]} - 10'd127 + {9'd0, phigh}
                        + {9'd0, prnd[24]});
    end
    if (en_i[3]) y_q <= val[7:0];
  end
endmodule
