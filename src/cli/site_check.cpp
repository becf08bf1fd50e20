// site check: what works on a site, tried with ordinary jobs of who asks.
#include <chrono>
#include <ostream>
#include <thread>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/log_stream.h"
#include "cli/output.h"
#include "cli/selectors.h"
#include "cli/site.h"
#include "cli/submit.h"
#include "cli/waiting.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kHearEvery{100};

// A task that says when it is told to end. Short naps, for a shell hears signals between commands.
constexpr const char* kPatientScript =
    "trap 'echo told; exit 0' TERM\necho ready\ni=0\n"
    "while [ $i -lt 600 ]; do sleep 1; i=$((i + 1)); done\n";

struct CheckFlags {
  std::string site;
  std::string within = "2m";
};

struct Finding {
  std::string check;
  std::string status;  // ok, fail or none: the site has no such thing
  std::string detail;
};

class SiteCheck {
 public:
  SiteCheck(Api& api, const CheckFlags& flags, Json site, std::string ns,
            std::chrono::seconds within)
      : api_(api), flags_(flags), site_(std::move(site)), ns_(std::move(ns)), within_(within) {}

  std::vector<Finding> run() {
    note("probe", probe());
    note("start", start());
    note("exit code", exit_code());
    if (simulated()) {
      findings_.push_back({"logs", "none", "a simulated site writes none"});
      note("stop", stop_pretended());
      findings_.push_back({"files", "none", "a simulated site keeps none"});
    } else {
      note("logs", logs());
      note("stop", stop());
      note("files", files());
    }
    return findings_;
  }

 private:
  bool simulated() const { return site_.text("kind") == "simulated"; }

  // Each check answers with what it saw.
  void note(const char* check, const Result<std::string>& seen) {
    findings_.push_back({check, seen ? "ok" : "fail", seen ? *seen : seen.error().message});
  }

  static tl::unexpected<Error> wrong(std::string what) {
    return fail(ErrorCode::internal, std::move(what));
  }

  Result<std::string> probe() {
    if (site_.has("trouble")) return wrong(site_.text("trouble"));
    for (const auto& [node, sentence] : site_["node_trouble"].members())
      return wrong(node + ": " + sentence.text());
    if (!site_["reported"].truth()) return wrong("it has not said what it has");
    const size_t nodes = site_["nodes"].items().size();
    if (nodes == 0) return wrong("it has no node");
    return std::to_string(nodes) + (nodes == 1 ? " node, " : " nodes, ") + capacity_of(site_);
  }

  // The id of a job of one line; `pretend` is what a simulated site does instead.
  Result<std::string> submit(const std::string& script, const std::string& pretend) {
    std::string body;
    spec::JsonWriter json(body);
    json.begin_object().member("namespace", ns_).member("name", "site-check");
    json.member("site", flags_.site).member("time", "15m").member("grace", "20s");
    json.key("command").begin_array().text("sh").text("-c").text(script).end_array();
    if (simulated() && !pretend.empty()) json.key("simulate").raw(pretend);
    json.end_object();
    const auto job = api_.post("/jobs", body);
    if (!job) return tl::unexpected(job.error());
    return job->text("id");
  }

  Result<Json> wait(const std::string& id) {
    auto ended =
        wait_for_end(api_, id, steady_clock::now() + within_, [](const Json&) { return true; });
    if (!ended) return tl::unexpected(ended.error());
    if (*ended) return std::move(**ended);
    const auto why = api_.get(job_path(id));
    const std::string reason = why ? (*why)["reason"].text("sentence") : "";
    (void)api_.post(job_path(id) + "/cancel", "{\"grace\":\"0s\"}");
    return wrong("job " + id + " did not end within " + flags_.within +
                 (reason.empty() ? "" : ": " + reason));
  }

  Result<Json> run_script(const std::string& script, const std::string& pretend = {}) {
    const auto id = submit(script, pretend);
    if (!id) return tl::unexpected(id.error());
    return wait(*id);
  }

  static std::string told(const Json& job) {
    const std::string message = job.text("message");
    return "job " + job.text("id") + " " + job.text("outcome") +
           (job.has("exit_code") ? " with exit code " + job.text("exit_code") : "") +
           (message.empty() ? "" : ": " + message);
  }

  Result<std::string> start() {
    const auto job = run_script("true");
    if (!job) return tl::unexpected(job.error());
    if (job->text("outcome") != "succeeded") return wrong(told(*job));
    return "job " + job->text("id") + " ran `true`";
  }

  Result<std::string> exit_code() {
    const auto job = run_script("exit 7", "{\"exit_code\":7}");
    if (!job) return tl::unexpected(job.error());
    if (job->text("outcome") != "failed" || (*job)["exit_code"].integer() != 7)
      return wrong(told(*job) + " where it should have failed with 7");
    return "job " + job->text("id") + " failed with 7, as it should";
  }

  Result<std::string> text_of(const std::string& id, const char* stream, int64_t offset) {
    const auto page = read_log(
        api_, {.id = id, .stream = stream, .attempt = {}, .offset = offset, .after = {}}, -1);
    if (!page) return tl::unexpected(page.error());
    return page->bytes;
  }

