// SPDX-License-Identifier: Apache-2.0
// What a set of streams has exercised: for every instruction and, for conv, its
// mode, the smallest and the largest legal value of every field and a value
// between, every value of every enumeration and flag.
#ifndef HEDDLE_TESTS_LOCKSTEP_QUOTA_H_
#define HEDDLE_TESTS_LOCKSTEP_QUOTA_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::lockstep {

class Quota {
 public:
  Quota();
  // Counts the commands of a stream.
  void Count(const std::vector<uint32_t>& words);
  uint64_t commands() const { return commands_; }
  // Cells, and those that were hit at least once.
  size_t cells() const { return hits_.size(); }
  size_t hit() const;
  // What was not, one line per instruction and mode.
  std::string Missing() const;
  // "conv maxpool": how often.
  const std::map<std::string, uint64_t>& kinds() const { return kinds_; }

 private:
  // Kind, field, and what of it.
  struct Key {
    std::string kind;
    std::string field;
    std::string value;
    bool operator<(const Key& o) const {
      if (kind != o.kind) return kind < o.kind;
      return field != o.field ? field < o.field : value < o.value;
    }
  };
  std::map<Key, uint64_t> hits_;
  std::map<std::string, uint64_t> kinds_;
  uint64_t commands_ = 0;
};

}  // namespace heddle::lockstep

#endif  // HEDDLE_TESTS_LOCKSTEP_QUOTA_H_
