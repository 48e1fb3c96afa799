// edge-agent: serves by a program from disk, and by the next one as soon as the file is replaced.
#include <thread>

#include "agent/service.h"
#include "base/file.h"
#include "base/file_watch.h"
#include "cli/flags.h"

namespace edge::agent {
namespace {

constexpr std::string_view kName = "edge-agent";
constexpr std::size_t kMaxEndpointBytes = 64 << 20;
constexpr std::size_t kMaxSecretBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxKeyBytes = 64 << 10;
constexpr auto kQuiet = std::chrono::milliseconds(50);

int failed(const Error& error) {
  cli::print_error(kName, error.text);
  return error.code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitFindings;
}

/// What is run: a program and what travels beside it.
struct Files {
  std::string program;
  std::string endpoints;
  std::string secrets;  ///< empty: none are given

  std::vector<std::string> all() const {
    std::vector<std::string> paths = {program, endpoints};
    if (!secrets.empty()) paths.push_back(secrets);
    return paths;
  }
};

/// The files as they are now, put to work.
Status load(Service& service, const Files& files) {
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
  return service.apply(std::make_shared<const std::vector<std::byte>>(std::move(*bytes)), *endpoints, secrets);
}

void follow(Service& service, FileWatch& watch, const Files& files) {
  while (watch.wait(kQuiet) == FileWatch::Event::kChanged) {
    // Watched anew before it is read: the directories may be others now.
    Status status = watch.watch(files.all());
    if (status) status = load(service, files);
    if (!status) service.message("keeps the running program: " + status.error().text);
  }
}

int run(const cli::Arguments& arguments) {
  auto options = service_options(std::string(kName), arguments);
  if (!options) return failed(options.error());
  if (arguments.has("verify-key") == arguments.has("allow-unsigned")) {
    return failed({ErrorCode::kInvalidArgument, "give one of --verify-key and --allow-unsigned"});
  }
  if (arguments.has("verify-key")) {
    const auto pem = read_file(arguments.one("verify-key"), kMaxKeyBytes);
    if (!pem) return failed(pem.error());
    auto key = program::VerifyKey::from_pem(*pem);
    if (!key) return failed({ErrorCode::kFailedPrecondition, arguments.one("verify-key") + ": " + key.error().text});
    options->key = std::move(*key);
  }
  const Files files{arguments.one("program"), arguments.one("endpoints"),
                    arguments.has("secrets") ? arguments.one("secrets") : std::string()};
  auto service = Service::start(std::move(*options));
  if (!service) return failed(service.error());
  auto watch = FileWatch::create();
  if (!watch) return failed(watch.error());
  if (Status status = (*watch)->watch(files.all()); !status) return failed(status.error());
  if (Status status = load(**service, files); !status) return failed(status.error());

  std::thread follower([&] { follow(**service, **watch, files); });
  const int code = (*service)->run();
  (*watch)->stop();
  follower.join();
  return code;
}

cli::Program table() {
  cli::Command command = {
      .name = "",
      .summary = "",
      .details =
          "Runs one compiled program. The files are followed: a new version is verified, loaded and swapped in "
          "while traffic flows; one that is refused leaves the running program as it is.",
      .flags = {{.name = "program", .value = "FILE", .help = "Compiled by edgectl compile", .required = true},
                {.name = "endpoints",
                 .value = "FILE",
                 .help = "Addresses of the backends (edgectl compile --endpoints-out)",
                 .required = true},
                {.name = "secrets",
                 .value = "FILE",
                 .help = "Certificates and keys that the program names (edgectl compile --secrets-out)"},
                {.name = "verify-key", .value = "PEM", .help = "Public key that the program must be signed with"},
                {.name = "allow-unsigned", .help = "Take any program; its native code runs in this process"}},
      .examples = {"edge-agent --program site.edgeprog --endpoints endpoints.json --verify-key edge.key.pub"},
      .run = run};
  for (cli::Flag& flag : service_flags()) command.flags.push_back(std::move(flag));
  constexpr std::string_view kSummary = "edge-agent serves traffic by a compiled routing program.";
  command.summary = kSummary;
  return {.name = kName, .summary = kSummary, .commands = {std::move(command)}};
}

}  // namespace
}  // namespace edge::agent

int main(int argc, char** argv) { return edge::cli::run(edge::agent::table(), argc, argv); }
