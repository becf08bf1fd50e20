#include "journal/sqlite_history.h"

#include <algorithm>
#include <limits>

#include "journal/rows.h"
#include "journal/workflow_rows.h"

namespace atl::journal {
namespace {

constexpr size_t kIdleMax = 2;  // connections kept open: each holds up to its page cache
constexpr size_t kMergeMax =
    16;  // visible namespaces asked one by one; more are filtered out of one scan
constexpr int64_t kSparseMax =
    20000;  // rows that are cheaper to sort than to look for among all others

int64_t top(JobId before) {
  return before ? static_cast<int64_t>(before.value) : std::numeric_limits<int64_t>::max();
}

// Whether the rows since `after` are so few that the index by time finds them sooner than a walk by
// id.
Result<bool> few_since(Database& database, Time after) {
  Query query =
      database.query("SELECT count(*) FROM (SELECT 1 FROM ended_jobs WHERE ended_us > ? LIMIT ?)");
  if (query.bind(after.us).bind(kSparseMax).step() != SQLITE_ROW) {
    return tl::unexpected(database.error());
  }
  return query.integer(0) < kSparseMax;
}

std::string select_jobs(const EndedFilter& filter, bool few) {
  std::string sql = "SELECT body FROM ended_jobs ";
  if (few) sql += "INDEXED BY ended_by_time ";
  sql += "WHERE id < ?";
  if (filter.ns) sql += " AND ns = ?";
  if (filter.user) sql += " AND user = ?";
  if (filter.outcome) sql += " AND outcome = ?";
  // Says to SQLite that the partial index will do.
  if (filter.outcome && *filter.outcome != core::Outcome::succeeded) sql += " AND outcome <> 0";
  if (filter.ended_after) sql += " AND ended_us > ?";
  if (!filter.name.empty()) sql += " AND instr(name, ?) > 0";
  return sql + " ORDER BY id DESC";
}

// One ordered walk; what SQL cannot see (labels, visibility) is tested on each row.
Result<std::vector<EndedJob>> walk(Database& database, const EndedFilter& filter, JobId before,
                                   size_t max) {
  bool few = false;
  if (filter.ended_after) {
    const auto sparse = few_since(database, filter.ended_after);
    if (!sparse) return tl::unexpected(sparse.error());
    few = *sparse;
  }
  Query query = database.query(select_jobs(filter, few));
  query.bind(top(before));
  if (filter.ns) query.bind(filter.ns->value);
  if (filter.user) query.bind(filter.user->value);
  if (filter.outcome) query.bind(static_cast<int64_t>(*filter.outcome));
  if (filter.ended_after) query.bind(filter.ended_after.us);
  if (!filter.name.empty()) query.text(filter.name);
  std::vector<EndedJob> found;
  while (found.size() < max) {
    const int code = query.step();
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) return tl::unexpected(database.error());
    if (!may_match_labels(filter, query.bytes(0))) continue;
    auto job = decode_job_row(query.bytes(0));
    if (!job) return tl::unexpected(job.error());
    if (matches(filter, *job)) found.push_back(std::move(*job));
  }
  return found;
}

// A page over several namespaces: one short walk in each, then the newest of all.
Result<std::vector<EndedJob>> merge(Database& database, EndedFilter filter, JobId before,
                                    size_t max) {
  std::vector<EndedJob> all;
  for (const NamespaceId ns : std::exchange(filter.visible, {})) {
    filter.ns = ns;
    auto page = walk(database, filter, before, max);
    if (!page) return page;
    std::ranges::move(*page, std::back_inserter(all));
  }
  std::ranges::sort(all, std::greater(), [](const EndedJob& job) { return job.job.id; });
  if (all.size() > max) all.erase(all.begin() + static_cast<ptrdiff_t>(max), all.end());
  return all;
}

}  // namespace

class SqliteHistory::Loan {
 public:
  Loan(SqliteHistory& owner, std::unique_ptr<Database> database)
      : owner_(&owner), database_(std::move(database)) {}
  Loan(Loan&&) = default;
  Loan& operator=(Loan&&) = delete;
  ~Loan() {
    if (database_) owner_->give_back(std::move(database_));
  }
  Database& operator*() const { return *database_; }
  Database* operator->() const { return database_.get(); }

 private:
  SqliteHistory* owner_;
  std::unique_ptr<Database> database_;
};

Result<SqliteHistory::Loan> SqliteHistory::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto database = std::move(idle_.back());
      idle_.pop_back();
      return Loan(*this, std::move(database));
    }
  }
  auto database = Database::open(path_, options_);
  if (!database) return tl::unexpected(database.error());
  return Loan(*this, std::move(*database));
}

void SqliteHistory::give_back(std::unique_ptr<Database> database) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(database));
}

Result<EndedJob> SqliteHistory::job(JobId id) {
  auto database = borrow();
  if (!database) return tl::unexpected(database.error());
  Query query = (*database)->query("SELECT body FROM ended_jobs WHERE id = ?");
  const int code = query.bind(static_cast<int64_t>(id.value)).step();
  if (code == SQLITE_DONE) return fail(ErrorCode::not_found, "no ended job " + to_string(id));
  if (code != SQLITE_ROW) return tl::unexpected((*database)->error());
  return decode_job_row(query.bytes(0));
}

Result<std::vector<EndedJob>> SqliteHistory::jobs(const EndedFilter& filter, JobId before,
                                                  size_t max) {
  auto database = borrow();
  if (!database) return tl::unexpected(database.error());
  const bool several = !filter.ns && !filter.visible.empty() && filter.visible.size() <= kMergeMax;
  return several ? merge(**database, filter, before, max) : walk(**database, filter, before, max);
}

