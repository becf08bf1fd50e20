// For the sources of this room only: what both formats put together the same way.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "simulate/trace.h"

namespace atl::simulate {

// Fills a trace line by line. A line is one job, something else that is fine, or broken.
class TraceReader {
 public:
  TraceReader(Trace& trace, const ReadOptions& options) : trace_(trace), options_(options) {}
  virtual ~TraceReader() = default;
  // What is wrong with the line, and what to write instead.
  [[nodiscard]] virtual Result<void> line(std::string_view text) = 0;
  // After the last line.
  virtual void finish() {}

 protected:
  uint32_t user(const std::string& name) { return index(users_, trace_.users, name); }
  [[nodiscard]] Result<uint16_t> ns(const std::string& name);
  [[nodiscard]] Result<uint16_t> wishes(const Wishes& wishes);
  [[nodiscard]] Result<void> add(const TraceJob& job);

  Trace& trace_;
  const ReadOptions& options_;

 private:
  static uint32_t index(std::map<std::string, uint32_t>& known, std::vector<std::string>& names,
                        const std::string& name);
  std::map<std::string, uint32_t> users_, namespaces_;
  std::map<Wishes, uint32_t> wishes_{{{}, 0}};
  uint64_t tasks_ = 0;
};

// trace_swf.cpp: "; MaxNodes: 128" and lines of 18 numbers.
class SwfReader : public TraceReader {
 public:
  SwfReader(Trace& trace, const ReadOptions& options) : TraceReader(trace, options) {
    trace.spreads = true;
  }
  [[nodiscard]] Result<void> line(std::string_view text) override;

 private:
  void comment(std::string_view text);
  [[nodiscard]] Result<void> job(const int64_t (&fields)[18]);
  std::map<int64_t, uint32_t> users_by_number_;
  std::map<int64_t, uint16_t> groups_by_number_;
};

// trace_history.cpp: one JSON object a line.
class HistoryReader : public TraceReader {
 public:
  using TraceReader::TraceReader;
  [[nodiscard]] Result<void> line(std::string_view text) override;
  void finish() override;  // times become relative to midnight before the first submission

 private:
  std::set<std::string> nodes_;
};

}  // namespace atl::simulate
