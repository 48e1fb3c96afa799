// edge-agent: serves the programs of a controller, or one from a file that it watches.
#include <cstdlib>
#include <optional>
#include <set>
#include <thread>

#include "agent/capabilities.h"
#include "agent/denied_calls.h"
#include "agent/service.h"
#include "agent/sync/sync.h"
#include "base/ip/node_addresses.h"
#include "base/labels.h"
#include "base/os/file.h"
#include "base/os/file_watch.h"
#include "cli/flags.h"
#include "daemon/background.h"
#include "daemon/certificate_directories.h"
#include "daemon/ending.h"
#include "daemon/grpc_log.h"
#include "daemon/logging.h"
#include "net/tls/certificate_files.h"
#include "program/read.h"
#include "program/values/certificate_file.h"
#include "program/version.h"

namespace edge::agent {
namespace {

constexpr const char* kNodeVariable = "NODE_NAME";
constexpr std::string_view kName = "edge-agent";
constexpr std::size_t kMaxEndpointBytes = 64 << 20;
constexpr std::size_t kMaxSecretBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxKeyBytes = 64 << 10;
constexpr auto kQuiet = std::chrono::milliseconds(50);

using daemon::failed;

/// Paths of the program and of the files that belong to it.
struct Files {
  std::string program;
  std::string endpoints;
  std::string secrets;                               ///< empty: none are given
  std::vector<std::string> certificate_directories;  ///< below which the program may name files

