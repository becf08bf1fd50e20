// queue: durable lists of work items. Those that items pass through are in queue_items.cpp.

#include "base/amount.h"
#include "cli/amounts.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/queue_path.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

struct QueueFlags {
  QueueName queue;
  std::string visibility;
  std::string attempts;
  std::string what = "waiting";
  std::vector<std::string> items;
  bool forget = false;
  bool reopen = false;
  bool restore = false;
  bool remove = false;
  bool force = false;
  bool yes = false;
};

View queue_view() {
  const auto count = [](const char* title, const char* key, int drop = 0) {
    return ViewColumn{{.title = title, .align = Align::right, .drop_rank = drop}, cell_text(key)};
  };
  return {.columns = {{{.title = "NAME", .least = 6}, cell_text("name")},
                      {{.title = "STATUS"},
                       [](const Json& each) {
                         return each["closed"].truth() ? Cell{"closed", Color::faint}
                                                       : Cell{"open", Color::active};
                       }},
                      count("READY", "ready"),
                      count("DELAYED", "delayed", 2),
                      count("LEASED", "leased"),
                      count("DEAD", "dead"),
                      count("DONE", "done"),
                      count("DONE/MIN", "done_per_minute", 1)},
          .drop_empty = false};
}

std::string queue_card(const Session& session, const Json& queue) {
  Card card(session.terminal.color);
  card.line("Queue", queue.text("name") + (queue["closed"].truth() ? " (closed)" : ""));
  card.line("Namespace", queue.text("namespace"));
  card.line("Ready", queue.text("ready")).line("Delayed", queue.text("delayed"));
  card.line("Leased", queue.text("leased"));
  const bool dead = queue["dead"].integer() > 0;
  card.line("Dead", queue.text("dead"), dead ? Color::warning : Color::plain);
  card.line("Put", queue.text("put") + ", " + queue.text("put_per_minute") + " in the last minute");
  card.line("Done",
            queue.text("done") + ", " + queue.text("done_per_minute") + " in the last minute");
  card.line("Given back", queue.text("given_back") + ", and " + queue.text("expired") + " by time");
  if (queue.has("oldest_seconds"))
    card.line(
        "Oldest ready",
        format_duration(seconds(static_cast<std::int64_t>(queue["oldest_seconds"].number()))));
  card.line("A lease holds", queue.text("visibility")).line("Attempts", queue.text("attempts"));
  card.line("Bodies", "up to " + format_bytes(queue["bytes_max"].integer()));
  return card.str();
}

Result<int> create(Session& session, const QueueFlags& flags) {
  const auto path = queues_path(session, flags.queue.ns);
  if (!path) return tl::unexpected(path.error());
  std::string body = "{\"name\":";
  spec::append_json_text(body, flags.queue.name);
  body += text_member("visibility", flags.visibility);
  if (!flags.attempts.empty()) {
    const auto attempts = number_list({flags.attempts}, "attempts");
    if (!attempts) return tl::unexpected(attempts.error());
    body += ",\"attempts\":" + attempts->substr(1, attempts->size() - 2);
  }
  if (flags.forget) body += ",\"dead_letters\":false";
  return do_and_say(session, "POST", *path, body + "}", flags.queue.name,
                    "created queue " + flags.queue.name);
}

Result<int> stats(Session& session, const QueueFlags& flags) {
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  const auto queue = (*session.api())->get(*path);
  if (!queue) return tl::unexpected(queue.error());
  print_one(session, *queue, "name", [&] { return queue_card(session, *queue); });
  return kExitOk;
}

Result<int> close(Session& session, const QueueFlags& flags) {
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  return do_and_say(session, "PATCH", *path,
                    flags.reopen ? "{\"closed\":false}" : "{\"closed\":true}", flags.queue.name,
                    (flags.reopen ? "opened queue " : "closed queue ") + flags.queue.name);
}

// Piece by piece, because one request removes a bounded number. Returns how many went.
Result<std::int64_t> purge_all(Session& session, const std::string& path, const std::string& body) {
  StatusLine status(session.terminal);
  std::int64_t removed = 0;
  for (;;) {
    const auto answer = (*session.api())->post(path + "/purge", body);
    if (!answer) return tl::unexpected(answer.error());
    const std::int64_t count = (*answer)["count"].integer();
    removed += count;
    if (count == 0 || (*answer)["left"].integer() == 0) return removed;
    status.show("removed " + std::to_string(removed) + ", " + (*answer).text("left") + " left");
  }
}

