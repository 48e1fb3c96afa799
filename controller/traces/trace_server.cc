#include "controller/traces/trace_server.h"

#include <charconv>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "controller/traces/query_api.h"
#include "controller/traces/trace_writer.h"
#include "net/server/http_server.h"

namespace edge::traces {
namespace {

using net::server::Reply;
using net::server::Request;
using net::server::ServerThread;

constexpr std::size_t kConnections = 512;
constexpr std::size_t kGzipFrom = std::size_t{16} << 10;

std::int64_t system_now() {
  using std::chrono::microseconds;
  return std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool is_any(const TraceListen& listen) {
  return !listen.address || *listen.address == parse_ip("0.0.0.0") || *listen.address == parse_ip("::");
}

/// The host of an authority, without its port and brackets.
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

/// A page of a stranger in a browser on this machine reaches loopback, and by a name that it has rebound it reads the
/// answers too. A browser says where a request comes from, or shows the name.
std::optional<Reply> refuse_browser(const Request& request, bool loopback) {
  const std::string_view host = host_of(request.host);
  const bool own_name = host.empty() || host == "localhost" || parse_ip(std::string(host)).has_value();
  if (!request.has("origin") && (own_name || !loopback)) return std::nullopt;
  return Reply{.status = 403, .content_type = "text/plain; charset=utf-8", .body = "not for pages of other sites\n"};
}

/// Takes the same time wherever they differ.
bool same(std::string_view given, std::string_view token) {
  unsigned difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < token.size(); ++i) {
    difference |= static_cast<unsigned char>(i < given.size() ? given[i] : 0) ^ static_cast<unsigned char>(token[i]);
  }
  return difference == 0;
}

/// `Bearer TOKEN`, and for clients that know passwords alone `Basic`, whoever the user is (RFC 6750, RFC 7617).
bool shows(std::string_view credentials, std::string_view token) {
  constexpr std::string_view kBearer = "bearer ";
  constexpr std::string_view kBasic = "basic ";
  const auto is = [&](std::string_view scheme) { return starts_with_ignoring_case(credentials, scheme); };
  if (is(kBearer)) return same(credentials.substr(kBearer.size()), token);
  const auto pair = is(kBasic) ? from_base64(credentials.substr(kBasic.size())) : std::nullopt;
  const std::size_t colon = pair ? pair->find(':') : std::string::npos;
  return colon != std::string::npos && same(std::string_view(*pair).substr(colon + 1), token);
}

std::optional<Reply> refuse_stranger(const Request& request, const std::string& token) {
  if (token.empty() || shows(request.field("authorization"), token)) return std::nullopt;
  Reply reply{.status = 401, .content_type = "text/plain; charset=utf-8", .body = "a token is needed\n"};
  reply.fields.emplace_back("WWW-Authenticate", R"(Bearer realm="traces", Basic realm="traces")");
  return reply;
}

/// kInvalidArgument: strangers would be let in. `doing` says to what.
Result<net::server::ServerOptions> server_options(const TraceListen& listen, const std::string& token,
                                                  const char* doing) {
  const bool loopback = is_loopback(listen);
  if (!loopback && token.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("traces are ") + doing + " beyond this machine with a token alone"};
  }
  net::server::ServerOptions options;
  options.address = listen.address;
  options.port = listen.port;
  options.max_connections = kConnections;
  options.max_connections_per_source = kConnections;
  options.admit = [loopback, token](const Request& head) {
    auto refused = refuse_browser(head, loopback);
    return refused ? std::move(refused) : refuse_stranger(head, token);
  };
  return options;
}

}  // namespace

std::optional<TraceListen> parse_trace_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  TraceListen listen{.address = std::nullopt};
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!host.empty() && !(listen.address = parse_ip(std::string(host)))) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data() + colon + 1, end, listen.port);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return listen;
}

bool is_loopback(const TraceListen& listen) {
  if (!listen.address) return false;
  const std::string text = to_string(*listen.address);
  return text == "::1" || text.starts_with("127.");
}

