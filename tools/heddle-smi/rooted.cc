// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-smi/rooted.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"

namespace heddle::smi {
namespace {

constexpr size_t kReadMax = 1 << 20;

bool IsNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
}

}  // namespace

Rooted::Rooted(std::string root) : root_(std::move(root)) {
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

std::optional<std::string> Rooted::Read(const std::string& path) const {
  // A FIFO of a made-up tree must not block.
  const int fd = open(Path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  std::string text;
  char buffer[4096];
  ssize_t n;
  while (text.size() < kReadMax && (n = read(fd, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(n));
  }
  const bool failed = text.empty() && n < 0;
  close(fd);
  if (failed) return std::nullopt;
  return text;
}

std::string Rooted::Line(const std::string& path) const {
  return std::string(absl::StripAsciiWhitespace(Read(path).value_or("")));
}

std::vector<std::string> Rooted::List(const std::string& path) const {
  std::vector<std::string> names;
  DIR* folder = opendir(Path(path).c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) {
              const bool first = IsNumber(a), second = IsNumber(b);
              if (first != second) return first;
              if (first && a.size() != b.size()) return a.size() < b.size();
              return a < b;
            });
  return names;
}

bool Rooted::Exists(const std::string& path) const {
  struct stat ignored;
  return stat(Path(path).c_str(), &ignored) == 0;
}

std::string Rooted::LinkName(const std::string& path) const {
  char target[PATH_MAX];
  const ssize_t n = readlink(Path(path).c_str(), target, sizeof(target));
  if (n <= 0) return "";
  const std::string text(target, static_cast<size_t>(n));
  return text.substr(text.rfind('/') + 1);
}

}  // namespace heddle::smi
