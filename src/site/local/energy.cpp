#include "site/local/energy.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr std::string_view kPrefix = "intel-rapl:";  // AMD's processors are shown under it too

std::optional<int64_t> read_number(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  const auto number = parse_int(trim(*text));
  return number && *number >= 0 ? std::optional(*number) : std::nullopt;
}

// Cores and graphics are parts of their package; "psys" has the packages as its part.
bool counts(std::string_view name) { return name.starts_with("package-") || name == "dram"; }

std::vector<std::string> zone_names(const std::string& directory) {
  std::vector<std::string> names;
  DIR* listing = ::opendir(directory.c_str());
  if (!listing) return names;
  while (const dirent* entry = ::readdir(listing)) {
    if (std::string_view(entry->d_name).starts_with(kPrefix)) names.emplace_back(entry->d_name);
  }
  ::closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

// Time in which processors did something, of "cpu user nice system idle iowait irq softirq ...".
std::optional<int64_t> busy_time_us(const std::string& stat) {
  const auto text = read_file(stat);
  if (!text || !text->starts_with("cpu ")) return std::nullopt;
  int64_t ticks = 0;
  size_t at = 4;
  for (int field = 0; field < 7; ++field) {
    at = text->find_first_of("0123456789\n", at);
    if (at == std::string::npos || (*text)[at] == '\n') return std::nullopt;
    const size_t end = text->find_first_not_of("0123456789", at);
    const auto number = parse_int(text->substr(at, end - at));
    if (!number || end == std::string::npos) return std::nullopt;
    const bool idle = field == 3 || field == 4;
    if (!idle) ticks += *number;
    at = end;
  }
  return ticks * (1'000'000 / ::sysconf(_SC_CLK_TCK));
}

}  // namespace

std::string powercap_directory() {
  const char* named = std::getenv("ATOLL_POWERCAP");
  return named ? named : "/sys/class/powercap";
}

std::vector<EnergyZone> find_energy_zones(const std::string& directory) {
  std::vector<EnergyZone> zones;
  for (const std::string& name : zone_names(directory)) {
    const std::string zone = directory + "/" + name + "/";
    const auto kind = read_file(zone + "name");
    if (!kind || !counts(trim(*kind))) continue;
    const auto range = read_number(zone + "max_energy_range_uj");
    if (!range || !read_number(zone + "energy_uj")) return {};
    zones.push_back({zone + "energy_uj", *range});
  }
  return zones;
}

EnergyMeter::EnergyMeter(const std::vector<EnergyZone>& zones, std::string stat)
    : zones_(zones), stat_(std::move(stat)) {}

bool EnergyMeter::read(std::vector<int64_t>& counters, int64_t& busy_us) const {
  for (const EnergyZone& zone : zones_) {
    const auto now = read_number(zone.counter);
    if (!now) return false;
    counters.push_back(*now);
  }
  const auto busy = busy_time_us(stat_);
  busy_us = busy.value_or(0);
  return busy.has_value();
}

void EnergyMeter::look() {
  if (zones_.empty() || !known_) return;
  std::vector<int64_t> now;
  known_ = read(now, busy_us_);
  if (!known_) return;
  if (last_.empty()) busy_from_us_ = busy_us_;
  for (size_t i = 0; i < last_.size(); ++i) {
    const bool around = now[i] < last_[i];
    used_uj_ += now[i] - last_[i] + (around ? zones_[i].range_uj : 0);
  }
  last_ = std::move(now);
}

std::optional<int64_t> EnergyMeter::share_mj(Duration cpu) const {
  if (!known_ || last_.empty()) return std::nullopt;
  // The machine's clock ticks are coarser than an attempt's account.
  const int64_t all = std::max(busy_us_ - busy_from_us_, cpu.us);
  if (all <= 0) return 0;
  const double share = static_cast<double>(cpu.us) / static_cast<double>(all);
  return static_cast<int64_t>(static_cast<double>(used_uj_) * share / 1000);
}

}  // namespace atl::site
