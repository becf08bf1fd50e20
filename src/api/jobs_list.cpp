#include <algorithm>

#include "api/context.h"
#include "api/handlers.h"
#include "api/job_row.h"
#include "api/progress_view.h"
#include "base/text.h"
#include "http/target.h"

namespace atl::api {
namespace {

// Jobs looked at before the core's thread is given back; reasons cost a look at the world, and one
// round, for all of them.
constexpr size_t kScanPerSlice = 2'000;

struct Listing {
  CallPtr call;
  auth::Directory::Table table;
  journal::EndedFilter filter;
  bool sees_all = false;
  std::vector<NamespaceId> visible;  // sorted; when not sees_all
  std::array<bool, 5> states{true, true, true, true, true};
  Time since;
  JobId before;  // zero: from the newest
  size_t limit = 100;
  std::vector<JobRow> rows;  // live, newest first
  ReasonCache reasons;
  size_t progress_left = kProgressPerPage;
};
using ListingPtr = std::shared_ptr<Listing>;

bool has_labels(const core::Labels& has, const core::Labels& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const core::Label& label) {
    return std::find(has.begin(), has.end(), label) != has.end();
  });
}

bool wanted(const Listing& list, const core::Job& job) {
  const journal::EndedFilter& filter = list.filter;
  if (filter.ns && job.ns != *filter.ns) return false;
  if (filter.user && job.user != *filter.user) return false;
  if (!list.sees_all && !std::binary_search(list.visible.begin(), list.visible.end(), job.ns))
    return false;
  if (list.since && job.submitted < list.since) return false;
  if (!filter.name.empty() && job.name.find(filter.name) == std::string::npos) return false;
  if (!has_labels(job.labels, filter.labels)) return false;
  return list.states[static_cast<size_t>(state_of(job))];
}

Result<void> read_states(Listing& list, const http::Request& request) {
  const auto outcome = request.query_param("outcome");
  if (outcome) {
    core::Outcome value{};
    if (!enum_from_name(*outcome, value))
      return fail(ErrorCode::invalid, "outcome is not known", "outcome");
    list.filter.outcome = value;
    list.states = {false, false, false, false, true};
  }
  if (const auto states = request.query_param("state")) {
    const auto allowed = list.states;
    list.states = {};
    for (const std::string_view word : split(*states, ',')) {
      for (size_t i = 0; i < 5; ++i) {
        if (word == kStateWords[i]) list.states[i] = allowed[i];
      }
    }
  }
  return {};
}

Result<void> read_who(Listing& list, const CallPtr& call) {
  const http::Request& request = call->request();
  if (const auto user = request.query_param("user")) {
    const core::User* named = list.table->user_named(*user);
    if (*user == "me")
      list.filter.user = call->actor.user;
    else if (named)
      list.filter.user = named->id;
    else
      return fail(ErrorCode::not_found, "there is no user " + quote(*user), "user");
  }
  const auto visible = core::visible_namespaces(*list.table, call->actor);
  list.sees_all = !visible;
  if (visible) list.visible = *visible;
  std::sort(list.visible.begin(), list.visible.end());
  list.filter.visible = list.visible;
  if (const auto ns = request.query_param("namespace")) {
    const core::Namespace* named = list.table->namespace_named(*ns);
    if (!named || !core::may_view(*list.table, call->actor, named->id))
      return tl::unexpected(core::no_such_namespace(std::string(*ns)));
    list.filter.ns = named->id;
  }
  return {};
}

Result<void> read_labels(Listing& list, const CallPtr& call) {
  for (const std::string& text : call->query_all("label")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorCode::invalid, "label is " + quote(text) + "; it must be KEY=VALUE",
                  "label");
    list.filter.labels.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return {};
}

Result<ListingPtr> read_listing(const CallPtr& call) {
  auto list = std::make_shared<Listing>();
  list->call = call;
  list->table = call->context.directory.table();
  const http::Request& request = call->request();
  if (auto ok = read_who(*list, call); !ok) return tl::unexpected(ok.error());
  if (auto ok = read_states(*list, request); !ok) return tl::unexpected(ok.error());
  if (auto ok = read_labels(*list, call); !ok) return tl::unexpected(ok.error());
  list->filter.name = request.query_param("name").value_or("");
  if (const auto since = request.query_param("since")) {
    const auto span = parse_duration(*since);
    if (!span) return fail(ErrorCode::invalid, span.error().message, "since");
    list->since = call->context.options.now() - *span;
    list->filter.ended_after = list->since;
  }
  list->limit = static_cast<size_t>(call->query_int("limit", 100).value_or(100));
  const int64_t cursor = call->query_int("cursor", 0).value_or(0);
  list->before = JobId{static_cast<uint64_t>(cursor)};
  return list;
}

