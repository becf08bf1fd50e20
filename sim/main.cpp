// sim [--seed N] [--seeds A-B] [--seconds N] [--trace]: see README.md.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/text.h"
#include "sim/simulation.h"

namespace atl::sim {
namespace {

constexpr uint64_t kFixedSeeds = 20;

struct Arguments {
  uint64_t first = 1;
  uint64_t last = kFixedSeeds;
  int64_t seconds = 0;  // zero: until the last seed
  bool trace = false;
};

int usage() {
  std::fprintf(stderr, "usage: sim [--seed N] [--seeds A-B] [--seconds N] [--trace]\n");
  return 2;
}

bool parse_seeds(std::string_view text, Arguments& arguments) {
  const auto parts = split(text, '-');
  const auto first = parse_int(parts.front());
  const auto last = parse_int(parts.back());
  if (parts.size() > 2 || !first || !last || *first < 0 || *last < *first) return false;
  arguments.first = static_cast<uint64_t>(*first);
  arguments.last = static_cast<uint64_t>(*last);
  return true;
}

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--trace") {
      arguments.trace = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string_view value = argv[++i];
    if (flag == "--seed" || flag == "--seeds") {
      if (!parse_seeds(value, arguments)) return false;
    } else if (flag == "--seconds" && parse_int(value).value_or(0) > 0) {
      // Fresh seeds: the fixed ones are run anyway, so these begin elsewhere each time.
      arguments.seconds = *parse_int(value);
      arguments.first =
          static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) %
          1'000'000'000 * 1000;
      arguments.last = UINT64_MAX;
    } else {
      return false;
    }
  }
  return true;
}

char g_seed_line[128];

// A CHECK aborts; the seed is what makes it a bug report.
void on_abort(int) {
  const ssize_t written = write(STDERR_FILENO, g_seed_line, std::strlen(g_seed_line));
  (void)written;
}

void print(uint64_t seed, const SimResult& result) {
  const auto number = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "seed %-6llu %016llx  %4llu jobs %5llu runs %5llu commits %3llu crashes %3llu faults  "
      "settled in %s\n",
      number(seed), number(result.hash), number(result.counts.jobs), number(result.counts.runs),
      number(result.counts.commits), number(result.crashes), number(result.faults),
      format_duration(result.settled_after).c_str());
  std::fflush(stdout);
}

int run(const Arguments& arguments) {
  using Steady = std::chrono::steady_clock;
  const auto begin = Steady::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Steady::now() - begin).count(); };
  uint64_t done = 0;
  for (uint64_t seed = arguments.first; seed <= arguments.last; ++seed) {
    if (arguments.seconds > 0 && elapsed() >= static_cast<double>(arguments.seconds)) break;
    const auto shown = static_cast<unsigned long long>(seed);
    std::snprintf(g_seed_line, sizeof g_seed_line,
                  "seed %llu: repeat with: sim --seed %llu --trace\n", shown, shown);
    const SimResult result = simulate({.seed = seed, .print = arguments.trace});
    print(seed, result);
    ++done;
    if (result.broken.empty()) continue;
    std::printf("seed %llu broke promise %s\nrepeat with: sim --seed %llu --trace\n", shown,
                result.broken.c_str(), shown);
    return 1;
  }
  std::printf("%llu seeds, %.1f seeds/s, all promises held\n",
              static_cast<unsigned long long>(done), static_cast<double>(done) / elapsed());
  return 0;
}

}  // namespace
}  // namespace atl::sim

int main(int argc, char** argv) {
  atl::sim::Arguments arguments;
  if (!atl::sim::parse(argc, argv, arguments)) return atl::sim::usage();
  std::signal(SIGABRT, atl::sim::on_abort);
  return atl::sim::run(arguments);
}
