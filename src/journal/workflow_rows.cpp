#include "journal/workflow_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/wire.h"

namespace atl::journal {
namespace {

int64_t number(WorkflowId id) { return static_cast<int64_t>(id.value); }

std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

Digest digest_of(std::string_view bytes) {
  Digest digest;
  std::memcpy(digest.bytes.data(), bytes.data(), std::min(bytes.size(), digest.bytes.size()));
  return digest;
}

tl::unexpected<Error> damaged(const char* what) {
  return fail(ErrorCode::internal, std::string("a row of ") + what +
                                       " is damaged; run `atoll doctor`, then restore a backup");
}

constexpr const char* kWorkflowColumns =
    "SELECT id, ns, user, name, version, submitted_us, ended_us, outcome, message, document, "
    "fail_fast, parallel_max, tally, lane, overlap, origin, time_limit_us FROM workflows ";

KeptWorkflow workflow_row(const Query& row) {
  KeptWorkflow kept;
  kept.id = {static_cast<uint64_t>(row.integer(0))};
  kept.ns = {static_cast<uint32_t>(row.integer(1))};
  kept.user = {static_cast<uint32_t>(row.integer(2))};
  kept.name = row.bytes(3);
  kept.version = static_cast<uint32_t>(row.integer(4));
  kept.submitted = {row.integer(5)};
  kept.ended = {row.integer(6)};
  if (kept.ended) kept.outcome = static_cast<core::Outcome>(row.integer(7));
  kept.message = row.bytes(8);
  kept.document = row.bytes(9);
  kept.fail_fast = row.integer(10) != 0;
  kept.parallel_max = static_cast<uint32_t>(row.integer(11));
  wire::Reader tally(row.bytes(12));
  for (uint32_t& count : kept.tally) count = static_cast<uint32_t>(tally.varint());
  kept.lane = row.bytes(13);
  kept.overlap = static_cast<core::Overlap>(row.integer(14));
  kept.origin = row.bytes(15);
  kept.time_limit = {row.integer(16)};
  return kept;
}

bool visible(const WorkflowFilter& filter, const KeptWorkflow& each) {
  return filter.visible.empty() ||
         std::ranges::find(filter.visible, each.ns) != filter.visible.end();
}

Result<void> write_kinds(Database& database, const core::StepsAdded& event) {
  if (event.kinds.empty()) return {};
  Query last = database.query("SELECT count(*) FROM step_kinds WHERE workflow = ?");
  if (last.bind(number(event.id)).step() != SQLITE_ROW) return tl::unexpected(database.error());
  int64_t next = last.integer(0);
  std::string body;
  for (const core::StepKind& kind : event.kinds) {
    body.clear();
    wire::put_fields(body, kind);
    Query query = database.query("INSERT INTO step_kinds VALUES(?, ?, ?)");
    const int code = query.bind(number(event.id)).bind(next++).blob(body).run();
    if (auto ok = database.check(code); !ok) return ok;
  }
  return {};
}

Result<void> write_cached(Database& database, const core::StepsEnded& event, Time at) {
  if (event.cache == Digest{} || event.how != core::StepState::succeeded) return {};
  Query query = database.query(
      "INSERT OR REPLACE INTO cached SELECT ns, ?, id, ?, ? FROM workflows WHERE id = ?");
  query.blob(view(event.cache)).bind(event.steps.front()).bind(at.us);
  return database.check(query.bind(number(event.id)).run());
}

}  // namespace

Result<VersionOfFiles> version_of(Database& database, const core::WorkflowSubmitted& event) {
  Query known =
      database.query("SELECT version FROM versions WHERE ns = ? AND name = ? AND digest = ?");
  const int code = known.bind(event.ns.value).text(event.name).blob(view(event.files)).step();
  if (code == SQLITE_ROW) return VersionOfFiles{static_cast<uint32_t>(known.integer(0)), true};
  if (code != SQLITE_DONE) return tl::unexpected(database.error());
  Query last = database.query("SELECT max(version) FROM versions WHERE ns = ? AND name = ?");
  if (last.bind(event.ns.value).text(event.name).step() != SQLITE_ROW)
    return tl::unexpected(database.error());
  return VersionOfFiles{static_cast<uint32_t>(last.integer(0)) + 1, false};
}

Result<void> write_version(Database& database, const core::WorkflowSubmitted& event, Time at,
                           uint32_t version, int64_t files) {
  Query query = database.query("INSERT INTO versions VALUES(?, ?, ?, ?, ?, ?)");
  query.bind(event.ns.value).text(event.name).bind(version).blob(view(event.files));
  return database.check(query.bind(files).bind(at.us).run());
}

Result<void> write_workflow(Database& database, const core::WorkflowSubmitted& event, Time at,
                            uint32_t version) {
  Query query = database.query(
      "INSERT INTO workflows VALUES(?, ?, ?, ?, ?, ?, 0, 0, '', ?, ?, ?, x'', ?, ?, ?, ?)");
  query.bind(number(event.id)).bind(event.ns.value).bind(event.user.value).text(event.name);
  query.bind(version).bind(at.us).blob(event.document).bind(event.fail_fast);
  query.bind(event.parallel_max).text(event.lane).bind(static_cast<int64_t>(event.overlap));
  return database.check(query.text(event.origin).bind(event.time_limit.us).run());
}

Result<void> write_steps(Database& database, const core::StepsAdded& event,
                         const std::vector<std::pair<int64_t, int64_t>>& blobs) {
  if (auto ok = write_kinds(database, event); !ok) return ok;
  std::string body;
  for (size_t i = 0; i < event.steps.size(); ++i) {
    body.clear();
    wire::put_fields(body, event.steps[i]);
    Query query =
        database.query("INSERT INTO steps VALUES(?, ?, ?, ?, ?, 0, -1, 0, '', '', 0, 0, x'')");
    query.bind(number(event.id)).bind(static_cast<int64_t>(event.first + i)).blob(body);
    const int code = query.bind(blobs[i].first).bind(blobs[i].second).run();
    if (auto ok = database.check(code); !ok) return ok;
  }
  return {};
}

Result<void> write_steps_ended(Database& database, const core::StepsEnded& event, Time at) {
  std::string use;
  wire::put_fields(use, event.use);
  for (const Interval& range : event.steps.ranges()) {
    Query query = database.query(
        "UPDATE steps SET job = ?, state = ?, ended_us = ?, message = ?, outputs = ?, "
        "reused_workflow = ?, reused_step = ?, use = ? "
        "WHERE workflow = ? AND step BETWEEN ? AND ?");
    query.bind(static_cast<int64_t>(event.job.value)).bind(static_cast<int64_t>(event.how));
    query.bind(at.us).text(event.message);
    query.text(event.outputs).bind(number(event.reused.workflow)).bind(event.reused.step);
    const int code =
        query.blob(use).bind(number(event.id)).bind(range.first).bind(range.last).run();
    if (auto ok = database.check(code); !ok) return ok;
  }
  return write_cached(database, event, at);
}

Result<int64_t> set_step_payload(Database& database, core::StepRef step, int64_t blob) {
  const auto before = step_blob(database, step, false);
  if (!before) return before;
  Query query = database.query("UPDATE steps SET payload = ? WHERE workflow = ? AND step = ?");
  query.bind(blob).bind(number(step.workflow)).bind(step.step);
  if (auto ok = database.check(query.run()); !ok) return tl::unexpected(ok.error());
  return before;
}

Result<void> write_fed_job(Database& database, const core::FedJobEnded& event) {
  if (event.outputs.empty()) return {};
  Query query = database.query("INSERT INTO fed_outputs VALUES(?, ?, ?, ?, ?)");
  const std::string items = core::to_text(event.items);
  query.bind(number(event.step.workflow)).bind(event.step.step);
  query.bind(static_cast<int64_t>(event.job.value)).text(items).text(event.outputs);
  return database.check(query.run());
}

Result<void> write_steps_reopened(Database& database, const core::StepsReopened& event) {
  for (const Interval& range : event.steps.ranges()) {
    Query query = database.query(
        "UPDATE steps SET state = -1, ended_us = 0, job = 0, message = '', outputs = '', "
        "reused_workflow = 0, reused_step = 0, use = x'' WHERE workflow = ? AND step BETWEEN ? AND "
        "?");
    const int code = query.bind(number(event.id)).bind(range.first).bind(range.last).run();
    if (auto ok = database.check(code); !ok) return ok;
  }
  return {};
}

Result<void> write_workflow_ended(Database& database, const core::WorkflowEnded& event, Time at) {
  std::string tally;
  for (const uint32_t count : event.tally) wire::put_varint(tally, count);
  Query query = database.query(
      "UPDATE workflows SET ended_us = ?, outcome = ?, message = ?, tally = ? WHERE id = ?");
  query.bind(at.us).bind(static_cast<int64_t>(event.outcome)).text(event.message).blob(tally);
  return database.check(query.bind(number(event.id)).run());
}

Result<void> write_workflow_reopened(Database& database, WorkflowId id) {
  Query query = database.query("UPDATE workflows SET ended_us = 0, message = '' WHERE id = ?");
  return database.check(query.bind(number(id)).run());
}

Result<KeptWorkflow> read_workflow(Database& database, WorkflowId id) {
  Query query = database.query(std::string(kWorkflowColumns) + "WHERE id = ?");
  const int code = query.bind(number(id)).step();
  if (code == SQLITE_DONE)
    return fail(ErrorCode::not_found, "there is no workflow " + to_string(id), "id");
  if (code != SQLITE_ROW) return tl::unexpected(database.error());
  return workflow_row(query);
}

Result<std::vector<KeptWorkflow>> read_workflows(Database& database, const WorkflowFilter& filter,
                                                 WorkflowId before, size_t max) {
  std::string sql = std::string(kWorkflowColumns) + "WHERE id < ?";
  if (filter.ns) sql += " AND ns = ?";
  if (filter.user) sql += " AND user = ?";
  if (!filter.name.empty()) sql += " AND instr(name, ?) > 0";
  if (!filter.origin.empty()) sql += " AND origin = ? AND origin <> ''";
  Query query = database.query(sql + " ORDER BY id DESC");
  query.bind(before ? number(before) : std::numeric_limits<int64_t>::max());
  if (filter.ns) query.bind(filter.ns->value);
  if (filter.user) query.bind(filter.user->value);
  if (!filter.name.empty()) query.text(filter.name);
  if (!filter.origin.empty()) query.text(filter.origin);
  std::vector<KeptWorkflow> found;
  while (found.size() < max) {
    const int code = query.step();
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) return tl::unexpected(database.error());
    KeptWorkflow each = workflow_row(query);
    if (visible(filter, each)) found.push_back(std::move(each));
  }
  return found;
}

