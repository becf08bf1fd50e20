#include "spec/site_spec.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace atl::spec {
namespace {

constexpr int64_t kHostsMax = 256;
constexpr int64_t kWordMax = 256;
constexpr int64_t kPathMax = 4096;
constexpr int64_t kSimulatedNodesMax = 10'000;
constexpr Duration kPollMin = milliseconds(100);
constexpr Duration kPollMax = hours(1);
constexpr Duration kLeaseMin = seconds(10);
constexpr Duration kLeaseMax = hours(24 * 30);

constexpr const char* kPlacements[] = {"engine", "atoll"};

constexpr Doc kConfig{.name = "ssh_config",
                      .sentence =
                          "An ssh configuration file on the server instead of the server "
                          "account's own ~/.ssh/config.",
                      .example = "\"/etc/atoll/ssh_config\"",
                      .high = kPathMax,
                      .flag = "ssh-config",
                      .metavar = "FILE"};
constexpr Doc kPoll{.name = "poll",
                    .sentence = "How often it is asked how its work stands.",
                    .example = "\"5s\"",
                    .flag = "poll",
                    .metavar = "SPAN"};

constexpr Doc word(const char* name, const char* sentence, const char* example,
                   const char* flag = nullptr) {
  return {.name = name,
          .sentence = sentence,
          .example = example,
          .high = kWordMax,
          .flag = flag,
          .metavar = "NAME"};
}

constexpr std::array kSsh{
    field<&SshSite::hosts>({.name = "hosts",
                            .sentence = "Its hosts, as ssh knows them: aliases, names, user@name.",
                            .example = "[\"gpu1\", \"ada@gpu2\"]",
                            .low = 1,
                            .high = kHostsMax,
                            .required = true}),
    field<&SshSite::config>(kConfig),
    field<&SshSite::directory>({.name = "directory",
                                .sentence = "Where work is kept on the hosts, below the account's "
                                            "home unless it begins with /.",
                                .example = "\"/scratch/atoll\"",
                                .high = kPathMax,
                                .flag = "directory",
                                .metavar = "DIR"}),
    field<&SshSite::lease>({.name = "lease",
                            .sentence = "Work that has heard nothing from the server for so long "
                                        "ends itself, and is tried elsewhere; never when left out.",
                            .example = "\"1h\"",
                            .flag = "lease",
                            .metavar = "SPAN"}),
    field<&SshSite::poll>(kPoll),
};

constexpr std::array kAccelerator{
    field<&SlurmAccelerator::device>({.name = "device",
                                      .sentence = "What work asks for: gpu, a100 or gpu:a100.",
                                      .example = "\"gpu:a100\"",
                                      .low = 1,
                                      .high = kWordMax,
                                      .required = true}),
    field<&SlurmAccelerator::partition>(word("partition", "Its partition.", "\"gpu\"")),
    field<&SlurmAccelerator::account>(word("account", "Its account.", "\"physics\"")),
    field<&SlurmAccelerator::qos>(word("qos", "Its quality of service.", "\"high\"")),
    field<&SlurmAccelerator::gres>(
        word("gres", "The generic resource, without a count.", "\"gpu:a100\"")),
    field<&SlurmAccelerator::constraint>(word("constraint", "Features of nodes.", "\"a100_80gb\"")),
    field<&SlurmAccelerator::reservation>(word("reservation", "Its reservation.", "\"class\"")),
};

constexpr std::array kSlurm{
    field<&SlurmSite::over>({.name = "over",
                             .sentence = "The login node, as ssh knows it; this machine when left "
                                         "out.",
                             .example = "\"login.cluster\"",
                             .high = kWordMax,
                             .flag = "over",
                             .metavar = "HOST"}),
    field<&SlurmSite::config>(kConfig),
    field<&SlurmSite::directory>({.name = "directory",
                                  .sentence = "Where work is kept, on a file system that the login "
                                              "node and the nodes share; below the account's home "
                                              "unless it begins with /.",
                                  .example = "\"/scratch/atoll\"",
                                  .high = kPathMax,
                                  .flag = "directory",
                                  .metavar = "DIR"}),
    field<&SlurmSite::partition>(word("partition",
                                      "Where Slurm puts work; its own default when left out.",
                                      "\"short\"", "partition")),
    field<&SlurmSite::account>(word("account", "Whom Slurm charges.", "\"physics\"", "account")),
    field<&SlurmSite::qos>(word("qos", "The quality of service.", "\"normal\"", "qos")),
    field<&SlurmSite::constraint>(
        word("constraint", "Features that nodes must have.", "\"intel\"", "constraint")),
    field<&SlurmSite::reservation>(
        word("reservation", "The reservation of Slurm to use.", "\"class\"", "reservation")),
    field<&SlurmSite::accelerators>(
        {.name = "accelerators",
         .sentence = "What differs for work that asks for an accelerator.",
         .example = "[{\"device\": \"gpu:a100\", \"partition\": \"gpu\", \"gres\": \"gpu:a100\"}]",
         .high = 64}),
    field<&SlurmSite::template_file>(
        {.name = "template_file",
         .sentence = "A file on the server: the batch script with places to fill in.",
         .example = "\"/etc/atoll/batch.sh\"",
         .high = kPathMax,
         .flag = "template",
         .metavar = "FILE"}),
    field<&SlurmSite::bin>({.name = "bin",
                            .sentence = "The folder of Slurm's commands, where it is not in PATH.",
                            .example = "\"/opt/slurm/bin\"",
                            .high = kPathMax,
                            .flag = "slurm-bin",
                            .metavar = "DIR"}),
    field<&SlurmSite::conf>({.name = "conf",
                             .sentence = "The file for SLURM_CONF, where it is not the default.",
                             .example = "\"/etc/slurm/slurm.conf\"",
                             .high = kPathMax,
                             .flag = "slurm-conf",
                             .metavar = "FILE"}),
    field<&SlurmSite::placement>({.name = "placement",
                                  .sentence = "Who chooses the node: Slurm (engine) or Atoll.",
                                  .example = "\"engine\"",
                                  .fallback = "\"engine\"",
                                  .choices = kPlacements,
                                  .flag = "placement"}),
    field<&SlurmSite::poll>(kPoll),
};

constexpr std::array kSimulated{
    field<&SimulatedSite::nodes>({.name = "nodes",
                                  .sentence = "How many nodes it pretends to have.",
                                  .example = "4",
                                  .fallback = "1",
                                  .low = 1,
                                  .high = kSimulatedNodesMax,
                                  .flag = "nodes",
                                  .metavar = "N"}),
    field<&SimulatedSite::cpus>({.name = "cpus",
                                 .sentence = "Cores of each node.",
                                 .example = "8",
                                 .fallback = "8",
                                 .flag = "cpus",
                                 .metavar = "CORES"}),
    field<&SimulatedSite::memory>({.name = "memory",
                                   .sentence = "Memory of each node.",
                                   .example = "\"32Gi\"",
                                   .fallback = "\"32Gi\"",
                                   .flag = "memory",
                                   .metavar = "BYTES"}),
    field<&SimulatedSite::devices>({.name = "devices",
                                    .sentence = "Devices of each node, by kind or kind:model.",
                                    .example = "{\"gpu:a100\": 4}",
                                    .high = 16,
                                    .flag = "device",
                                    .metavar = "KIND=COUNT"}),
};

constexpr std::array kWish{
    field<&SiteWish::name>({.name = "name",
                            .sentence = "Its name: a-z 0-9 . _ -",
                            .example = "\"lab\"",
                            .low = 1,
                            .high = 63,
                            .required = true}),
    field<&SiteWish::ssh>({.name = "ssh",
                           .sentence = "Hosts that are reached by ssh.",
                           .example = "{\"hosts\": [\"gpu1\", \"gpu2\"]}"}),
    field<&SiteWish::slurm>({.name = "slurm",
                             .sentence = "A cluster that Slurm manages.",
                             .example = "{\"over\": \"login.cluster\"}"}),
    field<&SiteWish::simulated>({.name = "simulated",
                                 .sentence = "A site that only pretends.",
                                 .example = "{\"nodes\": 4}"}),
};

tl::unexpected<Error> wrong(const std::string& field, const std::string& message) {
  return fail(ErrorCode::invalid, message, field);
}

Result<void> check_span(const std::optional<Duration>& span, Duration low, Duration high,
                        const std::string& field) {
  if (!span || (*span >= low && *span <= high)) return {};
  return wrong(field, field + " is " + exact_duration(*span) + "; it must be between " +
                          exact_duration(low) + " and " + exact_duration(high));
}

// Options of drivers end up in files and commands of one line.
Result<void> check_line(const Text& text, const std::string& field) {
  if (!text || text->find_first_of(std::string("\n\r\0", 3)) == std::string::npos) return {};
  return wrong(field, field + " must be one line");
}

Result<void> check_path(const Text& path, const std::string& field, bool absolute) {
  if (auto ok = check_line(path, field); !ok) return ok;
  if (!path || !absolute || path->starts_with('/')) return {};
  return wrong(field, field + " is a file on the server: write its whole path, from /");
}

Result<std::string> settings_of(const SshSite& site) {
  std::vector<std::string> seen;
  for (const std::string& host : site.hosts.value_or(std::vector<std::string>{})) {
    if (auto ok = check_host(host, "ssh.hosts"); !ok) return tl::unexpected(ok.error());
    if (std::find(seen.begin(), seen.end(), host) != seen.end())
      return wrong("ssh.hosts", "host " + quote(host) + " is named twice");
    seen.push_back(host);
  }
  if (auto ok = check_path(site.config, "ssh.ssh_config", true); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = check_path(site.directory, "ssh.directory", false); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = check_span(site.lease, kLeaseMin, kLeaseMax, "ssh.lease"); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = check_span(site.poll, kPollMin, kPollMax, "ssh.poll"); !ok)
    return tl::unexpected(ok.error());
  return to_json(site);
}

Result<std::string> settings_of(const SlurmSite& site) {
  if (site.over) {
    if (auto ok = check_host(*site.over, "slurm.over"); !ok) return tl::unexpected(ok.error());
  }
  for (const auto& [path, name] : {std::pair(&site.config, "slurm.ssh_config"),
                                   {&site.template_file, "slurm.template_file"}}) {
    if (auto ok = check_path(*path, name, true); !ok) return tl::unexpected(ok.error());
  }
  for (const auto& [text, name] : {std::pair(&site.directory, "slurm.directory"),
                                   {&site.partition, "slurm.partition"},
                                   {&site.account, "slurm.account"},
                                   {&site.qos, "slurm.qos"},
                                   {&site.constraint, "slurm.constraint"},
                                   {&site.reservation, "slurm.reservation"},
                                   {&site.bin, "slurm.bin"},
                                   {&site.conf, "slurm.conf"}}) {
    if (auto ok = check_line(*text, name); !ok) return tl::unexpected(ok.error());
  }
  if (auto ok = check_span(site.poll, kPollMin, kPollMax, "slurm.poll"); !ok)
    return tl::unexpected(ok.error());
  return to_json(site);
}

Result<std::string> settings_of(const SimulatedSite& site) {
  for (const auto& [name, count] : site.devices.value_or(std::map<std::string, int64_t>{})) {
    const size_t colon = std::min(name.find(':'), name.size());
    auto ok = check_identifier(name.substr(0, colon), "simulated.devices");
    if (ok && colon < name.size())
      ok = check_identifier(name.substr(colon + 1), "simulated.devices");
    if (!ok) return tl::unexpected(ok.error());
    if (count < 1 || count > 64)
      return wrong("simulated.devices", "a node may have 1 to 64 of " + name);
  }
  return to_json(site);
}

}  // namespace

