#include "api/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace atl::api {
namespace {

// The fields of /proc/self/stat that follow the program's name, counted from 1 as proc(5) does.
struct Stat {
  double user_ticks = 0;      // field 14
  double system_ticks = 0;    // 15
  double start_ticks = 0;     // 22, since boot
  double virtual_bytes = 0;   // 23
  double resident_pages = 0;  // 24
};

bool read_stat(Stat& stat) {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  const size_t name = text.rfind(')');
  if (name == std::string::npos) return false;
  std::istringstream fields(text.substr(name + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  fields >> stat.user_ticks >> stat.system_ticks;
  for (int i = 16; i < 22; ++i) fields >> skipped;
  fields >> stat.start_ticks >> stat.virtual_bytes >> stat.resident_pages;
  return !fields.fail();
}

// Seconds since 1970 when the machine booted.
double boot_time() {
  std::ifstream file("/proc/stat");
  std::string word;
  double value = 0;
  for (std::string line; std::getline(file, line);) {
    if (std::istringstream fields(line); fields >> word >> value && word == "btime") return value;
  }
  return 0;
}

double open_files() {
  std::error_code failed;
  double count = -1;  // the one that reads the directory
  for (std::filesystem::directory_iterator it("/proc/self/fd", failed), end; it != end;
       it.increment(failed)) {
    if (failed) break;
    ++count;
  }
  return count;
}

}  // namespace

std::vector<prometheus::MetricFamily> process_metrics() {
  using prometheus::MetricType;
  std::vector<prometheus::MetricFamily> families;
  const auto add = [&](const char* name, const char* help, MetricType type, double value) {
    prometheus::ClientMetric metric;
    metric.counter.value = value;
    metric.gauge.value = value;
    families.push_back({name, help, type, {metric}});
  };
  const double hertz = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (Stat stat; read_stat(stat)) {
    add("process_cpu_seconds_total", "CPU time of the server, user and system.",
        MetricType::Counter, (stat.user_ticks + stat.system_ticks) / hertz);
    add("process_resident_memory_bytes", "Memory of the server that is in RAM.", MetricType::Gauge,
        stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
    add("process_virtual_memory_bytes", "Address space of the server.", MetricType::Gauge,
        stat.virtual_bytes);
    if (const double boot = boot_time(); boot > 0)
      add("process_start_time_seconds", "When the server started, in seconds since 1970.",
          MetricType::Gauge, boot + stat.start_ticks / hertz);
  }
  if (const double open = open_files(); open >= 0)
    add("process_open_fds", "Files and sockets the server has open.", MetricType::Gauge, open);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    add("process_max_fds", "As many files and sockets the server may have open.", MetricType::Gauge,
        static_cast<double>(limit.rlim_cur));
  return families;
}

}  // namespace atl::api
