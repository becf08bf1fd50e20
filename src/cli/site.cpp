// site: where work runs.
#include "cli/site.h"

#include <ostream>

#include "base/amount.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/platform.h"
#include "cli/verbs.h"

namespace atl::cli {
namespace {

Cell status_cell(const Json& site) {
  if (site["draining"].truth()) return {"draining", Color::warning};
  if (site["gone"].truth()) return {"gone", Color::bad};
  if (site.has("reported") && !site["reported"].truth()) return {"silent", Color::bad};
  if (site.has("trouble") || !site["node_trouble"].members().empty())
    return {"trouble", Color::warning};
  return {"ready", Color::good};
}

std::string join(const Json& list) {
  std::string out;
  for (const Json& item : list.items()) out += (out.empty() ? "" : ", ") + item.text();
  return out;
}

// "3 of 8": used, of what there is; summed over nodes when the site itself does not say.
std::string used_of(const Json& thing, const char* used, const char* all, bool bytes) {
  double in_use = thing[used].number();
  double total = thing[all].number();
  for (const Json& node : thing["nodes"].items()) {
    if (thing.has(all)) break;
    in_use += node[used].number();
    total += node[all].number();
  }
  const auto text = [bytes](double value) {
    return bytes ? format_bytes(static_cast<std::int64_t>(value))
                 : format_milli(static_cast<std::int64_t>(value * 1000 + 0.5));
  };
  return total > 0 ? text(in_use) + " of " + text(total) : "";
}

// Devices of a node, by kind and model, with how many are taken.
std::string node_devices(const Json& node) {
  std::map<std::string, std::pair<int, int>> counts;
  for (const Json& device : node["devices"].items()) {
    const std::string model = device.text("model");
    auto& [used, all] = counts[device.text("kind") + (model.empty() ? "" : ":" + model)];
    used += device["in_use"].truth() || device["used"].truth() ? 1 : 0;
    ++all;
  }
  std::string out;
  for (const auto& [kind, count] : counts) {
    out += (out.empty() ? "" : ", ") + kind + " " + std::to_string(count.first) + "/" +
           std::to_string(count.second);
  }
  return out;
}

View site_view() {
  return {.columns = {
              {{.title = "NAME", .least = 6}, cell_text("name")},
              {{.title = "KIND"}, cell_text("kind")},
              {{.title = "STATUS"}, status_cell},
              {{.title = "NODES", .align = Align::right},
               [](const Json& site) {
                 return Cell{site["nodes"].is_array() ? std::to_string(site["nodes"].items().size())
                                                      : site.text("nodes")};
               }},
              {{.title = "CPUS", .align = Align::right},
               [](const Json& site) { return Cell{used_of(site, "cpus_used", "cpus", false)}; }},
              {{.title = "MEM", .align = Align::right},
               [](const Json& site) {
                 return Cell{used_of(site, "memory_bytes_used", "memory_bytes", true)};
               }},
              {{.title = "ABILITIES", .least = 10},
               [](const Json& site) { return Cell{join(site["abilities"])}; }}}};
}

Result<int> show_site(Session& session, const std::string& name) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto site = (*api)->get(site_path(name));
  if (!site) return tl::unexpected(site.error());
  print_one(session, *site, "name", [&] {
    Card card(session.terminal.color);
    const Cell status = status_cell(*site);
    card.line("site", site->text("name"), Color::strong).line("kind", site->text("kind"));
    card.line("status", status.text, status.color).line("abilities", join((*site)["abilities"]));
    for (const auto& [key, value] : (*site)["definition"].members())
      card.line(key, value.is_array()    ? join(value)
                     : value.is_object() ? value.compact()
                                         : value.text());
    if (site->has("trouble")) card.line("trouble", site->text("trouble"), Color::bad);
    for (const auto& [node, sentence] : (*site)["node_trouble"].members())
      card.line("trouble", node + ": " + sentence.text(), Color::bad);
    return card.str() + "\n" +
           format_list(node_view(), (*site)["nodes"].items(), session.globals, session.terminal);
  });
  return kExitOk;
}

}  // namespace

std::string site_path(const std::string& name) { return "/sites/" + encode(name); }

std::string capacity_of(const Json& site) {
  double cpus = 0;
  int64_t memory = 0;
  for (const Json& node : site["nodes"].items()) {
    cpus += node["cpus"].number();
    memory += node["memory_bytes"].integer();
  }
  return format_milli(static_cast<int64_t>(cpus * 1000 + 0.5)) + " cpus, " + format_bytes(memory);
}

View node_view() {
  return {.columns = {
              {{.title = "NODE", .least = 6}, cell_text("name")},
              {{.title = "STATUS"}, status_cell},
              {{.title = "TASKS", .align = Align::right}, cell_text("tasks")},
              {{.title = "CPUS", .align = Align::right},
               [](const Json& node) { return Cell{used_of(node, "cpus_used", "cpus", false)}; }},
              {{.title = "MEM", .align = Align::right},
               [](const Json& node) {
                 return Cell{used_of(node, "memory_bytes_used", "memory_bytes", true)};
               }},
              {{.title = "DEVICES", .least = 8},
               [](const Json& node) { return Cell{node_devices(node)}; }}}};
}

void add_site_verbs(Verbs& verbs) {
  CLI::App* noun = verbs.add_noun("site", "Sites: list, show, add, remove, check, drain, undrain",
                                  "atoll site list\natoll site show local\n"
                                  "atoll site add lab --ssh gpu1 gpu2\n"
                                  "atoll site check lab            what works there\n"
                                  "atoll site drain local          before maintenance");
  verbs.add(noun, "list", "List the places where work runs", "atoll site list",
            [](Session& session) { return show_list(session, "/sites", site_view()); });
  const auto add = [&](const char* name, const char* sentence, const char* example,
                       const std::function<Result<int>(Session&, const std::string&)>& run) {
    auto site = std::make_shared<std::string>();
    verbs
        .add(noun, name, sentence, example,
             [site, run](Session& session) { return run(session, *site); })
        ->add_option("NAME", *site, "The site")
        ->required();
  };
  add("show", "Show a site and its nodes", "atoll site show local", show_site);
  add("drain", "Start nothing more there; what runs goes on", "atoll site drain local",
      [](Session& session, const std::string& name) {
        return do_and_say(session, "POST", site_path(name) + "/drain", "", name,
                          name + " takes no more work");
      });
  add("undrain", "Let it take work again", "atoll site undrain local",
      [](Session& session, const std::string& name) {
        return do_and_say(session, "POST", site_path(name) + "/undrain", "", name,
                          name + " takes work again");
      });
  add_site_change_verbs(verbs, noun);
  add_site_check_verb(verbs, noun);
}

}  // namespace atl::cli
