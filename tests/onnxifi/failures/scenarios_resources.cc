// SPDX-License-Identifier: Apache-2.0
// Statuses that the system and the card lead to.
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "drm/heddle_drm.h"
#include "tests/onnxifi/failures/product.h"
#include "tests/onnxifi/failures/scenarios.h"
#include "tests/support/fault_injection.h"

namespace heddle::tests {
namespace {

Library& library() { return Library::Get(); }

// The calls that take something from the system or the card, each ready to be
// made once.
class Takers {
 public:
  Takers()
      : symbolic(objects.Graph(MatMulModel(4, true))),
        ready(objects.Event(true)) {}
  ~Takers() {
    EXPECT_OK(library().ReleaseEvent(ready));
    EXPECT_OK(library().ReleaseGraph(symbolic));
  }
  onnxStatus Ids() {
    size_t count = 8;
    onnxBackendID ids[8];
    return library().GetBackendIDs(ids, &count);
  }
  onnxStatus Compatibility() {
    return library().GetBackendCompatibility(objects.id, model.size(),
                                             model.data());
  }
  onnxStatus InitBackend() {
    onnxBackend made = nullptr;
    return library().InitBackend(objects.id, nullptr, &made);
  }
  onnxStatus InitEvent() {
    onnxEvent made = nullptr;
    return library().InitEvent(objects.backend, &made);
  }
  onnxStatus InitGraph() {
    onnxGraph made = nullptr;
    return library().InitGraph(objects.backend, nullptr, model.size(),
                               model.data(), 0, nullptr, &made, 0, nullptr);
  }
  // Compiles and loads.
  onnxStatus SetGraphIO() {
    return library().SetGraphIO(symbolic, 1, &in.value, 1, &out.value);
  }
  onnxStatus Run() {
    onnxEvent done = nullptr;
    return objects.Start(ready, &done);
  }

  Objects objects;
  const std::string model = ReluModel({4});
  // A shape that onnxInitGraph has not compiled.
  float x[8] = {}, y[8] = {};
  const Tensor in{"x", {2, 4}, x}, out{"y", {2, 4}, y};
  const onnxGraph symbolic;
  const onnxEvent ready;
};

// The driver answers ioctls of this kind with an error while this lives.
class DriverSays {
 public:
  DriverSays(unsigned long request, int error) {
    faults::AnswerIoctl(request, error);
  }
  ~DriverSays() { faults::AnswerIoctl(0, 0); }
};

}  // namespace

void ExhaustedSystem() {
  Takers takers;
  const struct {
    faults::Kind kind;
    onnxStatus (Takers::*call)();
    onnxStatus status;
  } cases[] = {
      {faults::Kind::kAllocation, &Takers::Ids,
       ONNXIFI_STATUS_NO_SYSTEM_MEMORY},
      {faults::Kind::kAllocation, &Takers::Compatibility,
       ONNXIFI_STATUS_NO_SYSTEM_MEMORY},
      {faults::Kind::kAllocation, &Takers::InitBackend,
       ONNXIFI_STATUS_NO_SYSTEM_MEMORY},
      {faults::Kind::kAllocation, &Takers::InitEvent,
       ONNXIFI_STATUS_NO_SYSTEM_MEMORY},
      {faults::Kind::kAllocation, &Takers::InitGraph,
       ONNXIFI_STATUS_NO_SYSTEM_MEMORY},
      {faults::Kind::kAllocation, &Takers::SetGraphIO,
       ONNXIFI_STATUS_NO_SYSTEM_MEMORY},
      {faults::Kind::kAllocation, &Takers::Run,
       ONNXIFI_STATUS_NO_SYSTEM_MEMORY},
      {faults::Kind::kDescriptor, &Takers::Ids, ONNXIFI_STATUS_INTERNAL_ERROR},
      {faults::Kind::kDescriptor, &Takers::InitBackend,
       ONNXIFI_STATUS_NO_SYSTEM_RESOURCES},
      {faults::Kind::kThread, &Takers::InitGraph,
       ONNXIFI_STATUS_NO_SYSTEM_RESOURCES},
      // Weights, and the storage of a run, come as descriptors.
      {faults::Kind::kDescriptor, &Takers::SetGraphIO,
       ONNXIFI_STATUS_NO_SYSTEM_RESOURCES},
      {faults::Kind::kDescriptor, &Takers::Run,
       ONNXIFI_STATUS_NO_SYSTEM_RESOURCES},
  };
  for (const auto& tested : cases) {
    SCOPED_TRACE(faults::Name(tested.kind));
    faults::Arm({tested.kind, 0, true});
    const onnxStatus status = (takers.*tested.call)();
    EXPECT_TRUE(faults::Disarm().failed);
    EXPECT_STATUS(tested.status, status);
  }
  // All events of a backend, and all handles of events.
  std::vector<onnxEvent> events;
  std::vector<onnxBackend> backends = {takers.objects.backend};
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  for (onnxEvent event = nullptr;;) {
    status = library().InitEvent(backends.back(), &event);
    if (status == ONNXIFI_STATUS_SUCCESS) {
      events.push_back(event);
    } else if (status == ONNXIFI_STATUS_NO_DEVICE_RESOURCES) {
      EXPECT_STATUS(ONNXIFI_STATUS_NO_DEVICE_RESOURCES, takers.Run());
      backends.emplace_back();
      EXPECT_OK(
          library().InitBackend(takers.objects.id, nullptr, &backends.back()));
    } else {
      break;
    }
  }
  EXPECT_STATUS(ONNXIFI_STATUS_NO_SYSTEM_RESOURCES, status);
  EXPECT_GT(backends.size(), 2u);
  for (onnxEvent made : events) EXPECT_OK(library().ReleaseEvent(made));
  for (size_t i = 1; i < backends.size(); ++i) {
    EXPECT_OK(library().ReleaseBackend(backends[i]));
  }
}

void ExhaustedCard() {
  Takers takers;
  const struct {
    unsigned long request;
    onnxStatus (Takers::*call)();
  } cases[] = {
      {DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &Takers::InitBackend},
      {DRM_IOCTL_HEDDLE_BO_CREATE, &Takers::InitGraph},
      {DRM_IOCTL_HEDDLE_BO_CREATE, &Takers::SetGraphIO},
      {DRM_IOCTL_HEDDLE_SUBMIT, &Takers::Run},
  };
  for (const auto& tested : cases) {
    {
      const DriverSays says(tested.request, ENOSPC);
      EXPECT_STATUS(ONNXIFI_STATUS_NO_DEVICE_MEMORY, (takers.*tested.call)());
    }
    const DriverSays says(tested.request, EBUSY);
    EXPECT_STATUS(ONNXIFI_STATUS_NO_DEVICE_RESOURCES, (takers.*tested.call)());
  }
}

void FailingCard() {
  Takers takers;
  const struct {
    unsigned long request;
    onnxStatus (Takers::*call)();
  } cases[] = {
      {DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &Takers::InitBackend},
      {DRM_IOCTL_HEDDLE_BO_CREATE, &Takers::InitGraph},
      {DRM_IOCTL_HEDDLE_BO_CREATE, &Takers::SetGraphIO},
      {DRM_IOCTL_HEDDLE_SUBMIT, &Takers::Run},
  };
  for (const auto& tested : cases) {
    const DriverSays says(tested.request, EIO);
    EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, (takers.*tested.call)());
  }
  {
    const DriverSays says(DRM_IOCTL_HEDDLE_WAIT, EIO);
    EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, takers.objects.Run());
  }
  // A card that has come back and for which there is no descriptor.
  if (TestCard::Get().card() == nullptr) return;
  TestCard::Get().Remove();
  EXPECT_STATUS(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, takers.Compatibility());
  TestCard::Get().Replace(CardOptions());
  faults::Arm({faults::Kind::kDescriptor, 0, true});
  const onnxStatus status = takers.Compatibility();
  faults::Disarm();
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, status);
}

