// SPDX-License-Identifier: Apache-2.0
// Sequencer of the vector engine: issues one micro-instruction for one slot per cycle.
//
// An instruction issues for all slots of the strip before the next one does, so with eight slots the
// results of the lanes' pipeline are back before they are needed; the scoreboard (one bit per slot and
// register, set at issue, cleared when the result is written) makes any other case wait. Further reasons
// to wait: a stream operand that is not there, no room in the store queue, a division.
//
//   h operations    four rounds over the slots: op(x[l and not s], x[l or s]) for s = 8, 4, 2, 1; the
//                   destination holds the intermediate values
//   pick            two rounds: the indices times index_stride to hd_vec_pick, and what stream A makes of
//                   them to the destination
//   fdiv, fsqrt     the lanes take nothing else for 28 cycles, with idiv and idivu 34 (ready_i)
//   store           with the last instruction of the section when that writes `out`; else a `mov out, out`
//                   follows the section
//
// Registers of a group read 0 until written: `written` bits, cleared by the first item of a strip.
module hd_vec_sequencer #(
    parameter int STORE_QUEUE = 16
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,
    input  logic                      stop_i,
    input  hd_vec_pkg::loops_t        loops_i,
    input  hd_vec_pkg::counts_t       counts_i,      // micro-instructions
    input  logic [2:1]                outs_i,        // body, epilogue: the last one writes `out`
    input  logic                      store_body_i,
    input  logic                      store_epilogue_i,
    input  logic                      gated_i,
    input  logic                      quiet_i,       // no store is under way behind the queue
    output logic [2:0]                open_o,
    // program
    output logic                      read_o,        // there will be another place in the next cycle
    output logic [1:0]                next_section_o,
    output logic [8:0]                next_item_o,
    output logic [1:0]                section_o,     // the place of this cycle
    output logic [8:0]                item_o,
    input  logic [63:0]               micro_i,       // its instruction
    // operands
    input  logic [2:0]                stream_valid_i,
    output logic [2:0]                stream_pop_o,
    output logic                      issue_o,
    output logic [7:0]                op_o,
    output logic [4:0]                a_o,           // operands; register numbers when *_reg_o
    output logic [4:0]                b_o,
    output logic [4:0]                c_o,
    output logic [2:0]                reg_o,         // {c, b, a} are registers
    output logic [2:0]                zero_o,        // {c, b, a}: read 0
    output logic                      tree_o,
    output logic [1:0]                round_o,       // of an h operation
    output logic [31:0]               imm_o,
    output logic [2:0]                slot_o,
    output logic [4:0]                lanes_o,
    output logic [15:0]               e_o,
    output logic [15:0]               r1_o,
    output logic [8:0]                tag_o,         // {store, slot, destination}
    // indices of `pick`
    output logic                      pick_o,        // with issue_o: the first operand is one
    input  logic                      pick_room_i,
    output logic                      over_o,        // no place of an earlier strip is left
    // results
    input  logic                      written_i,
    input  logic [7:0]                written_tag_i, // {slot, destination}
    input  logic                      ready_i,       // the lanes take an operation in the next cycle
    input  logic                      store_done_i,  // a vector has left the store queue
    output logic                      busy_o
);
  localparam [4:0] OUT = heddle_pkg::DESTINATION_OUT;
  localparam int REGS = heddle_pkg::VECTOR_REGISTERS + 1;  // and `out`

  // Items of every section.
  hd_vec_pkg::counts_t items;
  logic own_body, own_epilogue;  // a store needs an item of its own
  assign own_body = store_body_i && !outs_i[1];
  assign own_epilogue = store_epilogue_i && !outs_i[2];
  assign items.prologue = counts_i.prologue;
  assign items.body = counts_i.body + {8'd0, own_body};
  assign items.epilogue = counts_i.epilogue + {8'd0, own_epilogue};

  logic busy, valid, fresh, round_end, adv, again;
  logic [1:0] sec;
  logic [8:0] item;
  hd_vec_walk u_walk (
      .clk_i    (clk_i),
      .rst_ni   (rst_ni),
      .start_i  (start_i),
      .loops_i  (loops_i),
      .stream_i ('0),
      .counts_i (items),
      .gated_i  (gated_i),
      .open_i   (open_o),
      .adv_i    (adv),
      .again_i  (again),
      .busy_o   (busy),
      .valid_o  (valid),
      .addr_o   (),
      .lanes_o  (lanes_o),
      .e_o      (e_o),
      .r1_o     (r1_o),
      .slot_o   (slot_o),
      .section_o(sec),
      .item_o   (item),
      .next_section_o(next_section_o),
      .next_item_o   (next_item_o),
      .fresh_o  (fresh),
      .round_o  (round_end),
      .turn_o   ()
  );
  assign read_o = start_i || (adv && round_end && !again);
  assign section_o = sec;
  assign item_o = item;

  logic takes_b, takes_c, tree, pick;
  logic [7:0] op;
  logic [2:0] names;
  hd_vec_micro u_micro (
      .micro_i  (micro_i),
      .enable_i (3'd7),
      .pick_i   (1'b1),
      .legal_o  (),
      .takes_b_o(takes_b),
      .takes_c_o(takes_c),
      .tree_o   (tree),
      .pick_o   (pick),
      .op_o     (op),
      .streams_o(names)
  );
  heddle_pkg::micro_t m;
  assign m = micro_i;

  logic [REGS-1:0] busy_q [0:hd_vec_pkg::SLOTS-1];
  logic [REGS-1:0] written_q [0:hd_vec_pkg::SLOTS-1];
  logic [REGS-1:0] busy_now, known, after;
  logic [1:0] step_q;   // round of an h operation
  logic [4:0] room_q;   // of the store queue
  logic pseudo, store, last, go, hazard, new_group, more, indices;
  logic [8:0] size;
  logic [2:0] need;
  logic [4:0] dest;
  always_comb begin
    pseudo = 1'b0;
    store = 1'b0;
    last = 1'b0;
    hazard = 1'b0;
    new_group = 1'b0;
    more = 1'b0;
    indices = 1'b0;
    size = '0;
    need = '0;
    dest = m.d;
    op_o = op;
    {a_o, b_o, c_o} = {m.a, m.b, m.c};
    reg_o = {takes_c && !m.c[4], takes_b && !m.b[4], !m.a[4]};
    zero_o = '0;
    busy_now = '0;
    known = '0;
    go = 1'b0;
    again = 1'b0;
    if (valid) begin
      case (sec)
        hd_vec_pkg::SEC_PROLOGUE: size = counts_i.prologue;
        hd_vec_pkg::SEC_BODY: size = counts_i.body;
        default: size = counts_i.epilogue;
      endcase
      pseudo = item == size;
      more = (tree && step_q != 2'd3) || (pick && step_q == 2'd0);  // rounds
      last = item == size - 9'd1 && !more;
      new_group = fresh && step_q == 2'd0;
      need = names;
      if (sec == hd_vec_pkg::SEC_BODY) store = store_body_i && (pseudo || (last && outs_i[1]));
      if (sec == hd_vec_pkg::SEC_EPILOGUE)
        store = store_epilogue_i && (pseudo || (last && outs_i[2]));
      if (pseudo) begin
        op_o = heddle_pkg::UOP_MOV;
        a_o = OUT;
        reg_o = 3'b001;
        dest = OUT;
        need = '0;
      end else if (tree && step_q != 2'd0) begin
        a_o = m.d;
        reg_o = 3'b001;
        need = '0;
      end else if (pick && step_q == 2'd0) begin
        indices = 1'b1;
        op_o = heddle_pkg::UOP_IMUL;
        b_o = hd_vec_pkg::OPERAND_STRIDE;
        dest = hd_vec_pkg::DESTINATION_PICK;
        need[0] = 1'b0;
      end else if (pick) begin
        op_o = heddle_pkg::UOP_MOV;
        a_o = heddle_pkg::OPERAND_STREAM_A;
        reg_o = 3'b000;
        need = 3'b001;
      end
      busy_now = busy_q[slot_o];
      known = new_group ? '0 : written_q[slot_o];
      zero_o = {!known[c_o], !known[b_o], !known[a_o]} & reg_o;
      hazard = (reg_o[0] && busy_now[a_o]) || (reg_o[1] && busy_now[b_o]) ||
          (reg_o[2] && busy_now[c_o]) || (!indices && busy_now[dest]);
      again = more && !pseudo;
      go = !stop_i && ready_i && !hazard && (need & ~stream_valid_i) == 0 &&
          (!store || room_q != 0) && (!indices || pick_room_i);
    end
    after = known | (REGS'(1) << dest);
  end
  assign adv = go;
  assign issue_o = go;
  assign tree_o = tree && !pseudo;
  assign round_o = step_q;
  assign imm_o = m.imm;
  assign tag_o = {store, slot_o, dest};
  assign stream_pop_o = go ? need : 3'd0;
  assign pick_o = indices;
  assign over_o = !busy || (valid && fresh && slot_o == 3'd0 && step_q == 2'd0);

  // Behind the stores of a section nothing is read before they are done.
  logic none_stored;
  assign none_stored = room_q == 5'(STORE_QUEUE) && quiet_i;
  assign open_o = (gated_i && busy && !valid && none_stored && !stop_i) ? 3'd1 << sec : 3'd0;

  logic in_flight;
  logic [6:0] flight_q;  // issued and not written
  assign in_flight = flight_q != 0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= '0;
      room_q <= 5'(STORE_QUEUE);
      flight_q <= '0;
    end else begin
      if (go && round_end) step_q <= again ? step_q + 2'd1 : 2'd0;
      if ((go && store) != store_done_i) begin
`ifndef SYNTHESIS
        assert (room_q != (store_done_i ? 5'(STORE_QUEUE) : 5'd0));
`endif
        room_q <= store_done_i ? room_q + 5'd1 : room_q - 5'd1;
      end
      if (go != written_i) begin
`ifndef SYNTHESIS
        assert (flight_q != (go ? 7'd127 : 7'd0));
`endif
        flight_q <= go ? flight_q + 7'd1 : flight_q - 7'd1;
      end
    end
    if (go) written_q[slot_o] <= after;
  end
  for (genvar s = 0; s < hd_vec_pkg::SLOTS; s++) begin : g_busy
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        busy_q[s] <= '0;
      end else begin
        if (written_i && written_tag_i[7:5] == 3'(s) &&
            written_tag_i[4:0] != hd_vec_pkg::DESTINATION_PICK)
          busy_q[s][written_tag_i[4:0]] <= 1'b0;
        if (go && !indices && slot_o == 3'(s)) busy_q[s][dest] <= 1'b1;
      end
    end
  end
  assign busy_o = busy || in_flight;

endmodule
