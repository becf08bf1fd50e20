// What an explanation with a forecast costs in the large world: how long the core's thread stands
// still while the process is copied, and how long the answer takes in all.
#include <cstdlib>
#include <fstream>

#include "api/outlook.h"
#include "bench/large_world.h"
#include "runtime/aside.h"

namespace atl {
namespace {

constexpr size_t kAsked = 21;

long resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6) / 1024;
  }
  return 0;
}

double percentile(std::vector<double> values, size_t of100) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[std::min(values.size() - 1, values.size() * of100 / 100)];
}

std::string explain(core::State& state, Time now, JobId id) {
  const api::Outlooks found = api::look_ahead(state, now, {id});
  const auto starts = found.starts.find(id);
  return api::explanation_body(state, to_string(id), api::JobState::waiting, found.why.at(id),
                               starts == found.starts.end() ? nullptr : &starts->second);
}

void measure(int waiting) {
  core::World world;
  world.submit(waiting + 20'000);
  world.settle();
  for (int i = 0; i < 3; ++i) {
    world.wait(minutes(1));
    world.end_some(2000);
    world.settle();
  }
  std::vector<double> pauses, wholes;
  size_t rough = 0, known = 0;
  std::string last;
  for (const JobId id : world.some_waiting(kAsked)) {
    double pause = 0;
    const double whole = core::seconds_of([&] {
      Result<std::unique_ptr<runtime::Copy>> copy;
      pause = core::seconds_of([&] {
        copy = runtime::Copy::begin(
            [&](const auto& tell) { tell(explain(world.state(), world.now(), id)); }, seconds(2));
      });
      if (copy) last = (*copy)->answer().value_or("");
    });
    pauses.push_back(pause * 1000);
    wholes.push_back(whole * 1000);
    rough += last.find("\"rough\":true") != std::string::npos;
    known += last.find("\"expected\":\"") != std::string::npos;
  }
  std::printf("%9d waiting  %ld MiB\n", waiting, resident_mib());
  std::printf("  the core's thread stands still  %7.2f ms median  %7.2f ms worst\n",
              percentile(pauses, 50), percentile(pauses, 100));
  std::printf("  the whole explanation           %7.2f ms median  %7.2f ms worst\n",
              percentile(wholes, 50), percentile(wholes, 100));
  std::printf("  %zu asked, %zu with an expected start, %zu of them rough\n", wholes.size(), known,
              rough);
  std::printf("  %s\n", last.c_str());
}

}  // namespace
}  // namespace atl

int main(int argc, char** argv) { atl::measure(argc > 1 ? std::atoi(argv[1]) : 100'000); }
