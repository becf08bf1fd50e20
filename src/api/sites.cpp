#include "api/context.h"
#include "api/handlers.h"
#include "base/text.h"
#include "spec/site_spec.h"

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

// What its driver knows to be wrong.
void write_trouble(spec::JsonWriter& json, Context& context, const std::string& site) {
  const auto driver = context.drivers.find(site);
  const std::string whole = driver ? driver->trouble() : "no driver serves it";
  json.key("trouble");
  whole.empty() ? json.null() : json.text(whole);
  json.key("node_trouble").begin_object();
  if (driver) {
    for (const auto& [node, sentence] : driver->node_trouble()) json.member(node, sentence);
  }
  json.end_object();
}

void write_site(spec::JsonWriter& json, Context& context, const core::Site& site) {
  json.begin_object()
      .member("name", site.name)
      .member("kind", site.kind)
      .member("draining", site.draining);
  json.member("reported", site.reported).key("abilities").begin_array();
  for (const std::string& ability : site.abilities) json.text(ability);
  json.end_array().key("definition");
  site.definition.empty() ? json.null() : json.raw(site.definition);
  write_trouble(json, context, site.name);
  json.key("nodes").begin_array();
  for (const auto& [name, node] : site.nodes) write_node(json, site, node);
  json.end_array().end_object();
}

// As the one who asks may see it: hosts and accounts are the administrators' business.
core::Site shown(const core::State& state, const core::Actor& actor, core::Site site) {
  if (!core::require_platform_admin(state, actor)) site.definition.clear();
  return site;
}

Error no_such_site(const std::string& name) {
  return {ErrorCode::not_found, "there is no site " + quote(name), "site"};
}

void show_named(const CallPtr& call, const std::string& name, int status = 200) {
  view(
      call,
      [call, name](const core::State& state) -> Result<core::Site> {
        const core::Site* site = state.site_named(name);
        if (!site) return tl::unexpected(no_such_site(name));
        return shown(state, call->actor, *site);
      },
      [call, status](const core::Site& site) {
        std::string body;
        spec::JsonWriter json(body);
        write_site(json, call->context, site);
        call->respond_json(std::move(body), status);
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
      [call](const core::State& state) -> Result<std::vector<core::Site>> {
        std::vector<core::Site> sites;
        for (const auto& [id, site] : state.sites) sites.push_back(shown(state, call->actor, site));
        return sites;
      },
      [call](const std::vector<core::Site>& sites) {
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().key("sites").begin_array();
        for (const core::Site& site : sites) write_site(json, call->context, site);
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

void show_site(const CallPtr& call) {
  show_named(call, std::string(call->request().param("site")));
}
void add_site(const CallPtr& call) {
  const auto wish = body_of<spec::SiteWish>(call);
  if (!wish) return;
  auto add = spec::to_command(*wish);
  if (!add) return call->refuse(add.error());
  const std::string name = add->name;
  command(call, std::move(*add), {},
          [call, name](const runtime::Accepted&) { show_named(call, name, 201); });
}

void remove_site(const CallPtr& call) {
  const std::string name(call->request().param("site"));
  // One that the configuration has would be back with the next start.
  const auto added = [call, name](const core::State& state) {
    const auto& drivers = call->context.drivers;
    if (!core::require_platform_admin(state, call->actor)) return Result<void>{};  // decide says so
    const core::Site* site = state.site_named(name);
    if (!site || !site->definition.empty() || !drivers.find(name)) return Result<void>{};
    return Result<void>(fail(ErrorCode::conflict,
                             "site " + name +
                                 " is in the server's atoll.yaml: take it out there and start the "
                                 "server again",
                             "site"));
  };
  command(
      call, core::RemoveSite{name}, {}, [call](const runtime::Accepted&) { call->respond_empty(); },
      added);
}

void drain_site(const CallPtr& call) { set_draining(call, true); }
void undrain_site(const CallPtr& call) { set_draining(call, false); }
void drain_node(const CallPtr& call) { set_node_draining(call, true); }
void undrain_node(const CallPtr& call) { set_node_draining(call, false); }

}  // namespace atl::api
