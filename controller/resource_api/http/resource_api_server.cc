#include "controller/resource_api/http/resource_api_server.h"

#include <chrono>
#include <utility>

#include "controller/resource_api/http/credentials.h"
#include "controller/resource_api/http/front.h"
#include "controller/resource_api/http/request_counts.h"
#include "net/loop.h"
#include "net/server/http_server.h"
#include "net/socket.h"

namespace edge::resource_api::http {
namespace {

constexpr auto kLookEvery = std::chrono::seconds(1);
/// Looks between two turns of what is due.
constexpr unsigned kTendEvery = 5;
/// Above this a list is worth the time that compressing it takes.
constexpr std::size_t kGzipFrom = std::size_t{16} << 10;
/// What surrounds an object in a request: the Api has the last word on its size.
constexpr std::size_t kBodyReserve = std::size_t{64} << 10;

/// Where a client on this machine reaches it: every address includes the loopback.
std::string host_of(const std::optional<IpAddress>& address) {
  const std::string any4 = "0.0.0.0";
  const std::string text = address ? to_string(*address) : any4;
  if (text == any4 || text == "::") return "127.0.0.1";
  return address->is_v4() ? text : "[" + text + "]";
}

}  // namespace

struct ResourceApiServer::Impl {
  /// On the loop's wheel, so that it goes before the loop does.
  struct Tender final : net::TimerNode {
    explicit Tender(Impl& of) : home(of) {}
    void expired() override { home.look(); }
    Impl& home;
  };

  std::string kubeconfig;
  std::string url;
  Logger log;
  net::Loop* loop = nullptr;
  /// For the loop's thread, which must not look at `server`: set there, before the tender's first turn.
  net::server::HttpServer* running = nullptr;
  std::unique_ptr<Credentials> credentials;
  std::unique_ptr<Api> api;
  std::unique_ptr<Front> front;
  std::shared_ptr<RequestCounts> counts = std::make_shared<RequestCounts>();
  std::unique_ptr<Tender> tender;
  unsigned looks = 0;
  std::string replace_fault;  ///< that was told
  std::string own_token;
  /// Before what it uses goes, it has stopped.
  std::unique_ptr<net::server::ServerThread> server;

