// What the verbs of queues share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/session.h"

namespace atl::cli {

// A queue on the command line.
struct QueueName {
  std::string name;
  std::string ns;  // empty: the one that is meant when none is named
};
void add_queue_options(CLI::App* verb, QueueName& queue);

// "/namespaces/lab/queues" and "/namespaces/lab/queues/frames". After success session.api() is one.
[[nodiscard]] Result<std::string> queues_path(Session& session, const std::string& ns);
[[nodiscard]] Result<std::string> queue_path(Session& session, const QueueName& queue);

// The bytes of an item in an answer.
std::string item_body(const Json& item);

// {"body":…}, or {"base64":…} for what is not text; `more` are further members, each with a comma
// before it.
std::string item_json(const std::string& bytes, const std::string& more);

// "[4,5]" out of words that are numbers; the error names the one that is none.
[[nodiscard]] Result<std::string> number_list(const std::vector<std::string>& words,
                                              const char* what);
// ",\"key\":\"value\"" when there is a value.
std::string text_member(const char* key, const std::string& value);

}  // namespace atl::cli
