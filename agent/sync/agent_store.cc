#include "agent/sync/agent_store.h"

#include <filesystem>

#include "agent/sync/seal.h"
#include "base/os/file.h"
#include "net/tls/identity.h"
#include "program/format/file.h"

namespace edge::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFixedKey = "program.key.fixed";
constexpr std::size_t kMaxPemBytes = 64 << 10;
/// Of a longer name a certificate's CN has the beginning (RFC 5280, ub-common-name).
constexpr std::size_t kMaxCommonName = 64;
constexpr std::size_t kMaxEndpointBytes = 64 << 20;
constexpr std::size_t kMaxSealedBytes = std::size_t{400} << 20;

std::string bound_to(const std::string& name) { return "secrets of " + name; }

}  // namespace

Result<AgentStore> AgentStore::open(const std::string& directory, const std::string& name,
                                    const std::string& seal_key_file, const Logger& log) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    if (!fs::create_directories(directory, error)) {
      return Error{ErrorCode::kUnavailable, directory + ": " + (error ? error.message() : "is no directory")};
    }
    fs::permissions(directory, fs::perms::owner_all, error);
  }
  const fs::perms open_to =
      fs::status(directory, error).permissions() & (fs::perms::group_write | fs::perms::others_write);
  if (error || open_to != fs::perms::none) {
    return Error{ErrorCode::kFailedPrecondition, directory + ": others may write there; chmod 700"};
  }
  const std::string own_key = directory + "/seal.key";
  auto key = seal_key(seal_key_file.empty() ? own_key : seal_key_file);
  if (!key && key.error().code == ErrorCode::kDataLoss && seal_key_file.empty()) {
    const auto aside = set_aside(own_key);
    if (!aside) return aside.error();
    log.warn("the key that encrypts secrets cannot be used: it is renamed to " + *aside +
             " and replaced; the controller sends the secrets again");
    key = seal_key(own_key);
  }
  if (!key) return key.error();
  return AgentStore(directory, name, std::move(*key));
}

Result<Identity> AgentStore::identity() const {
  const auto pair = read_file(path("agent.pem"), kMaxPemBytes);
  if (!pair) return pair.error();
  auto authorities = read_file(path("authorities.pem"), kMaxPemBytes);
  if (!authorities) return authorities.error();
  auto program_key = read_file(path("program.key.pub"), kMaxPemBytes);
  if (!program_key) return program_key.error();
  auto times = net::tls::certificate_times(*pair, *pair);
  if (!times) return Error{times.error().code, path("agent.pem") + ": " + times.error().text};
  if (times->name != name_.substr(0, kMaxCommonName)) {
    return Error{ErrorCode::kFailedPrecondition, path("agent.pem") + ": is of agent " + times->name};
  }
  const std::size_t key = pair->find("-----BEGIN PRIVATE KEY");
  if (key == std::string::npos) return Error{ErrorCode::kFailedPrecondition, path("agent.pem") + ": has no key"};
  std::error_code none_there;
  const bool fixed = fs::exists(path(kFixedKey), none_there);
  return Identity{pair->substr(0, key), pair->substr(key), std::move(*authorities), std::move(*program_key), fixed,
                  std::move(*times)};
}

Status AgentStore::keep(const Identity& identity) const {
  Status status = write_file(path("authorities.pem"), std::string_view(identity.authorities), FileAccess::kOwnerOnly);
  if (status) {
    status = write_file(path("program.key.pub"), std::string_view(identity.program_key), FileAccess::kOwnerOnly);
  }
  std::error_code none_there;
  if (!identity.key_is_fixed) {
    fs::remove(path(kFixedKey), none_there);
  } else if (status) {
    status = write_file(path(kFixedKey), std::string_view(), FileAccess::kOwnerOnly);
  }
  // Last: with it there is an identity.
  if (status) {
    const std::string pair = identity.certificate + identity.key;
    status = write_file(path("agent.pem"), std::string_view(pair), FileAccess::kOwnerOnly);
  }
  if (status) fs::remove(path("joining.key"), none_there);
  return status;
}

Result<std::string> AgentStore::joining_key() const {
  auto kept = read_file(path("joining.key"), kMaxPemBytes);
  // One that is none makes no request.
  if (kept && net::tls::certificate_request(*kept)) return kept;
  auto key = net::tls::make_private_key();
  if (!key) return key;
  if (Status status = write_file(path("joining.key"), std::string_view(*key), FileAccess::kOwnerOnly); !status) {
    return status.error();
  }
  return key;
}

Result<Kept> AgentStore::last(std::string& fault) const {
  auto program = read_file_bytes(path("program.edgeprog"), program::kMaxProgramBytes);
  if (!program) return program.error();
  Kept kept;
  kept.program = std::make_shared<const std::vector<std::byte>>(std::move(*program));
  const auto text = read_file(path("endpoints.json"), kMaxEndpointBytes);
  auto endpoints = text ? program::read_endpoints(*text) : Result<program::EndpointSet>(text.error());
  if (endpoints) {
    kept.endpoints = std::move(*endpoints);
  } else {
    fault = "no endpoints: " + endpoints.error().text;
  }
  const auto sealed = read_file(path("secrets.sealed"), kMaxSealedBytes);
  const auto opened = sealed ? open_sealed(seal_key_, bound_to(name_), *sealed) : sealed;
  auto secrets = opened ? program::read_secrets(*opened) : Result<program::SecretSet>(opened.error());
  if (secrets) {
    kept.secrets = std::move(*secrets);
  } else {
    fault = "no secrets: " + secrets.error().text;
  }
  return kept;
}

Status AgentStore::keep_program(const std::vector<std::byte>& program) const {
  return write_file(path("program.edgeprog"), std::span(program), FileAccess::kOwnerOnly);
}

Result<std::string> AgentStore::addresses() const {
  const auto sealed = read_file(path("addresses.sealed"), kMaxSealedBytes);
  return sealed ? open_sealed(seal_key_, bound_to(name_), *sealed) : sealed;
}

Status AgentStore::keep_addresses(const std::string& message) const {
  const auto sealed = seal(seal_key_, bound_to(name_), message);
  if (!sealed) return sealed.error();
  return write_file(path("addresses.sealed"), std::string_view(*sealed), FileAccess::kOwnerOnly);
}

Result<std::string> AgentStore::links() const {
  const auto sealed = read_file(path("links.sealed"), kMaxSealedBytes);
  return sealed ? open_sealed(seal_key_, bound_to(name_), *sealed) : sealed;
}

Status AgentStore::keep_links(const std::string& message) const {
  const auto sealed = seal(seal_key_, bound_to(name_), message);
  if (!sealed) return sealed.error();
  return write_file(path("links.sealed"), std::string_view(*sealed), FileAccess::kOwnerOnly);
}

Status AgentStore::keep_values(const program::EndpointSet& endpoints, const program::SecretSet& secrets) const {
  const auto sealed = seal(seal_key_, bound_to(name_), program::write_secrets(secrets));
  if (!sealed) return sealed.error();
  const std::string text = program::write_endpoints(endpoints);
  Status status = write_file(path("endpoints.json"), std::string_view(text), FileAccess::kOwnerOnly);
  return status ? write_file(path("secrets.sealed"), std::string_view(*sealed), FileAccess::kOwnerOnly) : status;
}

}  // namespace edge::agent
