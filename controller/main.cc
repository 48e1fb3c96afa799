// edge-controller: watches a cluster's resources, compiles them and sends the program to agents.
#include <cstdlib>
#include <random>

#include <unistd.h>

#include "base/labels.h"
#include "base/os/file.h"
#include "cli/flags.h"
#include "cli/terminal.h"
#include "compiler/link/defaults.h"
#include "controller/admin_pages.h"
#include "controller/controller.h"
#include "controller/controller_metrics.h"
#include "controller/data_dir.h"
#include "controller/hub_flags.h"
#include "controller/relay_main.h"
#include "controller/trace_page.h"
#include "controller/traces/trace_flags.h"
#include "daemon/admin.h"
#include "daemon/certificate_directories.h"
#include "daemon/descriptors.h"
#include "daemon/ending.h"
#include "daemon/grpc_log.h"
#include "daemon/logging.h"
#include "daemon/notify.h"
#include "metrics/process.h"
#include "program/version.h"

namespace edge::controller {
namespace {

constexpr std::string_view kName = "edge-controller";
constexpr std::string_view kNotServed = "off";

using daemon::failed;

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "controller";
}

/// Null: none is served.
Result<std::unique_ptr<daemon::AdminServer>> serve_admin(const std::string& address, AdminPages& pages) {
  if (address == kNotServed) return std::unique_ptr<daemon::AdminServer>();
  const auto listen = daemon::parse_listen_address(address);
  if (!listen) {
    return Error{ErrorCode::kInvalidArgument,
                 "--metrics-listen takes ADDRESS:PORT, :PORT or off, not `" + address + "`"};
  }
  const bool local = daemon::is_loopback(listen->address);
  const auto handler = [&pages, local](net::Loop& loop, const daemon::AdminRequest& request) {
    return pages.attend(loop, request, local);
  };
  return daemon::AdminServer::start({{*listen, handler, "--metrics-listen"}});
}

Result<kube::Config> cluster_config(const cli::Arguments& arguments) {
  kube::ConfigSources sources = kube::ConfigSources::of_process();
  if (arguments.has("kubeconfig")) sources.kubeconfig = arguments.one("kubeconfig");
  if (arguments.has("context")) sources.context = arguments.one("context");
  return kube::Config::resolve(sources);
}

ControllerOptions controller_options(const cli::Arguments& arguments, kube::Config config) {
  ControllerOptions options;
  options.data_dir = arguments.one("data-dir");
  if (arguments.has("shared-dir")) options.shared_dir = arguments.one("shared-dir");
  options.config = std::move(config);
  options.controller_class = arguments.one("controller-class");
  options.published_addresses = arguments.all("published-address");
  options.listen = arguments.one("agents-listen");
  options.group_label = arguments.one("group-label");
  read_hub_flags(arguments, options);
  options.elect = arguments.has("leader-elect");
  options.lease_namespace = arguments.one("lease-namespace");
  // Two containers on one host's network have its name, and are both process 1.
  options.identity = host_name() + "_" + std::to_string(::getpid()) + "_" + std::to_string(std::random_device{}());
  return options;
}

/// For images, which have no other program that could show the file.
int print_join(const cli::Arguments& arguments) {
  constexpr std::size_t kMaxJoinFile = 64 << 10;
  const auto text = read_file(arguments.one("data-dir") + "/agents/join", kMaxJoinFile);
  if (text) return cli::write_text(stdout, *text) ? cli::kExitOk : cli::kExitFindings;
  cli::print_error(kName, text.error().text);
  return cli::kExitFindings;
}

/// Returns when a signal says so.
void serve_until_ended(const Controller& controller, const Logger& lines) {
  daemon::Notify notify = daemon::Notify::of_environment();
  const daemon::Watchdog watchdog(
      notify, [&controller](std::chrono::nanoseconds patience) { return controller.answers(patience); }, lines);
  notify.ready("gives programs to agents");
  daemon::await_ending_signal();
  // A second one is not waited for.
  daemon::release_ending_signals();
  notify.stopping("ends; agents serve on");
  lines.info("ends; agents serve on");
}

int run(const cli::Arguments& arguments) {
  if (arguments.has("print-join")) return print_join(arguments);
  if (arguments.has("relay")) return run_relay(arguments);
  daemon::block_ending_signals();
  daemon::raise_descriptor_limit();
  Log log(daemon::log_options(std::string(kName), arguments));
  const Logger lines = log.logger();
  const daemon::GrpcLog grpc_log(lines);
  auto config = cluster_config(arguments);
  if (!config) return failed(log, config.error());
  for (const std::string& warning : config->warnings) lines.warn(warning);
  const auto tell = [&lines](const std::string& line) { lines.info(line); };
  if (arguments.has("identity-dir")) {
    Status taken = take_identity(arguments.one("data-dir"), arguments.one("identity-dir"));
    if (!taken) return failed(log, taken.error());
  }
  auto trace_store = traces::start_trace_server(arguments, arguments.one("data-dir"), lines);
  if (!trace_store) return failed(log, trace_store.error());

  auto token = daemon::AdminToken::open(arguments.one("data-dir") + "/admin-token");
  // Who reads is served without it.
  if (!token) lines.warn("changes by the admin port are refused", {{"reason", token.error().text}});
  AdminPages pages(log, token ? std::move(*token) : daemon::AdminToken(),
                   [&trace_store](metrics::Exposition& out, const Controller& controller) {
                     metrics::write_process(out);
                     controller.write_metrics(out);
                     if (*trace_store != nullptr) write_trace_counts(out, (*trace_store)->counts());
                   });
  ControllerOptions options = controller_options(arguments, std::move(*config));
  if (!is_label_key(options.group_label)) {
    return failed(
        log, {ErrorCode::kInvalidArgument, "--group-label takes a label's key, not `" + options.group_label + "`"});
  }
  auto certificate_directories = daemon::certificate_directories(arguments);
  if (!certificate_directories) return failed(log, certificate_directories.error());
  options.certificate_directories = std::move(*certificate_directories);
  options.dns_hook = arguments.one("acme-dns-hook");
  options.log = lines;
  options.own_pages = [&pages, &trace_store](const AgentQuestion& question) {
    auto reported = trace_page(trace_store->get(), question);
    return reported ? std::move(*reported) : pages.answer(question);
  };
  auto started = Controller::start(std::move(options));
  if (!started) return failed(log, started.error());
  std::unique_ptr<Controller> controller = std::move(*started);
  pages.serve(*controller);
  tell("agents on port " + std::to_string(controller->port()) + "; they join with " + controller->join_file());
  auto admin = serve_admin(arguments.one("metrics-listen"), pages);
  if (!admin) return failed(log, admin.error());
  if (*admin) tell("metrics on " + to_string((*admin)->addresses()[0]));

  serve_until_ended(*controller, lines);
  pages.end();
  admin->reset();
  controller.reset();
  return cli::kExitOk;
}

/// Beside those that several programs share.
std::vector<cli::Flag> own_flags() {
  return {
      {.name = "data-dir",
       .value = "DIR",
       .help = "Directory of keys, the agents' certificate authority and the last programs",
       .required = true},
      {.name = "shared-dir",
       .value = "DIR",
       .help = "Directory that all controllers of the cluster have, for the state of federation and what connects "
               "the cluster with others; default: that of --data-dir, which each has for itself"},
      {.name = "identity-dir",
       .value = "DIR",
       .help = "Directory of a signing key, an authority and a join file that a new data directory begins with"},
      {.name = "kubeconfig", .value = "FILE", .help = "Kubeconfig for the API", .environment = "KUBECONFIG"},
      {.name = "context", .value = "NAME", .help = "Context to use instead of the kubeconfig's current one"},
      {.name = "controller-class",
       .value = "CLASS",
       .help = "Controller name of the gateways and classes to serve (rule D8)",
       .fallback = compiler::link::kDefaults.controller_class},
      {.name = "published-address",
       .value = "ADDRESS",
       .help = "Address written to the status of Gateways and Ingresses that name none",
       .repeatable = true},
      daemon::certificate_files_flag(),
      daemon::dns_hook_flag(),
      {.name = "agents-listen",
       .value = "ADDR",
       .help = "gRPC address for agents and edgectl; with port 0 the system chooses a port",
       .fallback = "0.0.0.0:9090"},
      {.name = "group-label",
       .value = "KEY",
       .help = "Label of agents whose value is the name of their group",
       .fallback = kGroupLabel},
      {.name = "metrics-listen",
       .value = "ADDR",
       .help = "Address of /metrics, /healthz, /readyz and, if it is a loopback address, /debug; `off`: not served",
       .fallback = "127.0.0.1:9092"},
      {.name = "leader-elect", .help = "Elect one of several controllers by a Lease; only the leader writes statuses"},
      {.name = "lease-namespace", .value = "NAMESPACE", .help = "Namespace of that Lease", .fallback = "edge-system"}};
}

cli::Program table() {
  constexpr std::string_view kSummary = "edge-controller compiles what a cluster says and gives it to agents.";
  cli::Command command = {
      .name = "",
      .summary = kSummary,
      .details =
          "Watches the resources of a Kubernetes API, compiles them and sends the program to edge-agents. Writes "
          "statuses and events. Without --kubeconfig, KUBECONFIG and ~/.kube/config it uses the service account of its "
          "pod. While the API is unreachable it continues with the resources it knows.",
      .flags = own_flags(),
      .examples = {"edge-controller --data-dir /var/lib/edge-controller --leader-elect",
                   "edge-controller --data-dir /var/lib/edge-controller --relay --hub-join berlin.join"},
      .run = run};
  for (cli::Flag& flag : hub_flags()) command.flags.push_back(std::move(flag));
  command.flags.push_back({.name = "relay",
                           .help =
                               "Have no resources, and pass the hub's programs on to the agents of this site; of the "
                               "other flags those of the hub, the agents, the metrics and the log count"});
  command.flags.push_back(
      {.name = "print-join",
       .help = "Print the join file of agents (agents/join in the data directory) and end; needs no other flag"});
  for (cli::Flag& flag : traces::trace_flags()) command.flags.push_back(std::move(flag));
  for (cli::Flag& flag : daemon::log_flags()) command.flags.push_back(std::move(flag));
  return {
      .name = kName, .summary = kSummary, .version = program::version_text(kName), .commands = {std::move(command)}};
}

}  // namespace
}  // namespace edge::controller

int main(int argc, char** argv) {
  edge::daemon::keep_openssl_up();
  return edge::cli::run(edge::controller::table(), argc, argv);
}
