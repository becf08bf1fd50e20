// The pages of cc's portal. They look and change nothing by being looked at; what they offer to
// change is asked for by the routes that programs use. No page asks anything of another place.
#include "api/cloudmesh.h"
#include "api/handlers.h"
#include "http/target.h"
#include "report/graph.h"
#include "report/html.h"
#include "report/page_style.h"
#include "spec/cloudmesh/cc_write.h"

namespace atl::api {
namespace {

using report::escaped;
using spec::cc::CcWorkflow;

constexpr const char* kStatuses[] = {"ready", "submitted", "running", "done", "failed"};

constexpr const char* kExample =
    "workflow:\n  nodes:\n    fetch: {exec: echo fetch}\n    train: {exec: echo train}\n"
    "    plot: {exec: echo plot}\n  dependencies:\n    - fetch,train,plot\n";

// Numbers that follow their counters, and buttons that ask for what a link cannot.
constexpr std::string_view kScript = R"js(
for(const e of document.querySelectorAll("[data-count]"))
 new EventSource(e.dataset.count).onmessage=m=>{e.textContent=m.data};
for(const b of document.querySelectorAll("[data-to]"))b.onclick=async()=>{
 const r=await fetch(b.dataset.to,{method:b.dataset.method});
 document.getElementById("said").textContent=r.ok?"done":await r.text()};
)js";

// Links keep the namespace that the page was asked for with.
class Page {
 public:
  Page(const CallPtr& call, std::string title) : call_(call), title_(std::move(title)) {
    const auto ns = call->request().query_param("namespace");
    if (ns) query_ = "?namespace=" + escaped(http::percent_encode(*ns));
  }

  std::string to(const std::string& path) const { return "/cloudmesh/" + path + query_; }
  std::string link(const std::string& path, const std::string& text) const {
    return "<a href=\"" + to(path) + "\">" + escaped(text) + "</a>";
  }
  std::string button(const char* method, const std::string& path, const char* text) const {
    return std::string("<button data-method=\"") + method + "\" data-to=\"" + to(path) + "\">" +
           text + "</button>";
  }
  Page& add(const std::string& html) {
    body_ += html + "\n";
    return *this;
  }
  // So that a page without scripts is up to date too.
  Page& refreshed() {
    refresh_ = "<meta http-equiv=\"refresh\" content=\"10\">\n";
    return *this;
  }

  void respond() const {
    std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n" +
                       refresh_ + "<title>" + escaped(title_) + "</title>\n<style>";
    (html += report::kPageStyle) += "</style></head>\n<body>\n<p>";
    for (const auto& [path, text] : {std::pair("home", "workflows"), std::pair("add", "add"),
                                     std::pair("generate-example", "example"),
                                     std::pair("manpage", "manual"), std::pair("about", "about")})
      html += link(path, text) + " ";
    html += "</p>\n<h1>" + escaped(title_) + "</h1>\n" + body_ + "<p id=\"said\"></p>\n<script>";
    (html += kScript) += "</script></body></html>\n";
    call_->respond(
        {.status = 200,
         .content_type = "text/html; charset=utf-8",
         .body = std::move(html),
         .headers = {{"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cache-Control", "no-store"},
                     {"Content-Security-Policy",
                      "default-src 'none'; style-src 'unsafe-inline'; connect-src 'self'; "
                      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; script-src '" +
                          report::script_hash(kScript) + "'"}}});
  }

 private:
  CallPtr call_;
  std::string title_;
  std::string query_;
  std::string refresh_;
  std::string body_;
};

std::string upload_form(const Page& page, const std::string& name, const std::string& yaml) {
  return "<form method=\"post\" enctype=\"multipart/form-data\" action=\"" + page.to("workflow") +
         "\"><p><label>name <input name=\"workflow_name\" value=\"" + escaped(name) +
         "\"></label></p>\n<p><textarea name=\"yaml\" rows=\"20\" cols=\"100\">\n" +
         report::escaped_lines(yaml, size_t{16} << 20) +
         "</textarea></p>\n<p><button>keep</button></p></form>";
}

std::string counters(const Page& page, const std::string& name, const CcWorkflow& workflow) {
  const auto counts = spec::cc::status_counts(workflow);
  std::string out = "<table><tr>";
  for (const char* status : kStatuses) out += std::string("<th>") + status + "</th>";
  out += "</tr><tr>";
  for (const char* status : kStatuses) {
    const auto count = counts.find(status);
    out += "<td class=\"num\" data-count=\"" + page.to(std::string(status) + "-count/" + name) +
           "\">" + std::to_string(count == counts.end() ? 0 : count->second) + "</td>";
  }
  return out + "</tr></table>";
}

std::string links_of(const Page& page, const std::string& name) {
  std::string out = "<p>";
  for (const auto& [path, text] :
       {std::pair("workflow-graph/", "graph"), std::pair("serve-datatable/", "table"),
        std::pair("watcher/", "watch"), std::pair("edit/", "edit"), std::pair("reset/", "again"),
        std::pair("delete/", "delete")})
    out += page.link(path + name, text) + " ";
  return out + "</p>";
}

// What is on the page of one workflow, with the state of its last run.
using Fill = void (*)(Page& page, const std::string& name, const CcWorkflow& workflow);

void page_of(const CallPtr& call, Fill fill) {
  run_on(call->context.slow, call, [call, fill] {
    auto kept = load_definition(call, core::Role::viewer);
    if (!kept) return call->refuse(kept.error());
    const std::string name = kept->name;
    with_last_run(call, std::move(*kept), [call, fill, name](const CcWorkflow& workflow) {
      run_on(call->context.slow, call, [call, fill, name, workflow] {
        Page page(call, name);
        page.add(links_of(page, name));
        fill(page, name, workflow);
        page.respond();
      });
    });
  });
}

void text_page(const CallPtr& call, const char* title, const std::string& html) {
  Page(call, title).add(html).respond();
}

}  // namespace

