#include "http/client.h"

#include <openssl/x509_vfy.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "http/response_parser.h"
#include "http/socket.h"
#include "http/tls.h"

namespace atl::http {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kInterimAnswersMax = 8;  // 1xx answers before the real one

Deadline deadline_after(std::chrono::milliseconds timeout) {
  return timeout.count() == 0 ? Deadline::max() : Clock::now() + timeout;
}

IoResult read_plain(int fd, std::span<char> into) {
  const auto got = ::recv(fd, into.data(), into.size(), 0);
  if (got > 0) return {IoState::done, static_cast<std::size_t>(got)};
  if (got == 0) return {IoState::ended, 0};
  const bool empty = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {empty ? IoState::want_read : IoState::failed, 0};
}

IoResult write_plain(int fd, std::string_view bytes) {
  const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return {IoState::done, static_cast<std::size_t>(sent)};
  const bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {full ? IoState::want_write : IoState::failed, 0};
}

bool may_repeat(const Call& call) {
  static constexpr std::string_view kIdempotent[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"};
  return std::ranges::find(kIdempotent, call.method) != std::end(kIdempotent) ||
         call.headers.has("Idempotency-Key");
}

// A line end inside a header or the target would let its author write requests of their own.
bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos;
}

Result<void> check_call(const Call& call) {
  const bool target_ok = call.target.starts_with('/') && is_one_line(call.target) &&
                         call.target.find(' ') == std::string::npos;
  if (!target_ok)
    return fail(ErrorCode::invalid, "\"" + call.target + "\" is not a request path", "target");
  for (const Header& header : call.headers) {
    if (!is_one_line(header.name) || !is_one_line(header.value)) {
      return fail(ErrorCode::invalid, "header " + header.name + " has a line end or a NUL",
                  "headers");
    }
  }
  return {};
}

std::string host_header(const Url& url) {
  if (url.scheme == Url::Scheme::unix_socket) return "localhost";
  const std::string origin = url.origin();
  return origin.substr(origin.find("//") + 2);
}

std::string request_bytes(const Url& url, const Call& call) {
  std::string out = call.method + " " + call.target + " HTTP/1.1\r\n";
  auto add = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  if (!call.headers.has("Host")) add("Host", host_header(url));
  for (const Header& header : call.headers) add(header.name, header.value);
  const bool length_expected =
      !call.body.empty() || call.method == "POST" || call.method == "PUT" || call.method == "PATCH";
  if (length_expected) add("Content-Length", std::to_string(call.body.size()));
  return out + "\r\n" + call.body;
}

}  // namespace

struct Client::Impl {
  Url url;
  ClientOptions options;
  SslContext tls_context;
  UniqueFd fd;
  Ssl tls;
  std::vector<char> buffer;

  enum class Step { ok, timed_out, ended, failed };

  Result<void> connect();
  Result<void> secure();
  void disconnect();
  Step transfer(std::string_view bytes, Deadline deadline);
  Step receive(std::string_view& bytes, Deadline deadline);
  Step wait(IoState wanted, Deadline deadline);
  Result<Response> attempt(const Call& call, bool& retry);
  Result<Response> read_answer(const Call& call, Deadline deadline, bool& retry);
  Result<Response> judge(ResponseParser& parser, ResponseParser::Progress progress);
  tl::unexpected<Error> broken(Step step, const Call& call) const;
};

Result<void> Client::Impl::connect() {
  const Deadline deadline = deadline_after(options.connect_timeout);
  auto connected = url.scheme == Url::Scheme::unix_socket
                       ? connect_unix(url.host, deadline)
                       : connect_tcp(url.host, url.port, deadline);
  if (!connected) return tl::unexpected(connected.error());
  fd = std::move(*connected);
  return url.scheme == Url::Scheme::https ? secure() : Result<void>();
}

Result<void> Client::Impl::secure() {
  if (!tls_context) {
    auto made = make_client_context(options.ca_file, options.verify_tls);
    if (!made) return tl::unexpected(made.error());
    tls_context = std::move(*made);
  }
  tls = make_client_ssl(tls_context.get(), fd.get(), url.host);
  const Deadline deadline = deadline_after(options.connect_timeout);
  for (;;) {
    const int status = SSL_do_handshake(tls.get());
    if (status == 1) return {};
    const int error = SSL_get_error(tls.get(), status);
    const bool again = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    const IoState wanted = error == SSL_ERROR_WANT_READ ? IoState::want_read : IoState::want_write;
    if (again && wait(wanted, deadline) == Step::ok) continue;
    const long verdict = SSL_get_verify_result(tls.get());
    const bool distrusted = !again && verdict != X509_V_OK;
    const std::string why = again        ? "it took too long"
                            : distrusted ? X509_verify_cert_error_string(verdict)
                                         : tls_error_text();
    disconnect();
    // Whoever answers there, asking again does not make it the right one.
    if (distrusted)
      return fail(ErrorCode::unauthorized,
                  "the certificate of " + url.origin() + " is not trusted: " + why);
    return fail(ErrorCode::unavailable,
                "cannot make a secure connection to " + url.origin() + ": " + why);
  }
}

