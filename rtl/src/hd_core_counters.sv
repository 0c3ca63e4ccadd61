// SPDX-License-Identifier: Apache-2.0
// Counts of a stream: zero at clear_i, then counted while count_i. progress_o is never cleared.
//
// Commands retire one per engine and cycle, and one of the front end. macs come with done_i of the
// matrix (bit 2) and vector engine (bit 3). A cycle counts as DMA busy if load or store is busy.
module hd_core_counters (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        event_clk_i,  // clk_i, needed when clk_req_o
    output logic        clk_req_o,
    input  logic        clear_i,
    input  logic        count_i,
    input  logic [4:0]  retire_i,
    input  logic [3:0]  done_i,
    input  logic [63:0] matrix_macs_i,
    input  logic [63:0] vector_macs_i,
    input  logic        load_bytes_valid_i,
    input  logic [6:0]  load_bytes_i,
    input  logic        store_bytes_valid_i,
    input  logic [6:0]  store_bytes_i,
    input  logic [3:0]  busy_i,             // load, store, matrix, vector
    output logic [63:0] commands_o,
    output logic [63:0] macs_o,
    output logic [63:0] bytes_loaded_o,
    output logic [63:0] bytes_stored_o,
    output logic [63:0] cycles_o,
    output logic [63:0] matrix_busy_o,
    output logic [63:0] vector_busy_o,
    output logic [63:0] dma_busy_o,
    output logic [31:0] progress_o
);
  logic [2:0] retired;
  assign retired = {2'd0, retire_i[0]} + {2'd0, retire_i[1]} + {2'd0, retire_i[2]} +
                   {2'd0, retire_i[3]} + {2'd0, retire_i[4]};

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      cycles_o <= '0;
      matrix_busy_o <= '0;
      vector_busy_o <= '0;
      dma_busy_o <= '0;
    end else if (count_i) begin
      cycles_o <= cycles_o + 64'd1;
      if (busy_i[2]) matrix_busy_o <= matrix_busy_o + 64'd1;
      if (busy_i[3]) vector_busy_o <= vector_busy_o + 64'd1;
      if (busy_i[1:0] != '0) dma_busy_o <= dma_busy_o + 64'd1;
    end
  end

  // What does not happen in most cycles.
  assign clk_req_o = !rst_ni || clear_i || (retire_i != '0) || (done_i[3:2] != '0) || load_bytes_valid_i
             || store_bytes_valid_i;
  always_ff @(posedge event_clk_i) begin
    if (!rst_ni || clear_i) begin
      commands_o <= '0;
      macs_o <= '0;
      bytes_loaded_o <= '0;
      bytes_stored_o <= '0;
    end else if (count_i) begin
      if (retire_i != '0) commands_o <= commands_o + {61'd0, retired};
      if (done_i[3:2] != '0) begin
        macs_o <= macs_o + (done_i[2] ? matrix_macs_i : '0) + (done_i[3] ? vector_macs_i : '0);
      end
      if (load_bytes_valid_i) bytes_loaded_o <= bytes_loaded_o + {57'd0, load_bytes_i};
      if (store_bytes_valid_i) bytes_stored_o <= bytes_stored_o + {57'd0, store_bytes_i};
    end
    if (!rst_ni) progress_o <= '0;
    else if (count_i && (retire_i != '0)) progress_o <= progress_o + {29'd0, retired};
  end

  logic unused;
  assign unused = (done_i[1:0] != '0);
endmodule
