#include "bin/notifier.h"

#include <spdlog/spdlog.h>
#include <sys/wait.h>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdio>

#include "base/time.h"
#include "http/client.h"

namespace atl::bin {
namespace {

constexpr int kTries = 3;
constexpr std::chrono::seconds kPause{2};
constexpr std::chrono::seconds kTimeout{10};

std::string subject(const core::Notice& notice) {
  return "job " + to_string(notice.job) + " " + notice.job_name + " " + enum_name(notice.outcome);
}

Result<void> post_webhook(const core::Notice& notice) {
  const auto url = http::Url::parse(notice.target.webhook);
  if (!url) return tl::unexpected(url.error());
  http::Client client(*url);
  http::Call call;
  call.method = "POST";
  call.target = url->target;
  call.timeout = kTimeout;
  call.headers.set("Content-Type", "application/json");
  call.body = boost::json::serialize(boost::json::value{{"job", notice.job.value},
                                                        {"name", notice.job_name},
                                                        {"namespace", notice.ns},
                                                        {"outcome", enum_name(notice.outcome)},
                                                        {"message", notice.message},
                                                        {"ended", format_time(notice.ended)}});
  const auto answer = client.send(call);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status >= 200 && answer->status < 300) return {};
  return fail(ErrorCode::unavailable, "the webhook answered " + std::to_string(answer->status));
}

// The command is the administrator's, run by the shell; the address only ever reaches it as a
// header line.
Result<void> send_mail(const std::string& command, const core::Notice& notice) {
  if (command.empty()) return fail(ErrorCode::unavailable, "no mail_command is configured");
  if (notice.target.mail.find_first_of("\r\n") != std::string::npos)
    return fail(ErrorCode::invalid, "bad mail address");
  FILE* pipe = popen(command.c_str(), "we");
  if (!pipe) return fail(ErrorCode::unavailable, "cannot start the mail command");
  std::fprintf(pipe, "To: %s\nSubject: [atoll] %s\n\nJob %s of namespace %s %s at %s%s%s.\n",
               notice.target.mail.c_str(), subject(notice).c_str(), to_string(notice.job).c_str(),
               notice.ns.c_str(), enum_name(notice.outcome), format_time(notice.ended).c_str(),
               notice.message.empty() ? "" : ": ", notice.message.c_str());
  const int status = pclose(pipe);
  if (status == 0) return {};
  return fail(ErrorCode::unavailable,
              "the mail command ended with status " + std::to_string(WEXITSTATUS(status)));
}

}  // namespace

Notifier::Notifier(std::string mail_command, std::function<void(core::Report)> report)
    : mail_command_(std::move(mail_command)),
      report_(std::move(report)),
      thread_([this] { run(); }) {}

Notifier::~Notifier() { stop(); }

void Notifier::send(const core::Notice& notice) {
  std::lock_guard lock(mutex_);
  if (!under_way_.insert(notice.id).second) return;
  queue_.push_back(notice);
  wake_.notify_one();
}

void Notifier::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Notifier::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const core::Notice notice = queue_.front();
    queue_.pop_front();
    lock.unlock();
    const core::NoticeReported reported = deliver(notice);
    lock.lock();
    under_way_.erase(notice.id);
    if (!stopping_) report_(reported);
  }
}

core::NoticeReported Notifier::deliver(const core::Notice& notice) {
  Result<void> done;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    done = notice.target.webhook.empty() ? send_mail(mail_command_, notice) : post_webhook(notice);
    if (done) return {notice.id, true, ""};
    std::unique_lock lock(mutex_);
    if (attempt + 1 < kTries &&
        wake_.wait_for(lock, kPause * (attempt + 1), [&] { return stopping_; }))
      break;
  }
  spdlog::warn("the notice of job {} was not delivered: {}", to_string(notice.job),
               done.error().message);
  return {notice.id, false, done.error().message};
}

}  // namespace atl::bin