void portal_home(const CallPtr& call) {
  run_on(call->context.slow, call, [call] {
    const auto of = definitions_of(call, core::Role::viewer);
    if (!of) return call->refuse(of.error());
    const auto names = call->context.cloudmesh.list(*of);
    if (!names) return call->refuse(names.error());
    Page page(call, "Workflows");
    std::string table = "<table><tr><th>name</th><th></th></tr>\n";
    for (const std::string& name : *names)
      table += "<tr><td>" + page.link("workflow-running/" + name, name) + "</td><td>" +
               links_of(page, name) + "</td></tr>\n";
    page.add(names->empty() ? "<p>None is kept here yet.</p>" : table + "</table>").respond();
  });
}

void portal_graph(const CallPtr& call) {
  page_of(call, [](Page& page, const std::string&, const CcWorkflow& workflow) {
    page.add("<div class=\"wide\">" + report::to_svg(drawn_run(workflow)) + "</div>").refreshed();
  });
}

void portal_table(const CallPtr& call) {
  page_of(call, [](Page& page, const std::string&, const CcWorkflow& workflow) {
    page.add("<div class=\"wide\">" + jobs_html(workflow) + "</div>").refreshed();
  });
}

void portal_watcher(const CallPtr& call) {
  page_of(call, [](Page& page, const std::string& name, const CcWorkflow& workflow) {
    page.add(counters(page, name, workflow));
  });
}

void portal_running(const CallPtr& call) {
  page_of(call, [](Page& page, const std::string& name, const CcWorkflow& workflow) {
    page.add(counters(page, name, workflow));
    page.add("<div class=\"wide\">" + report::to_svg(drawn_run(workflow)) + "</div>");
    page.add("<div class=\"wide\">" + jobs_html(workflow) + "</div>");
  });
}

void portal_edit(const CallPtr& call) {
  run_on(call->context.slow, call, [call] {
    const auto kept = load_definition(call, core::Role::viewer);
    if (!kept) return call->refuse(kept.error());
    Page page(call, kept->name);
    page.add(links_of(page, kept->name));
    page.add(upload_form(page, kept->name, kept->definition.yaml)).respond();
  });
}

void portal_delete(const CallPtr& call) {
  page_of(call, [](Page& page, const std::string& name, const CcWorkflow& workflow) {
    page.add("<p>What has run stays.</p>" + page.button("DELETE", "workflow/" + name, "delete it"));
    page.add("<div class=\"wide\">" + jobs_html(workflow) + "</div>");
  });
}

void portal_reset(const CallPtr& call) {
  page_of(call, [](Page& page, const std::string& name, const CcWorkflow& workflow) {
    page.add("<p>A run begins with all nodes, whatever became of the one before.</p>" +
             page.button("GET", "workflow/run/" + name, "run it"));
    page.add(counters(page, name, workflow));
  });
}

void portal_add(const CallPtr& call) {
  Page page(call, "Add a workflow");
  page.add(upload_form(page, "", "")).respond();
}

void portal_example(const CallPtr& call) {
  Page page(call, "An example");
  page.add(upload_form(page, "example", kExample)).respond();
}

void portal_about(const CallPtr& call) {
  text_page(call, "About",
            "<p>Workflows of the Cloudmesh compute coordinator, kept and run by Atoll " +
                escaped(call->context.options.version) +
                ". Its routes are described at <a href=\"/docs\">/docs</a>.</p>");
}

void portal_contact(const CallPtr& call) {
  text_page(call, "Contact", "<p>Ask whoever runs this server.</p>");
}

void portal_manual(const CallPtr& call) {
  text_page(call, "Manual",
            "<pre>atoll cc workflow add --filename=flood.yaml\n"
            "atoll cc workflow add --name=flood --job=plot[1-3] exec='sh plot.sh' parent=fetch\n"
            "atoll cc workflow --name=flood --dependencies=fetch,plot[1-3],end\n"
            "atoll cc workflow list\natoll cc workflow run --name=flood\n"
            "atoll cc workflow status --name=flood --output=json\n"
            "atoll cc workflow graph --name=flood\n"
            "atoll cc workflow delete --name=flood --job=plot1</pre>");
}

void portal_preferences(const CallPtr& call) {
  const auto table = call->context.directory.table();
  text_page(call, "Preferences",
            "<p>You are " + escaped(name_of(*table, call->actor.user)) +
                ". There is nothing to set: pages show all columns, and times are in UTC.</p>");
}

}  // namespace atl::api
