// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/control_flow.h"

#include <gtest/gtest.h>

#include <cstring>

namespace heddle::compiler {
namespace {

using Kind = ControlFlow::Kind;

const ValueType kFlag = {DataType::kBool, {}};
const ValueType kCount = {DataType::kInt64, {}};
const ValueType kPair = {DataType::kInt32, {2}};

std::function<absl::Status()> GoOn() {
  return [] { return absl::OkStatus(); };
}

template <typename T>
const uint8_t* In(const T& value) {
  return reinterpret_cast<const uint8_t*>(&value);
}
template <typename T>
uint8_t* Out(T* value) {
  return reinterpret_cast<uint8_t*>(value);
}

TEST(ControlFlowTest, AnIfTakesTheBranchOfItsCondition) {
  ControlFlow control;
  control.kind = Kind::kIf;
  ASSERT_EQ(WhatIsWrongWithControl(control, {kFlag, kPair}, {kPair},
                                   {{kPair}, {kPair}}),
            "");
  EXPECT_EQ(SlotTypes(control, {kFlag, kPair}).size(), 1u);
  for (bool taken : {true, false}) {
    const int32_t x[2] = {3, 4};
    int32_t y[2] = {};
    size_t body = 9;
    const auto run = [&](size_t b, const std::vector<const uint8_t*>& slots,
                         const std::vector<uint8_t*>& results) {
      body = b;
      std::memcpy(results[0], slots[0], sizeof(x));
      return absl::OkStatus();
    };
    ASSERT_TRUE(Drive(control, {kFlag, kPair}, {kPair}, {In(taken), In(x)},
                      {Out(&y)}, run, GoOn())
                    .ok());
    EXPECT_EQ(body, taken ? 0u : 1u);
    EXPECT_EQ(y[1], 4);
  }
}

// x += row, y gets -x, until x[0] is more than `most`.
struct Sums {
  ControlFlow control;
  std::vector<ValueType> inputs, outputs;
  int64_t trips = 3;
  bool condition = true;
  int32_t most = 1000;
  int32_t x[2] = {1, 2};
  int32_t rows[3][2] = {{10, 20}, {30, 40}, {50, 60}};
  int32_t last[2] = {};
  int32_t seen[3][2] = {};
  int64_t bodies = 0;

