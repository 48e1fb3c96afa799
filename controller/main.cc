// edge-controller: follows a cluster, compiles what it says and gives it to agents.
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <random>

#include <pthread.h>
#include <unistd.h>

#include "base/ip.h"
#include "cli/flags.h"
#include "cli/terminal.h"
#include "compiler/link/defaults.h"
#include "controller/controller.h"
#include "controller/traces/trace_flags.h"
#include "net/server/http_server.h"

namespace edge::controller {
namespace {

constexpr std::string_view kName = "edge-controller";
constexpr std::string_view kNotServed = "off";

int failed(const Error& error) {
  cli::print_error(kName, error.text);
  return error.code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitFindings;
}

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "controller";
}

/// `127.0.0.1:9090`, `[::1]:9090`, `:9090`.
std::optional<net::server::ServerOptions> listen_options(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  net::server::ServerOptions options;
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!host.empty() && !(options.address = parse_ip(host))) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data() + colon + 1, end, options.port);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return options;
}

std::string text_of(const net::SocketAddress& address) {
  const std::string host = to_string(address.address);
  return (address.address.is_v4() ? host : "[" + host + "]") + ":" + std::to_string(address.port);
}

Result<std::unique_ptr<net::server::ServerThread>> serve_metrics(const std::string& address, Controller& controller) {
  if (address == kNotServed) return std::unique_ptr<net::server::ServerThread>();
  auto options = listen_options(address);
  if (!options) {
    return Error{ErrorCode::kInvalidArgument, "--metrics takes ADDRESS:PORT, :PORT or off, not `" + address + "`"};
  }
  const auto answer = [&controller](const net::server::Request& request) -> net::server::Reply {
    if (request.method != "GET" && request.method != "HEAD") return {.status = 405};
    if (request.path == "/healthz") return {.content_type = "text/plain", .body = "ok\n"};
    if (request.path == "/readyz") {
      return controller.ready()
                 ? net::server::Reply{.content_type = "text/plain", .body = "ok\n"}
                 : net::server::Reply{.status = 503, .content_type = "text/plain", .body = "no program\n"};
    }
    if (request.path != "/metrics") return {.status = 404};
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = controller.metrics()};
  };
  return net::server::ServerThread::start(*std::move(options), [answer](net::Loop&) -> Result<net::server::Handler> {
    return net::server::Handler(
        [answer](const net::server::Request& request) { return net::Task<net::server::Reply>(answer(request)); });
  });
}

Result<kube::Config> cluster_config(const cli::Arguments& arguments) {
  kube::ConfigSources sources = kube::ConfigSources::of_process();
  if (arguments.has("kubeconfig")) sources.kubeconfig = arguments.one("kubeconfig");
  if (arguments.has("context")) sources.context = arguments.one("context");
  return kube::Config::resolve(sources);
}

int run(const cli::Arguments& arguments) {
  const sigset_t signals = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const auto log = [](const std::string& line) { cli::print_message(kName, line); };
  auto config = cluster_config(arguments);
  if (!config) return failed(config.error());
  for (const std::string& warning : config->warnings) log(warning);
  ControllerOptions options;
  options.data_dir = arguments.one("data-dir");
  options.config = std::move(*config);
  options.controller_class = arguments.one("controller-class");
  options.published_addresses = arguments.all("published-address");
  options.listen = arguments.one("listen");
  options.elect = arguments.has("leader-elect");
  options.lease_namespace = arguments.one("lease-namespace");
  // Two containers on one host's network have its name, and are both process 1.
  options.identity = host_name() + "_" + std::to_string(::getpid()) + "_" + std::to_string(std::random_device{}());
  options.log = log;
  auto controller = Controller::start(std::move(options));
  if (!controller) return failed(controller.error());
  log("agents on port " + std::to_string((*controller)->port()) + "; they join with " + (*controller)->join_file());
  auto metrics = serve_metrics(arguments.one("metrics"), **controller);
  if (!metrics) return failed(metrics.error());
  if (*metrics) log("metrics on " + text_of((*metrics)->address()));
  auto trace_store = traces::start_trace_server(arguments, arguments.one("data-dir"), log);
  if (!trace_store) return failed(trace_store.error());
  int signal = 0;
  while (::sigwait(&signals, &signal) != 0) {
  }
  // A second one is not waited for.
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  log("ends; agents serve on");
  metrics->reset();
  trace_store->reset();
  controller->reset();
  return cli::kExitOk;
}

cli::Program table() {
  constexpr std::string_view kSummary = "edge-controller compiles what a cluster says and gives it to agents.";
  cli::Command command = {
      .name = "",
      .summary = kSummary,
      .details =
          "Follows the resources of a Kubernetes API, compiles them and gives the program to edge-agents. Writes "
          "statuses and events. Without --kubeconfig, KUBECONFIG and ~/.kube/config it takes the service account of "
          "its pod. While the API is away it goes on with what it knows.",
      .flags =
          {{.name = "data-dir",
            .value = "DIR",
            .help = "Where keys, the authority of agents and the last programs are kept",
            .required = true},
           {.name = "kubeconfig", .value = "FILE", .help = "How the API is reached", .environment = "KUBECONFIG"},
           {.name = "context", .value = "NAME", .help = "In place of the kubeconfig's current context"},
           {.name = "controller-class",
            .value = "CLASS",
            .help = "Whose gateways and classes are served (rule D8)",
            .fallback = compiler::link::kDefaults.controller_class},
           {.name = "published-address",
            .value = "ADDRESS",
            .help = "Told in the status of Gateways and Ingresses that name no address",
            .repeatable = true},
           {.name = "listen",
            .value = "ADDR",
            .help = "Where agents and edgectl are served; port 0 is chosen by the system",
            .fallback = "0.0.0.0:9090"},
           {.name = "metrics",
            .value = "ADDR",
            .help = "Where /metrics, /healthz and /readyz are served, or `off`",
            .fallback = "127.0.0.1:9092"},
           {.name = "leader-elect", .help = "One of several controllers writes statuses, by a Lease"},
           {.name = "lease-namespace", .value = "NAMESPACE", .help = "Where that Lease is", .fallback = "edge-system"}},
      .examples = {"edge-controller --data-dir /var/lib/edge-controller --leader-elect"},
      .run = run};
  for (cli::Flag& flag : traces::trace_flags()) command.flags.push_back(std::move(flag));
  return {.name = kName, .summary = kSummary, .commands = {std::move(command)}};
}

}  // namespace
}  // namespace edge::controller

int main(int argc, char** argv) { return edge::cli::run(edge::controller::table(), argc, argv); }
