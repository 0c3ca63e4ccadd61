// SPDX-License-Identifier: Apache-2.0
// The trace of a job: SUBMIT asks for it, WAIT hands it out.
#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

using Entries = std::vector<drm_heddle_trace_entry>;

class TraceTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    bo_ = NewDevice(c(), kPage);
    regions_ = {Region(0, bo_, 256),
                Region(1, bo_, 256, DRM_HEDDLE_REGION_WRITE, 1024)};
    stream_ = NewStream(c(), CopyStream(0, 1, 256));
  }
  std::vector<drm_heddle_step> FillAndRun() {
    return {Fill(bo_, kPage, 1), RunStream(stream_, regions_)};
  }
  static int SubmitTraced(Client* c, uint32_t context,
                          const std::vector<drm_heddle_step>& steps,
                          uint32_t entries, uint64_t* seqno,
                          uint64_t timeout_ns = 0) {
    drm_heddle_submit args = SubmitArgs(context, steps);
    args.flags = DRM_HEDDLE_SUBMIT_TRACE;
    args.trace_entries = entries;
    args.timeout_ns = timeout_ns;
    const int err = c->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &args);
    *seqno = args.seqno;
    return err;
  }
  uint64_t Traced(const std::vector<drm_heddle_step>& steps, uint32_t entries) {
    uint64_t seqno = 0;
    EXPECT_EQ(SubmitTraced(c(), context_, steps, entries, &seqno), 0);
    return seqno;
  }
  static int Read(Client* c, uint32_t context, uint64_t seqno,
                  const drm_heddle_array& trace, uint32_t* count = nullptr,
                  uint64_t deadline_ns = InMs(20000), uint32_t reserved = 0) {
    drm_heddle_wait args = {};
    args.context = context;
    args.seqno = seqno;
    args.deadline_ns = deadline_ns;
    args.trace = trace;
    args.reserved = reserved;
    const int err = c->Ioctl(DRM_IOCTL_HEDDLE_WAIT, &args);
    if (count != nullptr) *count = args.trace_count;
    return err;
  }
  // All that there is room for.
  Entries TraceOf(uint64_t seqno, uint32_t entries, uint32_t* count) {
    Entries trace(entries);
    std::memset(trace.data(), 0xee, entries * sizeof(trace[0]));
    EXPECT_EQ(Read(c(), context_, seqno, ArrayOf(trace), count), 0);
    return trace;
  }

  uint32_t context_ = 0, bo_ = 0, stream_ = 0;
  std::vector<drm_heddle_region> regions_;
};

bool Valid(const drm_heddle_trace_entry& entry) {
  return (entry.flags & DRM_HEDDLE_TRACE_VALID) != 0;
}

TEST_F(TraceTest, TellsOfEachCommand) {
  uint32_t count = 0;
  const Entries trace = TraceOf(Traced(FillAndRun(), 4), 4, &count);
  EXPECT_EQ(count, 2u) << "a barrier and the end have no entry";
  EXPECT_EQ(trace[0].engine, DRM_HEDDLE_ENGINE_LOAD + 0);
  EXPECT_EQ(trace[0].offset, 0u);
  EXPECT_EQ(trace[1].engine, DRM_HEDDLE_ENGINE_STORE + 0);
  EXPECT_GT(trace[1].offset, trace[0].offset);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Valid(trace[i])) << i;
    EXPECT_EQ(trace[i].step, 1u) << i;
    EXPECT_GT(trace[i].end, trace[i].begin) << i;
  }
  // The store is behind a barrier, whoever counts.
  EXPECT_GT(trace[1].begin, trace[0].end);
  for (int i = 2; i < 4; ++i) {
    EXPECT_FALSE(Valid(trace[i])) << i;
    EXPECT_EQ(trace[i].tag, 0u) << "nothing of anybody's";
  }
}

// Cards of version 1.0 have none, and those of null_hw, which say that they are
// of it: no entry is ever written for a command that nobody executes.
using TraceVersionTest = TraceTest;
TEST_F(TraceVersionTest, IsRefusedByACardThatHasNone) {
  constexpr uint32_t kMinor = 0xffff;
  const bool has = (DeviceInfo(c()).hw_version & kMinor) >= 1;
  uint64_t seqno = 0;
  EXPECT_EQ(SubmitTraced(c(), context_, FillAndRun(), 2, &seqno),
            has ? 0 : -EOPNOTSUPP);
  EXPECT_EQ(seqno, has ? 1u : 0u);
}

TEST_F(TraceTest, RepeatsTags) {
  stream_ = NewStream(
      c(), Stream({Command("fill").Set("n0", 4).Set("t0", 1).Set("tag", 77),
                   Command("end")}));
  uint32_t count = 0;
  const Entries trace = TraceOf(Traced({RunStream(stream_)}, 1), 1, &count);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(trace[0].tag, 77u);
}

