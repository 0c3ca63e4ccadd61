// SPDX-License-Identifier: Apache-2.0
// One single-port SRAM bank (1RW) of 16-byte words with their check bits (hd_secded_pkg). The request is
// registered, then served: rdata_o holds the word two cycles after the request, and only then, with
// its syndrome: what is to be corrected is for who takes it (hd_secded_pkg::flips). WORDS x 137 bits:
// 32 KiB of data in every configuration.
//
//   cycle 0   en_i: request
//         1   whole word: check bits, written. Otherwise: read
//         2   read: syndrome. Part of a word: corrected, merged, check bits, written
//
// A write of a part (part_i: not all of wstrb_i) takes the bank for cycles 1 and 2. A word that a
// read finds wrong is repaired by a write of no byte at all, as soon as the bank can: from cycle 4
// on. busy_o: no request in this cycle.
//
// corrected_o  pulse, cycle 3 of such a write: the word it has read had one wrong bit, and is repaired
// failed_o     pulse, cycle 3 of a read or of such a write: two wrong bits, in word failed_addr_o. The
//              word stays as it is, so that who reads it again learns the same; a write of all of it
//              ends that.
// While a word waits for its repair, another that is found is left to its next reader.
//
// clear_i: a request that does not heed busy_o (the array is being cleared); repairs are forgotten.
//
// The array is written by blocking assignments: nothing but this process reads it, and every nonblocking
// assignment to an array costs simulation time in every cycle. mem and code are one RAM; they are public
// for tests and injected faults, which change bits of them. That most banks rest in most cycles is why
// the process asks before it does anything.
module hd_sram_bank #(
    parameter int WORDS = 2048
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     clear_i,
    input  logic                     en_i,
    input  logic                     we_i,
    input  logic                     part_i,
    input  logic [$clog2(WORDS)-1:0] addr_i,
    input  logic [127:0]             wdata_i,
    input  logic [15:0]              wstrb_i,
    output logic                     busy_o,
    output logic [127:0]             rdata_o,
    output logic [8:0]               syndrome_o,
    output logic                     corrected_o,
    output logic                     failed_o,
    output logic [$clog2(WORDS)-1:0] failed_addr_o
);
  localparam int WB = $clog2(WORDS);

  logic en_q, we_q, part_q;  // request: cycle 1; part_q: a write of a part
  // From bit 0: cycle 2 of a read and of a write of a part; a word waits for its repair; the pulses.
  logic [4:0] state_q;
  localparam int READ = 0;
  localparam int MERGE = 1;
  localparam int REPAIR = 2;
  localparam int CORRECTED = 3;
  localparam int FAILED = 4;
  logic [WB-1:0] addr_q, read_addr_q, repair_addr_q, failed_addr_q;
  logic [15:0] wstrb_q;
  logic [127:0] wdata_q, rdata_q;
  logic [8:0] rcode_q;
  logic [127:0] mem [0:WORDS-1]  /*verilator public_flat_rw*/;
  logic [8:0] code [0:WORDS-1]  /*verilator public_flat_rw*/;

  logic repair;
  assign repair = state_q[REPAIR] && !part_q;
  assign busy_o = part_q || state_q[REPAIR];
  assign rdata_o = rdata_q;
  assign corrected_o = state_q[CORRECTED];
  assign failed_o = state_q[FAILED];
  assign failed_addr_o = failed_addr_q;

  logic [8:0] syndrome;
  logic single, twice;
  assign syndrome_o = syndrome;
  always_comb begin
    syndrome = '0;
    single = 1'b0;
    twice = 1'b0;
    if (state_q[READ] || state_q[MERGE]) begin
      syndrome = hd_secded_pkg::check_bits(rdata_q) ^ rcode_q;
      if (syndrome != '0) begin
        single = hd_secded_pkg::is_single(syndrome);
        twice = !single;
      end
    end
  end

  // The one write of a cycle.
  logic write;
  logic [WB-1:0] write_addr;
  logic [127:0] word;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || en_i || en_q || (state_q != '0)) begin  // else nothing would change
`ifndef SYNTHESIS
      // The contract of the ports, and what the state never is.
      assert (!rst_ni || !en_i || !busy_o || clear_i);
      assert (!rst_ni || !(state_q[READ] && state_q[MERGE]));
`endif
      en_q <= rst_ni && (en_i || repair);
      part_q <= rst_ni && (en_i ? we_i && part_i : repair);
      if (en_i) begin
        we_q <= we_i;
        addr_q <= addr_i;
        if (we_i) begin
          wdata_q <= wdata_i;
          wstrb_q <= wstrb_i;
        end
      end else if (repair) begin
        we_q <= 1'b1;
        addr_q <= repair_addr_q;
        wstrb_q <= '0;
      end
      if (!rst_ni) state_q <= '0;
      else if (en_q || (state_q != '0))
        state_q <= {twice, state_q[MERGE] && single && !clear_i,
                    !clear_i && ((state_q[READ] && single) || (state_q[REPAIR] && !repair)),
                    part_q && !clear_i, en_q && !we_q};
      // verilator lint_off BLKSEQ
      // Reason: see the header.
      write = 1'b0;
      write_addr = addr_q;
      word = wdata_q;
      if (en_q) begin
        read_addr_q <= addr_q;
        if (we_q && !part_q) begin
          write = 1'b1;
        end else begin
          rdata_q <= mem[addr_q];
          rcode_q <= code[addr_q];
        end
      end else if (state_q[MERGE] && !twice) begin
        write = 1'b1;
        write_addr = read_addr_q;
        word = rdata_q ^ hd_secded_pkg::flips(syndrome);
        for (int i = 0; i < 16; i++) if (wstrb_q[i]) word[8*i +: 8] = wdata_q[8*i +: 8];
      end
      if (write) begin
        mem[write_addr] = word;
        code[write_addr] = hd_secded_pkg::check_bits(word);
      end
      // verilator lint_on BLKSEQ
      if (single && (!state_q[REPAIR] || repair)) repair_addr_q <= read_addr_q;
      if (twice) failed_addr_q <= read_addr_q;
    end
  end
endmodule