  /// What a crash would keep from being destroyed in order, nothing depends on.
  void forget() {
    tender.reset();
    front.reset();
    api.reset();
  }
  void look() {
    const Result<bool> replaced = credentials->replace_if_asked();
    if (!replaced && replaced.error().text != replace_fault) {
      replace_fault = replaced.error().text;
      log.error("resource api: the administrator's credentials cannot be replaced", {{"reason", replace_fault}});
    }
    if (replaced && *replaced) {
      log.info("resource api: the administrator's certificate and token are replaced; those before are refused");
    }
    if ((replaced && *replaced) || ++looks >= kTendEvery) tend();
    look_later();
  }
  void tend() {
    looks = 0;
    const Result<bool> changed = credentials->tend();
    if (!changed) log.error("resource api: certificates cannot be renewed", {{"reason", changed.error().text}});
    if (changed && *changed) running->replace_tls(credentials->tls());
    if (Status status = credentials->write_kubeconfig(kubeconfig, url); !status) {
      log.warn("resource api: the kubeconfig is not written", {{"reason", status.error().text}});
    }
  }
  net::Task<net::server::Reply> answer(const net::server::Request& request) {
    const std::string method = request.method;
    const net::Time began = net::Clock().now();
    net::server::Reply reply = co_await front->answer(request);
    counts->answered(method, reply, net::Clock().now() - began);
    front->answered(request, reply.status);
    co_return reply;
  }
  void look_later() { loop->timers().set(*tender, loop->now() + kLookEvery); }
};

ResourceApiServer::ResourceApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResourceApiServer::~ResourceApiServer() { impl_->server.reset(); }

Result<std::unique_ptr<ResourceApiServer>> ResourceApiServer::start(ResourceApiOptions options) {
  if (options.port != 0 && net::port_taken(options.address, options.port)) {
    const std::string flag = options.listen_flag.empty() ? "" : " (" + options.listen_flag + ")";
    return Error{ErrorCode::kUnavailable, "cannot listen on " + host_of(options.address) + ":" +
                                              std::to_string(options.port) + flag + ": port is in use"};
  }
  auto impl = std::make_unique<Impl>();
  Impl* const raw = impl.get();
  impl->log = options.log;
  impl->kubeconfig = options.data_dir + "/kubeconfig";
  Result<std::unique_ptr<Api>> api =
      Api::open({.data_dir = options.data_dir, .limits = options.limits, .log = options.log});
  if (!api) return api.error();
  impl->api = std::move(*api);
  std::vector<std::string> hosts = options.hosts;
  if (options.address) hosts.push_back(to_string(*options.address));
  Result<std::unique_ptr<Credentials>> credentials =
      Credentials::open({.directory = options.data_dir + "/api", .hosts = std::move(hosts)});
  if (!credentials) return credentials.error();
  impl->credentials = std::move(*credentials);
  impl->own_token = impl->credentials->own_token();

  net::server::ServerOptions server;
  server.address = options.address;
  server.port = options.port;
  server.tls = impl->credentials->tls();
  server.max_body = options.limits.request_bytes + kBodyReserve;
  server.gzip_from = kGzipFrom;
  server.admit = [raw](const net::server::Request& head) {
    auto refused = raw->front->admit(head);
    if (refused) raw->counts->answered(head.method, *refused, {});
    return refused;
  };
  server.fault = Front::fault;
  server.handshake_refused = [raw](const net::SocketAddress& client, std::string_view why) {
    raw->front->refused(LogLevel::kDebug, "resource api: a handshake is refused", [&] {
      return LogFields{{"reason", std::string(why)},
                       {"from", to_string(client.address) + ":" + std::to_string(client.port)}};
    });
  };
  const auto prepare = [raw](net::Loop& loop) -> Result<net::server::Handler> {
    raw->loop = &loop;
    raw->front = std::make_unique<Front>(loop, *raw->api, *raw->credentials, raw->log);
    raw->tender = std::make_unique<Impl::Tender>(*raw);
    return net::server::Handler([raw](const net::server::Request& request) { return raw->answer(request); });
  };
  auto started = net::server::ServerThread::start(std::move(server), prepare, [raw] { raw->forget(); });
  if (!started) return started.error();
  impl->server = std::move(*started);
  const std::string authority = host_of(options.address) + ":" + std::to_string(impl->server->address().port);
  impl->url = "https://" + authority;
  if (Status status = impl->credentials->write_kubeconfig(impl->kubeconfig, impl->url); !status) return status.error();
  // From here on certificates and kubeconfig are the loop's.
  impl->server->post([raw, authority](net::server::HttpServer& running) {
    raw->front->documents().set_server(authority);
    raw->running = &running;
    raw->look_later();
  });
  return std::unique_ptr<ResourceApiServer>(new ResourceApiServer(std::move(impl)));
}

std::uint16_t ResourceApiServer::port() const { return impl_->server->address().port; }
const std::string& ResourceApiServer::url() const { return impl_->url; }
void ResourceApiServer::write_metrics(metrics::Exposition& out) const { impl_->counts->write(out); }
bool ResourceApiServer::began_empty() const { return impl_->api->began_empty(); }
const std::string& ResourceApiServer::own_token() const { return impl_->own_token; }
Result<net::Fd> ResourceApiServer::dial() { return impl_->server->dial(); }
net::Loop& ResourceApiServer::loop() { return impl_->server->loop(); }
const std::string& ResourceApiServer::kubeconfig() const { return impl_->kubeconfig; }

}  // namespace edge::resource_api::http