// However many the driver makes of them for the card.
TEST_F(TraceTest, StepsAreThoseOfTheSubmission) {
  auto host = NewHost(c(), 8 * kMiB);
  const uint32_t large = NewDevice(c(), 8 * kMiB);
  uint32_t count = 0;
  const Entries trace =
      TraceOf(Traced({CopyIn(host->handle, large, 8 * kMiB),
                      RunStream(stream_, regions_), Fill(bo_, 4, 1),
                      RunStream(stream_, regions_)},
                     4),
              4, &count);
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(trace[0].step, 1u);
  EXPECT_EQ(trace[1].step, 1u);
  EXPECT_EQ(trace[2].step, 3u);
  EXPECT_EQ(trace[3].step, 3u);
}

TEST_F(TraceTest, CountsWhatHasNoRoom) {
  uint32_t count = 0;
  const Entries trace = TraceOf(Traced(FillAndRun(), 1), 1, &count);
  EXPECT_EQ(count, 2u);
  EXPECT_TRUE(Valid(trace[0]));
}

TEST_F(TraceTest, GivesAPartAgainAndAgain) {
  const uint64_t seqno = Traced(FillAndRun(), 4);
  for (uint32_t entries : {1u, 4u, 2u}) {
    uint32_t count = 0;
    EXPECT_TRUE(Valid(TraceOf(seqno, entries, &count)[0]));
    EXPECT_EQ(count, 2u);
  }
  EXPECT_EQ(ResultOf(c(), context_, seqno).status, 0u);
}

TEST_F(TraceTest, HasNothingOfCopies) {
  uint32_t count = 1;
  const Entries trace = TraceOf(Traced({Fill(bo_, kPage, 1)}, 1), 1, &count);
  EXPECT_EQ(count, 0u);
  EXPECT_FALSE(Valid(trace[0]));
}

TEST_F(TraceTest, IsOnlyThereIfItWasAskedFor) {
  const uint64_t seqno = NewJob(c(), context_, FillAndRun());
  Entries trace(1);
  EXPECT_EQ(Read(c(), context_, seqno, ArrayOf(trace)), -EINVAL);
  EXPECT_EQ(Read(c(), context_, seqno, {}), 0);
}

TEST_F(TraceTest, RefusesToGiveMoreThanThereIsRoomFor) {
  const uint64_t seqno = Traced(FillAndRun(), 3);
  for (uint32_t entries : {4u, 65536u}) {
    Entries trace(entries);
    EXPECT_EQ(Read(c(), context_, seqno, ArrayOf(trace)), -EINVAL) << entries;
  }
}

TEST_F(TraceTest, RefusesSizes) {
  uint64_t seqno;
  const auto steps = FillAndRun();
  for (uint32_t entries : {0u, DRM_HEDDLE_TRACE_ENTRIES_MAX + 1u, ~0u}) {
    EXPECT_EQ(SubmitTraced(c(), context_, steps, entries, &seqno), -EINVAL)
        << entries;
  }
  EXPECT_EQ(
      SubmitTraced(c(), context_, steps, DRM_HEDDLE_TRACE_ENTRIES_MAX, &seqno),
      0);
  EXPECT_EQ(seqno, 1u);
}

TEST_F(TraceTest, RefusesEntriesWithoutTheFlagAndPadding) {
  const auto steps = FillAndRun();
  for (uint32_t bit : EachBit()) {
    drm_heddle_submit args = SubmitArgs(context_, steps);
    args.trace_entries = bit;
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &args), -EINVAL) << bit;
    args.trace_entries = 0;
    args.pad = bit;
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &args), -EINVAL) << bit;
  }
}

TEST_F(TraceTest, RefusesWhatIsReserved) {
  const uint64_t seqno = Traced(FillAndRun(), 1);
  for (uint32_t bit : EachBit()) {
    EXPECT_EQ(Read(c(), context_, seqno, {}, nullptr, InMs(20000), bit),
              -EINVAL)
        << bit;
  }
}

TEST_F(TraceTest, RefusesASmallerStrideAndBadPointers) {
  const uint64_t seqno = Traced(FillAndRun(), 2);
  Entries trace(2);
  drm_heddle_array array = ArrayOf(trace);
  for (uint32_t stride : {0u, 8u, unsigned{sizeof(trace[0]) - 1}}) {
    array.stride = stride;
    EXPECT_EQ(Read(c(), context_, seqno, array), -EINVAL) << stride;
  }
  for (uint64_t bad : Driver::Get().BadPointers()) {
    EXPECT_EQ(Read(c(), context_, seqno, {bad, 2, sizeof(trace[0])}), -EFAULT)
        << bad;
  }
}

TEST_F(TraceTest, FillsNoMoreThanTheCallerKnows) {
  const uint64_t seqno = Traced(FillAndRun(), 2);
  Grown<drm_heddle_trace_entry> trace[2];
  std::memset(trace, 0xee, sizeof(trace));
  ASSERT_EQ(Read(c(), context_, seqno, ArrayOf(trace, 2)), 0);
  for (const auto& entry : trace) {
    EXPECT_EQ(entry.known.step, 1u);
    EXPECT_EQ(entry.later, 0xeeeeeeeeeeeeeeeeu);
  }
}

