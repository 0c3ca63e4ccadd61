// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_release.h"

#include <sys/utsname.h>

#include <cstdio>
#include <utility>

namespace heddle::tests {

bool ReleaseAtLeast(const std::string& release, int major, int minor) {
  int has_major = 0, has_minor = 0;
  return std::sscanf(release.c_str(), "%d.%d", &has_major, &has_minor) == 2 &&
         std::make_pair(has_major, has_minor) >= std::make_pair(major, minor);
}

bool KernelAtLeast(int major, int minor) {
  utsname name = {};
  return uname(&name) == 0 && ReleaseAtLeast(name.release, major, minor);
}

}  // namespace heddle::tests
