// generated from rtl/spec by tools/specgen; do not edit.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
//
// The instruction set in C++: limits, configurations, enumerations, one struct per command with
// its encoding, tables of all fields (for assembler, fuzzers and tests), micro-instructions and
// status codes. Commands are sequences of 32-bit words, little-endian in memory. Decoders accept
// any words: whatever is not a legal encoding is refused with INVALID_ARGUMENT.
#ifndef RTL_SPEC_GENERATED_ISA_H_
#define RTL_SPEC_GENERATED_ISA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::isa {

// Limits that hold for every configuration.
// bytes of an SRAM word; the unit of every address whose type is sram_word
inline constexpr uint32_t kWordBytes = 16u;
// entries of a job's region table
inline constexpr uint32_t kRegions = 16u;
// counting semaphores; all are zero when a stream starts
inline constexpr uint32_t kSemaphores = 32u;
// largest value a semaphore can hold; a signal beyond it is fault semaphore_overflow
inline constexpr uint32_t kSemaphoreMax = 255u;
// commands that each engine's queue holds besides the one it executes
inline constexpr uint32_t kQueueDepth = 8u;
// 32-bit lanes of the vector engine, the same in every configuration
inline constexpr uint32_t kVectorLanes = 16u;
// vector registers of the vector engine, each vector_lanes x 32 bits
inline constexpr uint32_t kVectorRegisters = 16u;
// 64-bit micro-instructions of one microprogram, all sections together
inline constexpr uint32_t kVectorProgramMax = 256u;
// largest command stream in bytes
inline constexpr uint32_t kStreamBytesMax = 16777216u;
// alignment in bytes of a command stream in device memory
inline constexpr uint32_t kStreamAlign = 64u;
// alignment in bytes of a region's base in device memory
inline constexpr uint32_t kRegionAlign = 64u;
// 32-bit words of the longest command
inline constexpr uint32_t kCommandWordsMax = 64u;
// job rings; ring 0 has the highest priority
inline constexpr uint32_t kRings = 4u;
// largest number of entries of a job ring or of the completion ring; a power of two
inline constexpr uint32_t kRingEntriesMax = 1024u;
// steps of one job
inline constexpr uint32_t kStepsMax = 64u;
// entries of one scatter list
inline constexpr uint32_t kSgEntriesMax = 65536u;
// rows of the kernel that one weight vector of mode fold may touch (number of row ports)
inline constexpr uint32_t kFoldRowsMax = 4u;
// largest kernel extent in either direction
inline constexpr uint32_t kKernelMax = 255u;
// granule of device memory allocation
inline constexpr uint32_t kPageBytes = 4096u;
// device memory that the driver keeps for command streams' bounce space and its own structures;
// user allocations are refused beyond the card's size minus this
inline constexpr uint32_t kDeviceReserveBytes = 1048576u;
// smallest device memory of a card
inline constexpr uint32_t kDramBytesMin = 67108864u;
// largest device memory of a card
inline constexpr uint64_t kDramBytesMax = 4294967296ull;
// device memory of a card when nothing else is said
inline constexpr uint32_t kDramBytesDefault = 536870912u;
// MSI-X vectors (one MSI vector is used where MSI-X is not enabled)
inline constexpr uint32_t kInterruptVectors = 4u;
// largest length of a copy or fill step in bytes
inline constexpr uint64_t kFillBytesMax = 1099511627776ull;

// One configuration of the accelerator.
struct Config {
  const char* name;
  // Value of the CONFIG register.
  uint32_t id;
  // C: activations that every cell multiplies per cycle
  uint32_t lanes_in;
  // K: output-channel cells
  uint32_t lanes_out;
  // unified SRAM in bytes
  uint32_t sram_bytes;
  // single-port SRAM banks, word-interleaved
  uint32_t sram_banks;
  // entries of the accumulator RAM; an entry holds K int32 values
  uint32_t acc_pixels;
  // device memory bandwidth in bytes per core cycle, reads and writes together
  uint32_t dram_bytes_per_cycle;
  // cycles from a read request to its first data
  uint32_t dram_latency_cycles;
  // bytes per cycle of the weight reader
  uint32_t weight_port_bytes;
  // output pixels of 16 channels per cycle in mode depthwise, with the window filled
  uint32_t depthwise_pixels;
  // clock that cycles are converted to time with, in MHz: what a chip of this configuration is
  // meant for, not a measured one
  uint32_t clock_mhz;
};

inline constexpr size_t kNumConfigs = 3;
inline constexpr Config kConfigs[kNumConfigs] = {
    {"h256", 1, 16, 16, 524288, 16, 256, 16, 100, 32, 1, 1000},
    {"h512", 2, 32, 16, 524288, 16, 256, 16, 100, 32, 1, 1000},
    {"h1024", 3, 32, 32, 1048576, 32, 256, 16, 100, 32, 1, 1000},
};
inline constexpr const Config& kH256 = kConfigs[0];
inline constexpr const Config& kH512 = kConfigs[1];
inline constexpr const Config& kH1024 = kConfigs[2];

// The configuration of that name or id; nullptr when there is none.
const Config* FindConfig(absl::string_view name);
const Config* FindConfigById(uint32_t id);

// An enumeration as data.
struct EnumValueInfo {
  const char* name;
  uint32_t value;
  uint32_t since;  // as of FieldInfo
};
struct EnumInfo {
  const char* name;
  const EnumValueInfo* values;
  size_t num_values;
};
// Name of a value, "?" when it does not exist.
const char* NameOf(const EnumInfo& info, uint32_t value);
// True when the enumeration has a value of that name; writes it.
bool ValueOf(const EnumInfo& info, absl::string_view name, uint32_t* value);

enum class FieldType : uint8_t {
  kUint, kInt, kBool, kF32, kEnum, kSem, kRegion, kSramWord, kSramByte, kDramOffset
};

// One bit field of a command: bits [lsb, lsb + bits) of a 32-bit word.
struct FieldInfo {
  const char* name;
  uint8_t word;
  uint8_t lsb;
  uint8_t bits;
  FieldType type;
  bool header;          // one of the fields that every command starts with
  bool fixed;           // the instruction fixes the value: min == max == that value in its table
  bool nonzero;         // zero is refused
  bool required;        // the default is not a legal value
  int64_t min;          // smallest and largest legal value (not for kF32 and kEnum)
  int64_t max;
  uint32_t default_bits;
  const EnumInfo* enum_info;  // for kEnum
  uint32_t since;       // minor version of VERSION that gave values other than zero their meaning
};

