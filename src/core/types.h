// The domain's words as plain values. Everything here is data: no clock, no chance, no pointers,
// ordered containers.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/interval_set.h"
#include "base/time.h"

namespace atl::core {

enum class Role : uint8_t { viewer, member, admin };
BOOST_DESCRIBE_ENUM(Role, viewer, member, admin)

enum class Outcome : uint8_t { succeeded, failed, cancelled, timed_out, lost, skipped };
BOOST_DESCRIBE_ENUM(Outcome, succeeded, failed, cancelled, timed_out, lost, skipped)
inline constexpr int kOutcomes = 6;

// From first served to last; the last one yields to all others.
enum class Tier : uint8_t { interactive, service, batch, opportunistic };
BOOST_DESCRIBE_ENUM(Tier, interactive, service, batch, opportunistic)
inline constexpr Tier kTiers[] = {Tier::interactive, Tier::service, Tier::batch,
                                  Tier::opportunistic};

inline constexpr int32_t kWholeDevice = 1000;  // in thousandths

enum class DependencyKind : uint8_t { after_success, after_end, after_failure };
BOOST_DESCRIBE_ENUM(DependencyKind, after_success, after_end, after_failure)

// "2 of gpu:a100"; an empty model takes any. Of each device it may be content with a share, an
// amount of memory, or a slice by the name of its profile.
struct DeviceRequest {
  std::string kind;
  std::string model;
  uint32_t count = 0;
  std::vector<std::string> also;       // models that would do, the better ones first; "" takes any
  int32_t share_milli = kWholeDevice;  // what each counts as; also its share, unless cut otherwise
  int64_t memory_bytes = 0;
  std::string profile;
  auto operator<=>(const DeviceRequest&) const = default;
};
// Its kind and the first model: "gpu:a100".
std::string device_name(const std::string& kind, const std::string& model);
// Its models in the order they are preferred; one that is empty takes any.
std::vector<std::string> models_of(const DeviceRequest& request);
// How it is cut: all of a device, a share of it, or a slice.
inline bool takes_slice(const DeviceRequest& request) { return !request.profile.empty(); }
inline bool takes_whole(const DeviceRequest& request) {
  return request.share_milli == kWholeDevice && request.memory_bytes == 0 && !takes_slice(request);
}

// What one task takes from a node while it runs.
struct Resources {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::vector<DeviceRequest> devices;  // ordered by kind, then model, each pair once
  auto operator<=>(const Resources&) const = default;
};

struct RetryPolicy {
  uint32_t max = 0;               // attempts after the first that a failure may cost
  Duration backoff = seconds(1);  // before the first retry; doubles each time
  Duration backoff_max = minutes(5);
  std::vector<int32_t> exit_codes;  // retried only on these; empty means any failure
  bool on_timeout = false;
  auto operator<=>(const RetryPolicy&) const = default;
};

// Everything about a job that policy looks at. Jobs with equal terms share one copy and wait in one
// group.
struct Terms {
  Resources resources;
  int32_t priority = 0;  // inside the namespace; higher first
  Duration wall;         // zero: no limit
  Duration grace = seconds(30);
  RetryPolicy retry;
  std::string site;           // empty: any
  uint32_t parallel_max = 0;  // tasks of one array at once; zero: no limit
  Tier tier = Tier::batch;
  uint32_t gang = 0;  // so many tasks that start together or not at all; zero: each by itself
  auto operator<=>(const Terms&) const = default;
};

struct Dependency {
  JobId job;
  DependencyKind kind = DependencyKind::after_success;
  std::optional<Outcome> outcome;  // known once the other job has ended
  bool operator==(const Dependency&) const = default;
};

// Where a note goes when the job ends: a URL for a webhook, or an address for the configured mail
// command.
struct Notify {
  std::string webhook;
  std::string mail;
  bool operator==(const Notify&) const = default;
};

struct Label {
  std::string key;
  std::string value;
  auto operator<=>(const Label&) const = default;
};
using Labels = std::vector<Label>;  // ordered by key, each key once

// What of the terms decides where there is room. Waiting jobs of one shape are looked at together.
struct Shape {
  Resources resources;
  std::string site;
  uint32_t gang = 0;
  Duration span;  // how long it stays at most, about; zero: nobody knows
  auto operator<=>(const Shape&) const = default;
};

// What a namespace or a cohort is sure of, and may not exceed unless it borrows; an absent entry
// does not limit.
struct Quota {
  std::optional<int64_t> cpu_milli;
  std::optional<int64_t> memory_bytes;
  std::map<std::string, uint32_t> devices;  // "gpu" or "gpu:a100"
  std::optional<uint64_t> running;          // tasks
  std::optional<uint64_t> queued;           // jobs not ended
  bool operator==(const Quota&) const = default;
};

// The part of a namespace or a cohort in the cohort it belongs to.
struct Stake {
  CohortId cohort;               // the one it belongs to; zero: none
  uint32_t weight_milli = 1000;  // of its fair share
  Quota borrow;                  // beyond its quota, from its cohort; absent: all there is
  bool operator==(const Stake&) const = default;
};

// How fast the past is forgotten and waiting is rewarded.
struct Policy {
  Duration half_life = hours(24 * 7);  // of use, for the fair share
  Duration ageing = hours(1);          // of waiting, that outweighs one step of priority
  bool operator==(const Policy&) const = default;
};

// When, in every week, a tier may not have more than so much of the platform.
struct CalendarEntry {
  std::string name;
  Tier tier = Tier::batch;
  uint8_t days = 0;                    // a bit for each, Monday's is the first
  uint32_t from = 0;                   // minutes of the day
  uint32_t until = 24 * 60;            // not after `from`: on the next day
  std::optional<int32_t> share_milli;  // of every resource of the platform
  Quota limit;
  bool operator==(const CalendarEntry&) const = default;
};
struct Calendar {
  std::vector<CalendarEntry> entries;  // ordered by name
  int32_t utc_offset = 0;              // of the clock on the wall, in minutes
  bool operator==(const Calendar&) const = default;
};

// Room on a node that is kept for somebody at a time.
struct ReservedPart {
  SiteId site;
  std::string node;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::vector<std::string> units;  // whole devices
  bool operator==(const ReservedPart&) const = default;
};
// What was asked for: so many times that much, or so many whole nodes.
struct ReservationTerms {
  uint32_t count = 1;
  bool whole_nodes = false;
  Resources each;
  std::string site;  // empty: any
  bool operator==(const ReservationTerms&) const = default;
};
struct Reservation {
  ReservationId id;
  std::string name;
  Time from;
  Time until;
  std::vector<NamespaceId> namespaces;  // whose work may use it
  std::vector<ReservedPart> parts;
  ReservationTerms asked;
  bool operator==(const Reservation&) const = default;
};

// A kind of slice that a device can be cut into: so many of its slots, beginning at one of these.
// Which slices go together follows from that: those that have no slot in common.
struct SliceProfile {
  std::string name;
  uint32_t size = 0;
  std::vector<uint32_t> starts;
  int64_t memory_bytes = 0;
  bool operator==(const SliceProfile&) const = default;
};

// One accelerator, disk or NIC of a node. `unit` is unique on its node and is what the driver
// understands.
struct Device {
  std::string unit;
  std::string kind;
  std::string model;
  int64_t memory_bytes = 0;
  bool simulated = false;
  std::string domain;            // those of one domain reach each other fastest
  int32_t share_step_milli = 0;  // shares are multiples of it; zero: it is not shared
  uint32_t slots = 0;            // for slices
  std::vector<SliceProfile> profiles;
  bool operator==(const Device&) const = default;
};

struct NodeCapacity {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::vector<Device> devices;
  bool operator==(const NodeCapacity&) const = default;
};

// What a driver knows of its site; a new report replaces the one before.
struct SiteReport {
  std::vector<NodeCapacity> nodes;
  std::vector<std::string> abilities;  // such as "cgroup", "sandbox", "exec"
  bool operator==(const SiteReport&) const = default;
};

// A bit for each of the slots.
inline uint32_t slot_mask(uint32_t start, uint32_t size) {
  if (start >= 32) return 0;
  return static_cast<uint32_t>(((uint64_t{1} << (size < 32 ? size : 32)) - 1) << start);
}

struct HeldDevice {
  std::string unit;
  std::string kind;
  std::string model;
  int32_t share_milli = kWholeDevice;   // of the device; zero for a slice
  int32_t counts_milli = kWholeDevice;  // in quotas and shares
  int64_t memory_bytes = 0;             // of a part
  std::string profile;                  // of a slice
  uint32_t start = 0;                   // its slots
  uint32_t size = 0;
  bool operator==(const HeldDevice&) const = default;
};

// The place an attempt was given. It says all about its devices, because the node may lose one
// while it is held.
struct Placement {
  SiteId site;
  std::string node;
  std::vector<HeldDevice> devices;
  bool operator==(const Placement&) const = default;
};

// What an attempt really used, on its site's clock.
struct Usage {
  Time started;
  Time ended;
  Duration cpu;
  int64_t memory_peak_bytes = 0;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  std::optional<int64_t> energy_mj;  // millijoules; not every site can tell
  bool operator==(const Usage&) const = default;
};

// What several attempts came to: the first start, the last end, sums, and the largest peak.
inline void add_up(Usage& sum, const Usage& more) {
  if (more.started && (!sum.started || more.started < sum.started)) sum.started = more.started;
  sum.ended = std::max(sum.ended, more.ended);
  sum.cpu = sum.cpu + more.cpu;
  sum.memory_peak_bytes = std::max(sum.memory_peak_bytes, more.memory_peak_bytes);
  sum.read_bytes += more.read_bytes;
  sum.written_bytes += more.written_bytes;
  if (more.energy_mj) sum.energy_mj = sum.energy_mj.value_or(0) + *more.energy_mj;
}

enum class EndCause : uint8_t {
  exited,       // by itself; exit_code tells
  signalled,    // killed by a signal that we did not send
  wall_time,    // the site ended it at its wall-time
  stopped,      // the site ended it because we said so
  memory,       // over its memory limit
  start_error,  // never ran: message tells (no such directory, command not found is exit 127
                // instead)
  lost,         // the site no longer knows it and cannot tell how it ended
  recalled,     // handed back as we asked: it had not begun
};
BOOST_DESCRIBE_ENUM(EndCause, exited, signalled, wall_time, stopped, memory, start_error, lost,
                    recalled)

// How an attempt ended, as its site saw it.
struct AttemptResult {
  EndCause cause = EndCause::exited;
  int32_t exit_code = 0;
  int32_t signal = 0;
  bool checkpointed = false;  // it left a `checkpointed` note
  std::string message;
  Usage usage;
  int64_t stdout_bytes = 0;  // written, whether kept or cut
  int64_t stderr_bytes = 0;
  bool operator==(const AttemptResult&) const = default;
};

inline constexpr int32_t kCheckpointExit = 85;  // ERESTART, as HTCondor uses it: "resume me"

inline bool asks_to_resume(const AttemptResult& result) {
  const bool by_exit = result.cause == EndCause::exited || result.cause == EndCause::stopped;
  return result.checkpointed || (by_exit && result.exit_code == kCheckpointExit);
}

ATOLL_DESCRIBE(DeviceRequest, kind, model, count, also, share_milli, memory_bytes, profile)
ATOLL_DESCRIBE(Resources, cpu_milli, memory_bytes, devices)
ATOLL_DESCRIBE(RetryPolicy, max, backoff, backoff_max, exit_codes, on_timeout)
ATOLL_DESCRIBE(Terms, resources, priority, wall, grace, retry, site, parallel_max, tier, gang)
ATOLL_DESCRIBE(Dependency, job, kind, outcome)
ATOLL_DESCRIBE(Notify, webhook, mail)
ATOLL_DESCRIBE(Quota, cpu_milli, memory_bytes, devices, running, queued)
ATOLL_DESCRIBE(Stake, cohort, weight_milli, borrow)
ATOLL_DESCRIBE(Policy, half_life, ageing)
ATOLL_DESCRIBE(CalendarEntry, name, tier, days, from, until, share_milli, limit)
ATOLL_DESCRIBE(Calendar, entries, utc_offset)
ATOLL_DESCRIBE(ReservedPart, site, node, cpu_milli, memory_bytes, units)
ATOLL_DESCRIBE(ReservationTerms, count, whole_nodes, each, site)
ATOLL_DESCRIBE(Reservation, id, name, from, until, namespaces, parts, asked)
ATOLL_DESCRIBE(SliceProfile, name, size, starts, memory_bytes)
ATOLL_DESCRIBE(Device, unit, kind, model, memory_bytes, simulated, domain, share_step_milli, slots,
               profiles)
ATOLL_DESCRIBE(NodeCapacity, name, cpu_milli, memory_bytes, devices)
ATOLL_DESCRIBE(SiteReport, nodes, abilities)
ATOLL_DESCRIBE(HeldDevice, unit, kind, model, share_milli, counts_milli, memory_bytes, profile,
               start, size)
ATOLL_DESCRIBE(Placement, site, node, devices)
ATOLL_DESCRIBE(Usage, started, ended, cpu, memory_peak_bytes, read_bytes, written_bytes, energy_mj)
ATOLL_DESCRIBE(AttemptResult, cause, exit_code, signal, checkpointed, message, usage, stdout_bytes,
               stderr_bytes)
ATOLL_DESCRIBE(Label, key, value)

}  // namespace atl::core
