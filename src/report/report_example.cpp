// report_example DIRECTORY: the report, the drawings and the crates of example runs.
#include <cstdio>
#include <fstream>
#include <string>

#include "report/crate.h"
#include "report/graph.h"
#include "report/report.h"
#include "report/test_runs.h"

int main(int argc, char** argv) {
  using namespace atl::report;
  if (argc != 2) {
    std::fprintf(stderr, "usage: report_example DIRECTORY\n");
    return 2;
  }
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(std::string(argv[1]) + "/" + name, std::ios::binary) << bytes;
  };
  for (const auto& [name, run] :
       {std::pair("connect", connect_run()), std::pair("hostile", hostile_run()),
        std::pair("large", fan_out(10'000))}) {
    const std::string base = name;
    write(base + ".html", to_html(run));
    write(base + ".svg", to_svg(run));
    write(base + ".dot", to_dot(run));
    write(base + ".txt", to_text(run));
    const auto crate = to_crate(run);
    if (!crate) {
      std::fprintf(stderr, "%s: %s\n", name, crate.error().message.c_str());
      return 1;
    }
    write(base + ".zip", *crate);
  }
  return 0;
}
