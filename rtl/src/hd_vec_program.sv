// SPDX-License-Identifier: Apache-2.0
// Program store of the vector engine, 256 x 64 bits (2 KiB in four RAMs of 32 x 128): loads the
// microprogram of a vrun, checks it and counts what it names; or stands for the program of a vmac.
//
//   load   lines of SRAM from the one of prog_addr on, one per cycle; word w of SRAM goes to bank
//          w mod 4, row (w / 4) mod 32. Only the program's words are stored: the others of its last line
//          may arrive when it runs, and those of a 33rd line belong where its beginning is
//   scan   one micro-instruction per cycle from the first on, behind the words that arrive: read in one
//          cycle, looked at in the next, while behind the last of a section none is read;
//          the first illegal one ends it with bad_o
//
// A vmac is the program
//          (mov v0, stream_c)         with initial
//          ffma v0, stream_a, stream_b, v0
//          fmax v0, v0, arg0; fmin out, v0, arg1     with clamp, else mov out, v0
module hd_vec_program (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,     // pulse; the inputs below are stable from here on
    input  logic                      vmac_i,
    input  logic                      initial_i,
    input  logic                      clamp_i,
    input  logic [hd_pkg::AW-1:0]     prog_addr_i,
    input  logic [8:0]                prologue_i,
    input  logic [8:0]                body_i,
    input  logic [8:0]                epilogue_i,
    input  logic [2:0]                enable_i,    // streams {c, b, a}
    input  logic                      pick_i,      // A is read by `pick`
    output logic                      ready_o,     // scanned: everything below holds
    output logic                      bad_o,
    output logic [7:0]                bad_index_o,
    output hd_vec_pkg::counts_t       counts_o,    // micro-instructions
    output hd_vec_pkg::counts_t       names_a_o,   // those that name stream A
    output hd_vec_pkg::counts_t       names_b_o,
    output hd_vec_pkg::counts_t       names_c_o,
    output logic [2:1]                outs_o,      // body, epilogue: the last one writes `out`
    // lines of SRAM
    output logic                      req_o,
    output logic [hd_vec_pkg::LA-1:0] line_o,
    input  logic                      ack_i,
    input  logic [3:0]                fill_i,
    input  logic [511:0]              rdata_i,
    // read port: micro-instruction next_item of a section, in the next cycle
    input  logic                      read_i,
    input  logic [1:0]                next_section_i,
    input  logic [8:0]                next_item_i,
    input  logic [1:0]                section_i,   // what was last read
    input  logic [8:0]                item_i,
    output logic [63:0]               micro_o
);
  localparam int LA = hd_vec_pkg::LA;
  localparam [1:0] PRO = hd_vec_pkg::SEC_PROLOGUE;
  localparam [1:0] BODY = hd_vec_pkg::SEC_BODY;

  logic scan_q, done_q, bad_q, load_q, look_q;
  logic [LA-1:0] line_q;
  logic [5:0] lines_q;            // still to be asked for
  logic [6:0] came_q [0:3];       // words that came, per port; those before the first count too
  logic [8:0] at_q, in_section_q;
  logic [1:0] sec_q, look_sec_q;
  hd_vec_pkg::counts_t a_q, b_q, c_q;
  logic [2:1] outs_q;
  logic [9:0] total;
  logic [7:0] words;
  assign total = {1'b0, prologue_i} + {1'b0, body_i} + {1'b0, epilogue_i};
  assign words = 8'((total + 10'd1) >> 1);

  // Read port: the scan's while it runs.
  logic [8:0] index, first;
  logic [8:0] word;
  logic [127:0] pair [0:3];
  logic [4:0] row;
  logic scan_read, half_q;
  logic [1:0] bank_q;
  always_comb begin
    first = 9'd0;
    index = at_q;
    if (read_i) begin
      if (next_section_i != PRO) first = prologue_i;
      if (next_section_i > BODY) first = prologue_i + body_i;
      index = first + next_item_i;
    end
    word = {7'd0, prog_addr_i[1:0]} + {1'b0, index[8:1]};
    row = word[6:2] + prog_addr_i[6:2];
  end
  for (genvar p = 0; p < 4; p++) begin : g_bank
    logic [4:0] to;
    logic [8:0] n;  // of the words from the first line's first one on
    logic is_program;
    assign to = came_q[p][4:0] + prog_addr_i[6:2];
    assign n = {came_q[p], 2'(p)};
    assign is_program = n >= {7'd0, prog_addr_i[1:0]} && n < {7'd0, prog_addr_i[1:0]} + {1'b0, words};
    hd_ram_1r1w #(
        .W    (128),
        .DEPTH(32)
    ) u_code (
        .clk_i  (clk_i),
        .write_i(fill_i[p] && is_program),
        .waddr_i(to),
        .wdata_i(rdata_i[128*p +: 128]),
        .read_i ((read_i || scan_read) && word[1:0] == 2'(p)),
        .raddr_i(row),
        .rdata_o(pair[p])
    );
  end
  always_ff @(posedge clk_i) begin
    if (read_i || scan_read) begin
      bank_q <= word[1:0];
      half_q <= index[0];
    end
  end
  logic [63:0] code, own;
  assign code = half_q ? pair[bank_q][127:64] : pair[bank_q][63:0];

  // The program of a vmac.
  heddle_pkg::micro_t m;
  always_comb begin
    m = '0;
    m.op = heddle_pkg::UOP_MOV;
    m.d = heddle_pkg::DESTINATION_OUT;
    if (section_i == PRO) begin
      m.d = heddle_pkg::DESTINATION_V0;
      m.a = heddle_pkg::OPERAND_STREAM_C;
    end else if (section_i == BODY) begin
      m.op = heddle_pkg::UOP_FFMA;
      m.d = heddle_pkg::DESTINATION_V0;
      m.a = heddle_pkg::OPERAND_STREAM_A;
      m.b = heddle_pkg::OPERAND_STREAM_B;
    end else if (clamp_i) begin
      m.op = item_i == 0 ? heddle_pkg::UOP_FMAX : heddle_pkg::UOP_FMIN;
      m.d = item_i == 0 ? heddle_pkg::DESTINATION_V0 : heddle_pkg::DESTINATION_OUT;
      m.b = item_i == 0 ? heddle_pkg::OPERAND_ARG0 : heddle_pkg::OPERAND_ARG1;
    end
  end
  assign own = m;
  assign micro_o = vmac_i ? own : code;

  // Scan.
  logic legal, here, wrong;
  logic [2:0] names;
  logic [8:0] size;
  hd_vec_micro u_micro (
      .micro_i  (code),
      .enable_i (enable_i),
      .pick_i   (pick_i),
      .legal_o  (legal),
      .takes_b_o(),
      .takes_c_o(),
      .tree_o   (),
      .pick_o   (),
      .op_o     (),
      .streams_o(names)
  );
  assign here = came_q[word[1:0]] > word[8:2];
  assign size = (sec_q == PRO) ? prologue_i : (sec_q == BODY) ? body_i : epilogue_i;
  assign scan_read = scan_q && in_section_q != size && here;
  assign wrong = look_q && !legal;

  always_ff @(posedge clk_i) begin
    look_q <= rst_ni && !start_i && scan_read && !wrong;
    if (scan_read) look_sec_q <= sec_q;
    if (!rst_ni) begin
      scan_q <= 1'b0;
      done_q <= 1'b0;
      bad_q <= 1'b0;
      load_q <= 1'b0;
    end else if (start_i) begin
      scan_q <= !vmac_i;
      done_q <= vmac_i;
      load_q <= !vmac_i;
    end else begin
      if (load_q && ack_i && lines_q == 6'd1) load_q <= 1'b0;
      if (wrong) begin
        scan_q <= 1'b0;
        bad_q <= 1'b1;
      end else if (scan_q && in_section_q == size && sec_q == hd_vec_pkg::SEC_EPILOGUE) begin
        scan_q <= 1'b0;
        done_q <= 1'b1;
      end
    end
    if (start_i) begin
      line_q <= prog_addr_i[hd_pkg::AW-1:2];
      lines_q <= 6'(({6'd0, prog_addr_i[1:0]} + words + 8'd3) >> 2);
      for (int p = 0; p < 4; p++) came_q[p] <= '0;
      at_q <= '0;
      in_section_q <= '0;
      sec_q <= PRO;
      a_q <= '0;
      b_q <= '0;
      c_q <= '0;
      outs_q <= '0;
    end else begin
      if (load_q && ack_i) begin
        line_q <= line_q + LA'(1);
        lines_q <= lines_q - 6'd1;
      end
      for (int p = 0; p < 4; p++) if (fill_i[p]) came_q[p] <= came_q[p] + 7'd1;
      if (scan_q && !wrong) begin
        if (in_section_q == size) begin
          in_section_q <= '0;
          sec_q <= sec_q + 2'd1;
        end else if (here) begin
          at_q <= at_q + 9'd1;
          in_section_q <= in_section_q + 9'd1;
        end
      end
      if (look_q && legal) begin
        if (look_sec_q != PRO) outs_q[look_sec_q] <= code[12:8] == heddle_pkg::DESTINATION_OUT;
        case (look_sec_q)
          PRO: begin
            a_q.prologue <= a_q.prologue + {8'd0, names[0]};
            b_q.prologue <= b_q.prologue + {8'd0, names[1]};
            c_q.prologue <= c_q.prologue + {8'd0, names[2]};
          end
          BODY: begin
            a_q.body <= a_q.body + {8'd0, names[0]};
            b_q.body <= b_q.body + {8'd0, names[1]};
            c_q.body <= c_q.body + {8'd0, names[2]};
          end
          default: begin
            a_q.epilogue <= a_q.epilogue + {8'd0, names[0]};
            b_q.epilogue <= b_q.epilogue + {8'd0, names[1]};
            c_q.epilogue <= c_q.epilogue + {8'd0, names[2]};
          end
        endcase
      end
    end
  end

  always_comb begin
    counts_o.prologue = vmac_i ? {8'd0, initial_i} : prologue_i;
    counts_o.body = vmac_i ? 9'd1 : body_i;
    counts_o.epilogue = vmac_i ? (clamp_i ? 9'd2 : 9'd1) : epilogue_i;
    names_a_o = a_q;
    names_b_o = b_q;
    names_c_o = c_q;
    if (vmac_i) begin
      names_a_o.body = 9'd1;
      names_b_o.body = 9'd1;
      names_c_o.prologue = {8'd0, initial_i};
    end
  end
  assign outs_o = vmac_i ? 2'b10 : outs_q;
  assign ready_o = done_q && !start_i;
  assign bad_o = bad_q;
  assign bad_index_o = at_q[7:0] - 8'd1;  // one further has been read
  assign req_o = load_q;
  assign line_o = line_q;
endmodule