Result<std::vector<KeptStep>> read_steps(Database& database, WorkflowId id, uint32_t first,
                                         size_t max) {
  Query query = database.query(
      "SELECT step, body, job, state, ended_us, message, outputs, reused_workflow, reused_step, "
      "use FROM steps WHERE workflow = ? AND step >= ? ORDER BY step LIMIT ?");
  query.bind(number(id)).bind(first).bind(static_cast<int64_t>(max));
  std::vector<KeptStep> found;
  int code;
  while ((code = query.step()) == SQLITE_ROW) {
    auto step = wire::decode<core::NewStep>(query.bytes(1));
    const auto use = wire::decode<core::FeedUse>(query.bytes(9));
    if (!step || !use) return damaged("steps");
    KeptStep& kept = found.emplace_back();
    kept.number = static_cast<uint32_t>(query.integer(0));
    kept.step = std::move(*step);
    kept.job = {static_cast<uint64_t>(query.integer(2))};
    if (query.integer(3) >= 0) kept.state = static_cast<core::StepState>(query.integer(3));
    kept.ended = {query.integer(4)};
    kept.message = query.bytes(5);
    kept.outputs = query.bytes(6);
    kept.reused = {{static_cast<uint64_t>(query.integer(7))},
                   static_cast<uint32_t>(query.integer(8))};
    kept.use = *use;
  }
  if (code != SQLITE_DONE) return tl::unexpected(database.error());
  return found;
}

