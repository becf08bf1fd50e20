// Sees to the steps of workflows that need more than being started: what they run is made from what
// others have left, and what they leave is looked at. Of schedules, the times are found out and the
// runs are made. The core asks for all of it by effects and hears back by reports; nothing is
// decided here that the core does not record.
//
// Called on the runtime's thread; works on threads of its own, which read history and the files of
// sites. Asking twice is harmless: the core ignores the second answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "journal/journal.h"
#include "runtime/pool.h"
#include "runtime/runtime.h"
#include "site/driver_table.h"

namespace atl::steward {

// What a step is to run, with the bytes that it names.
struct Prepared {
  core::StepPrepared report;
  std::vector<journal::Blob> blobs;
};

// What history and the sites know. Blocking; thread-safe.
struct Sources {
  journal::History& history;
  const site::DriverTable& drivers;
};

Prepared prepare(const Sources& sources, const core::PrepareStep& order);
core::StepCollected collect(const Sources& sources, const core::CollectStep& order);

class Steward {
 public:
  using Post = std::function<void(core::Report, std::vector<journal::Blob>)>;
  // Without threads it works at once, which is what tests want.
  Steward(Sources sources, Post post, size_t threads = 2);

  runtime::Steward verbs();
  // Drops what has not begun: the server asks again when it comes back.
  void stop() { pool_.stop(); }

 private:
  const Sources sources_;
  const Post post_;
  runtime::Pool pool_;
};

}  // namespace atl::steward
