// A server that answers what a test says, and the program run against it.
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <sstream>

#include "cli/verbs.h"
#include "http/test_support.h"

namespace atl::cli::testing {

inline http::Response json(std::string body, int status = 200) {
  return {
      .status = status, .content_type = "application/json", .body = std::move(body), .headers = {}};
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

class TestServer {
 public:
  using Answer = std::function<http::Response(const http::Request&)>;

  TestServer& on(std::string_view method, std::string_view pattern, Answer answer) {
    router_.add(method, pattern,
                [this, answer = std::move(answer)](std::shared_ptr<http::Exchange> exchange) {
                  note(exchange->request());
                  exchange->respond(answer(exchange->request()));
                });
    return *this;
  }
  TestServer& on(std::string_view method, std::string_view pattern, std::string body,
                 int status = 200) {
    return on(method, pattern, [body, status](const http::Request&) { return json(body, status); });
  }
  TestServer& handle(std::string_view method, std::string_view pattern, http::Handler handler) {
    router_.add(method, pattern, std::move(handler));
    return *this;
  }
  void start() { server_ = http::testing::start_server(std::move(router_)); }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->tcp_port()); }
  Target target() const {
    Target target;
    target.url = url();
    return target;
  }
  Ran run(std::vector<std::string> args) const {
    std::ostringstream out;
    std::ostringstream err;
    args.insert(args.begin(), {"--url", url()});
    const int code = run_args(std::move(args), {}, out, err);
    return {code, out.str(), err.str()};
  }
  // "POST /api/v1/jobs {…}" in the order they came.
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void note(const http::Request& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request.method + " " + request.target +
                        (request.body.empty() ? "" : " " + request.body));
  }

  http::Router router_;
  std::unique_ptr<http::Server> server_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
};

inline Ran run_offline(std::vector<std::string> args) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = run_args(std::move(args), {}, out, err);
  return {code, out.str(), err.str()};
}

}  // namespace atl::cli::testing
