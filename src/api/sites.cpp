#include "api/context.h"
#include "api/handlers.h"
#include "base/text.h"

namespace atl::api {
namespace {

void write_node(spec::JsonWriter& json, const core::Site& site, const core::Node& node) {
  json.begin_object().member("name", node.capacity.name).member("gone", node.gone);
  json.member("draining", node.draining || site.draining);
  json.key("cpus").milli(node.capacity.cpu_milli).key("cpus_used").milli(node.cpu_milli_used);
  json.member("memory_bytes", node.capacity.memory_bytes)
      .member("memory_bytes_used", node.memory_bytes_used);
  json.member("tasks", node.holders.size()).key("devices").begin_array();
  for (const core::Device& device : node.capacity.devices) {
    json.begin_object()
        .member("unit", device.unit)
        .member("kind", device.kind)
        .member("model", device.model);
    json.member("memory_bytes", device.memory_bytes).member("simulated", device.simulated);
    json.member("used", node.units_used.count(device.unit) > 0).key("used_share");
    json.milli(core::used_milli(node, device)).end_object();
  }
  json.end_array().end_object();
}

void write_site(spec::JsonWriter& json, const core::Site& site) {
  json.begin_object()
      .member("name", site.name)
      .member("kind", site.kind)
      .member("draining", site.draining);
  json.member("reported", site.reported).key("abilities").begin_array();
  for (const std::string& ability : site.abilities) json.text(ability);
  json.end_array().key("nodes").begin_array();
  for (const auto& [name, node] : site.nodes) write_node(json, site, node);
  json.end_array().end_object();
}

Error no_such_site(const std::string& name) {
  return {ErrorCode::not_found, "there is no site " + quote(name), "site"};
}

void show_named(const CallPtr& call, const std::string& name) {
  view(
      call,
      [name](const core::State& state) -> Result<core::Site> {
        const core::Site* site = state.site_named(name);
        if (!site) return tl::unexpected(no_such_site(name));
        return *site;
      },
      [call](const core::Site& site) {
        std::string body;
        spec::JsonWriter json(body);
        write_site(json, site);
        call->respond_json(std::move(body));
      });
}

void set_draining(const CallPtr& call, bool draining) {
  const std::string name(call->request().param("site"));
  command(call, core::DrainSite{name, draining}, {},
          [call, name](const runtime::Accepted&) { show_named(call, name); });
}

void set_node_draining(const CallPtr& call, bool draining) {
  const std::string site(call->request().param("site"));
  const std::string node(call->request().param("node"));
  command(call, core::DrainNode{site, node, draining}, {},
          [call, site](const runtime::Accepted&) { show_named(call, site); });
}

}  // namespace

void list_sites(const CallPtr& call) {
  view(
      call,
      [](const core::State& state) -> Result<std::vector<core::Site>> {
        std::vector<core::Site> sites;
        for (const auto& [id, site] : state.sites) sites.push_back(site);
        return sites;
      },
      [call](const std::vector<core::Site>& sites) {
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().key("sites").begin_array();
        for (const core::Site& site : sites) write_site(json, site);
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void show_site(const CallPtr& call) {
  show_named(call, std::string(call->request().param("site")));
}
void drain_site(const CallPtr& call) { set_draining(call, true); }
void undrain_site(const CallPtr& call) { set_draining(call, false); }
void drain_node(const CallPtr& call) { set_node_draining(call, true); }
void undrain_node(const CallPtr& call) { set_node_draining(call, false); }

}  // namespace atl::api
