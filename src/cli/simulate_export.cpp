// simulate export: the server's past as a trace, with the nodes it was had on.
#include <algorithm>

#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

struct ExportFlags {
  std::string since;
  std::string ns;
};

// One line for each node. Sites that are used by name only are no part of what is shared.
Result<void> export_nodes(Session& session, Api& api) {
  const auto sites = api.list("/sites");
  if (!sites) return tl::unexpected(sites.error());
  const auto pretends = [](const Json& site) { return site.text("kind") == "simulated"; };
  const bool all_pretend = std::all_of(sites->begin(), sites->end(), pretends);
  for (const Json& site : *sites) {
    if (pretends(site) && !all_pretend) continue;
    for (const Json& node : site["nodes"].items()) {
      if (node["gone"].truth()) continue;
      std::string line;
      spec::JsonWriter json(line);
      json.begin_object().key("machine").begin_object();
      json.member("name", site.text("name") + "/" + node.text("name"));
      json.key("cpus").raw(node["cpus"].compact());
      json.member("memory_bytes", node["memory_bytes"].integer()).key("devices").begin_array();
      for (const Json& device : node["devices"].items()) {
        json.begin_object().member("kind", device.text("kind"));
        json.member("model", device.text("model"));
        json.member("memory_bytes", device["memory_bytes"].integer()).end_object();
      }
      json.end_array().end_object().end_object();
      session.out << line << "\n";
    }
  }
  return {};
}

// How long each task of an array ran that has, in seconds: what lists of jobs do not tell.
Result<std::string> runs_of(Api& api, const std::string& id) {
  std::string runs;
  const auto done = api.each("/jobs/" + encode(id) + "/tasks?limit=1000", 0, [&](const Json& task) {
    if (!task.has("started") || !task.has("ended")) return true;
    const auto started = parse_time(task.text("started"));
    const auto ended = parse_time(task.text("ended"));
    if (!started || !ended || *ended < *started) return true;
    if (!runs.empty()) runs += ",";
    spec::JsonWriter(runs).seconds(std::max(milliseconds(1), *ended - *started));
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return "[" + runs + "]";
}

Result<int> export_history(Session& session, const ExportFlags& flags) {
  const auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  if (auto nodes = export_nodes(session, **api); !nodes) return tl::unexpected(nodes.error());
  const std::string path =
      "/jobs" +
      query(
          {{"state", "ended"}, {"namespace", flags.ns}, {"since", flags.since}, {"limit", "1000"}});
  const auto jobs = (*api)->list(path);
  if (!jobs) return tl::unexpected(jobs.error());
  uint64_t written = 0;
  for (const Json& job : *jobs) {
    std::string line = job.compact();
    if (job["array"].truth()) {
      const auto runs = runs_of(**api, job.text("id"));
      if (!runs) return tl::unexpected(runs.error());
      line.pop_back();
      line += ",\"runs\":" + *runs + "}";
    }
    session.out << line << "\n";
    ++written;
  }
  session.out.flush();
  if (!session.out) return fail(ErrorCode::unavailable, "cannot write the trace");
  session.say(std::to_string(written) + " jobs");
  return 0;
}

}  // namespace

void add_simulate_export_verb(Verbs& verbs, CLI::App* parent) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* verb =
      verbs.add(parent, "export", "Write what a server has run, and its nodes, as a trace",
                "atoll simulate export > past.jsonl\n"
                "atoll simulate export --since 30d | atoll simulate --trace - --config new.yaml",
                [flags](Session& session) { return export_history(session, *flags); });
  verb->add_option("--since", flags->since, "Only jobs that have ended so recently, such as 30d")
      ->type_name("TIME");
  verb->add_option("-n,--namespace", flags->ns, "Only jobs of this namespace")->type_name("NAME");
}

}  // namespace atl::cli
