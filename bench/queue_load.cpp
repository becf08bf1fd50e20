// Workers of a queue, as many as asked for: each leases up to BATCH items on a connection of its
// own, tells that they are done, and begins again, for so many seconds. Speaks the API of Atoll or
// the protocol of Redis Streams, so that both are measured by the same loop. Prints items per
// second.
//
//   queue_load atoll PORT CONNECTIONS BATCH SECONDS PATH TOKEN
//   queue_load redis PORT CONNECTIONS BATCH SECONDS STREAM
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

class Connection {
 public:
  explicit Connection(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("connect");
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, 0);
      if (n <= 0) fail("send");
      sent += static_cast<size_t>(n);
    }
  }
  void more() {
    char buffer[65536];
    const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
    if (n <= 0) fail("recv");
    in.append(buffer, static_cast<size_t>(n));
  }
  [[noreturn]] static void fail(const char* what) {
    std::perror(what);
    std::_Exit(1);
  }

  std::string in;

 private:
  int fd_;
};

// One request; the body of its answer.
std::string http(Connection& connection, const std::string& head, const std::string& body) {
  connection.send(head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  size_t end = 0;
  while ((end = connection.in.find("\r\n\r\n")) == std::string::npos) connection.more();
  if (connection.in.compare(9, 1, "2") != 0) {
    std::fprintf(stderr, "refused: %s\n", connection.in.c_str());
    std::_Exit(1);
  }
  const char* field = ::strcasestr(connection.in.c_str(), "content-length:");
  const size_t length = field ? std::strtoull(field + 15, nullptr, 10) : 0;
  while (connection.in.size() < end + 4 + length) connection.more();
  std::string answer = connection.in.substr(end + 4, length);
  connection.in.erase(0, end + 4 + length);
  return answer;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

struct Order {
  int port = 0;
  std::string batch;
  std::string where;  // path or stream
  std::string token;
};

size_t atoll_round(Connection& connection, const Order& order) {
  const auto head = [&](const char* verb) {
    return "POST " + order.where + "/" + verb + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
           order.token + "\r\nContent-Type: application/json\r\n";
  };
  const std::string leased = http(connection, head("lease"), "{\"max\":" + order.batch + "}");
  const size_t at = leased.find("\"lease\":") + 8;
  if (leased[at] == 'n') return 0;
  const std::string lease = leased.substr(at, leased.find(',', at) - at);
  http(connection, head("done"), "{\"lease\":" + lease + "}");
  return count(leased, "\"attempt\":");
}

std::string resp(const std::vector<std::string>& words) {
  std::string out = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words)
    out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return out;
}

// Where the reply that begins at `at` ends; npos while it is not whole.
size_t reply_end(const std::string& in, size_t at) {
  const size_t line = in.find("\r\n", at);
  if (line == std::string::npos) return line;
  const long number = std::strtol(in.c_str() + at + 1, nullptr, 10);
  if (in[at] == '$') {
    const size_t end = line + 2 + (number < 0 ? 0 : static_cast<size_t>(number) + 2);
    return end <= in.size() ? end : std::string::npos;
  }
  size_t end = line + 2;
  if (in[at] != '*') return end;
  for (long i = 0; i < number; ++i) {
    if (end >= in.size() || (end = reply_end(in, end)) == std::string::npos)
      return std::string::npos;
  }
  return end;
}

std::string redis(Connection& connection, const std::vector<std::string>& words) {
  connection.send(resp(words));
  size_t end;
  while (connection.in.empty() || (end = reply_end(connection.in, 0)) == std::string::npos)
    connection.more();
  std::string reply = connection.in.substr(0, end);
  connection.in.erase(0, end);
  if (reply[0] == '-') {
    std::fprintf(stderr, "refused: %s\n", reply.c_str());
    std::_Exit(1);
  }
  return reply;
}

size_t redis_round(Connection& connection, const Order& order) {
  const std::string leased = redis(connection, {"XREADGROUP", "GROUP", "g", "w", "COUNT",
                                                order.batch, "STREAMS", order.where, ">"});
  std::vector<std::string> done{"XACK", order.where, "g"};
  // Each entry is *2, its id as $n, and its fields.
  for (size_t at = leased.find("\r\n*2\r\n$", 4); at != std::string::npos;
       at = leased.find("\r\n*2\r\n$", at)) {
    const size_t line = leased.find("\r\n", at + 7);
    const size_t size = std::strtoull(leased.c_str() + at + 7, nullptr, 10);
    const std::string id = leased.substr(line + 2, size);
    at = line + 2 + size;
    if (id.find('-') != std::string::npos && id.find_first_not_of("0123456789-") == id.npos)
      done.push_back(id);
  }
  if (done.size() == 3) return 0;
  redis(connection, done);
  return done.size() - 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(stderr,
                 "usage: queue_load atoll|redis PORT CONNECTIONS BATCH SECONDS WHERE [TOKEN]\n");
    return 2;
  }
  const bool ours = std::string(argv[1]) == "atoll";
  const Order order{std::atoi(argv[2]), argv[4], argv[6], argc > 7 ? argv[7] : ""};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[5]));
  std::atomic<size_t> items{0};
  std::atomic<bool> dry{false};
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::thread> workers;
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    workers.emplace_back([&] {
      Connection connection(order.port);
      while (!dry && std::chrono::steady_clock::now() < end) {
        const size_t done = ours ? atoll_round(connection, order) : redis_round(connection, order);
        if (done == 0) dry = true;
        items += done;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf("%.1f\n", static_cast<double>(items) / took.count());
}