// who executes a command
enum class Engine : uint32_t {
  // the front end
  kControl = 0,
  // load DMA
  kLoad = 1,
  // store DMA
  kStore = 2,
  // matrix engine and output stage
  kMatrix = 3,
  // vector engine
  kVector = 4,
};
inline constexpr int kEngineBits = 3;
inline constexpr size_t kNumEngineValues = 5;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(Engine value);
extern const EnumInfo kEngineInfo;

// kind of a job step
enum class StepType : uint32_t {
  // host to device memory
  kCopyIn = 1,
  // run a command stream
  kRun = 2,
  // device to host memory
  kCopyOut = 3,
  // device to device memory
  kCopy = 4,
  // fill device memory with a pattern
  kFill = 5,
};
inline constexpr int kStepTypeBits = 32;
inline constexpr size_t kNumStepTypeValues = 5;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(StepType value);
extern const EnumInfo kStepTypeInfo;

// what executes the commands
enum class CoreKind : uint32_t {
  // a chip
  kSilicon = 0,
  // verilated RTL
  kRtl = 1,
  // functional model; cycle counters read 0
  kFunctional = 2,
};
inline constexpr int kCoreKindBits = 4;
inline constexpr size_t kNumCoreKindValues = 3;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(CoreKind value);
extern const EnumInfo kCoreKindInfo;

// when a signal is given
enum class SignalPoint : uint32_t {
  // all operands have been read
  kInputRead = 0,
  // all results are visible
  kOutputVisible = 1,
};
inline constexpr int kSignalPointBits = 1;
inline constexpr size_t kNumSignalPointValues = 2;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(SignalPoint value);
extern const EnumInfo kSignalPointInfo;

// what the matrix engine computes
enum class MatrixMode : uint32_t {
  // convolution and matrix product, reduction over channels and taps
  kConv = 0,
  // each channel by itself, reduction over taps
  kDepthwise = 1,
  // first layer: reduction over taps and few channels folded into the lanes
  kFold = 2,
  // maximum of each channel over the window
  kMaxpool = 3,
};
inline constexpr int kMatrixModeBits = 2;
inline constexpr size_t kNumMatrixModeValues = 4;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(MatrixMode value);
extern const EnumInfo kMatrixModeInfo;

// where the matrix engine finds its weights
enum class WeightMode : uint32_t {
  // packed tiles
  kPacked = 0,
  // activation layout, pixel = output channel, channel = input channel (A x B-transposed)
  kRow = 1,
  // activation layout, pixel = input channel, channel = output channel (A x B)
  kColumn = 2,
};
inline constexpr int kWeightModeBits = 2;
inline constexpr size_t kNumWeightModeValues = 3;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(WeightMode value);
extern const EnumInfo kWeightModeInfo;

// element type that the output stage writes
enum class OutType : uint32_t {
  // uint8 codes
  kU8 = 0,
  // int8 codes
  kS8 = 1,
  // int32 accumulators with bias
  kI32 = 2,
  // fp32
  kF32 = 3,
};
inline constexpr int kOutTypeBits = 2;
inline constexpr size_t kNumOutTypeValues = 4;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(OutType value);
extern const EnumInfo kOutTypeInfo;

// second stage of the output stage
enum class ResidualOp : uint32_t {
  // no residual
  kNone = 0,
  // QLinearAdd with the residual operand
  kAdd = 1,
  // QLinearMul with the residual operand
  kMul = 2,
};
inline constexpr int kResidualOpBits = 2;
inline constexpr size_t kNumResidualOpValues = 3;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(ResidualOp value);
extern const EnumInfo kResidualOpInfo;

// pooling behind the output stage
enum class PoolKind : uint32_t {
  // no pooling
  kNone = 0,
  // maximum over windows
  kMax = 1,
  // average over all pixels of the command
  kAverage = 2,
};
inline constexpr int kPoolKindBits = 2;
inline constexpr size_t kNumPoolKindValues = 3;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(PoolKind value);
extern const EnumInfo kPoolKindInfo;

// element type of a vector stream
enum class ElementType : uint32_t {
  // uint8, loads as int32; bool is u8
  kU8 = 0,
  // int8, loads as int32
  kS8 = 1,
  // int16, loads as int32
  kS16 = 2,
  // int32
  kS32 = 3,
  // fp16, loads as fp32
  kF16 = 4,
  // bfloat16, loads as fp32
  kBf16 = 5,
  // fp32
  kF32 = 6,
  // uint16, loads as int32
  kU16 = 7,
};
inline constexpr int kElementTypeBits = 4;
inline constexpr size_t kNumElementTypeValues = 8;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(ElementType value);
extern const EnumInfo kElementTypeInfo;

// when a vector command stores
enum class StoreMode : uint32_t {
  // never
  kNone = 0,
  // after each execution of the body
  kBody = 1,
  // after the epilogue
  kEpilogue = 2,
};
inline constexpr int kStoreModeBits = 2;
inline constexpr size_t kNumStoreModeValues = 3;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(StoreMode value);
extern const EnumInfo kStoreModeInfo;

// source operand of a micro-instruction
enum class Operand : uint32_t {
  // register
  kV0 = 0,
  // register
  kV1 = 1,
  // register
  kV2 = 2,
  // register
  kV3 = 3,
  // register
  kV4 = 4,
  // register
  kV5 = 5,
  // register
  kV6 = 6,
  // register
  kV7 = 7,
  // register
  kV8 = 8,
  // register
  kV9 = 9,
  // register
  kV10 = 10,
  // register
  kV11 = 11,
  // register
  kV12 = 12,
  // register
  kV13 = 13,
  // register
  kV14 = 14,
  // register
  kV15 = 15,
  // element of stream A
  kStreamA = 16,
  // element of stream B
  kStreamB = 17,
  // element of stream C
  kStreamC = 18,
  // the 32-bit immediate in every lane
  kImm = 19,
  // argument 0 of the command in every lane
  kArg0 = 20,
  // argument 1
  kArg1 = 21,
  // argument 2
  kArg2 = 22,
  // argument 3
  kArg3 = 23,
  // index of the element along the lane dimension (16*chunk + lane), int32
  kLane = 24,
  // r1 counter of the reduction loop, int32, in every lane
  kIndexR = 25,
  // all ones in valid lanes, zero in others
  kValid = 26,
};
inline constexpr int kOperandBits = 5;
inline constexpr size_t kNumOperandValues = 27;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(Operand value);
extern const EnumInfo kOperandInfo;

