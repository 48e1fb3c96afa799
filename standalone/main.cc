// edge-standalone: resource API, controller and agent in one process. Configuration comes through the API and from
// files, which are watched and applied to it.
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include <unistd.h>

#include "agent/capabilities.h"
#include "agent/service.h"
#include "base/labels.h"
#include "cli/flags.h"
#include "cli/terminal.h"
#include "compiler/link/defaults.h"
#include "controller/hub_flags.h"
#include "controller/traces/trace_flags.h"
#include "daemon/background.h"
#include "daemon/certificate_directories.h"
#include "daemon/data_dir.h"
#include "daemon/ending.h"
#include "daemon/grpc_log.h"
#include "daemon/logging.h"
#include "edgectl/web/compiler/compile_service.h"
#include "edgectl/web/web_command.h"
#include "program/version.h"
#include "standalone/check.h"
#include "standalone/standalone.h"
#include "standalone/trace_store.h"
#include "standalone/web_process.h"

namespace edge::standalone {
namespace {

constexpr std::string_view kName = "edge-standalone";
constexpr auto kPatience = std::chrono::seconds(3);

using daemon::failed;

Status read_labels(const cli::Arguments& arguments, StandaloneOptions& parts) {
  auto labels = parse_labels(arguments.all("label"));
  if (!labels) return Error{labels.error().code, "--label: " + labels.error().text};
  parts.labels = std::move(*labels);
  parts.group_label = arguments.one("group-label");
  controller::read_hub_flags(arguments, parts);
  if (is_label_key(parts.group_label)) return {};
  return Error{ErrorCode::kInvalidArgument, "--group-label takes a label's key, not `" + parts.group_label + "`"};
}

/// Nothing of the process is begun for it.
int run_check(const cli::Arguments& arguments) {
  if (!arguments.has("config")) {
    cli::print_error(kName, "--check needs --config");
    return cli::kExitUsage;
  }
  const auto directories = daemon::certificate_directories(arguments);
  if (!directories) {
    cli::print_error(kName, directories.error().text);
    return cli::kExitUsage;
  }
  return check_files(kName, arguments.all("config"), arguments.one("controller-class"), *directories);
}

/// What the flags say of the parts but the data plane. kInvalidArgument names the flag.
Result<StandaloneOptions> parts_of(const cli::Arguments& arguments) {
  const auto api = daemon::parse_listen_address(arguments.one("api-listen"));
  if (!api) {
    return Error{ErrorCode::kInvalidArgument,
                 "--api-listen takes ADDRESS:PORT or :PORT, not `" + arguments.one("api-listen") + "`"};
  }
  // Agents of other machines are heard where they can reach the controller.
  const auto agents = daemon::parse_listen_address(arguments.one("agents-listen"));
  const bool alone = !agents || daemon::is_loopback(agents->address);
  const std::string peers = arguments.has("peer-listen") ? arguments.one("peer-listen")
                            : alone                      ? "127.0.0.1:0"
                                                         : "0.0.0.0:9095";
  const auto peer_listen = daemon::parse_listen_address(peers);
  if (!peer_listen) {
    return Error{ErrorCode::kInvalidArgument, "--peer-listen takes ADDRESS:PORT or :PORT, not `" + peers + "`"};
  }
  StandaloneOptions parts;
  parts.peers = {peer_listen->address, peer_listen->port};
  parts.data_dir = arguments.one("data-dir");
  parts.files = arguments.all("config");
  parts.api = *api;
  parts.agents = arguments.one("agents-listen");
  parts.controller_class = arguments.one("controller-class");
  if (Status status = read_labels(arguments, parts); !status) return status.error();
  parts.published_addresses = arguments.all("published-address");
  auto certificate_directories = daemon::certificate_directories(arguments);
  if (!certificate_directories) return certificate_directories.error();
  parts.certificate_directories = std::move(*certificate_directories);
  parts.dns_hook = arguments.one("acme-dns-hook");
  return parts;
}

/// Runs until the end; the dashboard, the parts and the traces are given up before the connections are drained where
/// another process has taken over, as it waits for them. `web`: null without a dashboard.
int run_until_end(agent::Service& service, std::unique_ptr<WebProcess> web, std::unique_ptr<Standalone> parts,
                  TraceStore& traces, Log& log) {
  std::promise<void> ended;
  std::thread ending;
  const auto end_parts = [&] {
    ending = std::thread([&] {
      web.reset();
      traces.close();
      parts.reset();
      ended.set_value();
    });
  };
  service.when_superseded(end_parts);
  const int code = service.run();
  if (!ending.joinable()) end_parts();
  // A compilation may be under way. All connections are closed: nothing is lost by not waiting for its end.
  if (ended.get_future().wait_for(kPatience) != std::future_status::ready) {
    log.flush(kPatience);
    ::_exit(code);
  }
  ending.join();
  return code;
}

int run(const cli::Arguments& arguments) {
  if (arguments.has("check")) return run_check(arguments);
  if (!arguments.has("data-dir")) {
    cli::print_error(kName, "the flag `--data-dir DIR` is required");
    return cli::kExitUsage;
  }
  agent::raise_capabilities();
  auto served = daemon::background_if_asked(arguments);
  if (!served) {
    cli::print_error(kName, served.error().text);
    return cli::kExitFindings;
  }
  daemon::block_ending_signals();
  const auto log = std::make_shared<Log>(daemon::log_options(std::string(kName), arguments));
  const daemon::GrpcLog grpc_log(log->logger());
  if (Status status = daemon::prepare_data_dir(arguments.one("data-dir")); !status) return failed(*log, status.error());
  auto options = agent::service_options(log, arguments);
  if (!options) return failed(*log, options.error());
  options->served = std::move(*served);
  options->first_must_serve = true;
  options->ready_without_listeners = !arguments.has("config");
  options->admin_token_file = arguments.one("data-dir") + "/admin-token";
  auto parts = parts_of(arguments);
  if (!parts) return failed(*log, parts.error());
  parts->colour = log->format() == LogFormat::kText ? cli::colour_for(stderr) : Colour::kNo;
  // Before the data plane, which sends its spans there.
  const bool takes_over = !options->upgrade_socket.empty() && agent::Predecessor::exists(options->upgrade_socket);
  auto traces = TraceStore::start(arguments, parts->data_dir, log->logger(),
                                  takes_over ? TraceStore::When::kLater : TraceStore::When::kNow);
  if (!traces) return failed(*log, traces.error());
  parts->traces = traces->get();
  if (options->traces.endpoint.empty() && !(*traces)->otlp_url().empty()) {
    options->traces.endpoint = (*traces)->otlp_url();
    const std::string& token = (*traces)->otlp_token();
    if (!token.empty()) options->traces.fields.emplace_back("Authorization", "Bearer " + token);
  }
  auto service = agent::Service::start(std::move(*options));
  if (!service) return failed(*log, service.error());
  auto whole = Standalone::start(*std::move(parts), **service);
  if (!whole) return failed(*log, whole.error());
  std::unique_ptr<WebProcess> web;
  if (auto words = web_command_line(arguments); !words.empty()) {
    web = std::make_unique<WebProcess>(std::move(words), log->logger());
  }
  return run_until_end(**service, std::move(web), std::move(*whole), **traces, *log);
}

/// Beside those that several programs share.
std::vector<cli::Flag> own_flags() {
  return {{.name = "config",
           .value = "PATH",
           .help = "File or directory of resources that are applied and watched",
           .repeatable = true},
          {.name = "data-dir",
           .value = "DIR",
           .help = "Directory of resources, keys, the kubeconfig and the last programs; required except with --check"},
          daemon::certificate_files_flag(),
          daemon::dns_hook_flag(),
          {.name = "check",
           .help = "Read and compile the files of --config, print the errors, and exit: 0 when they would be served, "
                   "1 when not"},
          {.name = "api-listen",
           .value = "ADDR",
           .help = "Address of the resource API; with port 0 the system chooses a port",
           .fallback = "127.0.0.1:6443"},
          {.name = "agents-listen",
           .value = "ADDR",
           .help = "gRPC address for further agents and for edgectl",
           .fallback = "127.0.0.1:0"},
          {.name = "peer-listen",
           .value = "ADDR",
           .help = "UDP address for messages of further agents about virtual addresses; default: 0.0.0.0:9095 unless "
                   "--agents-listen is a loopback address"},
          {.name = "label",
           .value = "KEY=VALUE",
           .help = "Label of this process's own agent, as on a Kubernetes object",
           .repeatable = true},
          {.name = "group-label",
           .value = "KEY",
           .help = "Label of agents whose value is the name of their group",
           .fallback = controller::kGroupLabel},
          {.name = "controller-class",
           .value = "CLASS",
           .help = "Controller name of the gateways and classes to serve (rule D8)",
           .fallback = compiler::link::kDefaults.controller_class},
          {.name = "published-address",
           .value = "ADDRESS",
           .help = "Address written to the status of Gateways and Ingresses that name none",
           .repeatable = true}};
}

cli::Program table() {
  constexpr std::string_view kSummary =
      "edge-standalone holds resources, compiles them and serves traffic by them, in one process.";
  cli::Command command = {
      .name = "",
      .summary = kSummary,
      .details =
          "A Kubernetes-compatible API stores the resources in the data directory; kubectl and edgectl connect to it "
          "by the kubeconfig there. Files are applied to it and watched: a file with errors is reported on stderr and "
          "its last version without errors stays in force; objects removed from the files are deleted. Prints `ready "
          "program=<hash>` once a listener is bound, or without --config once the API accepts resources, `programmed "
          "program=<hash>` for each later program. SIGTERM drains and exits.",
      .flags = own_flags(),
      .examples = {"edge-standalone --config examples/quick-start --data-dir /var/lib/edge",
                   "edge-standalone --data-dir /var/lib/edge", "edge-standalone --check --config /etc/edge"},
      .run = run};
  command.flags.push_back(daemon::hand_over_flag());
  for (cli::Flag& flag : web_flags()) command.flags.push_back(std::move(flag));
  for (cli::Flag& flag : controller::hub_flags()) command.flags.push_back(std::move(flag));
  for (cli::Flag& flag : traces::trace_flags()) command.flags.push_back(std::move(flag));
  for (cli::Flag& flag : agent::service_flags()) command.flags.push_back(std::move(flag));
  return {
      .name = kName, .summary = kSummary, .version = program::version_text(kName), .commands = {std::move(command)}};
}

}  // namespace
}  // namespace edge::standalone

int main(int argc, char** argv) {
  if (const auto code = edge::edgectl::web::serve_compiler(argc, argv)) return *code;
  if (const auto code = edge::edgectl::web::serve_web_child(argc, argv)) return *code;
  edge::daemon::keep_openssl_up();
  return edge::cli::run(edge::standalone::table(), argc, argv);
}
