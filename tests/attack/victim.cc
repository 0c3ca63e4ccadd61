// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/victim.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/streams.h"

namespace heddle::attack {
namespace {

constexpr uint32_t kBytes = 32768;

// An answer that takes longer is none.
constexpr uint64_t kPatienceNs = 60 * uapi::kSecond;

}  // namespace

Victim::Victim(const std::string& device, uint32_t ms) : file_(Open(device)) {
  EXPECT_NE(file_, nullptr) << device;
  if (file_ == nullptr) return;
  context_ = uapi::NewContext(file_.get(), 2);
  EXPECT_EQ(uapi::CreateBo(file_.get(), kBytes, DRM_HEDDLE_HOST, &in_), 0);
  EXPECT_EQ(uapi::CreateBo(file_.get(), kBytes, DRM_HEDDLE_HOST, &out_), 0);
  from_ = uapi::NewDevice(file_.get(), kBytes);
  to_ = uapi::NewDevice(file_.get(), kBytes);
  in_data_ = static_cast<uint8_t*>(file_->Map(in_, kBytes));
  out_data_ = static_cast<uint8_t*>(file_->Map(out_, kBytes));
  EXPECT_NE(in_data_, nullptr);
  EXPECT_NE(out_data_, nullptr);
  regions_ = {uapi::Region(0, from_, kBytes),
              uapi::Region(1, to_, kBytes, DRM_HEDDLE_REGION_WRITE)};
  // As much work as fills the time.
  uint32_t commands = 16;
  for (;; commands *= 2) {
    MakeStream(commands);
    Infer();
    const uint64_t best = std::min(Infer(), Infer());
    if (best >= uint64_t{ms} * 1000000 || commands > 100000) return;
  }
}

Victim::~Victim() {
  if (in_data_ != nullptr) file_->Unmap(in_data_, kBytes);
  if (out_data_ != nullptr) file_->Unmap(out_data_, kBytes);
}

void Victim::MakeStream(uint32_t commands) {
  if (stream_ != 0) uapi::DestroyStream(file_.get(), stream_);
  std::vector<uint32_t> words = BusyStream(commands);
  // In the place of its end: what makes the result.
  words.resize(words.size() - uapi::EmptyStream().size());
  const std::vector<uint32_t> copy = uapi::CopyStream(0, 1, kBytes);
  words.insert(words.end(), copy.begin(), copy.end());
  stream_ = uapi::NewStream(file_.get(), words);
}

uint64_t Victim::Infer() {
  std::memset(in_data_, ++turn_, kBytes);
  const uint64_t begin = uapi::NowNs();
  uint64_t seqno = 0;
  int err = uapi::Submit(
      file_.get(), context_,
      {uapi::CopyIn(in_, from_, kBytes), uapi::RunStream(stream_, regions_),
       uapi::CopyOut(to_, out_, kBytes)},
      &seqno);
  if (err != 0) {
    failure_ = absl::StrCat("SUBMIT: ", err);
    return ~uint64_t{0};
  }
  drm_heddle_result result = {};
  err = uapi::Wait(file_.get(), context_, seqno, uapi::NowNs() + kPatienceNs,
                   &result);
  const uint64_t took = uapi::NowNs() - begin;
  if (err != 0 || result.status != 0) {
    failure_ = absl::StrCat("WAIT: ", err, ", status ", result.status);
    return ~uint64_t{0};
  }
  const bool right = std::all_of(out_data_, out_data_ + kBytes,
                                 [this](uint8_t b) { return b == turn_; });
  if (right) return took;
  failure_ = "the result is wrong";
  return ~uint64_t{0};
}

}  // namespace heddle::attack
