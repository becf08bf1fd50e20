// The JSON schema of a workflow's file, from the table that the parser reads by.
#pragma once

#include <string>

namespace atl::spec {

std::string workflow_schema();

}  // namespace atl::spec
