// Draws what people ask for: mostly sensible requests, some that the state will refuse, and some
// that must be refused whatever the state is.
#pragma once

#include <string>
#include <vector>

#include "core/input.h"
#include "core/payload.h"
#include "journal/journal.h"
#include "sim/rng.h"
#include "sim/site.h"

namespace atl::sim {

inline constexpr uint32_t kUsers =
    6;  // user 1 is root, the last one is an outsider to every namespace
inline constexpr uint32_t kNamespaces = 3;
inline constexpr uint32_t kNodes = 3;  // of a site, at most: node1, node2, node3

// When people ask: the server's time, and how far the clock on their wall is ahead of it.
struct Moment {
  Time now;
  int32_t utc_offset = 0;  // in minutes
};

struct Ask {
  core::Request request;
  core::Payload payload;  // of a submission
  Digest digest;
  std::vector<journal::Blob> blobs;  // of a workflow: what its steps run, how they are made
  bool must_refuse = false;
  bool keyed = false;  // may be repeated until there is an answer
};

class Draw {
 public:
  Draw(Rng rng, std::vector<std::string> sites);

  // What makes an empty platform usable, in order.
  std::vector<Ask> setup();
  Ask next(Moment moment);

  // A platform on which everybody always has work that waits: what makes it, and more work.
  std::vector<Ask> backlogged_setup();
  Ask more_work(const std::string& ns);
  // A job that commands may be aimed at.
  void know(JobId job);
  void know(WorkflowId workflow);

 private:
  Ask submission();
  Ask wrong();
  Ask about_job();
  Ask about_platform();
  core::Command about_people();
  core::Command about_sites();
  core::Command new_site(const std::string& name);
  std::string some_sites();
  core::Command about_time();
  core::Quota quota();
  core::CalendarEntry calendar_entry();
  core::CreateReservation reservation();
  core::SubmitJob job(const Ask& ask);
  core::Terms terms();
  std::vector<core::DeviceRequest> devices();
  core::DeviceRequest part_of_device();
  std::vector<core::Dependency> dependencies();
  IntervalSet indices();
  JobId some_job();
  core::Actor someone();
  core::Actor root() const { return {UserId{1}, false, {}}; }
  // One more than there are at first: the last one comes and goes.
  std::string some_namespace() { return "n" + std::to_string(rng_.between(1, kNamespaces + 1)); }
  std::string some_node() { return "node" + std::to_string(rng_.between(1, kNodes)); }
  std::string some_user() { return "u" + std::to_string(rng_.between(2, kUsers - 1)); }
  core::Command change(JobId id);
  core::Command cohort();
  core::Command stake();
  void spoil(core::SubmitJob& job);
  void give_payload(Ask& ask);

  // draw_workflow.cpp
  Ask about_workflow();
  Ask workflow();
  Ask more_steps();
  Ask wrong_workflow();
  std::vector<core::StepKind> kinds();
  core::FeedTerms feed();
  core::NewStep step(Ask& ask, std::string name, const std::vector<core::StepKind>& kinds);
  std::vector<core::Need> needs(uint32_t of);
  Digest blob(Ask& ask);
  WorkflowId some_workflow();

  // draw_schedule.cpp
  Ask about_schedule();
  core::Command new_schedule();

  Rng rng_;
  Moment moment_;
  const std::vector<std::string> sites_;
  const bool mixed_;                // some sites pretend and some do not
  std::vector<core::Terms> usual_;  // terms that many jobs share
  std::vector<JobId> jobs_;
  std::vector<WorkflowId> workflows_;
  uint64_t tolerant_ = 200;  // how often one need of a workflow puts up with a bad end
  uint64_t serial_ = 0;
};

// A name for a payload or a token; the core only carries and compares it.
Digest digest_of(uint64_t number);
// What it names, and back from the command that it runs.
core::Payload payload_of(uint64_t number);
uint64_t payload_number(const std::string& command);
// The next times of a schedule whose timing is so many seconds.
std::vector<Time> schedule_times(const std::string& timing, Time after);

// A site with one to three nodes, some with devices: whole ones, ones that are shared, ones that
// are cut into slices, close to each other or not.
SiteOptions draw_site(Rng& rng, size_t number);

}  // namespace atl::sim
