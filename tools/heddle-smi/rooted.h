// SPDX-License-Identifier: Apache-2.0
// Files of the system (/proc, /sys, /dev) below a root that tests choose.
#ifndef HEDDLE_TOOLS_HEDDLE_SMI_ROOTED_H_
#define HEDDLE_TOOLS_HEDDLE_SMI_ROOTED_H_

#include <optional>
#include <string>
#include <vector>

namespace heddle::smi {

class Rooted {
 public:
  // "" or "/": the system itself.
  explicit Rooted(std::string root = "");

  bool real() const { return root_.empty(); }
  // Where `path`, which begins with '/', is.
  std::string Path(const std::string& path) const { return root_ + path; }
  // The first 1 MiB of a file. Nothing: it cannot be read.
  std::optional<std::string> Read(const std::string& path) const;
  // Read() without white space at the ends; "" if it cannot be read.
  std::string Line(const std::string& path) const;
  // Names in a folder, in order; numbers first, by their value. Empty if it
  // cannot be read.
  std::vector<std::string> List(const std::string& path) const;
  bool Exists(const std::string& path) const;
  // Last part of what a link leads to; "" if there is no such link.
  std::string LinkName(const std::string& path) const;

 private:
  std::string root_;
};

}  // namespace heddle::smi

#endif  // HEDDLE_TOOLS_HEDDLE_SMI_ROOTED_H_
