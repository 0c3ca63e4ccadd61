// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/card_pool.h"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/hal/status.h"
#include "runtime/session/buffers.h"
#include "runtime/session/card_seats.h"
#include "runtime/session/device_handle.h"
#include "runtime/session/host_buffer.h"
#include "runtime/session/resident.h"
#include "runtime/session/thread.h"

namespace heddle::session {
namespace {

bool IsFull(const absl::Status& status) {
  return absl::IsResourceExhausted(status) &&
         hal::ExhaustedResource(status) == hal::Resource::kDeviceResources;
}

absl::Status Named(const std::string& card, const absl::Status& status) {
  absl::Status named(status.code(), absl::StrCat(card, ": ", status.message()));
  status.ForEachPayload([&named](absl::string_view url, const absl::Cord& p) {
    named.SetPayload(url, p);
  });
  return named;
}

// The card of the first tensor of a run that is on one, or in memory that one
// reaches; the graph looks at the others.
const DeviceCore* FindCore(const std::vector<TensorBuffer>& inputs,
                           const std::vector<TensorBuffer>& outputs) {
  for (const auto* list : {&inputs, &outputs}) {
    for (const TensorBuffer& buffer : *list) {
      const auto* resident =
          dynamic_cast<const ResidentBuffer*>(buffer.resident.get());
      if (resident != nullptr) return resident->core();
      const auto* host =
          dynamic_cast<const MappedHostBuffer*>(buffer.host.get());
      if (host != nullptr) return host->core();
    }
  }
  return nullptr;
}

}  // namespace

// A run at its seat. The graph's callback holds it, too: so a run may be given
// up where nobody can wait for it.
class CardPool::Ticket {
 public:
  Ticket(std::shared_ptr<CardSeats> seats,
         std::function<void(const absl::Status&)> done)
      : seats_(std::move(seats)), done_(std::move(done)) {}
  ~Ticket() {
    if (!seats_->forked()) return;
    hal::Abandon(std::move(seat_));
    hal::Abandon(std::move(seats_));
  }

  // Before its card has the run, and when it has.
  void Sit(std::shared_ptr<CardSeat> seat) { seat_ = std::move(seat); }
  void Hold(std::shared_ptr<Run> run) { run_ = std::move(run); }
  bool has_run() const { return run_ != nullptr; }
  Run& run() const { return *run_; }

  // The run has ended: whoever learns it first.
  void End(const absl::Status& status) noexcept {
    if (seats_->forked() || ended_.exchange(true)) return;
    seats_->Ended(seat_.get(), status);
  }
  // What the graph calls.
  void Tell(const absl::Status& status) noexcept {
    End(status);
    if (done_ == nullptr) return;
    const CardSeats* const before = telling_;
    telling_ = seats_.get();
    done_(status);
    done_ = nullptr;
    telling_ = before;
  }
  // Whether this thread must not wait for the run: it calls back for a card,
  // and the thread of the run's card may want to wait for that one.
  bool is_needed() const { return telling_ == seats_.get() && !ended_; }

 private:
  // Whose callback this thread is in.
  static thread_local const CardSeats* telling_;

  std::shared_ptr<CardSeats> seats_;
  std::shared_ptr<CardSeat> seat_;
  std::function<void(const absl::Status&)> done_;
  std::atomic<bool> ended_{false};
  std::shared_ptr<Run> run_;
};

thread_local const CardSeats* CardPool::Ticket::telling_ = nullptr;

class CardPool::Handle : public Run {
 public:
  explicit Handle(std::shared_ptr<Ticket> ticket)
      : ticket_(std::move(ticket)) {}
  ~Handle() override {
    if (!ticket_->has_run() || ticket_->is_needed()) return;
    ticket_->run().Wait(absl::InfiniteFuture()).IgnoreError();
  }
  absl::Status Wait(absl::Time deadline) override {
    if (ticket_->is_needed()) {
      return absl::FailedPreconditionError(
          "a callback of the runtime cannot wait for another inference of the "
          "same cards");
    }
    absl::Status status = ticket_->run().Wait(deadline);
    // The card counts as free for what this thread starts next. Those two may
    // be about the waiting, and the run goes on.
    if (!absl::IsDeadlineExceeded(status) &&
        !absl::IsFailedPrecondition(status)) {
      ticket_->End(status);
    }
    return status;
  }
  void Cancel() override { ticket_->run().Cancel(); }
  RunStatistics statistics() const override {
    return ticket_->run().statistics();
  }
  absl::StatusOr<RunTrace> trace() const override {
    return ticket_->run().trace();
  }
  std::optional<compiler::Shape> OutputShape(
      const std::string& name) const override {
    return ticket_->run().OutputShape(name);
  }