  Result<std::string> logs() {
    const auto job = run_script("printf 0123456789; printf wrong >&2");
    if (!job) return tl::unexpected(job.error());
    const auto out = text_of(job->text("id"), "stdout", 4);
    if (!out) return tl::unexpected(out.error());
    const auto err = text_of(job->text("id"), "stderr", 0);
    if (!err) return tl::unexpected(err.error());
    if (*out != "456789" || *err != "wrong")
      return wrong("from offset 4 of 0123456789 came " + quote(*out) + ", and of stderr " +
                   quote(*err) + " instead of \"wrong\"");
    return std::string("both streams, from an offset");
  }

  // Until the task has said it; the log may not be there before.
  Result<void> hear(const std::string& id, const std::string& word) {
    const auto end = steady_clock::now() + within_;
    while (steady_clock::now() < end) {
      const auto said = text_of(id, "stdout", 0);
      if (said && said->find(word) != std::string::npos) return {};
      if (!said && said.error().code != ErrorCode::not_found) return tl::unexpected(said.error());
      std::this_thread::sleep_for(kHearEvery);
    }
    (void)api_.post(job_path(id) + "/cancel", "{\"grace\":\"0s\"}");
    return wrong("job " + id + " did not say " + quote(word) + " within " + flags_.within);
  }

  Result<Json> cancel(const std::string& id) {
    if (auto asked = api_.post(job_path(id) + "/cancel", "{}"); !asked)
      return tl::unexpected(asked.error());
    auto job = wait(id);
    if (job && job->text("outcome") != "cancelled") return wrong(told(*job));
    return job;
  }

  Result<std::string> stop() {
    const auto id = submit(kPatientScript, {});
    if (!id) return tl::unexpected(id.error());
    if (auto heard = hear(*id, "ready"); !heard) return tl::unexpected(heard.error());
    if (auto job = cancel(*id); !job) return tl::unexpected(job.error());
    const auto said = text_of(*id, "stdout", 0);
    if (!said) return tl::unexpected(said.error());
    if (said->find("told") == std::string::npos)
      return wrong("job " + *id + " was ended without its SIGTERM: it never said \"told\"");
    return "job " + *id + " heard SIGTERM and ended within its grace";
  }

  Result<std::string> stop_pretended() {
    const auto id = submit("true", "{\"run_for\":\"10m\"}");
    if (!id) return tl::unexpected(id.error());
    if (auto job = cancel(*id); !job) return tl::unexpected(job.error());
    return "job " + *id + " was cancelled";
  }

  Result<std::string> files() {
    const auto job = run_script(
        "mkdir -p \"$ATOLL_JOB_DIR/outputs\" && "
        "printf kept > \"$ATOLL_JOB_DIR/outputs/note\"");
    if (!job) return tl::unexpected(job.error());
    if (job->text("outcome") != "succeeded") return wrong(told(*job));
    const auto file =
        api_.send({.method = "GET", .target = job_path(job->text("id")) + "/files/outputs/note"});
    if (!file) return tl::unexpected(file.error());
    if (file->body != "kept") return wrong("outputs/note came back as " + quote(file->body));
    return "outputs/note of job " + job->text("id") + " came back";
  }

  Api& api_;
  const CheckFlags& flags_;
  const Json site_;
  const std::string ns_;
  const std::chrono::seconds within_;
  std::vector<Finding> findings_;
};

std::vector<Json> as_json(const std::vector<Finding>& findings) {
  std::string text;
  spec::JsonWriter json(text);
  json.begin_array();
  for (const Finding& each : findings) {
    json.begin_object().member("check", each.check).member("status", each.status);
    json.member("detail", each.detail).end_object();
  }
  json.end_array();
  const auto parsed = Json::parse(text);
  return parsed ? parsed->items() : std::vector<Json>{};
}

Color finding_color(const std::string& status) {
  return status == "ok" ? Color::good : status == "fail" ? Color::bad : Color::plain;
}

Result<int> check(Session& session, const CheckFlags& flags) {
  const auto within = parse_duration(flags.within);
  if (!within) return fail(ErrorCode::invalid, "--within: " + within.error().message);
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto site = (*api)->get(site_path(flags.site));
  if (!site) return tl::unexpected(site.error());
  const auto ns = default_namespace(session);
  if (!ns) return tl::unexpected(ns.error());
  SiteCheck checks(**api, flags, *site, *ns, std::chrono::seconds(within->us / 1'000'000));
  const std::vector<Finding> findings = checks.run();
  const View view{.columns = {{{.title = "STATUS"},
                               [](const Json& item) {
                                 return Cell{item.text("status"),
                                             finding_color(item.text("status"))};
                               }},
                              {{.title = "CHECK"}, cell_text("check")},
                              {{.title = "DETAIL"}, cell_text("detail")}},
                  .name_key = "check"};
  print_list(session, view, as_json(findings));
  for (const Finding& each : findings) {
    if (each.status == "fail") return kExitFailure;
  }
  return kExitOk;
}

}  // namespace

void add_site_check_verb(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* verb = verbs.add(noun, "check",
                             "Try a site with short jobs and say what works; fails if one does not",
                             "atoll site check lab\natoll site check lab -o json",
                             [flags](Session& session) { return check(session, *flags); });
  verb->add_option("NAME", flags->site, "The site")->required();
  verb->add_option("--within", flags->within, "How long each job may take (2m)")->type_name("SPAN");
}

}  // namespace atl::cli
