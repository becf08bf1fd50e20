// The server's API as verbs see it: JSON in, JSON out, and every refusal an Error with the server's
// own sentence.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/contexts.h"
#include "cli/json.h"
#include "http/client.h"

namespace atl::cli {

inline constexpr std::string_view kApiRoot = "/api/v1";

// Percent-encodes one path segment or query value.
std::string encode(std::string_view text);

// "?a=b&c=d" out of pairs, leaving out those with an empty value; empty when none is left.
std::string query(const std::vector<std::pair<std::string, std::string>>& pairs);

// The Error in an answer that is not 2xx.
Error error_of(const http::Response& response);

class Api {
 public:
  // Connects on the first call.
  [[nodiscard]] static Result<Api> open(const Target& target);

  // Any 2xx answer; an empty body is null. Paths are below /api/v1 unless they begin with "//",
  // which stands for the server's root: "//readyz".
  [[nodiscard]] Result<Json> get(const std::string& path);
  [[nodiscard]] Result<Json> post(const std::string& path, std::string body = {});
  [[nodiscard]] Result<Json> patch(const std::string& path, std::string body);
  [[nodiscard]] Result<Json> put(const std::string& path, std::string body);
  [[nodiscard]] Result<Json> remove(const std::string& path);

  // Gives out items page by page, following Link rel=next, until `limit` (0: all).
  [[nodiscard]] Result<void> each(const std::string& path, std::size_t limit,
                                  const std::function<bool(const Json&)>& take);
  [[nodiscard]] Result<std::vector<Json>> list(const std::string& path, std::size_t limit = 0);

  // A call of the caller's making, with this server's credentials added; a refusal is an Error.
  [[nodiscard]] Result<http::Response> send(http::Call call);

  const Target& target() const { return target_; }

 private:
  Api(Target target, http::Client client)
      : target_(std::move(target)), client_(std::move(client)) {}
  [[nodiscard]] Result<Json> call(std::string method, const std::string& path, std::string body);

  Target target_;
  http::Client client_;
};

// The path of a rel="next" Link header, or empty.
std::string next_link(std::string_view header);

}  // namespace atl::cli
