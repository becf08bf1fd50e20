// A server on a free port, a raw client that sees every byte, and a temporary directory.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "http/client.h"
#include "http/server.h"
#include "http/socket.h"

namespace atl::http::testing {

using namespace std::chrono_literals;

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll-http-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// Generous, because it only bounds how long a broken test hangs.
inline Deadline patience() { return std::chrono::steady_clock::now() + 20s; }

class RawClient {
 public:
  explicit RawClient(std::uint16_t port)
      : fd_(connect_tcp("127.0.0.1", port, patience()).value()) {}

  // False when the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && (errno != EAGAIN || !wait_for(fd_.get(), POLLOUT, patience()))) return false;
    }
    return true;
  }
  void finish_sending() { ::shutdown(fd_.get(), SHUT_WR); }
  void reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    fd_ = UniqueFd();
  }

  // Bytes up to and including `mark`; what was got when the connection ends before.
  std::string read_until(std::string_view mark) {
    std::size_t searched = 0, at = 0;
    while ((at = held_.find(mark, searched)) == std::string::npos) {
      searched = held_.size() - std::min(held_.size(), mark.size());
      if (!read_more()) return std::exchange(held_, {});
    }
    const std::size_t end = at + mark.size();
    std::string out = held_.substr(0, end);
    held_.erase(0, end);
    return out;
  }
  std::string read_to_end() {
    while (read_more()) continue;
    return std::exchange(held_, {});
  }
  std::string read_bytes(std::size_t count) {
    while (held_.size() < count && read_more()) continue;
    std::string out = held_.substr(0, count);
    held_.erase(0, out.size());
    return out;
  }
  int fd() const { return fd_.get(); }

 private:
  bool read_more() {
    if (!wait_for(fd_.get(), POLLIN, patience())) return false;
    char bytes[16384];
    const auto got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
    if (got > 0) held_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }

  UniqueFd fd_;
  std::string held_;
};

class Signal {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, patience(), [this] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

inline std::unique_ptr<Server> start_server(Router router, Limits limits = {}) {
  ServerOptions options;
  options.tcp_listeners = {TcpListener{}};
  options.limits = limits;
  auto server = Server::start(std::move(options), std::move(router));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

inline Response text(std::string body) {
  return {.status = 200, .content_type = "text/plain", .body = std::move(body), .headers = {}};
}

// A router with an echo of whatever was asked for.
inline Router echo_router() {
  Router router;
  auto echo = [](std::shared_ptr<Exchange> exchange) {
    const Request& request = exchange->request();
    exchange->respond(text(request.method + " " + request.path + " " + request.body));
  };
  router.add("GET", "/echo/{name}", echo);
  router.add("POST", "/echo/{name}", echo);
  router.add("POST", "/tiny", echo, {.body_max = 1024});
  return router;
}

inline Client client_of(const Server& server) {
  return Client(Url::parse("http://127.0.0.1:" + std::to_string(server.tcp_port())).value());
}

inline std::string get(std::string_view target, std::string_view headers = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n";
}

}  // namespace atl::http::testing