// destination of a micro-instruction
enum class Destination : uint32_t {
  // register
  kV0 = 0,
  // register
  kV1 = 1,
  // register
  kV2 = 2,
  // register
  kV3 = 3,
  // register
  kV4 = 4,
  // register
  kV5 = 5,
  // register
  kV6 = 6,
  // register
  kV7 = 7,
  // register
  kV8 = 8,
  // register
  kV9 = 9,
  // register
  kV10 = 10,
  // register
  kV11 = 11,
  // register
  kV12 = 12,
  // register
  kV13 = 13,
  // register
  kV14 = 14,
  // register
  kV15 = 15,
  // the value that the store takes
  kOut = 16,
};
inline constexpr int kDestinationBits = 5;
inline constexpr size_t kNumDestinationValues = 17;
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString(Destination value);
extern const EnumInfo kDestinationInfo;

enum class Opcode : uint32_t {
  kNop = 0x1,
  kEnd = 0x2,
  kBarrier = 0x3,
  kLoad = 0x10,
  kFill = 0x11,
  kLoadGather = 0x12,
  kSyncLoad = 0x13,
  kStore = 0x20,
  kStoreScatter = 0x21,
  kSyncStore = 0x22,
  kConv = 0x30,
  kSyncMatrix = 0x31,
  kVrun = 0x40,
  kVmac = 0x41,
  kSyncVector = 0x42,
};
const char* ToString(Opcode opcode);

// Every command starts with these four words.
struct Header {
  static constexpr size_t kWords = 4;

  // instruction
  uint32_t opcode = 0;
  // length of the command in 32-bit words, that of the instruction
  uint32_t words = 0;
  // first wait is present
  bool wait0_enable = false;
  // its semaphore
  uint32_t wait0_sem = 0;
  // its count
  uint32_t wait0_count = 0;
  // second wait is present; its semaphore differs from the first's
  bool wait1_enable = false;
  // its semaphore
  uint32_t wait1_sem = 0;
  // its count
  uint32_t wait1_count = 0;
  // first signal is present
  bool signal0_enable = false;
  // its semaphore
  uint32_t signal0_sem = 0;
  // its count
  uint32_t signal0_count = 0;
  // when
  SignalPoint signal0_point = SignalPoint::kInputRead;
  // second signal is present; its semaphore differs from the first's
  bool signal1_enable = false;
  // its semaphore
  uint32_t signal1_sem = 0;
  // its count
  uint32_t signal1_count = 0;
  // when
  SignalPoint signal1_point = SignalPoint::kInputRead;
  // free for the compiler; repeated in fault records and traces
  uint32_t tag = 0;

  // A header without waits and signals. Encoders write the fixed fields whatever they hold.
  static constexpr Header For(uint32_t opcode_value, uint32_t words_value) {
    Header h;
    h.opcode = opcode_value;
    h.words = words_value;
    return h;
  }
};

// Address generator of a vector stream: base plus index times stride for each of the seven loop
// dimensions. Base and strides are multiples of the element size.
struct Stream {
  static constexpr size_t kWords = 8;

  // SRAM byte address of the element with all indices 0
  uint32_t base = 0;
  // element type
  ElementType type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t lane_stride = 0;
  // bytes per step of r1
  int32_t r1_stride = 0;
  // bytes per step of r2
  int32_t r2_stride = 0;
  // bytes per step of r3
  int32_t r3_stride = 0;
  // bytes per step of o1
  int32_t o1_stride = 0;
  // bytes per step of o2
  int32_t o2_stride = 0;
  // bytes per step of o3
  int32_t o3_stride = 0;
};

// nop: Does nothing.
struct Nop {
  static constexpr Opcode kOpcode = Opcode::kNop;
  static constexpr Engine kEngine = Engine::kControl;
  static constexpr size_t kWords = 4;
  static constexpr const char* kMnemonic = "nop";

  Header header = Header::For(0x1, 0x4);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<Nop> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const Nop& a, const Nop& b);

// end: Ends the stream.
struct End {
  static constexpr Opcode kOpcode = Opcode::kEnd;
  static constexpr Engine kEngine = Engine::kControl;
  static constexpr size_t kWords = 4;
  static constexpr const char* kMnemonic = "end";

  Header header = Header::For(0x2, 0x4);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<End> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const End& a, const End& b);

// barrier: Waits for all engines.
struct Barrier {
  static constexpr Opcode kOpcode = Opcode::kBarrier;
  static constexpr Engine kEngine = Engine::kControl;
  static constexpr size_t kWords = 4;
  static constexpr const char* kMnemonic = "barrier";

  Header header = Header::For(0x3, 0x4);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<Barrier> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const Barrier& a, const Barrier& b);

// load: Copies a 4-D strided box of elements from a region to SRAM.
struct Load {
  static constexpr Opcode kOpcode = Opcode::kLoad;
  static constexpr Engine kEngine = Engine::kLoad;
  static constexpr size_t kWords = 20;
  static constexpr const char* kMnemonic = "load";

  Header header = Header::For(0x10, 0x14);
  // source region
  uint32_t region = 0;
  // log2 of the element size in bytes (1 to 16) [0 .. 4]
  uint32_t elem_log2 = 0;
  // byte offset of the first element in the region
  uint32_t dram_offset = 0;
  // SRAM byte address of the first element
  uint32_t sram_addr = 0;
  // elements along dimension 0 [1 .. 65535]
  uint32_t n0 = 1u;
  // elements along dimension 1 [1 .. 65535]
  uint32_t n1 = 1u;
  // elements along dimension 2 [1 .. 65535]
  uint32_t n2 = 1u;
  // elements along dimension 3 [1 .. 65535]
  uint32_t n3 = 1u;
  // region stride of dimension 0 in bytes
  uint32_t s0 = 0;
  // region stride of dimension 1 in bytes
  uint32_t s1 = 0;
  // region stride of dimension 2 in bytes
  uint32_t s2 = 0;
  // region stride of dimension 3 in bytes
  uint32_t s3 = 0;
  // SRAM stride of dimension 0 in bytes
  uint32_t t0 = 0;
  // SRAM stride of dimension 1 in bytes
  uint32_t t1 = 0;
  // SRAM stride of dimension 2 in bytes
  uint32_t t2 = 0;
  // SRAM stride of dimension 3 in bytes
  uint32_t t3 = 0;

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<Load> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const Load& a, const Load& b);

