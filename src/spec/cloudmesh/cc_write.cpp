#include "spec/cloudmesh/cc_write.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "spec/cloudmesh/cc_text.h"

namespace atl::spec::cc {
namespace {

// Calls each(name, value as JSON) for the attributes of a node, in the order of the saved form.
void each_attribute(const CcWorkflow& workflow, const CcNode& node,
                    const std::function<void(const std::string&, const std::string&)>& each) {
  const auto text = [](const std::string& value) {
    return value.empty() ? "null" : double_quoted(value);
  };
  std::string parents;
  for (const uint32_t parent : node.parents)
    parents += (parents.empty() ? "" : ", ") + double_quoted(workflow.nodes[parent].name);
  each("name", double_quoted(node.name));
  each("label", double_quoted(node.label));
  each("label_format", double_quoted(node.label_format));
  each("format", double_quoted(node.format));
  each("kind", double_quoted(node.kind));
  each("user", text(node.user));
  each("host", text(node.host));
  each("status", double_quoted(node.status));
  each("progress", std::to_string(node.progress));
  each("created", text(node.created));
  each("modified", text(node.modified));
  each("script", text(node.script));
  each("exec", text(node.exec));
  each("pid", text(node.pid));
  each("venv", text(node.venv));
  each("shape", double_quoted(node.shape));
  each("style", double_quoted(node.style));
  each("number", std::to_string(node.number));
  each("marker", node.marker ? "true" : "false");
  each("parent", "[" + parents + "]");
  for (const CcAttribute& attribute : node.extra) each(attribute.name, attribute.json);
}

// Names may have dashes, so that two dependencies could have one key.
void each_edge(const CcWorkflow& workflow,
               const std::function<void(const std::string&, const CcNode&, const CcNode&)>& each) {
  std::set<std::string> keys;
  for (const CcNode& node : workflow.nodes) {
    for (const uint32_t parent : node.parents) {
      const std::string plain = workflow.nodes[parent].name + "-" + node.name;
      std::string key = plain;
      for (int i = 2; !keys.insert(key).second; ++i) key = plain + "-" + std::to_string(i);
      each(key, workflow.nodes[parent], node);
    }
  }
}

std::string node_json(const CcWorkflow& workflow, const CcNode& node) {
  std::string out;
  each_attribute(workflow, node, [&](const std::string& name, const std::string& json) {
    out += (out.empty() ? "{" : ", ") + double_quoted(name) + ": " + json;
  });
  return out + "}";
}

std::string nodes_json(const CcWorkflow& workflow) {
  std::string out;
  for (const CcNode& node : workflow.nodes)
    out += (out.empty() ? "{" : ", ") + double_quoted(node.name) + ": " + node_json(workflow, node);
  return (out.empty() ? "{" : out) + "}";
}

std::string edges_json(const CcWorkflow& workflow) {
  std::string out;
  each_edge(workflow, [&](const std::string& key, const CcNode& from, const CcNode& to) {
    out += (out.empty() ? "{" : ", ") + double_quoted(key) +
           ": {\"source\": " + double_quoted(from.name) +
           ", \"destination\": " + double_quoted(to.name) + ", \"name\": " + double_quoted(key) +
           "}";
  });
  return (out.empty() ? "{" : out) + "}";
}

using Row = std::array<std::string, 9>;

std::vector<Row> rows_of(const CcWorkflow& workflow) {
  std::vector<const CcNode*> nodes;
  for (const CcNode& node : workflow.nodes) nodes.push_back(&node);
  // They lie in one list, so that of equal numbers the one that comes first there stays first.
  std::sort(nodes.begin(), nodes.end(), [](const CcNode* a, const CcNode* b) {
    return a->number != b->number ? a->number < b->number : a < b;
  });
  std::vector<Row> rows = {
      {"number", "host", "status", "name", "progress", "script", "user", "parent", "kind"}};
  for (const CcNode* node : nodes) {
    std::string parents;
    for (const uint32_t parent : node->parents)
      parents += (parents.empty() ? "" : " ") + workflow.nodes[parent].name;
    rows.push_back({std::to_string(node->number), node->host, node->status, node->name,
                    std::to_string(node->progress), node->script, node->user, parents, node->kind});
  }
  return rows;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) (out += c) += c == '"' ? "\"" : "";
  return out + "\"";
}

size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string save_cc(const CcWorkflow& workflow) {
  std::string out = "workflow:\n  nodes:\n";
  for (const CcNode& node : workflow.nodes) {
    out += "    " + yaml_text(node.name) + ":\n";
    each_attribute(workflow, node, [&](const std::string& name, const std::string& json) {
      out += "      " + yaml_text(name) + ": " + json + "\n";
    });
  }
  std::string edges;
  each_edge(workflow, [&](const std::string& key, const CcNode& from, const CcNode& to) {
    edges += "    " + yaml_text(key) + ":\n      source: " + double_quoted(from.name) +
             "\n      destination: " + double_quoted(to.name) +
             "\n      name: " + double_quoted(key) + "\n";
  });
  out += edges.empty() ? "  dependencies: {}\n" : "  dependencies:\n" + edges;
  out += "colors:\n  status:\n";
  for (const auto& [status, color] : workflow.colors)
    out += "    " + yaml_text(status) + ": " + double_quoted(color) + "\n";
  return out;
}

std::string times_dat(const CcWorkflow& workflow, const CcRun& run) {
  std::map<std::string, Time> times = {{"created_time", run.created},
                                       {"t0_" + workflow.name, run.started},
                                       {"t1_" + workflow.name, run.ended}};
  for (const CcNode& node : workflow.nodes) {
    const LabelValues values = label_values(node, run);
    times["created_time_" + node.name] = values.created;
    times["modified_time_" + node.name] = values.modified;
    times["tstart_" + node.name] = values.tstart;
    times["tend_" + node.name] = values.tend;
  }
  std::string out;
  for (const auto& [name, at] : times) {
    if (at)
      out += "  " + yaml_text(name) + ": '" + format_cc_time(kCcTimeFormat, at, run.zone) + "'\n";
  }
  return out.empty() ? "times: {}\n" : "times:\n" + out;
}

std::string status_json(const CcWorkflow& workflow) {
  std::string jobs;
  for (const CcNode& node : workflow.nodes)
    jobs += (jobs.empty() ? "" : ", ") + double_quoted(node.name) +
            ": {\"status\": " + double_quoted(node.status) +
            ", \"progress\": " + std::to_string(node.progress) + "}";
  return "{\"workflow\": " + double_quoted(workflow_status(workflow)) + ", \"jobs\": {" + jobs +
         "}}";
}

std::string workflow_json(const CcWorkflow& workflow) {
  return "{\"nodes\": " + nodes_json(workflow) + ", \"dependencies\": " + edges_json(workflow) +
         "}";
}

std::string jobs_json(const CcWorkflow& workflow) {
  return "{\"jobs\": " + nodes_json(workflow) + "}";
}

std::string job_json(const CcWorkflow& workflow, const CcNode& node) {
  return node_json(workflow, node);
}

std::string jobs_csv(const CcWorkflow& workflow) {
  std::string out;
  for (const Row& row : rows_of(workflow)) {
    for (size_t i = 0; i < row.size(); ++i) out += (i ? "," : "") + csv_cell(row[i]);
    out += "\n";
  }
  return out;
}

std::string jobs_table(const CcWorkflow& workflow) {
  const std::vector<Row> rows = rows_of(workflow);
  std::array<size_t, 9> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string rule = "+";
  for (const size_t each : widths) rule += std::string(each + 2, '-') + "+";
  std::string out = rule + "\n";
  for (const Row& row : rows) {
    out += "|";
    for (size_t i = 0; i < row.size(); ++i)
      out += " " + row[i] + std::string(widths[i] - width(row[i]), ' ') + " |";
    out += "\n";
    if (&row == &rows.front()) out += rule + "\n";
  }
  return out + rule + "\n";
}

}  // namespace atl::spec::cc
