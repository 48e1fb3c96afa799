// edgectl web: serves the dashboard until it is interrupted.
#include <csignal>

#include "base/os/file.h"
#include "base/text/ascii.h"
#include "cli/terminal.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/input.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/shared_flags.h"
#include "edgectl/web/web_server.h"
#include "net/tls/certificate.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kWeb = "edgectl web";

/// Signals that end the server: blocked before it starts threads, so that only this one receives them.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

/// kInvalidArgument: flags that do not go together.
Result<web::ServerSettings> settings_of(const cli::Arguments& arguments) {
  const bool open_to_all = arguments.has("serve-without-login");
  const auto listen = web::parse_listen(arguments.one("listen"), open_to_all);
  if (!listen) return listen.error();
  if (!listen->loopback && !open_to_all) {
    return Error{ErrorCode::kInvalidArgument,
                 "--listen " + arguments.one("listen") +
                     ": whoever reaches this address would act with your rights. Use a loopback address, or say that "
                     "you mean it: --serve-without-login"};
  }
  web::ServerSettings settings{.address = listen->address, .port = listen->port, .api = {}};
  if (arguments.has("tls-cert") != arguments.has("tls-key")) {
    return Error{ErrorCode::kInvalidArgument, "--tls-cert and --tls-key go together"};
  }
  if (arguments.has("tls-cert")) {
    auto certificate = read_file(arguments.one("tls-cert"), net::tls::kMaxPemBytes);
    if (!certificate) return certificate.error();
    auto key = read_file(arguments.one("tls-key"), net::tls::kMaxPemBytes);
    if (!key) return key.error();
    settings.certificate = std::move(*certificate);
    settings.key = std::move(*key);
  }
  for (const std::string& name : arguments.all("host-name")) settings.names.push_back(ascii_lower(name));
  settings.api.arguments = arguments;
  settings.api.controller_class = arguments.one("controller-class");
  settings.api.read_only = arguments.has("read-only");
  return settings;
}

int serve_web(const cli::Arguments& arguments) {
  auto settings = settings_of(arguments);
  if (!settings) return usage(kWeb, settings.error().text);
  int exit = cli::kExitOk;
  const sigset_t signals = block_signals();
  {
    const auto cluster = open_cluster(kWeb, arguments, exit);
    if (cluster == nullptr) return exit;
    settings->api.config = cluster->api().config();
  }
  const auto server = web::WebServer::start(std::move(*settings));
  if (!server) {
    cli::print_error(kWeb, server.error().text);
    return cli::kExitFindings;
  }
  if (!cli::write_text(stdout, "Serving on " + (*server)->url() + "/\n")) return cli::kExitFindings;
  std::fflush(stdout);
  int number = 0;
  sigwait(&signals, &number);
  return cli::kExitOk;
}

}  // namespace

cli::Command web_command() {
  return {
      .name = "web",
      .group = kTrafficGroup,
      .summary = "Serve the dashboard",
      .details =
          "Shows the connected cluster's objects, agents and traffic in a browser, and explains requests. Every viewer "
          "acts with the rights of this kubeconfig; therefore only loopback addresses are listened on, unless "
          "--serve-without-login is given.",
      .flags = joined(agent_page_flags(),
                      {{.name = "listen",
                        .value = "[ADDRESS]:PORT",
                        .help = "Address to listen on; without one, 127.0.0.1",
                        .fallback = ":9080"},
                       {.name = "tls-cert", .value = "FILE", .help = "Certificate chain, PEM"},
                       {.name = "tls-key", .value = "FILE", .help = "Its key, PEM"},
                       {.name = "host-name",
                        .value = "NAME",
                        .help = "Host name by which browsers reach the server, in addition to localhost and addresses",
                        .repeatable = true},
                       {.name = "read-only", .help = "Refuse every call that changes something"},
                       {.name = "serve-without-login",
                        .help = "Listen on other than loopback addresses, though whoever reaches them acts with the "
                                "rights of this kubeconfig"},
                       controller_class_flag()}),
      .examples = {"edgectl web", "edgectl web --listen :8080 --read-only"},
      .run = serve_web,
      .global = true};
}

}  // namespace edge::edgectl
