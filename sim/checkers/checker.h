// A checker watches a whole run for one promise of the design. It is told what clients were told,
// what the journal holds, what the sites really did, and may look at the state between turns; it
// believes none of them alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/core.h"
#include "journal/journal.h"
#include "runtime/runtime.h"

namespace atl::sim {

// Work that really began, as its site knows.
struct RunBegan {
  AttemptId attempt;
  std::string site;
  core::Placement placement;
  core::Resources resources;
  std::string payload;  // the command it was given
  Time at;
  std::string items;  // the numbers of the items it was given
};
struct RunEnded {
  AttemptId attempt;
  Time at;
};

// What a client asked and what the server answered, whether or not the answer reached the client.
struct Told {
  const core::Request& request;
  std::string payload;       // of a submission's first job
  bool must_refuse = false;  // the request is wrong on purpose
  const Result<runtime::Accepted>& answer;
  const std::vector<std::string>* bodies = nullptr;  // of items that were put
};

// The platform between two turns.
struct Glimpse {
  const core::State& live;      // as the runtime has it
  const core::State& replayed;  // as the journal's commits, applied one by one, make it
  journal::Journal& journal;
  journal::History& history;
  Time now;                // as the server sees it
  bool writable = false;   // no commit has failed since the last trial write
  bool restarted = false;  // the first look after a restart
};

class Checker {
 public:
  virtual ~Checker() = default;

  virtual std::string_view promise() const = 0;
  virtual void told(const Told&) {}
  // A durable event, in order, each once; `after` is the state with it.
  virtual void recorded(uint64_t, const core::Event&, const core::State& after) { (void)after; }
  // A whole commit has been recorded.
  virtual void committed(uint64_t, const core::State& after) { (void)after; }
  virtual void began(const RunBegan&) {}
  virtual void ended(const RunEnded&) {}
  virtual void looked(const Glimpse&) {}
  // Faults have stopped and the time to settle is over.
  virtual void settled(const Glimpse&) {}

  // How the promise was broken, or empty.
  const std::string& broken() const { return broken_; }

 protected:
  void broke(std::string what) {
    if (broken_.empty()) broken_ = std::move(what);
  }

 private:
  std::string broken_;
};

std::vector<std::unique_ptr<Checker>> all_checkers();

}  // namespace atl::sim
