#include "controller/federation/run/spec.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"

namespace edge::federation {
namespace {

constexpr std::chrono::milliseconds kShortestInterval = std::chrono::seconds(1);
constexpr std::chrono::milliseconds kLongestInterval = std::chrono::hours(24);
constexpr std::string_view kPolicies[] = {"OldestWins", "NewestWins", "HubWins"};

std::vector<std::string> texts_in(const nlohmann::json& object, std::string_view name) {
  std::vector<std::string> texts;
  for (const nlohmann::json& one : list_in(object, name)) {
    if (const std::string& text = text_value(one); !text.empty()) texts.push_back(text);
  }
  return texts;
}

/// Whether a key is written that names nothing (`namespaces:`, `namespaces: []`), which is not as good as left out.
bool is_left_empty(const nlohmann::json& object, std::string_view name) {
  return object.is_object() && object.contains(name) && texts_in(object, name).empty();
}

/// What the grant does not name is as in `whole`. Without kinds nothing is named.
Scope scope_in(const nlohmann::json& federation, std::string_view name, const Scope& whole) {
  const nlohmann::json& grant = member_in(federation, name);
  Scope scope = whole;
  if (auto kinds = texts_in(grant, "kinds"); !kinds.empty()) scope.kinds = std::move(kinds);
  if (auto namespaces = texts_in(grant, "namespaces"); !namespaces.empty()) scope.namespaces = std::move(namespaces);
  const nlohmann::json& enabled = member_in(grant, "enabled");
  const bool written = federation.is_object() && federation.contains(name);
  scope.nothing = whole.nothing || scope.kinds.empty() || (written && !grant.is_object()) ||
                  is_left_empty(grant, "kinds") || is_left_empty(grant, "namespaces") ||
                  (enabled.is_boolean() && !enabled.get<bool>());
  return scope;
}

void read_quota(const nlohmann::json& quota, Quota& out) {
  if (const std::int64_t objects = integer_in(quota, "objects"); objects > 0) {
    out.objects = static_cast<std::size_t>(objects);
  }
  const nlohmann::json& bytes = member_in(quota, "bytes");
  if (bytes.is_number_unsigned()) {
    out.bytes = bytes.get<std::size_t>();
  } else if (const auto size = parse_size(text_value(bytes))) {
    out.bytes = *size;
  }
}

}  // namespace

std::string_view to_string(ConflictPolicy policy) { return kPolicies[static_cast<std::size_t>(policy)]; }

bool operator==(const PeerSpec& a, const PeerSpec& b) {
  return a.object == b.object && a.name == b.name && a.hub == b.hub && a.created == b.created &&
         a.enabled == b.enabled && a.suspended == b.suspended && a.reads == b.reads && a.shares == b.shares &&
         a.writes == b.writes && a.policy == b.policy && a.sync_interval == b.sync_interval &&
         a.quota.objects == b.quota.objects && a.quota.bytes == b.quota.bytes;
}

PeerSpec read_peer_spec(std::string_view document, bool is_hub) {
  const nlohmann::json object = parse_json(document);
  const nlohmann::json& spec = member_in(object, "spec");
  const nlohmann::json& federation = member_in(spec, "federation");
  const auto is_true = [](const nlohmann::json& value) { return value.is_boolean() && value.get<bool>(); };

  PeerSpec out;
  if (is_hub) out.hub = text_in(spec, "controllerAddress");
  out.created = text_in(member_in(object, "metadata"), "creationTimestamp");
  out.enabled = is_true(member_in(federation, "enabled"));
  out.suspended = is_true(member_in(spec, "suspended"));
  const Scope whole{.kinds = texts_in(federation, "kinds"),
                    .namespaces = texts_in(federation, "namespaces"),
                    .nothing = is_left_empty(federation, "namespaces")};
  out.reads = scope_in(federation, "reads", whole);
  if (out.hub.empty()) {
    out.shares = scope_in(federation, "shares", whole);
    // It may change what others made where that is granted, and nowhere else.
    if (member_in(federation, "writes").is_object()) out.writes = scope_in(federation, "writes", whole);
  } else {
    // What comes from the hub was checked there. Where it may write is `writes`, and all that is exchanged without it.
    out.writes = scope_in(federation, "writes", whole);
  }
  const auto policy = std::ranges::find(kPolicies, text_in(federation, "conflictPolicy"));
  if (policy != std::end(kPolicies)) {
    out.policy = static_cast<ConflictPolicy>(policy - std::begin(kPolicies));
  }
  if (const auto interval = parse_duration(text_in(federation, "syncInterval"))) {
    out.sync_interval = std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(*interval), kShortestInterval,
                                   kLongestInterval);
  }
  read_quota(member_in(federation, "quota"), out.quota);
  return out;
}

PeerSpec hub_spec(std::string hub, std::vector<std::string> kinds, std::vector<std::string> namespaces) {
  PeerSpec out;
  out.hub = std::move(hub);
  out.name = "hub";
  out.enabled = !kinds.empty();
  out.reads = {.kinds = std::move(kinds), .namespaces = std::move(namespaces), .nothing = !out.enabled};
  out.writes = out.reads;
  return out;
}

}  // namespace edge::federation
