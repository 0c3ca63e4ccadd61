// SPDX-License-Identifier: Apache-2.0
// Prints SUPPORTED_OPS.md.
#include <cstdio>

#include "compiler/report/support_page.h"

int main() {
  std::fputs(heddle::compiler::SupportPage().c_str(), stdout);
  return 0;
}
