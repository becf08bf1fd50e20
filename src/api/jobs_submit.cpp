#include "api/jobs_submit.h"

#include <algorithm>

#include "api/context.h"
#include "api/handlers.h"
#include "base/text.h"
#include "core/limits.h"
#include "core/notes.h"
#include "spec/directives.h"
#include "spec/job_spec.h"

namespace atl::api {
namespace {

constexpr size_t kHeaderKeyMax = 200;  // leaves room for "#9999" within the core's bound

struct Work {
  core::SubmitJobs command;
  std::vector<journal::Blob> blobs;
  std::vector<std::string> warnings;
  bool batch = false;
};

// What the script itself says lies under what the request says.
Result<spec::JobSpec> with_directives(spec::JobSpec spec, std::vector<std::string>& warnings) {
  if (!spec.script) return spec;
  auto directives = spec::read_directives(*spec.script);
  if (!directives)
    return fail(directives.error().code, "script: " + directives.error().message, "script");
  for (const spec::Warning& warning : directives->warnings) {
    warnings.push_back("line " + std::to_string(warning.line) + ": " + warning.message);
  }
  spec::overlay(directives->spec, spec);
  return std::move(directives->spec);
}

// Work that says how to pretend goes where that is done.
Result<void> choose_simulated(const core::State& table, const spec::JobSpec& spec,
                              core::Terms& terms) {
  if (!spec.simulate || !spec.site.value_or("").empty()) return {};
  std::string names;
  for (const auto& [id, site] : table.sites) {
    if (site.kind != "simulated") continue;
    terms.site = names.empty() ? site.name : "";
    names += (names.empty() ? "" : ", ") + site.name;
  }
  if (!terms.site.empty()) return {};
  return fail(ErrorCode::invalid,
              names.empty() ? "there is no simulated site to pretend on"
                            : "several sites are simulated, name one of them: " + names,
              "site");
}

Result<Work> prepare(std::string body, const std::string& key, const Context& context) {
  const auto table = context.directory.table();
  auto request = spec::parse_job_request(body);
  if (!request) return tl::unexpected(request.error());
  Work work;
  work.batch = request->batch;
  work.command.jobs.reserve(request->jobs.size());
  for (size_t i = 0; i < request->jobs.size(); ++i) {
    const auto placed = [&](Error error) {
      if (work.batch) error.field = "jobs[" + std::to_string(i) + "]." + error.field;
      return tl::unexpected(std::move(error));
    };
    auto spec = with_directives(std::move(request->jobs[i]), work.warnings);
    if (!spec) return placed(spec.error());
    auto made = spec::to_submission(*spec);
    if (!made) return placed(made.error());
    if (auto chosen = choose_simulated(*table, *spec, made->job.terms); !chosen)
      return placed(chosen.error());
    if (!made->job.notify.mail.empty() && !context.options.mail) {
      return placed({ErrorCode::invalid,
                     "this server sends no mail: its configuration has no mail_command", "notify"});
    }
    if (!key.empty()) made->job.key = work.batch ? key + "#" + std::to_string(i) : key;
    // Neighbours in a batch often run the same thing.
    const bool same = !work.blobs.empty() && work.blobs.back().digest == made->job.payload;
    if (!same) work.blobs.push_back({made->job.payload, std::move(made->payload_bytes)});
    work.command.jobs.push_back(std::move(made->job));
  }
  return work;
}

void write_ids(spec::JsonWriter& json, const std::vector<JobId>& ids) {
  json.key("ids").begin_array();
  for (const JobId id : ids) json.text(to_string(id));
  json.end_array();
}

constexpr size_t kNotedJobsMax = 100;  // of a batch, whose jobs are often alike

// Those that ask for a share of a device: what they are given may be more, which only the state can
// tell.
std::vector<core::Terms> with_shares(const core::SubmitJobs& work) {
  const auto share = [](const core::DeviceRequest& request) {
    return !core::takes_whole(request) && !core::takes_slice(request) && request.memory_bytes == 0;
  };
  std::vector<core::Terms> found;
  for (const core::SubmitJob& job : work.jobs) {
    const auto& devices = job.terms.resources.devices;
    if (found.size() < kNotedJobsMax && std::any_of(devices.begin(), devices.end(), share))
      found.push_back(job.terms);
  }
  return found;
}

void add_notes(const core::State& state, const std::vector<core::Terms>& shares,
               std::vector<std::string>& warnings) {
  for (const core::Terms& terms : shares) {
    for (std::string& note : core::rounded_shares(state, terms)) {
      if (std::find(warnings.begin(), warnings.end(), note) == warnings.end())
        warnings.push_back(std::move(note));
    }
  }
}

// On the core's thread, so it writes little: the ids, and where to look.
void answer(const CallPtr& call, const runtime::Accepted& accepted, bool batch,
            const std::vector<std::string>& warnings) {
  std::string body;
  http::Headers headers;
  spec::JsonWriter json(body);
  json.begin_object();
  if (!batch && !accepted.jobs.empty()) {
    const std::string id = to_string(accepted.jobs.front());
    json.member("id", id);
    headers.add("Location", "/api/v1/jobs/" + id);
  }
  write_ids(json, accepted.jobs);
  json.member("repeated", accepted.repeated);
  json.member("warnings", warnings).end_object();
  call->respond_json(std::move(body), 201, std::move(headers));
}

}  // namespace

void submit_jobs(const CallPtr& call) {
  const std::string key(call->request().headers.get("Idempotency-Key"));
  if (key.size() > kHeaderKeyMax || !valid_utf8(key)) {
    return call->refuse({ErrorCode::invalid, "Idempotency-Key must be UTF-8 of at most 200 bytes",
                         "Idempotency-Key"});
  }
  auto work = prepare(call->exchange->take_body(), key, call->context);
  if (!work) return call->refuse(work.error());
  const std::vector<core::Terms> shares = with_shares(work->command);
  auto warnings = std::make_shared<std::vector<std::string>>(std::move(work->warnings));
  const auto look = [shares, warnings](const core::State& state) -> Result<void> {
    add_notes(state, shares, *warnings);
    return {};
  };
  if (call->query_all("dry_run") == std::vector<std::string>{"true"}) {
    auto order = std::make_shared<core::SubmitJobs>(std::move(work->command));
    const auto go_on = [call, order, warnings] {
      try_submission(call, std::move(*order), std::move(*warnings));
    };
    if (shares.empty()) return go_on();
    return call->context.runtime.read([call, look, go_on](const core::State& state) {
      if (look(state)) run_on(call->context.quick, call, go_on);
    });
  }
  const bool batch = work->batch;
  command(
      call, std::move(work->command), std::move(work->blobs),
      [call, batch, warnings](const runtime::Accepted& accepted) {
        if (!batch) return answer(call, accepted, false, *warnings);
        auto kept = std::make_shared<runtime::Accepted>();
        kept->jobs = accepted.jobs;
        kept->repeated = accepted.repeated;
        run_on(call->context.quick, call,
               [call, kept, warnings] { answer(call, *kept, true, *warnings); });
      },
      shares.empty() ? runtime::Precondition{} : look);
}

}  // namespace atl::api
