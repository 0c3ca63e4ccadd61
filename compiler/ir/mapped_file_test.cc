// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <numeric>

namespace heddle::compiler {
namespace {

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

int Sum(absl::string_view bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0);
}

TEST(MappedFile, HasTheBytesOfTheFile) {
  const std::string path = Write("file", "01234");
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->bytes(), "01234");
  EXPECT_TRUE((*file)->Unchanged().ok());
  // Another file of that name is none of its business.
  ASSERT_EQ(unlink(path.c_str()), 0);
  Write("file", "abc");
  EXPECT_EQ((*file)->bytes(), "01234");
  EXPECT_TRUE((*file)->Unchanged().ok());
}

TEST(MappedFile, ReadsWhatCannotBeMapped) {
  EXPECT_EQ((*MappedFile::Open(Write("empty", "")))->bytes(), "");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "pipe", 4), 4);
  close(ends[1]);
  const auto file = MappedFile::Open("/dev/fd/" + std::to_string(ends[0]));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->bytes(), "pipe");
  EXPECT_TRUE((*file)->Unchanged().ok());
  close(ends[0]);
}

TEST(MappedFile, SaysWhatFails) {
  EXPECT_EQ(MappedFile::Open("/nowhere/x").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::Open("/").status().code(), absl::StatusCode::kDataLoss);
}

TEST(MappedFile, WhatIsGoneIsZeroAndReported) {
  constexpr size_t kSize = 1 << 20;
  const std::string path = Write("shrinks", std::string(kSize, 1));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Sum((*file)->bytes().substr(0, 4096)), 4096);
  ASSERT_EQ(truncate(path.c_str(), 8192), 0);
  EXPECT_EQ(Sum((*file)->bytes()), 8192);
  EXPECT_EQ((*file)->Unchanged().code(), absl::StatusCode::kFailedPrecondition);
  // Of its old size again, it is not what it was.
  ASSERT_EQ(truncate(path.c_str(), kSize), 0);
  EXPECT_FALSE((*file)->Unchanged().ok());
  const auto again = MappedFile::Open(path);
  EXPECT_TRUE((*again)->Unchanged().ok());
}

TEST(MappedFile, NewBytesAreReported) {
  const std::string path = Write("grows", "abc");
  const auto file = MappedFile::Open(path);
  std::ofstream(path, std::ios::app) << "d";
  EXPECT_FALSE((*file)->Unchanged().ok());
}

// A SIGBUS elsewhere is not ours.
TEST(MappedFileDeathTest, OthersFaultsStayTheirs) {
  // In a new process: the handler is installed once.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::string mine = Write("mine", "x"), other = Write("other", "x");
  EXPECT_EXIT(
      {
        // Sanitizers have a handler of their own, which reports.
        signal(SIGBUS, SIG_DFL);
        const auto file = MappedFile::Open(mine);
        const int fd = open(other.c_str(), O_RDONLY);
        const auto* bytes = static_cast<const volatile char*>(
            mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, fd, 0));
        _exit(bytes[4096]);
      },
      testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(
      {
        signal(SIGBUS, [](int) { _exit(7); });
        const auto file = MappedFile::Open(mine);
        raise(SIGBUS);
        _exit(0);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EXIT(
      {
        signal(SIGBUS, SIG_DFL);
        const auto file = MappedFile::Open(mine);
        raise(SIGBUS);
        _exit(0);
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace heddle::compiler
