#include "sim/server.h"

#include <algorithm>

#include "base/check.h"

namespace atl::sim {
namespace {

// Small bounds make turns end early and queues go round, which large ones never would in a small
// world.
runtime::Options draw_options(Rng& rng) {
  runtime::Options options;
  if (rng.chance(500)) options.inputs_per_turn = static_cast<size_t>(rng.between(1, 8));
  options.ticks_per_turn = static_cast<uint32_t>(rng.between(1, 8));
  options.trial_pause = rng.between(milliseconds(100), seconds(2));
  return options;
}

}  // namespace

Server::Server(World& world, SimClock& clock, Rng rng, const Faults& faults,
               const Sabotage& sabotage, journal::MemoryJournal& disk, Sites& sites,
               Observer& observer)
    : world_(world),
      clock_(clock),
      rng_(rng),
      faults_(faults),
      disk_(disk),
      journal_(disk, rng_.fork()),
      steward_(world, rng_.fork(), faults),
      sites_(sites),
      observer_(observer),
      options_(draw_options(rng_)) {
  journal_.set_sabotage(sabotage);
}

Time Server::server_time() { return std::max(clock_.now(), runtime_->state().now); }

void Server::boot() {
  runtime_ = std::make_unique<runtime::Runtime>(clock_, journal_, disk_.history(), options_);
  for (const auto& site : sites_) runtime_->add_driver(site->name(), site->connect());
  runtime_->set_notice_sender([this](const core::Notice& notice) { send_notice(notice); });
  runtime_->set_steward(
      steward_.connect([this](core::Report report, std::vector<journal::Blob> blobs) {
        runtime_->post(std::move(report), std::move(blobs));
      }));
  try {
    const Result<void> opened = runtime_->open();
    CHECK(opened.has_value(), "the journal cannot be read: " + opened.error().message);
    observer_.look(runtime_->state(), server_time(), false, true);
    runtime_->adopt();
  } catch (const ServerCrash&) {
    died();
  }
}

void Server::crash() {
  if (runtime_) died();
}

void Server::died() {
  world_.trace.note(world_.now(), "server dies");
  ++crashes_;
  ++life_;
  ++turn_id_;
  turn_at_ = {};
  runtime_.reset();
  steward_.disconnect();
  for (const auto& site : sites_) site->disconnect();
  observer_.pull();
  disk_.crash(rng_.chance(faults_.keep_doubtful));
  world_.after(rng_.between(milliseconds(50), seconds(20)), [this] { boot(); });
}

void Server::poke() {
  if (!runtime_) return;
  const runtime::Health health = runtime_->health();
  Duration wait = seconds(1);  // as the runtime's own loop: it looks around once a second
  if (health.queued > 0 && !health.read_only) {
    wait = milliseconds(3);
  } else if (const Time wake = runtime_->next_wake()) {
    wait.us = std::clamp<int64_t>(wake.us - clock_.now().us, 0, wait.us);
    if (health.read_only) wait = std::max(wait, milliseconds(50));
  }
  const Time due = world_.now() + wait;
  if (turn_at_ && turn_at_ <= due) return;
  turn_at_ = due;
  world_.after(wait, [this, id = ++turn_id_] {
    if (id == turn_id_) turn();
  });
}

void Server::turn() {
  turn_at_ = {};
  try {
    if (!runtime_->step()) return;
    observer_.look(runtime_->state(), server_time(), writable(), false);
  } catch (const ServerCrash&) {
    died();
  }
}

void Server::post(runtime::Submission submission, runtime::Reply reply) {
  runtime_->post(std::move(submission),
                 [this, life = life_, reply = std::move(reply)](auto answer) {
                   reply(std::move(answer));
                   if (life == life_ && rng_.chance(faults_.crash_in_answers)) throw ServerCrash{};
                 });
}

void Server::send_notice(const core::Notice& notice) {
  world_.after(rng_.between(milliseconds(1), seconds(30)), [this, life = life_, id = notice.id] {
    if (life != life_ || !runtime_) return;
    runtime_->post(core::NoticeReported{id, rng_.chance(900), ""});
  });
}

void Server::see_zone(int32_t utc_offset) {
  if (runtime_) runtime_->post(core::ZoneSeen{utc_offset});
}

void Server::snapshot() {
  observer_.pull();
  const Result<void> made = disk_.snapshot();
  CHECK(made.has_value(), "a snapshot failed: " + made.error().message);
}

}  // namespace atl::sim