TEST_F(TraceTest, FillsNothingBeforeTheEnd) {
  Entries trace(1);
  std::memset(trace.data(), 0xee, sizeof(trace[0]));
  EXPECT_EQ(WhileBusy(c(), context_,
                      [&](uint64_t) {
                        const uint64_t last = Traced(FillAndRun(), 1);
                        return Read(c(), context_, last, ArrayOf(trace),
                                    nullptr, 0);
                      }),
            -ETIME);
  EXPECT_EQ(trace[0].tag, 0xeeeeeeeeu);
}

TEST_F(TraceTest, IsTheFilesOwn) {
  auto other = Open();
  ASSERT_NE(other, nullptr);
  // Ids may repeat between files: one that the other has not.
  for (int i = 0; i < 20; ++i) context_ = NewContext(c());
  const uint64_t seqno = Traced(FillAndRun(), 2);
  ResultOf(c(), context_, seqno);
  Entries trace(2);
  EXPECT_EQ(Read(other.get(), context_, seqno, ArrayOf(trace)), -ENOENT);
  EXPECT_EQ(Read(c(), context_, seqno, ArrayOf(trace)), 0);
}

TEST_F(TraceTest, OfAJobThatFaultsEndsBeforeTheFault) {
  const uint32_t stream = NewStream(c(), FaultingStream(2));
  const std::vector<drm_heddle_region> regions = {Region(2, bo_, kPage)};
  const uint64_t seqno = Traced({RunStream(stream, regions)}, 2);
  EXPECT_NE(ResultOf(c(), context_, seqno).status, 0u);
  uint32_t count = 0;
  const Entries trace = TraceOf(seqno, 2, &count);
  EXPECT_EQ(count, 1u) << "the fill in front of it";
  EXPECT_TRUE(Valid(trace[0]));
  EXPECT_FALSE(Valid(trace[1]));
}

// In the middle of its run, with the card's writes still to come: the engine's
// reset ends it.
TEST_F(TraceTest, OfAJobThatHangsIsWhatCameBefore) {
  if (!Driver::Get().Control("fault stuck_engine")) GTEST_SKIP();
  uint64_t seqno = 0;
  ASSERT_EQ(
      SubmitTraced(c(), context_, FillAndRun(), 2, &seqno, 200 * 1000000ull),
      0);
  EXPECT_NE(ResultOf(c(), context_, seqno).status, 0u);
  uint32_t count = 9;
  const Entries trace = TraceOf(seqno, 2, &count);
  EXPECT_LE(count, 2u);
  for (uint32_t i = count; i < 2; ++i) EXPECT_FALSE(Valid(trace[i])) << i;
  const Entries next = TraceOf(Traced(FillAndRun(), 2), 2, &count);
  EXPECT_EQ(count, 2u) << "the next job has its own";
  EXPECT_TRUE(Valid(next[1]));
}

TEST_F(TraceTest, GoesWithAContextWhoseJobsHaveNotStarted) {
  Load load(c());
  load.Queue(context_, 100);
  Traced(FillAndRun(), DRM_HEDDLE_TRACE_ENTRIES_MAX);
  EXPECT_EQ(DestroyContext(c(), context_), 0);
}

TEST_F(TraceTest, CountsAmongWhatAFileMayPin) {
  constexpr uint32_t kEntries = 16384;
  constexpr uint64_t kEach = kEntries * sizeof(drm_heddle_trace_entry);
  uint64_t room = Limits(c()).pinned_bytes;
  std::unique_ptr<HostBuffer> rest;
  if (room > 200 * kEach) {  // where memory is large: all but some
    const uint64_t bytes = (room - 100 * kEach) / kPage * kPage;
    rest = NewHost(c(), bytes);
    ASSERT_EQ(Do(c(), context_, {CopyIn(rest->handle, bo_, 4)}).status, 0u);
    room -= bytes;
  }
  uint64_t taken = 0, seqno = 0;
  int err = 0;
  while (err == 0 && taken <= room) {
    err = SubmitTraced(c(), context_, {Fill(bo_, 4, 1)}, kEntries, &seqno);
    if (err != 0) break;
    taken += kEach;
    ResultOf(c(), context_, seqno);
  }
  EXPECT_EQ(err, -EDQUOT);
  EXPECT_GT(taken, 0u);
  EXPECT_LE(taken, room);
  EXPECT_EQ(Submit(c(), context_, {Fill(bo_, 4, 1)}), 0) << "without one";
  EXPECT_EQ(DestroyContext(c(), context_), 0);
  context_ = NewContext(c());
  EXPECT_TRUE(Eventually([&] {
    return SubmitTraced(c(), context_, {Fill(bo_, 4, 1)}, kEntries, &seqno) ==
           0;
  })) << "the traces went with their context";
}

}  // namespace
}  // namespace heddle::uapi
