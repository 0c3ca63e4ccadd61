// SPDX-License-Identifier: Apache-2.0
#include "compiler/cache/file_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::compiler {
namespace {

namespace fs = std::filesystem;

CacheKey KeyOf(uint8_t first) {
  CacheKey key{};
  key[0] = first;
  return key;
}

std::string Bytes(uint32_t seed, size_t size) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

class FileCacheTest : public testing::Test {
 protected:
  FileCacheTest() {
    char name[] = "/tmp/hfc-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~FileCacheTest() override {
    chmod(folder_.c_str(), 0700);
    fs::remove_all(folder_);
  }
  FileCache Open(uint64_t most = FileCache::kDefaultMostBytes) {
    auto cache = FileCache::Open(folder_, most);
    EXPECT_TRUE(cache.ok()) << cache.status();
    return *std::move(cache);
  }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      files.push_back(entry.path());
    }
    return files;
  }
  static std::string Read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static void Write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string folder_;
};

TEST_F(FileCacheTest, KeepsBytes) {
  const FileCache cache = Open();
  EXPECT_TRUE(absl::IsNotFound(cache.Find(KeyOf(1)).status()));
  for (size_t size : {0, 1, 87, 100'000}) {
    const std::string bytes = Bytes(1, size);
    ASSERT_TRUE(cache.Store(KeyOf(1), bytes).ok());
    const auto found = Open().Find(KeyOf(1));
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, bytes);
  }
  EXPECT_TRUE(absl::IsNotFound(cache.Find(KeyOf(2)).status()));
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(FileCacheTest, MakesItsFolderForTheUserAlone) {
  const std::string deep = folder_ + "/a/b/c";
  ASSERT_TRUE(FileCache::Open(deep).ok());
  EXPECT_EQ(fs::status(deep).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(absl::IsInvalidArgument(FileCache::Open("").status()));
  Write(folder_ + "/file", "");
  EXPECT_TRUE(
      absl::IsInvalidArgument(FileCache::Open(folder_ + "/file").status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(FileCache::Open(folder_ + "/file/x").status()));
  chmod(deep.c_str(), 0770);
  const absl::Status shared = FileCache::Open(deep).status();
  EXPECT_TRUE(absl::IsInvalidArgument(shared)) << shared;
  EXPECT_NE(shared.message().find("chmod"), std::string::npos);
}

// Whatever byte is wrong, and wherever the file ends.
TEST_F(FileCacheTest, FindsDamage) {
  const FileCache cache = Open();
  const std::string bytes = Bytes(1, 300);
  ASSERT_TRUE(cache.Store(KeyOf(1), bytes).ok());
  const fs::path file = Files()[0];
  const std::string good = Read(file);
  const auto is_damage = [&](const std::string& bad) {
    Write(file, bad);
    const absl::Status status = cache.Find(KeyOf(1)).status();
    const bool removed = !fs::exists(file);
    return absl::IsDataLoss(status) && removed &&
           status.message().find(file.filename().string()) != std::string::npos;
  };
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    EXPECT_TRUE(is_damage(bad)) << at;
  }
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(is_damage(good.substr(0, size))) << size;
  }
  EXPECT_TRUE(is_damage(good + '\0'));
  // Another entry under this name, or of another format.
  EXPECT_TRUE(is_damage(PackCacheEntry(KeyOf(2), bytes)));
  ASSERT_TRUE(cache.Store(KeyOf(1), bytes).ok()) << "made again";
  EXPECT_EQ(*cache.Find(KeyOf(1)), bytes);
}

TEST_F(FileCacheTest, OpensNothingButFiles) {
  const FileCache cache = Open();
  ASSERT_TRUE(cache.Store(KeyOf(1), "x").ok());
  const std::string file = Files()[0];
  unlink(file.c_str());
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_TRUE(absl::IsDataLoss(cache.Find(KeyOf(1)).status()));
  ASSERT_EQ(symlink("/dev/zero", file.c_str()), 0);
  EXPECT_FALSE(cache.Find(KeyOf(1)).ok());
  EXPECT_TRUE(cache.Store(KeyOf(1), "x").ok());
  EXPECT_EQ(*cache.Find(KeyOf(1)), "x");
}

TEST_F(FileCacheTest, RemovesWhatWasUsedLeastRecently) {
  const FileCache cache = Open(4000);
  for (uint8_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(cache.Store(KeyOf(i), Bytes(i, 1000)).ok());
    usleep(20'000);  // a tick of the file system's clock
  }
  EXPECT_TRUE(cache.Find(KeyOf(0)).ok());
  usleep(20'000);
  ASSERT_TRUE(cache.Store(KeyOf(3), Bytes(3, 1000)).ok());
  EXPECT_FALSE(cache.Find(KeyOf(1)).ok());
  for (uint8_t i : {0, 2, 3}) EXPECT_TRUE(cache.Find(KeyOf(i)).ok()) << i;
  // An entry that is larger than all of it costs nobody its place.
  EXPECT_TRUE(absl::IsResourceExhausted(cache.Store(KeyOf(4), Bytes(4, 4000))));
  EXPECT_EQ(Files().size(), 3u);
  ASSERT_TRUE(cache.Store(KeyOf(4), Bytes(4, 3900)).ok());
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(FileCacheTest, LeavesOtherFilesAlone) {
  const FileCache cache = Open(1000);
  Write(folder_ + "/notes.txt", Bytes(1, 5000));
  Write(folder_ + "/new-fresh", "x");
  Write(folder_ + "/new-stale", "x");
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  utimensat(AT_FDCWD, (folder_ + "/new-stale").c_str(), old, 0);
  ASSERT_TRUE(cache.Store(KeyOf(1), Bytes(1, 800)).ok());
  EXPECT_TRUE(fs::exists(folder_ + "/notes.txt"));
  EXPECT_TRUE(fs::exists(folder_ + "/new-fresh"));
  EXPECT_FALSE(fs::exists(folder_ + "/new-stale"));
}

// In a process of its own.
int InChild(const std::function<bool()>& test) {
  const pid_t child = fork();
  if (child == 0) _exit(test() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(FileCacheTest, ReadsAFolderThatCannotBeWritten) {
  ASSERT_TRUE(Open().Store(KeyOf(1), "x").ok());
  ASSERT_EQ(chmod(folder_.c_str(), 0500), 0);
  EXPECT_EQ(
      InChild([&] {
        // Root could write everywhere.
        __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
        const __user_cap_data_struct none[2] = {};
        if (syscall(SYS_capset, &header, none) != 0) return false;
        const auto cache = FileCache::Open(folder_);
        if (!cache.ok()) return false;
        const auto found = cache->Find(KeyOf(1));
        const absl::Status stored = cache->Store(KeyOf(2), "y");
        return found.ok() && *found == "x" &&
               absl::IsFailedPrecondition(stored);
      }),
      0);
  EXPECT_EQ(Files().size(), 1u);
}

// A disk that is full, and a limit of the process (whose signal would end it).
TEST_F(FileCacheTest, NoRoomLeavesNothing) {
  EXPECT_EQ(InChild([&] {
              const auto cache = FileCache::Open(folder_);
              const rlimit limit = {4096, 4096};
              if (!cache.ok() || setrlimit(RLIMIT_FSIZE, &limit) != 0) {
                return false;
              }
              return absl::IsResourceExhausted(
                         cache->Store(KeyOf(1), Bytes(1, 5000))) &&
                     cache->Store(KeyOf(2), Bytes(2, 3000)).ok();
            }),
            0);
  EXPECT_EQ(Files().size(), 1u);
}

// Each sees no entry or a whole one, whoever writes or removes meanwhile.
TEST_F(FileCacheTest, SeveralProcessesAtOnce) {
  constexpr int kProcesses = 4, kRounds = 60;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      const auto cache = FileCache::Open(folder_, 120'000);
      bool good = cache.ok();
      for (int i = 0; good && i < kRounds; ++i) {
        const auto key = static_cast<uint8_t>((i + p) % 5);
        const std::string bytes = Bytes(key, 40'000);
        good = cache->Store(KeyOf(key), bytes).ok();
        const auto found = cache->Find(KeyOf(key));
        good = good && (found.ok() ? *found == bytes
                                   : absl::IsNotFound(found.status()));
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path& file : Files()) {
    EXPECT_EQ(file.extension(), ".entry") << file;
  }
}

}  // namespace
}  // namespace heddle::compiler
