#include "cli/table.h"

#include <gtest/gtest.h>

#include "cli/job_view.h"
#include "cli/output.h"

namespace atl::cli {
namespace {

const std::vector<Column> kColumns{{.title = "ID", .align = Align::right},
                                   {.title = "NAME", .least = 6},
                                   {.title = "USER", .least = 4, .drop_rank = 1},
                                   {.title = "STATE"}};

std::vector<Row> rows() {
  return {{{"7"}, {"a very long name of a job"}, {"ada"}, {"running", Color::active}},
          {{"1200"}, {"東京"}, {"grace"}, {"waiting", Color::waiting}}};
}

TEST(Table, ColumnsAlignByWhatTheTerminalShows) {
  EXPECT_EQ(render_table(kColumns, rows(), {}),
            "  ID  NAME                       USER   STATE\n"
            "   7  a very long name of a job  ada    running\n"
            "1200  東京                       grace  waiting\n");
}

TEST(Table, LongColumnsAreCutToFit) {
  EXPECT_EQ(render_table(kColumns, rows(), {.width = 36}),
            "  ID  NAME            USER   STATE\n"
            "   7  a very long n…  ada    running\n"
            "1200  東京            grace  waiting\n");
}

TEST(Table, EveryLineFitsDownToTheLeastWidth) {
  for (int width = 25; width < 60; ++width) {
    const std::string table = render_table(kColumns, rows(), {.width = width});
    for (std::size_t at = 0; at < table.size();) {
      const std::size_t end = table.find('\n', at);
      EXPECT_LE(display_width(table.substr(at, end - at)), width) << table;
      at = end + 1;
    }
  }
}

TEST(Table, TheLeastImportantColumnGoesWhenThereIsNoRoom) {
  const std::string table = render_table(kColumns, rows(), {.width = 26});
  EXPECT_EQ(table.find("USER"), std::string::npos) << table;
  EXPECT_NE(table.find("STATE"), std::string::npos);
}

TEST(Table, HeadersAndColorsAreOptional) {
  EXPECT_EQ(render_table({{.title = "A"}, {.title = "B"}}, {{{"x"}, {"y", Color::bad}}},
                         {.headers = false}),
            "x  y\n");
  EXPECT_EQ(render_table({{.title = "A"}, {.title = "B"}}, {{{"x"}, {"y", Color::bad}}},
                         {.headers = false, .color = true}),
            "x  \x1b[31my\x1b[0m\n");
}

TEST(Table, HostileTextTakesOneLineAndNoEscape) {
  const std::string table =
      render_table({{.title = "NAME"}}, {{{"\x1b]0;pwned\x07\nrm -rf /"}}}, {.headers = false});
  EXPECT_EQ(table, "\\x1b]0;pwned\\x07\\nrm -rf /\n");
}

TEST(Table, EmptyColumnsAreLeftOutOnDemand) {
  EXPECT_EQ(render_table({{.title = "A"}, {.title = "B"}}, {{{"x"}, {""}}}, {}, true), "A\nx\n");
}

Json job(const std::string& text) { return Json::parse(text).value(); }

TEST(JobView, ShowsWhyAJobWaitsAndHowOneEnded) {
  const std::vector<Json> jobs{
      job(R"({"id":"8","name":"train","namespace":"vision","user":"ada","state":"waiting","reason":"quota","outcome":null,
              "cpus":0.5,"memory_bytes":1073741824,"devices":["gpu:a100:1"],"submitted":"2026-11-15T10:00:00Z"})"),
      job(R"({"id":"7","name":"prep","namespace":"vision","user":"ada","state":"ended","outcome":"failed","reason":null,
              "cpus":1,"memory_bytes":536870912,"devices":[],"message":"exit code 3","ended":"2020-01-01T00:00:00Z"})")};
  const std::string table = format_list(job_list_view(), jobs, {}, {});
  EXPECT_NE(table.find("8  train  vision     ada   waiting  quota"), std::string::npos) << table;
  EXPECT_NE(table.find("failed   exit code 3"), std::string::npos) << table;
  EXPECT_NE(table.find("0.5    1Gi  gpu:a100:1"), std::string::npos) << table;
  EXPECT_EQ(format_list(job_list_view(), jobs, {.quiet = true}, {}), "8\n7\n");
}

TEST(JobView, ArraysShowTheirProgress) {
  EXPECT_EQ(show_progress(
                job(R"({"tasks":{"total":10,"waiting":3,"active":2,"succeeded":4,"failed":1}})")),
            "5/10 (1 failed)");
  EXPECT_EQ(show_progress(job(R"({"tasks":null})")), "");
}

TEST(JobView, SpansHaveTwoUnits) {
  EXPECT_EQ(show_span(seconds(59)), "59s");
  EXPECT_EQ(show_span(seconds(250)), "4m10s");
  EXPECT_EQ(show_span(hours(52)), "2d4h");
  EXPECT_EQ(show_span(seconds(-5)), "0s");
}

TEST(Output, FormatsForPrograms) {
  const std::vector<Json> items{job(R"({"name":"a","n":1.5})"), job(R"({"name":"no","n":null})")};
  const View view{.columns = {{{.title = "NAME"}, cell_text("name")}}};
  EXPECT_EQ(format_list(view, items, {.format = Format::jsonl}, {}),
            "{\"name\":\"a\",\"n\":1.5E0}\n{\"name\":\"no\",\"n\":null}\n");
  EXPECT_EQ(format_list(view, items, {.format = Format::json}, {}),
            "[\n  {\n    \"name\": \"a\",\n    \"n\": 1.5\n  },\n  {\n    \"name\": \"no\",\n    "
            "\"n\": null\n  }\n]\n");
  EXPECT_EQ(format_list(view, items, {.format = Format::yaml}, {}),
            "- name: \"a\"\n  n: 1.5\n- name: \"no\"\n  n: ~\n");
  EXPECT_EQ(format_list(view, {}, {.format = Format::json}, {}), "[]\n");
}

TEST(Output, YamlReadsBackAsItWas) {
  EXPECT_EQ(
      job(R"({"a":{"no":[1,[],{}],"x y":"\u007f\u0085é\n"},"gpu:a100":[{"k":true,"l":2}]})").yaml(),
      "a:\n  \"no\":\n    - 1\n    - []\n    - {}\n  \"x y\": \"\\x7f\\x85é\\n\"\n"
      "gpu:a100:\n  - k: true\n    l: 2\n");
}

TEST(Output, CardsAlignTheirKeysAndEscapeTheirValues) {
  EXPECT_EQ(Card(false).line("job", "12").line("exit code", "").line("namespace", "a\x1b").str(),
            "job        12\nnamespace  a\\x1b\n");
}

}  // namespace
}  // namespace atl::cli
