// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/expected_job.h"

#include <gtest/gtest.h>

#include "compiler/stream/job_cycles.h"

namespace heddle::package {
namespace {

Package WithTwoStreams() {
  Package package;
  package.estimated_cycles = 5000;
  package.streams.resize(2);
  package.inputs.resize(1);
  package.inputs[0].size = 4096;
  package.outputs.resize(2);
  package.outputs[0].size = 512;
  package.outputs[1].size = 512;
  return package;
}

TEST(ExpectedJob, IsStreamsAndCopies) {
  const Package package = WithTwoStreams();
  EXPECT_EQ(ExpectedJobCycles(package),
            5000 + compiler::kJobLatency + 2 * compiler::kRunLatency +
                10 * compiler::kCopyCyclesOf512 + 3 * compiler::kCopyLatency);
}

TEST(ExpectedJob, IsNoOneFigure) {
  Package package = WithTwoStreams();
  package.segments.resize(1);
  EXPECT_EQ(ExpectedJobCycles(package), 0u) << "several jobs";
  package = WithTwoStreams();
  package.weight_plan.windows = 2;
  EXPECT_EQ(ExpectedJobCycles(package), 0u) << "copies beside streams";
  package = WithTwoStreams();
  package.estimated_cycles = 0;
  EXPECT_EQ(ExpectedJobCycles(package), 0u) << "nothing to do";
}

}  // namespace
}  // namespace heddle::package
