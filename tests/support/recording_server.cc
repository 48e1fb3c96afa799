#include "tests/support/recording_server.h"

#include <array>
#include <utility>

#include <gtest/gtest.h>

#include "net/tls/server.h"

namespace edge::test {
namespace {

std::shared_ptr<const net::tls::Sites> sites_of(const IssuedCertificate& issued) {
  auto sites = std::make_shared<net::tls::Sites>(std::make_shared<net::tls::TicketKeys>());
  auto certificate = net::tls::Certificate::read(issued.chain, issued.key);
  auto context = net::tls::ServerContext::make({.offers_http2 = true});
  EXPECT_TRUE(certificate.ok() && context.ok());
  if (!certificate.ok() || !context.ok()) return sites;
  sites->add("", std::make_shared<net::tls::Site>(
                     *context, std::vector<net::tls::ServerCertificate>{{std::move(*certificate), nullptr}},
                     std::array<std::uint8_t, 16>{}));
  return sites;
}

}  // namespace

RecordingServer::RecordingServer(Answer answer, const IssuedCertificate* certificate) : answer_(std::move(answer)) {
  net::server::ServerOptions options;
  options.address = parse_ip("127.0.0.1");
  if (certificate != nullptr) options.tls = sites_of(*certificate);
  auto server =
      net::server::ServerThread::start(std::move(options), [this](net::Loop&) -> Result<net::server::Handler> {
        return net::server::Handler(
            [this](const net::server::Request& request) { return net::Task<net::server::Reply>(take(request)); });
      });
  EXPECT_TRUE(server.ok());
  if (server.ok()) server_ = std::move(*server);
}

RecordingServer::~RecordingServer() = default;

std::uint16_t RecordingServer::port() const { return server_->address().port; }

std::vector<net::server::Request> RecordingServer::requests(std::string_view path) const {
  const std::scoped_lock lock(mutex_);
  std::vector<net::server::Request> found;
  for (const net::server::Request& request : taken_) {
    if (request.path == path) found.push_back(request);
  }
  return found;
}

net::server::Reply RecordingServer::take(const net::server::Request& request) {
  {
    const std::scoped_lock lock(mutex_);
    net::server::Request& kept = taken_.emplace_back(request);
    kept.peer.reset();
  }
  return answer_ == nullptr ? net::server::Reply{} : answer_(request);
}

}  // namespace edge::test
