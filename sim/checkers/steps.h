// Promise 7, for workflows: step order and failure containment hold; a failed step never leaves the
// workflow hanging. Keeps a small model of its own from the events alone: what each step needs, how
// it ended, which job it has. No step begins before all that it needs has ended well enough for it;
// each ends once per opening, for a reason that is real, and has at most one job in that time; the
// workflow ends when all of them have, as they say, with the right count; nothing of it runs
// afterwards; and once the faults have stopped every one ends.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/checkers/checker.h"

namespace atl::sim {

class Steps : public Checker {
 public:
  std::string_view promise() const override {
    return "7, steps keep their order and failures are contained";
  }
  void recorded(uint64_t sequence, const core::Event& event, const core::State& after) override;
  void committed(uint64_t sequence, const core::State& after) override;
  void began(const RunBegan& run) override;
  void ended(const RunEnded& run) override { running_.erase(run.attempt); }
  void settled(const Glimpse& glimpse) override;

 private:
  enum class Phase : uint8_t { idle, preparing, running, finished, collecting, over };

  struct Need {
    uint32_t step = 0;
    bool can_fail = false;
    bool can_skip = false;
  };
  struct Step {
    std::string name;
    std::vector<Need> needs;
    bool prepared = false;
    bool collected = false;
    Phase phase = Phase::idle;
    core::StepState how = core::StepState::waiting;    // once it is over
    core::Outcome outcome = core::Outcome::succeeded;  // of its job
    JobId job;                                         // of this opening
    bool fed = false;                                  // it has a job for each lease of items
    bool stopped = false;                              // such a one leases no more
    std::set<JobId> jobs;                              // of such a one that are not over
  };
  struct Flow {
    std::vector<Step> steps;
    bool sealed = false;
    bool paused = false;
    bool cancelled = false;
    bool fail_fast = false;
    bool over = false;
    uint32_t parallel_max = 0;
  };

  Flow* alive(WorkflowId id, const char* what);
  Step* step_of(core::StepRef ref, const char* what);
  void submitted(const core::WorkflowSubmitted& event);
  void added(const core::StepsAdded& event);
  void preparing(core::StepRef ref);
  void collecting(core::StepRef ref);
  void feeding(core::StepRef ref);
  void feed_stopped(core::StepRef ref);
  void fed_job(const core::JobSubmitted& event, Step& step);
  void fed_job_over(const core::FedJobEnded& event);
  void job_submitted(const core::JobSubmitted& event);
  void job_ended(const core::JobEnded& event);
  void steps_ended(const core::StepsEnded& event);
  void reopened(const core::StepsReopened& event);
  void workflow_ended(const core::WorkflowEnded& event);
  void workflow_reopened(const core::WorkflowReopened& event);

  void check_begin(const Flow& flow, core::StepRef ref, bool starts);
  // Why the step may not have ended so, or empty.
  static std::string unreal(const Flow& flow, const Step& step, const core::StepsEnded& event);
  static std::string unreal_fall(const Flow& flow, const Step& step, const core::StepsEnded& event);
  static bool enough(const Need& need, core::StepState how);
  static bool tolerated(const Flow& flow, uint32_t step);
  static core::Outcome outcome_of(const Flow& flow);
  static bool under_way(const Step& step) {
    return step.phase != Phase::idle && step.phase != Phase::over;
  }

  std::map<WorkflowId, Flow> flows_;
  std::map<JobId, core::StepRef> jobs_;  // that were ever of a step
  std::map<JobId, Digest> payloads_;     // and what they are to run
  std::set<JobId> ended_;                // of them
  std::set<AttemptId> running_;          // of them, as the sites know
  std::vector<WorkflowId> ended_now_;    // in the commit that is being recorded
};

}  // namespace atl::sim
