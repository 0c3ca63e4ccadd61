// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/cts/cts.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "heddle_hw.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/spec/version.h"
#include "runtime/hal/device.h"

namespace heddle::hal::cts {
namespace {

constexpr uint64_t kPage = isa::kPageBytes;

std::vector<uint32_t> End() {
  std::vector<uint32_t> words(isa::End::kWords);
  isa::End().Encode(words.data());
  return words;
}

}  // namespace

void Cts::SetUp() {
  if (GetParam().skip != nullptr) {
    if (const std::string why = GetParam().skip(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  auto transport = GetParam().make();
  ASSERT_NE(transport, nullptr);
  auto device = Device::Open(std::move(transport));
  ASSERT_TRUE(device.ok()) << device.status();
  device_ = *device;
  auto context = device_->CreateContext(1);
  ASSERT_TRUE(context.ok()) << context.status();
  context_ = *std::move(context);
}

std::unique_ptr<Buffer> Cts::Make(uint64_t size, Placement placement) {
  auto buffer = device_->CreateBuffer(size, placement, "a test");
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  return buffer.ok() ? *std::move(buffer) : nullptr;
}

TEST_P(Cts, DescribesTheCard) {
  if (GetParam().config != nullptr) {
    EXPECT_STREQ(device_->config().name, GetParam().config);
  }
  EXPECT_EQ(device_->info().priorities, isa::kRings);
  EXPECT_EQ(device_->info().max_steps, isa::kStepsMax);
  const uint64_t total = device_->Memory()->total;
  EXPECT_GE(total, isa::kDramBytesMin - isa::kDeviceReserveBytes);
  EXPECT_EQ(total % kPage, 0u);
  if (GetParam().memory_bytes != 0) {
    EXPECT_EQ(total, GetParam().memory_bytes - isa::kDeviceReserveBytes);
  }
}

TEST_P(Cts, MemoryIsExact) {
  const uint64_t total = device_->Memory()->total;
  EXPECT_EQ(Used(), 0u);
  {
    const auto small = Make(1, Placement::kDevice);
    EXPECT_EQ(small->size(), kPage);
    EXPECT_EQ(small->data(), nullptr);
    EXPECT_EQ(Used(), kPage);
    const auto rest = Make(total - kPage, Placement::kDevice);
    EXPECT_EQ(Used(), total);
    const auto more = device_->CreateBuffer(1, Placement::kDevice, "more");
    EXPECT_TRUE(absl::IsResourceExhausted(more.status()));
    EXPECT_EQ(ExhaustedResource(more.status()), Resource::kDeviceMemory);
    const auto stream = device_->CreateStream(End(), "a stream");
    EXPECT_EQ(ExhaustedResource(stream.status()), Resource::kDeviceMemory);
    Make(3 * kPage, Placement::kHost);  // no device memory
    EXPECT_EQ(Used(), total);
  }
  EXPECT_EQ(Used(), 0u);
}

TEST_P(Cts, BadSizesAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      device_->CreateBuffer(0, Placement::kDevice, "x").status()));
  EXPECT_TRUE(absl::IsResourceExhausted(
      device_->CreateBuffer(~uint64_t{0}, Placement::kDevice, "x").status()));
  EXPECT_FALSE(device_->CreateBuffer(~uint64_t{0}, Placement::kHost, "x").ok());
  EXPECT_TRUE(
      absl::IsInvalidArgument(device_->CreateContext(isa::kRings).status()));
  EXPECT_EQ(Used(), 0u);
}

TEST_P(Cts, HostBuffersAreMappedAndShared) {
  const auto buffer = Make(100, Placement::kHost);
  ASSERT_NE(buffer->data(), nullptr);
  std::memset(buffer->data(), 7, buffer->size());
  const auto fd = buffer->Export();
  ASSERT_TRUE(fd.ok()) << fd.status();
  auto transport = GetParam().make();
  const auto other = Device::Open(std::move(transport));
  ASSERT_TRUE(other.ok());
  const auto imported = (*other)->ImportBuffer(*fd);
  ASSERT_TRUE(imported.ok()) << imported.status();
  close(*fd);
  EXPECT_EQ((*imported)->size(), kPage);
  EXPECT_EQ((*imported)->data()[99], 7);
  (*imported)->data()[0] = 9;
  EXPECT_EQ(buffer->data()[0], 9);
  EXPECT_FALSE(Make(1, Placement::kDevice)->Export().ok());
  EXPECT_FALSE(device_->ImportBuffer(-1).ok());
}

TEST_P(Cts, CopiesAndFills) {
  const auto in = Make(4096, Placement::kHost);
  const auto out = Make(4096, Placement::kHost);
  const auto device = Make(8192, Placement::kDevice);
  for (size_t i = 0; i < 4096; ++i) in->data()[i] = static_cast<uint8_t>(i * 3);
  ASSERT_TRUE(context_
                  ->Execute({Step::CopyIn(*in, 5, *device, 77, 1000),
                             Step::Fill(*device, 4096, 64, 0x01020304),
                             Step::CopyOut(*device, 77, *out, 9, 1000),
                             Step::CopyOut(*device, 4096, *out, 2000, 64),
                             Step::CopyOut(*device, 8000, *out, 3000, 100)})
                  .ok());
  if (!GetParam().effects) return;
  EXPECT_EQ(std::memcmp(in->data() + 5, out->data() + 9, 1000), 0);
  EXPECT_EQ(out->data()[2000], 4);
  EXPECT_EQ(out->data()[2063], 1);
  for (size_t i = 3000; i < 3100; ++i) EXPECT_EQ(out->data()[i], 0);
}

TEST_P(Cts, BadStepsAreRefused) {
  const auto host = Make(4096, Placement::kHost);
  const auto device = Make(4096, Placement::kDevice);
  const auto code = [this](const Step& step) {
    return context_->Submit({step}).status().code();
  };
  EXPECT_EQ(code(Step::CopyIn(*host, 0, *device, 1, 4096)),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(Step::CopyOut(*device, ~uint64_t{0}, *host, 0, 2)),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(Step::CopyIn(*device, 0, *device, 0, 16)),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Step::CopyIn(*host, 0, *device, 0, 0)),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Step::Fill(*device, 0, 3, 0)),
            absl::StatusCode::kInvalidArgument);
  Step unknown;
  unknown.step.type = 99;
  EXPECT_EQ(code(unknown), absl::StatusCode::kInvalidArgument);
  Step no_stream;
  no_stream.step.type = DRM_HEDDLE_RUN;
  no_stream.step.stream = 12345;
  EXPECT_EQ(code(no_stream), absl::StatusCode::kNotFound);
  EXPECT_FALSE(context_->Submit({}).ok());
  const auto stream = device_->CreateStream(End(), "a stream");
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(code(Step::Run(**stream).Bind(16, *device, 64, true)),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Step::Run(**stream).Bind(0, *device, 8192, true)),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(Step::Run(**stream)
                     .Bind(0, *device, 64, true)
                     .Bind(0, *device, 64, true)),
            absl::StatusCode::kInvalidArgument);
  const std::vector<Step> many(isa::kStepsMax + 1, Step::Run(**stream));
  EXPECT_FALSE(context_->Submit(many).ok());
  const auto ran = context_->Execute({Step::Run(**stream)});
  EXPECT_TRUE(ran.ok()) << ran;
}

