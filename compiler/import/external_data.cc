// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/external_data.h"

#include <fcntl.h>
#include <limits.h>
#include <nettle/sha1.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/quote.h"

namespace heddle::compiler {
namespace {

// Open files of one model; more are an attack, not a model.
constexpr size_t kMostFiles = 256;

template <typename... Args>
absl::Status Invalid(const std::string& what, const Args&... why) {
  return Reject(Rejection::kInvalidModel, absl::StrCat(what, ": ", why...));
}

struct Entries {
  std::string location, checksum;
  int64_t offset = 0;
  int64_t length = -1;
};

absl::StatusOr<Entries> ReadEntries(const onnx::TensorProto& proto,
                                    const std::string& what) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : proto.external_data()) {
    if (!texts.emplace(entry.key(), entry.value()).second) {
      return Invalid(what, "external_data has two entries ",
                     Quote(entry.key()));
    }
  }
  Entries entries;
  const auto number = [&](const std::string& text, const char* key,
                          int64_t* value) -> absl::Status {
    if (!absl::SimpleAtoi(text, value) || *value < 0) {
      return Invalid(what, "external_data has the ", key, " ", Quote(text),
                     ", must be a number of bytes");
    }
    return absl::OkStatus();
  };
  for (const auto& [key, text] : texts) {
    absl::Status status;
    if (key == "location") {
      entries.location = text;
    } else if (key == "offset") {
      status = number(text, "offset", &entries.offset);
    } else if (key == "length") {
      status = number(text, "length", &entries.length);
    } else if (key == "checksum") {
      entries.checksum = absl::AsciiStrToLower(text);
      const bool hex =
          std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
      if (text.size() != 40 || !hex) {
        status = Invalid(what, "external_data has the checksum ", Quote(text),
                         ", must be the 40 hexadecimal digits of a SHA-1");
      }
    } else {
      status = Invalid(what, "external_data has the unknown entry ", Quote(key),
                       "; known are location, offset, length, checksum");
    }
    if (!status.ok()) return status;
  }
  if (entries.location.empty()) {
    return Invalid(what, "external_data has no location");
  }
  return entries;
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return absl::StartsWith(path, folder == "/" ? folder : folder + "/");
}

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(
      realpath(path.c_str(), nullptr), free);
  return real == nullptr ? "" : real.get();
}

// Where an open file is; immune to changes of the folder since it was opened.
std::string PathOf(int descriptor) {
  char path[PATH_MAX];
  const ssize_t size = readlink(
      absl::StrCat("/proc/self/fd/", descriptor).c_str(), path, sizeof(path));
  return size < 0 ? "" : std::string(path, static_cast<size_t>(size));
}