Result<std::vector<FedOutput>> read_fed_outputs(Database& database, core::StepRef step, JobId after,
                                                size_t max) {
  Query query = database.query(
      "SELECT job, items, outputs FROM fed_outputs WHERE workflow = ? AND step = ? AND job > ? "
      "ORDER BY job LIMIT ?");
  query.bind(number(step.workflow)).bind(step.step);
  query.bind(static_cast<int64_t>(after.value)).bind(static_cast<int64_t>(max));
  std::vector<FedOutput> found;
  int code;
  while ((code = query.step()) == SQLITE_ROW)
    found.push_back({{static_cast<uint64_t>(query.integer(0))},
                     std::string(query.bytes(1)),
                     std::string(query.bytes(2))});
  if (code != SQLITE_DONE) return tl::unexpected(database.error());
  return found;
}

Result<std::vector<core::StepKind>> read_kinds(Database& database, WorkflowId id) {
  Query query = database.query("SELECT body FROM step_kinds WHERE workflow = ? ORDER BY kind");
  query.bind(number(id));
  std::vector<core::StepKind> kinds;
  int code;
  while ((code = query.step()) == SQLITE_ROW) {
    auto kind = wire::decode<core::StepKind>(query.bytes(0));
    if (!kind) return damaged("step_kinds");
    kinds.push_back(std::move(*kind));
  }
  if (code != SQLITE_DONE) return tl::unexpected(database.error());
  return kinds;
}

