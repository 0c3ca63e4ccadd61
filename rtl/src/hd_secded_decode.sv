// SPDX-License-Identifier: Apache-2.0
// A 16-byte word with its check bits (hd_secded_pkg) as it was written: one wrong bit of the 137 is
// corrected (single_o), two are found (double_o; data_o is then data_i). Three are taken for one or are
// found. The SRAM has the functions of this in its banks (syndrome) and behind its multiplexers
// (correction); this module is all of it in one place, for its test and its area.
//
// en_i: without it there are no errors.
module hd_secded_decode (
    input  logic         en_i,
    input  logic [127:0] data_i,
    input  logic [8:0]   check_i,
    output logic [127:0] data_o,
    output logic         single_o,
    output logic         double_o
);
  logic [8:0] syndrome;
  assign syndrome = en_i ? hd_secded_pkg::check_bits(data_i) ^ check_i : '0;
  assign data_o = data_i ^ hd_secded_pkg::flips(syndrome);
  assign single_o = hd_secded_pkg::is_single(syndrome);
  assign double_o = hd_secded_pkg::is_double(syndrome);
endmodule
