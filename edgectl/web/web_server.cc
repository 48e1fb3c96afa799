#include "edgectl/web/web_server.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "edgectl/web/api/replies.h"
#include "edgectl/web/server/guard.h"
#include "edgectl/web/server/page.h"
#include "net/tls/certificate.h"
#include "net/tls/server.h"
#include "net/tls/tickets.h"

namespace edge::edgectl::web {
namespace {

using net::server::Reply;
using net::server::Request;

constexpr std::size_t kMostBody = std::size_t{256} << 10;
constexpr std::size_t kCompressFrom = 1024;
constexpr std::string_view kApi = "/api/";
constexpr std::string_view kHealth = "/healthz";
constexpr std::string_view kAssets = "/assets/";

/// Adds the certificate's names to `names`.
Result<std::shared_ptr<const net::tls::Sites>> sites_of(const CertificatePair& pair, std::vector<std::string>& names) {
  if (pair.certificate.empty()) return std::shared_ptr<const net::tls::Sites>();
  auto certificate = net::tls::Certificate::read(pair.certificate, pair.key);
  if (!certificate) return certificate.error();
  const auto& own = (*certificate)->names();
  names.insert(names.end(), own.begin(), own.end());
  auto context = net::tls::ServerContext::make({.min_version = net::tls::Version::k12, .offers_http2 = true});
  if (!context) return context.error();
  auto sites = std::make_shared<net::tls::Sites>(std::make_shared<net::tls::TicketKeys>());
  std::vector<net::tls::ServerCertificate> certificates;
  certificates.push_back({std::move(*certificate), nullptr});
  sites->add("", std::make_shared<const net::tls::Site>(std::move(*context), std::move(certificates),
                                                        std::array<std::uint8_t, 16>{}));
  return std::shared_ptr<const net::tls::Sites>(std::move(sites));
}

}  // namespace

Result<ListenAddress> parse_listen(const std::string& text, bool everywhere) {
  const Error invalid{ErrorCode::kInvalidArgument, "--listen takes [ADDRESS]:PORT, not `" + text + "`"};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return invalid;
  ListenAddress listen;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data() + colon + 1, end, listen.port);
  if (fault != std::errc() || stop != end) return invalid;
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() && everywhere) return listen;
  listen.address = parse_ip(host.empty() || host == "localhost" ? "127.0.0.1" : host);
  if (!listen.address) return invalid;
  const Cidr v4 = *parse_cidr("127.0.0.0/8");
  listen.loopback = v4.contains(*listen.address) || *listen.address == *parse_ip("::1");
  return listen;
}

/// What the loop's thread owns.
struct WebServer::Parts {
  std::unique_ptr<Api> api;
  std::unique_ptr<CallWaiters> waiters;  ///< of logins
  std::unique_ptr<Login> login;
  std::vector<std::string> names;

  net::Task<Reply> answer(const Request& request) {
    Reply reply = co_await answer_known(request);
    add_confinement(reply);
    co_return reply;
  }

  net::Task<Reply> answer_known(const Request& request) {
    // For probes, which have no session and name the server as they like.
    if (request.path == kHealth) return Reply{.content_type = "text/plain; charset=utf-8", .body = "ok\n"};
    if (!is_own_host(request.host, names)) {
      return error_reply(421, "this server has another name: --host-name adds one");
    }
    // The same for everybody, and nothing of it is secret.
    if (login == nullptr || request.path.starts_with(kAssets)) return answer_viewer(request, nullptr);
    return answer_with_login(request);
  }

  net::Task<Reply> answer_with_login(const Request& request) {
    Login::Outcome outcome;
    {
      CallWaiter waiter(*waiters);
      outcome = co_await login->ask(request, *waiter);
    }
    if (outcome.reply) {
      api->logged_out(outcome.ended_session);
      const bool for_script = request.path.starts_with(kApi) && outcome.reply->status >= 400;
      if (!for_script) co_return std::move(*outcome.reply);
      std::string text = outcome.reply->body.substr(0, outcome.reply->body.find('\n'));
      Reply reply = error_reply(outcome.reply->status, text);
      for (auto& field : outcome.reply->fields) {
        if (field.first != "Cache-Control") reply.fields.push_back(std::move(field));
      }
      co_return reply;
    }
    Reply reply = co_await answer_viewer(request, &outcome.login);
    reply.fields.insert(reply.fields.end(), outcome.fields.begin(), outcome.fields.end());
    co_return reply;
  }

  net::Task<Reply> answer_viewer(const Request& request, const LoggedIn* viewer) const {
    if (!request.path.starts_with(kApi)) return page_reply(request);
    return api->answer(request, viewer);
  }
};

WebServer::WebServer(std::shared_ptr<Parts> parts, std::unique_ptr<net::server::ServerThread> thread, bool tls)
    : parts_(std::move(parts)), thread_(std::move(thread)), tls_(tls) {}

Result<std::unique_ptr<WebServer>> WebServer::start(ServerSettings settings) {
  auto sites = sites_of(settings.certificate, settings.names);
  if (!sites) return sites.error();
  const auto parts = std::make_shared<Parts>();
  parts->names = std::move(settings.names);
  net::server::ServerOptions options;
  options.address = settings.address;
  options.port = settings.port;
  options.tls = std::move(*sites);
  options.max_body = kMostBody;
  options.gzip_from = kCompressFrom;
  const bool tls = options.tls != nullptr;
  const auto prepare = [&](net::Loop& loop) -> Result<net::server::Handler> {
    auto api = Api::make(loop, std::move(settings.api));
    if (!api) return api.error();
    parts->api = std::move(*api);
    if (settings.login) {
      auto login = Login::make(loop, std::move(*settings.login));
      if (!login) return login.error();
      parts->login = std::move(*login);
      parts->waiters = std::make_unique<CallWaiters>(loop);
    }
    return net::server::Handler([raw = parts.get()](const Request& request) { return raw->answer(request); });
  };
  auto thread = net::server::ServerThread::start(std::move(options), prepare, [parts] {
    parts->login.reset();
    parts->api.reset();
  });
  if (!thread) return thread.error();
  (*thread)->loop().post([parts] { parts->api->start(); });
  return std::unique_ptr<WebServer>(new WebServer(parts, std::move(*thread), tls));
}

WebServer::~WebServer() {
  thread_->loop().post([parts = parts_] {
    if (parts->waiters != nullptr) parts->waiters->stop();
    parts->api->stop();
  });
  thread_.reset();
}

Status WebServer::replace_certificate(const CertificatePair& pair) {
  std::vector<std::string> names;
  auto sites = sites_of(pair, names);
  if (!sites) return sites.error();
  thread_->post([parts = parts_, sites = std::move(*sites), names = std::move(names)](net::server::HttpServer& server) {
    for (const std::string& name : names) {
      if (std::ranges::find(parts->names, name) == parts->names.end()) parts->names.push_back(name);
    }
    server.replace_tls(sites);
  });
  return {};
}

std::string WebServer::url() const {
  const net::SocketAddress at = address();
  const std::string host = at.address.is_v4() ? to_string(at.address) : "[" + to_string(at.address) + "]";
  return (tls_ ? "https://" : "http://") + host + ":" + std::to_string(at.port);
}

}  // namespace edge::edgectl::web
