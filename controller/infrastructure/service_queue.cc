#include "controller/infrastructure/service_queue.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::controller {
namespace {

constexpr net::Duration kFirstPause = std::chrono::seconds(1);
constexpr std::uint32_t kMostDoublings = 6;
/// A name that is taken may become free without a word.
constexpr net::Duration kLookAgain = std::chrono::minutes(5);

}  // namespace

/// A call that failed waits for its time, whatever comes.
void ServiceQueue::touch(const ResourceId& key) {
  if (!failures_.contains(key)) waiting_[key] = {};
}

void ServiceQueue::set_desired(const ResourceId& gateway, const std::shared_ptr<const GatewayService>& service) {
  const auto [decided, first] = decided_.try_emplace(gateway);
  std::set<ResourceId> before = std::exchange(decided->second, {});
  if (service != nullptr) {
    for (MadeObject& made : objects_of(*service)) {
      // Of two Gateways whose objects have one name the first keeps it: the other one's call is refused.
      const auto holder = wanted_.find(made.key);
      if (holder != wanted_.end() && holder->second.gateway != gateway) continue;
      wanted_[made.key] = {gateway, service->uid, std::move(made.text)};
      before.erase(made.key);
      decided->second.insert(made.key);
      touch(made.key);
    }
  }
  for (const ResourceId& key : before) {
    wanted_.erase(key);
    touch(key);
  }
  if (!first) return;
  // What a former process made for it.
  for (const auto& [key, present] : present_) {
    if (key.name_space == gateway.name_space && present.made_for.gateway == gateway.name) touch(key);
  }
}

void ServiceQueue::forget_gateway(const ResourceId& gateway) {
  gateways_.erase(gateway);
  set_desired(gateway, nullptr);
  decided_.erase(gateway);
}

void ServiceQueue::observe(const ResourceId& key, std::string_view text) {
  MadeFor made = made_for(text);
  if (made.gateway.empty()) return forget(key);
  const nlohmann::json object = parse_json(text);
  present_[key] = {std::string(text), std::move(made), text_in(member_in(object, "metadata"), "uid")};
  touch(key);
}

void ServiceQueue::forget(const ResourceId& key) {
  present_.erase(key);
  failures_.erase(key);
  waiting_.erase(key);
  // The name is free.
  if (wanted_.contains(key)) touch(key);
}

void ServiceQueue::synced() {
  synced_ = true;
  for (const auto& [key, present] : present_) touch(key);
}

bool ServiceQueue::may_go(const ResourceId& key, const Present& present) const {
  if (!synced_ || present.made_for.controller != controller_class_) return false;
  const ResourceId gateway{"Gateway", key.name_space, present.made_for.gateway};
  return !gateways_.contains(gateway) || decided_.contains(gateway);
}

std::optional<ServiceQueue::Call> ServiceQueue::call_for(const ResourceId& key) const {
  const auto wanted = wanted_.find(key);
  const auto present = present_.find(key);
  if (wanted == wanted_.end()) {
    if (present == present_.end() || !may_go(key, present->second)) return std::nullopt;
    return Call{.verb = Call::Verb::kDelete, .key = key, .uid = present->second.uid};
  }
  const Wanted& to_be = wanted->second;
  if (to_be.text.empty() || !synced_) return std::nullopt;
  Call call{.key = key, .body = to_be.text, .gateway = to_be.gateway, .gateway_uid = to_be.gateway_uid};
  if (present == present_.end()) return call;
  const MadeFor& is_for = present->second.made_for;
  // Somebody else's: the server says so to whoever is told of it.
  if (is_for.controller != controller_class_ || is_for.gateway != to_be.gateway.name) return call;
  call.verb = Call::Verb::kPatch;
  call.body = patch_of(present->second.text, to_be.text);
  return call.body.empty() ? std::nullopt : std::optional(std::move(call));
}

std::optional<ServiceQueue::Call> ServiceQueue::next(net::Time now) {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (at->second > now || calling_.contains(at->first)) {
      ++at;
      continue;
    }
    auto call = call_for(at->first);
    at = waiting_.erase(at);
    if (!call) continue;
    calling_.insert(call->key);
    return call;
  }
  return std::nullopt;
}

net::Time ServiceQueue::due() const {
  net::Time first = net::kNever;
  for (const auto& [key, at] : waiting_) {
    if (!calling_.contains(key)) first = std::min(first, at);
  }
  return first;
}

void ServiceQueue::done(const Call& call, Result result, std::string_view text, int asked, net::Time now) {
  calling_.erase(call.key);
  if (result == Result::kDone) {
    failures_.erase(call.key);
    return text.empty() ? forget(call.key) : observe(call.key, text);
  }
  const std::uint32_t failures = std::min(failures_[call.key]++, kMostDoublings);
  const net::Duration pause = result == Result::kTaken ? kLookAgain : kFirstPause * (1U << failures);
  const net::Time again = now + std::max(pause, net::Duration(std::chrono::seconds(asked)));
  // What came meanwhile is looked at no earlier: a server that asks for patience gets it.
  waiting_[call.key] = again;
}

}  // namespace edge::controller
