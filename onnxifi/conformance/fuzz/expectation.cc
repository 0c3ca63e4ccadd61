// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/fuzz/expectation.h"

#include "absl/strings/str_cat.h"

namespace heddle::conformance {

bool Object::WillBeSignalled() const {
  if (signalled || may_be_lost) return true;
  return of_run && input != nullptr && input->WillBeSignalled();
}

bool Object::MayFail() const {
  return may_be_lost || (of_run && input != nullptr && input->MayFail());
}

void Expectation::Begin(const Object* object, onnxStatus invalid) {
  if (object == nullptr || object->released) Fault(invalid);
}

void Expectation::End(const Object* object, onnxStatus invalid, bool own) {
  if (object != nullptr && object->releases_begun > (own ? 1 : 0)) {
    Perhaps(invalid);
  }
}

bool Expectation::Allows(onnxStatus status,
                         const std::set<onnxStatus>& success) const {
  if (allowed_.count(status) != 0) return true;
  return !certain_ && success.count(status) != 0;
}

std::string Expectation::Text(const std::set<onnxStatus>& success) const {
  std::set<onnxStatus> all = allowed_;
  if (!certain_) all.insert(success.begin(), success.end());
  std::string text;
  for (onnxStatus status : all) {
    absl::StrAppend(&text, text.empty() ? "" : " or ", StatusName(status));
  }
  return text;
}

}  // namespace heddle::conformance