// The four release functions have no other status for a library that this
// process did not open.
void ForkedChild() {
  Objects objects;
  const onnxEvent event = objects.Event(false);
  const auto ask = [&] {
    return std::vector<std::pair<Function, onnxStatus>>{
        {Function::kReleaseBackendID, library().ReleaseBackendID(objects.id)},
        {Function::kReleaseBackend, library().ReleaseBackend(objects.backend)},
        {Function::kReleaseEvent, library().ReleaseEvent(event)},
        {Function::kReleaseGraph, library().ReleaseGraph(objects.graph)},
    };
  };
  int answers[2];
  ASSERT_EQ(pipe(answers), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto asked = ask();
    const size_t bytes = asked.size() * sizeof(asked[0]);
    _exit(write(answers[1], asked.data(), bytes) == static_cast<ssize_t>(bytes)
              ? 0
              : 1);
  }
  close(answers[1]);
  std::pair<Function, onnxStatus> asked[4];
  ASSERT_EQ(read(answers[0], asked, sizeof(asked)),
            static_cast<ssize_t>(sizeof(asked)));
  close(answers[0]);
  int code = -1;
  ASSERT_EQ(waitpid(child, &code, 0), child);
  EXPECT_EQ(code, 0);
  for (const auto& [function, status] : asked) {
    Note(function, status);
    EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, status);
  }
  EXPECT_OK(library().ReleaseEvent(event));
}

void RemovedCard() {
  if (TestCard::Get().card() == nullptr) return;
  Takers takers;
  const onnxEvent event = takers.objects.Event(false);
  TestCard::Get().Remove();
  const auto gone = [](onnxStatus status) {
    EXPECT_STATUS(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, status);
  };
  // First, because it ends when the backend has heard of the removal: until
  // then a function that does not ask the driver may still succeed.
  gone(library().WaitEvent(event));
  char text[64];
  size_t size = sizeof(text);
  gone(library().GetBackendInfo(takers.objects.id, ONNXIFI_BACKEND_NAME, text,
                                &size));
  gone(takers.Compatibility());
  gone(takers.InitBackend());
  gone(takers.InitEvent());
  gone(takers.InitGraph());
  gone(takers.SetGraphIO());
  gone(takers.Run());
  gone(library().SignalEvent(event));
  onnxEventState state;
  gone(library().GetEventState(event, &state));
  EXPECT_OK(library().ReleaseEvent(event));
  TestCard::Get().Replace(CardOptions());
}

}  // namespace heddle::tests
