// SPDX-License-Identifier: Apache-2.0
// Prints compiler/STAGES.md.
#include <cstdio>

#include "compiler/testing/stages_page.h"

int main() {
  const absl::StatusOr<std::string> page = heddle::compiler::StagesPage();
  if (!page.ok()) {
    std::fprintf(stderr, "%s\n", page.status().ToString().c_str());
    return 1;
  }
  std::fputs(page->c_str(), stdout);
  return 0;
}