TEST_P(Cts, BadStreamsAreRefused) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(device_->CreateStream({}, "nothing").status()));
  std::vector<uint32_t> words = End();
  words.insert(words.end(), {0xffu, 0u, 0u, 0u});
  const auto refused = device_->CreateStream(words, "the stream");
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  EXPECT_NE(refused.status().message().find("the stream at byte "),
            absl::string_view::npos)
      << refused.status();
  words.resize(3);
  EXPECT_TRUE(
      absl::IsInvalidArgument(device_->CreateStream(words, "x").status()));
  EXPECT_EQ(Used(), 0u);
}

TEST_P(Cts, WaitsKnowTheirJobs) {
  const auto stream = device_->CreateStream(End(), "a stream");
  ASSERT_TRUE(stream.ok());
  const auto first = context_->Submit({Step::Run(**stream)});
  const auto second = context_->Submit({Step::Run(**stream)});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*second, *first + 1);
  EXPECT_TRUE(context_->Wait(*second, absl::InfiniteFuture()).ok());
  // In order: the first has ended, too.
  EXPECT_TRUE(context_->Wait(*first, absl::InfinitePast()).ok());
  EXPECT_TRUE(absl::IsNotFound(
      context_->Wait(*second + 1, absl::InfinitePast()).status()));
}

