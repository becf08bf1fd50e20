// From the first byte of a request to its handler: head, route, body.
#include <algorithm>

#include "http/server_exchange.h"
#include "http/session.h"
#include "http/target.h"

namespace atl::http {
namespace {

bool is_usable_id(std::string_view id) {
  return !id.empty() && id.size() <= kRequestIdMax && std::ranges::all_of(id, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
}

}  // namespace

void Session::begin_request() {
  std::string_view bytes = in_.data();
  // Old clients send an empty line after a body; RFC 9112 asks to overlook it.
  while (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  in_.consume_to(bytes);
  if (bytes.empty() || bytes == "\r") return;  // half an empty line, its other half to come
  parser_.emplace(worker_.limits());
  body_ = BodyHold(worker_.shared().bodies_bytes);
  admitted_ = false;
  phase_deadline_ = worker_.now() + worker_.limits().header_timeout;
  // Until the head is known, an answer can only be a refusal that ends the connection.
  current_ = {.serial = current_.serial, .id = worker_.next_request_id(), .keep_alive = false};
}

void Session::take_head() {
  phase_ = Phase::body;
  const Request& request = parser_->request();
  current_.is_head = request.method == "HEAD";
  current_.http_1_0 = parser_->is_http_1_0();
  current_.keep_alive = parser_->keep_alive();
  if (parser_->has_body()) phase_deadline_ = worker_.now() + worker_.limits().request_timeout;
  if (const std::string_view id = request.headers.get("X-Request-Id"); is_usable_id(id))
    current_.id = id;
  if (route_request()) accept_expectation();
}

bool Session::route_request() {
  Request& request = parser_->request();
  auto target = parse_target(request.target);
  if (!target) return refuse(400, target.error().message), false;
  Router::Match match = worker_.shared().router.match(request.method, target->raw_path);
  if (!match.route) return refuse_unrouted(match), false;
  route_ = match.route;
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.params = std::move(match.params);
  if (route_->options.body_max) parser_->limit_body(*route_->options.body_max);
  if (!parser_->body_too_large()) return !parser_->announces_more_than(kFreeBodyMax) || admitted();
  return refuse(413, "the body is larger than the " + std::to_string(parser_->body_limit()) +
                         " bytes allowed here"),
         false;
}

// Whether the route takes a body beyond what everybody may send; if not, the request is answered.
bool Session::admitted() {
  if (admitted_ || !route_->options.admit) return true;
  parser_->request().peer = peer_;
  parser_->request().id = current_.id;
  auto refusal = route_->options.admit(parser_->request());
  if (!refusal) return admitted_ = true;
  current_.keep_alive = false;
  input_unread_ = true;
  write_response(std::move(*refusal));
  end_exchange();
  return false;
}

// Counts what has come of the body; false when it is refused.
bool Session::hold_body() {
  const std::uint64_t bytes = parser_->request().body.size();
  if (bytes > kFreeBodyMax && !admitted()) return false;
  const std::uint64_t all = body_.grow(bytes);
  if (bytes <= kFreeBodyMax || all <= worker_.limits().bodies_bytes) return true;
  refuse(503, "the server is reading as many large bodies as it can; try again in a moment",
         {{"Retry-After", "1"}});
  return false;
}

void Session::refuse_unrouted(const Router::Match& match) {
  const Request& request = parser_->request();
  if (match.allow.empty()) return refuse(404, "there is nothing at " + request.target);
  if (request.method != "OPTIONS") {
    return refuse(405, request.method + " is not possible here", {{"Allow", match.allow}});
  }
  if (parser_->has_body()) current_.keep_alive = false, input_unread_ = true;
  write_response(
      {.status = 204, .content_type = {}, .body = {}, .headers = {{"Allow", match.allow}}});
  end_exchange();
}

void Session::accept_expectation() {
  const std::string* expected = parser_->request().headers.find("Expect");
  if (!expected || current_.http_1_0) return;
  if (!equals_ignoring_case(*expected, "100-continue")) {
    return refuse(417, "100-continue is the only expectation understood");
  }
  if (parser_->has_body() && in_.data().empty()) out_.gather() += "HTTP/1.1 100 Continue\r\n\r\n";
}

void Session::dispatch() {
  Request request = std::move(parser_->request());
  request.peer = peer_;
  request.id = current_.id;
  parser_.reset();
  phase_ = Phase::handling;
  worker_.count_request();
  auto exchange = std::make_shared<ServerExchange>(
      std::move(request), std::move(body_),
      ServerExchange::Origin{.session = weak_from_this(),
                             .mailbox = worker_.shared_mailbox(),
                             .serial = current_.serial,
                             .http_1_0 = current_.http_1_0,
                             .stream_buffer_max = worker_.limits().stream_buffer_bytes});
  const auto& options = worker_.shared().options;
  try {
    route_->handler(exchange);
  } catch (const std::exception& error) {
    if (options.on_handler_error) options.on_handler_error(exchange->request(), error.what());
    exchange->respond(
        options.refuse(500, "the server made a mistake with this request", current_.id));
  }
}

}  // namespace atl::http
