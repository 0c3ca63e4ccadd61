// SPDX-License-Identifier: Apache-2.0
// The job rings and the completion ring: enabling, doorbells, whose turn it is, addresses.
//
// A write to a size register disables its ring and then, if the size and the base are allowed,
// enables it with head = tail = 0. A doorbell is refused, HEAD unchanged, when its ring or the
// completion ring is off, when it is more than the ring's size ahead of TAIL, or when it goes back.
// Either refusal is a pulse on error_o (illegal_descriptor). The ring with work of the lowest
// number is next.
//
// take_i says that a job of ring next_ring_o begins, finish_i that it has ended: TAIL of its ring
// moves on unless the ring was enabled or disabled meanwhile. record_take_i uses up the entry of
// the completion ring at record_iova_o; its sequence number is record_sequence_o.
module hd_rings #(
    localparam int R = heddle_pkg::RINGS
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            clear_i,  // all rings off
    // register writes
    input  logic [31:0]     wdata_i,
    input  logic [R-1:0]    ring_size_we_i,
    input  logic [R-1:0]    ring_head_we_i,
    input  logic            completion_size_we_i,
    input  logic [64*R-1:0] ring_base_i,
    input  logic [63:0]     completion_base_i,
    output logic            error_o,
    // jobs
    output logic            next_valid_o,
    output logic [1:0]      next_ring_o,
    output logic [63:0]     next_iova_o,
    input  logic            take_i,
    input  logic            finish_i,
    // records
    output logic            record_on_o,
    output logic [63:0]     record_iova_o,
    output logic [31:0]     record_sequence_o,
    input  logic            record_take_i,
    // registers
    output logic [32*R-1:0] head_o,
    output logic [32*R-1:0] tail_o,
    output logic [31:0]     completion_tail_o
);
  localparam int JOB_SHIFT = $clog2(heddle_pkg::JOB_DESCRIPTOR_BYTES);
  localparam int RECORD_SHIFT = $clog2(heddle_pkg::COMPLETION_BYTES);

  logic legal_size;
  logic [R-1:0] refused, work;
  logic [1:0] running_q;
  logic [R-1:0] changed_q;  // enabled or disabled since the running job began
  logic [31:0] entries_q[0:R-1], head_q[0:R-1], tail_q[0:R-1];
  logic [63:0] base_q[0:R-1], iova[0:R-1];
  logic [31:0] records_q, written_q;
  logic [63:0] record_base_q;
  logic record_legal;

  assign legal_size = (wdata_i <= heddle_pkg::RING_ENTRIES_MAX)
      && ((wdata_i & (wdata_i - 32'd1)) == 32'd0);
  assign record_legal = legal_size && (completion_base_i[RECORD_SHIFT-1:0] == '0);
  assign error_o = (refused != '0) || (completion_size_we_i && wdata_i != 32'd0 && !record_legal);

  for (genvar i = 0; i < R; i++) begin : g_ring
    logic legal, ahead, size_we, head_we;
    logic [31:0] distance;
    assign size_we = ring_size_we_i[i];
    assign head_we = ring_head_we_i[i];
    assign legal = legal_size && (ring_base_i[64*i +: JOB_SHIFT] == '0);
    assign distance = wdata_i - tail_q[i];
    assign ahead = (entries_q[i] != 32'd0) && (records_q != 32'd0) && (distance <= entries_q[i])
        && (distance >= head_q[i] - tail_q[i]);
    assign refused[i] = (size_we && wdata_i != 32'd0 && !legal) || (head_we && !ahead);
    assign work[i] = (entries_q[i] != 32'd0) && (head_q[i] != tail_q[i]);
    assign iova[i] = base_q[i] + ({32'd0, tail_q[i] & (entries_q[i] - 32'd1)} << JOB_SHIFT);
    assign head_o[32*i +: 32] = head_q[i];
    assign tail_o[32*i +: 32] = tail_q[i];
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_i) begin
        entries_q[i] <= 32'd0;
        head_q[i] <= 32'd0;
        tail_q[i] <= 32'd0;
        changed_q[i] <= 1'b1;
      end else if (size_we) begin
        entries_q[i] <= legal ? wdata_i : 32'd0;
        head_q[i] <= 32'd0;
        tail_q[i] <= 32'd0;
        changed_q[i] <= 1'b1;
      end else begin
        if (head_we && ahead) head_q[i] <= wdata_i;
        if (take_i) changed_q[i] <= 1'b0;
        if (finish_i && running_q == 2'(i) && !changed_q[i]) tail_q[i] <= tail_q[i] + 32'd1;
      end
      if (size_we) base_q[i] <= ring_base_i[64*i +: 64];
    end
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (rst_ni && head_q[i] != tail_q[i])
      assert (head_q[i] - tail_q[i] <= entries_q[i]);
`endif
  end

  always_comb begin
    next_valid_o = (work != '0);
    next_ring_o  = 2'd0;
    next_iova_o  = iova[0];
    for (int i = R - 1; i >= 0; i--) begin
      if (work[i]) begin
        next_ring_o = 2'(i);
        next_iova_o = iova[i];
      end
    end
  end

  assign record_on_o = (records_q != 32'd0);
  assign record_iova_o = record_base_q + ({32'd0, written_q & (records_q - 32'd1)} << RECORD_SHIFT);
  assign record_sequence_o = written_q + 32'd1;
  assign completion_tail_o = written_q;

  always_ff @(posedge clk_i) begin
    if (take_i) running_q <= next_ring_o;
    if (!rst_ni || clear_i) begin
      records_q <= 32'd0;
      written_q <= 32'd0;
    end else if (completion_size_we_i) begin
      records_q <= record_legal ? wdata_i : 32'd0;
      written_q <= 32'd0;
    end else if (record_take_i) begin
      written_q <= written_q + 32'd1;
    end
    if (completion_size_we_i) record_base_q <= completion_base_i;
  end
endmodule
