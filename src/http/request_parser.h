// Bytes to Request: Beast's tokenizer with our limits, writing straight into the Request. Internal.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <string_view>

#include "http/chunk_decoder.h"
#include "http/limits.h"
#include "http/message.h"

namespace atl::http {

// One parser reads one request; the next one needs a new parser.
class RequestParser : private boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(const Limits& limits);

  enum class Progress {
    need_more,  // all of what could be used was; give the rest again with more behind it
    head_done,  // given once, before any byte of the body is taken
    body_part,  // some of the body was taken
    done,
    refused,  // see status() and detail()
  };

  // Takes bytes from the front of `bytes` and removes them.
  Progress parse(std::string_view& bytes);

  // To be called after head_done, before the body: with less than a Content-Length promises, the
  // next step is refused with 413.
  void limit_body(std::uint64_t bytes) { body_max_ = bytes; }

  Request& request() { return request_; }
  std::uint64_t body_limit() const { return body_max_; }
  int status() const { return status_; }
  std::string_view detail() const { return detail_; }

  bool has_body() const { return expects_body_; }
  bool body_too_large() const { return announces_more_than(body_max_); }
  bool announces_more_than(std::uint64_t bytes) const;
  bool keep_alive() const { return basic_parser::keep_alive(); }
  bool is_http_1_0() const { return version_ == 10; }

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  Progress parse_chunk(std::string_view& bytes);
  bool head_too_large(std::size_t used, std::size_t behind);
  Progress classify(error_code error);
  void refuse(int status, std::string_view detail, error_code& error);

  void on_request_impl(boost::beast::http::verb, string_view method, string_view target,
                       int version, error_code& error) override;
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(boost::beast::http::field, string_view name, string_view value,
                     error_code& error) override;
  void on_header_impl(error_code& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code& error) override;
  std::size_t on_body_impl(string_view bytes, error_code& error) override;
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}

  Request request_;
  ChunkDecoder chunks_;
  std::size_t head_bytes_max_;
  std::size_t head_bytes_ = 0;
  std::size_t header_count_left_;
  std::uint64_t body_max_;
  int version_ = 11;
  int status_ = 0;
  std::string_view detail_;
  bool head_reported_ = false;
  bool expects_body_ = false;
  unsigned hosts_ = 0;
};

}  // namespace atl::http
