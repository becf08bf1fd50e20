// queue put, lease, done, retry, extend: items on their way.
#include <chrono>
#include <fstream>
#include <iostream>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/queue_path.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

constexpr std::size_t kBatchItems = 1'000;
constexpr std::size_t kBatchBytes = 4 << 20;  // well below what the server takes
constexpr std::chrono::seconds kLeasePatience{60};

struct PutFlags {
  QueueName queue;
  std::vector<std::string> items;
  std::string file;
  std::string priority;
  std::string delay;
  std::string key;
};

// Sends items in batches, each durable when it is answered.
class Putter {
 public:
  Putter(Session& session, std::string path, std::string more)
      : session_(session),
        path_(std::move(path)),
        more_(std::move(more)),
        status_(session.terminal) {}

  Result<void> add(const std::string& bytes) {
    const std::string item = item_json(bytes, more_);
    if (count_ == kBatchItems || (count_ > 0 && batch_.size() + item.size() > kBatchBytes)) {
      if (auto sent = send(); !sent) return sent;
    }
    batch_ += (count_ > 0 ? "," : "") + item;
    ++count_;
    return {};
  }

  Result<void> send() {
    if (count_ == 0) return {};
    const auto answer = (*session_.api())->post(path_ + "/items", "{\"items\":[" + batch_ + "]}");
    if (!answer) {
      Error error = answer.error();
      if (put_ > 0) error.message += " (the first " + std::to_string(put_) + " items were put)";
      return tl::unexpected(std::move(error));
    }
    for (const Json& id : (*answer)["items"].items()) last_ = id.integer();
    if (put_ == 0 && !(*answer)["items"].items().empty())
      first_ = (*answer)["items"].items().front().integer();
    put_ += static_cast<std::int64_t>(count_);
    repeated_ += (*answer)["repeated"].integer();
    batch_.clear();
    count_ = 0;
    if (std::chrono::steady_clock::now() - begun_ > std::chrono::seconds(2))
      status_.show("put " + std::to_string(put_) + " items");
    return {};
  }

  void tell(const std::string& queue) {
    status_.clear();
    const auto answer = Json::parse(
        "{\"put\":" + std::to_string(put_) + ",\"repeated\":" + std::to_string(repeated_) +
        ",\"first\":" + std::to_string(first_) + ",\"last\":" + std::to_string(last_) + "}");
    print_one(session_, *answer, "put", [&] {
      std::string line = "put " + std::to_string(put_) + (put_ == 1 ? " item" : " items") +
                         " into " + printable(queue);
      if (repeated_ > 0) line += ", " + std::to_string(repeated_) + " were there already";
      return line + "\n";
    });
  }

 private:
  Session& session_;
  const std::string path_;
  const std::string more_;
  StatusLine status_;
  std::string batch_;
  std::size_t count_ = 0;
  std::int64_t put_ = 0;
  std::int64_t repeated_ = 0;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

Result<void> put_lines(std::istream& in, Putter& putter) {
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    if (auto ok = putter.add(line); !ok) return ok;
  }
  return {};
}

Result<std::string> item_members(const PutFlags& flags) {
  std::string more = text_member("delay", flags.delay) + text_member("key", flags.key);
  if (flags.priority.empty()) return more;
  const auto priority = parse_int(flags.priority);
  if (!priority)
    return fail(ErrorCode::invalid,
                "--priority: " + quote(flags.priority) + " is not a number: write 10 or -10");
  return more + ",\"priority\":" + std::to_string(*priority);
}

Result<int> put(Session& session, const PutFlags& flags) {
  const bool from_stdin = flags.items == std::vector<std::string>{"-"} || flags.file == "-";
  if (flags.items.empty() == flags.file.empty())
    return fail(ErrorCode::invalid,
                "say what to put: items as words, -f FILE with one item a line, or - for lines of "
                "standard input");
  if (!flags.key.empty() && (flags.items.size() != 1 || from_stdin))
    return fail(ErrorCode::invalid, "--key is of one item: put one at a time with it");
  const auto more = item_members(flags);
  if (!more) return tl::unexpected(more.error());
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  Putter putter(session, *path, *more);
  Result<void> ok;
  if (from_stdin) {
    ok = put_lines(std::cin, putter);
  } else if (!flags.file.empty()) {
    std::ifstream in(flags.file);
    if (!in) return fail(ErrorCode::not_found, "cannot read " + quote(flags.file));
    ok = put_lines(in, putter);
  } else {
    for (const std::string& item : flags.items) {
      if (ok) ok = putter.add(item);
    }
  }
  if (ok) ok = putter.send();
  if (!ok) return tl::unexpected(ok.error());
  putter.tell(flags.queue.name);
  return kExitOk;
}

