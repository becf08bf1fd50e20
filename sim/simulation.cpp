#include "sim/simulation.h"

#include <memory>
#include <vector>

#include "sim/queue_life.h"
#include "sim/server.h"
#include "sim/site.h"
#include "sim/workload.h"

namespace atl::sim {
namespace {

// People clear obstacles away once a minute; runs last minutes, retries and their pauses add up to
// hours at worst.
constexpr Duration kSettleMax = hours(24);

class Simulation {
 public:
  explicit Simulation(const SimOptions& options);
  SimResult run();

 private:
  bool step();
  template <class Until>
  bool run_until(Time deadline, Until&& until);
  // Calls `strike` again and again, a mean of `every` apart, while the faults last.
  void strike_every(Duration Faults::* every, void (Simulation::*strike)());
  void begin_faults();
  void end_faults();
  void jump_clock();
  void fill_disk();
  void snapshot() { server_->snapshot(); }
  void crash_server() { server_->crash(); }
  void crash_site() { some_site().crash(rng_.between(seconds(1), faults_.outage_max)); }
  void cut_site() { some_site().partition(rng_.between(seconds(1), faults_.outage_max)); }
  void reshape_site() { some_site().reshape(); }
  void change_zone() { server_->see_zone(static_cast<int32_t>(rng_.between(-12, 13) * 60)); }
  SimSite& some_site() { return *rng_.pick(sites_); }
  static Faults without_jumps(Faults faults);
  bool settled() const;
  SimResult result();

