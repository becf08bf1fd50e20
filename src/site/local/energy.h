// What a machine has used of energy, from the counters of its processors that Linux shows as power
// capping zones (RAPL), and what part of it goes to one attempt: that of the processor time which
// all work on the machine took. An estimate: the counters know nothing of who did what, and nothing
// of GPUs, disks and fans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace atl::site {

// A counter in microjoules that begins anew at its range.
struct EnergyZone {
  std::string counter;  // a file
  int64_t range_uj = 0;
};

// Where zones are: /sys/class/powercap, or what ATOLL_POWERCAP names.
std::string powercap_directory();

// The packages and their memory, which together are the whole and count nothing twice. None when
// there are none, or one of them may not be read: a part would be taken for the whole.
std::vector<EnergyZone> find_energy_zones(const std::string& directory);

// Over the time of one attempt. Without zones it costs nothing and knows nothing.
class EnergyMeter {
 public:
  explicit EnergyMeter(const std::vector<EnergyZone>& zones, std::string stat = "/proc/stat");

  // Reads the counters; the first time begins. Between two times no counter may go round twice:
  // the shortest take minutes.
  void look();

  // Of what was used so far, the part of one who used so much processor time.
  std::optional<int64_t> share_mj(Duration cpu) const;

 private:
  bool read(std::vector<int64_t>& counters, int64_t& busy_us) const;

  const std::vector<EnergyZone>& zones_;
  std::string stat_;
  std::vector<int64_t> last_;
  int64_t used_uj_ = 0;
  int64_t busy_from_us_ = 0;  // of all processors
  int64_t busy_us_ = 0;
  bool known_ = true;
};

}  // namespace atl::site
