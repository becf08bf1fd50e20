// top: running work with what it uses now.
#include <algorithm>
#include <cstdio>
#include <ostream>

#include "base/amount.h"
#include "cli/exit.h"
#include "cli/job_view.h"
#include "cli/screen.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

struct TopFlags {
  std::string ns;
  std::string user;
  bool once = false;
};

std::string cores(const Json& value) {
  if (value.is_null()) return {};
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value.number());
  return text;
}

// Whole MiB, since a sample that changes in its last digits cannot be read; KiB of the smallest.
std::string whole_mebibytes(std::int64_t bytes) {
  if (bytes > 0 && bytes < 1 << 10) return "<1Ki";
  const int shift = bytes < 1 << 20 ? 10 : 20;
  return format_bytes(bytes >> shift << shift);
}

// Red at the limit, where the next allocation ends the task.
Cell memory_cell(const Json& task) {
  const Json used = task["memory_bytes_used"];
  if (used.is_null()) return {};
  const double share = used.number() / std::max(1.0, task["memory_bytes"].number());
  const Color color = share > 0.95 ? Color::bad : share > 0.8 ? Color::warning : Color::plain;
  return {whole_mebibytes(used.integer()), color};
}

View top_view() {
  return {
      .columns =
          {{{.title = "ID", .align = Align::right},
            [](const Json& task) { return Cell{task.text("id"), Color::strong}; }},
           {{.title = "NAME", .least = 8}, cell_text("name")},
           {{.title = "NAMESPACE", .least = 6, .drop_rank = 3}, cell_text("namespace")},
           {{.title = "USER", .least = 4, .drop_rank = 2}, cell_text("user")},
           {{.title = "STATE"},
            [](const Json& task) { return Cell{state_word(task), state_color(state_word(task))}; }},
           {{.title = "TIME", .align = Align::right},
            [](const Json& task) { return Cell{task.has("started") ? show_job_time(task) : ""}; }},
           {{.title = "CPU", .align = Align::right},
            [](const Json& task) { return Cell{cores(task["cpus_used"])}; }},
           {{.title = "OF", .align = Align::right}, cell_text("cpus")},
           {{.title = "MEM", .align = Align::right}, memory_cell},
           {{.title = "OF", .align = Align::right},
            [](const Json& task) { return Cell{show_memory(task["memory_bytes"])}; }},
           {{.title = "NODE", .least = 6, .drop_rank = 1},
            [](const Json& task) { return Cell{task.text("site") + "/" + task.text("node")}; }}},
      .name_key = "id",
      .drop_empty = false};
}

std::string headline(const Json& stats) {
  std::string line;
  for (const auto& [state, count] : stats["jobs"].members()) {
    line += (line.empty() ? "jobs: " : ", ") + count.text() + " " + state;
  }
  return line + "   tasks: " + stats["tasks"].text("active") + " active, " +
         stats["tasks"].text("waiting") + " waiting";
}

Result<std::string> make_page(Session& session, const TopFlags& flags) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto stats = (*api)->get("/stats" + query({{"limit", "1000"}}));
  if (!stats) return tl::unexpected(stats.error());
  std::string me = flags.user;
  if (me == "me") {
    const auto who = (*api)->get("/whoami");
    if (!who) return tl::unexpected(who.error());
    me = who->text("name");
  }
  std::vector<Json> tasks = (*stats)["running"].items();
  std::erase_if(tasks, [&](const Json& task) {
    return (!flags.ns.empty() && task.text("namespace") != flags.ns) ||
           (!me.empty() && task.text("user") != me);
  });
  Terminal terminal = session.terminal;
  if (terminal.out_is_terminal) terminal.width = terminal_width();
  const std::string line = session.for_people() ? printable(headline(*stats)) + "\n\n" : "";
  return line + format_list(top_view(), tasks, session.globals, terminal);
}

Result<int> top(Session& session, const TopFlags& flags) {
  const bool live = session.terminal.out_is_terminal && session.for_people() && !flags.once;
  if (live)
    return watch(session, std::chrono::seconds(2), [&] { return make_page(session, flags); });
  const auto page = make_page(session, flags);
  if (!page) return tl::unexpected(page.error());
  session.out << *page;
  return kExitOk;
}

}  // namespace

void add_top_verb(Verbs& verbs) {
  auto flags = std::make_shared<TopFlags>();
  CLI::App* verb = verbs.add(nullptr, "top", "Watch running work and what it uses",
                             "atoll top                       until q or Ctrl-C\n"
                             "atoll top --once",
                             [flags](Session& session) { return top(session, *flags); });
  verb->add_option("-n,--ns", flags->ns, "Only in that namespace")->type_name("NAMESPACE");
  verb->add_option("-u,--user", flags->user, "Only of that user; `me` is you")->type_name("USER");
  verb->add_flag("--once", flags->once, "Print it once; so does a pipe");
}

}  // namespace atl::cli
