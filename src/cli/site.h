// What the verbs about sites share.
#pragma once

#include <string>

#include "cli/verbs.h"

namespace atl::cli {

std::string site_path(const std::string& name);
// "64 cpus, 256Gi": of all its nodes.
std::string capacity_of(const Json& site);

void add_site_change_verbs(Verbs& verbs, CLI::App* noun);  // add remove
void add_site_check_verb(Verbs& verbs, CLI::App* noun);

}  // namespace atl::cli
