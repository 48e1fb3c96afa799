#include "controller/distribute/distributor.h"

#include <charconv>
#include <latch>
#include <optional>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>

#include "controller/distribute/hub.h"
#include "controller/distribute/streams/streams.h"
#include "net/server/acceptor.h"
#include "net/socket.h"

namespace edge::controller {
namespace {

/// Reports are the largest that agents send; they split them.
constexpr int kMaxMessage = 8 << 20;
/// A peer that is gone without a word is noticed within this and as much again.
constexpr int kKeepaliveMilliseconds = 10'000;
constexpr unsigned kReloadSeconds = 1;
/// An agent has five streams and a call or two beside them.
constexpr int kMaxStreams = 8;
/// Agents are never idle. Who is, has not said who he is and asks for nothing, or comes back when he has a question.
constexpr int kIdleMilliseconds = 60'000;
/// What has come of messages that are not whole, and connections and calls themselves: of all peers together, for who
/// shows no certificate may still open connections, and begin calls that he never ends.
constexpr std::size_t kMaxMemory = 512 << 20;
constexpr auto kFarewell = std::chrono::milliseconds(500);

/// TLS 1.2 and later, with certificates that are read again when they change. Who shows one must have it of the
/// authority; who shows none may join and nothing else (agent_service.cc).
std::shared_ptr<grpc::ServerCredentials> credentials(const Authority& authority) {
  const std::string shown = authority.path("server.pem");
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(shown, shown, authority.path("roots.pem"),
                                                                           kReloadSeconds));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

/// nullopt: the host is a name, or the port is none.
std::optional<net::SocketAddress> parse_host_port(std::string_view listen) {
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  const char* const end = listen.data() + listen.size();
  if (std::from_chars(listen.data() + colon + 1, end, port).ptr != end) return std::nullopt;
  const auto address = parse_ip(host);
  if (!address) return std::nullopt;
  return net::SocketAddress{*address, port};
}

/// A port that somebody else has, with what to do about it: gRPC says neither.
Status check_free(const DistributorOptions& options) {
  const std::string flag = options.listen_flag.empty() ? "" : " (" + options.listen_flag + ")";
  const auto listen = parse_host_port(options.listen);
  // A name is left to gRPC.
  if (!listen || listen->port == 0 || !net::port_taken(listen->address, listen->port)) return {};
  return Error{ErrorCode::kUnavailable, "cannot listen on " + options.listen + flag + ": port is in use"};
}

}  // namespace

struct Distributor::Impl {
  explicit Impl(DistributorOptions given) : options(std::move(given)) {}
  ~Impl() { stop(); }

  const DistributorOptions options;
  std::unique_ptr<Hub> hub;
  std::uint16_t port = 0;
  std::string address;
  // Of the loop's thread where there is one.
  std::unique_ptr<net::server::Acceptor> acceptor;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> entrance;  ///< null: gRPC accepts connections itself
  std::unique_ptr<grpc::Service> agents;
  std::unique_ptr<grpc::Service> inspect;
  std::vector<std::shared_ptr<grpc::Service>> further;
  std::unique_ptr<grpc::Server> server;  ///< null: not started yet

