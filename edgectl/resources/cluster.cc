#include "edgectl/resources/cluster.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include "base/text/ascii.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/resources/spoke.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

/// What a server says, in one line for a terminal.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return shown(text);
}

/// What users can do about it, as a line; empty: the message says all there is.
const char* remedy_of(const kube::Failure& failure) {
  if (failure.refused(401)) {
    return "The token or certificate of the kubeconfig is not known there, or has expired; --kubeconfig and --context "
           "choose another.\n";
  }
  if (failure.kind != kube::Failure::Kind::kConnection) return "";
  return "Is it running? `server` and `certificate-authority-data` of the kubeconfig say where it is and whose "
         "certificates it has; --kubeconfig and --context choose another.\n";
}

Result<std::chrono::milliseconds> timeout_of(const cli::Arguments& arguments) {
  const std::string given = arguments.one("request-timeout");
  const std::string text = given.empty() ? "30s" : given;  // completion knows no fallbacks
  const auto duration = parse_duration(text);
  if (!duration || *duration <= std::chrono::nanoseconds(0)) {
    return Error{ErrorCode::kInvalidArgument, "`--request-timeout` takes a duration such as `30s`, not `" + text + "`"};
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
}

}  // namespace

std::string Type::singular() const {
  return resource.singular.empty() ? ascii_lower(resource.kind) : resource.singular;
}

std::string Type::qualified(const std::string& name) const {
  return singular() + (resource.group.empty() ? "" : "." + resource.group) + "/" + name;
}

kube::Resource resource_of(const schemas::Kind& kind) {
  const std::size_t slash = kind.api_version.find('/');
  return {.group = std::string(kind.api_version.substr(0, slash)),
          .version = std::string(kind.api_version.substr(slash + 1)),
          .plural = std::string(kind.plural),
          .kind = std::string(kind.kind),
          .namespaced = true,
          .singular = ascii_lower(std::string(kind.kind)),
          .subresources = {"status"}};
}

Cluster::Cluster(Target target, std::unique_ptr<kube::BlockingClient> api, std::string name_space)
    : target_(std::move(target)), api_(std::move(api)), name_space_(std::move(name_space)) {}

Result<std::unique_ptr<Cluster>> Cluster::open(const cli::Arguments& arguments,
                                               std::optional<std::chrono::milliseconds> most) {
  const auto timeout = timeout_of(arguments);
  if (!timeout) return timeout.error();
  const auto client_config = ClientConfig::read(client_config_path());
  if (!client_config) return client_config.error();
  auto target = target_of(arguments, *client_config);
  if (!target) return target.error();
  kube::ConfigSources sources = kube::ConfigSources::of_process();
  sources.kubeconfig = target->kubeconfig;
  sources.context = target->context;
  sources.name_space = target->name_space;
  auto config = kube::Config::resolve(sources);
  if (!config) return config.error();
  for (const std::string& warning : config->warnings) cli::print_message("edgectl", "warning: " + warning);
  std::string name_space = config->name_space;
  kube::ClientOptions options{.user_agent = "edgectl/" EDGE_VERSION, .terminal = ::isatty(0) == 1};
  options.timeout = most ? std::min(*timeout, *most) : *timeout;
  if (most) options.tries = 0;
  if (const std::string spoke = spoke_of(arguments); !spoke.empty()) {
    auto asked = spoke_api(arguments, spoke);
    if (!asked) return asked.error();
    options.instead = std::move(*asked);
  }
  auto api = kube::BlockingClient::make(std::move(*config), options);
  if (!api) return api.error();
  return std::unique_ptr<Cluster>(new Cluster(std::move(*target), std::move(*api), std::move(name_space)));
}

Cluster::Found Cluster::find(const std::string& word) {
  if (const schemas::Kind* kind = schemas::find_own_kind(word)) return {.type = Type{resource_of(*kind), kind}};
  auto found = api_->find(word);
  if (!found.resource) return {.failure = std::move(found.failure)};
  const schemas::Kind* own = schemas::find_kind(found.resource->kind);
  const bool same = own != nullptr && own->own && own->api_version == found.resource->api_version();
  return {.type = Type{std::move(*found.resource), same ? own : nullptr}};
}

Cluster::Found Cluster::find_kind(const std::string& api_version, const std::string& kind) {
  const schemas::Kind* own = schemas::find_kind(kind);
  if (own != nullptr && own->own && own->api_version == api_version) return {.type = Type{resource_of(*own), own}};
  auto found = api_->find_kind(api_version, kind);
  if (!found.resource) return {.failure = std::move(found.failure)};
  return {.type = Type{std::move(*found.resource), nullptr}};
}

std::chrono::milliseconds request_timeout(const cli::Arguments& arguments) {
  const auto timeout = timeout_of(arguments);
  return timeout ? *timeout : std::chrono::milliseconds(0);
}

std::unique_ptr<Cluster> open_cluster(std::string_view command, const cli::Arguments& arguments, int& exit) {
  auto cluster = Cluster::open(arguments);
  if (cluster) return std::move(*cluster);
  cli::print_error(command, cluster.error().text);
  exit = cluster.error().code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitUnreachable;
  return nullptr;
}

int exit_code_of(const kube::Failure& failure) {
  if (failure.none()) return cli::kExitOk;
  if (failure.kind != kube::Failure::Kind::kRefused) return cli::kExitUnreachable;
  const bool let_in = failure.http != 401 && failure.http != 403 && failure.http != 429 && failure.http < 500;
  return let_in ? cli::kExitFindings : cli::kExitUnreachable;
}

int tell(std::string_view command, const kube::Failure& failure, std::string_view about) {
  cli::print_error(command, (about.empty() ? "" : std::string(about) + ": ") + one_line(failure.text()));
  std::fputs(remedy_of(failure), stderr);
  return exit_code_of(failure);
}

void tell_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) cli::print_message("edgectl", "warning: " + one_line(warning));
}

int tell_unknown_type(std::string_view command, const std::string& word) {
  std::vector<std::string_view> names;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    names.push_back(kind.plural);
    for (const std::string_view alias : kind.manifest->aliases) names.push_back(alias);
  }
  const std::string_view nearest = nearest_name(word, names);
  cli::print_error(command, "the cluster serves no type `" + word + "`" +
                                (nearest.empty() ? "" : "; did you mean `" + std::string(nearest) + "`?"));
  return cli::kExitFindings;
}

}  // namespace edge::edgectl
