#include "simulate/generate.h"

#include <algorithm>
#include <ostream>

#include "simulate/chance.h"

namespace atl::simulate {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Time kFirstDay{1'767'571'200'000'000};  // Monday, 2026-01-05
constexpr int64_t kHour = 3600;

// How many begin a session in an hour of the day, and on a day of the week.
constexpr uint64_t kHours[24] = {8,  6,  5,  4,  4,  5,  8,  18, 45, 75, 90, 85,
                                 60, 75, 95, 95, 90, 75, 50, 35, 28, 24, 18, 12};
constexpr uint64_t kWeekdays[7] = {95, 105, 105, 100, 90, 35, 40};

// What people ask for when they are asked how long.
constexpr int64_t kRoundSpans[] = {600,        1800,       kHour,      2 * kHour,
                                   4 * kHour,  8 * kHour,  12 * kHour, 24 * kHour,
                                   48 * kHour, 72 * kHour, 168 * kHour};

int64_t round_up(int64_t span) {
  for (const int64_t each : kRoundSpans) {
    if (span <= each) return each;
  }
  return kRoundSpans[std::size(kRoundSpans) - 1];
}

struct Person {
  uint16_t group = 0;
  int64_t usual = 0;     // log2 of the seconds that their jobs run, in kOne
  int64_t habit = 0;     // the time they ask for without thinking
  uint64_t thoughtless;  // how often they do, in permille
};

struct Session {
  uint32_t user = 0;
  core::Tier tier = core::Tier::batch;
  uint32_t cores = 1;
  int64_t usual = 0;
  bool burst = false;  // all jobs at once, from a script
};

class Generator {
 public:
  explicit Generator(const GenerateOptions& options)
      : options_(options), chance_(options.seed), activity_(zipf(options.users)) {
    const Wheel groups = zipf(options.groups);
    for (uint32_t i = 0; i < options.users; ++i) {
      const int64_t habit = kRoundSpans[3 + chance_.below(6)];
      people_.push_back({static_cast<uint16_t>(groups.spin(chance_)),
                         10 * kOne + chance_.normal() * 3 / 2, habit, chance_.below(500)});
    }
    for (uint32_t day = 0; day < options.days; ++day) {
      for (const uint64_t weight : kHours) hours_.add(weight * kWeekdays[day % 7]);
    }
  }

  Trace take() {
    trace_.name = "generated";
    trace_.begin = kFirstDay;
    trace_.nodes = options_.nodes;
    trace_.processors = options_.nodes * options_.cores;
    for (uint32_t i = 1; i <= options_.users; ++i) trace_.users.push_back("u" + std::to_string(i));
    for (uint32_t i = 1; i <= options_.groups; ++i)
      trace_.namespaces.push_back("g" + std::to_string(i));
    while (trace_.jobs.size() < options_.jobs) add_session();
    reach_load();
    ask_for_time();
    sort_jobs(trace_.jobs);
    return std::move(trace_);
  }

 private:
  Session begin_session() {
    Session session;
    session.user = static_cast<uint32_t>(activity_.spin(chance_));
    const uint64_t kind = chance_.below(1000);
    if (kind < options_.interactive_permille)
      session.tier = core::Tier::interactive;
    else if (kind < options_.interactive_permille + options_.opportunistic_permille)
      session.tier = core::Tier::opportunistic;
    const bool interactive = session.tier == core::Tier::interactive;
    session.cores = draw_cores(interactive ? 4 : options_.cores);
    session.usual = people_[session.user].usual + chance_.normal() * 9 / 5;
    if (interactive) session.usual -= 2 * kOne;
    session.burst = chance_.permille(300);
    return session;
  }

  // Powers of two, and now and then something else.
  uint32_t draw_cores(uint32_t most) {
    if (chance_.permille(80)) return 1 + static_cast<uint32_t>(chance_.below(most));
    uint32_t cores = 1;
    while (cores * 2 <= most && chance_.permille(620)) cores *= 2;
    return cores;
  }

  void add_session() {
    const Session session = begin_session();
    int64_t at = static_cast<int64_t>(hours_.spin(chance_)) * kHour +
                 static_cast<int64_t>(chance_.below(kHour));
    const int64_t length =
        std::clamp<int64_t>(exp2_milli(2 * kOne + chance_.normal() * 3 / 2) / 1000, 1, 1000);
    for (int64_t i = 0; i < length && trace_.jobs.size() < options_.jobs; ++i) {
      if (at >= int64_t{options_.days} * 24 * kHour) return;
      TraceJob job;
      job.submit = seconds(at);
      job.run = seconds(std::max<int64_t>(
          1, exp2_milli(std::min(session.usual + chance_.normal() * 4 / 5, 29 * kOne)) / 1000));
      job.cpu_milli = session.cores * 1000;
      job.user = session.user;
      job.ns = people_[session.user].group;
      job.tier = session.tier;
      trace_.jobs.push_back(job);
      if (!session.burst) at += exp2_milli(5 * kOne + chance_.normal() * 2) / 1000;
    }
  }

