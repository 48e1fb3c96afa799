#include "controller/distribute/values_feed.h"

#include <algorithm>
#include <tuple>

#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

using program::BackendEndpoints;
using program::NamedSecret;

/// What an endpoint, or the name of something, takes in a message, about.
constexpr std::size_t kSmallBytes = 32;

auto name_of(const NamedSecret& secret) { return std::tie(secret.name_space, secret.name); }

void take(std::size_t& room, std::size_t bytes) { room -= std::min(room, bytes); }

std::size_t bytes_of(const program::EndpointZones& zones) {
  std::size_t bytes = 0;
  for (const std::string& zone : zones) bytes += zone.size() + 2;
  return bytes;
}

}  // namespace

ValuesFeed::ValuesFeed(std::shared_ptr<const Values> before, std::shared_ptr<const Values> after,
                       const program::Hash& program)
    : before_(std::move(before)), after_(std::move(after)), program_(program) {}

void ValuesFeed::add_backends(agent::v1::ValuesPart& part, std::size_t& room) {
  static const program::ValueSet kNothing;
  const auto& olds = before_ ? before_->set.backends : kNothing.backends;
  const auto& news = after_->set.backends;
  while (room > 0 && (backend_ < news.size() || old_backend_ < olds.size())) {
    const BackendEndpoints* const old = old_backend_ < olds.size() ? olds[old_backend_].get() : nullptr;
    const BackendEndpoints* const now = backend_ < news.size() ? news[backend_].get() : nullptr;
    if (now == nullptr || (old != nullptr && old->backend_id < now->backend_id)) {
      part.add_removed_backends(old->backend_id);
      ++old_backend_;
      take(room, kSmallBytes);
      continue;
    }
    const bool known = old != nullptr && old->backend_id == now->backend_id;
    if (known && endpoint_ == 0 && (old == now || *old == *now)) {
      ++old_backend_;
      ++backend_;
      continue;
    }
    auto& backend = *part.add_backends();
    backend.set_namespace_(now->name_space);
    backend.set_name(now->name);
    take(room, kSmallBytes + now->name_space.size() + now->name.size());
    for (; endpoint_ < now->endpoints.size() && room > 0; ++endpoint_) {
      const program::Endpoint& from = now->endpoints[endpoint_];
      auto* const remote = from.cluster.empty() ? nullptr : backend.add_cluster_endpoints();
      if (remote != nullptr) {
        remote->set_cluster(from.cluster);
        remote->set_healthy_percent(from.healthy_percent);
      }
      auto& endpoint = remote != nullptr ? *remote->mutable_endpoint() : *backend.add_endpoints();
      endpoint.set_address(from.address.bytes.data(), from.address.bytes.size());
      endpoint.set_port(from.port);
      endpoint.set_ready(from.ready);
      if (from.weight != 1) endpoint.set_weight(from.weight);
      for (const std::string& zone : from.zones) endpoint.add_zones(zone);
      take(room, kSmallBytes + bytes_of(from.zones) + from.cluster.size());
    }
    if (endpoint_ < now->endpoints.size()) return;
    for (const program::EndpointName& from : now->names) {
      auto& name = *backend.add_names();
      name.set_host(from.host);
      name.set_port(from.port);
      if (from.weight != 1) name.set_weight(from.weight);
      for (const std::string& zone : from.zones) name.add_zones(zone);
      take(room, kSmallBytes + from.host.size() + bytes_of(from.zones));
    }
    endpoint_ = 0;
    ++backend_;
    if (known) ++old_backend_;
  }
}

void ValuesFeed::add_secrets(agent::v1::ValuesPart& part, std::size_t& room) {
  static const program::ValueSet kNothing;
  const auto& olds = before_ ? before_->set.secrets : kNothing.secrets;
  const auto& news = after_->set.secrets;
  while (room > 0 && (secret_ < news.size() || old_secret_ < olds.size())) {
    const NamedSecret* const old = old_secret_ < olds.size() ? olds[old_secret_].get() : nullptr;
    const NamedSecret* const now = secret_ < news.size() ? news[secret_].get() : nullptr;
    if (now == nullptr || (old != nullptr && name_of(*old) < name_of(*now))) {
      auto& name = *part.add_removed_secrets();
      name.set_namespace_(old->name_space);
      name.set_name(old->name);
      ++old_secret_;
      take(room, kSmallBytes + old->name_space.size() + old->name.size());
      continue;
    }
    const bool known = old != nullptr && name_of(*old) == name_of(*now);
    if (known && value_ == 0 && (old == now || *old == *now)) {
      ++old_secret_;
      ++secret_;
      continue;
    }
    auto& secret = *part.add_secrets();
    secret.set_namespace_(now->name_space);
    secret.set_name(now->name);
    take(room, kSmallBytes + now->name_space.size() + now->name.size());
    for (; value_ < now->values.size() && room > 0; ++value_) {
      auto& value = *secret.add_values();
      value.set_key(now->values[value_].key);
      value.set_value(*now->values[value_].value);
      take(room, kSmallBytes + value.value().size());
    }
    if (value_ < now->values.size()) return;
    value_ = 0;
    ++secret_;
    if (known) ++old_secret_;
  }
}

void ValuesFeed::next(agent::v1::ValuesPart& part) {
  part.set_version(after_->version);
  part.set_program(program_.data(), program_.size());
  part.set_whole(!begun_ && before_ == nullptr);
  begun_ = true;
  std::size_t room = kPartBytes;
  add_backends(part, room);
  add_secrets(part, room);
  const auto done = [](std::size_t at, const auto& of) { return at == of.size(); };
  ended_ =
      done(backend_, after_->set.backends) && done(secret_, after_->set.secrets) &&
      (before_ == nullptr || (done(old_backend_, before_->set.backends) && done(old_secret_, before_->set.secrets)));
  part.set_last(ended_);
}

}  // namespace edge::controller
