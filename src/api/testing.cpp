#include "api/testing.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "http/target.h"

namespace atl::api {

Result<site::LogChunk> TestDriver::logs(AttemptId attempt, site::LogStream stream, int64_t offset,
                                        size_t max) {
  if (stream == site::LogStream::err) return site::LogChunk{};
  const auto it = output.find(attempt);
  if (it == output.end()) return fail(ErrorCode::not_found, "there is no such log");
  const int64_t size = static_cast<int64_t>(it->second.size());
  const int64_t from = std::min(offset, size);
  return site::LogChunk{from, it->second.substr(static_cast<size_t>(from), max), size};
}

std::vector<std::optional<site::Progress>> TestDriver::progress(
    std::span<const AttemptId> attempts) {
  std::vector<std::optional<site::Progress>> found;
  for (const AttemptId attempt : attempts) {
    const auto it = told.find(attempt);
    found.push_back(it == told.end() ? std::nullopt : std::optional(it->second));
  }
  return found;
}

bool TestStream::write(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (open_) bytes_ += bytes;
  return open_;
}

void TestStream::close() {
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    open_ = false;
    callback = std::move(close_);
    writable_ = nullptr;
  }
  if (callback) callback();
}

bool TestStream::is_open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

void TestStream::on_close(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  close_ = close_ ? [first = std::move(close_), second = std::move(callback)] { first(), second(); }
                  : std::move(callback);
}

std::string TestStream::text() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void ApiTest::SetUp() {
  runtime = std::make_unique<runtime::Runtime>(clock, journal, journal);
  runtime->add_driver("local", driver);
  service_options.server_uid = 77;
  char kept[] = "/tmp/atoll-api-XXXXXX";
  service_options.cloudmesh = kept_directory = mkdtemp(kept);
  service_options.threads = 0;
  service_options.slow_threads = 0;
  service_options.now = [this] { return clock.time; };
  vault = std::make_unique<auth::Vault>(kept_directory + "/secrets.key");
  service_options.vault = vault.get();
  service_options.backup = [this](const std::string&) -> Result<void> {
    backed_up = true;
    return {};
  };
  service = std::make_unique<Service>(*runtime, journal, journal, service_options);
  ASSERT_TRUE(runtime->open());
  service->ready();
  service->mount(router);
  const auto command = [&](core::Command what) {
    runtime->post(
        {{core::Actor{UserId{1}, false, {}, {}}, std::move(what)}, {}},
        [](Result<runtime::Accepted> done) { ASSERT_TRUE(done) << done.error().message; });
    settle();
  };
  command(core::CreateUser{"root", true, 0});
  command(core::AddSite{"local", "test"});
  command(core::CreateNamespace{"default", ""});
  command(core::CreateNamespace{"other", ""});
  for (const auto& [name, uid] : {std::pair("ada", 1000u), std::pair("boss", 1001u),
                                  std::pair("watcher", 1002u), std::pair("rival", 1003u)}) {
    command(core::CreateUser{name, false, uid});
  }
  command(core::SetMember{"default", "ada", core::Role::member});
  command(core::SetMember{"default", "boss", core::Role::admin});
  command(core::SetMember{"default", "watcher", core::Role::viewer});
  command(core::SetMember{"other", "rival", core::Role::admin});
  runtime->adopt();
  settle();
}

void ApiTest::TearDown() {
  service->stop();
  runtime.reset();
  service.reset();
  std::filesystem::remove_all(kept_directory);
}

void ApiTest::settle() {
  for (int i = 0; i < 1000 && runtime->step(); ++i) {
  }
}

std::shared_ptr<TestExchange> ApiTest::send(const Ask& ask) {
  auto exchange = std::make_shared<TestExchange>();
  http::Request& request = exchange->asked;
  request.method = ask.method;
  request.target = ask.target;
  request.headers = ask.headers;
  request.body = ask.body;
  request.id = "test-request";
  if (!ask.token.empty()) request.headers.add("Authorization", "Bearer " + ask.token);
  request.peer.unix_socket = ask.uid.has_value();
  request.peer.uid = ask.uid.value_or(0);
  const auto target = http::parse_target(request.target);
  EXPECT_TRUE(target) << ask.target;
  if (!target) return exchange;
  request.path = target->path;
  request.query = target->query;
  const auto match = router.match(request.method, target->raw_path);
  EXPECT_TRUE(match.route) << ask.method << " " << ask.target;
  if (!match.route) return exchange;
  request.params = match.params;
  match.route->handler(exchange);
  for (int i = 0; i < 2000 && !exchange->answered; ++i) {
    if (!runtime->step()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(exchange->answered) << ask.method << " " << ask.target;
  settle();
  return exchange;
}

std::string ApiTest::token_of(const std::string& user, const std::string& options) {
  const std::map<std::string, uint32_t> uids{
      {"root", 0}, {"ada", 1000}, {"boss", 1001}, {"watcher", 1002}, {"rival", 1003}};
  const auto made =
      send({.method = "POST", .target = "/api/v1/tokens", .body = options, .uid = uids.at(user)});
  EXPECT_EQ(made->response.status, 201) << made->response.body;
  const std::string& body = made->response.body;
  const size_t at = body.find("\"token\":\"") + 9;
  return body.substr(at, body.find('"', at) - at);
}

http::Response ApiTest::as(const std::string& user, const std::string& method,
                           const std::string& target, const std::string& body,
                           http::Headers headers) {
  auto [at, fresh] = tokens.try_emplace(user);
  if (fresh) at->second = token_of(user);
  return send({.method = method,
               .target = target,
               .body = body,
               .token = at->second,
               .headers = std::move(headers)})
      ->response;
}

std::string ApiTest::submit(const std::string& user, const std::string& json) {
  const http::Response response = as(user, "POST", "/api/v1/jobs", json);
  EXPECT_EQ(response.status, 201) << response.body;
  const size_t at = response.body.find("\"id\":\"") + 6;
  return response.body.substr(at, response.body.find('"', at) - at);
}

namespace {

AttemptId running(const TestDriver& driver, const std::string& id, uint32_t index) {
  AttemptId found;
  for (const site::StartOrder& order : driver.started) {
    if (to_string(order.attempt.job) == id && order.attempt.index == index) found = order.attempt;
  }
  EXPECT_TRUE(found.job) << id << " was not started";
  return found;
}

}  // namespace

void ApiTest::start(const std::string& id, uint32_t index) {
  runtime->post(core::AttemptStarted{running(*driver, id, index), clock.time});
  settle();
}

void ApiTest::end(const std::string& id, int exit_code, uint32_t index) {
  core::AttemptResult result;
  result.exit_code = exit_code;
  result.usage.started = clock.time;
  clock.time = clock.time + seconds(1);
  result.usage.ended = clock.time;
  runtime->post(core::AttemptEnded{running(*driver, id, index), result});
  settle();
}

}  // namespace atl::api
