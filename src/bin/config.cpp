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

void read_listen(const Node& node, Config& config) {
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
int32_t share_step(const Node& node) {
  const int64_t milli = checked(node, parse_milli(text_of(node)));
  if (milli < 1 || milli > core::kWholeDevice) wrong(node, "expected a share between 0.001 and 1");
  return static_cast<int32_t>(milli);
}

void read_devices(const Node& node, std::vector<core::Device>& devices) {
  if (!node.is_sequence()) wrong(node, "expected a list of devices");
  for (const Node item : node) {
    core::Device device;
    device.simulated = false;
    int64_t count = 1, domain_size = 0;
    read_map(item,
             {{"kind", [&](const Node& n) { device.kind = text_of(n); }},
              {"model", [&](const Node& n) { device.model = text_of(n); }},
              {"memory",
               [&](const Node& n) { device.memory_bytes = checked(n, parse_bytes(text_of(n))); }},
              {"count", [&](const Node& n) { count = integer(n, 1, kDevicesMax); }},
              {"share", [&](const Node& n) { device.share_step_milli = share_step(n); }},
              {"domain_size", [&](const Node& n) { domain_size = integer(n, 1, kDevicesMax); }},
              {"slices",
               [&](const Node& n) {
                 std::string known;
                 for (const std::string& each : site::slice_tables()) known += " " + each;
                 if (!site::set_slices(device, text_of(n))) wrong(n, "expected one of:" + known);
               }},
              {"simulated", [&](const Node& n) { device.simulated = boolean(n); }}});
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

SiteConfig read_site(const Node& node) {
  SiteConfig site;
  read_map(
      node,
      {{"kind",
        [&](const Node& n) {
          site.kind = text_of(n);
          if (site.kind != "local" && site.kind != "simulated")
            wrong(n, "expected local or simulated");
        }},
       {"cpus", [&](const Node& n) { site.cpu_milli = checked(n, parse_milli(text_of(n))); }},
       {"memory", [&](const Node& n) { site.memory_bytes = checked(n, parse_bytes(text_of(n))); }},
       {"devices", [&](const Node& n) { read_devices(n, site.devices); }},
       {"gpu_share", [&](const Node& n) { site.gpu_share_milli = share_step(n); }},
       {"nodes",
        [&](const Node& n) {
          site.nodes = static_cast<uint32_t>(integer(n, 1, kSimulatedNodesMax));
        }},
       {"isolation",
        [&](const Node& n) {
          const std::string text = text_of(n) == "auto" ? "automatic" : text_of(n);
          if (!enum_from_name(text, site.isolation)) wrong(n, "expected auto, none or sandbox");
        }},
       {"processes",
        [&](const Node& n) { site.processes_max = static_cast<uint32_t>(integer(n, 1, 1 << 22)); }},
       {"log_limit",
        [&](const Node& n) { site.log_bytes_max = checked(n, parse_bytes(text_of(n))); }},
       {"cgroups", [&](const Node& n) { site.cgroups = boolean(n); }}});
  return site;
}

void read_sites(const Node& node, Config& config) {
  config.sites.clear();
  each_entry(node, [&](const std::string& name, const Node& at, const Node& value) {
    if (auto ok = check_identifier(name, "site"); !ok) wrong(at, ok.error().message);
    config.sites[name] = read_site(value);
    if (config.sites[name].kind == "local" && name != "local")
      wrong(at, "the local site is named local");
  });
}

void read_watch(const Node& node, Config& config) {
  if (!node.is_sequence()) wrong(node, "expected a list of directories such as [/data/incoming]");
  for (const Node item : node) {
    const std::filesystem::path path(text_of(item));
    if (!path.is_absolute() || path.lexically_normal() != path || path.filename().empty())
      wrong(item, "expected a whole path such as /data/incoming, without . and .. and no / behind");
    config.watch.push_back(path.string());
  }
}

Config read_config(const Node& root) {
  Config config = default_config();
  if (root.is_null()) return config;
  Node listen = root;
  read_map(
      root,
      {{"listen",
        [&](const Node& n) {
          listen = n;
          read_listen(n, config);
        }},
       {"tls",
        [&](const Node& n) {
          read_map(n, {{"certificate", [&](const Node& v) { config.tls_certificate = text_of(v); }},
                       {"key", [&](const Node& v) { config.tls_key = text_of(v); }}});
          if (config.tls_certificate.empty() != config.tls_key.empty())
            wrong(n, "TLS needs both certificate and key");
        }},
       {"threads", [&](const Node& n) { config.threads = static_cast<int>(integer(n, 1, 64)); }},
       {"body_limit",
        [&](const Node& n) { config.body_bytes_max = checked(n, parse_bytes(text_of(n))); }},
       {"connections",
        [&](const Node& n) {
          config.connections_max = static_cast<uint32_t>(integer(n, 1, 1 << 20));
        }},
       {"retention",
        [&](const Node& n) {
          config.retention =
              text_of(n) == "forever" ? Duration{} : checked(n, parse_duration(text_of(n)));
        }},
       {"mail_command", [&](const Node& n) { config.mail_command = text_of(n); }},
       {"sites", [&](const Node& n) { read_sites(n, config); }},
       {"watch", [&](const Node& n) { read_watch(n, config); }}});
  const bool loopback =
      config.host == "127.0.0.1" || config.host == "::1" || config.host.starts_with("127.");
  if (config.listen_tcp && !loopback && config.tls_certificate.empty()) {
    wrong(listen,
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
  const auto ok = read_yaml(text, file_name, [&](const Node& root) { config = read_config(root); });
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
