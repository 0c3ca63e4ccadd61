// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/record.h"

namespace heddle::conformance {

void AddLine(Record* record, char kind, const char* text, size_t size) {
  const uint32_t need = static_cast<uint32_t>(size) + 3;
  uint32_t at = record->text_bytes.load();
  do {
    if (size > Record::kTextBytes || at + need > Record::kTextBytes) return;
  } while (!record->text_bytes.compare_exchange_weak(at, at + need));
  char* to = record->text + at;
  *to++ = kind;
  *to++ = ' ';
  for (size_t i = 0; i < size; ++i) *to++ = text[i] == '\n' ? ' ' : text[i];
  *to = '\n';
}

}  // namespace heddle::conformance
