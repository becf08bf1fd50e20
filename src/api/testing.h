// The API without sockets: a real runtime over a journal in memory, a site that does what the test
// says, and requests that go through the real router.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/service.h"
#include "auth/vault.h"
#include "http/exchange.h"
#include "http/router.h"
#include "journal/memory_journal.h"
#include "runtime/runtime.h"
#include "site/driver.h"

namespace atl::api {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class TestClock : public Clock {
 public:
  Time now() override { return time; }
  Time time{seconds(1'790'000'000).us};
};

// A site with one node of 4 cores that runs nothing: the test reports what happens.
class TestDriver : public site::SiteDriver {
 public:
  void adopt(std::vector<AttemptId>, site::ReportSink sink_) override {
    sink = std::move(sink_);
    core::SiteReport report;
    report.nodes.push_back({"node1", 4000, int64_t{16} << 30, {}});
    sink(core::SiteProbed{"local", report});
  }
  void start(std::vector<site::StartOrder> orders) override {
    for (auto& order : orders) started.push_back(std::move(order));
  }
  void stop(std::vector<site::StopOrder> orders) override {
    for (const auto& order : orders) stopped.push_back(order.attempt);
  }
  void forget(std::vector<AttemptId>) override {}
  [[nodiscard]] Result<site::LogChunk> logs(AttemptId attempt, site::LogStream stream,
                                            int64_t offset, size_t max) override;
  std::vector<std::optional<site::Progress>> progress(std::span<const AttemptId> attempts) override;
  Result<site::ExecResult> exec(const site::ExecRequest& request) override {
    if (exec_error) return tl::unexpected(*exec_error);
    return site::ExecResult{3, request.argv.at(0), "\xff"};
  }
  std::string job_directory(JobId) override { return directory; }
  void purge(JobId) override {}
  void close() override {}
  std::map<std::string, std::string> node_trouble() override { return troubles; }

  std::map<std::string, std::string> troubles;
  site::ReportSink sink;
  std::vector<site::StartOrder> started;
  std::vector<AttemptId> stopped;
  std::map<AttemptId, std::string> output;
  std::map<AttemptId, site::Progress> told;
  std::string directory;
  std::optional<Error> exec_error;
};

class TestStream : public http::Stream {
 public:
  bool write(std::string_view bytes) override;
  void close() override;
  bool is_open() const override;
  void on_close(std::function<void()> callback) override;
  void on_writable(std::function<void()> callback) override { writable_ = std::move(callback); }
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::string bytes_;
  bool open_ = true;
  std::function<void()> close_, writable_;
};

struct TestExchange : http::Exchange {
  const http::Request& request() const override { return asked; }
  std::string take_body() override { return std::move(asked.body); }
  void respond(http::Response made) override {
    if (!answered.exchange(true)) response = std::move(made);
  }
  std::shared_ptr<http::Stream> stream(int status, http::Headers headers) override {
    response.status = status;
    response.headers = std::move(headers);
    streamed = std::make_shared<TestStream>();
    answered = true;
    return streamed;
  }
  http::Request asked;
  http::Response response;
  std::shared_ptr<TestStream> streamed;
  std::atomic<bool> answered{false};
};

struct Ask {
  std::string method = "GET";
  std::string target;
  std::string body = {};
  std::string token = {};  // a secret; empty: by account
  std::optional<uint32_t> uid = {};
  http::Headers headers = {};
};

// Users: root (platform administrator, uid 0), ada (member of default, uid 1000), boss (admin of
// default), watcher (viewer of default), rival (admin of another namespace, `other`).
class ApiTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::shared_ptr<TestExchange> send(const Ask& ask);  // and runs the loop until it is answered
  http::Response as(const std::string& user, const std::string& method, const std::string& target,
                    const std::string& body = {}, http::Headers headers = {});
  void settle();  // runs the loop until nothing is left to do
  std::string token_of(const std::string& user, const std::string& options = "{}");
  std::string submit(const std::string& user, const std::string& json);  // the id
  void start(const std::string& id, uint32_t index = 0);
  void end(const std::string& id, int exit_code, uint32_t index = 0);

  Options service_options;  // to be changed before SetUp
  std::string kept_directory;
  std::unique_ptr<auth::Vault> vault;
  TestClock clock;
  journal::MemoryJournal journal;
  std::shared_ptr<TestDriver> driver = std::make_shared<TestDriver>();
  std::unique_ptr<runtime::Runtime> runtime;
  std::unique_ptr<Service> service;
  http::Router router;
  std::map<std::string, std::string> tokens;
  bool backed_up = false;
};

}  // namespace atl::api
