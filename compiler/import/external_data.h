// SPDX-License-Identifier: Apache-2.0
// Data of tensors that a model keeps in files of its folder: the entries of
// TensorProto.external_data.
//
//   location   path below the model's folder; "/", ".." and links that lead out
//              of the folder are refused
//   offset     bytes from the file's beginning, 0 without
//   length     bytes of the tensor; must agree with type and shape
//   checksum   SHA-1 of the whole file, 40 hexadecimal digits
#ifndef HEDDLE_COMPILER_IMPORT_EXTERNAL_DATA_H_
#define HEDDLE_COMPILER_IMPORT_EXTERNAL_DATA_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/mapped_file.h"
#include "compiler/ir/tensor_bytes.h"

namespace heddle::compiler {

// Bytes that a model may take from its files: a file can have holes, and many
// tensors can name the same bytes, so the files' own size is no bound.
inline constexpr int64_t kMaxExternalBytes = int64_t{8} << 30;

class ExternalData {
 public:
  // Files of `folder`; "" is no folder: every tensor is refused.
  explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}
  ~ExternalData();
  ExternalData(const ExternalData&) = delete;
  ExternalData& operator=(const ExternalData&) = delete;

  // The `bytes` bytes of a tensor. `what` names it in messages. With
  // `view_alignment` they may be a view of the file, mapped, if they lie at a
  // multiple of it there. Rejections:
  // kInvalidModel, with the entry at fault; kNoSystemMemory beyond
  // kMaxExternalBytes, together or of a file whose checksum is asked for.
  absl::StatusOr<TensorBytes> Read(const onnx::TensorProto& proto,
                                   const std::string& what, int64_t bytes,
                                   int64_t view_alignment = 0);
  // The 32 bytes of the SHA-256 of a whole file. Rejections as of Read.
  absl::StatusOr<std::string> Sha256(const std::string& location);
  // Those of which there are views.
  std::vector<std::shared_ptr<const MappedFile>> Mapped() const;

 private:
  struct File {
    int descriptor = -1;
    int64_t size = 0;
    std::string sha1;                          // "" until somebody asks
    std::shared_ptr<const MappedFile> mapped;  // when there is a view
  };

  absl::StatusOr<File*> Open(const std::string& location,
                             const std::string& what);
  static absl::Status Check(const std::string& checksum,
                            const std::string& what, File* file);

  const std::string folder_;
  std::string real_folder_;
  std::map<std::string, File> files_;  // by location
  int64_t left_ = kMaxExternalBytes;   // still free
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_EXTERNAL_DATA_H_
