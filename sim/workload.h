// The people: they ask at random moments, give up or ask again when no answer comes, and at the end
// clear away what stands in the way of their own jobs.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sim/draw.h"
#include "sim/server.h"

namespace atl::sim {

class Workload {
 public:
  Workload(World& world, Server& server, Observer& observer, Rng rng, const Faults& faults,
           std::vector<std::string> sites);

  // Asks for what a platform begins with; done() when all of it is there.
  void set_up();
  bool done() const { return open_.empty(); }

  // Asks for `count` things, a mean of `pause` apart.
  void begin(uint64_t count, Duration pause);
  bool asking() const { return left_ > 0 || !open_.empty(); }

  // Instead: for so long everybody has more work than there is room.
  void set_up_backlogged();
  void keep_backlogged(Duration span);

  // Removes every obstacle of the people's own making: holds, quotas, drained or missing sites,
  // impossible wishes.
  void clear_away();

 private:
  struct Ticket {
    Ask ask;
    uint64_t tries = 0;
  };

  void ask_next();
  void meet_steps();
  void top_up(Time until);
  void send(std::shared_ptr<Ticket> ticket);
  void send_again(std::shared_ptr<Ticket> ticket);
  void answered(const std::shared_ptr<Ticket>& ticket, const Result<runtime::Accepted>& answer);
  void order(core::Command command);
  void clear_job(const core::Job& job);
  void undrain(const core::Site& site);

  World& world_;
  Server& server_;
  Observer& observer_;
  Rng rng_;
  const Faults& faults_;
  const std::vector<std::string> sites_;
  Draw draw_;
  const bool clears_agenda_;  // else reservations and the calendar's hours pass by themselves
  uint64_t left_ = 0;
  Duration pause_;
  std::map<const Ticket*, uint64_t> open_;  // waiting for an answer, with the number of the try
};

}  // namespace atl::sim