// fill: Fills a 4-D strided box of SRAM elements with a constant.
struct Fill {
  static constexpr Opcode kOpcode = Opcode::kFill;
  static constexpr Engine kEngine = Engine::kLoad;
  static constexpr size_t kWords = 16;
  static constexpr const char* kMnemonic = "fill";

  Header header = Header::For(0x11, 0x10);
  // log2 of the element size in bytes (1, 2, 4) [0 .. 2]
  uint32_t elem_log2 = 0;
  // SRAM byte address of the first element
  uint32_t sram_addr = 0;
  // pattern
  uint32_t value = 0;
  // elements along dimension 0 [1 .. 65535]
  uint32_t n0 = 1u;
  // elements along dimension 1 [1 .. 65535]
  uint32_t n1 = 1u;
  // elements along dimension 2 [1 .. 65535]
  uint32_t n2 = 1u;
  // elements along dimension 3 [1 .. 65535]
  uint32_t n3 = 1u;
  // SRAM stride of dimension 0 in bytes
  uint32_t t0 = 0;
  // SRAM stride of dimension 1 in bytes
  uint32_t t1 = 0;
  // SRAM stride of dimension 2 in bytes
  uint32_t t2 = 0;
  // SRAM stride of dimension 3 in bytes
  uint32_t t3 = 0;

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<Fill> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const Fill& a, const Fill& b);

// load.gather: Loads rows of a table in device memory, chosen by indices in SRAM.
struct LoadGather {
  static constexpr Opcode kOpcode = Opcode::kLoadGather;
  static constexpr Engine kEngine = Engine::kLoad;
  static constexpr size_t kWords = 12;
  static constexpr const char* kMnemonic = "load.gather";

  Header header = Header::For(0x12, 0xc);
  // region of the table
  uint32_t region = 0;
  // log2 of the element size in bytes [0 .. 4]
  uint32_t elem_log2 = 0;
  // byte offset of row 0
  uint32_t dram_offset = 0;
  // SRAM byte address of the first row
  uint32_t sram_addr = 0;
  // elements of a row [1 .. 65535]
  uint32_t n0 = 1u;
  // number of indices [1 .. 65535]
  uint32_t count = 1u;
  // SRAM byte address of the int32 indices
  uint32_t index_addr = 0;
  // rows of the table [1 .. 4294967295]
  uint32_t bound = 1u;
  // region stride of rows in bytes
  uint32_t s1 = 0;
  // SRAM stride of rows in bytes
  uint32_t t1 = 0;

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<LoadGather> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const LoadGather& a, const LoadGather& b);

// sync.load: Waits and signals in the queue of the load engine, nothing else.
struct SyncLoad {
  static constexpr Opcode kOpcode = Opcode::kSyncLoad;
  static constexpr Engine kEngine = Engine::kLoad;
  static constexpr size_t kWords = 4;
  static constexpr const char* kMnemonic = "sync.load";

  Header header = Header::For(0x13, 0x4);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<SyncLoad> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const SyncLoad& a, const SyncLoad& b);

// store: Copies a 4-D strided box of elements from SRAM to a region.
struct Store {
  static constexpr Opcode kOpcode = Opcode::kStore;
  static constexpr Engine kEngine = Engine::kStore;
  static constexpr size_t kWords = 20;
  static constexpr const char* kMnemonic = "store";

  Header header = Header::For(0x20, 0x14);
  // destination region
  uint32_t region = 0;
  // log2 of the element size in bytes (1 to 16) [0 .. 4]
  uint32_t elem_log2 = 0;
  // byte offset of the first element in the region
  uint32_t dram_offset = 0;
  // SRAM byte address of the first element
  uint32_t sram_addr = 0;
  // elements along dimension 0 [1 .. 65535]
  uint32_t n0 = 1u;
  // elements along dimension 1 [1 .. 65535]
  uint32_t n1 = 1u;
  // elements along dimension 2 [1 .. 65535]
  uint32_t n2 = 1u;
  // elements along dimension 3 [1 .. 65535]
  uint32_t n3 = 1u;
  // region stride of dimension 0 in bytes
  uint32_t s0 = 0;
  // region stride of dimension 1 in bytes
  uint32_t s1 = 0;
  // region stride of dimension 2 in bytes
  uint32_t s2 = 0;
  // region stride of dimension 3 in bytes
  uint32_t s3 = 0;
  // SRAM stride of dimension 0 in bytes
  uint32_t t0 = 0;
  // SRAM stride of dimension 1 in bytes
  uint32_t t1 = 0;
  // SRAM stride of dimension 2 in bytes
  uint32_t t2 = 0;
  // SRAM stride of dimension 3 in bytes
  uint32_t t3 = 0;

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<Store> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const Store& a, const Store& b);

// store.scatter: Stores rows to places of a table in device memory, chosen by indices in SRAM.
struct StoreScatter {
  static constexpr Opcode kOpcode = Opcode::kStoreScatter;
  static constexpr Engine kEngine = Engine::kStore;
  static constexpr size_t kWords = 12;
  static constexpr const char* kMnemonic = "store.scatter";

  Header header = Header::For(0x21, 0xc);
  // region of the table
  uint32_t region = 0;
  // log2 of the element size in bytes [0 .. 4]
  uint32_t elem_log2 = 0;
  // byte offset of row 0
  uint32_t dram_offset = 0;
  // SRAM byte address of the first row
  uint32_t sram_addr = 0;
  // elements of a row [1 .. 65535]
  uint32_t n0 = 1u;
  // number of indices [1 .. 65535]
  uint32_t count = 1u;
  // SRAM byte address of the int32 indices
  uint32_t index_addr = 0;
  // rows of the table [1 .. 4294967295]
  uint32_t bound = 1u;
  // region stride of rows in bytes
  uint32_t s1 = 0;
  // SRAM stride of rows in bytes
  uint32_t t1 = 0;

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<StoreScatter> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const StoreScatter& a, const StoreScatter& b);

// sync.store: Waits and signals in the queue of the store engine, nothing else.
struct SyncStore {
  static constexpr Opcode kOpcode = Opcode::kSyncStore;
  static constexpr Engine kEngine = Engine::kStore;
  static constexpr size_t kWords = 4;
  static constexpr const char* kMnemonic = "sync.store";

  Header header = Header::For(0x22, 0x4);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<SyncStore> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const SyncStore& a, const SyncStore& b);

