// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-timing/timing_record.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "compiler/base/sha256.h"
#include "simulator/rtl/timing_identity.h"
#include "tools/cli/file.h"

namespace heddle::timing {
namespace {

// Places in the file, by the first comment of timing_record.h.
constexpr size_t kVersionAt = 8, kStreamsAt = 12, kSizeAt = 16;
constexpr size_t kCommandsAt = 24, kHashAt = 32, kConfigAt = 128;
constexpr size_t kReservedAt = 152, kStreamTableAt = 168;

Record Sample() {
  Record record;
  record.valid_for.package = std::string(kDigestBytes, 'p');
  record.valid_for.rtl = std::string(kDigestBytes, '\xff');
  record.valid_for.config = "h256";
  record.valid_for.dram_latency = 100;
  record.valid_for.dram_bytes_per_cycle = 16;
  record.job_cycles = uint64_t{5} << 40;
  record.streams = {{1000, {{0, false, 3, 70}, {80, false, 5, 1000}}},
                    {0, {}},
                    {uint64_t{1} << 40, {{0, true, 0, uint64_t{1} << 39}}}};
  return record;
}

// With the size and the checksum that its bytes have now.
std::string Repaired(std::string bytes) {
  const uint64_t size = bytes.size();
  std::memcpy(&bytes[kSizeAt], &size, sizeof(size));
  std::memset(&bytes[kHashAt], 0, kDigestBytes);
  bytes.replace(kHashAt, kDigestBytes, compiler::Sha256Of(bytes));
  return bytes;
}

template <typename T>
std::string With(std::string bytes, size_t at, T value) {
  std::memcpy(&bytes[at], &value, sizeof(value));
  return Repaired(std::move(bytes));
}

std::string Why(const std::string& bytes) {
  const auto record = Parse(bytes);
  return record.ok() ? "" : std::string(record.status().message());
}

TEST(TimingRecord, RoundTrip) {
  const auto record = Parse(Serialize(Sample()));
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_TRUE(*record == Sample());
  // The comparison sees what a record is made of.
  for (const auto& change : std::vector<std::function<void(Record*)>>{
           [](Record* r) { r->valid_for.package[31] ^= 1; },
           [](Record* r) { r->valid_for.rtl[0] ^= 1; },
           [](Record* r) { r->valid_for.config = "h512"; },
           [](Record* r) { ++r->valid_for.dram_latency; },
           [](Record* r) { ++r->valid_for.dram_bytes_per_cycle; },
           [](Record* r) { ++r->job_cycles; },
           [](Record* r) { --r->streams[2].cycles; },
           [](Record* r) { r->streams[0].commands[1].offset += 4; },
           [](Record* r) { ++r->streams[0].commands[0].begin; },
           [](Record* r) { ++r->streams[0].commands[0].end; },
           [](Record* r) { r->streams[0].commands[0].inexact = true; }}) {
    Record other = Sample();
    change(&other);
    const auto again = Parse(Serialize(other));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(*again == other);
    EXPECT_FALSE(*again == *record);
  }
}

TEST(TimingRecord, EveryTruncationIsRefused) {
  const std::string bytes = Serialize(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(Why(bytes.substr(0, size)), "") << size;
  }
  EXPECT_NE(Why(bytes + '\0'), "");
}

TEST(TimingRecord, EveryFlippedBitIsRefused) {
  const std::string bytes = Serialize(Sample());
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string other = bytes;
    other[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_NE(Why(other), "") << "bit " << bit;
  }
}

// Somebody who repairs the checksum gets numbers into a report, no more.
TEST(TimingRecord, RepairedFilesAreRefusedOrSound) {
  const std::string bytes = Serialize(Sample());
  size_t sound = 0;
  const auto check = [&sound](const std::string& repaired) {
    const auto record = Parse(repaired);
    if (!record.ok()) return;
    ++sound;
    EXPECT_EQ(Serialize(*record), repaired);
    for (const RecordedStream& stream : record->streams) {
      for (const RecordedCommand& c : stream.commands) {
        EXPECT_LE(c.begin, c.end);
        EXPECT_LE(c.end, stream.cycles);
      }
    }
  };
  for (size_t size = kHashAt + kDigestBytes; size < bytes.size(); ++size) {
    check(Repaired(bytes.substr(0, size)));
  }
  EXPECT_EQ(sound, 0u);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string other = bytes;
    other[bit / 8] ^= static_cast<char>(1 << bit % 8);
    check(Repaired(other));
  }
  // Digests and many times may be any.
  EXPECT_GT(sound, 8 * 2 * kDigestBytes);
}

TEST(TimingRecord, SizesThatLie) {
  const std::string bytes = Serialize(Sample());
  EXPECT_EQ(Why(Repaired(bytes)), "");
  for (const uint32_t streams : {0u, 2u, 4u, 7u, 0x10000000u, UINT32_MAX}) {
    EXPECT_NE(Why(With(bytes, kStreamsAt, streams)), "") << streams;
  }
  // 24 times the second is 2^64, and more.
  for (const uint64_t commands : {uint64_t{0}, uint64_t{0xaaaaaaaaaaaaaab},
                                  uint64_t{2}, uint64_t{4}, UINT64_MAX}) {
    EXPECT_NE(Why(With(bytes, kCommandsAt, commands)), "") << commands;
  }
  for (const uint64_t count :
       {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{1} << 60, UINT64_MAX}) {
    EXPECT_NE(Why(With(bytes, kStreamTableAt + 8, count)), "") << count;
  }
  // The cycles of all streams must have a sum.
  EXPECT_EQ(Why(With(bytes, kStreamTableAt, UINT64_MAX)),
            "the sizes of stream 2 are impossible");
}

TEST(TimingRecord, FieldsThatLie) {
  const std::string bytes = Serialize(Sample());
  const size_t commands = kStreamTableAt + 3 * 16;
  EXPECT_EQ(Why(With<uint32_t>(bytes, kVersionAt, 2)),
            "its format version is 2, this build knows 1");
  EXPECT_NE(Why(With<uint64_t>(bytes, kReservedAt, 1)), "");
  EXPECT_NE(Why(With<uint32_t>(bytes, commands + 4, 2)), "");      // flags
  EXPECT_NE(Why(With<uint64_t>(bytes, commands + 8, 71)), "");     // begin
  EXPECT_NE(Why(With<uint64_t>(bytes, commands + 40, 1001)), "");  // end
  EXPECT_NE(Why(With<uint32_t>(bytes, commands, 80)), "");         // order
  EXPECT_NE(Why(With<char>(bytes, kConfigAt, '\0')), "");
  EXPECT_NE(Why(With<char>(bytes, kConfigAt, '\x1b')), "");
  EXPECT_NE(Why(With<char>(bytes, kConfigAt + 9, 'x')), "");
  EXPECT_EQ(Why("HEDDLEPK" + bytes.substr(8)), "it is not a timing record");
}

TEST(TimingRecord, ValidityHere) {
  const auto here = ValidityHere("package", "h512");
  ASSERT_TRUE(here.ok()) << here.status();
  EXPECT_EQ(here->config, "h512");
  EXPECT_EQ(here->package.size(), kDigestBytes);
  EXPECT_EQ(here->rtl.size(), kDigestBytes);
  EXPECT_GT(here->dram_latency, 0u);
  EXPECT_GT(here->dram_bytes_per_cycle, 0u);
  const auto other = ValidityHere("Package", "h512");
  ASSERT_TRUE(other.ok());
  EXPECT_NE(other->package, here->package);
  EXPECT_EQ(other->rtl, here->rtl);
  EXPECT_TRUE(absl::IsNotFound(ValidityHere("package", "h3").status()));
  // That of no file at all, or of an empty one, would always fit.
  const std::string identity = rtl::kTimingIdentity;
  EXPECT_EQ(identity.size(), 2 * kDigestBytes);
  EXPECT_NE(identity.substr(0, 8), "e3b0c442");
}

TEST(TimingRecord, IsFoundBesideThePackage) {
  EXPECT_EQ(RecordPath("a/b.hpk"), "a/b.timing");
  EXPECT_EQ(RecordPath("b.h256.hpk"), "b.h256.timing");
}

// Each reason in one sentence that ends with the command.
TEST(TimingRecord, ReadSaysWhyAndWhatHelps) {
  const std::string package = testing::TempDir() + "/model.hpk";
  const std::string path = RecordPath(package);
  const Validity here = Sample().valid_for;
  const auto expect = [&](const std::string& reason) {
    const auto record = Read(package, here);
    ASSERT_TRUE(absl::IsFailedPrecondition(record.status()))
        << record.status() << reason;
    const std::string message(record.status().message());
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    const std::string help = "; make it with: heddle-timing " + package;
    ASSERT_GT(message.size(), help.size());
    EXPECT_EQ(message.substr(message.size() - help.size()), help);
  };
  const auto write = [&](const std::function<void(Validity*)>& change) {
    Record record = Sample();
    change(&record.valid_for);
    ASSERT_TRUE(cli::WriteFile(path, Serialize(record)).ok());
  };
  expect("has no timing record");
  write([](Validity*) {});
  const auto record = Read(package, here);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_TRUE(*record == Sample());
  write([](Validity* v) { v->config = "h512"; });
  expect("is of configuration h512, the package is for h256");
  write([](Validity* v) { v->package[5] = '?'; });
  expect("is of another package");
  write([](Validity* v) { v->rtl[5] = '?'; });
  expect("is of other RTL");
  write([](Validity* v) { v->dram_latency = 7; });
  expect("other latencies");
  const std::string whole = Serialize(Sample());
  ASSERT_TRUE(cli::WriteFile(path, whole.substr(0, whole.size() - 1)).ok());
  expect("is damaged: it has");
  ASSERT_TRUE(cli::WriteFile(path, "").ok());
  expect("is damaged");
}

}  // namespace
}  // namespace heddle::timing
