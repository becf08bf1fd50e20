// The server's Exchange. Internal.
#pragma once

#include <atomic>
#include <memory>

#include "http/body_hold.h"
#include "http/exchange.h"
#include "http/server_stream.h"

namespace atl::http {

class Mailbox;
class Session;

class ServerExchange : public Exchange {
 public:
  struct Origin {
    std::weak_ptr<Session> session;
    std::shared_ptr<Mailbox> mailbox;
    std::uint64_t serial = 0;  // which request of the session
    bool http_1_0 = false;
    std::size_t stream_buffer_max = 0;
  };

  ServerExchange(Request request, BodyHold body, Origin origin)
      : request_(std::move(request)), body_(std::move(body)), origin_(std::move(origin)) {}
  ~ServerExchange() override;

  const Request& request() const override { return request_; }
  std::string take_body() override { return std::move(request_.body); }
  void respond(Response response) override;
  std::shared_ptr<Stream> stream(int status, Headers headers) override;

 private:
  ServerStream::Options stream_options(int status, const Headers& headers) const;

  Request request_;
  const BodyHold body_;  // counted until nobody can hold it
  const Origin origin_;
  std::atomic<bool> answered_ = false;
};

}  // namespace atl::http
