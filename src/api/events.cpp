#include <utility>

#include "api/context.h"
#include "api/handlers.h"
#include "base/text.h"

namespace atl::api {
namespace {

constexpr size_t kCommitsPerRead = 16;  // of the journal, on the core's thread
constexpr int64_t kEventsMax = 1000;

Result<EventFilter> read_filter(const CallPtr& call) {
  EventFilter filter;
  filter.actor = call->actor;
  const http::Request& request = call->request();
  if (const auto ns = request.query_param("namespace")) {
    const auto table = call->context.directory.table();
    const core::Namespace* named = table->namespace_named(*ns);
    if (!named || !core::may_view(*table, call->actor, named->id))
      return tl::unexpected(core::no_such_namespace(std::string(*ns)));
    filter.ns = named->id;
  }
  if (const auto job = request.query_param("job")) {
    const auto selector = parse_selector(*job);
    if (!selector) return fail(ErrorCode::invalid, selector.error().message, "job");
    filter.job = selector->job;
  }
  return filter;
}

struct Page {
  CallPtr call;
  EventFilter filter;
  uint64_t after = 0;
  size_t limit = 100;
  size_t shown = 0;
  bool reset = false;       // of what lies before, only what people asked for is kept
  uint64_t whole_from = 0;  // behind that gap
  bool caught_up = false;
  std::string events;
};
using PagePtr = std::shared_ptr<Page>;

void finish(Page& page) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("events").raw("[" + page.events + "]").member("after", page.after);
  json.member("reset", page.reset).member("more", !page.caught_up).end_object();
  page.call->respond_json(std::move(body));
}

void fill(const PagePtr& page);

void take(const PagePtr& page, const std::vector<SeenCommit>& commits) {
  const auto table = page->call->context.directory.table();
  for (const SeenCommit& seen : commits) {
    // A commit is shown whole, so a page may be longer than its limit by one commit.
    for (ShownEvent& event : show_commit(*table, page->call->context.history, page->filter, seen)) {
      page->events += (page->events.empty() ? "" : ",") + event.json;
      ++page->shown;
    }
    page->after = seen.commit.sequence;
    if (page->shown < page->limit) continue;
    page->whole_from = 0;
    page->caught_up = page->caught_up && &seen == &commits.back();
    return finish(*page);
  }
  if (page->whole_from > 0) page->after = std::exchange(page->whole_from, 0) - 1;
  page->caught_up ? finish(*page) : fill(page);
}

void fill(const PagePtr& page) {
  Context& context = page->call->context;
  context.runtime.read([page, &context](const core::State& state) {
    auto commits = context.journal.read(page->after, kCommitsPerRead);
    std::vector<SeenCommit> seen;
    if (commits) {
      for (journal::Committed& commit : *commits) seen.push_back(see(state, std::move(commit)));
    } else if (commits.error().code != ErrorCode::not_found) {
      return page->call->refuse(commits.error());
    } else {
      auto audit = context.journal.audit(page->after, kCommitsPerRead);
      if (!audit) return page->call->refuse(audit.error());
      // A hole among the commits that are kept in whole is damage, not age.
      if (audit->whole_from <= page->after) return page->call->refuse(commits.error());
      page->reset = true;
      page->whole_from = audit->commits.size() < kCommitsPerRead ? audit->whole_from : 0;
      for (journal::Committed& old : audit->commits) seen.push_back(see(state, std::move(old)));
    }
    page->caught_up = commits && seen.size() < kCommitsPerRead;
    run_on(context.quick, page->call, [page, seen = std::move(seen)] { take(page, seen); });
  });
}

void begin_events(const CallPtr& call, const EventFilter& filter, std::optional<uint64_t> after) {
  // On the runtime's thread, so that "from now on" has a number.
  call->context.runtime.read([call, filter, after](const core::State&) {
    const uint64_t from = after.value_or(call->context.runtime.health().sequence);
    if (auto stream = open_stream(call)) call->context.feed.follow(std::move(stream), filter, from);
  });
}

}  // namespace

void show_events(const CallPtr& call) {
  auto filter = read_filter(call);
  if (!filter) return call->refuse(filter.error());
  const http::Request& request = call->request();
  std::optional<uint64_t> after;
  if (request.query_param("after"))
    after = static_cast<uint64_t>(call->query_int("after", 0).value_or(0));
  if (const std::string* last = request.headers.find("Last-Event-ID"); last && !last->empty()) {
    const auto sequence = parse_int(*last);
    if (!sequence || *sequence < 0)
      return call->refuse({ErrorCode::invalid, "Last-Event-ID must be one that the stream gave you",
                           "Last-Event-ID"});
    after = static_cast<uint64_t>(*sequence);
  }
  if (request.headers.get("Accept").find("text/event-stream") != std::string_view::npos)
    return begin_events(call, *filter, after);
  auto page = std::make_shared<Page>();
  page->call = call;
  page->filter = std::move(*filter);
  page->limit =
      static_cast<size_t>(std::min(kEventsMax, call->query_int("limit", 100).value_or(100)));
  const uint64_t latest = call->context.runtime.health().sequence;
  page->after = after.value_or(latest - std::min<uint64_t>(latest, page->limit));
  fill(page);
}

}  // namespace atl::api
