// SPDX-License-Identifier: Apache-2.0
// Descriptors of open cards across fork(). In a child, /dev/null replaces them:
// otherwise the driver would keep the parent's objects until the child ends
// too, and both could use one open file.
#ifndef HEDDLE_RUNTIME_HAL_FORK_GUARD_H_
#define HEDDLE_RUNTIME_HAL_FORK_GUARD_H_

#include <functional>
#include <memory>
#include <new>
#include <utility>

namespace heddle::hal {

void GuardDescriptor(int fd);
// Calls `close`, which closes fd, before another one can get its number.
void CloseGuarded(int fd, const std::function<void()>& close);

// Puts /dev/null in the place of fd, which stays open. False: that failed.
bool DetachDescriptor(int fd);

// Registers the fork handlers now instead of at the first open.
void PrepareForFork();

// Never destroys what `object` refers to, which in a child of fork() may be in
// use by threads that do not exist there. Needs no memory.
template <typename T>
void Abandon(std::shared_ptr<T> object) noexcept {
  alignas(std::shared_ptr<T>) unsigned char never_destroyed[sizeof(object)];
  new (never_destroyed) std::shared_ptr<T>(std::move(object));
}

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_FORK_GUARD_H_