 private:
  const std::shared_ptr<Ticket> ticket_;
};

absl::StatusOr<std::shared_ptr<CardPool>> CardPool::Load(
    const std::vector<std::shared_ptr<Device>>& devices,
    absl::string_view package_bytes, std::shared_ptr<const void> owner,
    const CardPoolOptions& options) {
  if (devices.empty()) {
    return absl::InvalidArgumentError("a pool of cards needs a device");
  }
  std::vector<std::string> ids;
  for (const std::shared_ptr<Device>& device : devices) {
    if (CoreOf(device.get()) == nullptr) {
      return absl::InvalidArgumentError("a pool of cards needs open devices");
    }
    const std::string& id = device->description().id;
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the device ", id, " is given twice"));
    }
    ids.push_back(id);
  }
  const auto seat_on = [package_bytes, owner = std::move(owner),
                        load = options.load](size_t card,
                                             std::shared_ptr<Device> device)
      -> absl::StatusOr<std::shared_ptr<CardSeat>> {
    auto graph = LoadGraph(device, package_bytes, load);
    if (!graph.ok()) return Named(device->description().id, graph.status());
    return std::make_shared<CardSeat>(card, std::move(device),
                                      *std::move(graph));
  };
  std::shared_ptr<CardPool> pool(new CardPool);
  pool->seats_ = std::make_shared<CardSeats>(
      ids, options.look_again,
      [ids, seat_on, open = options.open](
          size_t card) -> absl::StatusOr<std::shared_ptr<CardSeat>> {
        auto device = OpenDevice(ids[card], open);
        if (!device.ok()) return device.status();
        return seat_on(card, *std::move(device));
      });
  size_t seated = 0;
  for (size_t card = 0; card < devices.size(); ++card) {
    auto seat = seat_on(card, devices[card]);
    if (absl::IsUnavailable(seat.status())) continue;
    if (!seat.ok()) return seat.status();
    if (seated++ == 0) {
      pool->package_ = (*seat)->graph->package();
      pool->device_bytes_ = (*seat)->graph->device_bytes();
      for (const package::TensorInfo& output : pool->package_.outputs) {
        const uint64_t axes = (*seat)->graph->BoundedAxes(output.name);
        if (axes != 0) pool->bounded_[output.name] = axes;
      }
    }
    pool->seats_->Put(*std::move(seat));
  }
  if (seated == 0) {
    return absl::UnavailableError(
        absl::StrCat("no card is left of ", absl::StrJoin(ids, ", ")));
  }
  pool->keeper_ = StartThread([seats = pool->seats_] { seats->Keep(); });
  if (pool->keeper_ == nullptr) {
    return hal::Exhausted(hal::Resource::kSystemResources,
                          "loading a model on several cards: the system cannot "
                          "create another thread (ulimit -u)");
  }
  return pool;
}

CardPool::~CardPool() {
  if (seats_ == nullptr) return;
  if (seats_->forked()) {
    keeper_.release();
    hal::Abandon(std::move(seats_));
    return;
  }
  const bool ends = seats_->Stop();
  if (ends) {
    EndThread(std::move(keeper_));
  } else {
    keeper_->detach();
  }
  seats_->Clear();
}

absl::StatusOr<std::shared_ptr<Run>> CardPool::Start(
    const std::vector<TensorBuffer>& inputs,
    const std::vector<TensorBuffer>& outputs,
    std::function<void(const absl::Status&)> done, const RunOptions& options) {
  if (seats_->forked()) return hal::FromErrno("starting an inference", ECHILD);
  const DeviceCore* core = FindCore(inputs, outputs);
  // All of the pool that may fail comes before a card has the run.
  const auto ticket = std::make_shared<Ticket>(seats_, std::move(done));
  const auto handle = std::make_shared<Handle>(ticket);
  std::vector<const CardSeat*> full;
  absl::Status last;
  for (;;) {
    const std::shared_ptr<CardSeat> seat =
        seats_->Take([&full, core](const CardSeat& s) {
          return (core == nullptr || CoreOf(s.device.get()) == core) &&
                 std::find(full.begin(), full.end(), &s) == full.end();
        });
    if (seat == nullptr) break;
    ticket->Sit(seat);
    bool accepted = false;
    absl::Cleanup started = [this, &seat, &accepted] {
      seats_->Started(seat.get(), accepted);
    };
    auto run = seat->graph->Start(
        inputs, outputs,
        [ticket](const absl::Status& status) { ticket->Tell(status); },
        options);
    if (run.ok()) {
      accepted = true;
      ticket->Hold(*std::move(run));
      return std::shared_ptr<Run>(handle);
    }
    last = run.status();
    if (IsFull(last)) {
      full.push_back(seat.get());
    } else if (absl::IsUnavailable(last)) {
      seats_->Lose(seat.get());
    } else {
      return last;
    }
  }
  if (!full.empty() || (core != nullptr && !last.ok())) return last;
  if (core != nullptr) {
    if (!core->available()) {
      return absl::UnavailableError(absl::StrCat(
          "the card ", core->description().id,
          " is gone, and with it its resident tensors and host buffers"));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "a resident tensor or host buffer is of ", core->description().id,
        " as another device than the pool's: make it with one of Cards()"));
  }
  return absl::UnavailableError(
      absl::StrCat("running ", Name(package_), ": no card is left"));
}

uint64_t CardPool::BoundedAxes(const std::string& output) const {
  const auto found = bounded_.find(output);
  return found != bounded_.end() ? found->second : 0;
}

std::vector<CardPool::Card> CardPool::Cards() const {
  if (seats_->forked()) return {};
  return seats_->Cards();
}

}  // namespace heddle::session