  Sums() {
    control.kind = Kind::kLoop;
    control.name = "Loop 'l'";
    control.has_trip_count = control.has_condition = control.conditional = true;
    control.carried = control.sequences = 1;
    control.trips = 3;
    inputs = {kCount, kFlag, kPair, {DataType::kInt32, {3, 2}}};
    outputs = {kPair, {DataType::kInt32, {3, 2}}};
  }
  std::string Wrong() const {
    return WhatIsWrongWithControl(control, inputs, outputs,
                                  {{kFlag, kPair, kPair}});
  }
  absl::Status Run(const std::function<absl::Status()>& stop = GoOn()) {
    const auto run = [&](size_t, const std::vector<const uint8_t*>& slots,
                         const std::vector<uint8_t*>& results) {
      int64_t number = 0;
      int32_t now[2], row[2];
      std::memcpy(&number, slots[0], sizeof(number));
      EXPECT_EQ(number, bodies++);
      std::memcpy(now, slots[1], sizeof(now));
      std::memcpy(row, slots[2], sizeof(row));
      int32_t minus[2];
      for (int i = 0; i < 2; ++i) {
        now[i] += row[i];
        minus[i] = -now[i];
      }
      *results[0] = now[0] <= most;
      std::memcpy(results[1], now, sizeof(now));
      std::memcpy(results[2], minus, sizeof(minus));
      return absl::OkStatus();
    };
    return Drive(control, inputs, outputs,
                 {In(trips), In(condition), In(x), In(rows)},
                 {Out(&last), Out(&seen)}, run, stop);
  }
};

TEST(ControlFlowTest, ALoopCarriesAndScans) {
  Sums sums;
  ASSERT_EQ(sums.Wrong(), "");
  ASSERT_TRUE(sums.Run().ok());
  EXPECT_EQ(sums.bodies, 3);
  EXPECT_EQ(sums.last[0], 91);
  EXPECT_EQ(sums.last[1], 122);
  EXPECT_EQ(sums.seen[0][0], -11);
  EXPECT_EQ(sums.seen[1][1], -62);
  EXPECT_EQ(sums.seen[2][0], -91);
}

TEST(ControlFlowTest, RowsTakeAsManyIterationsAsThereAre) {
  for (int64_t trips : {0, 2, 4}) {
    Sums sums;
    sums.trips = trips;
    const absl::Status s = sums.Run();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(s.message().find("Loop 'l'"), std::string::npos) << s;
    EXPECT_EQ(sums.bodies, std::min<int64_t>(trips, 3));
  }
  Sums sums;
  sums.most = 20;  // goes on after the first, not after the second
  EXPECT_FALSE(sums.Run().ok());
  EXPECT_EQ(sums.bodies, 2);
}

TEST(ControlFlowTest, WithoutRowsALoopEndsWhenItIsTold) {
  Sums sums;
  sums.control.sequences = 0;
  sums.control.trips = -1;
  sums.control.has_trip_count = false;
  sums.inputs = {kFlag, kPair, kPair};
  sums.outputs = {kPair};
  const auto wrong = WhatIsWrongWithControl(sums.control, sums.inputs,
                                            sums.outputs, {{kFlag, kPair}});
  ASSERT_EQ(wrong, "");
  int64_t asked = 0, bodies = 0;
  const auto run = [&](size_t, const std::vector<const uint8_t*>& slots,
                       const std::vector<uint8_t*>& results) {
    int32_t now[2];
    std::memcpy(now, slots[1], sizeof(now));
    ++now[0];
    std::memcpy(results[1], now, sizeof(now));
    *results[0] = 1;  // for ever
    ++bodies;
    return absl::OkStatus();
  };
  const auto stop = [&] {
    return ++asked > 1000 ? absl::CancelledError("enough") : absl::OkStatus();
  };
  EXPECT_EQ(Drive(sums.control, sums.inputs, sums.outputs,
                  {In(sums.condition), In(sums.x), In(sums.x)},
                  {Out(&sums.last)}, run, stop),
            absl::CancelledError("enough"));
  EXPECT_EQ(bodies, 1000);
  // A condition that does not hold: what is carried is what it was.
  sums.condition = false;
  EXPECT_TRUE(Drive(sums.control, sums.inputs, sums.outputs,
                    {In(sums.condition), In(sums.x), In(sums.x)},
                    {Out(&sums.last)}, run, GoOn())
                  .ok());
  EXPECT_EQ(sums.last[1], 2);
}

// Each single change makes it wrong.
TEST(ControlFlowTest, WhatIsWrong) {
  const std::vector<std::function<void(Sums*)>> changes = {
      [](Sums* s) { s->control.kind = Kind::kNone; },
      [](Sums* s) { s->control.kind = Kind::kIf; },
      [](Sums* s) { s->control.has_trip_count = false; },
      [](Sums* s) { s->control.has_condition = false; },
      [](Sums* s) { s->control.conditional = false; },
      [](Sums* s) { s->control.carried = 0; },
      [](Sums* s) { s->control.carried = 2; },
      [](Sums* s) { s->control.carried = UINT32_MAX; },
      [](Sums* s) { s->control.sequences = UINT32_MAX; },
      [](Sums* s) { s->control.sequences = 2; },
      [](Sums* s) { s->control.trips = -1; },
      [](Sums* s) { s->control.trips = 4; },
      [](Sums* s) { s->inputs[0] = kFlag; },
      [](Sums* s) { s->inputs[0].shape = {2}; },
      [](Sums* s) { s->inputs[1] = kCount; },
      [](Sums* s) { s->inputs[2].shape = {3}; },
      [](Sums* s) { s->inputs[3].shape = {}; },
      [](Sums* s) {
        s->inputs[3].shape = {4, 2};
      },
      [](Sums* s) { s->inputs.resize(2); },
      [](Sums* s) { s->outputs[0].type = DataType::kFloat; },
      [](Sums* s) {
        s->outputs[1].shape = {3, 3};
      },
      [](Sums* s) { s->outputs.pop_back(); },
      [](Sums* s) { s->outputs.push_back(kPair); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Sums sums;
    changes[i](&sums);
    EXPECT_NE(sums.Wrong(), "") << i;
  }
}

}  // namespace
}  // namespace heddle::compiler
