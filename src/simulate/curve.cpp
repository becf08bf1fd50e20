#include "simulate/curve.h"

#include <algorithm>

namespace atl::simulate {
namespace {

double seconds_between(Duration from, Duration to) {
  return static_cast<double>(std::max<int64_t>(0, to.us - from.us)) / 1e6;
}

}  // namespace

Curve::Curve(size_t namespaces, Duration from, Duration to)
    : from_(from), to_(to), accounts_(namespaces), used_(namespaces), wanted_(namespaces) {}

void Curve::use(size_t ns, Duration now, int64_t cpu_milli) {
  advance(ns, now);
  accounts_[ns].used_milli += cpu_milli;
}

void Curve::wait(size_t ns, Duration now, int64_t cpu_milli) {
  advance(ns, now);
  accounts_[ns].wanted_milli += cpu_milli;
}

void Curve::finish(Duration now) {
  size_t most = 0;
  for (size_t ns = 0; ns < accounts_.size(); ++ns) {
    advance(ns, now);
    most = std::max(most, used_[ns].size());
  }
  for (auto* sums : {&used_, &wanted_}) {
    for (std::vector<double>& each : *sums) each.resize(most);
  }
}

void Curve::advance(size_t ns, Duration now) {
  Account& account = accounts_[ns];
  const Duration since = account.since;
  account.since = now;
  if ((account.used_milli == 0 && account.wanted_milli == 0) || since == now) return;
  const double cores = static_cast<double>(account.used_milli) / 1000;
  const double wanted = static_cast<double>(account.wanted_milli) / 1000;
  steady_ += cores * seconds_between(std::max(since, from_), std::min(now, to_));
  const auto last = static_cast<size_t>((now.us - 1) / kBucket.us);
  if (used_[ns].size() <= last) {
    used_[ns].resize(last + 1);
    wanted_[ns].resize(last + 1);
  }
  for (Duration at = since; at < now;) {
    const int64_t bucket = at.us / kBucket.us;
    const Duration end = std::min(now, Duration{(bucket + 1) * kBucket.us});
    const double span = seconds_between(at, end);
    used_[ns][static_cast<size_t>(bucket)] += cores * span;
    wanted_[ns][static_cast<size_t>(bucket)] += wanted * span;
    at = end;
  }
}

}  // namespace atl::simulate
