// node: the machines of all sites, and taking one out of service.
#include "base/text.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

// The node with where it is: its site, and both as one word.
Result<Json> with_site(const Json& node, const std::string& site) {
  std::string text = "{\"path\":";
  spec::append_json_text(text, site + "/" + node.text("name"));
  text += ",\"site\":";
  spec::append_json_text(text, site);
  const std::string rest = node.compact();
  return Json::parse(text + (rest == "{}" ? "" : ",") + rest.substr(1));
}

Result<std::vector<Json>> all_nodes(Session& session) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto sites = (*api)->list("/sites");
  if (!sites) return tl::unexpected(sites.error());
  std::vector<Json> nodes;
  for (const Json& site : *sites) {
    for (const Json& node : site["nodes"].items()) {
      auto both = with_site(node, site.text("name"));
      if (!both) return tl::unexpected(both.error());
      nodes.push_back(std::move(*both));
    }
  }
  return nodes;
}

struct NodeAddress {
  std::string site;
  std::string node;
};

// The site may be left out when only one has such a node.
Result<NodeAddress> address_of(Session& session, const std::string& text) {
  if (const std::size_t slash = text.find('/'); slash != std::string::npos)
    return NodeAddress{text.substr(0, slash), text.substr(slash + 1)};
  const auto nodes = all_nodes(session);
  if (!nodes) return tl::unexpected(nodes.error());
  std::vector<std::string> sites;
  std::vector<std::string> names;
  for (const Json& node : *nodes) {
    names.push_back(node.text("name"));
    if (names.back() == text) sites.push_back(node.text("site"));
  }
  if (sites.size() == 1) return NodeAddress{sites.front(), text};
  if (sites.empty()) {
    const auto meant = did_you_mean(text, names);
    return fail(ErrorCode::not_found,
                "there is no node " + quote(text) +
                    (meant ? "; did you mean " + *meant + "?" : "; `atoll node list` shows them"));
  }
  return fail(ErrorCode::invalid, "several sites have a node " + quote(text) + ": write " +
                                      sites[0] + "/" + text + " or " + sites[1] + "/" + text);
}

Result<int> drain(Session& session, const std::string& text, bool draining) {
  const auto address = address_of(session, text);
  if (!address) return tl::unexpected(address.error());
  const std::string path = "/sites/" + encode(address->site) + "/nodes/" + encode(address->node) +
                           (draining ? "/drain" : "/undrain");
  const std::string name = address->site + "/" + address->node;
  return do_and_say(session, "POST", path, "", name, [&](const Json& site) {
    if (draining) return name + " takes no more work";
    if (!site["draining"].truth()) return name + " takes work again";
    return name + " itself no longer drains, but all of its site does: `atoll site undrain " +
           address->site + "` ends that";
  });
}

Result<int> list_nodes(Session& session) {
  const auto nodes = all_nodes(session);
  if (!nodes) return tl::unexpected(nodes.error());
  View view = node_view();
  view.name_key = "path";
  view.columns.insert(view.columns.begin() + 1, {{.title = "SITE", .least = 6}, cell_text("site")});
  print_list(session, view, *nodes);
  return kExitOk;
}

}  // namespace

void add_node_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add_noun("node", "Machines: list, drain, undrain",
                                  "atoll node list\n"
                                  "atoll node drain gpu7            before maintenance\n"
                                  "atoll node undrain local/gpu7");
  verbs.add(noun, "list", "List the machines of all sites, and what is used of them",
            "atoll node list", list_nodes);
  const auto add = [&](const char* name, const char* sentence, const char* example, bool draining) {
    auto node = std::make_shared<std::string>();
    verbs
        .add(noun, name, sentence, example,
             [node, draining](Session& session) { return drain(session, *node, draining); })
        ->add_option("NODE", *node, "The node, or SITE/NODE where several have one of that name")
        ->required();
  };
  add("drain", "Start nothing more on it; what runs goes on", "atoll node drain gpu7", true);
  add("undrain", "Let it take work again", "atoll node undrain gpu7", false);
}

}  // namespace atl::cli
