#include "runtime/tls/challenges.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "program/sha256.h"
#include "program/values/ordered_certificates.h"

namespace edge::runtime {
namespace {

std::shared_ptr<const net::tls::Site> challenge_site(const std::shared_ptr<const net::tls::ServerContext>& context,
                                                     const std::string& pem, const std::string& user,
                                                     std::vector<std::string>& faults) {
  auto read = net::tls::Certificate::read(pem, pem);
  if (!read) {
    faults.push_back(user + ": " + read.error().text);
    return nullptr;
  }
  // Its sessions are nobody's: they are resumed with no listener.
  const std::string whole = user + pem;
  const program::Hash hash = program::sha256(std::as_bytes(std::span(whole)));
  std::array<std::uint8_t, 16> identity{};
  std::transform(hash.begin(), hash.begin() + identity.size(), identity.begin(),
                 [](auto byte) { return static_cast<std::uint8_t>(byte); });
  return std::make_shared<const net::tls::Site>(
      context, std::vector<net::tls::ServerCertificate>{{*std::move(read), nullptr}}, identity);
}

}  // namespace

std::shared_ptr<const Challenges> Challenges::make(const program::SecretSet& secrets,
                                                   std::vector<std::string>& faults) {
  const auto found = std::ranges::find_if(secrets.secrets, [](const program::NamedSecret& secret) {
    return secret.name_space == program::kChallengeSpace && secret.name == program::kChallengeName;
  });
  if (found == secrets.secrets.end() || found->values.empty()) return nullptr;
  auto made = std::make_shared<Challenges>();
  auto sites = std::make_shared<net::tls::ChallengeSites>();
  for (const program::SecretValue& value : found->values) {
    const std::string_view key = value.key;
    if (key.starts_with(program::kHttpChallenge)) {
      made->by_name_.emplace(key.substr(program::kHttpChallenge.size()), *value.value);
    } else if (key.starts_with(program::kAlpnChallenge)) {
      if (sites->context == nullptr) {
        auto context = net::tls::ServerContext::make({.offers_http1 = false, .answers_challenges = true});
        if (!context) {
          faults.push_back("challenges of a CA: " + context.error().text);
          continue;
        }
        sites->context = *std::move(context);
      }
      const std::string host(key.substr(program::kAlpnChallenge.size()));
      if (auto site = challenge_site(sites->context, *value.value, "the challenge of a CA for " + host, faults)) {
        sites->by_name.emplace(host, std::move(site));
      }
    }
  }
  if (!sites->by_name.empty()) made->sites_ = std::move(sites);
  return made;
}

const std::string* Challenges::find(std::string_view host, std::string_view path) const {
  if (!path.starts_with(program::kChallengePath)) return nullptr;
  std::string name(host);
  name.append("/").append(path.substr(program::kChallengePath.size()));
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

}  // namespace edge::runtime