// Two fills, then end: the end has no entry.
std::vector<uint32_t> TwoFills() {
  std::vector<uint32_t> words;
  for (uint32_t tag : {7u, 9u}) {
    isa::Fill fill;
    fill.header.tag = tag;
    fill.n0 = 16;
    fill.t0 = 1;
    words.resize(words.size() + isa::Fill::kWords);
    fill.Encode(&words[words.size() - isa::Fill::kWords]);
  }
  const std::vector<uint32_t> end = End();
  words.insert(words.end(), end.begin(), end.end());
  return words;
}

TEST_P(Cts, TracesTellOfEachCommand) {
  const auto stream = device_->CreateStream(TwoFills(), "a stream");
  ASSERT_TRUE(stream.ok()) << stream.status();
  Context::SubmitOptions options;
  options.trace_entries = 4;
  const auto job = context_->Submit({Step::Run(**stream)}, options);
  const bool old = reg::MinorOf(device_->info().hw_version) <
                   HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_SINCE;
  EXPECT_EQ(device_->CanTrace().ok(), GetParam().effects && !old);
  if (!device_->CanTrace().ok()) {
    EXPECT_EQ(job.status(), device_->CanTrace());
    EXPECT_TRUE(absl::IsFailedPrecondition(job.status())) << job.status();
    EXPECT_TRUE(context_->Execute({Step::Run(**stream)}).ok()) << "without";
    return;
  }
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(context_->Wait(*job, absl::InfiniteFuture()).ok());
  std::vector<drm_heddle_trace_entry> entries(4);
  uint32_t commands = 0;
  ASSERT_EQ(context_->ReadTrace(*job, absl::MakeSpan(entries), &commands), 0);
  EXPECT_EQ(commands, 2u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ((entries[i].flags & DRM_HEDDLE_TRACE_VALID) != 0, i < 2) << i;
    EXPECT_EQ(entries[i].tag, i == 0 ? 7u : i == 1 ? 9u : 0u);
    EXPECT_EQ(entries[i].offset, i == 1 ? isa::Fill::kWords * 4 : 0u);
  }
  // A part of it, again; not more than there was room for.
  entries.resize(5);
  EXPECT_EQ(context_->ReadTrace(*job, absl::MakeSpan(entries).subspan(0, 1),
                                &commands),
            0);
  EXPECT_EQ(commands, 2u);
  EXPECT_EQ(context_->ReadTrace(*job, absl::MakeSpan(entries), &commands),
            -EINVAL);
  // One command has no room; it is counted.
  options.trace_entries = 1;
  const auto small = context_->Submit({Step::Run(**stream)}, options);
  ASSERT_TRUE(small.ok()) << small.status();
  ASSERT_TRUE(context_->Wait(*small, absl::InfiniteFuture()).ok());
  EXPECT_EQ(context_->ReadTrace(*small, absl::MakeSpan(entries).subspan(0, 1),
                                &commands),
            0);
  EXPECT_EQ(commands, 2u);
}

TEST_P(Cts, TracesAreOfWhatWasTraced) {
  const auto stream = device_->CreateStream(End(), "a stream");
  ASSERT_TRUE(stream.ok());
  const auto job = context_->Submit({Step::Run(**stream)});
  ASSERT_TRUE(job.ok() && context_->Wait(*job, absl::InfiniteFuture()).ok());
  drm_heddle_trace_entry entry = {};
  uint32_t commands = 1;
  if (GetParam().effects) {
    EXPECT_EQ(context_->ReadTrace(*job, absl::MakeSpan(&entry, 1), &commands),
              -EINVAL);
    EXPECT_EQ(commands, 0u);
  }
  Context::SubmitOptions options;
  options.trace_entries = DRM_HEDDLE_TRACE_ENTRIES_MAX + 1;
  EXPECT_FALSE(context_->Submit({Step::Run(**stream)}, options).ok());
}

TEST_P(Cts, ShutdownWakesWaiters) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      device_->Events(absl::Now() + absl::Milliseconds(20)).status()));
  absl::Status status;
  std::thread waiter(
      [&] { status = device_->Events(absl::InfiniteFuture()).status(); });
  usleep(20000);
  device_->Shutdown();
  waiter.join();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(absl::IsUnavailable(device_->Memory().status()));
  EXPECT_TRUE(absl::IsUnavailable(
      device_->CreateBuffer(1, Placement::kDevice, "x").status()));
}

}  // namespace heddle::hal::cts
