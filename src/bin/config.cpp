#include "bin/config.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/amount.h"
#include "base/text.h"
#include "site/slices.h"
#include "spec/yaml_reader.h"

namespace atl::bin {
namespace {

using namespace spec::yaml;

constexpr uint32_t kSimulatedNodesMax = 10'000;
constexpr uint32_t kDevicesMax = 10'000;

void read_listen(const YAML::Node& node, Config& config) {
  const std::string text = text_of(node);
  if (text == "none") {
    config.listen_tcp = false;
    return;
  }
  const size_t colon = text.rfind(':');
  const auto port = parse_int(colon == std::string::npos ? text : text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535)
    wrong(node, "expected ADDRESS:PORT such as 127.0.0.1:7380, a port, or none");
  config.port = static_cast<uint16_t>(*port);
  if (colon != std::string::npos) config.host = text.substr(0, colon);
  if (config.host.size() > 2 && config.host.front() == '[')
    config.host = config.host.substr(1, config.host.size() - 2);
}

// The finest share of a device that is given out: 0.05.
int32_t share_step(const YAML::Node& node) {
  const int64_t milli = checked(node, parse_milli(text_of(node)));
  if (milli < 1 || milli > core::kWholeDevice) wrong(node, "expected a share between 0.001 and 1");
  return static_cast<int32_t>(milli);
}

void read_devices(const YAML::Node& node, std::vector<core::Device>& devices) {
  if (!node.IsSequence()) wrong(node, "expected a list of devices");
  for (const YAML::Node& item : node) {
    core::Device device;
    device.simulated = false;
    int64_t count = 1, domain_size = 0;
    read_map(
        item,
        {{"kind", [&](const YAML::Node& n) { device.kind = text_of(n); }},
         {"model", [&](const YAML::Node& n) { device.model = text_of(n); }},
         {"memory",
          [&](const YAML::Node& n) { device.memory_bytes = checked(n, parse_bytes(text_of(n))); }},
         {"count", [&](const YAML::Node& n) { count = integer(n, 1, kDevicesMax); }},
         {"share", [&](const YAML::Node& n) { device.share_step_milli = share_step(n); }},
         {"domain_size", [&](const YAML::Node& n) { domain_size = integer(n, 1, kDevicesMax); }},
         {"slices",
          [&](const YAML::Node& n) {
            std::string known;
            for (const std::string& each : site::slice_tables()) known += " " + each;
            if (!site::set_slices(device, text_of(n))) wrong(n, "expected one of:" + known);
          }},
         {"simulated", [&](const YAML::Node& n) { device.simulated = boolean(n); }}});
    if (!check_identifier(device.kind, "kind")) wrong(item, "a device needs a kind such as gpu");
    if (!device.model.empty() && !check_identifier(device.model, "model"))
      wrong(item, "a model may use a-z 0-9 . _ -");
    if (!device.simulated)
      wrong(item,
            "only devices with `simulated: true` are declared; real GPUs are found by themselves");
    for (int64_t i = 0; i < count; ++i) {
      device.unit = device.kind + std::to_string(devices.size());
      if (domain_size > 0)
        device.domain = device.kind + "s" + std::to_string(devices.size() / domain_size);
      devices.push_back(device);
    }
  }
}

SiteConfig read_site(const YAML::Node& node) {
  SiteConfig site;
  read_map(
      node,
      {{"kind",
        [&](const YAML::Node& n) {
          site.kind = text_of(n);
          if (site.kind != "local" && site.kind != "simulated")
            wrong(n, "expected local or simulated");
        }},
       {"cpus", [&](const YAML::Node& n) { site.cpu_milli = checked(n, parse_milli(text_of(n))); }},
       {"memory",
        [&](const YAML::Node& n) { site.memory_bytes = checked(n, parse_bytes(text_of(n))); }},
       {"devices", [&](const YAML::Node& n) { read_devices(n, site.devices); }},
       {"gpu_share", [&](const YAML::Node& n) { site.gpu_share_milli = share_step(n); }},
       {"nodes",
        [&](const YAML::Node& n) {
          site.nodes = static_cast<uint32_t>(integer(n, 1, kSimulatedNodesMax));
        }},
       {"isolation",
        [&](const YAML::Node& n) {
          const std::string text = text_of(n) == "auto" ? "automatic" : text_of(n);
          if (!enum_from_name(text, site.isolation)) wrong(n, "expected auto, none or sandbox");
        }},
       {"processes",
        [&](const YAML::Node& n) {
          site.processes_max = static_cast<uint32_t>(integer(n, 1, 1 << 22));
        }},
       {"log_limit",
        [&](const YAML::Node& n) { site.log_bytes_max = checked(n, parse_bytes(text_of(n))); }},
       {"cgroups", [&](const YAML::Node& n) { site.cgroups = boolean(n); }}});
  return site;
}

void read_sites(const YAML::Node& node, Config& config) {
  if (!node.IsMap()) wrong(node, "expected a mapping of site names");
  config.sites.clear();
  for (const auto& entry : node) {
    const std::string name = text_of(entry.first);
    if (auto ok = check_identifier(name, "site"); !ok) wrong(entry.first, ok.error().message);
    config.sites[name] = read_site(entry.second);
    if (config.sites[name].kind == "local" && name != "local")
      wrong(entry.first, "the local site is named local");
  }
}

Config read_config(const YAML::Node& root) {
  Config config = default_config();
  if (root.IsNull()) return config;
  read_map(
      root,
      {{"listen", [&](const YAML::Node& n) { read_listen(n, config); }},
       {"tls",
        [&](const YAML::Node& n) {
          read_map(n, {{"certificate",
                        [&](const YAML::Node& v) { config.tls_certificate = text_of(v); }},
                       {"key", [&](const YAML::Node& v) { config.tls_key = text_of(v); }}});
          if (config.tls_certificate.empty() != config.tls_key.empty())
            wrong(n, "TLS needs both certificate and key");
        }},
       {"threads",
        [&](const YAML::Node& n) { config.threads = static_cast<int>(integer(n, 1, 64)); }},
       {"body_limit",
        [&](const YAML::Node& n) { config.body_bytes_max = checked(n, parse_bytes(text_of(n))); }},
       {"connections",
        [&](const YAML::Node& n) {
          config.connections_max = static_cast<uint32_t>(integer(n, 1, 1 << 20));
        }},
       {"retention",
        [&](const YAML::Node& n) {
          config.retention =
              text_of(n) == "forever" ? Duration{} : checked(n, parse_duration(text_of(n)));
        }},
       {"mail_command", [&](const YAML::Node& n) { config.mail_command = text_of(n); }},
       {"sites", [&](const YAML::Node& n) { read_sites(n, config); }}});
  const bool loopback =
      config.host == "127.0.0.1" || config.host == "::1" || config.host.starts_with("127.");
  if (config.listen_tcp && !loopback && config.tls_certificate.empty()) {
    wrong(root["listen"],
          "only a loopback address may be served without TLS: set tls.certificate and tls.key, "
          "or listen on 127.0.0.1");
  }
  return config;
}

}  // namespace

Config default_config() {
  Config config;
  config.sites["local"] = SiteConfig{};
  return config;
}

Result<Config> parse_config(const std::string& text, const std::string& file_name) {
  Config config;
  const auto ok =
      read_yaml(text, file_name, [&](const YAML::Node& root) { config = read_config(root); });
  if (!ok) return fail(ok.error().code, ok.error().message, "config");
  return config;
}

Result<Config> load_config(const std::string& home, const std::string& explicit_path) {
  const std::string path = explicit_path.empty() ? home + "/atoll.yaml" : explicit_path;
  std::error_code ignored;
  if (explicit_path.empty() && !std::filesystem::exists(path, ignored)) return default_config();
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::invalid, "cannot read the configuration file " + path, "config");
  std::ostringstream text;
  text << in.rdbuf();
  return parse_config(text.str(), path);
}

}  // namespace atl::bin
