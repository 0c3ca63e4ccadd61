// SPDX-License-Identifier: Apache-2.0
// What ThreadSanitizer (--config=tsan) must not report: Debian's libraries are
// not instrumented, so what they do to order two accesses is not seen.
extern "C" const char* __tsan_default_suppressions() {
  // A Status counts who holds it. The header's part of counting is ours, the
  // last step down is libabsl_status' (UnrefNonInlined): who frees it is behind
  // all others, by an atomic operation in there.
  return "race:absl::*Status::Unref\n";
}
