// generated from rtl/spec by tools/specgen; do not edit.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Every library and tool links this file: commands, packages and models are little-endian in memory.
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || __SIZEOF_POINTER__ != 8
#error "Heddle is for 64-bit little-endian machines (amd64, arm64); build it on or for one of these"
#endif

#include "rtl/spec/generated/isa.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::isa {

namespace {

[[maybe_unused]] uint32_t FloatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

[[maybe_unused]] float BitsFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

[[maybe_unused]] int32_t SignExtend(uint32_t value, int bits) {
  const uint32_t sign = 1u << (bits - 1);
  value &= sign | (sign - 1);
  return static_cast<int32_t>((value ^ sign) - sign);
}

std::string Hex(uint64_t value) { return absl::StrCat("0x", absl::Hex(value)); }

}  // namespace

const Config* FindConfig(absl::string_view name) {
  for (const Config& c : kConfigs) {
    if (name == c.name) return &c;
  }
  return nullptr;
}

const Config* FindConfigById(uint32_t id) {
  for (const Config& c : kConfigs) {
    if (id == c.id) return &c;
  }
  return nullptr;
}

const char* NameOf(const EnumInfo& info, uint32_t value) {
  for (size_t i = 0; i < info.num_values; ++i) {
    if (info.values[i].value == value) return info.values[i].name;
  }
  return "?";
}

bool ValueOf(const EnumInfo& info, absl::string_view name, uint32_t* value) {
  for (size_t i = 0; i < info.num_values; ++i) {
    if (name == info.values[i].name) {
      *value = info.values[i].value;
      return true;
    }
  }
  return false;
}

