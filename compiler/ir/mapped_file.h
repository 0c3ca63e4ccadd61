// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, mapped: they are read when somebody looks at them, and
// take no memory of the process's own.
//
// Somebody may change the file while it is mapped. Then its bytes are old ones
// or new ones, also between two looks: what is checked must be copied, or not
// be relied upon. Where the file has become shorter, or cannot be read, the
// system raises SIGBUS: a handler, which the first mapping of the process
// installs, puts zeros in the place of what is gone, in such mappings only;
// everything else it leaves to the handler that was there before. In both cases
// Unchanged() says so: to be asked when the work is done, before its result is
// given to anybody.
#ifndef HEDDLE_COMPILER_IR_MAPPED_FILE_H_
#define HEDDLE_COMPILER_IR_MAPPED_FILE_H_

#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::compiler {

class MappedFile {
 public:
  // What cannot be mapped, a pipe for one, is read instead. NotFound: cannot be
  // opened. DataLoss: cannot be read.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(
      const std::string& path);
  // An open regular file of that many bytes; `name` for messages. Null if it
  // cannot be mapped. The descriptor stays the caller's.
  static std::shared_ptr<const MappedFile> Map(int descriptor, size_t size,
                                               const std::string& name);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  absl::string_view bytes() const { return bytes_; }
  // FailedPrecondition if the file was changed since it was mapped.
  absl::Status Unchanged() const;

 private:
  struct Slot;
  class Slots;

  MappedFile() = default;

  std::string name_;
  absl::string_view bytes_;
  std::string read_;      // instead of a mapping
  int descriptor_ = -1;   // of a mapping
  struct stat facts_ {};  // when it was mapped
  Slot* slot_ = nullptr;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IR_MAPPED_FILE_H_