  std::vector<std::string> all() const {
    std::vector<std::string> paths = {program, endpoints};
    if (!secrets.empty()) paths.push_back(secrets);
    paths.insert(paths.end(), certificate_directories.begin(), certificate_directories.end());
    return paths;
  }
};

/// Whether --tls-files names any.
enum class Directories : std::uint8_t { kNone, kSome };

/// Adds to `secrets` what the program has in files of certificates. What is no program is refused where it is applied.
void add_certificates(std::shared_ptr<const std::vector<std::byte>> program, net::tls::CertificateFiles& files,
                      Directories directories, program::SecretSet& secrets, const Logger& log) {
  const auto view = program::read(std::move(program));
  if (!view) return;
  std::vector<program::NamedSecret> named = program::file_secrets(*view);
  // `edgectl compile --secrets-out --tls-files` has written them beside the others.
  const auto is_given = [&](const program::NamedSecret& secret) {
    return secrets.find(secret.name_space, secret.name, program::kCertificateKey) != nullptr;
  };
  if (directories == Directories::kNone) std::erase_if(named, is_given);
  std::set<net::tls::CertificateFiles::Names> pairs;
  for (const program::NamedSecret& secret : named) {
    auto pair = program::files_of_secret(secret.name);
    pairs.insert({std::move(pair->certificate), std::move(pair->key)});
  }
  files.follow(pairs);
  // The watch has waited until nothing more changed: a fault is told at once, as one of two looks.
  files.look();
  files.look();
  for (const auto& line : files.take_lines()) line.warning ? log.warn(line.text) : log.info(line.text);
  for (program::NamedSecret& secret : named) {
    const auto names = program::files_of_secret(secret.name);
    const auto* const pair = files.find({names->certificate, names->key});
    if (pair == nullptr) continue;
    std::erase_if(secrets.secrets, [&](const program::NamedSecret& given) {
      return given.name_space == secret.name_space && given.name == secret.name;
    });
    secret.values = {{std::string(program::kCertificateKey), pair->certificate},
                     {std::string(program::kPrivateKeyKey), pair->key}};
    secrets.secrets.push_back(std::move(secret));
  }
  secrets.sort();
}

/// The files as they are now, put to work.
Status load(Service& service, const Files& files, net::tls::CertificateFiles& certificates) {
  auto bytes = read_file_bytes(files.program, program::kMaxProgramBytes);
  if (!bytes) return bytes.error();
  const auto text = read_file(files.endpoints, kMaxEndpointBytes);
  if (!text) return text.error();
  auto endpoints = program::read_endpoints(*text);
  if (!endpoints) return Error{endpoints.error().code, files.endpoints + ": " + endpoints.error().text};
  program::SecretSet secrets;
  if (!files.secrets.empty()) {
    const auto values = read_file(files.secrets, kMaxSecretBytes);
    if (!values) return values.error();
    auto read = program::read_secrets(*values);
    if (!read) return Error{read.error().code, files.secrets + ": " + read.error().text};
    secrets = std::move(*read);
  }
  const auto program = std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
  const Directories directories = files.certificate_directories.empty() ? Directories::kNone : Directories::kSome;
  add_certificates(program, certificates, directories, secrets, service.log());
  return service.apply(program, *endpoints, secrets);
}

void follow(Service& service, FileWatch& watch, const Files& files, net::tls::CertificateFiles& certificates) {
  while (watch.wait(kQuiet) == FileWatch::Event::kChanged) {
    // Watched anew before it is read: the directories may be others now.
    Status status = watch.watch(files.all());
    if (status) status = load(service, files, certificates);
    if (!status) service.log().error("keeps the running program: " + status.error().text);
  }
}

/// The program and its values from files, which are followed.
int run_files(Service& service, const Files& files) {
  auto watch = FileWatch::create();
  Log& log = service.whole_log();
  if (!watch) return failed(log, watch.error());
  if (Status status = (*watch)->watch(files.all()); !status) return failed(log, status.error());
  net::tls::CertificateFiles certificates(files.certificate_directories);
  if (Status status = load(service, files, certificates); !status) return failed(log, status.error());

  std::thread follower([&] { follow(service, **watch, files, certificates); });
  const int code = service.run();
  (*watch)->stop();
  follower.join();
  return code;
}

int run_controller(Service& service, SyncOptions options) {
  auto sync = Sync::start(std::move(options), service);
  if (!sync) return failed(service.whole_log(), sync.error());
  service.when_superseded([&sync] { (*sync)->leave_site(); });
  return service.run();
}

/// What says where programs come from, and contradicts itself.
std::optional<Error> contradiction(const cli::Arguments& arguments) {
  const bool controller = arguments.has("controller");
  if (controller == arguments.has("program")) {
    return Error{ErrorCode::kInvalidArgument, "give one of --controller and --program"};
  }
  for (const std::string_view other :
       {"name", "node", "label", "token-file", "data-dir", "seal-key-file", "peer-listen"}) {
    // The environment of a pod says it whether it is asked for or not.
    if (other == "node" && std::getenv(kNodeVariable) != nullptr) continue;
    if (!controller && arguments.has(other)) {
      return Error{ErrorCode::kInvalidArgument, "--" + std::string(other) + " goes with --controller"};
    }
  }
  for (const std::string_view other : {"endpoints", "secrets", "tls-files", "allow-unsigned"}) {
    if (controller && arguments.has(other)) {
      return Error{ErrorCode::kInvalidArgument, "--" + std::string(other) + " goes with --program"};
    }
  }
  if (controller && !(arguments.has("name") && arguments.has("data-dir"))) {
    return Error{ErrorCode::kInvalidArgument, "--controller needs --name and --data-dir"};
  }
  if (!controller && !arguments.has("endpoints")) {
    return Error{ErrorCode::kInvalidArgument, "--program needs --endpoints"};
  }
  if (!controller && arguments.has("verify-key") == arguments.has("allow-unsigned")) {
    return Error{ErrorCode::kInvalidArgument, "give one of --verify-key and --allow-unsigned"};
  }
  return std::nullopt;
}

int run(const cli::Arguments& arguments) {
  raise_capabilities();
  auto served = daemon::background_if_asked(arguments);
  if (!served) {
    cli::print_error(kName, served.error().text);
    return cli::kExitFindings;
  }
  const auto log = std::make_shared<Log>(daemon::log_options(std::string(kName), arguments));
  const daemon::GrpcLog grpc_log(log->logger());
  auto options = service_options(log, arguments);
  if (!options) return failed(*log, options.error());
  options->served = std::move(*served);
  if (const auto fault = contradiction(arguments)) return failed(*log, *fault);
  if (arguments.has("verify-key")) {
    const auto pem = read_file(arguments.one("verify-key"), kMaxKeyBytes);
    if (!pem) return failed(*log, pem.error());
    auto key = program::VerifyKey::from_pem(*pem);
    if (!key) {
      return failed(*log, {ErrorCode::kFailedPrecondition, arguments.one("verify-key") + ": " + key.error().text});
    }
    options->key = std::move(*key);
  }
  const auto given = [&](std::string_view flag) { return arguments.has(flag) ? arguments.one(flag) : std::string(); };
  auto labels = parse_labels(arguments.all("label"));
  if (!labels) return failed(*log, {labels.error().code, "--label: " + labels.error().text});
  SyncOptions sync{.controller = given("controller"),
                   .name = given("name"),
                   .node = given("node"),
                   .labels = std::move(*labels),
                   .token_file = given("token-file"),
                   .data_dir = given("data-dir"),
                   .key = options->key,
                   .seal_key_file = given("seal-key-file")};
  const std::string peers = arguments.has("peer-listen") ? arguments.one("peer-listen") : "0.0.0.0:9095";
  if (peers != "off") {
    const auto listen = daemon::parse_listen_address(peers);
    if (!listen) {
      return failed(*log, {ErrorCode::kInvalidArgument,
                           "--peer-listen takes an address and a port, or off, not `" + peers + "`"});
    }
    sync.peer_listen = {listen->address, listen->port};
  }
  auto directories = daemon::certificate_directories(arguments);
  if (!directories) return failed(*log, directories.error());
  options->traces.instance = given("name");
  options->ready_without_listeners = arguments.has("controller");
  // Whoever may write a policy of the cluster is not for that one who may reach what is this node's own.
  if (arguments.has("controller") && !arguments.has("deny-calls-to")) options->server.denied_calls = node_addresses();
  if (!sync.data_dir.empty()) options->admin_token_file = sync.data_dir + "/admin-token";
  auto service = Service::start(std::move(*options));
  if (!service) return failed(*log, service.error());
  if (arguments.has("controller")) return run_controller(**service, std::move(sync));
  return run_files(**service, {given("program"), given("endpoints"), given("secrets"), std::move(*directories)});
}

/// Beside those that several programs share.
std::vector<cli::Flag> own_flags() {
  return {
      {.name = "controller", .value = "HOST:PORT", .help = "Controller to take programs from"},
      {.name = "name", .value = "NAME", .help = "Name of this agent, unique among those of the controller"},
      {.name = "node",
       .value = "NAME",
       .help = "Name of this machine, as shown to operators, and of its Node in a cluster; default: its host name",
       .environment = kNodeVariable},
      {.name = "label",
       .value = "KEY=VALUE",
       .help = "Label of this agent, as on a Kubernetes object; the controller chooses its program by these "
               "labels, else by those of its Node",
       .repeatable = true},
      {.name = "token-file",
       .value = "FILE",
       .help = "Join file of the controller (<data-dir>/agents/join there); needed to join, not afterwards"},
      {.name = "data-dir",
       .value = "DIR",
       .help = "Directory of the certificate, the last program, endpoints and encrypted secrets"},
      {.name = "seal-key-file",
       .value = "FILE",
       .help = "Key that encrypts secrets on disk, created when missing; default: a file in --data-dir"},
      {.name = "peer-listen",
       .value = "ADDR",
       .help = "UDP address for messages of other agents about virtual addresses; `off`: this agent takes none; "
               "default: 0.0.0.0:9095"},
      {.name = "program", .value = "FILE", .help = "Program made by edgectl compile; reloaded when the file changes"},
      {.name = "endpoints", .value = "FILE", .help = "Addresses of the backends (edgectl compile --endpoints-out)"},
      {.name = "secrets",
       .value = "FILE",
       .help = "Certificates and keys that the program names (edgectl compile --secrets-out)"},
      daemon::certificate_files_flag(),
      {.name = "verify-key",
       .value = "PEM",
       .help = "Public key that verifies programs' signatures; default with --controller: the key that the "
               "controller sends"},
      {.name = "allow-unsigned",
       .help = "Accept programs without a signature; their native code runs in this process"}};
}

cli::Program table() {
  cli::Command command = {
      .name = "",
      .summary = "",
      .details =
          "Serves the programs of a controller (--controller), or one from a file (--program). New versions are "
          "verified, loaded and swapped in while traffic flows; a refused version leaves the running program in force. "
          "The last program of the controller is stored in --data-dir and is served when the agent starts while the "
          "controller is unreachable.",
      .flags = own_flags(),
      .examples = {"edge-agent --controller edge.example:9090 --name edge-1 --token-file join --data-dir /var/lib/edge",
                   "edge-agent --program site.edgeprog --endpoints endpoints.json --verify-key edge.key.pub"},
      .run = run};
  command.flags.push_back(daemon::hand_over_flag());
  for (cli::Flag& flag : service_flags()) command.flags.push_back(std::move(flag));
  constexpr std::string_view kSummary = "edge-agent serves traffic by a compiled routing program.";
  command.summary = kSummary;
  return {
      .name = kName, .summary = kSummary, .version = program::version_text(kName), .commands = {std::move(command)}};
}

}  // namespace
}  // namespace edge::agent

int main(int argc, char** argv) {
  edge::daemon::keep_openssl_up();
  return edge::cli::run(edge::agent::table(), argc, argv);
}