Result<int64_t> step_blob(Database& database, core::StepRef step, bool recipe) {
  Query query =
      database.query(recipe ? "SELECT recipe FROM steps WHERE workflow = ? AND step = ?"
                            : "SELECT payload FROM steps WHERE workflow = ? AND step = ?");
  const int code = query.bind(number(step.workflow)).bind(step.step).step();
  if (code == SQLITE_ROW) return query.integer(0);
  if (code != SQLITE_DONE) return tl::unexpected(database.error());
  return fail(ErrorCode::not_found, "workflow " + to_string(step.workflow) + " has no such step");
}

Result<std::string> read_blob(Database& database, int64_t id, const std::string& what) {
  Query query = database.query("SELECT bytes FROM blobs WHERE id = ?");
  const int code = query.bind(id).step();
  if (code == SQLITE_DONE) return fail(ErrorCode::not_found, "no " + what);
  if (code != SQLITE_ROW) return tl::unexpected(database.error());
  return std::string(query.bytes(0));
}

Result<std::vector<FileVersion>> read_versions(Database& database, NamespaceId ns,
                                               const std::string& name) {
  Query query = database.query(
      "SELECT version, digest, at_us FROM versions WHERE ns = ? AND name = ? ORDER BY version DESC "
      "LIMIT 1000");
  query.bind(ns.value).text(name);
  std::vector<FileVersion> versions;
  int code;
  while ((code = query.step()) == SQLITE_ROW)
    versions.push_back({static_cast<uint32_t>(query.integer(0)), digest_of(query.bytes(1)),
                        Time{query.integer(2)}});
  if (code != SQLITE_DONE) return tl::unexpected(database.error());
  return versions;
}

Result<std::string> read_files(Database& database, WorkflowId id) {
  Query query = database.query(
      "SELECT files FROM workflows JOIN versions USING (ns, name, version) WHERE id = ?");
  const int code = query.bind(number(id)).step();
  if (code == SQLITE_DONE)
    return fail(ErrorCode::not_found, "there is no workflow " + to_string(id), "id");
  if (code != SQLITE_ROW) return tl::unexpected(database.error());
  return read_blob(database, query.integer(0), "files of workflow " + to_string(id));
}

Result<std::optional<core::StepRef>> read_cached(Database& database, NamespaceId ns,
                                                 const Digest& key) {
  Query query = database.query("SELECT workflow, step FROM cached WHERE ns = ? AND key = ?");
  const int code = query.bind(ns.value).blob(view(key)).step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return tl::unexpected(database.error());
  return core::StepRef{{static_cast<uint64_t>(query.integer(0))},
                       static_cast<uint32_t>(query.integer(1))};
}

}  // namespace atl::journal
