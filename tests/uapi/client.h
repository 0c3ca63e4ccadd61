// SPDX-License-Identifier: Apache-2.0
// What the suite drives: an open file of a card. The same cases run on
// heddle-hosted (hosted_driver.cc) and on a node of heddle.ko (drm_driver.cc);
// what both must do is said in heddle_drm.h.
#ifndef TESTS_UAPI_CLIENT_H_
#define TESTS_UAPI_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::uapi {

class Client {
 public:
  virtual ~Client() = default;
  // 0 or a negative errno, exactly what the driver says: nothing is repeated.
  virtual int Ioctl(unsigned long request, void* arg) = 0;
  // Null with a negative errno in *error on failure. Unmap with munmap().
  virtual void* Mmap(uint64_t offset, size_t bytes, int* error) = 0;
};

class Driver {
 public:
  // That of the program; started when it is first needed.
  static Driver& Get();

  virtual ~Driver() = default;
  // A new file of the card. Works in a child process, too. Null: *error says
  // why, a negative errno.
  virtual std::unique_ptr<Client> Open(int* error) = 0;
  // Addresses that no driver may read or write.
  virtual std::vector<uint64_t> BadPointers() = 0;
  // Takes from this process, for files opened from now on, the rights to the
  // highest priorities, to exceed the run limit and to everybody's counters,
  // whatever else it may do. False: they cannot be taken.
  virtual bool DropPriority() = 0;
  // A command of `heddle-sim ctl` to the card, e.g. "fault stuck_engine".
  // False: this card has no such door.
  virtual bool Control(const std::string& command) = 0;
  // Whether waits for DRM's syncobjs are those of Linux 6.6 and later: they
  // know a deadline (DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE, 1 << 3) and have
  // nothing against an empty list.
  virtual bool WaitsOfLinux66() = 0;
};

}  // namespace heddle::uapi

#endif  // TESTS_UAPI_CLIENT_H_