Result<int> purge(Session& session, const QueueFlags& flags) {
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  if (!flags.yes) {
    const auto sure =
        session.confirm("Remove items (" + flags.what + ") of queue " + flags.queue.name + "?");
    if (!sure) return tl::unexpected(sure.error());
    if (!*sure) return kExitFailure;
  }
  const auto removed =
      purge_all(session, *path, "{" + text_member("what", flags.what).substr(1) + "}");
  if (!removed) return tl::unexpected(removed.error());
  const auto answer = Json::parse("{\"removed\":" + std::to_string(*removed) + "}");
  print_one(session, *answer, "removed", [&] {
    return "removed " + std::to_string(*removed) + (*removed == 1 ? " item" : " items") +
           " of queue " + flags.queue.name + "\n";
  });
  return kExitOk;
}

Result<int> remove(Session& session, const QueueFlags& flags) {
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  if (!flags.yes) {
    const auto sure = session.confirm("Delete queue " + flags.queue.name +
                                      (flags.force ? " and all its items?" : "?"));
    if (!sure) return tl::unexpected(sure.error());
    if (!*sure) return kExitFailure;
  }
  if (flags.force) {
    const auto removed = purge_all(session, *path, "{\"what\":\"all\"}");
    if (!removed) return tl::unexpected(removed.error());
  }
  return do_and_say(session, "DELETE", *path, "", flags.queue.name,
                    "deleted queue " + flags.queue.name);
}

View dead_view() {
  return {.columns = {{{.title = "ID", .align = Align::right}, cell_text("id")},
                      {{.title = "ATTEMPTS", .align = Align::right}, cell_text("attempts")},
                      {{.title = "DIED"}, cell_time("died")},
                      {{.title = "WHY", .least = 10}, cell_text("message")},
                      {{.title = "BODY", .least = 10},
                       [](const Json& item) { return Cell{item_body(item)}; }}},
          .name_key = "id",
          .drop_empty = false};
}

Result<int> list_dead(Session& session, const std::string& path) {
  std::vector<Json> all;
  std::string after = "0";
  while (!after.empty()) {
    const auto page = (*session.api())->get(path + "/dead" + query({{"after", after}}));
    if (!page) return tl::unexpected(page.error());
    for (const Json& item : (*page)["items"].items()) all.push_back(item);
    after = page->text("next");
  }
  print_list(session, dead_view(), all);
  return kExitOk;
}

Result<int> dead(Session& session, const QueueFlags& flags) {
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  if (flags.restore && flags.remove)
    return fail(ErrorCode::invalid, "say either --restore or --remove");
  if (!flags.restore && !flags.remove) {
    if (!flags.items.empty())
      return fail(ErrorCode::invalid, "say what to do with them: --restore or --remove");
    return list_dead(session, *path);
  }
  std::string body = "{}";
  if (!flags.items.empty()) {
    const auto items = number_list(flags.items, "an item");
    if (!items) return tl::unexpected(items.error());
    body = "{\"items\":" + *items + "}";
  }
  const std::string done = flags.restore ? "put back " : "removed ";
  return do_and_say(session, "POST", *path + (flags.restore ? "/restore" : "/purge"), body,
                    flags.queue.name, [done](const Json& answer) {
                      const std::int64_t left = answer["left"].integer();
                      return done + answer.text("count") + " dead letters" +
                             (left > 0 ? ", " + std::to_string(left) + " are left" : "");
                    });
}

