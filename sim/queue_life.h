// Producers and workers of a queue. Producers repeat a put that has keys until they hear of it;
// workers work longer than their lease at times, extend it, die, or tell the server twice.
#pragma once

#include <memory>
#include <vector>

#include "sim/server.h"

namespace atl::sim {

class QueueLife {
 public:
  QueueLife(World& world, Server& server, Observer& observer, Rng rng, const Faults& faults)
      : world_(world), server_(server), observer_(observer), rng_(rng), faults_(faults) {}

  // In the namespace of that name: so many puts, and workers until everything is done or dead.
  void begin(std::string ns, uint64_t puts);
  bool idle() const;

 private:
  struct Put {
    core::PutItems command;
    std::vector<std::string> bodies;
    bool keyed = false;
  };
  using PutPtr = std::shared_ptr<const Put>;
  using Answered = std::function<void(const Result<runtime::Accepted>&)>;

  void make_queue();
  void put_next();
  void close();
  Put draw_put();
  void put(const PutPtr& put);
  void work(uint64_t worker);
  void leased(uint64_t worker, const core::ItemsLeased& lease);
  void extend(LeaseId lease);
  void finish(uint64_t worker, const core::ItemsLeased& lease);
  void restore();
  // Calls `answered` if an answer comes; else `silence` after a while, if there is one.
  void send(core::Command command, const std::vector<std::string>& bodies, Answered answered,
            std::function<void()> silence);
  void later(Duration low, Duration high, std::function<void()> what) {
    world_.after(rng_.between(low, high), std::move(what));
  }

  World& world_;
  Server& server_;
  Observer& observer_;
  Rng rng_;
  const Faults& faults_;
  std::string ns_;
  bool made_ = false;
  bool closed_ = false;
  uint64_t left_ = 0;
  uint64_t open_ = 0;  // puts that will still be tried
  uint64_t serial_ = 0;
};

}  // namespace atl::sim
