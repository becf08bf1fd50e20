#include "http/worker.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <ctime>
#include <random>

#include "http/response_head.h"
#include "http/session.h"

namespace atl::http {
namespace {

std::chrono::milliseconds sweep_interval(const Limits& limits) {
  using std::chrono::milliseconds;
  const auto shortest =
      std::min({limits.header_timeout, limits.body_timeout, limits.request_timeout,
                limits.idle_timeout, limits.write_timeout, limits.linger_timeout});
  return std::clamp(shortest / 4, milliseconds(10), milliseconds(1000));
}

// Ids differ between servers and restarts, so that logs put together stay unambiguous.
std::string make_id_prefix(std::size_t index) {
  static constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  std::random_device random;
  std::string prefix;
  for (int i = 0; i < 4; ++i) prefix += kDigits[random() % kDigits.size()];
  prefix += kDigits[index % kDigits.size()];
  return prefix + '-';
}

std::int64_t coarse_clock(clockid_t clock, std::int64_t& nanoseconds) {
  timespec time{};
  ::clock_gettime(clock, &time);
  nanoseconds = time.tv_nsec;
  return time.tv_sec;
}

}  // namespace

bool Mailbox::post(std::function<void()> letter) {
  const std::lock_guard lock(mutex_);
  if (!loop_) return false;
  letters_.push_back(std::move(letter));
  if (!std::exchange(woken_, true)) boost::asio::post(*loop_, [this] { deliver(); });
  return true;
}

void Mailbox::deliver() {
  std::vector<std::function<void()>> letters;
  {
    const std::lock_guard lock(mutex_);
    letters.swap(letters_);
    woken_ = false;
  }
  for (auto& letter : letters) {
    letter();
    letter = nullptr;
  }
}

void Mailbox::close() {
  std::vector<std::function<void()>> unread;
  // The system may give this thread's id to another one.
  owner_.store(std::thread::id(), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  loop_ = nullptr;
  unread.swap(letters_);
}

Worker::Worker(std::shared_ptr<Shared> shared, std::size_t index)
    : shared_(std::move(shared)),
      mailbox_(std::make_shared<Mailbox>(loop_)),
      keep_running_(loop_.get_executor()),
      sweep_timer_(loop_),
      sweep_interval_(sweep_interval(limits())),
      id_prefix_(make_id_prefix(index)) {}

Worker::~Worker() {
  mailbox_->close();
  join();
}

void Worker::start() {
  thread_ = std::thread([this] { run(); });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::run() {
  mailbox_->set_owner();
  schedule_sweep();
  loop_.run();
  mailbox_->close();
}

void Worker::adopt(UniqueFd fd, SSL_CTX* tls) {
  // std::function wants to be copyable, a descriptor does not.
  auto shared_fd = std::make_shared<UniqueFd>(std::move(fd));
  shared_->connections.fetch_add(1, std::memory_order_relaxed);
  const bool posted = mailbox_->post([this, shared_fd, tls] {
    if (stopping_) {
      shared_->connections.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    auto session = std::make_shared<Session>(*this, std::move(*shared_fd), tls);
    sessions_.insert(session);
    session->start();
  });
  if (!posted) shared_->connections.fetch_sub(1, std::memory_order_relaxed);
}

void Worker::begin_stop(std::chrono::milliseconds grace) {
  mailbox_->post([this, grace] {
    stopping_ = true;
    stop_deadline_ = now() + grace;
    for (const auto& session : session_list()) session->begin_stop();
    end_if_idle();
    sweep_interval_ = std::min(sweep_interval_, std::chrono::milliseconds(20));
    sweep_timer_.cancel();
  });
}

void Worker::remove(const std::shared_ptr<Session>& session) {
  if (sessions_.erase(session) == 0) return;
  shared_->connections.fetch_sub(1, std::memory_order_relaxed);
  end_if_idle();
}

void Worker::end_if_idle() {
  if (!stopping_ || !sessions_.empty()) return;
  keep_running_.reset();
  sweep_timer_.cancel();
}

// A copy, because telling a session may remove it, and others, from the set.
std::vector<std::shared_ptr<Session>> Worker::session_list() const {
  return {sessions_.begin(), sessions_.end()};
}

void Worker::schedule_sweep() {
  if (stopping_ && sessions_.empty()) return;
  sweep_timer_.expires_after(sweep_interval_);
  sweep_timer_.async_wait([this](boost::system::error_code) {
    sweep();
    schedule_sweep();
  });
}

void Worker::sweep() {
  const SteadyTime time = now();
  const bool cut = stopping_ && time >= stop_deadline_;
  std::vector<std::shared_ptr<Session>> due;
  for (const auto& session : sessions_) {
    if (cut || session->deadline() <= time) due.push_back(session);
  }
  for (const auto& session : due) {
    if (cut) {
      session->cut();
    } else {
      session->time_out();
    }
  }
}

SteadyTime Worker::now() const {
  std::int64_t nanoseconds = 0;
  const std::int64_t seconds = coarse_clock(CLOCK_MONOTONIC_COARSE, nanoseconds);
  return SteadyTime(std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanoseconds));
}

std::string_view Worker::date() {
  std::int64_t nanoseconds = 0;
  const std::int64_t second = coarse_clock(CLOCK_REALTIME_COARSE, nanoseconds);
  if (second != date_second_) {
    date_second_ = second;
    date_ = http_date(second);
  }
  return date_;
}

std::string Worker::next_request_id() {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, ++id_counter_, 32).ptr;
  std::string id = id_prefix_;
  id.append(digits, end);
  return id;
}

}  // namespace atl::http
