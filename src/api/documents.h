// The two documents about the API, both made from endpoints().
#pragma once

#include <string>
#include <string_view>

namespace atl::api {

std::string openapi_document(const std::string& version);  // OpenAPI 3.1, JSON
// One HTML page without scripts or outside requests. Its examples are for the server at `origin`,
// such as https://atoll.example.org.
std::string docs_page(const std::string& version, const std::string& origin);
// What a `Host` header makes of it, or empty when that is no plain host and port: the examples are
// meant to be pasted into a shell.
std::string origin_of(std::string_view host, bool tls);

}  // namespace atl::api
