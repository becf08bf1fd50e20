// Patterns such as "/api/v1/jobs/{id}/logs" to handlers: a trie over path segments.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"
#include "http/message.h"

namespace atl::http {

struct RouteOptions {
  std::optional<std::uint64_t> body_max;  // bytes; the server's limit when absent

  // Asked before a large body is read: an answer refuses it. It sees the request without its body.
  std::function<std::optional<Response>(const Request&)> admit;
};

struct Route {
  std::string method;
  std::string pattern;
  Handler handler;
  RouteOptions options;
  std::vector<std::string> param_names;
};

class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  // A segment is literal, {name}, or, as the last one, {name...} which takes one or more segments.
  // Literals win over {name}, {name} over {name...}. A malformed or doubled pattern is our mistake:
  // CHECK.
  void add(std::string_view method, std::string_view pattern, Handler handler,
           RouteOptions options = {});

  struct Match {
    const Route* route = nullptr;  // null when no path matches (404) or no method does (405)
    std::string allow;  // the Allow header, when the path exists; filled for 405 and OPTIONS
    Pairs params;
  };

  // raw_path comes from parse_target and is not decoded: an escaped slash stays inside its segment.
  // HEAD finds GET.
  Match match(std::string_view method, std::string_view raw_path) const;

  // In the order they were added, for documentation and table tests.
  std::vector<const Route*> routes() const;

 private:
  struct Node;
  static const Node* descend(const Node& node, std::string_view rest,
                             std::vector<std::string_view>& captured);

  std::unique_ptr<Node> root_;
  std::vector<std::unique_ptr<Route>> routes_;
};

}  // namespace atl::http
