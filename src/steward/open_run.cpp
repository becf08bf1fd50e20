// Runs of schedules are made: their times are told, and their workflows planned.
#include <algorithm>

#include "core/limits.h"
#include "spec/json_writer.h"
#include "spec/tapis/tapis_run.h"
#include "spec/timing/timing.h"
#include "spec/workflow/program.h"
#include "steward/schedules.h"

namespace atl::steward {
namespace {

std::string document_for(const spec::Program& program, const spec::WorkflowPlan& plan,
                         const core::OpenRun& order) {
  std::string text;
  spec::JsonWriter json(text);
  json.begin_object();
  json.member("format", spec::tapis::is_pipeline(program) ? "tapis" : "atoll")
      .member("main", *program.main);
  json.member("directory", program.directory.value_or("")).key("params").begin_object();
  for (const auto& [name, value] : plan.params) json.member(name, value);
  json.end_object().member("only", "").member("from", "");
  json.member("schedule", order.schedule).member("firing", order.number).end_object();
  return text;
}

// A workflow as the reports that hand it over, a batch of its steps each.
class Opening {
 public:
  explicit Opening(const core::OpenRun& order) : order_(order) {}

  std::vector<Answer> run() {
    if (auto ok = make(); !ok) {
      core::RunPlanned failed;
      failed.error = ok.error().message;
      answers_.clear();
      answer(std::move(failed), {});
    }
    return std::move(answers_);
  }

 private:
  Result<void> make() {
    auto program = spec::parse_json<spec::Program>(order_.program);
    if (!program) return tl::unexpected(program.error());
    if (spec::tapis::is_pipeline(*program)) return make_pipeline(*program);
    const auto file = spec::check_program(*program);
    if (!file) return tl::unexpected(file.error());
    auto plan = spec::plan_program(*program, *file, {order_.body, order_.at});
    if (!plan) return tl::unexpected(plan.error());
    return hand_over(*program, *plan);
  }

  Result<void> make_pipeline(const spec::Program& program) {
    auto planned = spec::tapis::plan_program(program);
    if (!planned) return tl::unexpected(planned.error());
    terms_ = std::move(planned->terms);
    return hand_over(program, planned->plan);
  }

  Result<void> hand_over(const spec::Program& program, spec::WorkflowPlan& plan) {
    spec::StepMaker maker;
    for (size_t sent = 0; sent < plan.steps.size();) {
      spec::StepsBatch batch;
      const size_t end = std::min(plan.steps.size(), sent + size_t{core::kStepsBatchMax});
      const bool first = sent == 0;
      for (; sent < end; ++sent) {
        if (auto ok = maker.add(plan.steps[sent], batch); !ok) return ok;
        plan.steps[sent].job = {};  // its bytes are in the batch now
      }
      const bool last = sent == plan.steps.size();
      first ? begin(program, plan, batch, last) : go_on(batch, last);
    }
    return {};
  }

  void begin(const spec::Program& program, const spec::WorkflowPlan& plan, spec::StepsBatch& batch,
             bool last) {
    core::RunPlanned planned;
    planned.run = terms_;
    std::string files = spec::files_document(*program.files);
    std::vector<journal::Blob> blobs = blobs_of(batch);
    planned.run.name = *program.name;
    planned.run.files = spec::sha256(files);
    planned.run.document = document_for(program, plan, order_);
    planned.run.fail_fast = plan.fail_fast;
    planned.run.parallel_max = plan.parallel_max;
    planned.run.sealed = last;
    planned.run.kinds = std::move(batch.kinds);
    planned.run.steps = std::move(batch.steps);
    blobs.push_back({planned.run.files, std::move(files)});
    answer(std::move(planned), std::move(blobs));
  }

  void go_on(spec::StepsBatch& batch, bool last) {
    core::RunSteps more;
    more.steps.kinds = std::move(batch.kinds);
    more.steps.steps = std::move(batch.steps);
    more.steps.numbered = true;
    more.steps.seal = last;
    answer(std::move(more), blobs_of(batch));
  }

  template <class ReportType>
  void answer(ReportType report, std::vector<journal::Blob> blobs) {
    report.id = order_.id;
    report.revision = order_.revision;
    report.number = order_.number;
    answers_.push_back({std::move(report), std::move(blobs)});
  }

  static std::vector<journal::Blob> blobs_of(spec::StepsBatch& batch) {
    std::vector<journal::Blob> blobs;
    for (auto& [digest, bytes] : batch.blobs) blobs.push_back({digest, std::move(bytes)});
    return blobs;
  }

  const core::OpenRun& order_;
  core::SubmitWorkflow terms_;  // what the run is beside what its schedule says
  std::vector<Answer> answers_;
};

}  // namespace

std::vector<Answer> open_run(const core::OpenRun& order) { return Opening(order).run(); }

core::ScheduleTimes times_of(const core::TimeSchedule& order) {
  core::ScheduleTimes times{order.id, order.revision, order.after, {}};
  const auto timing = order.calendar ? spec::parse_calendar(order.timing, order.zone)
                                     : spec::parse_cron(order.timing, order.zone);
  // One that was understood when it was set and no longer is never comes again.
  if (timing) times.times = spec::next_times(*timing, order.after, core::kTimesKept);
  return times;
}

}  // namespace atl::steward