Result<std::vector<EndedAttempt>> SqliteHistory::attempts(JobId id, AttemptId after, size_t max) {
  auto database = borrow();
  if (!database) return tl::unexpected(database.error());
  // An empty `after` is before index 0, attempt 1.
  Query query = (*database)->query(
      "SELECT body FROM attempts WHERE job = ? AND (idx, attempt) > (?, ?) ORDER BY idx, attempt "
      "LIMIT ?");
  query.bind(static_cast<int64_t>(id.value)).bind(after.index).bind(after.attempt);
  query.bind(static_cast<int64_t>(max));
  std::vector<EndedAttempt> found;
  int code;
  while ((code = query.step()) == SQLITE_ROW) {
    auto attempt = decode_attempt_row(query.bytes(0));
    if (!attempt) return tl::unexpected(attempt.error());
    found.push_back(std::move(*attempt));
  }
  if (code != SQLITE_DONE) return tl::unexpected((*database)->error());
  return found;
}

Result<std::optional<EndedAttempt>> SqliteHistory::last_attempt(JobId id, uint32_t index) {
  auto database = borrow();
  if (!database) return tl::unexpected(database.error());
  Query query = (*database)->query(
      "SELECT body FROM attempts WHERE job = ? AND idx = ? ORDER BY attempt DESC LIMIT 1");
  const int code = query.bind(static_cast<int64_t>(id.value)).bind(index).step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return tl::unexpected((*database)->error());
  auto attempt = decode_attempt_row(query.bytes(0));
  if (!attempt) return tl::unexpected(attempt.error());
  return std::move(*attempt);
}

Result<std::optional<JobId>> SqliteHistory::job_for_key(UserId user, const std::string& key) {
  auto database = borrow();
  if (!database) return tl::unexpected(database.error());
  Query query = (*database)->query("SELECT job FROM idempotency WHERE user = ? AND key = ?");
  const int code = query.bind(user.value).text(key).step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return tl::unexpected((*database)->error());
  return JobId{static_cast<uint64_t>(query.integer(0))};
}

Result<std::string> SqliteHistory::payload(JobId job) {
  auto database = borrow();
  if (!database) return tl::unexpected(database.error());
  return read_payload(**database, job);
}

Result<std::map<ItemId, std::string>> SqliteHistory::bodies(QueueId queue,
                                                            const std::vector<ItemId>& items) {
  auto database = borrow();
  if (!database) return tl::unexpected(database.error());
  std::map<ItemId, std::string> found;
  for (const ItemId item : items) {
    Query query = (*database)->query("SELECT body FROM item_bodies WHERE id = ?");
    const int code = query.bind(body_key(queue, item)).step();
    if (code == SQLITE_DONE) continue;
    if (code != SQLITE_ROW) return tl::unexpected((*database)->error());
    found.emplace(item, query.bytes(0));
  }
  return found;
}

Result<uint64_t> SqliteHistory::count() { return static_cast<uint64_t>(count_.load()); }

template <class Ask>
auto SqliteHistory::on_loan(const Ask& ask) -> decltype(ask(std::declval<Database&>())) {
  auto database = borrow();
  if (!database) return tl::unexpected(database.error());
  return ask(**database);
}

Result<KeptWorkflow> SqliteHistory::workflow(WorkflowId id) {
  return on_loan([&](Database& database) { return read_workflow(database, id); });
}

Result<std::vector<KeptWorkflow>> SqliteHistory::workflows(const WorkflowFilter& filter,
                                                           WorkflowId before, size_t max) {
  return on_loan([&](Database& database) { return read_workflows(database, filter, before, max); });
}

Result<std::vector<KeptStep>> SqliteHistory::steps(WorkflowId id, uint32_t first, size_t max) {
  return on_loan([&](Database& database) { return read_steps(database, id, first, max); });
}

Result<std::vector<core::StepKind>> SqliteHistory::step_kinds(WorkflowId id) {
  return on_loan([&](Database& database) { return read_kinds(database, id); });
}

Result<std::string> SqliteHistory::step_bytes(core::StepRef step, bool recipe) {
  return on_loan([&](Database& database) -> Result<std::string> {
    const auto blob = step_blob(database, step, recipe);
    if (!blob) return tl::unexpected(blob.error());
    return read_blob(database, *blob, "bytes of that step");
  });
}

Result<std::string> SqliteHistory::workflow_files(WorkflowId id) {
  return on_loan([&](Database& database) { return read_files(database, id); });
}

Result<std::vector<FileVersion>> SqliteHistory::versions(NamespaceId ns, const std::string& name) {
  return on_loan([&](Database& database) { return read_versions(database, ns, name); });
}

Result<std::optional<core::StepRef>> SqliteHistory::cached(NamespaceId ns, const Digest& key) {
  return on_loan([&](Database& database) { return read_cached(database, ns, key); });
}

Result<std::vector<FedOutput>> SqliteHistory::fed_outputs(core::StepRef step, JobId after,
                                                          size_t max) {
  return on_loan([&](Database& database) { return read_fed_outputs(database, step, after, max); });
}

Result<std::string> read_payload(Database& database, JobId job) {
  Query query = database.query(
      "SELECT blobs.bytes FROM payloads JOIN blobs ON blobs.id = payloads.blob WHERE payloads.job "
      "= ?");
  const int code = query.bind(static_cast<int64_t>(job.value)).step();
  if (code == SQLITE_DONE) return fail(ErrorCode::not_found, "no payload of job " + to_string(job));
  if (code != SQLITE_ROW) return tl::unexpected(database.error());
  return std::string(query.bytes(0));
}

}  // namespace atl::journal
