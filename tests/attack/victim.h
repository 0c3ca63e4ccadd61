// SPDX-License-Identifier: Apache-2.0
// A well-behaved client that measures itself: one inference after another, each
// with data in, a run of the card, data out, and a look at the result.
#ifndef TESTS_ATTACK_VICTIM_H_
#define TESTS_ATTACK_VICTIM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drm/heddle_drm.h"
#include "tests/attack/device.h"

namespace heddle::attack {

class Victim {
 public:
  // An inference takes about `ms` milliseconds when nobody else is there.
  Victim(const std::string& device, uint32_t ms);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // How long it took; ~0 when it failed, and failure() says how.
  uint64_t Infer();
  const std::string& failure() const { return failure_; }
  File* file() { return file_.get(); }

 private:
  void MakeStream(uint32_t commands);

  std::unique_ptr<File> file_;
  uint32_t context_ = 0, stream_ = 0;
  uint32_t in_ = 0, out_ = 0, from_ = 0, to_ = 0;  // buffers
  uint8_t* in_data_ = nullptr;
  uint8_t* out_data_ = nullptr;
  std::vector<drm_heddle_region> regions_;
  uint8_t turn_ = 0;
  std::string failure_;
};

}  // namespace heddle::attack

#endif  // TESTS_ATTACK_VICTIM_H_
