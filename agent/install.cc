#include "agent/install.h"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace edge::agent {
namespace {

/// For how long a program waits for the first answers to names of endpoints; later ones come while it serves.
constexpr auto kNamePatience = std::chrono::seconds(2);

}  // namespace

program::EndpointSet united(const program::EndpointSet& next, const program::EndpointSet& previous) {
  program::EndpointSet both;
  const auto by_id = [](const program::BackendEndpoints& a, const program::BackendEndpoints& b) {
    return a.backend_id < b.backend_id;
  };
  // Of two equal ids set_union takes the first range's.
  std::ranges::set_union(next.backends, previous.backends, std::back_inserter(both.backends), by_id);
  return both;
}

program::SecretSet united(const program::SecretSet& next, const program::SecretSet& previous) {
  program::SecretSet both;
  const auto by_name = [](const program::NamedSecret& a, const program::NamedSecret& b) {
    return std::tie(a.name_space, a.name) < std::tie(b.name_space, b.name);
  };
  std::ranges::set_union(next.secrets, previous.secrets, std::back_inserter(both.secrets), by_name);
  return both;
}

Installer::Installer(runtime::Server& server, std::optional<program::VerifyKey> key)
    : server_(server), key_(std::move(key)) {}

Result<Installer::InstallResult> Installer::apply(std::shared_ptr<const std::vector<std::byte>> bytes,
                                                  const program::EndpointSet& endpoints,
                                                  const program::SecretSet& secrets) {
  const std::shared_ptr<const runtime::LoadedProgram> running = server_.program();
  auto view =
      program::read(std::move(bytes), running ? &running->view() : nullptr, program::Databases::kHashWhenSearched);
  if (!view) return view.error();
  if (running && view->hash() == running->hash()) {
    if (endpoints != endpoints_) server_.set_endpoints(endpoints);
    endpoints_ = endpoints;
    if (secrets != secrets_) server_.set_secrets(secrets);
    secrets_ = secrets;
    return InstallResult::kUnchanged;
  }
  auto loaded = runtime::LoadedProgram::load(std::move(*view), key_ ? &*key_ : nullptr, running);
  if (!loaded) return loaded.error();
  server_.set_endpoints(united(endpoints, endpoints_));
  // A backend that is new has no endpoint before its names are answered.
  server_.wait_for_names(kNamePatience);
  const program::SecretSet both = united(secrets, secrets_);
  if (both != secrets_) server_.set_secrets(both);
  if (Status status = server_.install(std::move(*loaded)); !status) {
    server_.set_endpoints(endpoints_);
    if (both != secrets_) server_.set_secrets(secrets_);
    return status.error();
  }
  server_.set_endpoints(endpoints);
  endpoints_ = endpoints;
  if (both != secrets) server_.set_secrets(secrets);
  secrets_ = secrets;
  return running ? InstallResult::kReplaced : InstallResult::kFirst;
}

}  // namespace edge::agent