static const EnumValueInfo kEngineValues[] = {
    {"control", 0, 0},
    {"load", 1, 0},
    {"store", 2, 0},
    {"matrix", 3, 0},
    {"vector", 4, 0},
};
const EnumInfo kEngineInfo = {"engine", kEngineValues, 5};
const char* ToString(Engine value) { return NameOf(kEngineInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kStepTypeValues[] = {
    {"copy_in", 1, 0},
    {"run", 2, 0},
    {"copy_out", 3, 0},
    {"copy", 4, 0},
    {"fill", 5, 0},
};
const EnumInfo kStepTypeInfo = {"step_type", kStepTypeValues, 5};
const char* ToString(StepType value) { return NameOf(kStepTypeInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kCoreKindValues[] = {
    {"silicon", 0, 0},
    {"rtl", 1, 0},
    {"functional", 2, 0},
};
const EnumInfo kCoreKindInfo = {"core_kind", kCoreKindValues, 3};
const char* ToString(CoreKind value) { return NameOf(kCoreKindInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kSignalPointValues[] = {
    {"input_read", 0, 0},
    {"output_visible", 1, 0},
};
const EnumInfo kSignalPointInfo = {"signal_point", kSignalPointValues, 2};
const char* ToString(SignalPoint value) { return NameOf(kSignalPointInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kMatrixModeValues[] = {
    {"conv", 0, 0},
    {"depthwise", 1, 0},
    {"fold", 2, 0},
    {"maxpool", 3, 0},
};
const EnumInfo kMatrixModeInfo = {"matrix_mode", kMatrixModeValues, 4};
const char* ToString(MatrixMode value) { return NameOf(kMatrixModeInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kWeightModeValues[] = {
    {"packed", 0, 0},
    {"row", 1, 0},
    {"column", 2, 0},
};
const EnumInfo kWeightModeInfo = {"weight_mode", kWeightModeValues, 3};
const char* ToString(WeightMode value) { return NameOf(kWeightModeInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kOutTypeValues[] = {
    {"u8", 0, 0},
    {"s8", 1, 0},
    {"i32", 2, 0},
    {"f32", 3, 0},
};
const EnumInfo kOutTypeInfo = {"out_type", kOutTypeValues, 4};
const char* ToString(OutType value) { return NameOf(kOutTypeInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kResidualOpValues[] = {
    {"none", 0, 0},
    {"add", 1, 0},
    {"mul", 2, 0},
};
const EnumInfo kResidualOpInfo = {"residual_op", kResidualOpValues, 3};
const char* ToString(ResidualOp value) { return NameOf(kResidualOpInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kPoolKindValues[] = {
    {"none", 0, 0},
    {"max", 1, 0},
    {"average", 2, 0},
};
const EnumInfo kPoolKindInfo = {"pool_kind", kPoolKindValues, 3};
const char* ToString(PoolKind value) { return NameOf(kPoolKindInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kElementTypeValues[] = {
    {"u8", 0, 0},
    {"s8", 1, 0},
    {"s16", 2, 0},
    {"s32", 3, 0},
    {"f16", 4, 0},
    {"bf16", 5, 0},
    {"f32", 6, 0},
    {"u16", 7, 1},
};
const EnumInfo kElementTypeInfo = {"element_type", kElementTypeValues, 8};
const char* ToString(ElementType value) { return NameOf(kElementTypeInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kStoreModeValues[] = {
    {"none", 0, 0},
    {"body", 1, 0},
    {"epilogue", 2, 0},
};
const EnumInfo kStoreModeInfo = {"store_mode", kStoreModeValues, 3};
const char* ToString(StoreMode value) { return NameOf(kStoreModeInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kOperandValues[] = {
    {"v0", 0, 0},
    {"v1", 1, 0},
    {"v2", 2, 0},
    {"v3", 3, 0},
    {"v4", 4, 0},
    {"v5", 5, 0},
    {"v6", 6, 0},
    {"v7", 7, 0},
    {"v8", 8, 0},
    {"v9", 9, 0},
    {"v10", 10, 0},
    {"v11", 11, 0},
    {"v12", 12, 0},
    {"v13", 13, 0},
    {"v14", 14, 0},
    {"v15", 15, 0},
    {"stream_a", 16, 0},
    {"stream_b", 17, 0},
    {"stream_c", 18, 0},
    {"imm", 19, 0},
    {"arg0", 20, 0},
    {"arg1", 21, 0},
    {"arg2", 22, 0},
    {"arg3", 23, 0},
    {"lane", 24, 0},
    {"index_r", 25, 0},
    {"valid", 26, 0},
};
const EnumInfo kOperandInfo = {"operand", kOperandValues, 27};
const char* ToString(Operand value) { return NameOf(kOperandInfo, static_cast<uint32_t>(value)); }

static const EnumValueInfo kDestinationValues[] = {
    {"v0", 0, 0},
    {"v1", 1, 0},
    {"v2", 2, 0},
    {"v3", 3, 0},
    {"v4", 4, 0},
    {"v5", 5, 0},
    {"v6", 6, 0},
    {"v7", 7, 0},
    {"v8", 8, 0},
    {"v9", 9, 0},
    {"v10", 10, 0},
    {"v11", 11, 0},
    {"v12", 12, 0},
    {"v13", 13, 0},
    {"v14", 14, 0},
    {"v15", 15, 0},
    {"out", 16, 0},
};
const EnumInfo kDestinationInfo = {"destination", kDestinationValues, 17};
const char* ToString(Destination value) { return NameOf(kDestinationInfo, static_cast<uint32_t>(value)); }

static const FieldInfo kNopFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 1ll, 1ll, 0x1u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 4ll, 4ll, 0x4u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
};
static const uint32_t kNopReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u};
static const FieldInfo kEndFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 2ll, 2ll, 0x2u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 4ll, 4ll, 0x4u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
};
static const uint32_t kEndReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u};
static const FieldInfo kBarrierFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 3ll, 3ll, 0x3u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 4ll, 4ll, 0x4u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
};
static const uint32_t kBarrierReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u};
static const FieldInfo kLoadFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 16ll, 16ll, 0x10u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 20ll, 20ll, 0x14u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"region", 4, 0, 4, FieldType::kRegion, false, false, false, false, 0ll, 15ll, 0x0u, nullptr, 0},
    {"elem_log2", 4, 4, 3, FieldType::kUint, false, false, false, false, 0ll, 4ll, 0x0u, nullptr, 0},
    {"dram_offset", 5, 0, 32, FieldType::kDramOffset, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"sram_addr", 6, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"n0", 7, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n1", 7, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n2", 8, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n3", 8, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"s0", 9, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"s1", 10, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"s2", 11, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"s3", 12, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"t0", 13, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t1", 14, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t2", 15, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t3", 16, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
};
static const uint32_t kLoadReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u, 0xffffff80u, 0x0u, 0xff000000u, 0x0u, 0x0u, 0x0u, 0x0u, 0x0u, 0x0u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xffffffffu, 0xffffffffu, 0xffffffffu};
static const FieldInfo kFillFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 17ll, 17ll, 0x11u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 16ll, 16ll, 0x10u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"elem_log2", 4, 0, 2, FieldType::kUint, false, false, false, false, 0ll, 2ll, 0x0u, nullptr, 0},
    {"sram_addr", 5, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"value", 6, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"n0", 7, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n1", 7, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n2", 8, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n3", 8, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"t0", 9, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t1", 10, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t2", 11, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t3", 12, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
};
static const uint32_t kFillReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u, 0xfffffffcu, 0xff000000u, 0x0u, 0x0u, 0x0u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xffffffffu, 0xffffffffu, 0xffffffffu};
static const FieldInfo kLoadGatherFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 18ll, 18ll, 0x12u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 12ll, 12ll, 0xcu, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"region", 4, 0, 4, FieldType::kRegion, false, false, false, false, 0ll, 15ll, 0x0u, nullptr, 0},
    {"elem_log2", 4, 4, 3, FieldType::kUint, false, false, false, false, 0ll, 4ll, 0x0u, nullptr, 0},
    {"dram_offset", 5, 0, 32, FieldType::kDramOffset, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"sram_addr", 6, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"n0", 7, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"count", 7, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"index_addr", 8, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"bound", 9, 0, 32, FieldType::kUint, false, false, false, false, 1ll, 4294967295ll, 0x1u, nullptr, 0},
    {"s1", 10, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"t1", 11, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
};
static const uint32_t kLoadGatherReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u, 0xffffff80u, 0x0u, 0xff000000u, 0x0u, 0xff000000u, 0x0u, 0x0u, 0xff000000u};
static const FieldInfo kSyncLoadFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 19ll, 19ll, 0x13u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 4ll, 4ll, 0x4u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
};
static const uint32_t kSyncLoadReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u};
static const FieldInfo kStoreFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 32ll, 32ll, 0x20u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 20ll, 20ll, 0x14u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"region", 4, 0, 4, FieldType::kRegion, false, false, false, false, 0ll, 15ll, 0x0u, nullptr, 0},
    {"elem_log2", 4, 4, 3, FieldType::kUint, false, false, false, false, 0ll, 4ll, 0x0u, nullptr, 0},
    {"dram_offset", 5, 0, 32, FieldType::kDramOffset, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"sram_addr", 6, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"n0", 7, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n1", 7, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n2", 8, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n3", 8, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"s0", 9, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"s1", 10, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"s2", 11, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"s3", 12, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"t0", 13, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t1", 14, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t2", 15, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"t3", 16, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
};
static const uint32_t kStoreReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u, 0xffffff80u, 0x0u, 0xff000000u, 0x0u, 0x0u, 0x0u, 0x0u, 0x0u, 0x0u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xffffffffu, 0xffffffffu, 0xffffffffu};
static const FieldInfo kStoreScatterFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 33ll, 33ll, 0x21u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 12ll, 12ll, 0xcu, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"region", 4, 0, 4, FieldType::kRegion, false, false, false, false, 0ll, 15ll, 0x0u, nullptr, 0},
    {"elem_log2", 4, 4, 3, FieldType::kUint, false, false, false, false, 0ll, 4ll, 0x0u, nullptr, 0},
    {"dram_offset", 5, 0, 32, FieldType::kDramOffset, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"sram_addr", 6, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"n0", 7, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"count", 7, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"index_addr", 8, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"bound", 9, 0, 32, FieldType::kUint, false, false, false, false, 1ll, 4294967295ll, 0x1u, nullptr, 0},
    {"s1", 10, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"t1", 11, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
};
static const uint32_t kStoreScatterReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u, 0xffffff80u, 0x0u, 0xff000000u, 0x0u, 0xff000000u, 0x0u, 0x0u, 0xff000000u};
static const FieldInfo kSyncStoreFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 34ll, 34ll, 0x22u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 4ll, 4ll, 0x4u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
};
static const uint32_t kSyncStoreReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u};
static const FieldInfo kConvFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 48ll, 48ll, 0x30u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 40ll, 40ll, 0x28u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"mode", 4, 0, 2, FieldType::kEnum, false, false, false, false, 0ll, 3ll, 0x0u, &kMatrixModeInfo, 0},
    {"in_signed", 4, 2, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"w_signed", 4, 3, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"w_mode", 4, 4, 2, FieldType::kEnum, false, false, false, false, 0ll, 2ll, 0x0u, &kWeightModeInfo, 0},
    {"out_type", 4, 6, 2, FieldType::kEnum, false, false, false, false, 0ll, 3ll, 0x0u, &kOutTypeInfo, 0},
    {"acc_continue", 4, 8, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"acc_hold", 4, 9, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"bias_f32", 4, 10, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"zw_channel", 4, 11, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"lut", 4, 12, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"res_op", 4, 13, 2, FieldType::kEnum, false, false, false, false, 0ll, 2ll, 0x0u, &kResidualOpInfo, 0},
    {"res_signed", 4, 15, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"res_first", 4, 16, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"pool", 4, 17, 2, FieldType::kEnum, false, false, false, false, 0ll, 2ll, 0x0u, &kPoolKindInfo, 0},
    {"fold_channels", 4, 19, 4, FieldType::kUint, false, false, false, false, 0ll, 8ll, 0x0u, nullptr, 0},
    {"in_addr", 5, 0, 20, FieldType::kSramWord, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"in_pitch", 6, 0, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"in_xstep", 6, 16, 8, FieldType::kUint, false, false, false, false, 0ll, 255ll, 0x1u, nullptr, 0},
    {"in_plane", 7, 0, 20, FieldType::kUint, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"ih", 8, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"iw", 8, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"in_row0", 9, 0, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"in_wrap", 9, 16, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"out_addr", 10, 0, 20, FieldType::kSramWord, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"out_pitch", 11, 0, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"out_xstep", 11, 16, 8, FieldType::kUint, false, false, false, false, 0ll, 255ll, 0x1u, nullptr, 0},
    {"out_plane", 12, 0, 20, FieldType::kUint, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"ow", 13, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"out_rows", 13, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"out_row0", 14, 0, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"out_wrap", 14, 16, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"kh", 15, 0, 8, FieldType::kUint, false, false, false, false, 1ll, 255ll, 0x1u, nullptr, 0},
    {"kw", 15, 8, 8, FieldType::kUint, false, false, false, false, 1ll, 255ll, 0x1u, nullptr, 0},
    {"sy", 15, 16, 4, FieldType::kUint, false, false, false, false, 1ll, 15ll, 0x1u, nullptr, 0},
    {"sx", 15, 20, 4, FieldType::kUint, false, false, false, false, 1ll, 15ll, 0x1u, nullptr, 0},
    {"dy", 16, 0, 8, FieldType::kUint, false, false, false, false, 1ll, 255ll, 0x1u, nullptr, 0},
    {"dx", 16, 8, 8, FieldType::kUint, false, false, false, false, 1ll, 255ll, 0x1u, nullptr, 0},
    {"pad_top", 17, 0, 16, FieldType::kInt, false, false, false, false, -32768ll, 32767ll, 0x0u, nullptr, 0},
    {"pad_left", 17, 16, 16, FieldType::kInt, false, false, false, false, -32768ll, 32767ll, 0x0u, nullptr, 0},
    {"ci", 18, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"co", 18, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"w_addr", 19, 0, 20, FieldType::kSramWord, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"w_plane", 20, 0, 20, FieldType::kUint, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"w_step", 21, 0, 20, FieldType::kUint, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"param_addr", 22, 0, 20, FieldType::kSramWord, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"za", 23, 0, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
    {"zw", 23, 16, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
    {"zo", 24, 0, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
    {"act_min", 25, 0, 16, FieldType::kInt, false, false, false, false, -255ll, 255ll, 0x0u, nullptr, 0},
    {"act_max", 25, 16, 16, FieldType::kInt, false, false, false, false, -255ll, 255ll, 0x0u, nullptr, 0},
    {"lut_addr", 26, 0, 20, FieldType::kSramWord, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"res_addr", 27, 0, 20, FieldType::kSramWord, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"res_pitch", 28, 0, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"res_wrap", 28, 16, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"res_plane", 29, 0, 20, FieldType::kUint, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"res_a", 30, 0, 32, FieldType::kF32, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"res_b", 31, 0, 32, FieldType::kF32, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"res_k", 32, 0, 32, FieldType::kF32, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"res_zero", 33, 0, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
    {"mid_zero", 33, 16, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
    {"res_min", 34, 0, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
    {"res_max", 34, 16, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
    {"pool_k", 35, 0, 4, FieldType::kUint, false, false, false, false, 0ll, 15ll, 0x0u, nullptr, 0},
    {"pool_s", 35, 4, 4, FieldType::kUint, false, false, false, false, 0ll, 15ll, 0x0u, nullptr, 0},
    {"pool_pad", 35, 8, 4, FieldType::kUint, false, false, false, false, 0ll, 15ll, 0x0u, nullptr, 0},
    {"pool_oh", 36, 0, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"pool_ow", 36, 16, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"pool_row0", 37, 0, 16, FieldType::kUint, false, false, false, false, 0ll, 65535ll, 0x0u, nullptr, 0},
    {"pool_scale", 38, 0, 32, FieldType::kF32, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"pool_zero_in", 39, 0, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
    {"pool_zero_out", 39, 16, 16, FieldType::kInt, false, false, false, false, -128ll, 255ll, 0x0u, nullptr, 0},
};
static const uint32_t kConvReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u, 0xff800000u, 0xfff00000u, 0xff000000u, 0xfff00000u, 0x0u, 0x0u, 0xfff00000u, 0xff000000u, 0xfff00000u, 0x0u, 0x0u, 0xff000000u, 0xffff0000u, 0x0u, 0x0u, 0xfff00000u, 0xfff00000u, 0xfff00000u, 0xfff00000u, 0x0u, 0xffff0000u, 0x0u, 0xfff00000u, 0xfff00000u, 0x0u, 0xfff00000u, 0x0u, 0x0u, 0x0u, 0x0u, 0x0u, 0xfffff000u, 0x0u, 0xffff0000u, 0x0u, 0x0u};
static const FieldInfo kSyncMatrixFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 49ll, 49ll, 0x31u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 4ll, 4ll, 0x4u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
};
static const uint32_t kSyncMatrixReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u};
static const FieldInfo kVrunFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 64ll, 64ll, 0x40u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 52ll, 52ll, 0x34u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"prog_addr", 4, 0, 20, FieldType::kSramWord, false, false, false, false, 0ll, 1048575ll, 0x0u, nullptr, 0},
    {"prologue", 5, 0, 9, FieldType::kUint, false, false, false, false, 0ll, 256ll, 0x0u, nullptr, 0},
    {"body", 5, 9, 9, FieldType::kUint, false, false, false, false, 1ll, 256ll, 0x1u, nullptr, 0},
    {"epilogue", 5, 18, 9, FieldType::kUint, false, false, false, false, 0ll, 256ll, 0x0u, nullptr, 0},
    {"lanes", 6, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_r1", 6, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_r2", 7, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_r3", 7, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_o1", 8, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_o2", 8, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_o3", 9, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"tail", 9, 16, 5, FieldType::kUint, false, false, false, false, 0ll, 15ll, 0x0u, nullptr, 0},
    {"enable_a", 10, 0, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"enable_b", 10, 1, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"enable_c", 10, 2, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"store", 10, 3, 2, FieldType::kEnum, false, false, false, false, 0ll, 2ll, 0x0u, &kStoreModeInfo, 0},
    {"store_one", 10, 5, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"gather_a", 10, 6, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"scatter_d", 10, 7, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"pick_a", 10, 8, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 1},
    {"index_stride", 11, 0, 24, FieldType::kUint, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"index_bound", 12, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"arg0", 13, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"arg1", 14, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"arg2", 15, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"arg3", 16, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"a_base", 20, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"a_type", 20, 24, 4, FieldType::kEnum, false, false, false, false, 0ll, 7ll, 0x0u, &kElementTypeInfo, 0},
    {"a_lane_stride", 21, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_r1_stride", 22, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_r2_stride", 23, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_r3_stride", 24, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_o1_stride", 25, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_o2_stride", 26, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_o3_stride", 27, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_base", 28, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"b_type", 28, 24, 4, FieldType::kEnum, false, false, false, false, 0ll, 7ll, 0x0u, &kElementTypeInfo, 0},
    {"b_lane_stride", 29, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_r1_stride", 30, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_r2_stride", 31, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_r3_stride", 32, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_o1_stride", 33, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_o2_stride", 34, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_o3_stride", 35, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_base", 36, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"c_type", 36, 24, 4, FieldType::kEnum, false, false, false, false, 0ll, 7ll, 0x0u, &kElementTypeInfo, 0},
    {"c_lane_stride", 37, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_r1_stride", 38, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_r2_stride", 39, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_r3_stride", 40, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_o1_stride", 41, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_o2_stride", 42, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_o3_stride", 43, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_base", 44, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"d_type", 44, 24, 4, FieldType::kEnum, false, false, false, false, 0ll, 7ll, 0x0u, &kElementTypeInfo, 0},
    {"d_lane_stride", 45, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_r1_stride", 46, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_r2_stride", 47, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_r3_stride", 48, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_o1_stride", 49, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_o2_stride", 50, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_o3_stride", 51, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
};
static const uint32_t kVrunReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u, 0xfff00000u, 0xf8000000u, 0x0u, 0x0u, 0x0u, 0xffe00000u, 0xfffffe00u, 0xff000000u, 0x0u, 0x0u, 0x0u, 0x0u, 0x0u, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xf0000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xf0000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xf0000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xf0000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u};
static const FieldInfo kVmacFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 65ll, 65ll, 0x41u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 52ll, 52ll, 0x34u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"lanes", 6, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_r1", 6, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_r2", 7, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_r3", 7, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_o1", 8, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_o2", 8, 16, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"n_o3", 9, 0, 16, FieldType::kUint, false, false, false, false, 1ll, 65535ll, 0x1u, nullptr, 0},
    {"initial", 10, 0, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"clamp", 10, 1, 1, FieldType::kBool, false, false, false, false, 0ll, 1ll, 0x0u, nullptr, 1},
    {"clamp_min", 13, 0, 32, FieldType::kF32, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"clamp_max", 14, 0, 32, FieldType::kF32, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
    {"a_base", 20, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"a_type", 20, 24, 4, FieldType::kEnum, false, false, false, false, 0ll, 7ll, 0x0u, &kElementTypeInfo, 0},
    {"a_lane_stride", 21, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_r1_stride", 22, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_r2_stride", 23, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_r3_stride", 24, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_o1_stride", 25, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_o2_stride", 26, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"a_o3_stride", 27, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_base", 28, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"b_type", 28, 24, 4, FieldType::kEnum, false, false, false, false, 0ll, 7ll, 0x0u, &kElementTypeInfo, 0},
    {"b_lane_stride", 29, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_r1_stride", 30, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_r2_stride", 31, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_r3_stride", 32, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_o1_stride", 33, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_o2_stride", 34, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"b_o3_stride", 35, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_base", 36, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"c_type", 36, 24, 4, FieldType::kEnum, false, false, false, false, 0ll, 7ll, 0x0u, &kElementTypeInfo, 0},
    {"c_lane_stride", 37, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_r1_stride", 38, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_r2_stride", 39, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_r3_stride", 40, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_o1_stride", 41, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_o2_stride", 42, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"c_o3_stride", 43, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_base", 44, 0, 24, FieldType::kSramByte, false, false, false, false, 0ll, 16777215ll, 0x0u, nullptr, 0},
    {"d_type", 44, 24, 4, FieldType::kEnum, false, false, false, false, 0ll, 7ll, 0x0u, &kElementTypeInfo, 0},
    {"d_lane_stride", 45, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_r1_stride", 46, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_r2_stride", 47, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_r3_stride", 48, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_o1_stride", 49, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_o2_stride", 50, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
    {"d_o3_stride", 51, 0, 24, FieldType::kInt, false, false, false, false, -8388608ll, 8388607ll, 0x0u, nullptr, 0},
};
static const uint32_t kVmacReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u, 0xffffffffu, 0xffffffffu, 0x0u, 0x0u, 0x0u, 0xffff0000u, 0xfffffffcu, 0xffffffffu, 0xffffffffu, 0x0u, 0x0u, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xf0000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xf0000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xf0000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xf0000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u, 0xff000000u};
static const FieldInfo kSyncVectorFields[] = {
    {"opcode", 0, 0, 8, FieldType::kUint, true, true, false, false, 66ll, 66ll, 0x42u, nullptr, 0},
    {"words", 0, 8, 8, FieldType::kUint, true, true, false, false, 4ll, 4ll, 0x4u, nullptr, 0},
    {"wait0_enable", 1, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait0_sem", 1, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait0_count", 1, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"wait1_enable", 1, 14, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"wait1_sem", 1, 15, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"wait1_count", 1, 20, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_enable", 2, 0, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal0_sem", 2, 1, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal0_count", 2, 6, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal0_point", 2, 14, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"signal1_enable", 2, 15, 1, FieldType::kBool, true, false, false, false, 0ll, 1ll, 0x0u, nullptr, 0},
    {"signal1_sem", 2, 16, 5, FieldType::kSem, true, false, false, false, 0ll, 31ll, 0x0u, nullptr, 0},
    {"signal1_count", 2, 21, 8, FieldType::kUint, true, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"signal1_point", 2, 29, 1, FieldType::kEnum, true, false, false, false, 0ll, 1ll, 0x0u, &kSignalPointInfo, 0},
    {"tag", 3, 0, 32, FieldType::kUint, true, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
};
static const uint32_t kSyncVectorReserved[] = {0xffff0000u, 0xf0000000u, 0xc0000000u, 0x0u};

const CommandInfo kCommands[kNumCommands] = {
    {Opcode::kNop, "nop", "nop", Engine::kControl, 4,
     kNopFields, 17, kNopReserved, "Does nothing.", 0},
    {Opcode::kEnd, "end", "end", Engine::kControl, 4,
     kEndFields, 17, kEndReserved, "Ends the stream.", 0},
    {Opcode::kBarrier, "barrier", "barrier", Engine::kControl, 4,
     kBarrierFields, 17, kBarrierReserved, "Waits for all engines.", 0},
    {Opcode::kLoad, "load", "load", Engine::kLoad, 20,
     kLoadFields, 33, kLoadReserved, "Copies a 4-D strided box of elements from a region to SRAM.", 0},
    {Opcode::kFill, "fill", "fill", Engine::kLoad, 16,
     kFillFields, 28, kFillReserved, "Fills a 4-D strided box of SRAM elements with a constant.", 0},
    {Opcode::kLoadGather, "load_gather", "load.gather", Engine::kLoad, 12,
     kLoadGatherFields, 27, kLoadGatherReserved, "Loads rows of a table in device memory, chosen by indices in SRAM.", 0},
    {Opcode::kSyncLoad, "sync_load", "sync.load", Engine::kLoad, 4,
     kSyncLoadFields, 17, kSyncLoadReserved, "Waits and signals in the queue of the load engine, nothing else.", 0},
    {Opcode::kStore, "store", "store", Engine::kStore, 20,
     kStoreFields, 33, kStoreReserved, "Copies a 4-D strided box of elements from SRAM to a region.", 0},
    {Opcode::kStoreScatter, "store_scatter", "store.scatter", Engine::kStore, 12,
     kStoreScatterFields, 27, kStoreScatterReserved, "Stores rows to places of a table in device memory, chosen by indices in SRAM.", 0},
    {Opcode::kSyncStore, "sync_store", "sync.store", Engine::kStore, 4,
     kSyncStoreFields, 17, kSyncStoreReserved, "Waits and signals in the queue of the store engine, nothing else.", 0},
    {Opcode::kConv, "conv", "conv", Engine::kMatrix, 40,
     kConvFields, 88, kConvReserved, "Convolution, matrix product, depthwise, first layer or pooling of 8-bit codes, with output stage.", 0},
    {Opcode::kSyncMatrix, "sync_matrix", "sync.matrix", Engine::kMatrix, 4,
     kSyncMatrixFields, 17, kSyncMatrixReserved, "Waits and signals in the queue of the matrix engine, nothing else.", 0},
    {Opcode::kVrun, "vrun", "vrun", Engine::kVector, 52,
     kVrunFields, 79, kVrunReserved, "Runs a microprogram over streams.", 0},
    {Opcode::kVmac, "vmac", "vmac", Engine::kVector, 52,
     kVmacFields, 64, kVmacReserved, "Multiply-reduce: fp32 convolution and matrix product.", 0},
    {Opcode::kSyncVector, "sync_vector", "sync.vector", Engine::kVector, 4,
     kSyncVectorFields, 17, kSyncVectorReserved, "Waits and signals in the queue of the vector engine, nothing else.", 0},
};

uint32_t OpcodeOf(uint32_t first_word) { return first_word & 0xffu; }

const CommandInfo* FindCommand(uint32_t opcode) {
  for (const CommandInfo& c : kCommands) {
    if (static_cast<uint32_t>(c.opcode) == opcode) return &c;
  }
  return nullptr;
}

const CommandInfo* FindCommandByMnemonic(absl::string_view mnemonic) {
  for (const CommandInfo& c : kCommands) {
    if (mnemonic == c.mnemonic) return &c;
  }
  return nullptr;
}

const char* ToString(Opcode opcode) {
  const CommandInfo* c = FindCommand(static_cast<uint32_t>(opcode));
  return c == nullptr ? "?" : c->name;
}

uint32_t GetField(const FieldInfo& field, const uint32_t* words) {
  const uint32_t mask = field.bits == 32 ? ~0u : (1u << field.bits) - 1;
  return (words[field.word] >> field.lsb) & mask;
}

void SetField(const FieldInfo& field, uint32_t bits, uint32_t* words) {
  const uint32_t mask = field.bits == 32 ? ~0u : (1u << field.bits) - 1;
  words[field.word] &= ~(mask << field.lsb);
  words[field.word] |= (bits & mask) << field.lsb;
}

int64_t FieldValue(const FieldInfo& field, uint32_t bits) {
  return field.type == FieldType::kInt ? SignExtend(bits, field.bits) : static_cast<int64_t>(bits);
}

absl::Status CheckField(const FieldInfo& field, uint32_t bits) {
  const int64_t value = FieldValue(field, bits);
  if (field.type == FieldType::kF32) {
    if (field.nonzero && (bits & 0x7fffffffu) == 0) {
      return absl::InvalidArgumentError(absl::StrCat("field '", field.name, "' must not be zero"));
    }
    return absl::OkStatus();
  }
  if (field.type == FieldType::kEnum) {
    for (size_t i = 0; i < field.enum_info->num_values; ++i) {
      if (field.enum_info->values[i].value == bits) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name, "': ", value,
                                                   " is not a value of enumeration '",
                                                   field.enum_info->name, "'"));
  }
  if (field.nonzero && value == 0) {
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name, "' must not be zero"));
  }
  if (value < field.min || value > field.max) {
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name, "' = ", value,
                                                   " is outside ", field.min, " .. ", field.max));
  }
  return absl::OkStatus();
}

std::string FormatField(const FieldInfo& field, uint32_t bits) {
  switch (field.type) {
    case FieldType::kEnum:
      for (size_t i = 0; i < field.enum_info->num_values; ++i) {
        if (field.enum_info->values[i].value == bits) return field.enum_info->values[i].name;
      }
      return absl::StrCat(bits);
    case FieldType::kBool:
      return bits == 0 ? "false" : "true";
    case FieldType::kF32: {
      const float value = BitsFloat(bits);
      if (std::isnan(value)) return Hex(bits);  // raw bits keep the payload
      char text[64];
      const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
      std::string out(text, end.ptr);
      // A raw hexadecimal integer means bits, so a float always shows that it is one.
      if (out.find_first_of(".en") == std::string::npos) out += ".0";
      return out;
    }
    case FieldType::kSramWord:
    case FieldType::kSramByte:
    case FieldType::kDramOffset:
      return Hex(bits);
    default:
      return absl::StrCat(FieldValue(field, bits));
  }
}

static absl::Status CheckExactly(const uint32_t* words, size_t n, const CommandInfo& info) {
  if (n != info.words) {
    return absl::InvalidArgumentError(absl::StrCat("command '", info.mnemonic, "' has ", info.words,
                                                   " words, ", n, " are given"));
  }
  const uint32_t opcode = OpcodeOf(words[0]);
  if (opcode != static_cast<uint32_t>(info.opcode)) {
    return absl::InvalidArgumentError(absl::StrCat("opcode ", Hex(opcode), " is not that of '",
                                                   info.mnemonic, "'"));
  }
  for (uint32_t i = 0; i < info.words; ++i) {
    if ((words[i] & info.reserved[i]) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("command '", info.mnemonic, "': reserved bits ",
                       Hex(words[i] & info.reserved[i]), " of word ", i, " are set"));
    }
  }
  for (size_t i = 0; i < info.num_fields; ++i) {
    absl::Status status = CheckField(info.fields[i], GetField(info.fields[i], words));
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("command '", info.mnemonic, "': ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCommand(const uint32_t* words, size_t n) {
  if (n == 0) return absl::InvalidArgumentError("no words are left for a command");
  const CommandInfo* info = FindCommand(OpcodeOf(words[0]));
  if (info == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("unknown opcode ", Hex(OpcodeOf(words[0]))));
  }
  if (n < info->words) {
    return absl::InvalidArgumentError(absl::StrCat("command '", info->mnemonic, "' has ",
                                                   info->words, " words, only ", n, " are left"));
  }
  return CheckExactly(words, info->words, *info);
}

uint32_t SinceVersion(const uint32_t* words) {
  const CommandInfo* info = FindCommand(OpcodeOf(words[0]));
  if (info == nullptr) return 0;
  uint32_t since = info->since;
  for (size_t i = 0; i < info->num_fields; ++i) {
    const FieldInfo& field = info->fields[i];
    const uint32_t bits = GetField(field, words);
    if (bits != 0 && field.since > since) since = field.since;
    if (field.type != FieldType::kEnum) continue;
    for (size_t k = 0; k < field.enum_info->num_values; ++k) {
      const EnumValueInfo& value = field.enum_info->values[k];
      if (value.value == bits && value.since > since) since = value.since;
    }
  }
  return since;
}

static absl::Status DoesNotFit(const char* mnemonic, const char* field) {
  return absl::InvalidArgumentError(absl::StrCat("command '", mnemonic, "': field '", field,
                                                 "' has a value wider than its bits"));
}

static std::string FormatWords(const uint32_t* words, const CommandInfo& info) {
  std::string out = info.mnemonic;
  for (size_t i = 0; i < info.num_fields; ++i) {
    const FieldInfo& f = info.fields[i];
    if (f.fixed) continue;
    const uint32_t bits = GetField(f, words);
    if (bits == f.default_bits && !f.required) continue;
    absl::StrAppend(&out, " ", f.name, "=", FormatField(f, bits));
  }
  return out;
}


void Nop::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x1u & 0xffu);
  words[0] |= (0x4u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
}

absl::StatusOr<Nop> Nop::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[0]);
  if (!status.ok()) return status;
  Nop r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  return r;
}

