#include "program/values/ordered_certificates.h"

#include "program/sha256.h"

namespace edge::program {
namespace {

constexpr std::string_view kOrdered = "acme:";
/// As Kubernetes has it for names.
constexpr std::size_t kMaxObjectName = 253;

}  // namespace

std::string ordered_secret_name(std::string_view gateway, std::string_view listener) {
  return std::string(kOrdered) + std::string(gateway) + ":" + std::string(listener);
}

bool is_ordered_secret(std::string_view name) { return name.starts_with(kOrdered); }

std::string ordered_value_key(std::string_view host, std::string_view key) {
  return std::string(host) + " " + std::string(key);
}

std::string_view host_of_ordered_value(std::string_view value_key, std::string_view key) {
  if (!value_key.ends_with(key)) return {};
  value_key.remove_suffix(key.size());
  if (!value_key.ends_with(' ')) return {};
  return value_key.substr(0, value_key.size() - 1);
}

std::string certificate_secret_of(std::string_view host) {
  const bool wildcard = host.starts_with("*.");
  // `acme.` is followed by a name, so that no other host leads to `acme-any.`.
  std::string name = wildcard ? "acme-any." + std::string(host.substr(2)) : "acme." + std::string(host);
  if (name.size() <= kMaxObjectName) return name;
  const Hash hash = sha256({reinterpret_cast<const std::byte*>(host.data()), host.size()});
  return "acme-hash." + to_hex(hash);
}

std::string on_demand_secret_of(std::string_view secret) {
  constexpr std::size_t kDigits = 16;
  const Hash hash = sha256({reinterpret_cast<const std::byte*>(secret.data()), secret.size()});
  return "acme-names-" + to_hex(hash).substr(0, kDigits);
}

std::string http_challenge_key(std::string_view host, std::string_view token) {
  return std::string(kHttpChallenge) + std::string(host) + "/" + std::string(token);
}

std::string alpn_challenge_key(std::string_view host) { return std::string(kAlpnChallenge) + std::string(host); }

}  // namespace edge::program