bool ReadAt(int descriptor, int64_t offset, uint8_t* data, size_t size) {
  while (size > 0) {
    const ssize_t count =
        pread(descriptor, data, std::min<size_t>(size, 1 << 30), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = ESTALE;  // shorter than it was
    if (count <= 0) return false;
    data += count;
    offset += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

// Gives the file's bytes to `take`, in order; whether it can be read.
bool ReadAll(int descriptor, int64_t size,
             const std::function<void(absl::string_view)>& take) {
  std::vector<uint8_t> block(1 << 20);
  for (int64_t at = 0; at < size;) {
    const auto count = static_cast<size_t>(
        std::min<int64_t>(size - at, static_cast<int64_t>(block.size())));
    if (!ReadAt(descriptor, at, block.data(), count)) return false;
    take({reinterpret_cast<const char*>(block.data()), count});
    at += static_cast<int64_t>(count);
  }
  return true;
}

// In hexadecimal digits; "" if the file cannot be read.
std::string Sha1OfFile(int descriptor, int64_t size) {
  sha1_ctx context;
  sha1_init(&context);
  if (!ReadAll(descriptor, size, [&](absl::string_view bytes) {
        sha1_update(&context, bytes.size(),
                    reinterpret_cast<const uint8_t*>(bytes.data()));
      })) {
    return "";
  }
  std::string digest(SHA1_DIGEST_SIZE, '\0');
  sha1_digest(&context, digest.size(), reinterpret_cast<uint8_t*>(&digest[0]));
  return absl::BytesToHexString(digest);
}

}  // namespace

ExternalData::~ExternalData() {
  for (const auto& [location, file] : files_) close(file.descriptor);
}

absl::StatusOr<ExternalData::File*> ExternalData::Open(
    const std::string& location, const std::string& what) {
  const auto known = files_.find(location);
  if (known != files_.end()) return &known->second;
  const auto refuse = [&](const std::string& why) {
    return Invalid(what, "keeps its data in the file ", Quote(location), ", ",
                   why);
  };
  if (folder_.empty()) {
    return refuse(
        "but a model passed as bytes has no folder; store the data inside the "
        "model, or compile the file with heddle-compile");
  }
  if (files_.size() >= kMostFiles) {
    return refuse(absl::StrCat("which is one file more than ", kMostFiles,
                               "; store the data in fewer files"));
  }
  const std::vector<std::string> parts = absl::StrSplit(location, '/');
  if (location[0] == '/' || location.find('\0') != std::string::npos ||
      std::count(parts.begin(), parts.end(), "..") != 0) {
    return refuse(
        "which is not a path below the model's folder; absolute paths and "
        "\"..\" are rejected");
  }
  if (real_folder_.empty()) real_folder_ = RealPath(folder_);
  if (real_folder_.empty()) {
    return refuse(absl::StrCat("and the model's folder cannot be opened: ",
                               std::strerror(errno)));
  }
  const std::string path = RealPath(absl::StrCat(real_folder_, "/", location));
  if (path.empty()) {
    return refuse(
        absl::StrCat("which cannot be opened: ", std::strerror(errno)));
  }
  static constexpr char kOutside[] =
      "which is a link out of the model's folder; put the data beside the "
      "model";
  if (!IsBelow(path, real_folder_)) return refuse(kOutside);
  File file;
  // Not blocking: opening a pipe must not wait for its writer.
  file.descriptor = open(
      path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (file.descriptor < 0) {
    return refuse(
        absl::StrCat("which cannot be opened: ", std::strerror(errno)));
  }
  struct stat facts;
  const bool regular =
      fstat(file.descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  // The folder may have been changed between the two looks.
  if (!regular || !IsBelow(PathOf(file.descriptor), real_folder_)) {
    close(file.descriptor);
    return refuse(regular ? kOutside : "which is not a regular file");
  }
  file.size = facts.st_size;
  return &(files_[location] = file);
}

absl::Status ExternalData::Check(const std::string& checksum,
                                 const std::string& what, File* file) {
  if (file->size > kMaxExternalBytes) {
    return Reject(Rejection::kNoSystemMemory,
                  absl::StrCat(what, ": its file has ", file->size,
                               " bytes; checksums are verified up to ",
                               kMaxExternalBytes, "; leave checksum out"));
  }
  if (file->sha1.empty()) {
    file->sha1 = Sha1OfFile(file->descriptor, file->size);
  }
  if (file->sha1 == checksum) return absl::OkStatus();
  return Invalid(what, "its file has the SHA-1 ",
                 file->sha1.empty() ? "(cannot be read)" : file->sha1,
                 ", external_data says ", checksum,
                 "; the file does not belong to this model");
}

absl::StatusOr<std::string> ExternalData::Sha256(const std::string& location) {
  const std::string what = "a tensor";
  if (location.empty()) {
    return Invalid(what, "external_data has no location");
  }
  ASSIGN_OR_RETURN(const File* file, Open(location, what));
  if (file->size > kMaxExternalBytes) {
    return Reject(Rejection::kNoSystemMemory,
                  absl::StrCat(Quote(location), " has ", file->size,
                               " bytes, more than the ", kMaxExternalBytes,
                               " that a model may keep in files"));
  }
  class Sha256 sha256;
  if (!ReadAll(file->descriptor, file->size,
               [&](absl::string_view bytes) { sha256.Update(bytes); })) {
    return Invalid(what, Quote(location),
                   " cannot be read: ", std::strerror(errno));
  }
  const Sha256Digest digest = sha256.Finish();
  return std::string(digest.begin(), digest.end());
}

std::vector<std::shared_ptr<const MappedFile>> ExternalData::Mapped() const {
  std::vector<std::shared_ptr<const MappedFile>> mapped;
  for (const auto& [location, file] : files_) {
    if (file.mapped != nullptr) mapped.push_back(file.mapped);
  }
  return mapped;
}

absl::StatusOr<TensorBytes> ExternalData::Read(const onnx::TensorProto& proto,
                                               const std::string& what,
                                               int64_t bytes,
                                               int64_t view_alignment) {
  ASSIGN_OR_RETURN(const auto entries, ReadEntries(proto, what));
  ASSIGN_OR_RETURN(auto file, Open(entries.location, what));
  if (entries.length >= 0 && entries.length != bytes) {
    return Invalid(what, "external_data has length ", entries.length,
                   ", type and shape need ", bytes, " bytes");
  }
  // All three are not negative, so the difference cannot overflow.
  if (bytes > file->size || entries.offset > file->size - bytes) {
    return Invalid(what, "its data are ", bytes, " bytes from offset ",
                   entries.offset, " of ", Quote(entries.location),
                   ", but that file has ", file->size, " bytes");
  }
  if (bytes > left_) {
    return Reject(
        Rejection::kNoSystemMemory,
        absl::StrCat(what, ": its ", bytes, " bytes in ",
                     Quote(entries.location), " exceed the remaining ", left_,
                     " of the ", kMaxExternalBytes,
                     " bytes that a model may keep in files"));
  }
  left_ -= bytes;
  if (!entries.checksum.empty()) {
    RETURN_IF_ERROR(Check(entries.checksum, what, file));
  }
  if (view_alignment != 0 && entries.offset % view_alignment == 0) {
    if (file->mapped == nullptr) {
      file->mapped = MappedFile::Map(
          file->descriptor, static_cast<size_t>(file->size), entries.location);
    }
    if (file->mapped != nullptr) {
      return TensorBytes::View(file->mapped->bytes().data() + entries.offset,
                               static_cast<size_t>(bytes), file->mapped);
    }
  }
  std::vector<uint8_t> data(static_cast<size_t>(bytes));
  if (!ReadAt(file->descriptor, entries.offset, data.data(), data.size())) {
    return Invalid(what, Quote(entries.location),
                   " cannot be read: ", std::strerror(errno));
  }
  return data;
}

}  // namespace heddle::compiler
