// SPDX-License-Identifier: Apache-2.0
// The register block: BAR0 without the MSI-X table.
//
// Bus: req_i holds with the access until ack_o, which is high for one cycle; rdata_o is valid with
// it. A write takes effect in the cycle before ack_o. Only whole aligned words: another access is
// ignored and reads all ones. Offsets that are no register read zero and ignore writes.
//
// Here live the values of plain read-write registers and the latched halves of the counters.
// Whatever changes by itself comes in through ports; whatever acts leaves as a strobe with
// wdata_o, in the cycle in which the write takes effect. Ports of the rings are vectors, ring 0
// lowest. clear_i (RESET.card, function reset) puts the values back to their reset values.
//
//   cycle t: req_i, strobes | t+1: ack_o, rdata_o
module hd_registers #(
    localparam int R = heddle_pkg::RINGS
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            clear_i,
    // bus
    input  logic            req_i,
    input  logic            write_i,
    input  logic [15:0]     addr_i,
    input  logic [31:0]     wdata_i,
    input  logic [3:0]      strb_i,
    output logic            ack_o,
    output logic [31:0]     rdata_o,
    // what the card is
    input  logic [31:0]     config_i,
    input  logic [3:0]      core_kind_i,
    input  logic [63:0]     dram_bytes_i,
    input  logic [63:0]     unique_i,
    // what it does
    input  logic [31:0]     status_i,
    input  logic [31:0]     progress_i,
    input  logic [63:0]     running_i,
    input  logic [3:0]      int_status_i,
    input  logic [31:0]     device_error_i,
    input  logic [31:0]     completion_tail_i,
    input  logic [32*R-1:0] ring_head_i,
    input  logic [32*R-1:0] ring_tail_i,
    input  logic [63:0]     cycles_i,
    input  logic [63:0]     macs_i,
    input  logic [31:0]     jobs_i,
    input  logic [31:0]     faults_i,
    input  logic [31:0]     resets_i,
    input  logic [31:0]     sram_corrected_i,
    // what it shall do
    output logic [31:0]     wdata_o,
    output logic            reset_we_o,
    output logic            abort_we_o,
    output logic            int_status_we_o,
    output logic            int_enable_we_o,
    output logic            int_raise_we_o,
    output logic            device_error_we_o,
    output logic            completion_size_we_o,
    output logic [R-1:0]    ring_size_we_o,
    output logic [R-1:0]    ring_head_we_o,
    output logic [63:0]     completion_base_o,
    output logic [64*R-1:0] ring_base_o
);
  logic [31:0] offset;
  logic take, whole, write;
  logic ack_q;
  logic [31:0] rdata_q;
  logic [31:0] base_lo_q, base_hi_q, completion_size_q, int_enable_q, scratch_q;
  logic [31:0] cycles_hi_q, macs_hi_q;
  logic [32*R-1:0] ring_lo_q, ring_hi_q, ring_size_q;
  logic [R-1:0] at_lo, at_hi, at_size, at_head, at_tail;

  assign offset = {16'd0, addr_i};
  assign whole = (strb_i == 4'hf) && (addr_i[1:0] == 2'd0);
  assign take = req_i && !ack_q;
  assign write = take && write_i && whole;
  assign ack_o = ack_q;
  assign rdata_o = rdata_q;
  assign wdata_o = wdata_i;

  assign reset_we_o = write && (offset == heddle_pkg::REG_RESET);
  assign abort_we_o = write && (offset == heddle_pkg::REG_ABORT);
  assign int_status_we_o = write && (offset == heddle_pkg::REG_INT_STATUS);
  assign int_enable_we_o = write && (offset == heddle_pkg::REG_INT_ENABLE);
  assign int_raise_we_o = write && (offset == heddle_pkg::REG_INT_RAISE);
  assign device_error_we_o = write && (offset == heddle_pkg::REG_DEVICE_ERROR);
  assign completion_size_we_o = write && (offset == heddle_pkg::REG_COMPLETION_SIZE);
  assign ring_size_we_o = write ? at_size : '0;
  assign ring_head_we_o = write ? at_head : '0;
  assign completion_base_o = {base_hi_q, base_lo_q};

  always_comb begin
    at_lo   = '0;
    at_hi   = '0;
    at_size = '0;
    at_head = '0;
    at_tail = '0;
    if (take) begin
      for (int i = 0; i < R; i++) begin
        at_lo[i] = offset
            == heddle_pkg::REG_RING_BASE_LO + 32'(i) * heddle_pkg::REG_RING_BASE_LO_STRIDE;
        at_hi[i] = offset
            == heddle_pkg::REG_RING_BASE_HI + 32'(i) * heddle_pkg::REG_RING_BASE_HI_STRIDE;
        at_size[i] = offset
            == heddle_pkg::REG_RING_SIZE + 32'(i) * heddle_pkg::REG_RING_SIZE_STRIDE;
        at_head[i] = offset
            == heddle_pkg::REG_RING_HEAD + 32'(i) * heddle_pkg::REG_RING_HEAD_STRIDE;
        at_tail[i] = offset
            == heddle_pkg::REG_RING_TAIL + 32'(i) * heddle_pkg::REG_RING_TAIL_STRIDE;
      end
    end
  end

  // Reads. Reserved bits read zero: values keep only bits that a write can set.
  logic [31:0] value;
  always_comb begin
    value = 32'd0;
    if (take && !write_i) begin
      case (offset)
        heddle_pkg::REG_ID: value = heddle_pkg::REG_ID_RESET;
        heddle_pkg::REG_VERSION: value = heddle_pkg::REG_VERSION_RESET;
        heddle_pkg::REG_CONFIG: value = config_i;
        heddle_pkg::REG_CORE_KIND:
          value = ({28'd0, core_kind_i} << heddle_pkg::REG_CORE_KIND_KIND_SHIFT)
                & heddle_pkg::REG_CORE_KIND_RO_BITS;
        heddle_pkg::REG_DRAM_LO: value = dram_bytes_i[31:0];
        heddle_pkg::REG_DRAM_HI: value = dram_bytes_i[63:32];
        heddle_pkg::REG_UNIQUE_LO: value = unique_i[31:0];
        heddle_pkg::REG_UNIQUE_HI: value = unique_i[63:32];
        heddle_pkg::REG_STATUS: value = status_i & heddle_pkg::REG_STATUS_RO_BITS;
        heddle_pkg::REG_PROGRESS: value = progress_i;
        heddle_pkg::REG_RUNNING_LO: value = running_i[31:0];
        heddle_pkg::REG_RUNNING_HI: value = running_i[63:32];
        heddle_pkg::REG_INT_STATUS: value = {28'd0, int_status_i};
        heddle_pkg::REG_INT_ENABLE: value = int_enable_q;
        heddle_pkg::REG_DEVICE_ERROR: value = device_error_i;
        heddle_pkg::REG_COMPLETION_BASE_LO: value = base_lo_q;
        heddle_pkg::REG_COMPLETION_BASE_HI: value = base_hi_q;
        heddle_pkg::REG_COMPLETION_SIZE: value = completion_size_q;
        heddle_pkg::REG_COMPLETION_TAIL: value = completion_tail_i;
        heddle_pkg::REG_COUNTER_CYCLES_LO: value = cycles_i[31:0];
        heddle_pkg::REG_COUNTER_CYCLES_HI: value = cycles_hi_q;
        heddle_pkg::REG_COUNTER_MACS_LO: value = macs_i[31:0];
        heddle_pkg::REG_COUNTER_MACS_HI: value = macs_hi_q;
        heddle_pkg::REG_COUNTER_JOBS: value = jobs_i;
        heddle_pkg::REG_COUNTER_FAULTS: value = faults_i;
        heddle_pkg::REG_COUNTER_RESETS: value = resets_i;
        heddle_pkg::REG_COUNTER_SRAM_CORRECTED: value = sram_corrected_i;
        heddle_pkg::REG_SCRATCH: value = scratch_q;
        default: begin
          for (int i = 0; i < R; i++) begin
            if (at_lo[i]) value = ring_lo_q[32*i +: 32];
            if (at_hi[i]) value = ring_hi_q[32*i +: 32];
            if (at_size[i]) value = ring_size_q[32*i +: 32];
            if (at_head[i]) value = ring_head_i[32*i +: 32];
            if (at_tail[i]) value = ring_tail_i[32*i +: 32];
          end
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ack_q <= 1'b0;
    else ack_q <= take;
    if (take && !write_i) rdata_q <= whole ? value : 32'hffffffff;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      base_lo_q <= heddle_pkg::REG_COMPLETION_BASE_LO_RESET;
      base_hi_q <= heddle_pkg::REG_COMPLETION_BASE_HI_RESET;
      completion_size_q <= heddle_pkg::REG_COMPLETION_SIZE_RESET;
      int_enable_q <= heddle_pkg::REG_INT_ENABLE_RESET;
      scratch_q <= heddle_pkg::REG_SCRATCH_RESET;
      cycles_hi_q <= heddle_pkg::REG_COUNTER_CYCLES_HI_RESET;
      macs_hi_q <= heddle_pkg::REG_COUNTER_MACS_HI_RESET;
    end else if (write) begin
      case (offset)
        heddle_pkg::REG_COMPLETION_BASE_LO: base_lo_q <= wdata_i;
        heddle_pkg::REG_COMPLETION_BASE_HI: base_hi_q <= wdata_i;
        heddle_pkg::REG_COMPLETION_SIZE: completion_size_q <= wdata_i;
        heddle_pkg::REG_INT_ENABLE: int_enable_q <= wdata_i & heddle_pkg::REG_INT_ENABLE_RW_BITS;
        heddle_pkg::REG_SCRATCH: scratch_q <= wdata_i;
        default: ;
      endcase
    end else if (take && whole) begin
      if (offset == heddle_pkg::REG_COUNTER_CYCLES_LO) cycles_hi_q <= cycles_i[63:32];
      if (offset == heddle_pkg::REG_COUNTER_MACS_LO) macs_hi_q <= macs_i[63:32];
    end
  end

  for (genvar i = 0; i < R; i++) begin : g_ring
    assign ring_base_o[64*i +: 64] = {ring_hi_q[32*i +: 32], ring_lo_q[32*i +: 32]};
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_i) begin
        ring_lo_q[32*i +: 32] <= heddle_pkg::REG_RING_BASE_LO_RESET;
        ring_hi_q[32*i +: 32] <= heddle_pkg::REG_RING_BASE_HI_RESET;
        ring_size_q[32*i +: 32] <= heddle_pkg::REG_RING_SIZE_RESET;
      end else if (write) begin
        if (at_lo[i]) ring_lo_q[32*i +: 32] <= wdata_i;
        if (at_hi[i]) ring_hi_q[32*i +: 32] <= wdata_i;
        if (at_size[i]) ring_size_q[32*i +: 32] <= wdata_i;
      end
    end
  end
endmodule