// conv: Convolution, matrix product, depthwise, first layer or pooling of 8-bit codes, with
// output stage.
struct Conv {
  static constexpr Opcode kOpcode = Opcode::kConv;
  static constexpr Engine kEngine = Engine::kMatrix;
  static constexpr size_t kWords = 40;
  static constexpr const char* kMnemonic = "conv";

  Header header = Header::For(0x30, 0x28);
  // what to compute
  MatrixMode mode = MatrixMode::kConv;
  // input codes are int8 (otherwise uint8)
  bool in_signed = false;
  // weight codes are int8
  bool w_signed = false;
  // where weights are
  WeightMode w_mode = WeightMode::kPacked;
  // output element type
  OutType out_type = OutType::kU8;
  // start from the held accumulators
  bool acc_continue = false;
  // keep the result in the accumulators
  bool acc_hold = false;
  // bias is fp32, added after the scale
  bool bias_f32 = false;
  // weight zero points per output channel
  bool zw_channel = false;
  // apply the table
  bool lut = false;
  // residual
  ResidualOp res_op = ResidualOp::kNone;
  // residual codes are int8
  bool res_signed = false;
  // the residual is the first operand of the addition
  bool res_first = false;
  // pooling
  PoolKind pool = PoolKind::kNone;
  // mode fold: channels of a packed pixel [0 .. 8]
  uint32_t fold_channels = 0;
  // input: word of row slot 0, column 0, block 0
  uint32_t in_addr = 0;
  // input: words between rows
  uint32_t in_pitch = 0;
  // input: words between columns (not used by fold)
  uint32_t in_xstep = 1u;
  // input: words between channel blocks
  uint32_t in_plane = 0;
  // input height [1 .. 65535]
  uint32_t ih = 1u;
  // input width [1 .. 65535]
  uint32_t iw = 1u;
  // input row in slot 0 (in_wrap = 0)
  uint32_t in_row0 = 0;
  // rows of the rolling input buffer, 0 = none
  uint32_t in_wrap = 0;
  // output: word of row slot 0, column 0, block 0
  uint32_t out_addr = 0;
  // output: words between rows
  uint32_t out_pitch = 0;
  // output: words between columns
  uint32_t out_xstep = 1u;
  // output: words between channel blocks
  uint32_t out_plane = 0;
  // output columns [1 .. 65535]
  uint32_t ow = 1u;
  // output rows of this command [1 .. 65535]
  uint32_t out_rows = 1u;
  // first output row
  uint32_t out_row0 = 0;
  // rows of the rolling output buffer, 0 = none
  uint32_t out_wrap = 0;
  // kernel rows [1 .. 255]
  uint32_t kh = 1u;
  // kernel columns [1 .. 255]
  uint32_t kw = 1u;
  // stride of rows [1 .. 15]
  uint32_t sy = 1u;
  // stride of columns [1 .. 15]
  uint32_t sx = 1u;
  // dilation of rows [1 .. 255]
  uint32_t dy = 1u;
  // dilation of columns [1 .. 255]
  uint32_t dx = 1u;
  // rows of padding above row 0
  int32_t pad_top = 0;
  // columns of padding left of column 0
  int32_t pad_left = 0;
  // input channels [1 .. 65535]
  uint32_t ci = 1u;
  // output channels [1 .. 65535]
  uint32_t co = 1u;
  // weights
  uint32_t w_addr = 0;
  // weight modes row and column: words between channel blocks
  uint32_t w_plane = 0;
  // weight modes row and column: words between pixels
  uint32_t w_step = 0;
  // parameters
  uint32_t param_addr = 0;
  // input zero point [-128 .. 255]
  int32_t za = 0;
  // weight zero point (0 with zw_channel) [-128 .. 255]
  int32_t zw = 0;
  // output zero point [-128 .. 255]
  int32_t zo = 0;
  // lower clamp before rounding and offset [-255 .. 255]
  int32_t act_min = 0;
  // upper clamp before rounding and offset [-255 .. 255]
  int32_t act_max = 0;
  // table
  uint32_t lut_addr = 0;
  // residual: word of row slot 0, column 0, block 0
  uint32_t res_addr = 0;
  // residual: words between rows
  uint32_t res_pitch = 0;
  // rows of the rolling residual buffer, 0 = none
  uint32_t res_wrap = 0;
  // residual: words between channel blocks
  uint32_t res_plane = 0;
  // add: factor of the first operand; mul: factor of the product
  float res_a = 0;
  // add: factor of the second operand
  float res_b = 0;
  // constant term
  float res_k = 0;
  // mul: residual zero point [-128 .. 255]
  int32_t res_zero = 0;
  // mul: zero point of the first stage's value [-128 .. 255]
  int32_t mid_zero = 0;
  // lower clamp of the second stage, a code [-128 .. 255]
  int32_t res_min = 0;
  // upper clamp of the second stage, a code [-128 .. 255]
  int32_t res_max = 0;
  // pooling window
  uint32_t pool_k = 0;
  // pooling stride
  uint32_t pool_s = 0;
  // pooling padding above and left
  uint32_t pool_pad = 0;
  // pooled height
  uint32_t pool_oh = 0;
  // pooled width
  uint32_t pool_ow = 0;
  // pooled row in slot 0 (out_wrap = 0)
  uint32_t pool_row0 = 0;
  // average: multiplier
  float pool_scale = 0;
  // average: zero point of the pixels [-128 .. 255]
  int32_t pool_zero_in = 0;
  // average: zero point of the result [-128 .. 255]
  int32_t pool_zero_out = 0;

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<Conv> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const Conv& a, const Conv& b);

// sync.matrix: Waits and signals in the queue of the matrix engine, nothing else.
struct SyncMatrix {
  static constexpr Opcode kOpcode = Opcode::kSyncMatrix;
  static constexpr Engine kEngine = Engine::kMatrix;
  static constexpr size_t kWords = 4;
  static constexpr const char* kMnemonic = "sync.matrix";

  Header header = Header::For(0x31, 0x4);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<SyncMatrix> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const SyncMatrix& a, const SyncMatrix& b);

// vrun: Runs a microprogram over streams.
struct Vrun {
  static constexpr Opcode kOpcode = Opcode::kVrun;
  static constexpr Engine kEngine = Engine::kVector;
  static constexpr size_t kWords = 52;
  static constexpr const char* kMnemonic = "vrun";

