// The same answer in the form that was asked for: a table for people, or json, jsonl, yaml and
// names for programs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/table.h"

namespace atl::cli {

struct ViewColumn {
  Column column;
  std::function<Cell(const Json&)> cell;
  bool wide = false;  // only with -o wide
};

// How one kind of thing is listed.
struct View {
  std::vector<ViewColumn> columns;
  const char* name_key = "name";  // what -o name and --quiet print
  bool drop_empty = true;         // columns without content are left out, except with -o wide
};

std::string format_list(const View& view, const std::vector<Json>& items, const Globals& globals,
                        const Terminal& terminal);
void print_list(Session& session, const View& view, const std::vector<Json>& items);

// A thing that is not a list: `card` makes it readable for people.
void print_one(Session& session, const Json& thing, const char* name_key,
               const std::function<std::string()>& card);

// Answers about several things for programs: one JSON or YAML document, the thing itself when only
// one was asked for (`several` is false), else a list; jsonl and names are lines.
void print_answers(Session& session, const std::vector<Json>& things, bool several,
                   const char* name_key);

// "Key:  value" lines with the keys aligned; entries without a value are left out.
class Card {
 public:
  explicit Card(bool color) : color_(color) {}
  Card& line(std::string key, std::string value, Color color = Color::plain);
  std::string str() const;

 private:
  struct Line {
    std::string key;
    std::string value;
    Color color;
  };
  bool color_;
  std::vector<Line> lines_;
};

// Cells out of common members.
std::function<Cell(const Json&)> cell_text(const char* key);
std::function<Cell(const Json&)> cell_time(const char* key);  // "5m ago", or the date when long ago

std::string show_age(const std::string& rfc3339);         // "4m ago"
std::string show_local_time(const std::string& rfc3339);  // "2026-11-15 22:03:11"
// "14:20", with the date when that is another day, with seconds when it is near.
std::string show_clock(const std::string& rfc3339);
// A sentence of the server's, with its times as show_clock shows them.
std::string with_local_times(const std::string& sentence);
Time wall_clock();

}  // namespace atl::cli