struct LeaseFlags {
  QueueName queue;
  std::string max;
  std::string visibility;
  std::string wait;
};

View leased_view(const std::string& lease) {
  return {.columns = {{{.title = "LEASE", .align = Align::right},
                       [lease](const Json&) { return Cell{lease}; }},
                      {{.title = "ID", .align = Align::right}, cell_text("id")},
                      {{.title = "ATTEMPT", .align = Align::right}, cell_text("attempt")},
                      {{.title = "BODY", .least = 10},
                       [](const Json& item) { return Cell{item_body(item)}; }}},
          .name_key = "id",
          .drop_empty = false};
}

Result<int> lease(Session& session, const LeaseFlags& flags) {
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  std::string body = text_member("visibility", flags.visibility) + text_member("wait", flags.wait);
  if (!flags.max.empty()) {
    const auto max = number_list({flags.max}, "items");
    if (!max) return tl::unexpected(max.error());
    body += ",\"max\":" + max->substr(1, max->size() - 2);
  }
  http::Call call{.method = "POST", .target = *path + "/lease"};
  call.headers.set("Content-Type", "application/json");
  call.body = "{" + (body.empty() ? body : body.substr(1)) + "}";
  call.timeout = kLeasePatience;
  const auto response = (*session.api())->send(std::move(call));
  if (!response) return tl::unexpected(response.error());
  const auto answer = Json::parse(response->body);
  if (!answer) return tl::unexpected(answer.error());
  if (session.for_people() && !answer->has("lease")) {
    session.say("nothing to lease in queue " + flags.queue.name +
                ((*answer)["closed"].truth() ? ", and it is closed" : ""));
  } else if (session.for_people()) {
    print_list(session, leased_view(answer->text("lease")), (*answer)["items"].items());
  } else {
    print_one(session, *answer, "lease", [] { return std::string(); });
  }
  return answer->has("lease") ? kExitOk : kExitTryAgain;
}

struct HeldFlags {
  QueueName queue;
  std::vector<std::string> numbers;  // a lease and items of it, or leases
  std::string delay;
  std::string message;
  std::string visibility;
};

// {"lease":17,"items":[4]…}
Result<std::string> held_json(const HeldFlags& flags, const std::string& more) {
  const auto lease = number_list({flags.numbers.front()}, "a lease");
  if (!lease) return tl::unexpected(lease.error());
  std::string body = "{\"lease\":" + lease->substr(1, lease->size() - 2);
  if (flags.numbers.size() > 1) {
    const auto items = number_list({flags.numbers.begin() + 1, flags.numbers.end()}, "an item");
    if (!items) return tl::unexpected(items.error());
    body += ",\"items\":" + *items;
  }
  return body + more + "}";
}

Result<int> act(Session& session, const HeldFlags& flags, const char* verb, const char* done) {
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  const auto body =
      held_json(flags, text_member("delay", flags.delay) + text_member("message", flags.message));
  if (!body) return tl::unexpected(body.error());
  return do_and_say(session, "POST", *path + "/" + verb, *body, flags.numbers.front(),
                    [done](const Json& answer) {
                      const std::string count = answer.text("count");
                      return done + count + (count == "1" ? " item" : " items");
                    });
}

Result<int> extend(Session& session, const HeldFlags& flags) {
  const auto path = queue_path(session, flags.queue);
  if (!path) return tl::unexpected(path.error());
  const auto leases = number_list(flags.numbers, "a lease");
  if (!leases) return tl::unexpected(leases.error());
  return do_and_say(session, "POST", *path + "/extend",
                    "{\"leases\":" + *leases + text_member("visibility", flags.visibility) + "}",
                    flags.numbers.front(), [](const Json& answer) {
                      return "holds until " + show_clock(answer.text("until"));
                    });
}

