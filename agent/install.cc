#include "agent/install.h"

#include <chrono>

#include "program/values/value_set.h"

namespace edge::agent {
namespace {

/// For how long a program waits for the first answers to names of endpoints; later ones come while it serves.
constexpr auto kNamePatience = std::chrono::seconds(2);

}  // namespace

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