  const SimOptions options_;
  World world_;
  Rng rng_;
  SimClock clock_;
  Faults faults_;  // now; all off before and after the storm
  Faults drawn_;
  journal::MemoryJournal disk_;
  Observer observer_;
  Server::Sites sites_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<QueueLife> queues_;
  uint64_t struck_ = 0;
  Duration settled_after_;
};

Simulation::Simulation(const SimOptions& options)
    : options_(options),
      world_(options.print),
      rng_(options.seed),
      clock_(world_),
      drawn_(draw_faults(rng_)),
      observer_(world_, disk_, all_checkers()) {
  if (options_.faults) drawn_ = *options_.faults;
  std::vector<std::string> names;
  const auto count = static_cast<size_t>(rng_.between(1, 3));
  for (size_t i = 0; i < count; ++i) {
    SiteOptions site = draw_site(rng_, i);
    names.push_back(site.name);
    sites_.push_back(std::make_unique<SimSite>(world_, rng_.fork(), std::move(site), faults_,
                                               options_.sabotage, observer_));
  }
  server_ = std::make_unique<Server>(world_, clock_, rng_.fork(), faults_, options_.sabotage, disk_,
                                     sites_, observer_);
  workload_ = std::make_unique<Workload>(world_, *server_, observer_, rng_.fork(), faults_,
                                         std::move(names));
  queues_ = std::make_unique<QueueLife>(world_, *server_, observer_, rng_.fork(), faults_);
}

bool Simulation::step() {
  const bool more = world_.step();
  server_->poke();
  return more && observer_.broken().empty();
}

// False when the deadline came first or a promise was broken.
template <class Until>
bool Simulation::run_until(Time deadline, Until&& until) {
  while (!until()) {
    if (world_.now() > deadline || !step()) return false;
  }
  return true;
}

void Simulation::strike_every(Duration Faults::* every, void (Simulation::*strike)()) {
  const Duration mean = drawn_.*every;
  if (mean.us == 0) return;
  world_.after(rng_.between(Duration{}, mean * 2), [this, every, strike] {
    if ((faults_.*every).us == 0) return;
    ++struck_;
    (this->*strike)();
    strike_every(every, strike);
  });
}

void Simulation::begin_faults() {
  faults_ = drawn_;
  server_->apply_faults();
  strike_every(&Faults::crash_every, &Simulation::crash_server);
  strike_every(&Faults::site_crash_every, &Simulation::crash_site);
  strike_every(&Faults::partition_every, &Simulation::cut_site);
  strike_every(&Faults::reshape_every, &Simulation::reshape_site);
  strike_every(&Faults::jump_every, &Simulation::jump_clock);
  strike_every(&Faults::full_every, &Simulation::fill_disk);
  strike_every(&Faults::snapshot_every, &Simulation::snapshot);
  strike_every(&Faults::zone_every, &Simulation::change_zone);
}

void Simulation::end_faults() {
  world_.trace.note(world_.now(), "faults end");
  faults_ = {};
  server_->apply_faults();
  server_->set_full(false);
  for (const auto& site : sites_) site->heal();
  server_->heal_steward();
}

void Simulation::jump_clock() {
  const Duration by = rng_.between(Duration{} - faults_.jump_max, faults_.jump_max);
  world_.trace.note(world_.now(), "clock jumps by " + std::to_string(by.us) + "us");
  clock_.jump(by);
}

void Simulation::fill_disk() {
  world_.trace.note(world_.now(), "disk full");
  server_->set_full(true);
  world_.after(rng_.between(seconds(1), minutes(2)), [this] { server_->set_full(false); });
}

bool Simulation::settled() const {
  if (!server_->up() || workload_->asking() || !queues_->idle()) return false;
  const core::State& state = server_->state();
  if (!state.jobs.empty() || !state.workflows.empty() || !state.notices.empty()) return false;
  for (const auto& [id, each] : state.schedules) {
    if (!each.paused || each.opening() > 0) return false;
  }
  if (!server_->writable()) return false;
  for (const auto& site : sites_) {
    if (!site->quiet()) return false;
  }
  return true;
}

// What wears on time itself would wear on the shares.
Faults Simulation::without_jumps(Faults faults) {
  faults.jump_every = faults.reshape_every = faults.partition_every = faults.site_crash_every = {};
  return faults;
}

SimResult Simulation::run() {
  server_->boot();
  const bool backlogged = options_.backlogged.value_or(options_.asks == 0 && rng_.chance(20));
  if (backlogged) drawn_ = without_jumps(drawn_);
  backlogged ? workload_->set_up_backlogged() : workload_->set_up();
  run_until(world_.now() + minutes(5), [&] { return workload_->done(); });
  run_until(world_.now() + seconds(1), [] { return false; });
  begin_faults();
  const uint64_t asks =
      options_.asks ? options_.asks : static_cast<uint64_t>(rng_.between(40, 500));
  const Duration pause = rng_.between(milliseconds(500), seconds(12));
  backlogged ? workload_->keep_backlogged(hours(5)) : workload_->begin(asks, pause);
  queues_->begin(server_->state().namespaces.begin()->second.name,
                 static_cast<uint64_t>(rng_.between(5, 40)));
  run_until(world_.now() + hours(6), [&] { return !workload_->asking(); });
  run_until(world_.now() + rng_.between(Duration{}, minutes(10)), [] { return false; });
  end_faults();
  const Time calm = world_.now();
  const Time deadline = calm + kSettleMax;
  Time clear_at = calm;
  run_until(deadline, [&] {
    if (world_.now() >= clear_at) {
      workload_->clear_away();
      clear_at = world_.now() + minutes(1);
    }
    return settled();
  });
  settled_after_ = world_.now() - calm;
  return result();
}

SimResult Simulation::result() {
  if (server_->up() && observer_.broken().empty()) observer_.settle(server_->state(), clock_.now());
  SimResult result;
  result.hash = world_.trace.hash();
  result.broken = observer_.broken();
  result.counts = observer_.counts();
  result.crashes = server_->crashes();
  result.faults = struck_ + server_->failed_commits();
  result.settled_after = settled_after_;
  return result;
}

}  // namespace

SimResult simulate(const SimOptions& options) {
  try {
    return Simulation(options).run();
  } catch (const std::exception& error) {
    SimResult result;
    result.broken = std::string("the program threw: ") + error.what();
    return result;
  }
}

}  // namespace atl::sim