void add_removal_verbs(Verbs& verbs, CLI::App* noun) {
  auto purged = std::make_shared<QueueFlags>();
  CLI::App* purge_verb =
      verbs.add(noun, "purge", "Remove items for good",
                "atoll queue purge frames                 what waits, ready or delayed\n"
                "atoll queue purge frames --what dead     dead letters\n"
                "atoll queue purge frames --what all      everything, leased items too",
                [purged](Session& session) { return purge(session, *purged); });
  add_queue_options(purge_verb, purged->queue);
  CLI::Option* what =
      purge_verb->add_option("--what", purged->what, "waiting, dead or all (waiting)")
          ->type_name("WHAT")
          ->check(CLI::IsMember({"waiting", "dead", "all"}));
  verbs.set_choices(what, {"waiting", "dead", "all"});
  purge_verb->add_flag("-y,--yes", purged->yes, "Do not ask");
  auto gone = std::make_shared<QueueFlags>();
  CLI::App* delete_verb =
      verbs.add(noun, "delete", "Delete a queue that has no items",
                "atoll queue delete frames\natoll queue delete frames --force   with its items",
                [gone](Session& session) { return remove(session, *gone); });
  add_queue_options(delete_verb, gone->queue);
  delete_verb->add_flag("--force", gone->force, "Remove its items first");
  delete_verb->add_flag("-y,--yes", gone->yes, "Do not ask");
}

void add_make_verbs(Verbs& verbs, CLI::App* noun) {
  auto made = std::make_shared<QueueFlags>();
  CLI::App* create_verb = verbs.add(noun, "create", "Make a queue",
                                    "atoll queue create frames\n"
                                    "atoll queue create frames --visibility 10m --attempts 3",
                                    [made](Session& session) { return create(session, *made); });
  add_queue_options(create_verb, made->queue);
  create_verb->add_option("--visibility", made->visibility, "How long a lease holds (1m)")
      ->type_name("TIME");
  create_verb
      ->add_option("--attempts", made->attempts, "How often an item is tried until it is dead (5)")
      ->type_name("N");
  create_verb->add_flag("--forget", made->forget, "Remove such items instead of keeping them");
  auto ns = std::make_shared<std::string>();
  verbs
      .add(noun, "list", "List queues with their counts",
           "atoll queue list\natoll queue list -o json",
           [ns](Session& session) -> Result<int> {
             const auto path = queues_path(session, *ns);
             if (!path) return tl::unexpected(path.error());
             return show_list(session, *path, queue_view());
           })
      ->add_option("-n,--ns", *ns, "The namespace (the context's, or your own)")
      ->type_name("NAMESPACE");
}

}  // namespace

void add_queue_verbs(Verbs& verbs) {
  CLI::App* noun =
      verbs.add_noun("queue", "Durable lists of work items that workers lease, finish or give back",
                     "atoll queue create frames\n"
                     "ls *.png | atoll queue put frames -\n"
                     "atoll queue work frames --parallel 4 -- sh -c 'convert \"$ATOLL_ITEM\" "
                     "out/\"$ATOLL_ITEM\"'\n"
                     "atoll queue stats frames");
  add_make_verbs(verbs, noun);
  add_queue_item_verbs(verbs, noun);
  add_queue_work_verb(verbs, noun);
  auto shown = std::make_shared<QueueFlags>();
  add_queue_options(verbs.add(noun, "stats", "Show counts, rates and the age of the oldest item",
                              "atoll queue stats frames\natoll queue stats frames -o json",
                              [shown](Session& session) { return stats(session, *shown); }),
                    shown->queue);
  auto letters = std::make_shared<QueueFlags>();
  CLI::App* dead_verb = verbs.add(noun, "dead", "List dead letters, put them back or remove them",
                                  "atoll queue dead frames\n"
                                  "atoll queue dead frames --restore        all of them\n"
                                  "atoll queue dead frames --remove 4 5",
                                  [letters](Session& session) { return dead(session, *letters); });
  add_queue_options(dead_verb, letters->queue);
  dead_verb->add_option("ITEM", letters->items, "Numbers of items (all)");
  dead_verb->add_flag("--restore", letters->restore, "Put them back, with all their attempts");
  dead_verb->add_flag("--remove", letters->remove, "Remove them for good");
  auto closed = std::make_shared<QueueFlags>();
  CLI::App* close_verb =
      verbs.add(noun, "close", "Take no more items, so that workers know when all is done",
                "atoll queue close frames\natoll queue close frames --reopen",
                [closed](Session& session) { return close(session, *closed); });
  add_queue_options(close_verb, closed->queue);
  close_verb->add_flag("--reopen", closed->reopen, "Take items again");
  add_removal_verbs(verbs, noun);
}

}  // namespace atl::cli
