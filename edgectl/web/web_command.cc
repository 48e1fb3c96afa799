#include "edgectl/web/web_command.h"

#include <linux/capability.h>
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <iterator>
#include <optional>

#include <malloc.h>

#include "base/log.h"
#include "base/os/capabilities.h"
#include "base/os/file.h"
#include "base/text/ascii.h"
#include "cli/terminal.h"
#include "compiler/analyze/claims/claim.h"
#include "compiler/expr/expression.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/reports/claim_lines.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/target.h"
#include "edgectl/web/server/certificate_files.h"
#include "edgectl/web/web_server.h"
#include "net/client/url.h"
#include "net/tls/certificate.h"

namespace edge::edgectl::web {
namespace {

constexpr std::string_view kWeb = "edgectl web";
constexpr std::size_t kMostSecret = 4096;
/// Ports below it take a capability (net.ipv4.ip_unprivileged_port_start; a system may have lowered it).
constexpr std::uint16_t kLeastFreePort = 1024;
/// The page may add as many.
constexpr std::size_t kMostClaims = 50;
constexpr std::chrono::seconds kLookAtFiles{10};

/// Signals that end the server: blocked before it starts threads, so that only this one receives them.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

int usage(std::string_view text) {
  cli::print_error(kWeb, text);
  return cli::kExitUsage;
}

Error wrong(std::string text) { return {ErrorCode::kInvalidArgument, std::move(text)}; }

/// nullopt: no login is asked for.
Result<std::optional<LoginSettings>> login_of(const cli::Arguments& arguments) {
  if (!arguments.has("oidc-issuer")) {
    if (arguments.has("oidc-client-id")) return wrong("--oidc-client-id needs --oidc-issuer");
    return std::optional<LoginSettings>();
  }
  LoginSettings login{.issuer = arguments.one("oidc-issuer"),
                      .client_id = arguments.one("oidc-client-id"),
                      .client_secret = arguments.one("oidc-client-secret")};
  if (login.client_id.empty()) return wrong("--oidc-issuer needs --oidc-client-id");
  if (arguments.has("oidc-client-secret-file")) {
    auto secret = read_file(arguments.one("oidc-client-secret-file"), kMostSecret);
    if (!secret) return secret.error();
    login.client_secret = std::move(*secret);
    while (login.client_secret.ends_with('\n') || login.client_secret.ends_with('\r')) login.client_secret.pop_back();
  }
  if (login.client_secret.empty()) return wrong("--oidc-issuer needs --oidc-client-secret-file");
  if (arguments.has("oidc-ca-file")) {
    auto authorities = read_file(arguments.one("oidc-ca-file"), net::tls::kMaxPemBytes);
    if (!authorities) return authorities.error();
    login.authorities = std::move(*authorities);
  }
  if (arguments.has("oidc-session-secret-file")) {
    auto secret = read_file(arguments.one("oidc-session-secret-file"), kMostSecret);
    if (!secret) return secret.error();
    login.session_secret = std::move(*secret);
  }
  login.redirect_url = arguments.one("oidc-redirect-url");
  login.scopes = arguments.all("oidc-scope");
  if (login.scopes.empty()) login.scopes = {"profile", "email"};
  login.username_claim = arguments.one("oidc-username-claim");
  if (arguments.has("oidc-username-prefix")) login.username_prefix = arguments.one("oidc-username-prefix");
  login.groups_claim = arguments.one("oidc-groups-claim");
  login.groups_prefix = arguments.one("oidc-groups-prefix");
  return std::optional<LoginSettings>(std::move(login));
}

/// The claims of a file. kInvalidArgument: one of them is none.
Status add_claims(const std::string& path, std::vector<std::string>& claims) {
  const auto text = read_file(path, kMaxClaimFile);
  if (!text) return text.error();
  for (ClaimLine& line : claim_lines(*text)) {
    const auto parsed = compiler::expr::parse_claim(line.text, compiler::analyze::policy_types());
    if (parsed.fault) return wrong(path + ": `" + line.text + "`: " + parsed.fault->message);
    claims.push_back(std::move(line.text));
  }
  if (claims.size() <= kMostClaims) return {};
  return wrong("--claims: more than " + std::to_string(kMostClaims) + " claims");
}

/// Behind a proxy that ends TLS, browsers name its URL: as the origin of calls, and for the way back from a login.
Status use_public_url(const std::string& text, ServerSettings& settings) {
  const auto url = net::client::parse_url(text);
  if (!url || !url->secure || url->target != "/") {
    return wrong("--public-url takes https://NAME or https://NAME:PORT, not `" + text + "`");
  }
  settings.names.push_back(url->host);
  settings.api.public_origin = url->origin();
  if (settings.login && settings.login->redirect_url.starts_with('/')) {
    settings.login->redirect_url.insert(0, url->origin());
  }
  return {};
}

/// kInvalidArgument: flags that do not go together.
Result<ServerSettings> settings_of(const cli::Arguments& arguments) {
  auto login = login_of(arguments);
  if (!login) return login.error();
  const bool open_to_all = arguments.has("serve-without-login");
  if (open_to_all && *login) return wrong("--serve-without-login and --oidc-issuer do not go together");
  const bool tls = arguments.has("tls-cert");
  if (tls != arguments.has("tls-key")) return wrong("--tls-cert and --tls-key go together");
  const auto listen = parse_listen(arguments.one("listen"), open_to_all || (*login && tls));
  if (!listen) return listen.error();
  if (!listen->loopback && *login && !tls) {
    return wrong("--listen " + arguments.one("listen") +
                 ": sessions would cross the network in plain text. Give --tls-cert and --tls-key, or use a loopback "
                 "address");
  }
  if (!listen->loopback && !open_to_all && !*login) {
    return wrong("--listen " + arguments.one("listen") +
                 ": whoever reaches this address would act with your rights. Use a loopback address, have viewers log "
                 "in (--oidc-issuer, with --tls-cert), or say that you mean it: --serve-without-login");
  }
  ServerSettings settings{.address = listen->address, .port = listen->port, .login = std::move(*login), .api = {}};
  if (tls) {
    auto pair = CertificateFiles(arguments.one("tls-cert"), arguments.one("tls-key")).read();
    if (!pair) return pair.error();
    settings.certificate = std::move(*pair);
  }
  for (const std::string& name : arguments.all("host-name")) settings.names.push_back(ascii_lower(name));
  if (arguments.has("public-url")) {
    if (Status status = use_public_url(arguments.one("public-url"), settings); !status) return status.error();
  }
  for (const std::string& path : arguments.all("claims")) {
    if (Status status = add_claims(path, settings.api.claims); !status) return status.error();
  }
  settings.api.arguments = arguments;
  settings.api.controller_class = arguments.one("controller-class");
  settings.api.read_only = arguments.has("read-only");
  settings.api.metrics_url = arguments.one("metrics-url");
  return settings;
}

/// Serves until a signal ends it; certificates are replaced when their files have changed.
void serve_until_signal(WebServer& server, const cli::Arguments& arguments, const sigset_t& signals) {
  CertificateFiles files(arguments.one("tls-cert"), arguments.one("tls-key"));
  const timespec period{.tv_sec = kLookAtFiles.count(), .tv_nsec = 0};
  while (sigtimedwait(&signals, nullptr, arguments.has("tls-cert") ? &period : nullptr) < 0) {
    if (!files.changed()) continue;
    const auto pair = files.read();
    const Status replaced = pair ? server.replace_certificate(*pair) : Status(pair.error());
    if (!replaced) cli::print_error(kWeb, "the certificate in use stays: " + replaced.error().text);
  }
}

std::vector<cli::Flag> login_flags() {
  return {
      {.name = "oidc-issuer",
       .value = "URL",
       .help = "OpenID provider at which viewers log in; they then act with their own rights, by impersonation"},
      {.name = "oidc-client-id", .value = "ID", .help = "This server's client ID at the provider"},
      {.name = "oidc-client-secret",
       .value = "SECRET",
       .help = "Its secret; better in the environment or a file, as command lines can be read by others",
       .environment = "EDGECTL_OIDC_CLIENT_SECRET"},
      {.name = "oidc-client-secret-file", .value = "FILE", .help = "File with the secret"},
      {.name = "oidc-session-secret-file",
       .value = "FILE",
       .help = "File of 32 bytes that seal sessions, for several servers or restarts (default: random)"},
      {.name = "oidc-ca-file", .value = "FILE", .help = "CAs trusted for the provider, in addition to the system's"},
      {.name = "oidc-redirect-url",
       .value = "URL",
       .help = "URL to which the provider sends viewers back; a path alone means the host that they came to",
       .fallback = "/oauth2/callback"},
      {.name = "oidc-scope",
       .value = "SCOPE",
       .help = "Scope to ask for, in addition to openid (default: profile and email)",
       .repeatable = true},
      {.name = "oidc-username-claim", .value = "CLAIM", .help = "Claim with the user's name", .fallback = "sub"},
      {.name = "oidc-username-prefix",
       .value = "PREFIX",
       .help = "Prefix of user names (default: the issuer and `#`, none for the claim email); `-` for none"},
      {.name = "oidc-groups-claim",
       .value = "CLAIM",
       .help = "Claim with the user's groups",
       .fallback = "groups",
       .choices = {"groups", "roles"}},
      {.name = "oidc-groups-prefix", .value = "PREFIX", .help = "Prefix of groups"}};
}

}  // namespace

std::vector<cli::Flag> server_flags() {
  std::vector<cli::Flag> flags = {
      {.name = "listen",
       .value = "[ADDRESS]:PORT",
       .help = "Address to listen on; without one, 127.0.0.1",
       .fallback = ":9080"},
      {.name = "tls-cert", .value = "FILE", .help = "Certificate chain, PEM; read again when it changes"},
      {.name = "tls-key", .value = "FILE", .help = "Its key, PEM"},
      {.name = "host-name",
       .value = "NAME",
       .help = "Host name by which browsers reach the server, in addition to localhost and addresses",
       .repeatable = true},
      {.name = "public-url",
       .value = "https://NAME[:PORT]",
       .help = "URL by which browsers reach the server through a proxy that ends TLS and passes the Host field on"},
      {.name = "metrics-url",
       .value = "URL",
       .help = "Prometheus server for ranges of more than the last hour",
       .environment = "EDGECTL_METRICS_URL"},
      {.name = "claims",
       .value = "FILE",
       .help = "File with one claim per line (as for `edgectl assert`), which every change that the page shows is held "
               "against",
       .repeatable = true},
      {.name = "read-only", .help = "Refuse every call that changes something"},
      {.name = "serve-without-login",
       .help = "Listen on other than loopback addresses, though whoever reaches them acts with the rights of this "
               "kubeconfig"}};
  std::vector<cli::Flag> login = login_flags();
  flags.insert(flags.end(), std::make_move_iterator(login.begin()), std::make_move_iterator(login.end()));
  return flags;
}

int serve_web(const cli::Arguments& arguments) {
  // One heap for its few threads: each of its own keeps some megabytes of what was free again in it.
  ::mallopt(M_ARENA_MAX, 1);
  auto settings = settings_of(arguments);
  if (!settings) return usage(settings.error().text);
  int exit = cli::kExitOk;
  const sigset_t signals = block_signals();
  {
    const auto cluster = open_cluster(kWeb, arguments, exit);
    if (cluster == nullptr) return exit;
    settings->api.config = cluster->api().config();
  }
  if (settings->login && !settings->api.config.identity.impersonate.empty()) {
    return usage("viewers that log in are impersonated, and so is this kubeconfig's user (`as`): one is possible");
  }
  std::optional<Log> log;
  if (settings->login) {
    log.emplace(LogOptions{.program = std::string(kWeb)});
    settings->login->log = log->logger();
  }
  const auto server = WebServer::start(std::move(*settings));
  if (!server) {
    cli::print_error(kWeb, server.error().text);
    return server.error().code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitFindings;
  }
  if (!cli::write_text(stdout, "Serving on " + (*server)->url() + "/\n")) return cli::kExitFindings;
  std::fflush(stdout);
  serve_until_signal(**server, arguments, signals);
  return cli::kExitOk;
}

namespace {

/// As a child of a process that may have the right to configure the network: of that it needs nothing.
int serve_confined(const cli::Arguments& arguments) {
  const auto listen = parse_listen(arguments.one("listen"), false);
  const bool binds = listen && listen->port != 0 && listen->port < kLeastFreePort;
  if (!keep_capabilities(binds ? std::uint64_t{1} << CAP_NET_BIND_SERVICE : 0)) {
    cli::print_error(kWeb, "the system does not let it give up capabilities");
  }
  // Not beyond the process that keeps the objects. The kernel forgets it where credentials change.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  return serve_web(arguments);
}

}  // namespace

std::optional<int> serve_web_child(int argc, const char* const* argv) {
  if (argc < 2 || std::string_view(argv[1]) != kWebWord) return std::nullopt;
  std::signal(SIGPIPE, SIG_IGN);
  cli::Command command = {.name = kWebWord,
                          .summary = "Serve the dashboard",
                          .flags = server_flags(),
                          .run = serve_confined,
                          .global = true};
  for (cli::Flag& flag : agent_page_flags()) command.flags.push_back(std::move(flag));
  command.flags.push_back({.name = "controller-class", .value = "CLASS", .help = "Controller name of the gateways"});
  return cli::run({.name = "edge-standalone",
                   .summary = "The dashboard",
                   .commands = {std::move(command)},
                   .flags = target_flags()},
                  argc, argv);
}

}  // namespace edge::edgectl::web
