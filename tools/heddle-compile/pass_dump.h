// SPDX-License-Identifier: Apache-2.0
// What heddle-compile shows of the passes: their table, the state after one of
// them, files with the state before and after each.
#ifndef HEDDLE_TOOLS_HEDDLE_COMPILE_PASS_DUMP_H_
#define HEDDLE_TOOLS_HEDDLE_COMPILE_PASS_DUMP_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/base/options.h"

namespace heddle::compile {

// One line per pass: name, what it does.
std::string PassTable();

// Watches a compilation. Files are FOLDER/NN-PASS.before.txt and .after.txt; NN
// is the place of the pass. Nothing comes before the first.
class PassDump {
 public:
  // "" for no folder; "" for no end. `stop_after` is the name of a pass.
  PassDump(std::string folder, std::string stop_after)
      : folder_(std::move(folder)), stop_after_(std::move(stop_after)) {}

  // Makes the folder. The compilation must end before this object does.
  absl::Status Attach(compiler::CompileOptions* options);

  // Whether the compilation was ended after the pass that was asked for (its
  // status then says nothing more), and the state there.
  bool stopped() const { return stopped_; }
  const std::string& text() const { return text_; }

 private:
  absl::Status After(const std::string& pass, std::string state);

  const std::string folder_, stop_after_;
  std::string text_;  // the state after the last pass
  bool first_ = true, stopped_ = false;
};

}  // namespace heddle::compile

#endif  // HEDDLE_TOOLS_HEDDLE_COMPILE_PASS_DUMP_H_
