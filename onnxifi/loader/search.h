// SPDX-License-Identifier: Apache-2.0
// Which libraries to try, in an order independent of the file system's.
//
//   ONNXIFI_VENDOR_PATH   folders (their libonnxifi-*.so) and libraries,
//                         separated by colons; instead of /usr/lib
//   ONNXIFI_CONFIG_DIR    folder of *.conf files; instead of /etc/onnxifi.d
//
// Programs with more rights than their user (set-user-ID) ignore both. A
// configuration file describes one library: lines KEY = VALUE, # comments,
//
//   library = /opt/acme/libonnxifi-acme.so    required, an absolute path
//   abi = extended | onnx1                    if it has no marker: not probed
//   discovery_seconds = 30                    its time limit
//   enabled = no                              skip it, found or not
//
// A file with an invalid line is skipped as a whole, with a log line.
#ifndef HEDDLE_ONNXIFI_LOADER_SEARCH_H_
#define HEDDLE_ONNXIFI_LOADER_SEARCH_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::onnxifi_loader {

constexpr int kDefaultSeconds = 10;

struct Candidate {
  std::string path;
  uint32_t descriptor_bytes = 0;  // 0: not configured
  int seconds = kDefaultSeconds;
  // Which file this is, and which state of it.
  dev_t device = 0;
  ino_t inode = 0;
  int64_t modified_ns = 0;
  int64_t bytes = 0;

  bool SameFile(const Candidate& other) const {
    return device == other.device && inode == other.inode;
  }
  bool SameState(const Candidate& other) const {
    return SameFile(other) && modified_ns == other.modified_ns &&
           bytes == other.bytes && seconds == other.seconds &&
           descriptor_bytes == other.descriptor_bytes;
  }
};

// Configured libraries in the order of their files, then found ones by folder
// and name; each file once. May throw std::bad_alloc.
std::vector<Candidate> FindCandidates();

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_SEARCH_H_
