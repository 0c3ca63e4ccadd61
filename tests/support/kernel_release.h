// SPDX-License-Identifier: Apache-2.0
// Which kernel a test runs on, where kernels differ in what they answer.
#ifndef TESTS_SUPPORT_KERNEL_RELEASE_H_
#define TESTS_SUPPORT_KERNEL_RELEASE_H_

#include <string>

namespace heddle::tests {

// Whether `release`, as of `uname -r`, e.g. "6.1.0-50-amd64", is that version
// or a later one. False if it does not begin with two numbers.
bool ReleaseAtLeast(const std::string& release, int major, int minor);

// The same of the kernel that runs.
bool KernelAtLeast(int major, int minor);

}  // namespace heddle::tests

#endif  // TESTS_SUPPORT_KERNEL_RELEASE_H_
