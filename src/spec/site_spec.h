// Sites that are added by a command: what people may say of each kind, in the field table. A site
// is one of these; what was said, written out as JSON, is the definition that the journal keeps
// (core::AddSite), and the same table reads it again when the driver is made.
#pragma once

#include <string>
#include <vector>

#include "core/input.h"
#include "spec/fields.h"

namespace atl::spec {

struct SshSite {
  Texts hosts;
  Text config;
  Text directory;
  std::optional<Duration> lease;
  std::optional<Duration> poll;
};

// What an accelerator asks for of Slurm, where it differs.
struct SlurmAccelerator {
  Text device;
  Text partition;
  Text account;
  Text qos;
  Text gres;
  Text constraint;
  Text reservation;
};

struct SlurmSite {
  Text over;
  Text config;
  Text directory;
  Text partition;
  Text account;
  Text qos;
  Text constraint;
  Text reservation;
  std::optional<std::vector<SlurmAccelerator>> accelerators;
  Text template_file;
  Text bin;
  Text conf;
  Text placement;
  std::optional<Duration> poll;
};

struct SimulatedSite {
  Integer nodes;
  std::optional<Cpus> cpus;
  std::optional<Bytes> memory;
  IntegerMap devices;
};

// POST /sites: its name and exactly one kind.
struct SiteWish {
  Text name;
  std::optional<SshSite> ssh;
  std::optional<SlurmSite> slurm;
  std::optional<SimulatedSite> simulated;
};

template <>
const Shape& shape_of<SshSite>();
template <>
const Shape& shape_of<SlurmAccelerator>();
template <>
const Shape& shape_of<SlurmSite>();
template <>
const Shape& shape_of<SimulatedSite>();
template <>
const Shape& shape_of<SiteWish>();

// The command for it, or what is wrong with it, by field.
[[nodiscard]] Result<core::AddSite> to_command(const SiteWish& wish);

// Host names as ssh takes them: an alias, a name, user@name; nothing that ssh would read as an
// option.
[[nodiscard]] Result<void> check_host(const std::string& host, const std::string& field);

}  // namespace atl::spec