  // Stretches all run times by the same factor until their sum is what was asked for; the longest
  // are cut, so that it takes some steps.
  void reach_load() {
    const Wide wanted = Wide{options_.nodes} * options_.cores * options_.days * 86'400 *
                        options_.load_permille;  // in milli-cores times seconds
    for (int step = 0; step < 12; ++step) {
      Wide sum = 0;
      for (const TraceJob& job : trace_.jobs)
        sum += Wide{job.cpu_milli} * static_cast<uint64_t>(job.run.us / 1'000'000);
      for (TraceJob& job : trace_.jobs) {
        const Wide run = Wide{static_cast<uint64_t>(job.run.us)} * wanted / sum;
        const auto whole = static_cast<int64_t>(
            std::min<Wide>(run, static_cast<uint64_t>(kGeneratedRunMax.us)) / 1'000'000);
        job.run = seconds(std::max<int64_t>(1, whole));
      }
    }
  }

  void ask_for_time() {
    for (TraceJob& job : trace_.jobs) {
      const Person& person = people_[job.user];
      const int64_t run = job.run.us / 1'000'000;
      int64_t asked = round_up(
          run * exp2_milli(static_cast<int64_t>(chance_.below(3 * kOne)) + kOne / 8) / 1000);
      if (person.habit >= run && chance_.permille(person.thoughtless)) asked = person.habit;
      job.wall = seconds(asked);
    }
  }

  const GenerateOptions options_;
  Chance chance_;
  const Wheel activity_;
  Wheel hours_;
  std::vector<Person> people_;
  Trace trace_;
};

Result<void> check_option(const char* name, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high) return {};
  return fail(ErrorCode::invalid, std::string("--") + name + " is " + std::to_string(value) +
                                      "; it must be between " + std::to_string(low) + " and " +
                                      std::to_string(high));
}

int64_t queue_of(core::Tier tier) {
  if (tier == core::Tier::interactive) return kInteractiveQueue;
  return tier == core::Tier::opportunistic ? kOpportunisticQueue : kBatchQueue;
}

std::string decimal(uint64_t permille) {
  std::string digits = std::to_string(1000 + permille % 1000).substr(1);
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  return std::to_string(permille / 1000) + "." + digits;
}

}  // namespace

Result<Trace> generate(const GenerateOptions& options) {
  for (const auto& ok : {
           check_option("days", options.days, 1, 3660),
           check_option("jobs", options.jobs, 1, 50'000'000),
           check_option("nodes", options.nodes, 1, 100'000),
           check_option("cores", options.cores, 1, 1024),
           check_option("users", options.users, 1, 100'000),
           check_option("groups", options.groups, 1, 10'000),
       }) {
    if (!ok) return tl::unexpected(ok.error());
  }
  if (options.load_permille < 1 || options.load_permille > 10'000)
    return fail(ErrorCode::invalid, "--load is " + decimal(options.load_permille) +
                                        "; it must be between 0.001 and 10");
  const uint64_t together = options.interactive_permille + options.opportunistic_permille;
  if (together > 1000)
    return fail(ErrorCode::invalid,
                "--interactive " + decimal(options.interactive_permille) + " and --opportunistic " +
                    decimal(options.opportunistic_permille) + " are " + decimal(together) +
                    " of the sessions together; they may be 1 at most");
  return Generator(options).take();
}

std::string command_of(const GenerateOptions& options) {
  std::string command =
      "atoll simulate generate --days " + std::to_string(options.days) + " --jobs " +
      std::to_string(options.jobs) + " --nodes " + std::to_string(options.nodes) + " --cores " +
      std::to_string(options.cores) + " --users " + std::to_string(options.users) + " --groups " +
      std::to_string(options.groups) + " --load " + decimal(options.load_permille);
  if (options.interactive_permille > 0)
    command += " --interactive " + decimal(options.interactive_permille);
  if (options.opportunistic_permille > 0)
    command += " --opportunistic " + decimal(options.opportunistic_permille);
  return command + " --seed " + std::to_string(options.seed);
}

void write_swf(const Trace& trace, const std::string& note, std::ostream& out) {
  out << "; Version: 2.2\n"
      << "; Computer: simulated\n"
      << "; Note: " << note << "\n"
      << "; UnixStartTime: " << trace.begin.us / 1'000'000 << "\n"
      << "; MaxJobs: " << trace.jobs.size() << "\n"
      << "; MaxNodes: " << trace.nodes << "\n"
      << "; MaxProcs: " << trace.processors << "\n"
      << "; Queues: 0 interactive, 1 batch, 2 opportunistic\n";
  uint64_t number = 0;
  std::string line;
  for (const TraceJob& job : trace.jobs) {
    const uint32_t cores = (job.cpu_milli + 999) / 1000;
    line.clear();
    const auto put = [&](int64_t value) {
      if (!line.empty()) line += ' ';
      line += std::to_string(value);
    };
    const int64_t wall = job.wall.us > 0 ? job.wall.us / 1'000'000 : -1;
    for (const int64_t value :
         {static_cast<int64_t>(++number), job.submit.us / 1'000'000, int64_t{-1},
          job.run.us / 1'000'000, int64_t{cores}, int64_t{-1}, int64_t{-1}, int64_t{cores}, wall,
          int64_t{-1}, int64_t{1}, int64_t{job.user} + 1, int64_t{job.ns} + 1, int64_t{-1},
          queue_of(job.tier), int64_t{-1}, int64_t{-1}, int64_t{-1}})
      put(value);
    out << line << "\n";
  }
}

}  // namespace atl::simulate
