#include "controller/publish/own_secrets.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controller/acme/certificates.h"
#include "program/session_secret.h"

namespace edge::controller {
namespace {

std::shared_ptr<const program::NamedSecret> session_key_of(const program::SigningKey& key) {
  auto secret = program::session_secret(key);
  return secret ? std::make_shared<const program::NamedSecret>(std::move(*secret)) : nullptr;
}

}  // namespace

OwnSecrets::OwnSecrets(const program::SigningKey& key, std::function<std::uint64_t(Published)> publish)
    : session_key_(session_key_of(key)), publish_(std::move(publish)) {}

void OwnSecrets::publish(Published published) {
  const std::lock_guard lock(mutex_);
  if (published.values) {
    last_values_[published.group] = *published.values;
    add_to(*published.values);
  }
  publish_(std::move(published));
}

std::uint64_t OwnSecrets::set_challenges(std::shared_ptr<const program::NamedSecret> challenges) {
  const std::lock_guard lock(mutex_);
  challenges_ = std::move(challenges);
  std::uint64_t first = acme::kNotGiven;
  for (const auto& [group, values] : last_values_) {
    Published published{.values = values, .group = group};
    add_to(*published.values);
    first = std::min(first, publish_(std::move(published)));
  }
  return first;
}

/// Under the lock.
void OwnSecrets::add_to(program::ValueSet& values) const {
  for (const auto& own : {session_key_, challenges_}) {
    if (own == nullptr) continue;
    auto& secrets = values.secrets;
    const auto position =
        std::ranges::lower_bound(secrets, std::tie(own->name_space, own->name), {},
                                 [](const auto& secret) { return std::tie(secret->name_space, secret->name); });
    secrets.insert(position, own);
  }
}

}  // namespace edge::controller