  Status listen();
  Status start_server();
  void accept(net::Fd client);
  std::string where() const {
    return options.listen + (options.listen_flag.empty() ? "" : " (" + options.listen_flag + ")");
  }
  void stop() {
    if (hub) hub->end_soon();
    if (acceptor) {
      std::latch closed(1);
      options.accept_on->post([&] {
        acceptor.reset();
        closed.count_down();
      });
      closed.wait();
    }
    if (server == nullptr) return;
    server->Shutdown(std::chrono::system_clock::now() + kFarewell);
    server->Wait();
    server.reset();
  }
};

/// Without gRPC, whose threads a process that nobody connects to does not need.
Status Distributor::Impl::listen() {
  const auto where_to = parse_host_port(options.listen);
  if (!where_to) return start_server();
  auto socket = net::listen_tcp(where_to->address, where_to->port);
  if (!socket) return Error{ErrorCode::kUnavailable, "cannot listen on " + where() + " for agents"};
  port = net::local_address(socket->get()).port;
  std::latch opened(1);
  options.accept_on->post([&] {
    acceptor = std::make_unique<net::server::Acceptor>(
        *options.accept_on, std::move(*socket),
        [this](net::Fd client, const net::SocketAddress&) { accept(std::move(client)); });
    opened.count_down();
  });
  opened.wait();
  return {};
}

void Distributor::Impl::accept(net::Fd client) {
  if (server == nullptr) {
    if (Status status = start_server(); !status) return options.log.error(status.error().text);
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.listener_fd = acceptor->fd();
  connection.fd = client.release();
  entrance->HandleNewConnection(&connection);
}

Status Distributor::Impl::start_server() {
  agents = make_agent_service(*hub);
  inspect = make_inspect_service(*hub);
  if (options.further) further = options.further(*hub);
  grpc::ServerBuilder builder;
  int bound = 0;
  if (acceptor) {
    entrance = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials(hub->authority()));
  } else {
    builder.AddListeningPort(options.listen, credentials(hub->authority()), &bound);
  }
  builder.RegisterService(agents.get());
  builder.RegisterService(inspect.get());
  for (const auto& service : further) builder.RegisterService(service.get());
  builder.SetMaxReceiveMessageSize(kMaxMessage);
  // Two controllers on one port would share its agents between them.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveMilliseconds / 2);
  // Before TLS is done a peer costs a descriptor; not for long.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kKeepaliveMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMilliseconds);
  grpc::ResourceQuota quota("agents");
  quota.Resize(kMaxMemory);
  builder.SetResourceQuota(quota);
  server = builder.BuildAndStart();
  if (acceptor) {
    return server ? Status() : Status(Error{ErrorCode::kUnavailable, "calls of agents cannot be served"});
  }
  if (server == nullptr || bound == 0) {
    return Error{ErrorCode::kUnavailable, "cannot listen on " + where() + " for agents"};
  }
  port = static_cast<std::uint16_t>(bound);
  return {};
}

Distributor::Distributor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Distributor::~Distributor() = default;

Result<std::unique_ptr<Distributor>> Distributor::start(DistributorOptions options) {
  if (Status status = check_free(options); !status) return status.error();
  auto authority = Authority::open({.directory = options.data_dir + "/agents",
                                    .controller = {},
                                    .clock = options.clock,
                                    .replace_early = options.replace_early,
                                    .program_key = options.fixes_program_key ? options.program_key : std::string()});
  if (!authority) return authority.error();
  auto impl = std::make_unique<Impl>(std::move(options));
  impl->hub = std::make_unique<Hub>(impl->options, std::move(*authority));
  Status listening = impl->options.accept_on == nullptr ? impl->start_server() : impl->listen();
  if (!listening) return listening.error();
  std::string& controller = impl->address;
  controller = impl->options.listen;
  controller.replace(controller.rfind(':') + 1, std::string::npos, std::to_string(impl->port));
  // Whoever binds every address is reached at this one from here.
  for (const std::string_view any : {"0.0.0.0:", "[::]:"}) {
    if (controller.starts_with(any)) controller.replace(0, any.size(), "127.0.0.1:");
  }
  if (Status status = impl->hub->authority().set_controller(controller); !status) return status.error();
  return std::unique_ptr<Distributor>(new Distributor(std::move(impl)));
}

Result<std::unique_ptr<LocalAgent>> Distributor::connect(std::string name, const std::string& hello,
                                                         LocalAgentEvents events) {
  return LocalAgent::start(*impl_->hub, std::move(name), hello, std::move(events));
}

void Distributor::stop() { impl_->stop(); }
std::uint64_t Distributor::publish(Published published) { return impl_->hub->publish(std::move(published)); }
void Distributor::ask(const std::string& agent, const AgentQuestion& question,
                      const std::function<void(Result<AgentAnswer>)>& take) const {
  impl_->hub->questions().ask(agent, question, take);
}
void Distributor::publish(std::shared_ptr<const VirtualAddresses> addresses) {
  impl_->hub->publish_addresses(std::move(addresses));
}
void Distributor::publish(std::shared_ptr<const std::vector<SiteLinks>> sites) {
  impl_->hub->publish_links(std::move(sites));
}
void Distributor::set_node_group(const std::string& node, std::string group) {
  impl_->hub->set_node_group(node, std::move(group));
}
void Distributor::set_node_labels(const std::string& node, Labels labels) {
  impl_->hub->set_node_labels(node, std::move(labels));
}
std::string Distributor::revoked_agents() const { return impl_->hub->authority().revoked_agents(); }
Status Distributor::learn_revoked_agents(std::string_view text) {
  return impl_->hub->authority().learn_revoked_agents(text);
}
std::vector<AgentVip> Distributor::vips() const { return impl_->hub->registry().vips(); }
std::vector<AgentWan> Distributor::wan() const { return impl_->hub->registry().wan(); }
bool Distributor::have_values(std::uint64_t version) const { return impl_->hub->registry().have_values(version); }
std::vector<AgentState> Distributor::agents() const { return impl_->hub->registry().agents(); }
std::optional<AgentState> Distributor::agent(const std::string& name) const {
  return impl_->hub->registry().agent(name);
}
std::string Distributor::behind(const std::string& agent, const std::string& program) const {
  const auto state = impl_->hub->registry().agent(agent);
  const auto current = impl_->hub->current(state ? state->group : std::string(kDefaultGroup)).program;
  if (current == nullptr) return "the controller has no program yet";
  const std::string published = program::to_hex(current->outline().program);
  if (program == published) return {};
  if (!state || !state->connected) return "the agent has no connection to its controller, which has " + published;
  if (state->refused.program == published) return "the agent refuses " + published + ": " + state->refused.reason;
  return "the agent has yet to take " + published;
}
std::vector<BackendHealth> Distributor::backends() const { return impl_->hub->registry().backends(); }
std::uint64_t Distributor::changes() const { return impl_->hub->registry().changes(); }
void Distributor::on_change(std::function<void()> callback) { impl_->hub->on_change(std::move(callback)); }
std::string Distributor::published() const {
  const auto current = impl_->hub->current(kDefaultGroup).program;
  return current ? program::to_hex(current->outline().program) : std::string();
}
std::shared_ptr<const std::vector<std::byte>> Distributor::published_bytes() const {
  const auto current = impl_->hub->current(kDefaultGroup).program;
  return current ? current->bytes() : nullptr;
}
bool Distributor::has_issued(const std::string& certificate) const {
  return impl_->hub->authority().has_issued(certificate);
}
std::string Distributor::address() const { return impl_->address; }
std::uint16_t Distributor::port() const { return impl_->port; }
std::string Distributor::join_file() const { return impl_->hub->authority().path("join"); }
std::string Distributor::admin_file() const { return impl_->hub->authority().path("admin.pem"); }

}  // namespace edge::controller
