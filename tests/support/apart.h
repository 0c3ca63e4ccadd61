// SPDX-License-Identifier: Apache-2.0
// Calls in a process of their own, for code that some inputs end or make take
// all memory: a library that is only asked, not tested.
#ifndef TESTS_SUPPORT_APART_H_
#define TESTS_SUPPORT_APART_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::tests {

// call(0) to call(count - 1), in order, in as few processes as possible, each
// with 4 GiB of address space beyond what it begins with; nothing for a call
// that ended its process or took more than a minute. The calling process must
// have no threads that hold what the calls need.
std::vector<std::optional<std::string>> CallApart(
    size_t count, const std::function<std::string(size_t)>& call);

}  // namespace heddle::tests

#endif  // TESTS_SUPPORT_APART_H_
