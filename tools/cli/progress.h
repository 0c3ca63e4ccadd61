// SPDX-License-Identifier: Apache-2.0
// Progress of long work on stderr: nothing in the first second, then one line
// that is rewritten on a terminal. Elsewhere nothing, unless forced: then a
// line whenever the text changes, at most one per second.
#ifndef HEDDLE_TOOLS_CLI_PROGRESS_H_
#define HEDDLE_TOOLS_CLI_PROGRESS_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace heddle::cli {

// "about 40 s left", "about 3 min left": after `passed` seconds, when `part`
// of the work is done. "" if that is too early to tell.
std::string TimeLeft(double passed, double part);

class Progress {
 public:
  // `fd` is stderr's unless a test says otherwise.
  explicit Progress(std::string tool, bool force, int fd = 2,
                    std::chrono::milliseconds delay = std::chrono::seconds(1));
  // Takes the line back.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is done now; any thread, cheap. `part` of it, 0 to 1, is done: after
  // two seconds of that the time that is left is shown, too. A call without, or
  // with a smaller one, begins something new.
  void Set(std::string text, double part = -1);
  // Takes the line back for good; before other output.
  void Stop();

 private:
  void Loop();
  void Show(const std::string& text, int seconds, const std::string& left);
  std::string Left() const;  // holds mutex_
  void Write(const std::string& text) const;

  const std::string tool_;
  const int fd_;
  const std::chrono::milliseconds delay_;
  const std::chrono::steady_clock::time_point start_;
  bool terminal_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string text_;                             // guarded by mutex_
  double part_ = -1;                             // guarded by mutex_
  std::chrono::steady_clock::time_point begun_;  // what part_ is of; the same
  bool stop_ = false;                            // guarded by mutex_
  std::string shown_;                            // of the thread
  bool line_ = false;  // of the thread: there is a line to take back
  std::thread thread_;
};

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_PROGRESS_H_
