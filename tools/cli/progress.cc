// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/printable.h"

namespace heddle::cli {

Progress::Progress(std::string tool, bool force, int fd,
                   std::chrono::milliseconds delay)
    : tool_(std::move(tool)),
      fd_(fd),
      delay_(delay),
      start_(std::chrono::steady_clock::now()),
      terminal_(isatty(fd) == 1) {
  if (terminal_ || force) thread_ = std::thread([this] { Loop(); });
}

Progress::~Progress() { Stop(); }

std::string TimeLeft(double passed, double part) {
  if (passed < 2 || part <= 0 || part > 1) return "";
  const double left = passed * (1 - part) / part;
  if (left < 60) {
    return absl::StrCat("about ", static_cast<int>(std::ceil(left)), " s left");
  }
  if (left < 5400) {
    return absl::StrCat("about ", static_cast<int>(left / 60 + 0.5),
                        " min left");
  }
  return absl::StrFormat("about %.1f h left", std::min(left / 3600, 1e6));
}

void Progress::Set(std::string text, double part) {
  const std::lock_guard<std::mutex> lock(mutex_);
  text_ = std::move(text);
  if (part_ < 0 || part < part_) begun_ = std::chrono::steady_clock::now();
  part_ = part;
}

std::string Progress::Left() const {
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - begun_;
  return part_ < 0 ? "" : TimeLeft(passed.count(), part_);
}

void Progress::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::chrono::milliseconds pause = delay_;
  while (!wake_.wait_for(lock, pause, [this] { return stop_; })) {
    const std::string text = text_;
    const std::string left = Left();
    lock.unlock();
    const auto passed = std::chrono::steady_clock::now() - start_;
    Show(text,
         static_cast<int>(
             std::chrono::duration_cast<std::chrono::seconds>(passed).count()),
         left);
    lock.lock();
    pause = terminal_ ? std::chrono::milliseconds(200)
                      : std::min<std::chrono::milliseconds>(
                            delay_, std::chrono::seconds(1));
  }
  if (line_) Write("\r\033[K");
}

void Progress::Show(const std::string& text, int seconds,
                    const std::string& left) {
  if (text.empty()) return;
  const std::string line =
      absl::StrCat(tool_, ": ", Printable(text), " (", seconds, " s",
                   left.empty() ? "" : ", ", left, ")");
  if (terminal_) {
    Write("\r\033[K" + line);
    line_ = true;
  } else if (text != shown_) {
    Write(line + "\n");
    shown_ = text;
  }
}

void Progress::Write(const std::string& text) const {
  // Progress that cannot be shown is no error.
  const ssize_t ignored = write(fd_, text.data(), text.size());
  static_cast<void>(ignored);
}

}  // namespace heddle::cli
