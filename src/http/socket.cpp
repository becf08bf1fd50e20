#include "http/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace atl::http {
namespace {

constexpr int kBacklog = 1024;

tl::unexpected<Error> system_error(const std::string& what) {
  const ErrorCode code = errno == EADDRINUSE ? ErrorCode::conflict : ErrorCode::unavailable;
  return fail(code, what + ": " + std::strerror(errno));
}

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::invalid, "socket path \"" + path + "\" must have 1 to " +
                                        std::to_string(sizeof address.sun_path - 1) +
                                        " bytes: choose a shorter data directory");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

template <class Address>
const sockaddr* as_sockaddr(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<void> clear_stale_socket(const std::string& path, const sockaddr_un& address) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return fail(ErrorCode::invalid,
                path + " exists and is not a socket: remove it or choose another path");
  }
  UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return system_error("cannot make a socket");
  const bool refused =
      ::connect(probe.get(), as_sockaddr(address), sizeof address) != 0 && errno == ECONNREFUSED;
  if (!refused) return fail(ErrorCode::conflict, "another server is listening on " + path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_error("cannot replace " + path);
  return {};
}

struct AddressList {
  addrinfo* first = nullptr;
  AddressList() = default;
  AddressList(AddressList&& other) noexcept : first(std::exchange(other.first, nullptr)) {}
  ~AddressList() {
    if (first) ::freeaddrinfo(first);
  }
};

Result<AddressList> look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  AddressList list;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list.first);
  if (status == 0) return list;
  const ErrorCode code = flags & AI_NUMERICHOST ? ErrorCode::invalid : ErrorCode::unavailable;
  return fail(code, "cannot resolve host \"" + host + "\": " + ::gai_strerror(status));
}

UniqueFd stream_socket(int family) {
  return UniqueFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// 0 or an errno.
int finish_connect(int fd, const sockaddr* address, socklen_t size, Deadline deadline) {
  if (::connect(fd, address, size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(fd, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

tl::unexpected<Error> connect_error(int error, const std::string& where) {
  if (error == ECONNREFUSED || error == ENOENT) {
    return fail(ErrorCode::unavailable,
                "connection refused by " + where + ": is the server running?");
  }
  if (error == EACCES || error == EPERM) {
    return fail(ErrorCode::forbidden, "not permitted to connect to " + where);
  }
  return fail(ErrorCode::unavailable, "cannot connect to " + where + ": " + std::strerror(error));
}

std::string address_text(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
}

void set_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  UniqueFd old(std::exchange(fd_, other.release()));
  return *this;
}

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<UniqueFd> listen_unix(const std::string& path, unsigned mode) {
  auto address = unix_address(path);
  if (!address) return tl::unexpected(address.error());
  if (auto cleared = clear_stale_socket(path, *address); !cleared) {
    return tl::unexpected(cleared.error());
  }
  UniqueFd fd = stream_socket(AF_UNIX);
  if (!fd || ::bind(fd.get(), as_sockaddr(*address), sizeof *address) != 0) {
    return system_error("cannot listen on " + path);
  }
  // Between bind and listen nobody can connect yet, so the mode is in force from the first
  // connection on.
  if (::chmod(path.c_str(), mode) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    return system_error("cannot listen on " + path);
  }
  return fd;
}

Result<UniqueFd> listen_tcp(const std::string& host, std::uint16_t port) {
  auto list = look_up(host, port, AI_NUMERICHOST | AI_PASSIVE);
  if (!list) return tl::unexpected(list.error());
  const std::string where = host + ":" + std::to_string(port);
  UniqueFd fd = stream_socket(list->first->ai_family);
  if (!fd) return system_error("cannot listen on " + where);
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(fd.get(), list->first->ai_addr, list->first->ai_addrlen) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return system_error("cannot listen on " + where);
  }
  return fd;
}

std::uint16_t local_port(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  // Port and family lie at the same place in both address kinds.
  return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

Peer peer_of(int fd) {
  Peer peer;
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  ::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size);
  if (storage.ss_family != AF_UNIX) {
    peer.address = address_text(storage);
    return peer;
  }
  peer.unix_socket = true;
  peer.address = "unix";
  ucred credentials{};
  socklen_t length = sizeof credentials;
  const bool known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0;
  // An unknown peer must not look like root.
  peer.uid = known ? credentials.uid : UINT32_MAX;
  peer.gid = known ? credentials.gid : UINT32_MAX;
  peer.pid = known ? credentials.pid : 0;
  return peer;
}

void tune_tcp(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

bool wait_for(int fd, short events, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    constexpr std::int64_t kPollMax = 3'600'000;
    const int ready =
        ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left.count(), kPollMax)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Result<UniqueFd> connect_unix(const std::string& path, Deadline deadline) {
  auto address = unix_address(path);
  if (!address) return tl::unexpected(address.error());
  UniqueFd fd = stream_socket(AF_UNIX);
  if (!fd) return system_error("cannot make a socket");
  const int error = finish_connect(fd.get(), as_sockaddr(*address), sizeof *address, deadline);
  if (error != 0) return connect_error(error, path);
  return fd;
}

Result<UniqueFd> connect_tcp(const std::string& host, std::uint16_t port, Deadline deadline) {
  auto list = look_up(host, port, 0);
  if (!list) return tl::unexpected(list.error());
  int error = ECONNREFUSED;
  for (const addrinfo* entry = list->first; entry; entry = entry->ai_next) {
    UniqueFd fd = stream_socket(entry->ai_family);
    if (!fd) continue;
    error = finish_connect(fd.get(), entry->ai_addr, entry->ai_addrlen, deadline);
    if (error == 0) {
      tune_tcp(fd.get());
      return fd;
    }
  }
  return connect_error(error, host + ":" + std::to_string(port));
}

}  // namespace atl::http
