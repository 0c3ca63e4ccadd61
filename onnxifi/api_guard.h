// SPDX-License-Identifier: Apache-2.0
// The boundary of the C API: the one Library of the loaded object, and the
// guarantee that every call ends in a status that its function may return.
#ifndef HEDDLE_ONNXIFI_API_GUARD_H_
#define HEDDLE_ONNXIFI_API_GUARD_H_

#include "onnxifi/library.h"

namespace heddle::onnxifi {

// The ABI of IDs that this object gives to a caller at `return_address`; each
// shim defines it.
Abi AbiForCaller(const void* return_address);

// The library, made at the first call; null in a child process that was forked
// afterwards, where the threads and connections of the parent do not exist.
// May throw.
Library* TheLibrary();

// Logs and fits the end of a call to the contract of `function`.
onnxStatus Finish(Function function, const Call& call,
                  const Outcome& outcome) noexcept;
// The outcome of the exception being handled.
onnxStatus FinishException(Function function, const Call& call) noexcept;

// Runs body(library, call) for `function`.
template <typename Body>
onnxStatus GuardCall(Function function, Body body) noexcept {
  Call call;
  try {
    Library* library = TheLibrary();
    if (library == nullptr) {
      return Finish(
          function, call,
          Outcome(Contracted(function, ONNXIFI_STATUS_BACKEND_UNAVAILABLE),
                  "this process was forked from the one that uses the device"));
    }
    return Finish(function, call, body(library, &call));
  } catch (...) {
    return FinishException(function, call);
  }
}

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_API_GUARD_H_
