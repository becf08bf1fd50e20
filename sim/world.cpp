#include "sim/world.h"

#include <cstdio>
#include <string>

#include "base/wire.h"
#include "core/trace.h"

namespace atl::sim {

void Trace::mix(std::string_view bytes) {
  for (const char c : bytes) hash_ = (hash_ ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
}

void Trace::note(Time at, std::string_view line) {
  mix({reinterpret_cast<const char*>(&at.us), sizeof at.us});
  mix(line);
  if (print_) {
    std::printf("%s %.*s\n", format_time(at).c_str(), static_cast<int>(line.size()), line.data());
  }
}

void Trace::event(uint64_t sequence, const core::Event& event) {
  mix(wire::encode(event));
  if (print_) {
    std::printf("  %llu @%s by %u: %s\n", static_cast<unsigned long long>(sequence),
                format_time(event.at).c_str(), event.by.value, core::to_text(event.body).c_str());
  }
}

void World::after(Duration delay, std::function<void()> action) {
  const Duration wait = delay.us > 0 ? delay : Duration{};
  queue_.emplace(std::pair{now_ + wait, ++order_}, std::move(action));
}

bool World::step() {
  if (queue_.empty()) return false;
  auto next = queue_.extract(queue_.begin());
  now_ = next.key().first;
  next.mapped()();
  return true;
}

}  // namespace atl::sim