void Client::Impl::disconnect() {
  tls.reset();
  fd = UniqueFd();
}

Client::Impl::Step Client::Impl::wait(IoState wanted, Deadline deadline) {
  if (wanted == IoState::ended) return Step::ended;
  if (wanted == IoState::failed) return Step::failed;
  const short events = wanted == IoState::want_read ? POLLIN : POLLOUT;
  return wait_for(fd.get(), events, deadline) ? Step::ok : Step::timed_out;
}

Client::Impl::Step Client::Impl::transfer(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const IoResult sent = tls ? tls_write(tls.get(), bytes) : write_plain(fd.get(), bytes);
    bytes.remove_prefix(sent.bytes);
    if (sent.state == IoState::done) continue;
    if (const Step step = wait(sent.state, deadline); step != Step::ok) return step;
  }
  return Step::ok;
}

Client::Impl::Step Client::Impl::receive(std::string_view& bytes, Deadline deadline) {
  // What the parser could not use yet stays in front.
  const std::size_t kept = bytes.size();
  if (kept > 0 && bytes.data() != buffer.data()) std::memmove(buffer.data(), bytes.data(), kept);
  if (buffer.size() < kept + kReadBytes) buffer.resize(kept + kReadBytes);
  for (;;) {
    const std::span<char> space = std::span(buffer).subspan(kept);
    const IoResult got = tls ? tls_read(tls.get(), space) : read_plain(fd.get(), space);
    if (got.state == IoState::done) {
      bytes = std::string_view(buffer.data(), kept + got.bytes);
      return Step::ok;
    }
    if (const Step step = wait(got.state, deadline); step != Step::ok) return step;
  }
}

tl::unexpected<Error> Client::Impl::broken(Step step, const Call& call) const {
  const std::string what = call.method + " " + url.origin() + call.target;
  if (step == Step::timed_out) return fail(ErrorCode::unavailable, what + ": no answer in time");
  return fail(ErrorCode::unavailable,
              what + ": the server closed the connection before the answer was complete");
}

Result<Response> Client::Impl::attempt(const Call& call, bool& retry) {
  const bool reused = static_cast<bool>(fd);
  retry = reused && may_repeat(call);
  if (!reused) {
    if (auto connected = connect(); !connected) return tl::unexpected(connected.error());
  }
  const Deadline deadline = deadline_after(call.timeout);
  const Step sent = transfer(request_bytes(url, call), deadline);
  if (sent == Step::timed_out) {
    retry = false;
    return broken(sent, call);
  }
  // A server that refuses a large body may answer and close while we still send: its answer is
  // worth reading.
  return read_answer(call, deadline, retry);
}

Result<Response> Client::Impl::read_answer(const Call& call, Deadline deadline, bool& retry) {
  std::string_view bytes;
  for (int interim = 0; interim <= kInterimAnswersMax; ++interim) {
    ResponseParser parser({.head_only = call.method == "HEAD",
                           .body_max = options.body_max,
                           .on_data = call.on_data});
    auto progress = parser.parse(bytes);
    while (progress == ResponseParser::Progress::need_more) {
      if (call.on_data) deadline = deadline_after(call.timeout);
      const Step step = receive(bytes, deadline);
      const bool whole = step == Step::ended && parser.finish();
      if (step != Step::ok && !whole) {
        retry = retry && step != Step::timed_out && !parser.begun() && interim == 0;
        return broken(step, call);
      }
      progress = whole ? ResponseParser::Progress::done : parser.parse(bytes);
    }
    const bool final_answer = parser.response().status >= 200;
    if (final_answer || progress != ResponseParser::Progress::done) return judge(parser, progress);
  }
  return fail(ErrorCode::unavailable, url.origin() + " sends interim answers without end");
}

Result<Response> Client::Impl::judge(ResponseParser& parser, ResponseParser::Progress progress) {
  const bool clean = progress == ResponseParser::Progress::done;
  if (!clean || !parser.keep_alive()) disconnect();
  switch (progress) {
    case ResponseParser::Progress::too_large:
      return fail(ErrorCode::too_large, "the answer of " + url.origin() + " is larger than " +
                                            std::to_string(options.body_max) + " bytes");
    case ResponseParser::Progress::malformed:
      return fail(ErrorCode::unavailable,
                  url.origin() + " does not answer in HTTP: is it an Atoll server?");
    default:
      return std::move(parser.response());
  }
}

Client::Client(Url url, ClientOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->url = std::move(url);
  impl_->options = std::move(options);
}

Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

const Url& Client::url() const { return impl_->url; }

Result<Response> Client::send(const Call& call) {
  if (auto checked = check_call(call); !checked) return tl::unexpected(checked.error());
  bool retry = false;
  auto answer = impl_->attempt(call, retry);
  if (!answer) impl_->disconnect();
  if (answer || !retry) return answer;
  answer = impl_->attempt(call, retry);
  if (!answer) impl_->disconnect();
  return answer;
}

}  // namespace atl::http
