// SPDX-License-Identifier: Apache-2.0
// The code that protects a 16-byte word: nine check bits, by which one wrong bit of the 137 is
// corrected and two are found.
//
// (137, 128), distance 4. Data bit i has a column of nine bits, the check bits that it is part of; all
// columns, those of the check bits (one bit each) included, are different and of odd weight. So the
// syndrome of two errors is even and not zero, and that of one says which bit it was. The column of
// data bit i is {q, p, i}: i itself, which needs no tree of its own to be decoded; p makes it odd; q is
// 0. The eight that would be those of check bits are others:
//   i = 1, 2, 4, .. 64   {1, 1, i}
//   i = 0                {1, 0, 3}
//
// Bits 6:5 of i are the number of a 32-bit quarter, so the check bits of bits 4:0 are parities of the
// sum of the quarters: about 400 gates, seven in series, and few operations of a simulator.
//
// Functions and not modules: who calls them where a word is there lets a simulation do nothing else.
package hd_secded_pkg;

  localparam logic [31:0] EVEN = 32'h69969669;  // numbers with an even number of ones
  localparam logic [8:0] COLUMN_0 = 9'h103;

  function automatic logic [8:0] check_bits(input logic [127:0] data);
    logic [31:0] odd, high, outer, sum;
    logic q;
    odd = data[63:32] ^ data[127:96];
    high = data[95:64] ^ data[127:96];
    outer = data[31:0] ^ data[127:96];  // quarters 0 and 3: of even weight
    sum = data[31:0] ^ data[95:64] ^ odd;
    q = data[0] ^ data[1] ^ data[2] ^ data[4] ^ data[8] ^ data[16] ^ data[32] ^ data[64];
    check_bits[0] = ^(sum & 32'haaaaaaaa) ^ data[0];
    check_bits[1] = ^(sum & 32'hcccccccc) ^ data[0];
    check_bits[2] = ^(sum & 32'hf0f0f0f0);
    check_bits[3] = ^(sum & 32'hff00ff00);
    check_bits[4] = ^(sum & 32'hffff0000);
    check_bits[5] = ^odd;
    check_bits[6] = ^high;
    check_bits[7] = ^((outer & EVEN) ^ ((sum ^ outer) & ~EVEN)) ^ q;
    check_bits[8] = q;
  endfunction

  // Of a syndrome: the stored check bits and those of the word, exclusive or.

  // At most one of the low eight, or seven, bits.
  function automatic logic few(input logic [7:0] bits);
    few = (bits & (bits - 8'd1)) == '0;
  endfunction

  // A data bit is wrong.
  function automatic logic is_data(input logic [8:0] s);
    if (s[8]) is_data = s == COLUMN_0 || (s[7] && s[6:0] != '0 && few({1'b0, s[6:0]}));
    else is_data = (^s[7:0]) && !few(s[7:0]);
  endfunction

  // One bit is wrong, of data or check bits.
  function automatic logic is_single(input logic [8:0] s);
    is_single = is_data(s) || (s != '0 && (s[8] ? s[7:0] == '0 : few(s[7:0])));
  endfunction

  // Two are, or more.
  function automatic logic is_double(input logic [8:0] s);
    is_double = s != '0 && !is_single(s);
  endfunction

  // The data bits to be changed.
  function automatic logic [127:0] flips(input logic [8:0] s);
    flips = is_data(s) ? 128'd1 << (s == COLUMN_0 ? 7'd0 : s[6:0]) : '0;
  endfunction

endpackage