void add_put_verb(Verbs& verbs, CLI::App* noun) {
  auto flags = std::make_shared<PutFlags>();
  CLI::App* verb = verbs.add(noun, "put", "Put items; they are durable when this returns",
                             "atoll queue put frames a.png b.png\n"
                             "atoll queue put frames -f list.txt        one item a line\n"
                             "seq 1000 | atoll queue put frames -       likewise\n"
                             "atoll queue put frames urgent.png --priority 10\n"
                             "atoll queue put frames later.png --delay 10m --key later.png",
                             [flags](Session& session) { return put(session, *flags); });
  add_queue_options(verb, flags->queue);
  verb->add_option("ITEM", flags->items, "Items, or - for lines of standard input");
  verb->add_option("-f,--file", flags->file, "One item a line; empty lines are none")
      ->type_name("FILE");
  verb->add_option("--priority", flags->priority, "Higher ones are leased first, -1000 to 1000 (0)")
      ->type_name("N");
  verb->add_option("--delay", flags->delay, "How long they wait before they may be leased")
      ->type_name("TIME");
  verb->add_option("--key", flags->key, "Not again while an item of this key is there")
      ->type_name("KEY");
}

}  // namespace

void add_queue_item_verbs(Verbs& verbs, CLI::App* noun) {
  add_put_verb(verbs, noun);
  auto leased = std::make_shared<LeaseFlags>();
  CLI::App* lease_verb = verbs.add(noun, "lease", "Lease items; exit code 75 when there is nothing",
                                   "atoll queue lease frames\n"
                                   "atoll queue lease frames --max 10 --wait 30s -o json",
                                   [leased](Session& session) { return lease(session, *leased); });
  add_queue_options(lease_verb, leased->queue);
  lease_verb->add_option("--max", leased->max, "At most so many, up to 1000 (1)")->type_name("N");
  lease_verb->add_option("--visibility", leased->visibility, "How long it holds (the queue's)")
      ->type_name("TIME");
  lease_verb->add_option("--wait", leased->wait, "How long to wait for an item, up to 30s (0s)")
      ->type_name("TIME");
  auto done = std::make_shared<HeldFlags>();
  CLI::App* done_verb =
      verbs.add(noun, "done", "Leased items are done; refused when the lease no longer holds",
                "atoll queue done frames 17        all items of lease 17\n"
                "atoll queue done frames 17 4 5    items 4 and 5 of it",
                [done](Session& session) { return act(session, *done, "done", "done with "); });
  add_queue_options(done_verb, done->queue);
  done_verb->add_option("LEASE", done->numbers, "The lease, and items of it (all)")->required();
  auto back = std::make_shared<HeldFlags>();
  CLI::App* retry_verb = verbs.add(
      noun, "retry", "Give leased items back, to be tried again or, after the last attempt, dead",
      "atoll queue retry frames 17\natoll queue retry frames 17 4 --delay 1m --message 'no disk'",
      [back](Session& session) { return act(session, *back, "retry", "gave back "); });
  add_queue_options(retry_verb, back->queue);
  retry_verb->add_option("LEASE", back->numbers, "The lease, and items of it (all)")->required();
  retry_verb->add_option("--delay", back->delay, "How long they wait before they are leased again")
      ->type_name("TIME");
  retry_verb->add_option("--message", back->message, "Why")->type_name("TEXT");
  auto longer = std::make_shared<HeldFlags>();
  CLI::App* extend_verb =
      verbs.add(noun, "extend", "Let leases hold longer, from now on",
                "atoll queue extend frames 17\natoll queue extend frames 17 18 --visibility 10m",
                [longer](Session& session) { return extend(session, *longer); });
  add_queue_options(extend_verb, longer->queue);
  extend_verb->add_option("LEASE", longer->numbers, "Leases")->required();
  extend_verb->add_option("--visibility", longer->visibility, "How long (the queue's)")
      ->type_name("TIME");
}

}  // namespace atl::cli
