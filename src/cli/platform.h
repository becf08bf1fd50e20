// The pattern of the verbs that manage the platform (ns, cohort, user, token, site): a request,
// then a list or a sentence.
#pragma once

#include <functional>
#include <string>

#include "cli/output.h"
#include "cli/session.h"
#include "spec/fields.h"

namespace atl::cli {

// GET `path` and print the list in the answer.
[[nodiscard]] Result<int> show_list(Session& session, const std::string& path, const View& view);

// Sends, then prints the answer as JSON when that is wanted, the name when quiet, else the
// sentence, which may be made of the answer. What the answer warns of is told too, and `also`
// looks at it last.
[[nodiscard]] Result<int> do_and_say(Session& session, const std::string& method,
                                     const std::string& path, std::string body,
                                     const std::string& name, const std::string& sentence);
[[nodiscard]] Result<int> do_and_say(Session& session, const std::string& method,
                                     const std::string& path, std::string body,
                                     const std::string& name,
                                     const std::function<std::string(const Json&)>& sentence,
                                     const std::function<void(const Json&)>& also = {});

// A weight as people write it, within its bounds.
[[nodiscard]] Result<spec::Cpus> parse_weight(const std::string& text);

// The machines of a site (site.cpp).
View node_view();

// The name, moved to the right by its depth in a tree.
Cell indented_name(const Json& item);

}  // namespace atl::cli
