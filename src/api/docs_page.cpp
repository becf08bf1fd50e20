#include <algorithm>
#include <map>

#include "api/documents.h"
#include "api/endpoint.h"
#include "api/views.h"

namespace atl::api {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

constexpr std::string_view kStyle =
    R"(:root{color-scheme:light dark;--edge:#8884;--dim:#888;--ink:#0b6e99}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{margin-bottom:0}h2{margin-top:3rem;border-bottom:1px solid var(--edge);text-transform:capitalize}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{border:1px solid var(--edge);border-radius:6px;padding:.6rem;overflow-x:auto;white-space:pre-wrap;word-break:break-word}
details{border:1px solid var(--edge);border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}summary{cursor:pointer}
table{border-collapse:collapse;width:100%}td{border-top:1px solid var(--edge);padding:.25rem .6rem .25rem 0;vertical-align:top}
td:first-child{white-space:nowrap}b{color:var(--ink)}.dim{color:var(--dim)}a{color:var(--ink)})";

std::string kind_text(const spec::Field& field) {
  static constexpr const char* kWords[] = {
      "text",     "true or false", "whole number",    "cores",          "bytes",
      "duration", "list of texts", "list of numbers", "names to texts", "names to numbers",
      "object",   "list",          "number",          "time",           "anything"};
  std::string text = kWords[static_cast<size_t>(field.kind)];
  if (field.shape)
    text += std::string(" <a href=\"#") + field.shape().name + "\">" + field.shape().name + "</a>";
  if (field.nullable) text += " or null";
  return text;
}

void add_field(std::string& out, const spec::Field& field, std::string_view where) {
  out += "<tr><td><code>" + escaped(field.name) + "</code>" +
         (field.required && where == "request" ? " *" : "") + "</td><td class=dim>" +
         kind_text(field) + "</td><td>" + escaped(field.sentence);
  for (const char* choice : field.choices) out += std::string(" <code>") + choice + "</code>";
  if (field.fallback)
    out += " <span class=dim>Default <code>" + escaped(field.fallback) + "</code></span>";
  if (field.example)
    out += " <span class=dim>Such as <code>" + escaped(field.example) + "</code></span>";
  out += "</td></tr>\n";
}

void add_endpoint(std::string& out, const Endpoint& endpoint) {
  out += "<details><summary><b>" + std::string(endpoint.method) + "</b> <code>" +
         escaped(endpoint.path) + "</code></summary>\n<p>" + escaped(endpoint.summary) +
         "</p><p class=dim>Needs " + escaped(to_string(endpoint.needs)) + ".</p>";
  if (!endpoint.params.empty()) {
    out += "<table>";
    for (const Param& param : endpoint.params) add_field(out, param.field, "param");
    out += "</table>";
  }
  if (endpoint.request)
    out += std::string("<p>Body: <a href=\"#") + endpoint.request().name + "\">" +
           endpoint.request().name + "</a></p>";
  if (endpoint.response)
    out += "<p>Answer " + std::to_string(endpoint.status) + ": <a href=\"#" +
           endpoint.response().name + "\">" + endpoint.response().name + "</a></p>";
  if (endpoint.tried)
    out += std::string("<p>Answer 200 of a dry run: <a href=\"#") + endpoint.tried().name + "\">" +
           endpoint.tried().name + "</a></p>";
  if (endpoint.example) out += "<pre>" + escaped(endpoint.example) + "</pre>";
  out += "</details>\n";
}

void add_shape(std::string& out, const spec::Shape& shape) {
  out += std::string("<h3 id=\"") + shape.name + "\">" + shape.name + "</h3><p>" +
         escaped(shape.sentence);
  if (shape.scalar) out += " <span class=dim>Short form: " + escaped(shape.scalar) + "</span>";
  out += "</p><table>";
  for (const spec::Field& field : shape.fields) add_field(out, field, "request");
  out += "</table>\n";
}

}  // namespace

std::string origin_of(std::string_view host, bool tls) {
  const bool plain = std::ranges::all_of(host, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
  if (host.empty() || !plain) return {};
  return (tls ? "https://" : "http://") + std::string(host);
}

std::string docs_page(const std::string& version, const std::string& origin) {
  std::string out =
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width\"><title>Atoll API</title><style>";
  out +=
      std::string(kStyle) + "</style>\n<h1>Atoll</h1><p class=dim>API v1, program " +
      escaped(version) +
      ". For programs: <a href=\"/openapi.json\">/openapi.json</a></p>"
      "<p>Submit a job and read its output:</p><pre>curl -H \"Authorization: Bearer "
      "$ATOLL_TOKEN\" " +
      escaped(origin) +
      "/api/v1/jobs -d '{\"command\": [\"echo\", \"hello\"]}'\n"
      "curl -H \"Authorization: Bearer $ATOLL_TOKEN\" " +
      escaped(origin) +
      "/api/v1/jobs/1/logs</pre>"
      "<p>Times are RFC 3339 in UTC. Durations are texts such as <code>1h30m</code> or numbers of "
      "seconds; measured ones end in <code>_seconds</code>. "
      "Errors are <code>application/problem+json</code> with the offending <code>field</code>. "
      "Lists have a <code>Link</code> to the next page.</p>\n";
  std::vector<std::string> tags;
  std::map<std::string, std::string> sections;
  std::vector<const spec::Shape*> shapes;
  for (const Endpoint& endpoint : endpoints()) {
    if (!sections.count(endpoint.tag)) tags.emplace_back(endpoint.tag);
    add_endpoint(sections[endpoint.tag], endpoint);
    if (endpoint.request) spec::collect_shapes(endpoint.request(), shapes);
    if (endpoint.response) spec::collect_shapes(endpoint.response(), shapes);
    if (endpoint.tried) spec::collect_shapes(endpoint.tried(), shapes);
  }
  for (const std::string& tag : tags) out += "<h2>" + tag + "</h2>\n" + sections[tag];
  out += "<h2>structures</h2>\n";
  spec::collect_shapes(problem_shape(), shapes);
  spec::collect_shapes(task_shape(), shapes);
  for (const spec::Shape* shape : shapes) add_shape(out, *shape);
  return out + "</html>\n";
}

}  // namespace atl::api
