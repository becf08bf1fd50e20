#include "http/request_parser.h"

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <limits>

namespace atl::http {
namespace {

namespace beast_http = boost::beast::http;

// A Content-Length may lie, so memory is committed ahead of the bytes only up to this.
constexpr std::uint64_t kBodyReserveMax = 1 << 20;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

RequestParser::RequestParser(const Limits& limits)
    : head_bytes_max_(limits.header_bytes),
      header_count_left_(limits.header_count),
      body_max_(limits.body_bytes) {
  // Beast counts header bytes per call, not per request, and knows no limit per route: both are
  // kept here.
  header_limit(std::numeric_limits<std::uint32_t>::max());
  basic_parser::body_limit(boost::none);
}

RequestParser::Progress RequestParser::parse(std::string_view& bytes) {
  if (is_done()) return Progress::done;
  if (head_reported_ && chunked()) return parse_chunk(bytes);
  if (bytes.empty()) return Progress::need_more;
  error_code error;
  const std::size_t used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  bytes.remove_prefix(used);
  if (!head_reported_ && status_ == 0 && head_too_large(used, bytes.size()))
    return Progress::refused;
  if (error) return classify(error);
  if (is_header_done() && !head_reported_) {
    head_reported_ = true;
    expects_body_ = !is_done();
    return Progress::head_done;
  }
  return is_done() ? Progress::done : Progress::body_part;
}

RequestParser::Progress RequestParser::parse_chunk(std::string_view& bytes) {
  std::string_view data;
  const auto progress = chunks_.next(bytes, data);
  error_code ignored;
  if (progress == ChunkDecoder::Progress::malformed) {
    refuse(400, "the chunked body is malformed", ignored);
  } else if (chunks_.announced() > body_max_) {
    refuse(413, "the body is too large", ignored);
  }
  if (status_ != 0) return Progress::refused;
  request_.body.append(data);
  if (progress == ChunkDecoder::Progress::done) return Progress::done;
  return progress == ChunkDecoder::Progress::taken ? Progress::body_part : Progress::need_more;
}

// Counts the bytes as they came, spaces and folded lines included, so that it is the same however
// they came. Those behind what was used belong to the head until its end was seen.
bool RequestParser::head_too_large(std::size_t used, std::size_t behind) {
  head_bytes_ += used;
  if (head_bytes_ + (is_header_done() ? 0 : behind) <= head_bytes_max_) return false;
  error_code ignored;
  refuse(431, "the request headers are too large", ignored);
  return true;
}

RequestParser::Progress RequestParser::classify(error_code error) {
  if (status_ != 0) return Progress::refused;
  if (error == beast_http::error::need_more) return Progress::need_more;
  error_code ignored;
  if (error == beast_http::error::header_limit || error == beast_http::error::buffer_overflow) {
    refuse(431, "the request headers are too large", ignored);
  } else if (error == beast_http::error::bad_version) {
    refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here", ignored);
  } else {
    refuse(400, "the request is not valid HTTP", ignored);
  }
  return Progress::refused;
}

bool RequestParser::announces_more_than(std::uint64_t bytes) const {
  const auto length = content_length();
  return length && *length > bytes;
}

void RequestParser::refuse(int status, std::string_view detail, error_code& error) {
  status_ = status;
  detail_ = detail;
  error = beast_http::make_error_code(beast_http::error::bad_value);
}

void RequestParser::on_request_impl(beast_http::verb, string_view method, string_view target,
                                    int version, error_code& error) {
  version_ = version;
  request_.method.assign(method.data(), method.size());
  request_.target.assign(target.data(), target.size());
  if (target.size() > kTargetBytesMax) return refuse(414, "the request target is too long", error);
}

void RequestParser::on_field_impl(beast_http::field field, string_view name, string_view value,
                                  error_code& error) {
  if (header_count_left_ == 0) return refuse(431, "the request has too many headers", error);
  --header_count_left_;
  if (field == beast_http::field::host) ++hosts_;
  if (field == beast_http::field::transfer_encoding &&
      !equals_ignoring_case(view(value), "chunked")) {
    return refuse(501, "chunked is the only transfer encoding understood", error);
  }
  request_.headers.add(std::string(name.data(), name.size()),
                       std::string(value.data(), value.size()));
}

void RequestParser::on_header_impl(error_code& error) {
  if (hosts_ > 1 || (hosts_ == 0 && version_ == 11)) {
    refuse(400, "the request must have exactly one Host header", error);
  }
}

void RequestParser::on_body_init_impl(const boost::optional<std::uint64_t>& length,
                                      error_code& error) {
  if (!length) return;
  if (*length > body_max_) return refuse(413, "the body is too large", error);
  request_.body.reserve(std::min(*length, kBodyReserveMax));
}

std::size_t RequestParser::on_body_impl(string_view bytes, error_code&) {
  request_.body.append(bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace atl::http