  Header header = Header::For(0x40, 0x34);
  // microprogram
  uint32_t prog_addr = 0;
  // micro-instructions of the prologue [0 .. 256]
  uint32_t prologue = 0;
  // micro-instructions of the body [1 .. 256]
  uint32_t body = 1u;
  // micro-instructions of the epilogue [0 .. 256]
  uint32_t epilogue = 0;
  // elements along the lane dimension [1 .. 65535]
  uint32_t lanes = 1u;
  // iterations of r1 (innermost) [1 .. 65535]
  uint32_t n_r1 = 1u;
  // iterations of r2 [1 .. 65535]
  uint32_t n_r2 = 1u;
  // iterations of r3 [1 .. 65535]
  uint32_t n_r3 = 1u;
  // iterations of o1 [1 .. 65535]
  uint32_t n_o1 = 1u;
  // iterations of o2 [1 .. 65535]
  uint32_t n_o2 = 1u;
  // iterations of o3 (outermost) [1 .. 65535]
  uint32_t n_o3 = 1u;
  // valid lanes in the last step of r1; 0 = all [0 .. 15]
  uint32_t tail = 0;
  // stream A is used
  bool enable_a = false;
  // stream B is used
  bool enable_b = false;
  // stream C is used
  bool enable_c = false;
  // when `out` is stored
  StoreMode store = StoreMode::kNone;
  // store lane 0 only
  bool store_one = false;
  // stream A is indexed by stream C
  bool gather_a = false;
  // stream D is indexed by stream C
  bool scatter_d = false;
  // stream A is indexed by the program, with pick
  bool pick_a = false;
  // bytes per index
  uint32_t index_stride = 0;
  // indices are below this
  uint32_t index_bound = 0;
  // argument 0
  uint32_t arg0 = 0;
  // argument 1
  uint32_t arg1 = 0;
  // argument 2
  uint32_t arg2 = 0;
  // argument 3
  uint32_t arg3 = 0;
  // SRAM byte address of the element with all indices 0
  uint32_t a_base = 0;
  // element type
  ElementType a_type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t a_lane_stride = 0;
  // bytes per step of r1
  int32_t a_r1_stride = 0;
  // bytes per step of r2
  int32_t a_r2_stride = 0;
  // bytes per step of r3
  int32_t a_r3_stride = 0;
  // bytes per step of o1
  int32_t a_o1_stride = 0;
  // bytes per step of o2
  int32_t a_o2_stride = 0;
  // bytes per step of o3
  int32_t a_o3_stride = 0;
  // SRAM byte address of the element with all indices 0
  uint32_t b_base = 0;
  // element type
  ElementType b_type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t b_lane_stride = 0;
  // bytes per step of r1
  int32_t b_r1_stride = 0;
  // bytes per step of r2
  int32_t b_r2_stride = 0;
  // bytes per step of r3
  int32_t b_r3_stride = 0;
  // bytes per step of o1
  int32_t b_o1_stride = 0;
  // bytes per step of o2
  int32_t b_o2_stride = 0;
  // bytes per step of o3
  int32_t b_o3_stride = 0;
  // SRAM byte address of the element with all indices 0
  uint32_t c_base = 0;
  // element type
  ElementType c_type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t c_lane_stride = 0;
  // bytes per step of r1
  int32_t c_r1_stride = 0;
  // bytes per step of r2
  int32_t c_r2_stride = 0;
  // bytes per step of r3
  int32_t c_r3_stride = 0;
  // bytes per step of o1
  int32_t c_o1_stride = 0;
  // bytes per step of o2
  int32_t c_o2_stride = 0;
  // bytes per step of o3
  int32_t c_o3_stride = 0;
  // SRAM byte address of the element with all indices 0
  uint32_t d_base = 0;
  // element type
  ElementType d_type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t d_lane_stride = 0;
  // bytes per step of r1
  int32_t d_r1_stride = 0;
  // bytes per step of r2
  int32_t d_r2_stride = 0;
  // bytes per step of r3
  int32_t d_r3_stride = 0;
  // bytes per step of o1
  int32_t d_o1_stride = 0;
  // bytes per step of o2
  int32_t d_o2_stride = 0;
  // bytes per step of o3
  int32_t d_o3_stride = 0;

  // The repeating groups as structs of their own.
  Stream GetA() const;
  void SetA(const Stream& value);
  Stream GetB() const;
  void SetB(const Stream& value);
  Stream GetC() const;
  void SetC(const Stream& value);
  Stream GetD() const;
  void SetD(const Stream& value);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<Vrun> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const Vrun& a, const Vrun& b);

// vmac: Multiply-reduce: fp32 convolution and matrix product.
struct Vmac {
  static constexpr Opcode kOpcode = Opcode::kVmac;
  static constexpr Engine kEngine = Engine::kVector;
  static constexpr size_t kWords = 52;
  static constexpr const char* kMnemonic = "vmac";

  Header header = Header::For(0x41, 0x34);
  // elements along the lane dimension [1 .. 65535]
  uint32_t lanes = 1u;
  // iterations of r1 (innermost) [1 .. 65535]
  uint32_t n_r1 = 1u;
  // iterations of r2 [1 .. 65535]
  uint32_t n_r2 = 1u;
  // iterations of r3 [1 .. 65535]
  uint32_t n_r3 = 1u;
  // iterations of o1 [1 .. 65535]
  uint32_t n_o1 = 1u;
  // iterations of o2 [1 .. 65535]
  uint32_t n_o2 = 1u;
  // iterations of o3 (outermost) [1 .. 65535]
  uint32_t n_o3 = 1u;
  // stream C gives the initial value
  bool initial = false;
  // clamp the result
  bool clamp = false;
  // lower clamp
  float clamp_min = 0;
  // upper clamp
  float clamp_max = 0;
  // SRAM byte address of the element with all indices 0
  uint32_t a_base = 0;
  // element type
  ElementType a_type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t a_lane_stride = 0;
  // bytes per step of r1
  int32_t a_r1_stride = 0;
  // bytes per step of r2
  int32_t a_r2_stride = 0;
  // bytes per step of r3
  int32_t a_r3_stride = 0;
  // bytes per step of o1
  int32_t a_o1_stride = 0;
  // bytes per step of o2
  int32_t a_o2_stride = 0;
  // bytes per step of o3
  int32_t a_o3_stride = 0;
  // SRAM byte address of the element with all indices 0
  uint32_t b_base = 0;
  // element type
  ElementType b_type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t b_lane_stride = 0;
  // bytes per step of r1
  int32_t b_r1_stride = 0;
  // bytes per step of r2
  int32_t b_r2_stride = 0;
  // bytes per step of r3
  int32_t b_r3_stride = 0;
  // bytes per step of o1
  int32_t b_o1_stride = 0;
  // bytes per step of o2
  int32_t b_o2_stride = 0;
  // bytes per step of o3
  int32_t b_o3_stride = 0;
  // SRAM byte address of the element with all indices 0
  uint32_t c_base = 0;
  // element type
  ElementType c_type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t c_lane_stride = 0;
  // bytes per step of r1
  int32_t c_r1_stride = 0;
  // bytes per step of r2
  int32_t c_r2_stride = 0;
  // bytes per step of r3
  int32_t c_r3_stride = 0;
  // bytes per step of o1
  int32_t c_o1_stride = 0;
  // bytes per step of o2
  int32_t c_o2_stride = 0;
  // bytes per step of o3
  int32_t c_o3_stride = 0;
  // SRAM byte address of the element with all indices 0
  uint32_t d_base = 0;
  // element type
  ElementType d_type = ElementType::kU8;
  // bytes between lanes; 0 broadcasts
  int32_t d_lane_stride = 0;
  // bytes per step of r1
  int32_t d_r1_stride = 0;
  // bytes per step of r2
  int32_t d_r2_stride = 0;
  // bytes per step of r3
  int32_t d_r3_stride = 0;
  // bytes per step of o1
  int32_t d_o1_stride = 0;
  // bytes per step of o2
  int32_t d_o2_stride = 0;
  // bytes per step of o3
  int32_t d_o3_stride = 0;

