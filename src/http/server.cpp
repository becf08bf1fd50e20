#include "http/server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>

#include "base/check.h"
#include "http/response_head.h"
#include "http/tls.h"
#include "http/worker.h"

namespace atl::http {
namespace {

constexpr int kAcceptsPerWakeMax = 64;  // then other connections of this thread get their turn
constexpr std::chrono::milliseconds kAcceptPause{
    100};  // when out of descriptors: retrying at once would spin

// The socket file as bound, so that stopping removes ours and not one that has replaced it.
struct SocketFile {
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;

  static SocketFile of(const std::string& path) {
    struct stat info{};
    ::lstat(path.c_str(), &info);
    return {path, info.st_dev, info.st_ino};
  }
  void remove() const {
    struct stat info{};
    const bool ours =
        ::lstat(path.c_str(), &info) == 0 && info.st_dev == device && info.st_ino == inode;
    if (ours) ::unlink(path.c_str());
  }
};

// Over the connection limit there is no session; this one send is all the client costs us.
void turn_away(int fd, const ServerOptions& options, bool tls) {
  if (tls) return;
  Response answer =
      options.refuse(503, "the server has too many connections, try again shortly", "-");
  answer.headers.set("Retry-After", "1");
  std::string bytes;
  append_head(bytes, 503, answer.content_type, answer.headers,
              {.date = http_date(std::time(nullptr)),
               .request_id = "-",
               .connection = Connection::close,
               .content_length = answer.body.size()});
  bytes += answer.body;
  char unread[4096];
  // What is unread when we close would reset the connection before the client has seen the answer.
  while (::recv(fd, unread, sizeof unread, MSG_DONTWAIT) > 0) continue;
  ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(fd, SHUT_WR);
}

}  // namespace

// A listening socket on the first worker's loop, dealing connections to all workers in turn.
class Acceptor {
 public:
  Acceptor(UniqueFd fd, SslContext tls, Shared& shared,
           std::vector<std::unique_ptr<Worker>>& workers)
      : listener_(workers.front()->loop(), fd.release()),
        pause_(workers.front()->loop()),
        tls_(std::move(tls)),
        shared_(shared),
        workers_(workers) {}

  void wait() {
    listener_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](boost::system::error_code error) {
                           if (!error) accept_some();
                         });
  }

  void close() {
    boost::system::error_code ignored;
    listener_.close(ignored);
    pause_.cancel();
  }

 private:
  void accept_some() {
    for (int i = 0; i < kAcceptsPerWakeMax; ++i) {
      UniqueFd fd(
          ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd) {
        place(std::move(fd));
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        return wait_later();
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      }
    }
    wait();
  }

  void wait_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](boost::system::error_code error) {
      if (!error) wait();
    });
  }

  void place(UniqueFd fd) {
    if (shared_.connections.load(std::memory_order_relaxed) >= shared_.options.limits.connections) {
      shared_.refused.fetch_add(1, std::memory_order_relaxed);
      return turn_away(fd.get(), shared_.options, tls_ != nullptr);
    }
    workers_[next_++ % workers_.size()]->adopt(std::move(fd), tls_.get());
  }

  boost::asio::posix::stream_descriptor listener_;
  boost::asio::steady_timer pause_;
  SslContext tls_;
  Shared& shared_;
  std::vector<std::unique_ptr<Worker>>& workers_;
  std::size_t next_ = 0;
};

struct Server::Impl {
  std::shared_ptr<Shared> shared;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::unique_ptr<Acceptor>>
      acceptors;  // on the first worker's loop, so destroyed before it
  std::vector<SocketFile> socket_files;
  std::vector<std::uint16_t> tcp_ports;
  bool stopped = false;

  Result<void> listen();
  Result<void> listen_on(const UnixListener& listener);
  Result<void> listen_on(const TcpListener& listener);
  void add_acceptor(UniqueFd fd, SslContext tls) {
    acceptors.push_back(
        std::make_unique<Acceptor>(std::move(fd), std::move(tls), *shared, workers));
  }
  void stop(std::chrono::milliseconds grace);
};

Result<void> Server::Impl::listen() {
  for (const UnixListener& listener : shared->options.unix_listeners) {
    if (auto done = listen_on(listener); !done) return done;
  }
  for (const TcpListener& listener : shared->options.tcp_listeners) {
    if (auto done = listen_on(listener); !done) return done;
  }
  if (acceptors.empty()) return fail(ErrorCode::invalid, "the server has no address to listen on");
  return {};
}

Result<void> Server::Impl::listen_on(const UnixListener& listener) {
  auto fd = listen_unix(listener.path, listener.mode);
  if (!fd) return tl::unexpected(fd.error());
  socket_files.push_back(SocketFile::of(listener.path));
  add_acceptor(std::move(*fd), nullptr);
  return {};
}

Result<void> Server::Impl::listen_on(const TcpListener& listener) {
  SslContext tls;
  if (listener.tls) {
    auto context = make_server_context(listener.tls->certificate_chain, listener.tls->private_key);
    if (!context) return tl::unexpected(context.error());
    tls = std::move(*context);
  }
  auto fd = listen_tcp(listener.host, listener.port);
  if (!fd) return tl::unexpected(fd.error());
  tcp_ports.push_back(local_port(fd->get()));
  add_acceptor(std::move(*fd), std::move(tls));
  return {};
}

void Server::Impl::stop(std::chrono::milliseconds grace) {
  if (std::exchange(stopped, true)) return;
  for (const SocketFile& file : socket_files) file.remove();
  workers.front()->mailbox().post([this] {
    for (const auto& acceptor : acceptors) acceptor->close();
  });
  for (const auto& worker : workers) worker->begin_stop(grace);
  for (const auto& worker : workers) worker->join();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Router router) {
  auto impl = std::make_unique<Impl>();
  const int threads = std::max(1, options.threads);
  impl->shared = std::make_shared<Shared>();
  impl->shared->options = std::move(options);
  impl->shared->router = std::move(router);
  for (int i = 0; i < threads; ++i) {
    impl->workers.push_back(std::make_unique<Worker>(impl->shared, static_cast<std::size_t>(i)));
  }
  if (auto listening = impl->listen(); !listening) {
    for (const SocketFile& file : impl->socket_files) file.remove();
    return tl::unexpected(listening.error());
  }
  for (const auto& acceptor : impl->acceptors) acceptor->wait();
  for (const auto& worker : impl->workers) worker->start();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::tcp_port(std::size_t index) const {
  CHECK(index < impl_->tcp_ports.size(), "there are fewer TCP listeners");
  return impl_->tcp_ports[index];
}

void Server::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }

ServerStats Server::stats() const {
  ServerStats stats;
  stats.connections_open = impl_->shared->connections.load(std::memory_order_relaxed);
  stats.connections_refused = impl_->shared->refused.load(std::memory_order_relaxed);
  stats.bodies_bytes = impl_->shared->bodies_bytes->load(std::memory_order_relaxed);
  for (const auto& worker : impl_->workers) stats.requests += worker->requests();
  return stats;
}

}  // namespace atl::http
