#include "cli/output.h"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <regex>

namespace atl::cli {
namespace {

std::string json_list(const std::vector<Json>& items) {
  std::string joined = "[";
  for (const Json& item : items) joined += (joined.size() > 1 ? "," : "") + item.compact();
  const auto list = Json::parse(joined + "]");
  return list ? list->pretty() : "[]\n";
}

std::string yaml_list(const std::vector<Json>& items) {
  std::string joined = "[";
  for (const Json& item : items) joined += (joined.size() > 1 ? "," : "") + item.compact();
  const auto list = Json::parse(joined + "]");
  return list ? list->yaml() : "[]\n";
}

std::string names(const View& view, const std::vector<Json>& items) {
  std::string out;
  for (const Json& item : items) out += printable(item.text(view.name_key)) + "\n";
  return out;
}

std::string table(const View& view, const std::vector<Json>& items, const Globals& globals,
                  const Terminal& terminal) {
  const bool wide = globals.format == Format::wide;
  std::vector<Column> columns;
  std::vector<Row> rows(items.size());
  for (const ViewColumn& column : view.columns) {
    if (column.wide && !wide) continue;
    columns.push_back(column.column);
    for (std::size_t i = 0; i < items.size(); ++i) rows[i].push_back(column.cell(items[i]));
  }
  const TableStyle style{
      .width = wide ? 0 : terminal.width, .headers = !globals.no_headers, .color = terminal.color};
  return render_table(std::move(columns), std::move(rows), style, view.drop_empty && !wide);
}

}  // namespace

std::string format_list(const View& view, const std::vector<Json>& items, const Globals& globals,
                        const Terminal& terminal) {
  if (globals.quiet) return names(view, items);
  switch (globals.format) {
    case Format::name:
      return names(view, items);
    case Format::json:
      return json_list(items);
    case Format::yaml:
      return yaml_list(items);
    case Format::jsonl: {
      std::string out;
      for (const Json& item : items) out += item.compact() + "\n";
      return out;
    }
    default:
      return table(view, items, globals, terminal);
  }
}

void print_list(Session& session, const View& view, const std::vector<Json>& items) {
  session.out << format_list(view, items, session.globals, session.terminal) << std::flush;
}

void print_one(Session& session, const Json& thing, const char* name_key,
               const std::function<std::string()>& card) {
  if (session.names_only()) {
    session.out << printable(thing.text(name_key)) << "\n";
  } else if (session.globals.format == Format::json) {
    session.out << thing.pretty();
  } else if (session.globals.format == Format::jsonl) {
    session.out << thing.compact() << "\n";
  } else if (session.globals.format == Format::yaml) {
    session.out << thing.yaml();
  } else {
    session.out << card();
  }
  session.out << std::flush;
}

void print_answers(Session& session, const std::vector<Json>& things, bool several,
                   const char* name_key) {
  if (several) return print_list(session, {.columns = {}, .name_key = name_key}, things);
  for (const Json& thing : things)
    print_one(session, thing, name_key, [] { return std::string(); });
}

Card& Card::line(std::string key, std::string value, Color color) {
  if (!value.empty()) lines_.push_back({std::move(key), std::move(value), color});
  return *this;
}

std::string Card::str() const {
  int width = 0;
  for (const Line& line : lines_) width = std::max(width, display_width(line.key));
  std::string out;
  for (const Line& line : lines_) {
    out += paint(pad(line.key, width, Align::left), Color::faint, color_) + "  " +
           paint(printable(line.value), line.color, color_) + "\n";
  }
  return out;
}

std::function<Cell(const Json&)> cell_text(const char* key) {
  return [key](const Json& item) { return Cell{item.text(key)}; };
}

std::function<Cell(const Json&)> cell_time(const char* key) {
  return [key](const Json& item) { return Cell{show_age(item.text(key))}; };
}

Time wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return {now.tv_sec * 1'000'000 + now.tv_nsec / 1000};
}

std::string show_age(const std::string& rfc3339) {
  const auto when = parse_time(rfc3339);
  if (!when || rfc3339.empty()) return {};
  const std::int64_t seconds = (wall_clock() - *when).us / 1'000'000;
  const std::int64_t age = seconds < 0 ? -seconds : seconds;
  // One unit is all that anybody reads of an age. A clock that is a little behind is no future.
  const auto said = [&](std::int64_t count, const char* unit) {
    const std::string span = std::to_string(count) + unit;
    return seconds < -1 ? "in " + span : span + " ago";
  };
  if (seconds == -1) return "0s ago";
  if (age < 60) return said(age, "s");
  if (age < 3600) return said(age / 60, "m");
  if (age < 86400) return said(age / 3600, "h");
  if (age < 7 * 86400) return said(age / 86400, "d");
  return show_local_time(rfc3339).substr(0, 10);
}

std::string show_local_time(const std::string& rfc3339) {
  const auto when = parse_time(rfc3339);
  if (!when || rfc3339.empty()) return rfc3339;
  const std::time_t whole = when->us / 1'000'000;
  std::tm parts{};
  ::localtime_r(&whole, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string show_clock(const std::string& rfc3339) {
  const auto when = parse_time(rfc3339);
  if (!when || rfc3339.empty()) return rfc3339;
  const Time now = wall_clock();
  const std::string text = show_local_time(rfc3339);
  const bool today = text.substr(0, 10) == show_local_time(format_time(now)).substr(0, 10);
  const Duration away = std::max(*when - now, now - *when);
  const bool near = away < minutes(10);
  return (today ? "" : text.substr(0, 11)) + text.substr(11, near ? 8 : 5);
}

std::string with_local_times(const std::string& sentence) {
  static const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)");
  std::string out;
  auto rest = sentence.cbegin();
  for (std::sregex_iterator at(sentence.begin(), sentence.end(), kTime), end; at != end; ++at) {
    out.append(rest, (*at)[0].first);
    out += show_clock(at->str());
    rest = (*at)[0].second;
  }
  return out.append(rest, sentence.cend());
}

}  // namespace atl::cli
