// Accounts at CAs, with their keys in Secrets.
#include <algorithm>
#include <utility>

#include "base/text/base64.h"
#include "controller/acme/round.h"

namespace edge::controller::acme {
namespace {

std::shared_ptr<const net::tls::Authorities> authorities_of(const std::string* pem, std::string& fault) {
  auto made = std::make_shared<net::tls::Authorities>();
  const Status added = pem != nullptr ? made->add(*pem) : made->add_system();
  if (!added) fault = "whom to trust is not known: " + added.error().text;
  return added ? made : nullptr;
}

/// CAs give keys out with padding and without, and files end with a newline.
std::string_view without_padding(std::string_view key) {
  const std::size_t last = key.find_last_not_of("= \t\r\n");
  return last == std::string_view::npos ? std::string_view() : key.substr(0, last + 1);
}

}  // namespace

/// One account for each CA, address and namespace. Null: `fault` says why.
net::Task<Ca*> Certificates::ca_for(Worker& worker, const Round& round, const std::string& directory,
                                    std::string& fault) {
  const compiler::AcmeSettings& settings = round.wanted.settings;
  const auto authority = std::ranges::find_if(settings.authorities, [&](const compiler::AcmeAuthority& one) {
    return one.directory == directory || one.staging == directory;
  });
  if (authority == settings.authorities.end()) {
    fault = "the CA is not among those of the issuer";
    co_return nullptr;
  }
  const compiler::AcmeAuthority& chosen = *authority;
  const std::string space = round.wanted.name_space;
  const std::string secret = account_secret_of(directory, settings.email, chosen.key_id);
  const std::string key = space + "/" + secret + "/" + chosen.ca_secret + "/" + chosen.key_secret;
  const auto known = cas_.find(key);
  if (known != cas_.end() && known->second->is_prepared()) co_return known->second.get();
  CaOptions options{.directory = directory, .email = settings.email, .key_id = chosen.key_id};
  kube::Failure failure;
  SecretView trusted;
  if (!chosen.ca_secret.empty()) {
    trusted = co_await read(worker, space, chosen.ca_secret, failure);
    if (trusted.value("ca.crt") == nullptr) {
      fault = "the Secret " + chosen.ca_secret + " with ca.crt is not there";
      co_return nullptr;
    }
  }
  options.authorities = authorities_of(trusted.value("ca.crt"), fault);
  if (options.authorities == nullptr) co_return nullptr;
  if (!chosen.key_id.empty()) {
    const SecretView external = co_await read(worker, space, chosen.key_secret, failure);
    const std::string* const hmac = external.value("hmac");
    auto bytes = hmac != nullptr ? from_base64url(without_padding(*hmac)) : std::nullopt;
    if (!bytes || bytes->empty()) {
      fault = "the Secret " + chosen.key_secret + " has no key `hmac` in base64url";
      co_return nullptr;
    }
    options.mac_key = *std::move(bytes);
  }
  // What the Secrets have may be another by now.
  if (const auto again = cas_.find(key); again != cas_.end()) {
    again->second->set_secrets(std::move(options.authorities), std::move(options.mac_key));
    co_return again->second.get();
  }
  const std::string pem = co_await account_key(worker, space, secret, fault);
  if (pem.empty()) co_return nullptr;
  auto account = AccountKey::read(pem);
  if (!account) {
    fault = account.error().text;
    co_return nullptr;
  }
  // Another worker may have come to it first.
  const auto made = cas_.try_emplace(key, nullptr).first;
  if (made->second == nullptr) {
    made->second = std::make_unique<Ca>(client_.loop(), http_, std::move(options), *std::move(account));
  }
  co_return made->second.get();
}

/// Of several that make one at once the first has made it.
net::Task<std::string> Certificates::account_key(Worker& worker, const std::string& name_space, const std::string& name,
                                                 std::string& fault) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    kube::Failure failure;
    const SecretView kept = co_await read(worker, name_space, name, failure);
    if (const std::string* const key = kept.value("account.key")) co_return *key;
    if (failure.none() || !failure.not_found()) {
      fault = "the account's Secret " + name + ": " + (failure.none() ? "it has no account.key" : failure.text());
      co_return std::string();
    }
    auto key = make_key(compiler::CertificateKeyType::kEc256);
    if (!key) {
      fault = key.error().text;
      co_return std::string();
    }
    const std::string body =
        write_secret({.name_space = name_space, .name = name, .role = "account", .data = {{"account.key", *key}}});
    const kube::ObjectReply reply = co_await client_.create(worker.waiter, secrets_, name_space, body);
    if (reply.ok()) co_return *key;
    if (!reply.failure.already_exists()) {
      fault = "the account's Secret cannot be written: " + reply.failure.text();
      co_return std::string();
    }
  }
  fault = "the account's Secret " + name + " comes and goes";
  co_return std::string();
}

}  // namespace edge::controller::acme