absl::Status Nop::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("nop", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("nop", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("nop", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("nop", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("nop", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("nop", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("nop", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("nop", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("nop", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("nop", "signal1_point");
  return CheckCommand(words, kWords);
}

std::string Nop::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[0]);
}

bool operator==(const Nop& a, const Nop& b) {
  uint32_t wa[Nop::kWords], wb[Nop::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void End::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x2u & 0xffu);
  words[0] |= (0x4u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
}

absl::StatusOr<End> End::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[1]);
  if (!status.ok()) return status;
  End r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  return r;
}

absl::Status End::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("end", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("end", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("end", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("end", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("end", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("end", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("end", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("end", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("end", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("end", "signal1_point");
  return CheckCommand(words, kWords);
}

std::string End::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[1]);
}

bool operator==(const End& a, const End& b) {
  uint32_t wa[End::kWords], wb[End::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void Barrier::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x3u & 0xffu);
  words[0] |= (0x4u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
}

absl::StatusOr<Barrier> Barrier::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[2]);
  if (!status.ok()) return status;
  Barrier r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  return r;
}

absl::Status Barrier::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("barrier", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("barrier", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("barrier", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("barrier", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("barrier", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("barrier", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("barrier", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("barrier", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("barrier", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("barrier", "signal1_point");
  return CheckCommand(words, kWords);
}

std::string Barrier::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[2]);
}

bool operator==(const Barrier& a, const Barrier& b) {
  uint32_t wa[Barrier::kWords], wb[Barrier::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void Load::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x10u & 0xffu);
  words[0] |= (0x14u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
  words[4] |= (region & 0xfu);
  words[4] |= (elem_log2 & 0x7u) << 4;
  words[5] |= dram_offset;
  words[6] |= (sram_addr & 0xffffffu);
  words[7] |= (n0 & 0xffffu);
  words[7] |= (n1 & 0xffffu) << 16;
  words[8] |= (n2 & 0xffffu);
  words[8] |= (n3 & 0xffffu) << 16;
  words[9] |= s0;
  words[10] |= s1;
  words[11] |= s2;
  words[12] |= s3;
  words[13] |= (t0 & 0xffffffu);
  words[14] |= (t1 & 0xffffffu);
  words[15] |= (t2 & 0xffffffu);
  words[16] |= (t3 & 0xffffffu);
}

absl::StatusOr<Load> Load::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[3]);
  if (!status.ok()) return status;
  Load r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  r.region = words[4] & 0xfu;
  r.elem_log2 = (words[4] >> 4) & 0x7u;
  r.dram_offset = words[5];
  r.sram_addr = words[6] & 0xffffffu;
  r.n0 = words[7] & 0xffffu;
  r.n1 = (words[7] >> 16) & 0xffffu;
  r.n2 = words[8] & 0xffffu;
  r.n3 = (words[8] >> 16) & 0xffffu;
  r.s0 = words[9];
  r.s1 = words[10];
  r.s2 = words[11];
  r.s3 = words[12];
  r.t0 = words[13] & 0xffffffu;
  r.t1 = words[14] & 0xffffffu;
  r.t2 = words[15] & 0xffffffu;
  r.t3 = words[16] & 0xffffffu;
  return r;
}

absl::Status Load::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("load", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("load", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("load", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("load", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("load", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("load", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("load", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("load", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("load", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("load", "signal1_point");
  if (region != (words[4] & 0xfu)) return DoesNotFit("load", "region");
  if (elem_log2 != ((words[4] >> 4) & 0x7u)) return DoesNotFit("load", "elem_log2");
  if (sram_addr != (words[6] & 0xffffffu)) return DoesNotFit("load", "sram_addr");
  if (n0 != (words[7] & 0xffffu)) return DoesNotFit("load", "n0");
  if (n1 != ((words[7] >> 16) & 0xffffu)) return DoesNotFit("load", "n1");
  if (n2 != (words[8] & 0xffffu)) return DoesNotFit("load", "n2");
  if (n3 != ((words[8] >> 16) & 0xffffu)) return DoesNotFit("load", "n3");
  if (t0 != (words[13] & 0xffffffu)) return DoesNotFit("load", "t0");
  if (t1 != (words[14] & 0xffffffu)) return DoesNotFit("load", "t1");
  if (t2 != (words[15] & 0xffffffu)) return DoesNotFit("load", "t2");
  if (t3 != (words[16] & 0xffffffu)) return DoesNotFit("load", "t3");
  return CheckCommand(words, kWords);
}

std::string Load::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[3]);
}

bool operator==(const Load& a, const Load& b) {
  uint32_t wa[Load::kWords], wb[Load::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void Fill::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x11u & 0xffu);
  words[0] |= (0x10u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
  words[4] |= (elem_log2 & 0x3u);
  words[5] |= (sram_addr & 0xffffffu);
  words[6] |= value;
  words[7] |= (n0 & 0xffffu);
  words[7] |= (n1 & 0xffffu) << 16;
  words[8] |= (n2 & 0xffffu);
  words[8] |= (n3 & 0xffffu) << 16;
  words[9] |= (t0 & 0xffffffu);
  words[10] |= (t1 & 0xffffffu);
  words[11] |= (t2 & 0xffffffu);
  words[12] |= (t3 & 0xffffffu);
}

absl::StatusOr<Fill> Fill::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[4]);
  if (!status.ok()) return status;
  Fill r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  r.elem_log2 = words[4] & 0x3u;
  r.sram_addr = words[5] & 0xffffffu;
  r.value = words[6];
  r.n0 = words[7] & 0xffffu;
  r.n1 = (words[7] >> 16) & 0xffffu;
  r.n2 = words[8] & 0xffffu;
  r.n3 = (words[8] >> 16) & 0xffffu;
  r.t0 = words[9] & 0xffffffu;
  r.t1 = words[10] & 0xffffffu;
  r.t2 = words[11] & 0xffffffu;
  r.t3 = words[12] & 0xffffffu;
  return r;
}

absl::Status Fill::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("fill", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("fill", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("fill", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("fill", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("fill", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("fill", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("fill", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("fill", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("fill", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("fill", "signal1_point");
  if (elem_log2 != (words[4] & 0x3u)) return DoesNotFit("fill", "elem_log2");
  if (sram_addr != (words[5] & 0xffffffu)) return DoesNotFit("fill", "sram_addr");
  if (n0 != (words[7] & 0xffffu)) return DoesNotFit("fill", "n0");
  if (n1 != ((words[7] >> 16) & 0xffffu)) return DoesNotFit("fill", "n1");
  if (n2 != (words[8] & 0xffffu)) return DoesNotFit("fill", "n2");
  if (n3 != ((words[8] >> 16) & 0xffffu)) return DoesNotFit("fill", "n3");
  if (t0 != (words[9] & 0xffffffu)) return DoesNotFit("fill", "t0");
  if (t1 != (words[10] & 0xffffffu)) return DoesNotFit("fill", "t1");
  if (t2 != (words[11] & 0xffffffu)) return DoesNotFit("fill", "t2");
  if (t3 != (words[12] & 0xffffffu)) return DoesNotFit("fill", "t3");
  return CheckCommand(words, kWords);
}

std::string Fill::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[4]);
}

bool operator==(const Fill& a, const Fill& b) {
  uint32_t wa[Fill::kWords], wb[Fill::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void LoadGather::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x12u & 0xffu);
  words[0] |= (0xcu & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
  words[4] |= (region & 0xfu);
  words[4] |= (elem_log2 & 0x7u) << 4;
  words[5] |= dram_offset;
  words[6] |= (sram_addr & 0xffffffu);
  words[7] |= (n0 & 0xffffu);
  words[7] |= (count & 0xffffu) << 16;
  words[8] |= (index_addr & 0xffffffu);
  words[9] |= bound;
  words[10] |= s1;
  words[11] |= (t1 & 0xffffffu);
}

absl::StatusOr<LoadGather> LoadGather::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[5]);
  if (!status.ok()) return status;
  LoadGather r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  r.region = words[4] & 0xfu;
  r.elem_log2 = (words[4] >> 4) & 0x7u;
  r.dram_offset = words[5];
  r.sram_addr = words[6] & 0xffffffu;
  r.n0 = words[7] & 0xffffu;
  r.count = (words[7] >> 16) & 0xffffu;
  r.index_addr = words[8] & 0xffffffu;
  r.bound = words[9];
  r.s1 = words[10];
  r.t1 = words[11] & 0xffffffu;
  return r;
}

absl::Status LoadGather::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("load.gather", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("load.gather", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("load.gather", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("load.gather", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("load.gather", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("load.gather", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("load.gather", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("load.gather", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("load.gather", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("load.gather", "signal1_point");
  if (region != (words[4] & 0xfu)) return DoesNotFit("load.gather", "region");
  if (elem_log2 != ((words[4] >> 4) & 0x7u)) return DoesNotFit("load.gather", "elem_log2");
  if (sram_addr != (words[6] & 0xffffffu)) return DoesNotFit("load.gather", "sram_addr");
  if (n0 != (words[7] & 0xffffu)) return DoesNotFit("load.gather", "n0");
  if (count != ((words[7] >> 16) & 0xffffu)) return DoesNotFit("load.gather", "count");
  if (index_addr != (words[8] & 0xffffffu)) return DoesNotFit("load.gather", "index_addr");
  if (t1 != (words[11] & 0xffffffu)) return DoesNotFit("load.gather", "t1");
  return CheckCommand(words, kWords);
}

std::string LoadGather::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[5]);
}

bool operator==(const LoadGather& a, const LoadGather& b) {
  uint32_t wa[LoadGather::kWords], wb[LoadGather::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void SyncLoad::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x13u & 0xffu);
  words[0] |= (0x4u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
}

absl::StatusOr<SyncLoad> SyncLoad::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[6]);
  if (!status.ok()) return status;
  SyncLoad r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  return r;
}

absl::Status SyncLoad::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("sync.load", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("sync.load", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("sync.load", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("sync.load", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("sync.load", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("sync.load", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("sync.load", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("sync.load", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("sync.load", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("sync.load", "signal1_point");
  return CheckCommand(words, kWords);
}

std::string SyncLoad::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[6]);
}

bool operator==(const SyncLoad& a, const SyncLoad& b) {
  uint32_t wa[SyncLoad::kWords], wb[SyncLoad::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void Store::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x20u & 0xffu);
  words[0] |= (0x14u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
  words[4] |= (region & 0xfu);
  words[4] |= (elem_log2 & 0x7u) << 4;
  words[5] |= dram_offset;
  words[6] |= (sram_addr & 0xffffffu);
  words[7] |= (n0 & 0xffffu);
  words[7] |= (n1 & 0xffffu) << 16;
  words[8] |= (n2 & 0xffffu);
  words[8] |= (n3 & 0xffffu) << 16;
  words[9] |= s0;
  words[10] |= s1;
  words[11] |= s2;
  words[12] |= s3;
  words[13] |= (t0 & 0xffffffu);
  words[14] |= (t1 & 0xffffffu);
  words[15] |= (t2 & 0xffffffu);
  words[16] |= (t3 & 0xffffffu);
}

absl::StatusOr<Store> Store::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[7]);
  if (!status.ok()) return status;
  Store r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  r.region = words[4] & 0xfu;
  r.elem_log2 = (words[4] >> 4) & 0x7u;
  r.dram_offset = words[5];
  r.sram_addr = words[6] & 0xffffffu;
  r.n0 = words[7] & 0xffffu;
  r.n1 = (words[7] >> 16) & 0xffffu;
  r.n2 = words[8] & 0xffffu;
  r.n3 = (words[8] >> 16) & 0xffffu;
  r.s0 = words[9];
  r.s1 = words[10];
  r.s2 = words[11];
  r.s3 = words[12];
  r.t0 = words[13] & 0xffffffu;
  r.t1 = words[14] & 0xffffffu;
  r.t2 = words[15] & 0xffffffu;
  r.t3 = words[16] & 0xffffffu;
  return r;
}

absl::Status Store::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("store", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("store", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("store", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("store", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("store", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("store", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("store", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("store", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("store", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("store", "signal1_point");
  if (region != (words[4] & 0xfu)) return DoesNotFit("store", "region");
  if (elem_log2 != ((words[4] >> 4) & 0x7u)) return DoesNotFit("store", "elem_log2");
  if (sram_addr != (words[6] & 0xffffffu)) return DoesNotFit("store", "sram_addr");
  if (n0 != (words[7] & 0xffffu)) return DoesNotFit("store", "n0");
  if (n1 != ((words[7] >> 16) & 0xffffu)) return DoesNotFit("store", "n1");
  if (n2 != (words[8] & 0xffffu)) return DoesNotFit("store", "n2");
  if (n3 != ((words[8] >> 16) & 0xffffu)) return DoesNotFit("store", "n3");
  if (t0 != (words[13] & 0xffffffu)) return DoesNotFit("store", "t0");
  if (t1 != (words[14] & 0xffffffu)) return DoesNotFit("store", "t1");
  if (t2 != (words[15] & 0xffffffu)) return DoesNotFit("store", "t2");
  if (t3 != (words[16] & 0xffffffu)) return DoesNotFit("store", "t3");
  return CheckCommand(words, kWords);
}

std::string Store::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[7]);
}

bool operator==(const Store& a, const Store& b) {
  uint32_t wa[Store::kWords], wb[Store::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void StoreScatter::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x21u & 0xffu);
  words[0] |= (0xcu & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
  words[4] |= (region & 0xfu);
  words[4] |= (elem_log2 & 0x7u) << 4;
  words[5] |= dram_offset;
  words[6] |= (sram_addr & 0xffffffu);
  words[7] |= (n0 & 0xffffu);
  words[7] |= (count & 0xffffu) << 16;
  words[8] |= (index_addr & 0xffffffu);
  words[9] |= bound;
  words[10] |= s1;
  words[11] |= (t1 & 0xffffffu);
}

absl::StatusOr<StoreScatter> StoreScatter::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[8]);
  if (!status.ok()) return status;
  StoreScatter r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  r.region = words[4] & 0xfu;
  r.elem_log2 = (words[4] >> 4) & 0x7u;
  r.dram_offset = words[5];
  r.sram_addr = words[6] & 0xffffffu;
  r.n0 = words[7] & 0xffffu;
  r.count = (words[7] >> 16) & 0xffffu;
  r.index_addr = words[8] & 0xffffffu;
  r.bound = words[9];
  r.s1 = words[10];
  r.t1 = words[11] & 0xffffffu;
  return r;
}

absl::Status StoreScatter::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("store.scatter", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("store.scatter", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("store.scatter", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("store.scatter", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("store.scatter", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("store.scatter", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("store.scatter", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("store.scatter", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("store.scatter", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("store.scatter", "signal1_point");
  if (region != (words[4] & 0xfu)) return DoesNotFit("store.scatter", "region");
  if (elem_log2 != ((words[4] >> 4) & 0x7u)) return DoesNotFit("store.scatter", "elem_log2");
  if (sram_addr != (words[6] & 0xffffffu)) return DoesNotFit("store.scatter", "sram_addr");
  if (n0 != (words[7] & 0xffffu)) return DoesNotFit("store.scatter", "n0");
  if (count != ((words[7] >> 16) & 0xffffu)) return DoesNotFit("store.scatter", "count");
  if (index_addr != (words[8] & 0xffffffu)) return DoesNotFit("store.scatter", "index_addr");
  if (t1 != (words[11] & 0xffffffu)) return DoesNotFit("store.scatter", "t1");
  return CheckCommand(words, kWords);
}

std::string StoreScatter::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[8]);
}

bool operator==(const StoreScatter& a, const StoreScatter& b) {
  uint32_t wa[StoreScatter::kWords], wb[StoreScatter::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void SyncStore::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x22u & 0xffu);
  words[0] |= (0x4u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
}

absl::StatusOr<SyncStore> SyncStore::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[9]);
  if (!status.ok()) return status;
  SyncStore r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  return r;
}

absl::Status SyncStore::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("sync.store", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("sync.store", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("sync.store", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("sync.store", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("sync.store", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("sync.store", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("sync.store", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("sync.store", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("sync.store", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("sync.store", "signal1_point");
  return CheckCommand(words, kWords);
}

std::string SyncStore::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[9]);
}

bool operator==(const SyncStore& a, const SyncStore& b) {
  uint32_t wa[SyncStore::kWords], wb[SyncStore::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void Conv::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x30u & 0xffu);
  words[0] |= (0x28u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
  words[4] |= (static_cast<uint32_t>(mode) & 0x3u);
  words[4] |= (static_cast<uint32_t>(in_signed) & 0x1u) << 2;
  words[4] |= (static_cast<uint32_t>(w_signed) & 0x1u) << 3;
  words[4] |= (static_cast<uint32_t>(w_mode) & 0x3u) << 4;
  words[4] |= (static_cast<uint32_t>(out_type) & 0x3u) << 6;
  words[4] |= (static_cast<uint32_t>(acc_continue) & 0x1u) << 8;
  words[4] |= (static_cast<uint32_t>(acc_hold) & 0x1u) << 9;
  words[4] |= (static_cast<uint32_t>(bias_f32) & 0x1u) << 10;
  words[4] |= (static_cast<uint32_t>(zw_channel) & 0x1u) << 11;
  words[4] |= (static_cast<uint32_t>(lut) & 0x1u) << 12;
  words[4] |= (static_cast<uint32_t>(res_op) & 0x3u) << 13;
  words[4] |= (static_cast<uint32_t>(res_signed) & 0x1u) << 15;
  words[4] |= (static_cast<uint32_t>(res_first) & 0x1u) << 16;
  words[4] |= (static_cast<uint32_t>(pool) & 0x3u) << 17;
  words[4] |= (fold_channels & 0xfu) << 19;
  words[5] |= (in_addr & 0xfffffu);
  words[6] |= (in_pitch & 0xffffu);
  words[6] |= (in_xstep & 0xffu) << 16;
  words[7] |= (in_plane & 0xfffffu);
  words[8] |= (ih & 0xffffu);
  words[8] |= (iw & 0xffffu) << 16;
  words[9] |= (in_row0 & 0xffffu);
  words[9] |= (in_wrap & 0xffffu) << 16;
  words[10] |= (out_addr & 0xfffffu);
  words[11] |= (out_pitch & 0xffffu);
  words[11] |= (out_xstep & 0xffu) << 16;
  words[12] |= (out_plane & 0xfffffu);
  words[13] |= (ow & 0xffffu);
  words[13] |= (out_rows & 0xffffu) << 16;
  words[14] |= (out_row0 & 0xffffu);
  words[14] |= (out_wrap & 0xffffu) << 16;
  words[15] |= (kh & 0xffu);
  words[15] |= (kw & 0xffu) << 8;
  words[15] |= (sy & 0xfu) << 16;
  words[15] |= (sx & 0xfu) << 20;
  words[16] |= (dy & 0xffu);
  words[16] |= (dx & 0xffu) << 8;
  words[17] |= (static_cast<uint32_t>(pad_top) & 0xffffu);
  words[17] |= (static_cast<uint32_t>(pad_left) & 0xffffu) << 16;
  words[18] |= (ci & 0xffffu);
  words[18] |= (co & 0xffffu) << 16;
  words[19] |= (w_addr & 0xfffffu);
  words[20] |= (w_plane & 0xfffffu);
  words[21] |= (w_step & 0xfffffu);
  words[22] |= (param_addr & 0xfffffu);
  words[23] |= (static_cast<uint32_t>(za) & 0xffffu);
  words[23] |= (static_cast<uint32_t>(zw) & 0xffffu) << 16;
  words[24] |= (static_cast<uint32_t>(zo) & 0xffffu);
  words[25] |= (static_cast<uint32_t>(act_min) & 0xffffu);
  words[25] |= (static_cast<uint32_t>(act_max) & 0xffffu) << 16;
  words[26] |= (lut_addr & 0xfffffu);
  words[27] |= (res_addr & 0xfffffu);
  words[28] |= (res_pitch & 0xffffu);
  words[28] |= (res_wrap & 0xffffu) << 16;
  words[29] |= (res_plane & 0xfffffu);
  words[30] = FloatBits(res_a);
  words[31] = FloatBits(res_b);
  words[32] = FloatBits(res_k);
  words[33] |= (static_cast<uint32_t>(res_zero) & 0xffffu);
  words[33] |= (static_cast<uint32_t>(mid_zero) & 0xffffu) << 16;
  words[34] |= (static_cast<uint32_t>(res_min) & 0xffffu);
  words[34] |= (static_cast<uint32_t>(res_max) & 0xffffu) << 16;
  words[35] |= (pool_k & 0xfu);
  words[35] |= (pool_s & 0xfu) << 4;
  words[35] |= (pool_pad & 0xfu) << 8;
  words[36] |= (pool_oh & 0xffffu);
  words[36] |= (pool_ow & 0xffffu) << 16;
  words[37] |= (pool_row0 & 0xffffu);
  words[38] = FloatBits(pool_scale);
  words[39] |= (static_cast<uint32_t>(pool_zero_in) & 0xffffu);
  words[39] |= (static_cast<uint32_t>(pool_zero_out) & 0xffffu) << 16;
}

absl::StatusOr<Conv> Conv::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[10]);
  if (!status.ok()) return status;
  Conv r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  r.mode = static_cast<MatrixMode>(words[4] & 0x3u);
  r.in_signed = ((words[4] >> 2) & 0x1u) != 0;
  r.w_signed = ((words[4] >> 3) & 0x1u) != 0;
  r.w_mode = static_cast<WeightMode>((words[4] >> 4) & 0x3u);
  r.out_type = static_cast<OutType>((words[4] >> 6) & 0x3u);
  r.acc_continue = ((words[4] >> 8) & 0x1u) != 0;
  r.acc_hold = ((words[4] >> 9) & 0x1u) != 0;
  r.bias_f32 = ((words[4] >> 10) & 0x1u) != 0;
  r.zw_channel = ((words[4] >> 11) & 0x1u) != 0;
  r.lut = ((words[4] >> 12) & 0x1u) != 0;
  r.res_op = static_cast<ResidualOp>((words[4] >> 13) & 0x3u);
  r.res_signed = ((words[4] >> 15) & 0x1u) != 0;
  r.res_first = ((words[4] >> 16) & 0x1u) != 0;
  r.pool = static_cast<PoolKind>((words[4] >> 17) & 0x3u);
  r.fold_channels = (words[4] >> 19) & 0xfu;
  r.in_addr = words[5] & 0xfffffu;
  r.in_pitch = words[6] & 0xffffu;
  r.in_xstep = (words[6] >> 16) & 0xffu;
  r.in_plane = words[7] & 0xfffffu;
  r.ih = words[8] & 0xffffu;
  r.iw = (words[8] >> 16) & 0xffffu;
  r.in_row0 = words[9] & 0xffffu;
  r.in_wrap = (words[9] >> 16) & 0xffffu;
  r.out_addr = words[10] & 0xfffffu;
  r.out_pitch = words[11] & 0xffffu;
  r.out_xstep = (words[11] >> 16) & 0xffu;
  r.out_plane = words[12] & 0xfffffu;
  r.ow = words[13] & 0xffffu;
  r.out_rows = (words[13] >> 16) & 0xffffu;
  r.out_row0 = words[14] & 0xffffu;
  r.out_wrap = (words[14] >> 16) & 0xffffu;
  r.kh = words[15] & 0xffu;
  r.kw = (words[15] >> 8) & 0xffu;
  r.sy = (words[15] >> 16) & 0xfu;
  r.sx = (words[15] >> 20) & 0xfu;
  r.dy = words[16] & 0xffu;
  r.dx = (words[16] >> 8) & 0xffu;
  r.pad_top = SignExtend(words[17], 16);
  r.pad_left = SignExtend(words[17] >> 16, 16);
  r.ci = words[18] & 0xffffu;
  r.co = (words[18] >> 16) & 0xffffu;
  r.w_addr = words[19] & 0xfffffu;
  r.w_plane = words[20] & 0xfffffu;
  r.w_step = words[21] & 0xfffffu;
  r.param_addr = words[22] & 0xfffffu;
  r.za = SignExtend(words[23], 16);
  r.zw = SignExtend(words[23] >> 16, 16);
  r.zo = SignExtend(words[24], 16);
  r.act_min = SignExtend(words[25], 16);
  r.act_max = SignExtend(words[25] >> 16, 16);
  r.lut_addr = words[26] & 0xfffffu;
  r.res_addr = words[27] & 0xfffffu;
  r.res_pitch = words[28] & 0xffffu;
  r.res_wrap = (words[28] >> 16) & 0xffffu;
  r.res_plane = words[29] & 0xfffffu;
  r.res_a = BitsFloat(words[30]);
  r.res_b = BitsFloat(words[31]);
  r.res_k = BitsFloat(words[32]);
  r.res_zero = SignExtend(words[33], 16);
  r.mid_zero = SignExtend(words[33] >> 16, 16);
  r.res_min = SignExtend(words[34], 16);
  r.res_max = SignExtend(words[34] >> 16, 16);
  r.pool_k = words[35] & 0xfu;
  r.pool_s = (words[35] >> 4) & 0xfu;
  r.pool_pad = (words[35] >> 8) & 0xfu;
  r.pool_oh = words[36] & 0xffffu;
  r.pool_ow = (words[36] >> 16) & 0xffffu;
  r.pool_row0 = words[37] & 0xffffu;
  r.pool_scale = BitsFloat(words[38]);
  r.pool_zero_in = SignExtend(words[39], 16);
  r.pool_zero_out = SignExtend(words[39] >> 16, 16);
  return r;
}

absl::Status Conv::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("conv", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("conv", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("conv", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("conv", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("conv", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("conv", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("conv", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("conv", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("conv", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("conv", "signal1_point");
  if (mode != (static_cast<MatrixMode>(words[4] & 0x3u))) return DoesNotFit("conv", "mode");
  if (w_mode != (static_cast<WeightMode>((words[4] >> 4) & 0x3u))) return DoesNotFit("conv", "w_mode");
  if (out_type != (static_cast<OutType>((words[4] >> 6) & 0x3u))) return DoesNotFit("conv", "out_type");
  if (res_op != (static_cast<ResidualOp>((words[4] >> 13) & 0x3u))) return DoesNotFit("conv", "res_op");
  if (pool != (static_cast<PoolKind>((words[4] >> 17) & 0x3u))) return DoesNotFit("conv", "pool");
  if (fold_channels != ((words[4] >> 19) & 0xfu)) return DoesNotFit("conv", "fold_channels");
  if (in_addr != (words[5] & 0xfffffu)) return DoesNotFit("conv", "in_addr");
  if (in_pitch != (words[6] & 0xffffu)) return DoesNotFit("conv", "in_pitch");
  if (in_xstep != ((words[6] >> 16) & 0xffu)) return DoesNotFit("conv", "in_xstep");
  if (in_plane != (words[7] & 0xfffffu)) return DoesNotFit("conv", "in_plane");
  if (ih != (words[8] & 0xffffu)) return DoesNotFit("conv", "ih");
  if (iw != ((words[8] >> 16) & 0xffffu)) return DoesNotFit("conv", "iw");
  if (in_row0 != (words[9] & 0xffffu)) return DoesNotFit("conv", "in_row0");
  if (in_wrap != ((words[9] >> 16) & 0xffffu)) return DoesNotFit("conv", "in_wrap");
  if (out_addr != (words[10] & 0xfffffu)) return DoesNotFit("conv", "out_addr");
  if (out_pitch != (words[11] & 0xffffu)) return DoesNotFit("conv", "out_pitch");
  if (out_xstep != ((words[11] >> 16) & 0xffu)) return DoesNotFit("conv", "out_xstep");
  if (out_plane != (words[12] & 0xfffffu)) return DoesNotFit("conv", "out_plane");
  if (ow != (words[13] & 0xffffu)) return DoesNotFit("conv", "ow");
  if (out_rows != ((words[13] >> 16) & 0xffffu)) return DoesNotFit("conv", "out_rows");
  if (out_row0 != (words[14] & 0xffffu)) return DoesNotFit("conv", "out_row0");
  if (out_wrap != ((words[14] >> 16) & 0xffffu)) return DoesNotFit("conv", "out_wrap");
  if (kh != (words[15] & 0xffu)) return DoesNotFit("conv", "kh");
  if (kw != ((words[15] >> 8) & 0xffu)) return DoesNotFit("conv", "kw");
  if (sy != ((words[15] >> 16) & 0xfu)) return DoesNotFit("conv", "sy");
  if (sx != ((words[15] >> 20) & 0xfu)) return DoesNotFit("conv", "sx");
  if (dy != (words[16] & 0xffu)) return DoesNotFit("conv", "dy");
  if (dx != ((words[16] >> 8) & 0xffu)) return DoesNotFit("conv", "dx");
  if (pad_top != (SignExtend(words[17], 16))) return DoesNotFit("conv", "pad_top");
  if (pad_left != (SignExtend(words[17] >> 16, 16))) return DoesNotFit("conv", "pad_left");
  if (ci != (words[18] & 0xffffu)) return DoesNotFit("conv", "ci");
  if (co != ((words[18] >> 16) & 0xffffu)) return DoesNotFit("conv", "co");
  if (w_addr != (words[19] & 0xfffffu)) return DoesNotFit("conv", "w_addr");
  if (w_plane != (words[20] & 0xfffffu)) return DoesNotFit("conv", "w_plane");
  if (w_step != (words[21] & 0xfffffu)) return DoesNotFit("conv", "w_step");
  if (param_addr != (words[22] & 0xfffffu)) return DoesNotFit("conv", "param_addr");
  if (za != (SignExtend(words[23], 16))) return DoesNotFit("conv", "za");
  if (zw != (SignExtend(words[23] >> 16, 16))) return DoesNotFit("conv", "zw");
  if (zo != (SignExtend(words[24], 16))) return DoesNotFit("conv", "zo");
  if (act_min != (SignExtend(words[25], 16))) return DoesNotFit("conv", "act_min");
  if (act_max != (SignExtend(words[25] >> 16, 16))) return DoesNotFit("conv", "act_max");
  if (lut_addr != (words[26] & 0xfffffu)) return DoesNotFit("conv", "lut_addr");
  if (res_addr != (words[27] & 0xfffffu)) return DoesNotFit("conv", "res_addr");
  if (res_pitch != (words[28] & 0xffffu)) return DoesNotFit("conv", "res_pitch");
  if (res_wrap != ((words[28] >> 16) & 0xffffu)) return DoesNotFit("conv", "res_wrap");
  if (res_plane != (words[29] & 0xfffffu)) return DoesNotFit("conv", "res_plane");
  if (res_zero != (SignExtend(words[33], 16))) return DoesNotFit("conv", "res_zero");
  if (mid_zero != (SignExtend(words[33] >> 16, 16))) return DoesNotFit("conv", "mid_zero");
  if (res_min != (SignExtend(words[34], 16))) return DoesNotFit("conv", "res_min");
  if (res_max != (SignExtend(words[34] >> 16, 16))) return DoesNotFit("conv", "res_max");
  if (pool_k != (words[35] & 0xfu)) return DoesNotFit("conv", "pool_k");
  if (pool_s != ((words[35] >> 4) & 0xfu)) return DoesNotFit("conv", "pool_s");
  if (pool_pad != ((words[35] >> 8) & 0xfu)) return DoesNotFit("conv", "pool_pad");
  if (pool_oh != (words[36] & 0xffffu)) return DoesNotFit("conv", "pool_oh");
  if (pool_ow != ((words[36] >> 16) & 0xffffu)) return DoesNotFit("conv", "pool_ow");
  if (pool_row0 != (words[37] & 0xffffu)) return DoesNotFit("conv", "pool_row0");
  if (pool_zero_in != (SignExtend(words[39], 16))) return DoesNotFit("conv", "pool_zero_in");
  if (pool_zero_out != (SignExtend(words[39] >> 16, 16))) return DoesNotFit("conv", "pool_zero_out");
  return CheckCommand(words, kWords);
}

std::string Conv::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[10]);
}

bool operator==(const Conv& a, const Conv& b) {
  uint32_t wa[Conv::kWords], wb[Conv::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void SyncMatrix::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x31u & 0xffu);
  words[0] |= (0x4u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
}

absl::StatusOr<SyncMatrix> SyncMatrix::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[11]);
  if (!status.ok()) return status;
  SyncMatrix r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  return r;
}

absl::Status SyncMatrix::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("sync.matrix", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("sync.matrix", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("sync.matrix", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("sync.matrix", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("sync.matrix", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("sync.matrix", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("sync.matrix", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("sync.matrix", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("sync.matrix", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("sync.matrix", "signal1_point");
  return CheckCommand(words, kWords);
}

std::string SyncMatrix::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[11]);
}

bool operator==(const SyncMatrix& a, const SyncMatrix& b) {
  uint32_t wa[SyncMatrix::kWords], wb[SyncMatrix::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}


void Vrun::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x40u & 0xffu);
  words[0] |= (0x34u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
  words[4] |= (prog_addr & 0xfffffu);
  words[5] |= (prologue & 0x1ffu);
  words[5] |= (body & 0x1ffu) << 9;
  words[5] |= (epilogue & 0x1ffu) << 18;
  words[6] |= (lanes & 0xffffu);
  words[6] |= (n_r1 & 0xffffu) << 16;
  words[7] |= (n_r2 & 0xffffu);
  words[7] |= (n_r3 & 0xffffu) << 16;
  words[8] |= (n_o1 & 0xffffu);
  words[8] |= (n_o2 & 0xffffu) << 16;
  words[9] |= (n_o3 & 0xffffu);
  words[9] |= (tail & 0x1fu) << 16;
  words[10] |= (static_cast<uint32_t>(enable_a) & 0x1u);
  words[10] |= (static_cast<uint32_t>(enable_b) & 0x1u) << 1;
  words[10] |= (static_cast<uint32_t>(enable_c) & 0x1u) << 2;
  words[10] |= (static_cast<uint32_t>(store) & 0x3u) << 3;
  words[10] |= (static_cast<uint32_t>(store_one) & 0x1u) << 5;
  words[10] |= (static_cast<uint32_t>(gather_a) & 0x1u) << 6;
  words[10] |= (static_cast<uint32_t>(scatter_d) & 0x1u) << 7;
  words[10] |= (static_cast<uint32_t>(pick_a) & 0x1u) << 8;
  words[11] |= (index_stride & 0xffffffu);
  words[12] |= index_bound;
  words[13] |= arg0;
  words[14] |= arg1;
  words[15] |= arg2;
  words[16] |= arg3;
  words[20] |= (a_base & 0xffffffu);
  words[20] |= (static_cast<uint32_t>(a_type) & 0xfu) << 24;
  words[21] |= (static_cast<uint32_t>(a_lane_stride) & 0xffffffu);
  words[22] |= (static_cast<uint32_t>(a_r1_stride) & 0xffffffu);
  words[23] |= (static_cast<uint32_t>(a_r2_stride) & 0xffffffu);
  words[24] |= (static_cast<uint32_t>(a_r3_stride) & 0xffffffu);
  words[25] |= (static_cast<uint32_t>(a_o1_stride) & 0xffffffu);
  words[26] |= (static_cast<uint32_t>(a_o2_stride) & 0xffffffu);
  words[27] |= (static_cast<uint32_t>(a_o3_stride) & 0xffffffu);
  words[28] |= (b_base & 0xffffffu);
  words[28] |= (static_cast<uint32_t>(b_type) & 0xfu) << 24;
  words[29] |= (static_cast<uint32_t>(b_lane_stride) & 0xffffffu);
  words[30] |= (static_cast<uint32_t>(b_r1_stride) & 0xffffffu);
  words[31] |= (static_cast<uint32_t>(b_r2_stride) & 0xffffffu);
  words[32] |= (static_cast<uint32_t>(b_r3_stride) & 0xffffffu);
  words[33] |= (static_cast<uint32_t>(b_o1_stride) & 0xffffffu);
  words[34] |= (static_cast<uint32_t>(b_o2_stride) & 0xffffffu);
  words[35] |= (static_cast<uint32_t>(b_o3_stride) & 0xffffffu);
  words[36] |= (c_base & 0xffffffu);
  words[36] |= (static_cast<uint32_t>(c_type) & 0xfu) << 24;
  words[37] |= (static_cast<uint32_t>(c_lane_stride) & 0xffffffu);
  words[38] |= (static_cast<uint32_t>(c_r1_stride) & 0xffffffu);
  words[39] |= (static_cast<uint32_t>(c_r2_stride) & 0xffffffu);
  words[40] |= (static_cast<uint32_t>(c_r3_stride) & 0xffffffu);
  words[41] |= (static_cast<uint32_t>(c_o1_stride) & 0xffffffu);
  words[42] |= (static_cast<uint32_t>(c_o2_stride) & 0xffffffu);
  words[43] |= (static_cast<uint32_t>(c_o3_stride) & 0xffffffu);
  words[44] |= (d_base & 0xffffffu);
  words[44] |= (static_cast<uint32_t>(d_type) & 0xfu) << 24;
  words[45] |= (static_cast<uint32_t>(d_lane_stride) & 0xffffffu);
  words[46] |= (static_cast<uint32_t>(d_r1_stride) & 0xffffffu);
  words[47] |= (static_cast<uint32_t>(d_r2_stride) & 0xffffffu);
  words[48] |= (static_cast<uint32_t>(d_r3_stride) & 0xffffffu);
  words[49] |= (static_cast<uint32_t>(d_o1_stride) & 0xffffffu);
  words[50] |= (static_cast<uint32_t>(d_o2_stride) & 0xffffffu);
  words[51] |= (static_cast<uint32_t>(d_o3_stride) & 0xffffffu);
}

absl::StatusOr<Vrun> Vrun::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[12]);
  if (!status.ok()) return status;
  Vrun r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  r.prog_addr = words[4] & 0xfffffu;
  r.prologue = words[5] & 0x1ffu;
  r.body = (words[5] >> 9) & 0x1ffu;
  r.epilogue = (words[5] >> 18) & 0x1ffu;
  r.lanes = words[6] & 0xffffu;
  r.n_r1 = (words[6] >> 16) & 0xffffu;
  r.n_r2 = words[7] & 0xffffu;
  r.n_r3 = (words[7] >> 16) & 0xffffu;
  r.n_o1 = words[8] & 0xffffu;
  r.n_o2 = (words[8] >> 16) & 0xffffu;
  r.n_o3 = words[9] & 0xffffu;
  r.tail = (words[9] >> 16) & 0x1fu;
  r.enable_a = (words[10] & 0x1u) != 0;
  r.enable_b = ((words[10] >> 1) & 0x1u) != 0;
  r.enable_c = ((words[10] >> 2) & 0x1u) != 0;
  r.store = static_cast<StoreMode>((words[10] >> 3) & 0x3u);
  r.store_one = ((words[10] >> 5) & 0x1u) != 0;
  r.gather_a = ((words[10] >> 6) & 0x1u) != 0;
  r.scatter_d = ((words[10] >> 7) & 0x1u) != 0;
  r.pick_a = ((words[10] >> 8) & 0x1u) != 0;
  r.index_stride = words[11] & 0xffffffu;
  r.index_bound = words[12];
  r.arg0 = words[13];
  r.arg1 = words[14];
  r.arg2 = words[15];
  r.arg3 = words[16];
  r.a_base = words[20] & 0xffffffu;
  r.a_type = static_cast<ElementType>((words[20] >> 24) & 0xfu);
  r.a_lane_stride = SignExtend(words[21], 24);
  r.a_r1_stride = SignExtend(words[22], 24);
  r.a_r2_stride = SignExtend(words[23], 24);
  r.a_r3_stride = SignExtend(words[24], 24);
  r.a_o1_stride = SignExtend(words[25], 24);
  r.a_o2_stride = SignExtend(words[26], 24);
  r.a_o3_stride = SignExtend(words[27], 24);
  r.b_base = words[28] & 0xffffffu;
  r.b_type = static_cast<ElementType>((words[28] >> 24) & 0xfu);
  r.b_lane_stride = SignExtend(words[29], 24);
  r.b_r1_stride = SignExtend(words[30], 24);
  r.b_r2_stride = SignExtend(words[31], 24);
  r.b_r3_stride = SignExtend(words[32], 24);
  r.b_o1_stride = SignExtend(words[33], 24);
  r.b_o2_stride = SignExtend(words[34], 24);
  r.b_o3_stride = SignExtend(words[35], 24);
  r.c_base = words[36] & 0xffffffu;
  r.c_type = static_cast<ElementType>((words[36] >> 24) & 0xfu);
  r.c_lane_stride = SignExtend(words[37], 24);
  r.c_r1_stride = SignExtend(words[38], 24);
  r.c_r2_stride = SignExtend(words[39], 24);
  r.c_r3_stride = SignExtend(words[40], 24);
  r.c_o1_stride = SignExtend(words[41], 24);
  r.c_o2_stride = SignExtend(words[42], 24);
  r.c_o3_stride = SignExtend(words[43], 24);
  r.d_base = words[44] & 0xffffffu;
  r.d_type = static_cast<ElementType>((words[44] >> 24) & 0xfu);
  r.d_lane_stride = SignExtend(words[45], 24);
  r.d_r1_stride = SignExtend(words[46], 24);
  r.d_r2_stride = SignExtend(words[47], 24);
  r.d_r3_stride = SignExtend(words[48], 24);
  r.d_o1_stride = SignExtend(words[49], 24);
  r.d_o2_stride = SignExtend(words[50], 24);
  r.d_o3_stride = SignExtend(words[51], 24);
  return r;
}

absl::Status Vrun::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("vrun", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("vrun", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("vrun", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("vrun", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("vrun", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("vrun", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("vrun", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("vrun", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("vrun", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("vrun", "signal1_point");
  if (prog_addr != (words[4] & 0xfffffu)) return DoesNotFit("vrun", "prog_addr");
  if (prologue != (words[5] & 0x1ffu)) return DoesNotFit("vrun", "prologue");
  if (body != ((words[5] >> 9) & 0x1ffu)) return DoesNotFit("vrun", "body");
  if (epilogue != ((words[5] >> 18) & 0x1ffu)) return DoesNotFit("vrun", "epilogue");
  if (lanes != (words[6] & 0xffffu)) return DoesNotFit("vrun", "lanes");
  if (n_r1 != ((words[6] >> 16) & 0xffffu)) return DoesNotFit("vrun", "n_r1");
  if (n_r2 != (words[7] & 0xffffu)) return DoesNotFit("vrun", "n_r2");
  if (n_r3 != ((words[7] >> 16) & 0xffffu)) return DoesNotFit("vrun", "n_r3");
  if (n_o1 != (words[8] & 0xffffu)) return DoesNotFit("vrun", "n_o1");
  if (n_o2 != ((words[8] >> 16) & 0xffffu)) return DoesNotFit("vrun", "n_o2");
  if (n_o3 != (words[9] & 0xffffu)) return DoesNotFit("vrun", "n_o3");
  if (tail != ((words[9] >> 16) & 0x1fu)) return DoesNotFit("vrun", "tail");
  if (store != (static_cast<StoreMode>((words[10] >> 3) & 0x3u))) return DoesNotFit("vrun", "store");
  if (index_stride != (words[11] & 0xffffffu)) return DoesNotFit("vrun", "index_stride");
  if (a_base != (words[20] & 0xffffffu)) return DoesNotFit("vrun", "a_base");
  if (a_type != (static_cast<ElementType>((words[20] >> 24) & 0xfu))) return DoesNotFit("vrun", "a_type");
  if (a_lane_stride != (SignExtend(words[21], 24))) return DoesNotFit("vrun", "a_lane_stride");
  if (a_r1_stride != (SignExtend(words[22], 24))) return DoesNotFit("vrun", "a_r1_stride");
  if (a_r2_stride != (SignExtend(words[23], 24))) return DoesNotFit("vrun", "a_r2_stride");
  if (a_r3_stride != (SignExtend(words[24], 24))) return DoesNotFit("vrun", "a_r3_stride");
  if (a_o1_stride != (SignExtend(words[25], 24))) return DoesNotFit("vrun", "a_o1_stride");
  if (a_o2_stride != (SignExtend(words[26], 24))) return DoesNotFit("vrun", "a_o2_stride");
  if (a_o3_stride != (SignExtend(words[27], 24))) return DoesNotFit("vrun", "a_o3_stride");
  if (b_base != (words[28] & 0xffffffu)) return DoesNotFit("vrun", "b_base");
  if (b_type != (static_cast<ElementType>((words[28] >> 24) & 0xfu))) return DoesNotFit("vrun", "b_type");
  if (b_lane_stride != (SignExtend(words[29], 24))) return DoesNotFit("vrun", "b_lane_stride");
  if (b_r1_stride != (SignExtend(words[30], 24))) return DoesNotFit("vrun", "b_r1_stride");
  if (b_r2_stride != (SignExtend(words[31], 24))) return DoesNotFit("vrun", "b_r2_stride");
  if (b_r3_stride != (SignExtend(words[32], 24))) return DoesNotFit("vrun", "b_r3_stride");
  if (b_o1_stride != (SignExtend(words[33], 24))) return DoesNotFit("vrun", "b_o1_stride");
  if (b_o2_stride != (SignExtend(words[34], 24))) return DoesNotFit("vrun", "b_o2_stride");
  if (b_o3_stride != (SignExtend(words[35], 24))) return DoesNotFit("vrun", "b_o3_stride");
  if (c_base != (words[36] & 0xffffffu)) return DoesNotFit("vrun", "c_base");
  if (c_type != (static_cast<ElementType>((words[36] >> 24) & 0xfu))) return DoesNotFit("vrun", "c_type");
  if (c_lane_stride != (SignExtend(words[37], 24))) return DoesNotFit("vrun", "c_lane_stride");
  if (c_r1_stride != (SignExtend(words[38], 24))) return DoesNotFit("vrun", "c_r1_stride");
  if (c_r2_stride != (SignExtend(words[39], 24))) return DoesNotFit("vrun", "c_r2_stride");
  if (c_r3_stride != (SignExtend(words[40], 24))) return DoesNotFit("vrun", "c_r3_stride");
  if (c_o1_stride != (SignExtend(words[41], 24))) return DoesNotFit("vrun", "c_o1_stride");
  if (c_o2_stride != (SignExtend(words[42], 24))) return DoesNotFit("vrun", "c_o2_stride");
  if (c_o3_stride != (SignExtend(words[43], 24))) return DoesNotFit("vrun", "c_o3_stride");
  if (d_base != (words[44] & 0xffffffu)) return DoesNotFit("vrun", "d_base");
  if (d_type != (static_cast<ElementType>((words[44] >> 24) & 0xfu))) return DoesNotFit("vrun", "d_type");
  if (d_lane_stride != (SignExtend(words[45], 24))) return DoesNotFit("vrun", "d_lane_stride");
  if (d_r1_stride != (SignExtend(words[46], 24))) return DoesNotFit("vrun", "d_r1_stride");
  if (d_r2_stride != (SignExtend(words[47], 24))) return DoesNotFit("vrun", "d_r2_stride");
  if (d_r3_stride != (SignExtend(words[48], 24))) return DoesNotFit("vrun", "d_r3_stride");
  if (d_o1_stride != (SignExtend(words[49], 24))) return DoesNotFit("vrun", "d_o1_stride");
  if (d_o2_stride != (SignExtend(words[50], 24))) return DoesNotFit("vrun", "d_o2_stride");
  if (d_o3_stride != (SignExtend(words[51], 24))) return DoesNotFit("vrun", "d_o3_stride");
  return CheckCommand(words, kWords);
}

std::string Vrun::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[12]);
}

bool operator==(const Vrun& a, const Vrun& b) {
  uint32_t wa[Vrun::kWords], wb[Vrun::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}

Stream Vrun::GetA() const {
  Stream r;
  r.base = a_base;
  r.type = a_type;
  r.lane_stride = a_lane_stride;
  r.r1_stride = a_r1_stride;
  r.r2_stride = a_r2_stride;
  r.r3_stride = a_r3_stride;
  r.o1_stride = a_o1_stride;
  r.o2_stride = a_o2_stride;
  r.o3_stride = a_o3_stride;
  return r;
}

void Vrun::SetA(const Stream& value) {
  a_base = value.base;
  a_type = value.type;
  a_lane_stride = value.lane_stride;
  a_r1_stride = value.r1_stride;
  a_r2_stride = value.r2_stride;
  a_r3_stride = value.r3_stride;
  a_o1_stride = value.o1_stride;
  a_o2_stride = value.o2_stride;
  a_o3_stride = value.o3_stride;
}

Stream Vrun::GetB() const {
  Stream r;
  r.base = b_base;
  r.type = b_type;
  r.lane_stride = b_lane_stride;
  r.r1_stride = b_r1_stride;
  r.r2_stride = b_r2_stride;
  r.r3_stride = b_r3_stride;
  r.o1_stride = b_o1_stride;
  r.o2_stride = b_o2_stride;
  r.o3_stride = b_o3_stride;
  return r;
}

void Vrun::SetB(const Stream& value) {
  b_base = value.base;
  b_type = value.type;
  b_lane_stride = value.lane_stride;
  b_r1_stride = value.r1_stride;
  b_r2_stride = value.r2_stride;
  b_r3_stride = value.r3_stride;
  b_o1_stride = value.o1_stride;
  b_o2_stride = value.o2_stride;
  b_o3_stride = value.o3_stride;
}

Stream Vrun::GetC() const {
  Stream r;
  r.base = c_base;
  r.type = c_type;
  r.lane_stride = c_lane_stride;
  r.r1_stride = c_r1_stride;
  r.r2_stride = c_r2_stride;
  r.r3_stride = c_r3_stride;
  r.o1_stride = c_o1_stride;
  r.o2_stride = c_o2_stride;
  r.o3_stride = c_o3_stride;
  return r;
}

void Vrun::SetC(const Stream& value) {
  c_base = value.base;
  c_type = value.type;
  c_lane_stride = value.lane_stride;
  c_r1_stride = value.r1_stride;
  c_r2_stride = value.r2_stride;
  c_r3_stride = value.r3_stride;
  c_o1_stride = value.o1_stride;
  c_o2_stride = value.o2_stride;
  c_o3_stride = value.o3_stride;
}

Stream Vrun::GetD() const {
  Stream r;
  r.base = d_base;
  r.type = d_type;
  r.lane_stride = d_lane_stride;
  r.r1_stride = d_r1_stride;
  r.r2_stride = d_r2_stride;
  r.r3_stride = d_r3_stride;
  r.o1_stride = d_o1_stride;
  r.o2_stride = d_o2_stride;
  r.o3_stride = d_o3_stride;
  return r;
}

void Vrun::SetD(const Stream& value) {
  d_base = value.base;
  d_type = value.type;
  d_lane_stride = value.lane_stride;
  d_r1_stride = value.r1_stride;
  d_r2_stride = value.r2_stride;
  d_r3_stride = value.r3_stride;
  d_o1_stride = value.o1_stride;
  d_o2_stride = value.o2_stride;
  d_o3_stride = value.o3_stride;
}


void Vmac::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x41u & 0xffu);
  words[0] |= (0x34u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
  words[6] |= (lanes & 0xffffu);
  words[6] |= (n_r1 & 0xffffu) << 16;
  words[7] |= (n_r2 & 0xffffu);
  words[7] |= (n_r3 & 0xffffu) << 16;
  words[8] |= (n_o1 & 0xffffu);
  words[8] |= (n_o2 & 0xffffu) << 16;
  words[9] |= (n_o3 & 0xffffu);
  words[10] |= (static_cast<uint32_t>(initial) & 0x1u);
  words[10] |= (static_cast<uint32_t>(clamp) & 0x1u) << 1;
  words[13] = FloatBits(clamp_min);
  words[14] = FloatBits(clamp_max);
  words[20] |= (a_base & 0xffffffu);
  words[20] |= (static_cast<uint32_t>(a_type) & 0xfu) << 24;
  words[21] |= (static_cast<uint32_t>(a_lane_stride) & 0xffffffu);
  words[22] |= (static_cast<uint32_t>(a_r1_stride) & 0xffffffu);
  words[23] |= (static_cast<uint32_t>(a_r2_stride) & 0xffffffu);
  words[24] |= (static_cast<uint32_t>(a_r3_stride) & 0xffffffu);
  words[25] |= (static_cast<uint32_t>(a_o1_stride) & 0xffffffu);
  words[26] |= (static_cast<uint32_t>(a_o2_stride) & 0xffffffu);
  words[27] |= (static_cast<uint32_t>(a_o3_stride) & 0xffffffu);
  words[28] |= (b_base & 0xffffffu);
  words[28] |= (static_cast<uint32_t>(b_type) & 0xfu) << 24;
  words[29] |= (static_cast<uint32_t>(b_lane_stride) & 0xffffffu);
  words[30] |= (static_cast<uint32_t>(b_r1_stride) & 0xffffffu);
  words[31] |= (static_cast<uint32_t>(b_r2_stride) & 0xffffffu);
  words[32] |= (static_cast<uint32_t>(b_r3_stride) & 0xffffffu);
  words[33] |= (static_cast<uint32_t>(b_o1_stride) & 0xffffffu);
  words[34] |= (static_cast<uint32_t>(b_o2_stride) & 0xffffffu);
  words[35] |= (static_cast<uint32_t>(b_o3_stride) & 0xffffffu);
  words[36] |= (c_base & 0xffffffu);
  words[36] |= (static_cast<uint32_t>(c_type) & 0xfu) << 24;
  words[37] |= (static_cast<uint32_t>(c_lane_stride) & 0xffffffu);
  words[38] |= (static_cast<uint32_t>(c_r1_stride) & 0xffffffu);
  words[39] |= (static_cast<uint32_t>(c_r2_stride) & 0xffffffu);
  words[40] |= (static_cast<uint32_t>(c_r3_stride) & 0xffffffu);
  words[41] |= (static_cast<uint32_t>(c_o1_stride) & 0xffffffu);
  words[42] |= (static_cast<uint32_t>(c_o2_stride) & 0xffffffu);
  words[43] |= (static_cast<uint32_t>(c_o3_stride) & 0xffffffu);
  words[44] |= (d_base & 0xffffffu);
  words[44] |= (static_cast<uint32_t>(d_type) & 0xfu) << 24;
  words[45] |= (static_cast<uint32_t>(d_lane_stride) & 0xffffffu);
  words[46] |= (static_cast<uint32_t>(d_r1_stride) & 0xffffffu);
  words[47] |= (static_cast<uint32_t>(d_r2_stride) & 0xffffffu);
  words[48] |= (static_cast<uint32_t>(d_r3_stride) & 0xffffffu);
  words[49] |= (static_cast<uint32_t>(d_o1_stride) & 0xffffffu);
  words[50] |= (static_cast<uint32_t>(d_o2_stride) & 0xffffffu);
  words[51] |= (static_cast<uint32_t>(d_o3_stride) & 0xffffffu);
}

absl::StatusOr<Vmac> Vmac::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[13]);
  if (!status.ok()) return status;
  Vmac r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  r.lanes = words[6] & 0xffffu;
  r.n_r1 = (words[6] >> 16) & 0xffffu;
  r.n_r2 = words[7] & 0xffffu;
  r.n_r3 = (words[7] >> 16) & 0xffffu;
  r.n_o1 = words[8] & 0xffffu;
  r.n_o2 = (words[8] >> 16) & 0xffffu;
  r.n_o3 = words[9] & 0xffffu;
  r.initial = (words[10] & 0x1u) != 0;
  r.clamp = ((words[10] >> 1) & 0x1u) != 0;
  r.clamp_min = BitsFloat(words[13]);
  r.clamp_max = BitsFloat(words[14]);
  r.a_base = words[20] & 0xffffffu;
  r.a_type = static_cast<ElementType>((words[20] >> 24) & 0xfu);
  r.a_lane_stride = SignExtend(words[21], 24);
  r.a_r1_stride = SignExtend(words[22], 24);
  r.a_r2_stride = SignExtend(words[23], 24);
  r.a_r3_stride = SignExtend(words[24], 24);
  r.a_o1_stride = SignExtend(words[25], 24);
  r.a_o2_stride = SignExtend(words[26], 24);
  r.a_o3_stride = SignExtend(words[27], 24);
  r.b_base = words[28] & 0xffffffu;
  r.b_type = static_cast<ElementType>((words[28] >> 24) & 0xfu);
  r.b_lane_stride = SignExtend(words[29], 24);
  r.b_r1_stride = SignExtend(words[30], 24);
  r.b_r2_stride = SignExtend(words[31], 24);
  r.b_r3_stride = SignExtend(words[32], 24);
  r.b_o1_stride = SignExtend(words[33], 24);
  r.b_o2_stride = SignExtend(words[34], 24);
  r.b_o3_stride = SignExtend(words[35], 24);
  r.c_base = words[36] & 0xffffffu;
  r.c_type = static_cast<ElementType>((words[36] >> 24) & 0xfu);
  r.c_lane_stride = SignExtend(words[37], 24);
  r.c_r1_stride = SignExtend(words[38], 24);
  r.c_r2_stride = SignExtend(words[39], 24);
  r.c_r3_stride = SignExtend(words[40], 24);
  r.c_o1_stride = SignExtend(words[41], 24);
  r.c_o2_stride = SignExtend(words[42], 24);
  r.c_o3_stride = SignExtend(words[43], 24);
  r.d_base = words[44] & 0xffffffu;
  r.d_type = static_cast<ElementType>((words[44] >> 24) & 0xfu);
  r.d_lane_stride = SignExtend(words[45], 24);
  r.d_r1_stride = SignExtend(words[46], 24);
  r.d_r2_stride = SignExtend(words[47], 24);
  r.d_r3_stride = SignExtend(words[48], 24);
  r.d_o1_stride = SignExtend(words[49], 24);
  r.d_o2_stride = SignExtend(words[50], 24);
  r.d_o3_stride = SignExtend(words[51], 24);
  return r;
}

absl::Status Vmac::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("vmac", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("vmac", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("vmac", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("vmac", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("vmac", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("vmac", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("vmac", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("vmac", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("vmac", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("vmac", "signal1_point");
  if (lanes != (words[6] & 0xffffu)) return DoesNotFit("vmac", "lanes");
  if (n_r1 != ((words[6] >> 16) & 0xffffu)) return DoesNotFit("vmac", "n_r1");
  if (n_r2 != (words[7] & 0xffffu)) return DoesNotFit("vmac", "n_r2");
  if (n_r3 != ((words[7] >> 16) & 0xffffu)) return DoesNotFit("vmac", "n_r3");
  if (n_o1 != (words[8] & 0xffffu)) return DoesNotFit("vmac", "n_o1");
  if (n_o2 != ((words[8] >> 16) & 0xffffu)) return DoesNotFit("vmac", "n_o2");
  if (n_o3 != (words[9] & 0xffffu)) return DoesNotFit("vmac", "n_o3");
  if (a_base != (words[20] & 0xffffffu)) return DoesNotFit("vmac", "a_base");
  if (a_type != (static_cast<ElementType>((words[20] >> 24) & 0xfu))) return DoesNotFit("vmac", "a_type");
  if (a_lane_stride != (SignExtend(words[21], 24))) return DoesNotFit("vmac", "a_lane_stride");
  if (a_r1_stride != (SignExtend(words[22], 24))) return DoesNotFit("vmac", "a_r1_stride");
  if (a_r2_stride != (SignExtend(words[23], 24))) return DoesNotFit("vmac", "a_r2_stride");
  if (a_r3_stride != (SignExtend(words[24], 24))) return DoesNotFit("vmac", "a_r3_stride");
  if (a_o1_stride != (SignExtend(words[25], 24))) return DoesNotFit("vmac", "a_o1_stride");
  if (a_o2_stride != (SignExtend(words[26], 24))) return DoesNotFit("vmac", "a_o2_stride");
  if (a_o3_stride != (SignExtend(words[27], 24))) return DoesNotFit("vmac", "a_o3_stride");
  if (b_base != (words[28] & 0xffffffu)) return DoesNotFit("vmac", "b_base");
  if (b_type != (static_cast<ElementType>((words[28] >> 24) & 0xfu))) return DoesNotFit("vmac", "b_type");
  if (b_lane_stride != (SignExtend(words[29], 24))) return DoesNotFit("vmac", "b_lane_stride");
  if (b_r1_stride != (SignExtend(words[30], 24))) return DoesNotFit("vmac", "b_r1_stride");
  if (b_r2_stride != (SignExtend(words[31], 24))) return DoesNotFit("vmac", "b_r2_stride");
  if (b_r3_stride != (SignExtend(words[32], 24))) return DoesNotFit("vmac", "b_r3_stride");
  if (b_o1_stride != (SignExtend(words[33], 24))) return DoesNotFit("vmac", "b_o1_stride");
  if (b_o2_stride != (SignExtend(words[34], 24))) return DoesNotFit("vmac", "b_o2_stride");
  if (b_o3_stride != (SignExtend(words[35], 24))) return DoesNotFit("vmac", "b_o3_stride");
  if (c_base != (words[36] & 0xffffffu)) return DoesNotFit("vmac", "c_base");
  if (c_type != (static_cast<ElementType>((words[36] >> 24) & 0xfu))) return DoesNotFit("vmac", "c_type");
  if (c_lane_stride != (SignExtend(words[37], 24))) return DoesNotFit("vmac", "c_lane_stride");
  if (c_r1_stride != (SignExtend(words[38], 24))) return DoesNotFit("vmac", "c_r1_stride");
  if (c_r2_stride != (SignExtend(words[39], 24))) return DoesNotFit("vmac", "c_r2_stride");
  if (c_r3_stride != (SignExtend(words[40], 24))) return DoesNotFit("vmac", "c_r3_stride");
  if (c_o1_stride != (SignExtend(words[41], 24))) return DoesNotFit("vmac", "c_o1_stride");
  if (c_o2_stride != (SignExtend(words[42], 24))) return DoesNotFit("vmac", "c_o2_stride");
  if (c_o3_stride != (SignExtend(words[43], 24))) return DoesNotFit("vmac", "c_o3_stride");
  if (d_base != (words[44] & 0xffffffu)) return DoesNotFit("vmac", "d_base");
  if (d_type != (static_cast<ElementType>((words[44] >> 24) & 0xfu))) return DoesNotFit("vmac", "d_type");
  if (d_lane_stride != (SignExtend(words[45], 24))) return DoesNotFit("vmac", "d_lane_stride");
  if (d_r1_stride != (SignExtend(words[46], 24))) return DoesNotFit("vmac", "d_r1_stride");
  if (d_r2_stride != (SignExtend(words[47], 24))) return DoesNotFit("vmac", "d_r2_stride");
  if (d_r3_stride != (SignExtend(words[48], 24))) return DoesNotFit("vmac", "d_r3_stride");
  if (d_o1_stride != (SignExtend(words[49], 24))) return DoesNotFit("vmac", "d_o1_stride");
  if (d_o2_stride != (SignExtend(words[50], 24))) return DoesNotFit("vmac", "d_o2_stride");
  if (d_o3_stride != (SignExtend(words[51], 24))) return DoesNotFit("vmac", "d_o3_stride");
  return CheckCommand(words, kWords);
}

std::string Vmac::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[13]);
}

bool operator==(const Vmac& a, const Vmac& b) {
  uint32_t wa[Vmac::kWords], wb[Vmac::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}

Stream Vmac::GetA() const {
  Stream r;
  r.base = a_base;
  r.type = a_type;
  r.lane_stride = a_lane_stride;
  r.r1_stride = a_r1_stride;
  r.r2_stride = a_r2_stride;
  r.r3_stride = a_r3_stride;
  r.o1_stride = a_o1_stride;
  r.o2_stride = a_o2_stride;
  r.o3_stride = a_o3_stride;
  return r;
}

void Vmac::SetA(const Stream& value) {
  a_base = value.base;
  a_type = value.type;
  a_lane_stride = value.lane_stride;
  a_r1_stride = value.r1_stride;
  a_r2_stride = value.r2_stride;
  a_r3_stride = value.r3_stride;
  a_o1_stride = value.o1_stride;
  a_o2_stride = value.o2_stride;
  a_o3_stride = value.o3_stride;
}

Stream Vmac::GetB() const {
  Stream r;
  r.base = b_base;
  r.type = b_type;
  r.lane_stride = b_lane_stride;
  r.r1_stride = b_r1_stride;
  r.r2_stride = b_r2_stride;
  r.r3_stride = b_r3_stride;
  r.o1_stride = b_o1_stride;
  r.o2_stride = b_o2_stride;
  r.o3_stride = b_o3_stride;
  return r;
}

void Vmac::SetB(const Stream& value) {
  b_base = value.base;
  b_type = value.type;
  b_lane_stride = value.lane_stride;
  b_r1_stride = value.r1_stride;
  b_r2_stride = value.r2_stride;
  b_r3_stride = value.r3_stride;
  b_o1_stride = value.o1_stride;
  b_o2_stride = value.o2_stride;
  b_o3_stride = value.o3_stride;
}

Stream Vmac::GetC() const {
  Stream r;
  r.base = c_base;
  r.type = c_type;
  r.lane_stride = c_lane_stride;
  r.r1_stride = c_r1_stride;
  r.r2_stride = c_r2_stride;
  r.r3_stride = c_r3_stride;
  r.o1_stride = c_o1_stride;
  r.o2_stride = c_o2_stride;
  r.o3_stride = c_o3_stride;
  return r;
}

void Vmac::SetC(const Stream& value) {
  c_base = value.base;
  c_type = value.type;
  c_lane_stride = value.lane_stride;
  c_r1_stride = value.r1_stride;
  c_r2_stride = value.r2_stride;
  c_r3_stride = value.r3_stride;
  c_o1_stride = value.o1_stride;
  c_o2_stride = value.o2_stride;
  c_o3_stride = value.o3_stride;
}

Stream Vmac::GetD() const {
  Stream r;
  r.base = d_base;
  r.type = d_type;
  r.lane_stride = d_lane_stride;
  r.r1_stride = d_r1_stride;
  r.r2_stride = d_r2_stride;
  r.r3_stride = d_r3_stride;
  r.o1_stride = d_o1_stride;
  r.o2_stride = d_o2_stride;
  r.o3_stride = d_o3_stride;
  return r;
}

void Vmac::SetD(const Stream& value) {
  d_base = value.base;
  d_type = value.type;
  d_lane_stride = value.lane_stride;
  d_r1_stride = value.r1_stride;
  d_r2_stride = value.r2_stride;
  d_r3_stride = value.r3_stride;
  d_o1_stride = value.o1_stride;
  d_o2_stride = value.o2_stride;
  d_o3_stride = value.o3_stride;
}


void SyncVector::Encode(uint32_t* words) const {
  for (size_t i = 0; i < kWords; ++i) words[i] = 0;
  words[0] |= (0x42u & 0xffu);
  words[0] |= (0x4u & 0xffu) << 8;
  words[1] |= (static_cast<uint32_t>(header.wait0_enable) & 0x1u);
  words[1] |= (header.wait0_sem & 0x1fu) << 1;
  words[1] |= (header.wait0_count & 0xffu) << 6;
  words[1] |= (static_cast<uint32_t>(header.wait1_enable) & 0x1u) << 14;
  words[1] |= (header.wait1_sem & 0x1fu) << 15;
  words[1] |= (header.wait1_count & 0xffu) << 20;
  words[2] |= (static_cast<uint32_t>(header.signal0_enable) & 0x1u);
  words[2] |= (header.signal0_sem & 0x1fu) << 1;
  words[2] |= (header.signal0_count & 0xffu) << 6;
  words[2] |= (static_cast<uint32_t>(header.signal0_point) & 0x1u) << 14;
  words[2] |= (static_cast<uint32_t>(header.signal1_enable) & 0x1u) << 15;
  words[2] |= (header.signal1_sem & 0x1fu) << 16;
  words[2] |= (header.signal1_count & 0xffu) << 21;
  words[2] |= (static_cast<uint32_t>(header.signal1_point) & 0x1u) << 29;
  words[3] |= header.tag;
}

absl::StatusOr<SyncVector> SyncVector::Decode(const uint32_t* words, size_t n) {
  absl::Status status = CheckExactly(words, n, kCommands[14]);
  if (!status.ok()) return status;
  SyncVector r;
  r.header.wait0_enable = (words[1] & 0x1u) != 0;
  r.header.wait0_sem = (words[1] >> 1) & 0x1fu;
  r.header.wait0_count = (words[1] >> 6) & 0xffu;
  r.header.wait1_enable = ((words[1] >> 14) & 0x1u) != 0;
  r.header.wait1_sem = (words[1] >> 15) & 0x1fu;
  r.header.wait1_count = (words[1] >> 20) & 0xffu;
  r.header.signal0_enable = (words[2] & 0x1u) != 0;
  r.header.signal0_sem = (words[2] >> 1) & 0x1fu;
  r.header.signal0_count = (words[2] >> 6) & 0xffu;
  r.header.signal0_point = static_cast<SignalPoint>((words[2] >> 14) & 0x1u);
  r.header.signal1_enable = ((words[2] >> 15) & 0x1u) != 0;
  r.header.signal1_sem = (words[2] >> 16) & 0x1fu;
  r.header.signal1_count = (words[2] >> 21) & 0xffu;
  r.header.signal1_point = static_cast<SignalPoint>((words[2] >> 29) & 0x1u);
  r.header.tag = words[3];
  return r;
}

absl::Status SyncVector::Check() const {
  uint32_t words[kWords];
  Encode(words);
  if (header.wait0_sem != ((words[1] >> 1) & 0x1fu)) return DoesNotFit("sync.vector", "wait0_sem");
  if (header.wait0_count != ((words[1] >> 6) & 0xffu)) return DoesNotFit("sync.vector", "wait0_count");
  if (header.wait1_sem != ((words[1] >> 15) & 0x1fu)) return DoesNotFit("sync.vector", "wait1_sem");
  if (header.wait1_count != ((words[1] >> 20) & 0xffu)) return DoesNotFit("sync.vector", "wait1_count");
  if (header.signal0_sem != ((words[2] >> 1) & 0x1fu)) return DoesNotFit("sync.vector", "signal0_sem");
  if (header.signal0_count != ((words[2] >> 6) & 0xffu)) return DoesNotFit("sync.vector", "signal0_count");
  if (header.signal0_point != (static_cast<SignalPoint>((words[2] >> 14) & 0x1u))) return DoesNotFit("sync.vector", "signal0_point");
  if (header.signal1_sem != ((words[2] >> 16) & 0x1fu)) return DoesNotFit("sync.vector", "signal1_sem");
  if (header.signal1_count != ((words[2] >> 21) & 0xffu)) return DoesNotFit("sync.vector", "signal1_count");
  if (header.signal1_point != (static_cast<SignalPoint>((words[2] >> 29) & 0x1u))) return DoesNotFit("sync.vector", "signal1_point");
  return CheckCommand(words, kWords);
}

std::string SyncVector::ToString() const {
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[14]);
}

bool operator==(const SyncVector& a, const SyncVector& b) {
  uint32_t wa[SyncVector::kWords], wb[SyncVector::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}

template <typename T>
static absl::StatusOr<Command> Wrap(absl::StatusOr<T> command) {
  if (!command.ok()) return command.status();
  return Command(*std::move(command));
}

absl::StatusOr<Command> DecodeAny(const uint32_t* words, size_t n) {
  absl::Status status = CheckCommand(words, n);
  if (!status.ok()) return status;
  switch (OpcodeOf(words[0])) {
    case 0x1: return Wrap(Nop::Decode(words, Nop::kWords));
    case 0x2: return Wrap(End::Decode(words, End::kWords));
    case 0x3: return Wrap(Barrier::Decode(words, Barrier::kWords));
    case 0x10: return Wrap(Load::Decode(words, Load::kWords));
    case 0x11: return Wrap(Fill::Decode(words, Fill::kWords));
    case 0x12: return Wrap(LoadGather::Decode(words, LoadGather::kWords));
    case 0x13: return Wrap(SyncLoad::Decode(words, SyncLoad::kWords));
    case 0x20: return Wrap(Store::Decode(words, Store::kWords));
    case 0x21: return Wrap(StoreScatter::Decode(words, StoreScatter::kWords));
    case 0x22: return Wrap(SyncStore::Decode(words, SyncStore::kWords));
    case 0x30: return Wrap(Conv::Decode(words, Conv::kWords));
    case 0x31: return Wrap(SyncMatrix::Decode(words, SyncMatrix::kWords));
    case 0x40: return Wrap(Vrun::Decode(words, Vrun::kWords));
    case 0x41: return Wrap(Vmac::Decode(words, Vmac::kWords));
    case 0x42: return Wrap(SyncVector::Decode(words, SyncVector::kWords));
  }
  return absl::InvalidArgumentError("unknown opcode");
}

size_t WordsOf(const Command& command) {
  return std::visit([](const auto& c) { return c.kWords; }, command);
}

void Append(const Command& command, std::vector<uint32_t>* words) {
  const size_t at = words->size();
  words->resize(at + WordsOf(command));
  std::visit([&](const auto& c) { c.Encode(words->data() + at); }, command);
}

std::string ToString(const Command& command) {
  return std::visit([](const auto& c) { return c.ToString(); }, command);
}

static absl::Status CheckMicro(uint64_t word);

const FieldInfo kMicroFields[kNumMicroFields] = {
    {"op", 0, 0, 8, FieldType::kUint, false, false, false, false, 0ll, 255ll, 0x0u, nullptr, 0},
    {"d", 0, 8, 5, FieldType::kEnum, false, false, false, false, 0ll, 16ll, 0x0u, &kDestinationInfo, 0},
    {"a", 0, 13, 5, FieldType::kEnum, false, false, false, false, 0ll, 26ll, 0x0u, &kOperandInfo, 0},
    {"b", 0, 18, 5, FieldType::kEnum, false, false, false, false, 0ll, 26ll, 0x0u, &kOperandInfo, 0},
    {"c", 0, 23, 5, FieldType::kEnum, false, false, false, false, 0ll, 26ll, 0x0u, &kOperandInfo, 0},
    {"imm", 1, 0, 32, FieldType::kUint, false, false, false, false, 0ll, 4294967295ll, 0x0u, nullptr, 0},
};

const MicroOpInfo kMicroOps[kNumMicroOps] = {
    {MicroOp::kMov, "mov", 2, {1, 2}, 0},
    {MicroOp::kSel, "sel", 4, {1, 2, 3, 4}, 0},
    {MicroOp::kPick, "pick", 2, {1, 2}, 1},
    {MicroOp::kFadd, "fadd", 3, {1, 2, 3}, 0},
    {MicroOp::kFsub, "fsub", 3, {1, 2, 3}, 0},
    {MicroOp::kFmul, "fmul", 3, {1, 2, 3}, 0},
    {MicroOp::kFfma, "ffma", 4, {1, 2, 3, 4}, 0},
    {MicroOp::kFdiv, "fdiv", 3, {1, 2, 3}, 0},
    {MicroOp::kFsqrt, "fsqrt", 2, {1, 2}, 0},
    {MicroOp::kFmin, "fmin", 3, {1, 2, 3}, 1},
    {MicroOp::kFmax, "fmax", 3, {1, 2, 3}, 1},
    {MicroOp::kFlt, "flt", 3, {1, 2, 3}, 0},
    {MicroOp::kFle, "fle", 3, {1, 2, 3}, 0},
    {MicroOp::kFeq, "feq", 3, {1, 2, 3}, 0},
    {MicroOp::kF2i, "f2i", 2, {1, 2}, 0},
    {MicroOp::kF2iTrunc, "f2i_trunc", 2, {1, 2}, 0},
    {MicroOp::kI2f, "i2f", 2, {1, 2}, 0},
    {MicroOp::kRhalf, "rhalf", 2, {1, 2}, 1},
    {MicroOp::kRbf, "rbf", 2, {1, 2}, 1},
    {MicroOp::kIadd, "iadd", 3, {1, 2, 3}, 0},
    {MicroOp::kIsub, "isub", 3, {1, 2, 3}, 0},
    {MicroOp::kImul, "imul", 3, {1, 2, 3}, 0},
    {MicroOp::kIand, "iand", 3, {1, 2, 3}, 0},
    {MicroOp::kIor, "ior", 3, {1, 2, 3}, 0},
    {MicroOp::kIxor, "ixor", 3, {1, 2, 3}, 0},
    {MicroOp::kIshl, "ishl", 3, {1, 2, 3}, 0},
    {MicroOp::kIshr, "ishr", 3, {1, 2, 3}, 0},
    {MicroOp::kIsar, "isar", 3, {1, 2, 3}, 0},
    {MicroOp::kImin, "imin", 3, {1, 2, 3}, 0},
    {MicroOp::kImax, "imax", 3, {1, 2, 3}, 0},
    {MicroOp::kIlt, "ilt", 3, {1, 2, 3}, 0},
    {MicroOp::kIeq, "ieq", 3, {1, 2, 3}, 0},
    {MicroOp::kIltu, "iltu", 3, {1, 2, 3}, 1},
    {MicroOp::kIdiv, "idiv", 3, {1, 2, 3}, 1},
    {MicroOp::kIdivu, "idivu", 3, {1, 2, 3}, 1},
    {MicroOp::kHsum, "hsum", 2, {1, 2}, 0},
    {MicroOp::kHmax, "hmax", 2, {1, 2}, 1},
    {MicroOp::kHmin, "hmin", 2, {1, 2}, 1},
    {MicroOp::kHisum, "hisum", 2, {1, 2}, 0},
    {MicroOp::kHimax, "himax", 2, {1, 2}, 0},
    {MicroOp::kHimin, "himin", 2, {1, 2}, 0},
};

uint64_t MicroInstruction::Encode() const {
  uint64_t w = 0;
  w |= static_cast<uint64_t>(static_cast<uint32_t>(op) & 0xffu) << 0;
  w |= static_cast<uint64_t>(static_cast<uint32_t>(d) & 0x1fu) << 8;
  w |= static_cast<uint64_t>(static_cast<uint32_t>(a) & 0x1fu) << 13;
  w |= static_cast<uint64_t>(static_cast<uint32_t>(b) & 0x1fu) << 18;
  w |= static_cast<uint64_t>(static_cast<uint32_t>(c) & 0x1fu) << 23;
  w |= static_cast<uint64_t>(static_cast<uint32_t>(imm) & 0xffffffffu) << 32;
  return w;
}

absl::StatusOr<MicroInstruction> MicroInstruction::Decode(uint64_t word) {
  absl::Status status = CheckMicro(word);
  if (!status.ok()) return status;
  MicroInstruction r;
  r.op = static_cast<MicroOp>(static_cast<uint32_t>(word >> 0) & 0xffu);
  r.d = static_cast<Destination>(static_cast<uint32_t>(word >> 8) & 0x1fu);
  r.a = static_cast<Operand>(static_cast<uint32_t>(word >> 13) & 0x1fu);
  r.b = static_cast<Operand>(static_cast<uint32_t>(word >> 18) & 0x1fu);
  r.c = static_cast<Operand>(static_cast<uint32_t>(word >> 23) & 0x1fu);
  r.imm = static_cast<uint32_t>(word >> 32) & 0xffffffffu;
  return r;
}

static uint32_t MicroBits(const FieldInfo& f, uint64_t word) {
  const uint64_t mask = f.bits == 32 ? 0xffffffffu : (1u << f.bits) - 1;
  return static_cast<uint32_t>((word >> (32 * f.word + f.lsb)) & mask);
}

const MicroOpInfo* FindMicroOp(uint32_t op) {
  for (const MicroOpInfo& o : kMicroOps) {
    if (static_cast<uint32_t>(o.op) == op) return &o;
  }
  return nullptr;
}

const MicroOpInfo* FindMicroOpByName(absl::string_view name) {
  for (const MicroOpInfo& o : kMicroOps) {
    if (name == o.name) return &o;
  }
  return nullptr;
}

const char* ToString(MicroOp op) {
  const MicroOpInfo* o = FindMicroOp(static_cast<uint32_t>(op));
  return o == nullptr ? "?" : o->name;
}

static absl::Status CheckMicro(uint64_t word) {
  constexpr size_t kOp = 0;
  const uint32_t op = MicroBits(kMicroFields[kOp], word);
  const MicroOpInfo* info = FindMicroOp(op);
  if (info == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("unknown micro operation ", op));
  }
  if ((word & static_cast<uint64_t>(0xf0000000ull)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("micro operation '", info->name,
                                                   "': reserved bits are set"));
  }
  for (size_t i = 0; i < kNumMicroFields; ++i) {
    if (i == kOp) continue;
    bool has = false;
    for (int k = 0; k < info->num_operands; ++k) {
      has |= info->operands[k] == i;
      has |= i == 5 && info->operands[k] == 2 && MicroBits(kMicroFields[2], word) == 19;
      has |= i == 5 && info->operands[k] == 3 && MicroBits(kMicroFields[3], word) == 19;
      has |= i == 5 && info->operands[k] == 4 && MicroBits(kMicroFields[4], word) == 19;
    }
    const uint32_t bits = MicroBits(kMicroFields[i], word);
    if (!has) {
      if (bits == 0) continue;
      return absl::InvalidArgumentError(absl::StrCat("micro operation '", info->name,
                                                     "' has no operand '", kMicroFields[i].name,
                                                     "': it must be zero"));
    }
    absl::Status status = CheckField(kMicroFields[i], bits);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("micro operation '", info->name, "': ", status.message()));
    }
  }
  return absl::OkStatus();
}

std::string MicroInstruction::ToString() const {
  const uint64_t word = Encode();
  std::string out = isa::ToString(op);
  const MicroOpInfo* info = FindMicroOp(static_cast<uint32_t>(op));
  if (info == nullptr) return out;
  for (int k = 0; k < info->num_operands; ++k) {
    const FieldInfo& f = kMicroFields[info->operands[k]];
    absl::StrAppend(&out, k == 0 ? " " : ", ", FormatField(f, MicroBits(f, word)));
  }
  // What no operation lists as an operand is an immediate.
  for (size_t i = 0; i < kNumMicroFields; ++i) {
    if (kMicroFields[i].enum_info != nullptr || i == 0) continue;
    const uint32_t bits = MicroBits(kMicroFields[i], word);
    if (bits != 0) absl::StrAppend(&out, ", ", kMicroFields[i].name, "=", Hex(bits));
  }
  return out;
}

const ErrorInfo kErrors[kNumErrors] = {
    {Error::kOk, "ok", ErrorScope::kJob, 0, absl::StatusCode::kOk, "SUCCESS",
     "done"},
    {Error::kIllegalCommand, "illegal_command", ErrorScope::kCommand, EINVAL, absl::StatusCode::kInvalidArgument, "INTERNAL_ERROR",
     "the command at stream offset {offset} is not a legal encoding"},
    {Error::kStreamOverrun, "stream_overrun", ErrorScope::kCommand, EINVAL, absl::StatusCode::kInvalidArgument, "INTERNAL_ERROR",
     "the command stream ends without an end command (offset {offset})"},
    {Error::kRegionBounds, "region_bounds", ErrorScope::kCommand, EFAULT, absl::StatusCode::kOutOfRange, "INTERNAL_ERROR",
     "the command at stream offset {offset} reaches byte {address} outside region {region}"},
    {Error::kRegionReadonly, "region_readonly", ErrorScope::kCommand, EACCES, absl::StatusCode::kPermissionDenied, "INTERNAL_ERROR",
     "the command at stream offset {offset} writes to region {region}, which is read-only"},
    {Error::kSramBounds, "sram_bounds", ErrorScope::kCommand, EFAULT, absl::StatusCode::kOutOfRange, "INTERNAL_ERROR",
     "the command at stream offset {offset} reaches SRAM byte {address} beyond the end of SRAM"},
    {Error::kIndexBounds, "index_bounds", ErrorScope::kCommand, ERANGE, absl::StatusCode::kOutOfRange, "INTERNAL_ERROR",
     "an index ({address}) of the gather or scatter at stream offset {offset} exceeds its bound"},
    {Error::kSemaphoreOverflow, "semaphore_overflow", ErrorScope::kCommand, EINVAL, absl::StatusCode::kInvalidArgument, "INTERNAL_ERROR",
     "semaphore {address} overflows at stream offset {offset}"},
    {Error::kIllegalProgram, "illegal_program", ErrorScope::kCommand, EINVAL, absl::StatusCode::kInvalidArgument, "INTERNAL_ERROR",
     "micro-instruction {address} of the vector command at stream offset {offset} is not legal"},
    {Error::kBusError, "bus_error", ErrorScope::kCommand, EIO, absl::StatusCode::kDataLoss, "INTERNAL_ERROR",
     "device memory returned an error at {address} (stream offset {offset})"},
    {Error::kTimeout, "timeout", ErrorScope::kJob, ETIME, absl::StatusCode::kDeadlineExceeded, "INTERNAL_ERROR",
     "the job made no progress and was aborted (last command at stream offset {offset})"},
    {Error::kAborted, "aborted", ErrorScope::kJob, ECANCELED, absl::StatusCode::kCancelled, "INTERNAL_ERROR",
     "the job was aborted"},
    {Error::kIllegalDescriptor, "illegal_descriptor", ErrorScope::kJob, EINVAL, absl::StatusCode::kInternal, "INTERNAL_ERROR",
     "the card rejected the job descriptor"},
    {Error::kHostDma, "host_dma", ErrorScope::kJob, EFAULT, absl::StatusCode::kInternal, "INTERNAL_ERROR",
     "host memory at {address} could not be reached by the card"},
    {Error::kCopyBounds, "copy_bounds", ErrorScope::kJob, EFAULT, absl::StatusCode::kInternal, "INTERNAL_ERROR",
     "a copy step reaches device address {address} beyond the card's memory"},
    {Error::kDeviceLost, "device_lost", ErrorScope::kDevice, ENODEV, absl::StatusCode::kUnavailable, "BACKEND_UNAVAILABLE",
     "the card is gone (unplugged, powered off or its simulator ended)"},
    {Error::kNoDeviceMemory, "no_device_memory", ErrorScope::kDevice, ENOMEM, absl::StatusCode::kResourceExhausted, "NO_DEVICE_MEMORY",
     "the card has {available} bytes of device memory left, {needed} are needed"},
    {Error::kSramUncorrectable, "sram_uncorrectable", ErrorScope::kCommand, EIO, absl::StatusCode::kDataLoss, "INTERNAL_ERROR",
     "the card's SRAM has lost the word at byte {address}: two of its bits have changed (last command at stream offset {offset}); run the model again, and replace the card if it happens often"},
    {Error::kSramCorrected, "sram_corrected", ErrorScope::kDevice, EIO, absl::StatusCode::kInternal, "INTERNAL_ERROR",
     "the card has corrected a bit of its SRAM"},
};

const ErrorInfo* FindError(uint32_t code) {
  for (const ErrorInfo& e : kErrors) {
    if (static_cast<uint32_t>(e.code) == code) return &e;
  }
  return nullptr;
}

const char* ToString(Error code) {
  const ErrorInfo* e = FindError(static_cast<uint32_t>(code));
  return e == nullptr ? "unknown" : e->name;
}

}  // namespace heddle::isa
