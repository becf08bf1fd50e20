// The two documents about the API, both made from endpoints().
#pragma once

#include <string>

namespace atl::api {

std::string openapi_document(const std::string& version);  // OpenAPI 3.1, JSON
std::string docs_page(
    const std::string& version);  // one HTML page without scripts or outside requests

}  // namespace atl::api