std::string url_of(const TraceListen& listen, std::uint16_t port) {
  const bool any = is_any(listen);
  std::string host = any ? "127.0.0.1" : to_string(*listen.address);
  if (!any && !listen.address->is_v4()) host = "[" + host + "]";
  return "http://" + host + ":" + std::to_string(port);
}

struct TraceServer::Impl {
  std::string otlp_url;
  std::string otlp_token;
  std::string query_url;
  std::unique_ptr<TraceWriter> writer;
  std::unique_ptr<Receiver> receiver;
  std::unique_ptr<QueryApi> queries;
  std::mutex asking;
  std::unique_ptr<QueryApi> asked;  ///< guarded by it
  // It ends before what it uses.
  std::unique_ptr<ServerThread> servers;

  /// Starts a server that `answer` answers; tells where it is.
  Status serve(const TraceListen& listen, net::server::ServerOptions options,
               std::function<Reply(const Request&)> answer, const char* flag, std::string& url) {
    const net::server::Handler handler([answer](const Request& request) { return net::Task<Reply>(answer(request)); });
    std::uint16_t port = 0;
    Status started;
    if (servers == nullptr) {
      auto first =
          ServerThread::start(std::move(options), [&](net::Loop&) -> Result<net::server::Handler> { return handler; });
      if (first) {
        servers = std::move(*first);
        port = servers->address().port;
      } else {
        started = first.error();
      }
    } else {
      const auto bound = servers->add(std::move(options), handler);
      if (bound) {
        port = bound->port;
      } else {
        started = bound.error();
      }
    }
    if (!started) return Error{started.error().code, started.error().text + " (" + flag + ")"};
    url = url_of(listen, port);
    return {};
  }
};

TraceServer::TraceServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceServer::~TraceServer() = default;

Result<std::unique_ptr<TraceServer>> TraceServer::start(TraceServerOptions options) {
  auto impl = std::make_unique<Impl>();
  Impl* const raw = impl.get();
  const std::string path = options.data_dir + "/traces.db";
  auto writer = TraceWriter::start({.path = path, .limits = options.limits, .log = options.log});
  if (!writer) return writer.error();
  impl->writer = std::move(*writer);
  impl->receiver = std::make_unique<Receiver>(*impl->writer, options.receiver);
  for (auto* api : {&impl->queries, &impl->asked}) {
    auto reader = TraceReader::open(path);
    if (!reader) return reader.error();
    *api = std::make_unique<QueryApi>(std::move(*reader), system_now);
  }
  if (options.queries) {
    auto server = server_options(*options.queries, options.query_token, "told");
    if (!server) return server.error();
    server->gzip_from = kGzipFrom;
    server->max_body = 0;
    const Status started = impl->serve(
        *options.queries, std::move(*server), [raw](const Request& request) { return raw->queries->answer(request); },
        "--traces-listen", impl->query_url);
    if (!started) return started.error();
  }
  if (options.otlp) {
    auto server = server_options(*options.otlp, options.otlp_token, "taken");
    if (!server) return server.error();
    server->max_body = options.receiver.body;
    server->max_bodies = options.receiver.body * 8;
    const Status started = impl->serve(
        *options.otlp, std::move(*server), [raw](const Request& request) { return raw->receiver->answer(request); },
        "--otlp-listen", impl->otlp_url);
    if (!started) return started.error();
    impl->otlp_token = std::move(options.otlp_token);
  }
  return std::unique_ptr<TraceServer>(new TraceServer(std::move(impl)));
}

const std::string& TraceServer::otlp_url() const { return impl_->otlp_url; }
const std::string& TraceServer::otlp_token() const { return impl_->otlp_token; }
const std::string& TraceServer::query_url() const { return impl_->query_url; }
TraceCounts TraceServer::counts() const { return impl_->writer->counts(); }

// A search takes seconds, and a thread of those who carry the questions with it.
Reply TraceServer::ask(const Request& request) {
  const std::unique_lock lock(impl_->asking, std::try_to_lock);
  if (!lock) return {.status = 503, .content_type = "text/plain", .body = "another question is being answered\n"};
  return impl_->asked->answer(request);
}

}  // namespace edge::traces
