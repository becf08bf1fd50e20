#include "cli/log_view.h"

#include <atomic>
#include <optional>
#include <thread>

#include "cli/display.h"
#include "cli/job_view.h"
#include "cli/selectors.h"
#include "cli/waiting.h"

namespace atl::cli {
namespace {

// Writes as the view says: bytes as they are, or whole lines.
class Output {
 public:
  Output(Console& console, const LogView& view)
      : lines_(view.prefix,
               [&console, fd = view.fd](std::string_view text) { console.write(fd, text); }),
        whole_lines_(!view.prefix.empty()),
        console_(console),
        fd_(view.fd) {}
  ~Output() { end(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view bytes) {
    whole_lines_ ? lines_.add(bytes) : console_.write(fd_, bytes);
  }
  void end() { lines_.end(); }

 private:
  PrefixedLines lines_;
  const bool whole_lines_;
  Console& console_;
  const int fd_;
};

// A note about the task; which one it is about is said where there are several.
void tell(Console& console, const LogView& view, const std::string& text) {
  console.note("atoll: " + (view.prefix.empty() ? "" : view.wish.id + ": ") + text);
}

// The last lines first; the stream then goes on exactly behind them.
Result<LogWish> begin_with_tail(Api& api, Output& output, const LogView& view) {
  LogWish wish = view.wish;
  if (view.tail < 0) return wish;
  const auto page = read_log(api, wish, view.tail);
  if (!page && page.error().code == ErrorCode::not_found) return wish;  // it has not started yet
  if (!page) return tl::unexpected(page.error());
  output.write(page->bytes);
  wish.after = page->attempt + "." + std::to_string(page->next_offset);
  return wish;
}

Result<Json> follow_view(const Target& target, Console& console, const LogView& view,
                         const std::function<bool()>& stop) {
  auto api = Api::open(target);
  if (!api) return tl::unexpected(api.error());
  Output output(console, view);
  auto wish = begin_with_tail(*api, output, view);
  if (!wish) return tl::unexpected(wish.error());
  LogSink sink;
  sink.bytes = [&](std::string_view bytes) { output.write(bytes); };
  sink.cut = [&](std::int64_t from, std::int64_t to) {
    tell(console, view, std::to_string(to - from) + " bytes of output are no longer kept");
  };
  sink.attempt = [&](std::int64_t number) {
    output.end();
    if (view.tell_attempts) tell(console, view, "attempt " + std::to_string(number));
  };
  sink.stop = [&] { return console.silent() || stop(); };
  return follow_log(*api, std::move(*wish), sink);
}

struct FirstTasks {
  std::vector<std::string> ids;
  std::string how_to_see_others;  // empty: there are none
};

// One page holds the lowest indices that have started, and all that wait.
Result<FirstTasks> first_tasks(Api& api, const Json& job) {
  const std::string id = job.text("id");
  const auto page = api.get(job_path(id) + "/tasks?limit=" + std::to_string(kTasksShown));
  if (!page) return tl::unexpected(page.error());
  IntervalSet all;
  add_task_indices(all, *page);
  FirstTasks first;
  for (const Interval range : all.ranges()) {
    for (std::uint64_t at = range.first; at <= range.last && first.ids.size() < kTasksShown; ++at)
      first.ids.push_back(id + "[" + std::to_string(at) + "]");
  }
  const bool more = page->has("next") || all.size() > first.ids.size();
  if (more) {
    first.how_to_see_others = "atoll: only the output of the first " + std::to_string(kTasksShown) +
                              " of " + job["tasks"].text("total") +
                              " tasks is shown; `atoll logs '" + id +
                              "[INDEX]'` shows that of another";
  }
  return first;
}

using TaskWork =
    std::function<Result<void>(const std::string& task, const std::function<bool()>& stop)>;

// Calls `work` for each task on up to kTasksAtOnce threads. The first failure goes to `failed` at
// once, keeps the rest from being begun and stops those that are.
bool each_task(const std::vector<std::string>& tasks, const TaskWork& work,
               const std::function<void(const std::string& task, const Error&)>& failed) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  const auto take = [&] {
    for (std::size_t at = next++; at < tasks.size() && !stopped; at = next++) {
      const auto done = work(tasks[at], [&] { return stopped.load(); });
      if (!done && !stopped.exchange(true)) failed(tasks[at], done.error());
    }
  };
  std::vector<std::thread> threads;
  while (threads.size() < std::min(kTasksAtOnce, tasks.size())) threads.emplace_back(take);
  for (std::thread& thread : threads) thread.join();
  return !stopped;
}

}  // namespace

std::string task_prefix(const std::string& task, bool color) {
  return paint(task + " |", Color::faint, color) + " ";
}

void PrefixedLines::add(std::string_view bytes) {
  std::string whole;
  const auto give = [&](std::string_view piece) {
    whole += prefix_ + rest_;
    whole += piece;
    whole += '\n';
    rest_.clear();
  };
  while (!bytes.empty()) {
    const std::size_t line = bytes.find('\n');
    const std::size_t room = kLineMax - rest_.size();
    if (std::min(line, bytes.size()) > room) {
      give(bytes.substr(0, room));
      bytes.remove_prefix(room);
    } else if (line == std::string_view::npos) {
      rest_ += bytes;
      break;
    } else {
      give(bytes.substr(0, line));
      bytes.remove_prefix(line + 1);
    }
  }
  if (!whole.empty()) write_(whole);
}

void PrefixedLines::end() {
  if (!rest_.empty()) add("\n");
}

Result<void> print_log(Api& api, Console& console, const LogView& view) {
  Output output(console, view);
  LogWish wish = view.wish;
  std::int64_t tail = view.tail;
  while (true) {
    const auto page = read_log(api, wish, tail);
    if (!page) return tl::unexpected(page.error());
    output.write(page->bytes);
    if (page->bytes.empty() || page->next_offset >= page->size) return {};
    wish.offset = page->next_offset;
    wish.attempt = page->attempt;
    tail = -1;
  }
}

Result<Json> follow_task(const Target& target, Console& console, const std::vector<LogView>& views,
                         const std::function<bool()>& stop) {
  std::atomic<bool> failed{false};
  const auto stopped = [&] { return failed || (stop && stop()); };
  std::vector<Result<Json>> ends(views.size(), Result<Json>(Json()));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < views.size(); ++i)
    threads.emplace_back([&, i] {
      ends[i] = follow_view(target, console, views[i], stopped);
      if (!ends[i]) failed = true;
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& end : ends) {
    if (!end) return end;
  }
  return ends.front();
}

Result<void> print_array(Api& api, Console& console, const Json& job, const TaskViews& views) {
  const auto tasks = first_tasks(api, job);
  if (!tasks) return tl::unexpected(tasks.error());
  for (const std::string& task : tasks->ids) {
    for (const LogView& view : views(task)) {
      auto printed = print_log(api, console, view);
      if (!printed && printed.error().code != ErrorCode::not_found) return printed;
    }
  }
  if (!tasks->how_to_see_others.empty()) console.note(tasks->how_to_see_others);
  return {};
}

Result<Json> follow_array(Api& api, Console& console, const std::string& id,
                          const TaskViews& views) {
  const auto job = api.get(job_path(id));
  if (!job) return job;
  const auto tasks = first_tasks(api, *job);
  if (!tasks) return tl::unexpected(tasks.error());
  const auto follow = [&](const std::string& task, const std::function<bool()>& stop) {
    const auto end = follow_task(api.target(), console, views(task), stop);
    return end ? Result<void>() : tl::unexpected(end.error());
  };
  std::optional<Error> failure;
  const bool all = each_task(tasks->ids, follow, [&](const std::string& task, const Error& error) {
    console.note("atoll: " + task + ": " + error.message);
    failure = error;
  });
  if (!all) {
    failure->message = "the output of " + id + " was not followed to its end";
    return tl::unexpected(std::move(*failure));
  }
  if (!tasks->how_to_see_others.empty()) console.note(tasks->how_to_see_others);
  const auto ended = wait_for_end(api, id, {}, [](const Json&) { return true; });
  if (!ended) return tl::unexpected(ended.error());
  return **ended;
}

}  // namespace atl::cli
