// The loop: inputs are decided and applied in memory, made durable by one commit, and only then
// answered, shown and sent to sites. One thread owns the state; everyone else posts to it.
//
//   post(request) ─┐                                                    ┌─▶ replies, subscribers
//   post(report)  ─┼─▶ queue ─▶ decide ─▶ apply ─▶ … ─▶ tick ─▶ commit ─┼─▶ sites
//   read(query)   ─┘                                                    └─▶ reads, on the state
//   that is now durable
//
// When a commit fails, its callers are refused, the state is rebuilt from what is durable, and the
// runtime is read-only until a trial write succeeds; reports are kept and decided again.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/time.h"
#include "core/core.h"
#include "journal/journal.h"
#include "runtime/aside.h"
#include "runtime/payload_cache.h"
#include "site/driver_table.h"

namespace atl::runtime {

// What a command became, handed over once it is durable.
struct Accepted {
  core::Events events;  // those the command itself decided, without what a tick added
  std::vector<JobId>
      jobs;  // of a submission, in its order; those of the first one when the key was known
  bool repeated = false;  // the idempotency key was known: nothing was done again
  uint64_t sequence = 0;
};
using Reply = std::function<void(Result<Accepted>)>;

// Asked of the very state that the command is decided on.
using Precondition = std::function<Result<void>(const core::State& state)>;

struct Submission {
  core::Request request;
  std::vector<journal::Blob> blobs;      // of payloads that SubmitJobs names
  Precondition precondition;             // none: always met
  std::vector<std::string> bodies = {};  // of the items of PutItems, in their order
};

// Called on the runtime's thread after each commit, in order.
using CommitListener = std::function<void(uint64_t sequence, const core::Events& events)>;
using Read = std::function<void(const core::State& state)>;

// Carries out notices (webhook, mail); reports back through post(report).
using NoticeSender = std::function<void(const core::Notice&)>;

// Makes what steps and schedules run and looks at what steps left, off this thread; reports back
// through post(report).
struct Steward {
  std::function<void(const core::PrepareStep&)> prepare;
  std::function<void(const core::CollectStep&)> collect;
  std::function<void(const core::TimeSchedule&)> time;
  std::function<void(const core::OpenRun&)> open;
};

// The secret of a namespace that a payload names; called on the runtime's thread.
using SecretOpener = std::function<Result<std::string>(const core::State& state, NamespaceId ns,
                                                       const std::string& reference)>;

struct Options {
  size_t inputs_per_turn = 4096;    // bounds the size of one commit
  Duration turn = milliseconds(5);  // and the time spent deciding before one
  uint32_t ticks_per_turn = 8;
  Duration trial_pause = seconds(1);  // between trial writes while read-only
  size_t queue_max = 200'000;         // requests beyond are refused with `exhausted`
};

struct Health {
  bool read_only = false;
  std::string why;
  std::string damage;  // what loading the journal passed over, as sentences for the log
  uint64_t sequence = 0;
  uint64_t turns = 0;
  uint64_t events = 0;
  Duration longest_turn;  // of the threaded loop: what a request may have to wait for
  size_t queued = 0;
};

class Runtime {
 public:
  Runtime(Clock& clock, journal::Journal& journal, journal::History& history, Options options = {});
  ~Runtime();

  // Before adopt(). The driver serves the site of that name once the state has one.
  void add_driver(const std::string& site, std::shared_ptr<site::SiteDriver> driver);
  // From any thread, while it runs: the driver of a site that was added, which is asked at once
  // what runs there. Nothing happens when that site is gone by then.
  void attach(SiteId id, std::shared_ptr<site::SiteDriver> driver);
  // Those that serve now. Whoever takes one out closes it.
  site::DriverTable& drivers() { return drivers_; }
  void set_notice_sender(NoticeSender sender);
  void set_steward(Steward steward);
  void set_secret_opener(SecretOpener opener);
  void on_commit(CommitListener listener);
  // Called once per turn on the runtime's thread, after the commit; for bounded upkeep such as
  // compaction.
  void on_turn(std::function<void()> upkeep);

  // Loads the state; does not yet talk to sites.
  [[nodiscard]] Result<void> open();
  // Repeats what a crash may have swallowed and asks every site what really runs.
  void adopt();

  // From any thread. Replies and reads run on the runtime's thread: they hand over and return.
  void post(Submission submission, Reply reply);
  // `blobs`: of payloads that the report names.
  void post(core::Report report, std::vector<journal::Blob> blobs = {});
  void read(Read read);