  // The repeating groups as structs of their own.
  Stream GetA() const;
  void SetA(const Stream& value);
  Stream GetB() const;
  void SetB(const Stream& value);
  Stream GetC() const;
  void SetC(const Stream& value);
  Stream GetD() const;
  void SetD(const Stream& value);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<Vmac> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const Vmac& a, const Vmac& b);

// sync.vector: Waits and signals in the queue of the vector engine, nothing else.
struct SyncVector {
  static constexpr Opcode kOpcode = Opcode::kSyncVector;
  static constexpr Engine kEngine = Engine::kVector;
  static constexpr size_t kWords = 4;
  static constexpr const char* kMnemonic = "sync.vector";

  Header header = Header::For(0x42, 0x4);

  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<SyncVector> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
};
bool operator==(const SyncVector& a, const SyncVector& b);

// Any command.
using Command = std::variant<Nop, End, Barrier, Load, Fill, LoadGather, SyncLoad, Store, StoreScatter, SyncStore, Conv, SyncMatrix, Vrun, Vmac, SyncVector>;

inline constexpr size_t kNumCommands = 15;
inline constexpr size_t kLongestCommandWords = 52;

// What is known of an opcode.
struct CommandInfo {
  Opcode opcode;
  const char* name;
  const char* mnemonic;
  Engine engine;
  uint32_t words;            // length, header included
  const FieldInfo* fields;   // header fields included, in bit order
  size_t num_fields;
  const uint32_t* reserved;  // per word: bits that must be zero
  const char* summary;
  uint32_t since;            // as of FieldInfo
};
extern const CommandInfo kCommands[kNumCommands];
// nullptr when there is none.
const CommandInfo* FindCommand(uint32_t opcode);
const CommandInfo* FindCommandByMnemonic(absl::string_view mnemonic);
// Opcode of a command from its first word.
uint32_t OpcodeOf(uint32_t first_word);

// Raw bits of a field, and its value (sign-extended for kInt).
uint32_t GetField(const FieldInfo& field, const uint32_t* words);
void SetField(const FieldInfo& field, uint32_t bits, uint32_t* words);
int64_t FieldValue(const FieldInfo& field, uint32_t bits);
// OK, or why these bits are not a legal value of the field.
absl::Status CheckField(const FieldInfo& field, uint32_t bits);
// A field's value as the assembler writes it: decimal, hexadecimal, true/false, name, float.
std::string FormatField(const FieldInfo& field, uint32_t bits);

// Checks the command that starts at words[0]; n words may be read. OK when it is a legal encoding.
absl::Status CheckCommand(const uint32_t* words, size_t n);
// The least minor version of VERSION, within this build's major one, whose cards do what this build
// says of the command that starts at words[0]. The command is legal. Microprograms are apart: each
// operation has its own (MicroOpInfo).
uint32_t SinceVersion(const uint32_t* words);
// Decodes the command that starts at words[0]; n words may be read, more than it needs is fine.
absl::StatusOr<Command> DecodeAny(const uint32_t* words, size_t n);
size_t WordsOf(const Command& command);
void Append(const Command& command, std::vector<uint32_t>* words);
std::string ToString(const Command& command);

