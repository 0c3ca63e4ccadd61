// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/numerics.h"

#include <cfenv>
#include <cmath>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace heddle::model {
#if defined(__x86_64__)
// All exceptions masked, nearest even, no flush to zero, no denormals-are-zero.
ScopedFpEnvironment::ScopedFpEnvironment() : saved_(_mm_getcsr()) {
  _mm_setcsr(0x1f80);
}
ScopedFpEnvironment::~ScopedFpEnvironment() { _mm_setcsr(saved_); }
#else
ScopedFpEnvironment::ScopedFpEnvironment()
    : saved_(static_cast<uint32_t>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}
ScopedFpEnvironment::~ScopedFpEnvironment() {
  std::fesetround(static_cast<int>(saved_));
}
#endif

float FSqrt(float a) { return Canonical(std::sqrt(a)); }

// The C library chooses between the instruction and exact software at run time.
float Fma(float a, float b, float c) { return Canonical(std::fma(a, b, c)); }

}  // namespace heddle::model