  // One turn on the calling thread; true when there was anything to do. The simulator calls this
  // directly.
  bool step();
  // When step() next has something to do by itself; zero: only when something is posted.
  Time next_wake() const;

  // The loop on a thread of its own.
  void start();
  void stop();

  // On the runtime's thread, or when it does not run.
  const core::State& state() const { return state_; }
  // Begins work in a copy of the process, on the same thread. The state that the copy sees is its
  // own: the work may change it.
  [[nodiscard]] Result<std::shared_ptr<Copy>> begin_aside(
      Aside& aside, const std::function<std::string(core::State& own)>& work) {
    return aside.begin([&] { return work(state_); });
  }
  // Looks up what decide may not: ended dependencies, ended jobs to requeue. On the same thread.
  [[nodiscard]] Result<void> complete(core::Request& request);
  Health health() const;  // from any thread

 private:
  struct PendingRequest {
    Submission submission;
    Reply reply;
  };
  struct PendingReport {
    core::Report report;
    std::vector<journal::Blob> blobs;
  };
  using Pending = std::variant<PendingRequest, PendingReport>;
  struct Answer {
    Reply reply;
    Result<Accepted> result;
  };
  // One turn's work between taking inputs and the commit.
  struct Turn {
    Time now;
    journal::Batch batch;
    core::Effects outward;
    std::vector<Answer> answers;
    std::vector<PendingReport> reports;  // decided in this turn, kept until it is durable
    std::map<std::pair<UserId, std::string>, JobId> keys;
    std::set<JobId> ended;         // in this turn, so history does not have them yet
    uint64_t items = 0;            // of queues that its events are about
    std::vector<AttemptId> stale;  // ended attempts whose report no longer matters
  };

  std::deque<Pending> take_inputs();
  std::deque<Read> take_reads();
  // Whether the input asks about a job that this very turn has ended: it must wait for the commit.
  static bool ahead_of_history(const Turn& turn, const Pending& pending);
  void decide_input(Turn& turn, Pending pending);
  void decide_request(Turn& turn, PendingRequest pending);
  void decide_report(Turn& turn, PendingReport pending);
  static void keep_bodies(Turn& turn, const core::Events& events, std::vector<std::string> bodies);
  void tick(Turn& turn);
  void absorb(Turn& turn, core::Events events);
  bool commit(Turn& turn);
  void refuse(Turn& turn, const Error& error);
  void adopt_site(SiteId id, site::SiteDriver& driver);
  void recover();
  void send(core::Effects effects);
  site::StartOrder start_order(const core::StartAttempt& effect);
  // Puts the secrets that it names into its variables: only now, so that no journal holds them.
  [[nodiscard]] Result<void> add_secrets(NamespaceId ns, core::Payload& payload);
  [[nodiscard]] Result<core::Payload> payload(TaskId task, const Digest& digest);
  [[nodiscard]] Result<core::Payload> fed_payload(const core::Feed& feed, JobId job,
                                                  const core::Payload& shared);
  bool run_reads();
  void run_upkeep();
  bool note_turn(Duration took);  // whether the server is read-only after it
  void wait();
  Time advance_clock();

  // Looks up what decide may not: known keys.
  std::optional<Digest> payload_of(JobId id);
  [[nodiscard]] Result<void> complete_retry(core::RetryWorkflow& retry);
  [[nodiscard]] Result<std::vector<JobId>> known_keys(const Turn& turn,
                                                      const core::Request& request);

  // Set up before the loop runs.
  Clock& clock_;
  journal::Journal& journal_;
  journal::History& history_;
  const Options options_;
  NoticeSender notice_sender_;
  Steward steward_;
  SecretOpener secret_opener_;
  std::vector<CommitListener> listeners_;
  std::vector<std::function<void()>> upkeep_;
  bool upkeep_owed_ = false;

  // Touched by the runtime's thread only.
  core::State state_;
  uint64_t sequence_ = 0;
  Time last_now_;   // what the core was told
  Time ticked_;     // at the last tick
  Time last_wall_;  // what the clock said by then
  bool tick_due_ = true;
  Time trial_at_;
  PayloadCache payloads_;

  // Shared, with a lock of its own.
  site::DriverTable drivers_;

  // Shared, under mutex_.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Pending> inputs_;
  std::deque<Read> reads_;
  bool stopping_ = false;
  Health health_;

  std::thread thread_;
};

}  // namespace atl::runtime