template <>
const Shape& shape_of<SshSite>() {
  static constexpr Shape shape{"SshSite", "Hosts that are reached by ssh.", kSsh};
  return shape;
}
template <>
const Shape& shape_of<SlurmAccelerator>() {
  static constexpr Shape shape{"SlurmAccelerator", "What an accelerator asks for of Slurm.",
                               kAccelerator};
  return shape;
}
template <>
const Shape& shape_of<SlurmSite>() {
  static constexpr Shape shape{"SlurmSite", "A cluster that Slurm manages.", kSlurm};
  return shape;
}
template <>
const Shape& shape_of<SimulatedSite>() {
  static constexpr Shape shape{"SimulatedSite", "A site that only pretends.", kSimulated};
  return shape;
}
template <>
const Shape& shape_of<SiteWish>() {
  static constexpr Shape shape{"NewSite", "A site to add: its name and one of the kinds.", kWish};
  return shape;
}

Result<void> check_host(const std::string& host, const std::string& field) {
  const auto fits = [](unsigned char c) {
    return c > ' ' && c < 0x7f &&
           std::string_view("/\"'`$\\;&|<>(){}*?!#").find(static_cast<char>(c)) ==
               std::string_view::npos;
  };
  if (host.empty() || host.size() > kWordMax || host[0] == '-' ||
      !std::all_of(host.begin(), host.end(), fits))
    return wrong(field, quote(host) +
                            " is no host name: write an alias of the ssh configuration, "
                            "a name or user@name");
  return {};
}

Result<core::AddSite> to_command(const SiteWish& wish) {
  const int kinds = (wish.ssh ? 1 : 0) + (wish.slurm ? 1 : 0) + (wish.simulated ? 1 : 0);
  if (kinds != 1)
    return wrong("kind",
                 std::string(kinds == 0 ? "say what kind of site it is" : "a site is of one kind") +
                     ": ssh, slurm or simulated");
  core::AddSite command;
  command.name = wish.name.value_or("");
  command.kind = wish.ssh ? "ssh" : wish.slurm ? "slurm" : "simulated";
  auto settings = wish.ssh     ? settings_of(*wish.ssh)
                  : wish.slurm ? settings_of(*wish.slurm)
                               : settings_of(*wish.simulated);
  if (!settings) return tl::unexpected(settings.error());
  command.definition = std::move(*settings);
  return command;
}

}  // namespace atl::spec
