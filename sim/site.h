// A simulated site and the driver through which a server reaches it.
//
// SimSite is the place itself: it outlives servers, remembers every attempt it ever heard of (so
// that none begins twice), keeps each result until it is told to forget it, and tells a Witness
// what really ran and when. A driver is one server's connection to it; when the server dies,
// everything under way between the two is lost.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/checkers/checker.h"
#include "sim/faults.h"
#include "sim/rng.h"
#include "sim/world.h"
#include "site/driver.h"

namespace atl::sim {

// Who is told the truth.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void began(const RunBegan& run) = 0;
  virtual void ended(const RunEnded& run) = 0;
};

struct SiteOptions {
  std::string name;
  std::vector<core::NodeCapacity> nodes;
  Duration skew;      // of the site's clock against the world's
  bool line = false;  // takes work in advance, to begin when other work has ended
};

class SimSite {
 public:
  struct Adopt {
    std::vector<AttemptId> expected;
  };
  struct Forget {
    AttemptId attempt;
  };
  using Order = std::variant<Adopt, site::StartOrder, site::StopOrder, Forget>;

  SimSite(World& world, Rng rng, SiteOptions options, const Faults& faults,
          const Sabotage& sabotage, Witness& witness);

  const std::string& name() const { return options_.name; }

  // A driver for a server that has just begun; earlier ones are cut off.
  std::shared_ptr<site::SiteDriver> connect();
  // The server is gone, with all orders and reports on their way.
  void disconnect();

  // Faults that the simulation decides on.
  void crash(Duration outage);
  void partition(Duration outage);
  void reshape();
  // Up, reachable and whole again.
  void heal();

  // Nothing runs and no result waits to be fetched.
  bool quiet() const { return live_ == 0 && kept_.empty(); }
  uint64_t live() const { return live_; }

 private:
  friend class SimDriver;

  struct Entry {
    core::Placement placement;
    Time began;  // zero: never ran
    bool running = false;
    std::optional<site::StartOrder> waiting;    // behind another one
    uint64_t stopping = 0;                      // orders to stop so far
    std::optional<core::AttemptResult> result;  // until forgotten
  };

  // The connection.
  bool reachable() const { return !down_ && !cut_; }
  void submit(uint64_t link, Order order);
  void deliver_orders();
  void report(core::Report report);
  void send_later(core::Report report);
  void beat();
  void come_back();

  // Orders.
  void carry_out(const Adopt& adopt);
  void carry_out(const site::StartOrder& order);
  void carry_out(const site::StopOrder& order);
  void carry_out(const Forget& forget);
  void report_known(AttemptId attempt, const Entry& entry);

  // Work.
  core::SiteReport capacity() const;
  bool live(AttemptId attempt) const;
  void leave_line(AttemptId attempt, core::EndCause cause);
  void begin_if_possible(const site::StartOrder& order, Entry& entry);
  void begin(const site::StartOrder& order, Entry& entry);
  void begin_next(AttemptId ended);
  void finish(AttemptId attempt, core::AttemptResult result);
  void finish_later(AttemptId attempt, Duration delay, core::AttemptResult result);
  core::AttemptResult draw_exit();
  core::AttemptResult draw_stopped();
  void lose(Entry& entry, AttemptId attempt, const std::string& why);
  Time site_time() const { return world_.now() + options_.skew; }
  bool has_node(const std::string& name) const;

  World& world_;
  Rng rng_;
  const SiteOptions options_;
  const Faults& faults_;
  const Sabotage& sabotage_;
  Witness& witness_;

  // The site's own memory.
  std::vector<core::NodeCapacity> nodes_;
  std::map<AttemptId, Entry> ledger_;
  std::set<AttemptId> kept_;             // with a result not yet forgotten
  std::map<AttemptId, AttemptId> line_;  // who waits, by whom it is behind
  uint64_t live_ = 0;
  Time boot_;
  bool down_ = false;
  bool cut_ = false;
  uint64_t outages_ = 0;  // so that an outage that was cut short does not end the next one

  // The connection of the present server; `link_` numbers them.
  uint64_t link_ = 0;
  bool adopted_ = false;
  site::ReportSink sink_;
  std::deque<Order> orders_;
};

}  // namespace atl::sim
