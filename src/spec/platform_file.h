// The platform as an administrator writes it down: who belongs to whom, by what weight, with what
// quota. `atoll apply` puts it in force, `atoll export` writes what is in force, and `atoll
// simulate` tries it out.
//
// An entry is the whole of what it names: what it leaves out is as if it had never been set.
// Members are the exception, because a namespace's own administrators look after them: left out,
// they stay. What the file does not name at all stays as it is. A reservation is made or cancelled,
// never changed: one that is written otherwise is cancelled and made anew.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/input.h"

namespace atl::spec {

struct CohortEntry {
  std::string name;
  std::string parent;  // empty: none
  uint32_t weight_milli = 1000;
  core::Quota quota;   // an absent amount is not limited
  core::Quota borrow;  // beyond the quota; an absent amount is all there is
  bool operator==(const CohortEntry&) const = default;
};

struct NamespaceEntry {
  std::string name;
  std::string cohort;  // empty: none
  uint32_t weight_milli = 1000;
  core::Quota quota;
  core::Quota borrow;
  std::optional<std::map<std::string, core::Role>> members;  // all of them; absent: as they are
  bool operator==(const NamespaceEntry&) const = default;
};

// `count` machines alike, named NAME1, NAME2 … (just NAME when it is one). For simulations.
struct NodeEntry {
  std::string name;
  uint32_t count = 1;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::map<std::string, uint32_t> devices;  // by kind or kind:model
  bool operator==(const NodeEntry&) const = default;
};

struct PlatformFile {
  std::optional<core::Policy> policy;
  std::vector<CohortEntry> cohorts;  // in the order of the file, each name once
  std::vector<NamespaceEntry> namespaces;
  std::vector<NodeEntry> nodes;
  std::vector<core::CalendarEntry> calendar;
  std::vector<core::CreateReservation> reservations;

  // Where things stand, line and column, by the path that an Error's field gives:
  // "cohorts[2].quota" -> "7:12".
  std::map<std::string, std::string> places;

  // Where the field stands, or the nearest that encloses it; empty when there is none.
  std::string place_of(std::string_view field) const;
};

[[nodiscard]] Result<PlatformFile> parse_platform_file(std::string_view text,
                                                       const std::string& file_name);
// "-" is standard input.
[[nodiscard]] Result<PlatformFile> load_platform_file(const std::string& path);

// What is said of an entry, key and value as they are written; a default is left out.
using WrittenFields = std::vector<std::pair<std::string, std::string>>;
WrittenFields written_fields(const core::Policy& policy);  // all of them
WrittenFields written_fields(const CohortEntry& entry);
WrittenFields written_fields(const NamespaceEntry& entry);
WrittenFields written_fields(const core::CalendarEntry& entry);
WrittenFields written_fields(const core::CreateReservation& entry);

// As YAML that parse_platform_file reads back to the same, in the same order.
std::string write_platform_file(const PlatformFile& file);

}  // namespace atl::spec