// Operations of a micro-instruction.
enum class MicroOp : uint32_t {
  // d = a
  kMov = 0x1,
  // d = a != 0 ? b : c, a as int32
  kSel = 0x2,
  // d = the element of stream A, a*index_stride bytes beyond the lane's own, a as int32 below
  // index_bound; 0 in lanes that are not valid. Only with pick_a
  kPick = 0x3,
  // d = f32(a + b)
  kFadd = 0x10,
  // d = f32(a - b)
  kFsub = 0x11,
  // d = f32(a * b)
  kFmul = 0x12,
  // d = fma(a, b, c)
  kFfma = 0x13,
  // d = f32(a / b), iterative: 32 cycles per vector
  kFdiv = 0x14,
  // d = f32(sqrt(a)), iterative: 32 cycles per vector
  kFsqrt = 0x15,
  // d = a < b ? a : b, 0x7fc00000 when a or b is a NaN
  kFmin = 0x16,
  // d = a > b ? a : b, 0x7fc00000 when a or b is a NaN
  kFmax = 0x17,
  // d = a < b ? all ones : 0; 0 if unordered
  kFlt = 0x18,
  // d = a <= b ? all ones : 0; 0 if unordered
  kFle = 0x19,
  // d = a == b ? all ones : 0; 0 if unordered
  kFeq = 0x1a,
  // d = rne(a), int32
  kF2i = 0x1b,
  // d = trunc(a), int32
  kF2iTrunc = 0x1c,
  // d = f32(a), a as int32
  kI2f = 0x1d,
  // d = f32(fp16(a)): a rounded to the nearest fp16
  kRhalf = 0x1e,
  // d = f32(bf16(a)): a rounded to the nearest bf16
  kRbf = 0x1f,
  // d = a + b mod 2^32
  kIadd = 0x20,
  // d = a - b mod 2^32
  kIsub = 0x21,
  // d = a * b mod 2^32
  kImul = 0x22,
  // d = a and b
  kIand = 0x23,
  // d = a or b
  kIor = 0x24,
  // d = a xor b
  kIxor = 0x25,
  // d = a << (b mod 32)
  kIshl = 0x26,
  // d = a >> (b mod 32), zeros shifted in
  kIshr = 0x27,
  // d = a >> (b mod 32), sign shifted in
  kIsar = 0x28,
  // d = smaller of a and b as int32
  kImin = 0x29,
  // d = larger of a and b as int32
  kImax = 0x2a,
  // d = a < b as int32 ? all ones : 0
  kIlt = 0x2b,
  // d = a == b ? all ones : 0
  kIeq = 0x2c,
  // d = a < b as uint32 ? all ones : 0
  kIltu = 0x2d,
  // d = a / b as int32, toward zero; b = 0 gives all ones, -2^31 / -1 gives -2^31; iterative: 36
  // cycles per vector
  kIdiv = 0x2e,
  // d = a / b as uint32; b = 0 gives all ones; iterative: 36 cycles per vector
  kIdivu = 0x2f,
  // d = sum over the 16 lanes in every lane: x[l] = f32(x[l] + x[l xor 8]), then xor 4, 2, 1
  kHsum = 0x30,
  // as hsum with fmax(x[l and not s], x[l or s]) for step s: the lower lane is the first operand
  kHmax = 0x31,
  // as hmax with fmin
  kHmin = 0x32,
  // d = int32 sum over the 16 lanes, modulo 2^32, in every lane
  kHisum = 0x33,
  // d = largest int32 of the 16 lanes, in every lane
  kHimax = 0x34,
  // d = smallest int32 of the 16 lanes, in every lane
  kHimin = 0x35,
};
inline constexpr size_t kNumMicroOps = 41;
// One micro-instruction. Operands that an operation does not take must be zero; imm must be zero
// unless an operand is `imm`.
struct MicroInstruction {
  // operation
  MicroOp op = MicroOp::kMov;
  // destination
  Destination d = Destination::kV0;
  // first operand
  Operand a = Operand::kV0;
  // second operand
  Operand b = Operand::kV0;
  // third operand
  Operand c = Operand::kV0;
  // immediate
  uint32_t imm = 0;

  uint64_t Encode() const;
  // INVALID_ARGUMENT: unknown operation, value out of range, reserved bit set, or an operand that
  // the operation does not have (or an immediate that no operand names) is not zero.
  static absl::StatusOr<MicroInstruction> Decode(uint64_t word);
  std::string ToString() const;
};

// One operation: its name and, in order, the operands it has as indices into kMicroFields.
struct MicroOpInfo {
  MicroOp op;
  const char* name;
  uint8_t num_operands;
  uint8_t operands[4];
  uint32_t since;  // minor version of VERSION that gave it its present meaning
};
inline constexpr size_t kNumMicroFields = 6;
// Fields of a micro-instruction; bit 0 of `word` 1 is bit 32 of the 64-bit micro-instruction.
extern const FieldInfo kMicroFields[kNumMicroFields];
extern const MicroOpInfo kMicroOps[kNumMicroOps];
const MicroOpInfo* FindMicroOp(uint32_t op);
const MicroOpInfo* FindMicroOpByName(absl::string_view name);
const char* ToString(MicroOp op);

// Status codes of the card.
enum class Error : uint32_t {
  // The job ran to its end.
  kOk = 0,
  // Unknown opcode, wrong length, reserved bit set, enumeration value undefined, field out of its
  // range, or a cross-field rule of the instruction broken.
  kIllegalCommand = 1,
  // The fetch reached the end of the stream, or a command crosses it, before an end command.
  kStreamOverrun = 2,
  // A burst leaves its region, or the region is not bound (size 0). Nothing outside the region
  // was touched.
  kRegionBounds = 3,
  // A store to a region whose writable flag is clear. Nothing was written.
  kRegionReadonly = 4,
  // An SRAM access beyond the configuration's SRAM.
  kSramBounds = 5,
  // An index of a gather or scatter is negative or not below the bound in the command.
  kIndexBounds = 6,
  // A signal would raise a semaphore above semaphore_max.
  kSemaphoreOverflow = 7,
  // A micro-instruction has an unknown opcode, an operand that the operation does not take, or
  // reserved bits set.
  kIllegalProgram = 8,
  // Device memory or the host bridge answered a burst with an error.
  kBusError = 9,
  // Reported by the driver: PROGRESS did not change for the time limit and the job was aborted.
  kTimeout = 10,
  // The job was ended by ABORT or by a reset of the engine before it was complete.
  kAborted = 11,
  // A job descriptor, step or scatter list is malformed. Only the driver writes these, so this is
  // a driver fault.
  kIllegalDescriptor = 12,
  // A host address of a descriptor or scatter list is not mapped for the card.
  kHostDma = 13,
  // A copy or fill step leaves device memory.
  kCopyBounds = 14,
  // Never written by the card: the driver reports it when the card does not answer (all-ones
  // reads) or its link is down.
  kDeviceLost = 15,
  // Never written by the card: the driver reports it when an allocation does not fit.
  kNoDeviceMemory = 16,
  // A word of SRAM that was read, or written in part, has two wrong bits. fault_address is its
  // first byte in SRAM; offset and tag are those of the command that retired last, engine and
  // region are 0: a word belongs to nobody. It stays wrong until all of it is written or SRAM is
  // cleared.
  kSramUncorrectable = 17,
  // In DEVICE_ERROR only, and only where that was 0: a word of SRAM that was read, or written in
  // part, had one wrong bit. It was corrected on the way and written back; COUNTER_SRAM_CORRECTED
  // counts them. No job notices.
  kSramCorrected = 18,
};
enum class ErrorScope : uint8_t { kCommand, kJob, kDevice };

// What a status code means to each layer. `text` is the sentence for the user; words in braces
// stand for values that the reporter knows.
struct ErrorInfo {
  Error code;
  const char* name;
  ErrorScope scope;
  int errno_value;
  absl::StatusCode absl_code;
  const char* onnxifi;
  const char* text;
};
inline constexpr size_t kNumErrors = 19;
extern const ErrorInfo kErrors[kNumErrors];
// nullptr for a code that does not exist (the value comes from the device).
const ErrorInfo* FindError(uint32_t code);
const char* ToString(Error code);

}  // namespace heddle::isa

#endif  // RTL_SPEC_GENERATED_ISA_H_
