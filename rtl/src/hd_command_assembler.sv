// SPDX-License-Identifier: Apache-2.0
// Collects the words of one command from the beats of a stream and finds where the stream overruns.
//
// cycle 0: the first beat (header) arrives; one beat per cycle; the cycle after the last one
// valid_o rises, and the command stays until ready_i. All lengths are multiples of a beat (four
// words), so commands begin at beats. The beats of the next command wait in the FIFO of the fetch
// meanwhile; a command takes beats + decoding + 1 cycles, against hundreds that it runs.
//
// status_o, in the order in which they are found:
//   STREAM_OVERRUN   the stream has no beat left (tag 0), or fewer than the command's opcode needs
//   ILLEGAL_COMMAND  unknown opcode (its length is not known)
//   BUS_ERROR        memory answered one of its beats with an error; error_addr_o is its address
//   OK               the words are complete; hd_decode judges them
// last_o: the command ends where the stream ends.
module hd_command_assembler (
    input  logic          clk_i,
    input  logic          rst_ni,
    output logic clk_req_o,  // the clock is needed: something happens (see the end)
    input  logic          start_i,   // pulse: a new stream
    input  logic [39:0]   addr_i,    // with start_i
    input  logic [27:0]   beats_i,   // with start_i: its length
    input  logic          stop_i,    // level: throw away what is there, take nothing
    // beats
    input  logic          beat_valid_i,
    output logic          beat_ready_o,
    input  logic [127:0]  beat_i,
    input  logic          beat_error_i,
    // command
    output logic          valid_o,
    input  logic          ready_i,
    // word 0 in bits 31:0; what lies beyond its length is old
    output logic [32*heddle_pkg::LONGEST_COMMAND_WORDS-1:0] cmd_o,
    output logic [7:0]    status_o,
    output logic [27:0]   offset_o,  // of the command in the stream, in beats
    output logic [31:0]   tag_o,
    output logic          last_o,
    output logic [39:0]   error_addr_o
);
  localparam [1:0] OFF = 2'd0;   // no stream
  localparam [1:0] HEAD = 2'd1;  // waits for the header
  localparam [1:0] BODY = 2'd2;
  localparam [1:0] FULL = 2'd3;  // valid_o

  logic [1:0] state_q;
  logic [32*heddle_pkg::LONGEST_COMMAND_WORDS-1:0] cmd_q;
  logic [3:0] index_q;    // beat of the command that comes next
  logic [3:0] need_q;     // beats of the command
  logic [27:0] offset_q;  // of the command
  logic [27:0] left_q;    // beats of the stream from the command's first on
  logic [35:0] addr_q;    // word address of the next beat
  logic [7:0] status_q;
  logic [31:0] tag_q;

  logic [7:0] words;
  logic [3:0] need;
  logic take;
  assign words = heddle_pkg::command_words(beat_i[7:0]);
  assign need = words[5:2];
  assign beat_ready_o = ((state_q == HEAD) && (left_q != '0)) || (state_q == BODY);
  assign take = beat_valid_i && beat_ready_o;

  assign valid_o = (state_q == FULL);
  assign cmd_o = cmd_q;
  assign status_o = status_q;
  assign offset_o = offset_q;
  assign tag_o = tag_q;
  assign last_o = (left_q == {24'd0, need_q});
  assign error_addr_o = {addr_q, 4'd0};

  always_ff @(posedge clk_i) begin
    if (!rst_ni || stop_i) begin
      state_q <= OFF;
    end else if (start_i) begin
      state_q <= HEAD;
      offset_q <= '0;
      left_q <= beats_i;
      addr_q <= addr_i[39:4];
      index_q <= '0;
    end else begin
      case (state_q)
        HEAD: begin
          status_q <= heddle_pkg::ERROR_OK[7:0];
          need_q <= need;
          if (left_q == '0) begin
            state_q <= FULL;
            status_q <= heddle_pkg::ERROR_STREAM_OVERRUN[7:0];
            tag_q <= '0;
          end else if (take) begin
            tag_q <= beat_i[127:96];
            if (beat_error_i) begin
              state_q <= FULL;
              status_q <= heddle_pkg::ERROR_BUS_ERROR[7:0];
              tag_q <= '0;
            end else if (need == '0) begin
              state_q <= FULL;
              status_q <= heddle_pkg::ERROR_ILLEGAL_COMMAND[7:0];
            end else if (left_q < {24'd0, need}) begin
              state_q <= FULL;
              status_q <= heddle_pkg::ERROR_STREAM_OVERRUN[7:0];
            end else begin
              state_q <= (need == 4'd1) ? FULL : BODY;
              index_q <= 4'd1;
              addr_q <= addr_q + 36'd1;
            end
          end
        end
        BODY:
        if (take) begin
          if (beat_error_i) begin
            state_q <= FULL;
            status_q <= heddle_pkg::ERROR_BUS_ERROR[7:0];
          end else begin
            index_q <= index_q + 4'd1;
            addr_q <= addr_q + 36'd1;
            if (index_q + 4'd1 == need_q) state_q <= FULL;
          end
        end
        FULL:
        if (ready_i) begin
          state_q <= HEAD;
          index_q <= '0;
          offset_q <= offset_q + {24'd0, need_q};
          left_q <= left_q - {24'd0, need_q};
        end
        default: ;
      endcase
    end
    if (take) begin
      case (index_q)
        4'd0: cmd_q[0*128 +: 128] <= beat_i;
        4'd1: cmd_q[1*128 +: 128] <= beat_i;
        4'd2: cmd_q[2*128 +: 128] <= beat_i;
        4'd3: cmd_q[3*128 +: 128] <= beat_i;
        4'd4: cmd_q[4*128 +: 128] <= beat_i;
        4'd5: cmd_q[5*128 +: 128] <= beat_i;
        4'd6: cmd_q[6*128 +: 128] <= beat_i;
        4'd7: cmd_q[7*128 +: 128] <= beat_i;
        4'd8: cmd_q[8*128 +: 128] <= beat_i;
        4'd9: cmd_q[9*128 +: 128] <= beat_i;
        4'd10: cmd_q[10*128 +: 128] <= beat_i;
        4'd11: cmd_q[11*128 +: 128] <= beat_i;
        default: cmd_q[12*128 +: 128] <= beat_i;
      endcase
    end
  end

  logic unused;
  assign unused = (words[7:6] != 2'd0) || (words[1:0] != 2'd0) || (addr_i[3:0] != 4'd0);

  // Only where a beat comes or a command goes.
  assign clk_req_o = !rst_ni || stop_i || start_i || take || ((state_q == FULL) && ready_i)
             || ((state_q == HEAD) && (left_q == '0));
endmodule
