#include "api/cloudmesh_counts.h"

#include <algorithm>

#include "api/cloudmesh.h"
#include "api/handlers.h"
#include "http/sse.h"

namespace atl::api {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(200);  // as often as cc looks
constexpr size_t kStepsLookedAt = 10'000;  // of a larger one, what waits for room counts as running

bool has_started(const core::State& state, const core::Step& step) {
  const core::Job* job = state.job(step.job);
  return job && !job->tasks.empty() &&
         std::holds_alternative<core::TaskRunning>(job->tasks.begin()->second.state);
}

// On the core's thread.
size_t count_live(const core::State& state, const core::Workflow& live, const std::string& status) {
  size_t count = 0;
  if (live.steps.size() <= kStepsLookedAt) {
    for (const core::Step& step : live.steps) {
      const bool asked = step.state == core::StepState::running;
      count += status_of_step(step.state, asked && has_started(state, step)) == status ? 1 : 0;
    }
    return count;
  }
  for (size_t i = 0; i < live.tally.size(); ++i) {
    if (status_of_step(static_cast<core::StepState>(i), true) == status) count += live.tally[i];
  }
  return count;
}

size_t count_ended(const core::StepTally& tally, const std::string& status) {
  size_t count = 0;
  for (size_t i = 0; i < tally.size(); ++i) {
    if (status_of_step(static_cast<core::StepState>(i), true) == status) count += tally[i];
  }
  return count;
}

void count_status(const CallPtr& call, const char* status) {
  run_on(call->context.slow, call, [call, status] {
    const auto kept = load_definition(call, core::Role::viewer);
    if (!kept) return call->refuse(kept.error());
    const auto counts = spec::cc::status_counts(kept->file.workflow);
    const auto begin = counts.find(status);
    CloudmeshCounts::Wish wish{call->actor, kept->of, kept->name, status,
                               begin == counts.end() ? 0 : begin->second};
    if (auto stream = open_stream(call)) call->context.counts.follow(stream, std::move(wish));
  });
}

}  // namespace

struct CloudmeshCounts::Listener {
  Wish wish;
  std::shared_ptr<http::Stream> stream;

  std::mutex mutex;
  std::optional<size_t> told;
  void tell(size_t count) {
    const std::lock_guard lock(mutex);
    if (told == count) return;
    if (stream->write(http::format_event({{}, {}, std::to_string(count)}))) told = count;
  }
};

void CloudmeshCounts::follow(std::shared_ptr<http::Stream> stream, Wish wish) {
  auto listener = std::make_shared<Listener>();
  listener->wish = std::move(wish);
  listener->stream = std::move(stream);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return listener->stream->close();
    listeners_.push_back(listener);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  listener->stream->on_writable([this] { on_commit(); });
  look(listener);
}

void CloudmeshCounts::on_commit() {
  const std::lock_guard lock(mutex_);
  if (listeners_.empty() || changed_) return;
  changed_ = true;
  wake_.notify_one();
}

void CloudmeshCounts::heartbeat() {
  for (const ListenerPtr& listener : open_listeners())
    static_cast<void>(listener->stream->write(http::kSseHeartbeat));
}

std::vector<CloudmeshCounts::ListenerPtr> CloudmeshCounts::open_listeners() {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const ListenerPtr& each) { return !each->stream->is_open(); });
  return listeners_;
}

void CloudmeshCounts::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || changed_; });
      // Many commits make one look.
      wake_.wait_for(lock, kBetweenLooks, [&] { return stopping_; });
      if (stopping_) return;
      changed_ = false;
    }
    for (const ListenerPtr& listener : open_listeners()) look(listener);
  }
}

// History is asked on the pool's thread, in turn with what is decided.
void CloudmeshCounts::look(const ListenerPtr& listener) {
  context_.runtime.read([this, listener](const core::State&) {
    static_cast<void>(context_.quick.post([this, listener] { count(listener); }));
  });
}

void CloudmeshCounts::count(const ListenerPtr& listener) {
  const Wish& wish = listener->wish;
  // Whoever has lost the right to look is shown nothing more.
  if (!core::may_view(*context_.directory.table(), wish.actor, wish.of.id))
    return listener->stream->close();
  const auto run = newest_run(context_.history, wish.of.id, wish.name);
  if (!run) return;
  if (!*run) return listener->tell(wish.begin);
  const size_t ended = count_ended((*run)->tally, wish.status);
  if ((*run)->ended) return listener->tell(ended);
  context_.runtime.read([this, listener, id = (*run)->id](const core::State& state) {
    if (const core::Workflow* live = state.workflow(id))
      return listener->tell(count_live(state, *live, listener->wish.status));
    on_commit();  // it has just ended: look again
  });
}

void CloudmeshCounts::stop() {
  std::vector<ListenerPtr> left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    left.swap(listeners_);
    wake_.notify_one();
  }
  for (const ListenerPtr& listener : left) listener->stream->close();
  if (thread_.joinable()) thread_.join();
}

void count_done(const CallPtr& call) { count_status(call, "done"); }
void count_ready(const CallPtr& call) { count_status(call, "ready"); }
void count_failed(const CallPtr& call) { count_status(call, "failed"); }
void count_submitted(const CallPtr& call) { count_status(call, "submitted"); }
void count_running(const CallPtr& call) { count_status(call, "running"); }

}  // namespace atl::api
