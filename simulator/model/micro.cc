// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/micro.h"

#include <cstring>

#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

using isa::ElementType;
using isa::MicroOp;

constexpr uint32_t kAllOnes = ~uint32_t{0};

int32_t Int(uint32_t v) { return static_cast<int32_t>(v); }
uint32_t Mask(bool v) { return v ? kAllOnes : 0; }

// As int32, toward zero. -2^31 / -1 has no int32; the hardware's magnitudes
// wrap.
uint32_t Divide(uint32_t a, uint32_t b) {
  if (b == 0) return kAllOnes;
  if (b == kAllOnes) return -a;
  return static_cast<uint32_t>(Int(a) / Int(b));
}

uint16_t Half(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
void SetHalf(uint16_t v, uint8_t* p) { std::memcpy(p, &v, sizeof(v)); }

// Combines lane l with its partner at distances 8, 4, 2, 1; f takes the lower
// lane first. Every lane ends with the result.
template <typename F>
Lanes Tree(Lanes x, const F& f) {
  for (uint32_t s = isa::kVectorLanes / 2; s > 0; s /= 2) {
    Lanes y;
    for (uint32_t l = 0; l < isa::kVectorLanes; ++l) {
      y[l] = f(x[l & ~s], x[l | s]);
    }
    x = y;
  }
  return x;
}

}  // namespace

uint32_t LaneOp(MicroOp op, uint32_t a, uint32_t b, uint32_t c) {
  const float fa = FromBits(a);
  const float fb = FromBits(b);
  switch (op) {
    case MicroOp::kMov:
      return a;
    case MicroOp::kSel:
      return a != 0 ? b : c;
    case MicroOp::kFadd:
      return Bits(FAdd(fa, fb));
    case MicroOp::kFsub:
      return Bits(FSub(fa, fb));
    case MicroOp::kFmul:
      return Bits(FMul(fa, fb));
    case MicroOp::kFfma:
      return Bits(Fma(fa, fb, FromBits(c)));
    case MicroOp::kFdiv:
      return Bits(FDiv(fa, fb));
    case MicroOp::kFsqrt:
      return Bits(FSqrt(fa));
    case MicroOp::kFmin:
      return Bits(FMin(fa, fb));
    case MicroOp::kFmax:
      return Bits(FMax(fa, fb));
    case MicroOp::kFlt:
      return Mask(fa < fb);
    case MicroOp::kFle:
      return Mask(fa <= fb);
    case MicroOp::kFeq:
      return Mask(fa == fb);
    case MicroOp::kF2i:
      return static_cast<uint32_t>(Rne(fa));
    case MicroOp::kF2iTrunc:
      return static_cast<uint32_t>(Trunc(fa));
    case MicroOp::kI2f:
      return Bits(I32ToF32(Int(a)));
    case MicroOp::kRhalf:
      return Bits(F16ToF32(F32ToF16(fa)));
    case MicroOp::kRbf:
      return Bits(Bf16ToF32(F32ToBf16(fa)));
    case MicroOp::kIadd:
      return a + b;
    case MicroOp::kIsub:
      return a - b;
    case MicroOp::kImul:
      return a * b;
    case MicroOp::kIand:
      return a & b;
    case MicroOp::kIor:
      return a | b;
    case MicroOp::kIxor:
      return a ^ b;
    case MicroOp::kIshl:
      return a << (b % 32);
    case MicroOp::kIshr:
      return a >> (b % 32);
    case MicroOp::kIsar:
      return static_cast<uint32_t>(Int(a) >> (b % 32));
    case MicroOp::kImin:
      return Int(a) < Int(b) ? a : b;
    case MicroOp::kImax:
      return Int(a) > Int(b) ? a : b;
    case MicroOp::kIlt:
      return Mask(Int(a) < Int(b));
    case MicroOp::kIeq:
      return Mask(a == b);
    case MicroOp::kIltu:
      return Mask(a < b);
    case MicroOp::kIdiv:
      return Divide(a, b);
    case MicroOp::kIdivu:
      return b == 0 ? kAllOnes : a / b;
    case MicroOp::kHsum:
    case MicroOp::kHmax:
    case MicroOp::kHmin:
    case MicroOp::kHisum:
    case MicroOp::kHimax:
    case MicroOp::kHimin:
    case MicroOp::kPick:
      break;
  }
  return 0;
}

Lanes VectorOp(MicroOp op, const Lanes& a, const Lanes& b, const Lanes& c) {
  auto tree = [&](MicroOp lane_op) {
    return Tree(a, [&](uint32_t low, uint32_t high) {
      return LaneOp(lane_op, low, high, 0);
    });
  };
  switch (op) {
    case MicroOp::kHsum:
      return tree(MicroOp::kFadd);
    case MicroOp::kHmax:
      return tree(MicroOp::kFmax);
    case MicroOp::kHmin:
      return tree(MicroOp::kFmin);
    case MicroOp::kHisum:
      return tree(MicroOp::kIadd);
    case MicroOp::kHimax:
      return tree(MicroOp::kImax);
    case MicroOp::kHimin:
      return tree(MicroOp::kImin);
    default:
      break;
  }
  Lanes d;
  for (uint32_t l = 0; l < isa::kVectorLanes; ++l) {
    d[l] = LaneOp(op, a[l], b[l], c[l]);
  }
  return d;
}

uint32_t LoadElement(ElementType type, const uint8_t* p) {
  switch (type) {
    case ElementType::kU8:
      return *p;
    case ElementType::kS8:
      return static_cast<uint32_t>(int32_t{static_cast<int8_t>(*p)});
    case ElementType::kU16:
      return Half(p);
    case ElementType::kS16:
      return static_cast<uint32_t>(int32_t{static_cast<int16_t>(Half(p))});
    case ElementType::kF16:
      return Bits(F16ToF32(Half(p)));
    case ElementType::kBf16:
      return Bits(Bf16ToF32(Half(p)));
    case ElementType::kS32:
    case ElementType::kF32:
      break;
  }
  uint32_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

void StoreElement(ElementType type, uint32_t value, uint8_t* p) {
  switch (type) {
    case ElementType::kU8:
    case ElementType::kS8:
      *p = static_cast<uint8_t>(Sat8(Int(value), type == ElementType::kS8));
      return;
    case ElementType::kU16:
      return SetHalf(static_cast<uint16_t>(Clamp(Int(value), 0, 65535)), p);
    case ElementType::kS16:
      return SetHalf(static_cast<uint16_t>(Sat16(Int(value))), p);
    case ElementType::kF16:
      return SetHalf(F32ToF16(FromBits(value)), p);
    case ElementType::kBf16:
      return SetHalf(F32ToBf16(FromBits(value)), p);
    case ElementType::kS32:
    case ElementType::kF32:
      std::memcpy(p, &value, sizeof(value));
      return;
  }
}

}  // namespace heddle::model
