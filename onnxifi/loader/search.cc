// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/search.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "onnxifi/loader/log.h"
#include "onnxifi/loader/vendor.h"

namespace heddle::onnxifi_loader {
namespace {

constexpr char kFolders[] = "/usr/lib";
constexpr char kConfiguration[] = "/etc/onnxifi.d";
constexpr char kPrefix[] = "libonnxifi-", kSuffix[] = ".so";
constexpr int kMaxSeconds = 3600;

bool Begins(const std::string& text, const char* with) {
  return text.compare(0, std::strlen(with), with) == 0;
}
bool Ends(const std::string& text, const char* with) {
  const size_t size = std::strlen(with);
  return text.size() > size &&
         text.compare(text.size() - size, size, with) == 0;
}

// Of the bytes, whatever the locale.
int ByName(const dirent** a, const dirent** b) {
  return std::strcmp((*a)->d_name, (*b)->d_name);
}

// The names in a folder, sorted; none if it cannot be read.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  dirent** entries = nullptr;
  const int count = scandir(folder.c_str(), &entries, nullptr, &ByName);
  for (int i = 0; i < count; ++i) {
    names.push_back(entries[i]->d_name);
    std::free(entries[i]);
  }
  std::free(entries);
  return names;
}

// False if there is no such file.
bool Identify(Candidate* candidate) {
  struct stat info;
  if (stat(candidate->path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return false;
  }
  candidate->device = info.st_dev;
  candidate->inode = info.st_ino;
  candidate->modified_ns =
      int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec;
  candidate->bytes = info.st_size;
  return true;
}

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

struct Configured {
  Candidate candidate;
  bool enabled = true;
};

// Null, or what is wrong with a line.
const char* Apply(const std::string& key, const std::string& value,
                  Configured* to) {
  if (key == "library") {
    if (value.empty() || value[0] != '/') return "is not an absolute path";
    to->candidate.path = value;
  } else if (key == "abi") {
    if (value != "extended" && value != "onnx1") {
      return "is neither extended nor onnx1";
    }
    to->candidate.descriptor_bytes =
        value == "extended" ? kExtendedBytes : kOnnx1Bytes;
  } else if (key == "discovery_seconds") {
    char* end = nullptr;
    const long seconds = std::strtol(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0' || seconds < 1 || seconds > kMaxSeconds) {
      return "is not a number of seconds from 1 to 3600";
    }
    to->candidate.seconds = static_cast<int>(seconds);
  } else if (key == "enabled") {
    if (value != "yes" && value != "no") return "is neither yes nor no";
    to->enabled = value == "yes";
  } else {
    return "has an unknown key (known: library, abi, discovery_seconds, "
           "enabled)";
  }
  return nullptr;
}

bool ReadConfiguration(const std::string& path, Configured* to) {
  FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) {
    Log(Level::kWarning, "%s cannot be read; skipped", path.c_str());
    return false;
  }
  char line[4096];
  const char* wrong = nullptr;
  int number = 0;
  while (wrong == nullptr && std::fgets(line, sizeof(line), file) != nullptr) {
    ++number;
    const std::string text = Trimmed(line);
    if (text.empty() || text[0] == '#') continue;
    const size_t equals = text.find('=');
    wrong = equals == std::string::npos
                ? "has no '='"
                : Apply(Trimmed(text.substr(0, equals)),
                        Trimmed(text.substr(equals + 1)), to);
  }
  std::fclose(file);
  if (wrong != nullptr) {
    Log(Level::kWarning, "%s: line %d %s; skipped", path.c_str(), number,
        wrong);
  } else if (to->candidate.path.empty()) {
    Log(Level::kWarning, "%s has no line library = PATH; skipped",
        path.c_str());
  }
  return wrong == nullptr && !to->candidate.path.empty();
}

std::vector<Configured> ReadConfigurations() {
  const char* chosen = secure_getenv("ONNXIFI_CONFIG_DIR");
  const std::string folder = chosen != nullptr ? chosen : kConfiguration;
  std::vector<Configured> all;
  for (const std::string& name : NamesIn(folder)) {
    if (!Ends(name, ".conf")) continue;
    Configured one;
    if (ReadConfiguration(folder + "/" + name, &one)) all.push_back(one);
  }
  return all;
}

// Folders and libraries between colons.
std::vector<std::string> Places() {
  const char* chosen = secure_getenv("ONNXIFI_VENDOR_PATH");
  const std::string text = chosen != nullptr ? chosen : kFolders;
  std::vector<std::string> places;
  for (size_t at = 0; at <= text.size();) {
    const size_t colon = std::min(text.find(':', at), text.size());
    if (colon > at) places.push_back(text.substr(at, colon - at));
    at = colon + 1;
  }
  return places;
}

}  // namespace

std::vector<Candidate> FindCandidates() {
  std::vector<Candidate> all, disabled;
  const auto add = [&](const Candidate& candidate) {
    for (const std::vector<Candidate>* list : {&all, &disabled}) {
      for (const Candidate& other : *list) {
        if (other.SameFile(candidate)) return;
      }
    }
    all.push_back(candidate);
  };
  for (Configured& one : ReadConfigurations()) {
    if (!Identify(&one.candidate)) {
      if (one.enabled) {
        Log(Level::kInfo, "%s is configured but missing",
            one.candidate.path.c_str());
      }
    } else if (one.enabled) {
      add(one.candidate);
    } else {
      disabled.push_back(one.candidate);
    }
  }
  for (const std::string& place : Places()) {
    Candidate candidate;
    candidate.path = place;
    if (Identify(&candidate)) {
      add(candidate);
      continue;
    }
    for (const std::string& name : NamesIn(place)) {
      if (!Begins(name, kPrefix) || !Ends(name.substr(1), kSuffix) ||
          name.size() < sizeof(kPrefix) + sizeof(kSuffix) - 1) {
        continue;
      }
      candidate.path = place + "/" + name;
      if (Identify(&candidate)) add(candidate);
    }
  }
  return all;
}

}  // namespace heddle::onnxifi_loader
