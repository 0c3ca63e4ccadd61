// SPDX-License-Identifier: Apache-2.0
// One thread's random ioctls on an open file. Every field of every structure
// gets valid, boundary and invalid values; pointers and sizes stay inside
// memory of the generator, because a transport in this process reads them.
#ifndef TESTS_FUZZ_IOCTL_GENERATOR_H_
#define TESTS_FUZZ_IOCTL_GENERATOR_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "drm/heddle_drm.h"
#include "runtime/hal/transport.h"
#include "tests/fuzz_ioctl/objects.h"
#include "tests/fuzz_ioctl/oracle.h"
#include "tests/fuzz_ioctl/values.h"

namespace heddle::fuzz {

struct File {
  hal::Transport* transport = nullptr;
  Objects objects;
};

class Generator {
 public:
  // `files`: of which each call uses one; buffers are shared between them.
  // `gone`: whether the card may have gone. `waits_of_linux_6_6`: waits for
  // syncobjs know a deadline and have nothing against an empty list.
  Generator(uint64_t seed, std::vector<File*> files,
            const std::atomic<bool>* gone, bool waits_of_linux_6_6);
  ~Generator();

  // One call. Empty, or what was wrong with its answer.
  std::string Step();

  const char* last() const { return last_; }  // of the calls, for messages

 private:
  struct Mapping {
    File* file;
    void* data;
    size_t size;
  };
  std::string Do(unsigned long request, void* argument, bool must_fail,
                 int* result);
  // A region of scratch memory, zero; null if there is none left of this call.
  uint8_t* Scratch(size_t bytes);
  drm_heddle_array EdgeArray(size_t element, uint32_t usual);
  // Whether `count` elements of that size can be written to it.
  static bool Writable(const drm_heddle_array& array, uint32_t count,
                       size_t element);
  uint64_t Deadline();
  int64_t SignedDeadline();
  // A value for a field that has to be zero; sets must_fail if it is not.
  uint32_t Zero(bool* must_fail);
  std::vector<drm_heddle_sync> Syncs();
  std::vector<uint32_t> Handles();
  // Whether a wait for that many syncobjs, with these flags of which the
  // driver knows `known` since ever, must fail.
  bool WaitMustFail(size_t handles, uint32_t flags, uint32_t known) const;
  drm_heddle_step MakeStep();

  std::string Query();
  std::string ContextCreate();
  std::string ContextDestroy();
  std::string ContextControl();
  std::string BoCreate();
  std::string BoInfo();
  std::string MapBuffer();
  std::string StreamCreate();
  std::string StreamDestroy();
  std::string Submit();
  std::string Wait();
  std::string Events();
  std::string Version();
  std::string GemClose();
  std::string Prime();
  std::string SyncobjCreate();
  std::string SyncobjDestroy();
  std::string SyncobjArray();
  std::string SyncobjWait();
  std::string TimelineWait();
  std::string TimelineArray();
  std::string Unknown();

  Values values_;
  const std::vector<File*> files_;
  File* file_ = nullptr;  // of this call
  const std::atomic<bool>* gone_;
  const bool waits_of_linux_6_6_;
  const char* last_ = "";
  std::vector<uint8_t> scratch_;
  size_t scratch_used_ = 0;
  std::vector<Mapping> mappings_;
};

}  // namespace heddle::fuzz

#endif  // TESTS_FUZZ_IOCTL_GENERATOR_H_
