// What a task costs in the core when no process is started and the journal (SQLite, synchronous
// full) is on: submission of a million array tasks and of a million separate jobs, the whole life
// of a task, and the same again after a long history.
#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/wire.h"
#include "journal/sqlite_journal.h"
#include "runtime/runtime.h"

namespace atl {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Ends every attempt the moment it starts; keeps no process and no log.
class InstantDriver : public site::SiteDriver {
 public:
  explicit InstantDriver(int64_t cores) : cores_(cores) {}
  void adopt(std::vector<AttemptId>, site::ReportSink sink) override {
    sink_ = std::move(sink);
    sink_(core::SiteProbed{"local", {{{"n1", cores_ * 1000, int64_t{1} << 40, {}}}, {}}});
  }
  void start(std::vector<site::StartOrder> orders) override {
    for (const auto& order : orders) sink_(core::AttemptEnded{order.attempt, {}});
  }
  void stop(std::vector<site::StopOrder>) override {}
  void forget(std::vector<AttemptId>) override {}
  Result<site::LogChunk> logs(AttemptId, site::LogStream, int64_t, size_t) override {
    return site::LogChunk{};
  }
  Result<site::ExecResult> exec(const site::ExecRequest&) override { return site::ExecResult{}; }
  std::string job_directory(JobId) override { return {}; }
  void purge(JobId) override {}
  void close() override {}

 private:
  int64_t cores_;
  site::ReportSink sink_;
};

class Bench {
 public:
  explicit Bench(int64_t cores) {
    char pattern[] = "/tmp/atoll-bench-XXXXXX";
    home_ = mkdtemp(pattern);
    auto opened = journal::SqliteJournal::open(home_ + "/home");
    CHECK(opened.has_value(), opened.error().message);
    journal_ = std::move(*opened);
    runtime_ = std::make_unique<runtime::Runtime>(clock_, *journal_, journal_->history());
    runtime_->add_driver("local", std::make_shared<InstantDriver>(cores));
    CHECK(runtime_->open().has_value(), "open");
    ask(core::CreateUser{"root", true, 0}, UserId{});
    ask(core::CreateNamespace{"lab", ""});
    ask(core::AddSite{"local", "simulated"});
    runtime_->adopt();
    drain();
  }
  ~Bench() {
    runtime_.reset();
    journal_.reset();
    std::filesystem::remove_all(home_);
  }

  void ask(core::Command command, UserId by = UserId{1}, std::vector<journal::Blob> blobs = {}) {
    runtime_->post({{core::Actor{by, false, {}}, std::move(command)}, std::move(blobs)},
                   [](Result<runtime::Accepted> r) { CHECK(r.has_value(), r.error().message); });
  }
  void drain() {
    while (runtime_->step()) {
    }
  }

  // `count` jobs in requests of 1,000, each with a command and a name of its own.
  void submit_jobs(uint64_t count, bool held) {
    for (uint64_t done = 0; done < count; done += 1000) {
      core::SubmitJobs batch;
      std::vector<journal::Blob> blobs;
      for (uint64_t i = done; i < std::min(count, done + 1000); ++i) {
        core::SubmitJob job = plain_job("job-" + std::to_string(i), held);
        core::Payload payload;
        payload.argv = {"python3", "train.py", "--seed", std::to_string(i)};
        payload.directory = "/home/someone/project";
        std::memcpy(job.payload.bytes.data(), &++digest_, sizeof digest_);
        blobs.push_back({job.payload, wire::encode(payload)});
        batch.jobs.push_back(std::move(job));
      }
      ask(std::move(batch), UserId{1}, std::move(blobs));
      runtime_->step();
    }
    drain();
  }
  void submit_array(uint32_t size) {
    core::SubmitJob job = plain_job("array", false);
    job.array = true;
    job.indices = IntervalSet({1, size});
    ask(core::SubmitJobs{{job}});
  }
  runtime::Runtime& runtime() { return *runtime_; }

 private:
  static core::SubmitJob plain_job(std::string name, bool held) {
    core::SubmitJob job;
    job.ns = "lab";
    job.name = std::move(name);
    job.terms.resources.cpu_milli = 1000;
    job.indices = IntervalSet({0, 0});
    job.held = held;
    return job;
  }

  SystemClock clock_;
  std::string home_;
  std::unique_ptr<journal::SqliteJournal> journal_;
  std::unique_ptr<runtime::Runtime> runtime_;
  uint64_t digest_ = 0;
};

int64_t heap_bytes() { return static_cast<int64_t>(mallinfo2().uordblks); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void report(const char* what, const char* unit, double value, const char* bar) {
  std::printf("%-58s %12.2f %-10s bar %s\n", what, value, unit, bar);
  std::fflush(stdout);
}

}  // namespace
}  // namespace atl

int main(int argc, char** argv) {
  using namespace atl;
  const uint64_t million = argc > 1 ? std::stoull(argv[1]) : 1'000'000;
  const int64_t slots = argc > 2 ? std::stoll(argv[2]) : 1000;  // one commit carries that many
  std::printf("%lu tasks, %ld at a time\n", million, slots);
  {
    Bench bench(slots);
    report("an array of a million tasks queued", "s", seconds_of([&] {
             bench.submit_array(static_cast<uint32_t>(million));
             bench.runtime().step();
           }),
           "< 1");
    const double spent = seconds_of([&] { bench.drain(); });
    report("core per array task: placed, ended, archived, durable", "us",
           spent * 1e6 / static_cast<double>(million), "<= 10");
  }
  {
    Bench bench(slots);
    const int64_t before = heap_bytes();
    report("a million separate jobs queued", "s",
           seconds_of([&] { bench.submit_jobs(million, true); }), "< 10");
    report("memory per queued job", "bytes",
           static_cast<double>(heap_bytes() - before) / static_cast<double>(million), "<= 512");
  }
  {
    // Side by side, because the machine's own speed changes over the minutes that this takes.
    Bench young(slots);
    Bench old(slots);
    young.submit_jobs(1000, false);
    old.submit_jobs(million, false);
    std::vector<double> ratios, costs;
    for (int i = 0; i < 15; ++i) {
      const double early = seconds_of([&] { young.submit_jobs(10'000, false); });
      const double late = seconds_of([&] { old.submit_jobs(10'000, false); });
      costs.push_back(late * 1e6 / 10'000);
      ratios.push_back(early / late);
    }
    report("core per separate job: submitted to archived", "us", median(costs), "<= 10");
    report("throughput after the million against after a thousand", "ratio", median(ratios),
           ">= 0.95");
  }
  return 0;
}
