// One thread of the server: an event loop, the connections that live on it, and its mailbox.
// Internal.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "http/body_hold.h"
#include "http/server.h"
#include "http/socket.h"
#include "http/tls.h"

namespace atl::http {

class Session;

using SteadyTime = std::chrono::steady_clock::time_point;

// How other threads reach a worker. It outlives the worker, so an answer that comes after the
// server has stopped is dropped instead of touching a dead loop. Many letters posted at once cost
// one wake-up.
class Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& loop) : loop_(&loop) {}

  // False when the worker has ended; the letter is then destroyed unread.
  bool post(std::function<void()> letter);
  void close();

  bool on_own_thread() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  void set_owner() { owner_.store(std::this_thread::get_id(), std::memory_order_relaxed); }

 private:
  void deliver();

  std::atomic<std::thread::id> owner_{};

  // Under mutex_.
  std::mutex mutex_;
  boost::asio::io_context* loop_;
  std::vector<std::function<void()>> letters_;
  bool woken_ = false;
};

// What all workers share, constant while they run but for the counters.
struct Shared {
  ServerOptions options;
  Router router;
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> refused{0};
  BodyBytes bodies_bytes = std::make_shared<std::atomic<std::uint64_t>>(0);
};

class Worker {
 public:
  Worker(std::shared_ptr<Shared> shared, std::size_t index);
  ~Worker();

  void start();
  void join();

  // From any thread.
  void adopt(UniqueFd fd, SSL_CTX* tls);
  void begin_stop(std::chrono::milliseconds grace);
  Mailbox& mailbox() { return *mailbox_; }
  std::uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }

  // From the worker's own thread.
  boost::asio::io_context& loop() { return loop_; }
  const std::shared_ptr<Mailbox>& shared_mailbox() const { return mailbox_; }
  Shared& shared() { return *shared_; }
  const Limits& limits() const { return shared_->options.limits; }
  bool stopping() const { return stopping_; }
  SteadyTime now() const;
  std::string_view date();
  std::string next_request_id();
  void count_request() { requests_.store(requests() + 1, std::memory_order_relaxed); }
  void remove(const std::shared_ptr<Session>& session);

 private:
  void run();
  void sweep();
  void schedule_sweep();
  void end_if_idle();
  std::vector<std::shared_ptr<Session>> session_list() const;

  std::shared_ptr<Shared> shared_;
  std::atomic<std::uint64_t> requests_{0};
  boost::asio::io_context loop_{1};
  std::shared_ptr<Mailbox> mailbox_;
  std::thread thread_;

  // Touched by the worker's thread only.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> keep_running_;
  boost::asio::steady_timer sweep_timer_;
  std::chrono::milliseconds sweep_interval_;
  std::unordered_set<std::shared_ptr<Session>> sessions_;
  bool stopping_ = false;
  SteadyTime stop_deadline_{};
  std::int64_t date_second_ = -1;
  std::string date_;
  std::string id_prefix_;
  std::uint64_t id_counter_ = 0;
};

}  // namespace atl::http
