// Bytes to Response, for the client. Internal.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <functional>

#include "http/chunk_decoder.h"
#include "http/message.h"

namespace atl::http {

class ResponseParser : private boost::beast::http::basic_parser<false> {
 public:
  struct Options {
    bool head_only = false;  // the answer to HEAD
    std::size_t body_max = 0;
    std::function<bool(std::string_view)> on_data;
  };

  explicit ResponseParser(Options options);

  enum class Progress { need_more, done, stopped, too_large, malformed };

  // Takes bytes from the front of `bytes` and removes them.
  Progress parse(std::string_view& bytes);

  // The connection has ended. True when that was a proper end of the answer.
  bool finish();

  bool begun() const { return got_some(); }
  bool keep_alive() const { return basic_parser::keep_alive() && !need_eof(); }
  Response& response() { return response_; }

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  Progress parse_chunks(std::string_view& bytes);
  std::size_t take_body(string_view bytes, error_code& error);

  void on_request_impl(boost::beast::http::verb, string_view, string_view, int,
                       error_code&) override {}
  void on_response_impl(int status, string_view, int, error_code&) override {
    response_.status = status;
  }
  void on_field_impl(boost::beast::http::field, string_view name, string_view value,
                     error_code&) override;
  void on_header_impl(error_code&) override { head_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view bytes, error_code& error) override {
    return take_body(bytes, error);
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}

  const Options options_;
  Response response_;
  ChunkDecoder chunks_;
  bool head_done_ = false;
  Progress verdict_ = Progress::need_more;  // when we ended it ourselves: stopped or too_large
};

}  // namespace atl::http
