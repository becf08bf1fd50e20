#include "http/response_parser.h"

#include <boost/beast/http/error.hpp>

namespace atl::http {
namespace {

constexpr std::uint32_t kAnswerHeadMax = 64 * 1024;

}  // namespace

ResponseParser::ResponseParser(Options options) : options_(std::move(options)) {
  header_limit(kAnswerHeadMax);
  body_limit(boost::none);
  skip(options_.head_only);
}

ResponseParser::Progress ResponseParser::parse(std::string_view& bytes) {
  while (!is_done()) {
    if (head_done_ && chunked()) return parse_chunks(bytes);
    if (bytes.empty()) return Progress::need_more;
    error_code error;
    const std::size_t used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    bytes.remove_prefix(used);
    if (verdict_ != Progress::need_more) return verdict_;
    if (error == boost::beast::http::error::need_more) return Progress::need_more;
    if (error) return Progress::malformed;
  }
  return Progress::done;
}

ResponseParser::Progress ResponseParser::parse_chunks(std::string_view& bytes) {
  for (;;) {
    std::string_view data;
    const auto progress = chunks_.next(bytes, data);
    if (progress == ChunkDecoder::Progress::need_more) return Progress::need_more;
    if (progress == ChunkDecoder::Progress::malformed) return Progress::malformed;
    if (progress == ChunkDecoder::Progress::done) return Progress::done;
    error_code ignored;
    take_body(data, ignored);
    if (verdict_ != Progress::need_more) return verdict_;
  }
}

bool ResponseParser::finish() {
  if (is_done()) return true;
  if (!got_some()) return false;
  error_code error;
  put_eof(error);
  return !error;
}

std::size_t ResponseParser::take_body(string_view bytes, error_code& error) {
  if (options_.on_data && response_.status / 100 == 2) {
    const bool go_on = bytes.empty() || options_.on_data({bytes.data(), bytes.size()});
    if (!go_on) verdict_ = Progress::stopped;
  } else if (response_.body.size() + bytes.size() > options_.body_max) {
    verdict_ = Progress::too_large;
  } else {
    response_.body.append(bytes.data(), bytes.size());
  }
  if (verdict_ != Progress::need_more)
    error = make_error_code(boost::beast::http::error::body_limit);
  return bytes.size();
}

void ResponseParser::on_field_impl(boost::beast::http::field field, string_view name,
                                   string_view value, error_code&) {
  if (head_done_) return;  // a trailer
  if (field == boost::beast::http::field::content_type)
    response_.content_type.assign(value.data(), value.size());
  response_.headers.add(std::string(name.data(), name.size()),
                        std::string(value.data(), value.size()));
}

}  // namespace atl::http
