#include "http/router.h"

#include <algorithm>

#include "base/check.h"
#include "http/target.h"

namespace atl::http {

struct Router::Node {
  std::vector<std::pair<std::string, std::unique_ptr<Node>>> literals;
  std::unique_ptr<Node> param;
  std::unique_ptr<Node> tail;
  std::vector<const Route*> routes;  // one per method that ends here

  Node* literal(std::string_view segment) const {
    for (const auto& [text, child] : literals) {
      if (text == segment) return child.get();
    }
    return nullptr;
  }

  const Route* find(std::string_view method) const {
    for (const Route* route : routes) {
      if (route->method == method) return route;
    }
    return nullptr;
  }
};

namespace {

std::string_view first_segment(std::string_view path) { return path.substr(0, path.find('/')); }

// Without the leading slash; nullopt-like end is told apart by `last`.
std::string_view after_segment(std::string_view path, std::string_view segment, bool& last) {
  last = segment.size() == path.size();
  return last ? std::string_view() : path.substr(segment.size() + 1);
}

std::string decoded(std::string_view segment) {
  // parse_target has refused bad escapes already, so the fallback is never seen.
  return percent_decode(segment).value_or(std::string(segment));
}

bool is_param(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

bool is_tail(std::string_view segment) { return is_param(segment) && segment.ends_with("...}"); }

std::string param_name(std::string_view segment) {
  return std::string(segment.substr(1, segment.size() - (is_tail(segment) ? 5 : 2)));
}

std::string allow_header(const std::vector<const Route*>& routes) {
  std::string allow;
  for (const Route* route : routes) {
    allow += route->method + ", ";
    if (route->method == "GET") allow += "HEAD, ";
  }
  return allow + "OPTIONS";
}

}  // namespace

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::add(std::string_view method, std::string_view pattern, Handler handler,
                 RouteOptions options) {
  CHECK(pattern.starts_with('/'), pattern);
  auto route = std::make_unique<Route>(Route{.method = std::string(method),
                                             .pattern = std::string(pattern),
                                             .handler = std::move(handler),
                                             .options = options,
                                             .param_names = {}});
  Node* node = root_.get();
  std::string_view rest = pattern.substr(1);
  for (bool last = false; !last;) {
    const std::string_view segment = first_segment(rest);
    rest = after_segment(rest, segment, last);
    CHECK(last || !is_tail(segment), pattern);
    if (is_param(segment)) {
      route->param_names.push_back(param_name(segment));
      auto& child = is_tail(segment) ? node->tail : node->param;
      if (!child) child = std::make_unique<Node>();
      node = child.get();
    } else {
      Node* child = node->literal(segment);
      if (!child) {
        child = node->literals.emplace_back(segment, std::make_unique<Node>()).second.get();
      }
      node = child;
    }
  }
  CHECK(!node->find(method), pattern);
  node->routes.push_back(route.get());
  routes_.push_back(std::move(route));
}

// Depth-first with literals first; the depth is bounded by the patterns, not by the request.
// `captured` gets the raw segments in the order of the pattern's names.
const Router::Node* Router::descend(const Node& node, std::string_view rest,
                                    std::vector<std::string_view>& captured) {
  bool last = false;
  const std::string_view segment = first_segment(rest);
  const std::string_view after = after_segment(rest, segment, last);
  auto enter = [&](const Node* child) -> const Node* {
    if (!child) return nullptr;
    if (last) return child->routes.empty() ? nullptr : child;
    return descend(*child, after, captured);
  };
  const bool escaped = segment.find('%') != std::string_view::npos;
  if (auto* found = enter(escaped ? node.literal(decoded(segment)) : node.literal(segment)))
    return found;
  if (segment.empty()) return nullptr;
  captured.push_back(segment);
  if (auto* found = enter(node.param.get())) return found;
  captured.back() = rest;
  if (node.tail) return node.tail.get();
  captured.pop_back();
  return nullptr;
}

Router::Match Router::match(std::string_view method, std::string_view raw_path) const {
  Match match;
  if (!raw_path.starts_with('/')) return match;
  std::vector<std::string_view> captured;
  const Node* node = descend(*root_, raw_path.substr(1), captured);
  if (!node) return match;
  match.route = node->find(method);
  if (!match.route && method == "HEAD") match.route = node->find("GET");
  if (!match.route) {
    match.allow = allow_header(node->routes);
    return match;
  }
  for (std::size_t i = 0; i < captured.size(); ++i) {
    match.params.emplace_back(match.route->param_names[i], decoded(captured[i]));
  }
  return match;
}

std::vector<const Route*> Router::routes() const {
  std::vector<const Route*> all;
  for (const auto& route : routes_) all.push_back(route.get());
  return all;
}

}  // namespace atl::http
