#include "site/local/task_usage.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "site/local/files.h"
#include "site/local/process_tree.h"

namespace atl::site {

TreeUsage tree_usage() {
  static const int64_t page = ::sysconf(_SC_PAGESIZE);
  static const int64_t tick_us = 1000000 / ::sysconf(_SC_CLK_TCK);
  TreeUsage use;
  for (const pid_t pid : descendants(::getpid())) {
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
    if (stat.rfind(')') == std::string::npos) continue;
    const std::vector<std::string_view> fields =
        split(std::string_view(stat).substr(stat.rfind(')') + 2), ' ');
    if (fields.size() < 22) continue;
    for (int i = 11; i <= 14; ++i) use.cpu_us += parse_int(fields[i]).value_or(0) * tick_us;
    use.memory_bytes += parse_int(fields[21]).value_or(0) * page;
  }
  return use;
}

void add_usage(rusage& sum, const rusage& more) {
  const auto add = [](timeval& a, const timeval& b) {
    const int64_t us = (a.tv_sec + b.tv_sec) * 1000000 + a.tv_usec + b.tv_usec;
    a = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
  };
  add(sum.ru_utime, more.ru_utime);
  add(sum.ru_stime, more.ru_stime);
  sum.ru_maxrss = std::max(sum.ru_maxrss, more.ru_maxrss);
  sum.ru_inblock += more.ru_inblock;
  sum.ru_oublock += more.ru_oublock;
}

Duration cpu_of(const rusage& usage) {
  return {(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
          usage.ru_stime.tv_usec};
}

}  // namespace atl::site