// Ended jobs that belong on the page beside the live ones.
Result<std::vector<journal::EndedJob>> ended_part(Listing& list) {
  std::vector<journal::EndedJob> none;
  if (!list.states[4] || (!list.sees_all && list.visible.empty())) return none;
  journal::History& history = list.call->context.history;
  if (list.rows.size() > list.limit) {
    // The live ones fill the page. One look tells whether an ended one is newer than the oldest of
    // them.
    auto newest = history.jobs(list.filter, list.before, 1);
    if (!newest) return tl::unexpected(newest.error());
    if (newest->empty() || newest->front().job.id < list.rows.back().id) return none;
  }
  return history.jobs(list.filter, list.before, list.limit + 1);
}

std::vector<JobRow> merged(std::vector<JobRow> live, const std::vector<journal::EndedJob>& ended,
                           size_t max) {
  std::vector<JobRow> rows;
  rows.reserve(std::min(max, live.size() + ended.size()));
  size_t i = 0;
  size_t j = 0;
  while (rows.size() < max && (i < live.size() || j < ended.size())) {
    const bool take_ended = j < ended.size() && (i == live.size() || ended[j].job.id >= live[i].id);
    if (!take_ended) {
      rows.push_back(std::move(live[i++]));
      continue;
    }
    // A job that ended between the two looks is in both; its end is the newer truth.
    if (i < live.size() && live[i].id == ended[j].job.id) ++i;
    rows.push_back(ended_row(ended[j++]));
  }
  return rows;
}

std::string next_link(const http::Request& request, JobId last) {
  std::string link = "<" + request.path + "?";
  for (const auto& [name, value] : request.query) {
    if (name != "cursor")
      link += http::percent_encode(name) + "=" + http::percent_encode(value) + "&";
  }
  return link + "cursor=" + to_string(last) + ">; rel=\"next\"";
}

// Where an ended job ran, and since when. One that is damaged or gone is shown without.
void add_last_attempt(journal::History& history, JobRow& row) {
  if (row.array || row.state != JobState::ended) return;
  const auto last = history.last_attempt(row.id, 0);
  if (!last || !*last) return;
  row.site = (*last)->placement.site;
  row.node = (*last)->placement.node;
  row.started = (*last)->result.usage.started;
}

void show(Listing& list) {
  auto ended = ended_part(list);
  if (!ended) return list.call->refuse(ended.error());
  std::vector<JobRow> rows = merged(std::move(list.rows), *ended, list.limit + 1);
  const bool more = rows.size() > list.limit;
  if (more) rows.resize(list.limit);
  for (JobRow& row : rows) add_last_attempt(list.call->context.history, row);
  add_progress(list.call->context, *list.table, rows);
  std::string body;
  body.reserve(rows.size() * 480 + 64);
  spec::JsonWriter json(body);
  json.begin_object().key("jobs").begin_array();
  for (const JobRow& row : rows) {
    json.begin_object();
    write_row(json, *list.table, row);
    json.end_object();
  }
  json.end_array().key("next");
  http::Headers headers;
  if (more) {
    json.text(to_string(rows.back().id));
    headers.add("Link", next_link(list.call->request(), rows.back().id));
  } else {
    json.null();
  }
  json.end_object();
  list.call->respond_json(std::move(body), 200, std::move(headers));
}

void add_live(Listing& list, const core::State& state, const core::Job& job, Time now) {
  JobRow& row = list.rows.emplace_back(live_row(state, job, list.reasons, now));
  copy_placed(row, job, std::min(kProgressPerJob, list.progress_left));
  list.progress_left -= row.placed.size();
}

// One slice of the scan from the newest job down; more slices follow until the page is full.
void scan(const ListingPtr& list, JobId from) {
  list->call->context.runtime.read([list, from](const core::State& state) {
    auto it = from ? state.jobs.lower_bound(from) : state.jobs.end();
    size_t looked = 0;
    const Time now = list->call->context.options.now();
    bool more = false;
    while (it != state.jobs.begin() && list->rows.size() <= list->limit) {
      more = looked++ == kScanPerSlice;
      if (more) break;
      --it;
      if (wanted(*list, it->second)) add_live(*list, state, it->second, now);
    }
    list->reasons.glance.reset();
    if (more) return scan(list, it->first);
    run_on(list->call->context.quick, list->call, [list] { show(*list); });
  });
}

}  // namespace

void list_jobs(const CallPtr& call) {
  auto list = read_listing(call);
  if (!list) return call->refuse(list.error());
  const auto& states = (*list)->states;
  const bool any_live =
      std::any_of(states.begin(), states.begin() + 4, [](bool wants) { return wants; });
  if (any_live) return scan(*list, (*list)->before);
  run_on(call->context.quick, call, [list = *list] { show(*list); });
}

}  // namespace atl::api
