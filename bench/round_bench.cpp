// What a scheduling round costs in a large world: 1,000 nodes with 8 devices, 1,000 namespaces in
// 50 cohorts, 200 shapes, 100,000 and then 1,000,000 waiting jobs. A full world is looked at again
// and again as a server does after each change; then work ends and is replaced, which gives
// placements per second; then one job is explained with what would make it start.
#include <cstdio>
#include <cstdlib>

#include "bench/large_world.h"
#include "core/scheduling/explain.h"

namespace atl::core {
namespace {

void measure(int waiting) {
  World world;
  world.submit(waiting + 20'000);
  uint64_t placed = 0;
  const double filling = seconds_of([&] { placed = world.settle(); });
  std::printf("%9d waiting  %6llu running\n", waiting, static_cast<unsigned long long>(placed));
  std::printf("  filling the empty world          %8.0f placements/s\n",
              static_cast<double>(placed) / filling);
  std::printf("  a round in the full world        %8.2f ms\n", world.idle_round() * 1000);
  double spent = 0;
  placed = 0;
  for (int i = 0; i < 5; ++i) {
    world.wait(minutes(1));
    world.end_some(2000);
    spent += seconds_of([&] { placed += world.settle(); });
  }
  std::printf("  replacing 2,000 that have ended  %8.0f placements/s\n",
              static_cast<double>(placed) / spent);
  const Job& job = world.state().jobs.at(world.last_waiting());
  std::string sentence;
  const double explaining =
      seconds_of([&] { sentence = scheduling::explain(world.state(), job).sentence; });
  std::printf("  explaining one job               %8.2f ms   (%s)\n", explaining * 1000,
              sentence.c_str());
}

}  // namespace
}  // namespace atl::core

int main(int argc, char** argv) {
  if (argc > 1) {
    atl::core::measure(std::atoi(argv[1]));
    return 0;
  }
  atl::core::measure(100'000);
  atl::core::measure(1'000'000);
}
