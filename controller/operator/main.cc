// edge-operator: makes of each EdgeCluster a controller and agents, and keeps them so.
#include <random>

#include <unistd.h>

#include "cli/flags.h"
#include "controller/operator/operator.h"
#include "daemon/admin.h"
#include "daemon/descriptors.h"
#include "daemon/ending.h"
#include "daemon/logging.h"
#include "daemon/notify.h"
#include "metrics/process.h"
#include "program/version.h"

namespace edge::cluster_operator {
namespace {

constexpr std::string_view kName = "edge-operator";
constexpr std::string_view kNotServed = "off";
constexpr auto kPatience = std::chrono::seconds(2);

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "operator";
}

/// In the Prometheus text format, behind what every process says.
std::string figures(const OperatorCounts& counts) {
  metrics::Exposition process(metrics::Format::kText);
  metrics::write_process(process);
  std::string text = process.finish();
  const auto add = [&text](std::string name, std::string_view type, std::string_view help, std::uint64_t value) {
    text += "# HELP " + name + " " + std::string(help) + "\n# TYPE " + name + " " + std::string(type) + "\n" + name +
            " " + std::to_string(value) + "\n";
  };
  add("edge_operator_clusters", "gauge", "EdgeClusters that are kept.", counts.clusters);
  add("edge_operator_waiting", "gauge", "EdgeClusters that are to be looked at now.", counts.waiting);
  add("edge_operator_reconciliations_total", "counter", "Looks at an EdgeCluster.", counts.reconciliations);
  add("edge_operator_failures_total", "counter", "Looks in which a call failed.", counts.failures);
  add("edge_operator_writes_total", "counter", "Calls that change an object.", counts.writes);
  add("edge_operator_connected", "gauge", "Whether the API answers.", counts.connected ? 1 : 0);
  add("edge_operator_leader", "gauge", "Whether this one works, of several.", counts.leads ? 1 : 0);
  return text;
}

std::optional<daemon::AdminReply> answer(const Operator& worker, const daemon::AdminRequest& request) {
  const bool known = request.path == "/metrics" || request.path == "/healthz" || request.path == "/readyz";
  if (!known) return std::nullopt;
  if (request.method != "GET" && request.method != "HEAD") return daemon::text_reply(405, "only GET and HEAD\n");
  if (request.path == "/metrics") {
    daemon::AdminReply reply = daemon::text_reply(200, figures(worker.counts()));
    reply.content_type = metrics::content_type(metrics::Format::kText);
    return reply;
  }
  if (request.path == "/healthz") {
    return worker.answers(kPatience) ? daemon::text_reply(200, "ok\n") : daemon::text_reply(503, "does not answer\n");
  }
  // One that stands by is as ready as the one that works.
  return worker.counts().synced ? daemon::text_reply(200, "ok\n") : daemon::text_reply(503, "lists objects\n");
}

Result<std::unique_ptr<daemon::AdminServer>> serve_admin(const std::string& address, const Operator& worker) {
  if (address == kNotServed) return std::unique_ptr<daemon::AdminServer>();
  const auto listen = daemon::parse_listen_address(address);
  if (!listen) {
    return Error{ErrorCode::kInvalidArgument,
                 "--health-listen takes ADDRESS:PORT, :PORT or off, not `" + address + "`"};
  }
  const auto handler =
      daemon::at_once([&worker](const daemon::AdminRequest& request) { return answer(worker, request); });
  return daemon::AdminServer::start({{*listen, handler, "--health-listen"}});
}

int run(const cli::Arguments& arguments) {
  daemon::block_ending_signals();
  daemon::raise_descriptor_limit();
  Log log(daemon::log_options(std::string(kName), arguments));
  const Logger lines = log.logger();
  kube::ConfigSources sources = kube::ConfigSources::of_process();
  if (arguments.has("kubeconfig")) sources.kubeconfig = arguments.one("kubeconfig");
  if (arguments.has("context")) sources.context = arguments.one("context");
  auto config = kube::Config::resolve(sources);
  if (!config) return daemon::failed(log, config.error());
  for (const std::string& warning : config->warnings) lines.warn(warning);

  OperatorOptions options;
  options.config = std::move(*config);
  options.name_space = arguments.has("all-namespaces") ? std::string() : arguments.one("namespace");
  options.elect = arguments.one("leader-elect") == "true";
  options.upgrade_definitions = arguments.one("upgrade-definitions") == "true";
  options.lease_namespace = arguments.one("lease-namespace");
  options.identity = host_name() + "_" + std::to_string(::getpid()) + "_" + std::to_string(std::random_device{}());
  options.log = lines;
  auto started = Operator::start(std::move(options));
  if (!started) return daemon::failed(log, started.error());
  auto admin = serve_admin(arguments.one("health-listen"), **started);
  if (!admin) return daemon::failed(log, admin.error());
  if (*admin) lines.info("metrics and health on " + to_string((*admin)->addresses()[0]));

  daemon::Notify notify = daemon::Notify::of_environment();
  std::optional<daemon::Watchdog> watchdog;
  watchdog.emplace(
      notify, [&started](std::chrono::nanoseconds patience) { return (*started)->answers(patience); }, lines);
  notify.ready("keeps EdgeClusters");
  daemon::await_ending_signal();
  // A second one is not waited for.
  daemon::release_ending_signals();
  notify.stopping("ends; what is installed runs on");
  lines.info("ends; what is installed runs on");
  watchdog.reset();
  admin->reset();
  started->reset();
  return cli::kExitOk;
}

cli::Program table() {
  constexpr std::string_view kSummary = "edge-operator installs what an EdgeCluster says, and keeps it so.";
  cli::Command command = {
      .name = "",
      .summary = kSummary,
      .details =
          "Makes a controller and agents of each EdgeCluster, exchanges them for those of another version, one agent "
          "first, and writes the resource's status. Without --kubeconfig, KUBECONFIG and ~/.kube/config it takes the "
          "service account of its pod. What is installed runs on without it.",
      .flags =
          {{.name = "kubeconfig", .value = "FILE", .help = "How the API is reached", .environment = "KUBECONFIG"},
           {.name = "context", .value = "NAME", .help = "In place of the kubeconfig's current context"},
           {.name = "namespace",
            .letter = 'n',
            .value = "NAMESPACE",
            .help = "Whose EdgeClusters are kept",
            .fallback = "edge-system"},
           {.name = "all-namespaces", .letter = 'A', .help = "Keeps those of every namespace"},
           {.name = "leader-elect",
            .value = "BOOL",
            .help = "Of several operators the holder of a Lease works",
            .fallback = "true",
            .choices = {"true", "false"}},
           {.name = "lease-namespace", .value = "NAMESPACE", .help = "Where that Lease is", .fallback = "edge-system"},
           {.name = "upgrade-definitions",
            .value = "BOOL",
            .help = "Brings the definitions of the kinds (CRDs) to this version; never to an older one",
            .fallback = "true",
            .choices = {"true", "false"}},
           {.name = "health-listen",
            .value = "ADDR",
            .help = "Where /healthz, /readyz and /metrics are served, or `off`",
            .fallback = "127.0.0.1:9093"}},
      .examples = {"edge-operator --namespace edge-system"},
      .run = run};
  for (cli::Flag& flag : daemon::log_flags()) command.flags.push_back(std::move(flag));
  return {
      .name = kName, .summary = kSummary, .version = program::version_text(kName), .commands = {std::move(command)}};
}

}  // namespace
}  // namespace edge::cluster_operator

int main(int argc, char** argv) {
  edge::daemon::keep_openssl_up();
  return edge::cli::run(edge::cluster_operator::table(), argc, argv);
}
