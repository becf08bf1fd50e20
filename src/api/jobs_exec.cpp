#include "api/handlers.h"
#include "api/job_lookup.h"
#include "api/log_chunk.h"
#include "api/requests.h"
#include "base/text.h"

namespace atl::api {
namespace {

constexpr Duration kExecMax = minutes(10);
constexpr size_t kShownMax = 500;
constexpr size_t kSamplesMax = 10'000;

// Output that is not text goes as base64 under the other name.
void write_output(spec::JsonWriter& json, const char* name, const char* other,
                  const std::string& bytes) {
  const bool text = valid_utf8(bytes);
  json.key(name);
  text ? json.text(bytes) : json.null();
  json.key(other);
  text ? json.null() : json.text(base64(bytes));
}

// The words as one line; the rest of a long command says no more about who did what.
std::string shown(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  if (line.size() <= kShownMax) return line;
  line.resize(kShownMax);
  while (!valid_utf8(line)) line.pop_back();
  return line + "…";
}

void run_exec(const CallPtr& call, const site::ExecRequest& request,
              const std::shared_ptr<site::SiteDriver>& driver) {
  const auto result = driver->exec(request);
  if (!result) return call->refuse(result.error());
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("exit_code", result->exit_code);
  write_output(json, "stdout", "stdout_base64", result->out);
  write_output(json, "stderr", "stderr_base64", result->err);
  json.end_object();
  call->respond_json(std::move(body));
}

void prepare_exec(const CallPtr& call, const FoundJob& found, const Selector& selector,
                  const ExecWish& wish) {
  if (auto ok = may_act(*call->context.directory.table(), call->actor, found); !ok)
    return call->refuse(ok.error());
  const auto task = single_task(found, selector);
  if (!task) return call->refuse(task.error());
  const auto where = locate(call->context, found, *task, std::nullopt);
  if (!where) return call->refuse(where.error());
  if (!where->running)
    return call->refuse(
        {ErrorCode::conflict, to_string(*task, found.job.array) + " is not running", "id"});
  const auto driver = driver_for(call->context, where->site);
  if (!driver) return call->refuse(driver.error());
  site::ExecRequest request{where->attempt, *wish.command, wish.stdin_text.value_or(""),
                            wish.timeout.value_or(minutes(1))};
  request.timeout = std::min(request.timeout, kExecMax);
  command(call,
          core::RecordDeed{core::ExecAsked{request.attempt, shown(request.argv)}, found.job.ns}, {},
          [call, request, driver = *driver](const runtime::Accepted&) {
            run_on(call->context.slow, call,
                   [call, request, driver] { run_exec(call, request, driver); });
          });
}

}  // namespace

void exec_in_job(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  const auto wish = body_of<ExecWish>(call);
  if (!wish) return;
  Want want;
  if (selector->has_index) want.index = selector->index;
  find_job(call, selector->job, want,
           [call, selector = *selector, wish = *wish](const FoundJob& found) {
             prepare_exec(call, found, selector, wish);
           });
}

void show_samples(const CallPtr& call) {
  const auto selector = call->selector();
  if (!selector) return call->refuse(selector.error());
  Want want;
  if (selector->has_index) want.index = selector->index;
  find_job(call, selector->job, want, [call, selector = *selector](const FoundJob& found) {
    const auto task = single_task(found, selector);
    if (!task) return call->refuse(task.error());
    const auto where = locate(call->context, found, *task, std::nullopt);
    if (!where) return call->refuse(where.error());
    const auto source = call->context.options.samples.find(where->site);
    std::vector<Sample> samples;
    if (source != call->context.options.samples.end()) {
      auto taken = source->second->samples(where->attempt, kSamplesMax);
      if (!taken) return call->refuse(taken.error());
      samples = std::move(*taken);
    }
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().member("attempt", where->attempt.attempt).key("samples").begin_array();
    for (const Sample& sample : samples) {
      json.begin_object()
          .key("at_seconds")
          .seconds(sample.at)
          .key("cpu_seconds")
          .seconds(sample.cpu);
      json.member("memory_bytes", sample.memory_bytes).end_object();
    }
    json.end_array().end_object();
    call->respond_json(std::move(body));
  });
}

}  // namespace atl::api
