#include "controller/reconcile/body_memory.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/resource_id.h"
#include "base/text/json.h"
#include "compiler/link/secrets.h"
#include "compiler/model/gateway_api.h"
#include "program/sha256.h"
#include "program/values/address_list.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;
using Bodies = std::set<std::pair<std::string, std::string>>;

program::Hash compiled_hash(std::string_view text) { return program::sha256(std::as_bytes(std::span(text))); }

constexpr const char* kReference = "configMapRef";
constexpr const char* kAuthorities = "caCertificateRefs";
const std::string kUnreadList(compiler::model::kUnreadValues);
const std::string kLists[] = {"data", "binaryData", kUnreadList};
/// Of what holds a value, beside its texts.
constexpr std::size_t kValueBytes = 128;

/// What one document names.
class References {
 public:
  explicit References(const Json& document) : own_(text_in(member_in(document, "metadata"), "namespace")) {
    const Json& spec = member_in(document, "spec");
    for (const char* answer : {"maintenance", "fixedResponse"}) add_body(member_in(spec, answer));
    for (const Json& page : list_in(member_in(spec, "errorPages"), "pages")) add_body(page);
    for (const char* lists : {"allowLists", "denyLists"}) {
      for (const Json& list : list_in(member_in(spec, "ipAccess"), lists)) {
        add(member_in(list, kReference), std::string(program::kNetworksKey));
      }
    }
    // Of BackendTLSPolicy, then of Gateway.
    add_authorities(member_in(spec, "validation"));
    const Json& frontend = member_in(member_in(spec, "tls"), "frontend");
    add_authorities(member_in(member_in(frontend, "default"), "validation"));
    for (const Json& port : list_in(frontend, "perPort")) {
      add_authorities(member_in(member_in(port, "tls"), "validation"));
    }
  }
  Bodies take() { return std::move(named_); }

 private:
  void add(const Json& reference, std::string key) {
    const std::string& name = text_in(reference, "name");
    if (name.empty()) return;
    const std::string& space = text_in(reference, "namespace");
    named_.emplace(resource_text("ConfigMap", space.empty() ? own_ : space, name), std::move(key));
  }
  void add_body(const Json& holder) {
    const Json& reference = member_in(holder, kReference);
    add(reference, text_in(reference, "key"));
  }
  void add_authorities(const Json& validation) {
    for (const Json& reference : list_in(validation, kAuthorities)) {
      if (text_in(reference, "kind") == "Secret") continue;
      add(reference, std::string(compiler::link::kAuthorityKey));
    }
  }

  const std::string& own_;
  Bodies named_;
};

Bodies bodies_of(std::string_view document) {
  // Most documents name none.
  if (document.find(kReference) == std::string_view::npos && document.find(kAuthorities) == std::string_view::npos) {
    return {};
  }
  const Json read = parse_json(document);
  return References(read).take();
}

}  // namespace

bool BodyMemory::may_name(std::string_view kind) {
  return kind == "ProxyPolicy" || kind == "Gateway" || kind == "BackendTLSPolicy";
}

bool BodyMemory::Map::has(const std::string& key) const {
  return std::ranges::any_of(kLists, [&](const std::string& list) { return values.contains({list, key}); });
}

void BodyMemory::name_values(const std::string& object, NamingVersion version, std::string_view document) {
  Bodies bodies = bodies_of(document);
  const auto known = named_by_.find(object);
  if (known == named_by_.end() && bodies.empty()) return;
  auto& versions = known == named_by_.end() ? named_by_[object] : known->second;
  Bodies& held = versions.at(static_cast<std::size_t>(version));
  if (held == bodies) return;
  // These first: what is named by both is never without a name.
  count(bodies, true);
  std::swap(held, bodies);
  count(bodies, false);
  if (std::ranges::all_of(versions, &Bodies::empty)) named_by_.erase(object);
  bound();
}

void BodyMemory::count(const Bodies& bodies, bool named) {
  for (const Body& body : bodies) {
    const auto found = named_.try_emplace(body, 0).first;
    found->second = named ? found->second + 1 : found->second - 1;
    if (found->second != (named ? 1u : 0u)) continue;
    if (!named) named_.erase(found);
    const auto map = maps_.find(body.first);
    if (map == maps_.end()) continue;
    changed_.insert(map->first);
    weigh(map->first, map->second);
    want_missing(map->first, map->second);
  }
}

/// Counts its values that nobody names.
void BodyMemory::weigh(const std::string& name, Map& map) {
  kept_ -= std::exchange(map.unnamed, 0);
  for (const auto& [place, text] : map.values) {
    if (!named_.contains({name, place.second})) map.unnamed += kValueBytes + place.second.size() + text.size();
  }
  kept_ += map.unnamed;
  if (map.unnamed != 0) {
    by_age_[map.put] = name;
  } else {
    by_age_.erase(map.put);
  }
}

/// Those go first that have not changed for longest.
void BodyMemory::bound() {
  while (kept_ > most_kept_) {
    const std::string name = by_age_.begin()->second;
    Map& map = maps_.at(name);
    std::erase_if(map.values, [&](const auto& value) { return !named_.contains({name, value.first.second}); });
    map.dropped = true;
    weigh(name, map);
  }
}

void BodyMemory::want_missing(const std::string& name, Map& map) {
  if (!map.dropped) return;
  for (auto body = named_.lower_bound({name, {}}); body != named_.end() && body->first.first == name; ++body) {
    if (map.has(body->first.second)) continue;
    map.wanted = true;
    wanted_.insert(name);
  }
}

bool BodyMemory::awaits_values(const std::string& object) const {
  const auto naming = named_by_.find(object);
  if (naming == named_by_.end()) return false;
  const Bodies& bodies = naming->second.at(static_cast<std::size_t>(NamingVersion::kCurrent));
  return std::ranges::any_of(bodies, [this](const Body& body) {
    const auto map = maps_.find(body.first);
    return map != maps_.end() && map->second.wanted && !map->second.has(body.second);
  });
}

std::string BodyMemory::compiled(const std::string& name, const Map& map) const {
  Json read = parse_json(map.frame);
  if (!read.is_object()) return map.frame;
  for (auto body = named_.lower_bound({name, {}}); body != named_.end() && body->first.first == name; ++body) {
    const std::string& key = body->first.second;
    for (const std::string& list : kLists) {
      const auto value = map.values.find({list, key});
      if (value != map.values.end()) read[list][key] = value->second;
    }
    if (map.dropped && !map.has(key)) read[kUnreadList][key] = "is being read again";
  }
  return json_line(read);
}

std::string BodyMemory::put(const std::string& map, std::string document, bool values_dropped) {
  Map& known = maps_[map];
  by_age_.erase(known.put);
  known.put = ++puts_;
  known.dropped = values_dropped;
  known.wanted = false;
  known.values.clear();
  known.frame = std::move(document);
  if (Json read = parse_json(known.frame); read.is_object()) {
    for (const std::string& list : kLists) {
      const Json& values = member_in(read, list);
      if (!values.is_object()) continue;
      for (const auto& [key, value] : values.items()) known.values[{list, key}] = text_value(value);
      read.erase(list);
    }
    known.frame = json_line(read);
  }
  weigh(map, known);
  bound();
  wanted_.erase(map);
  want_missing(map, known);
  changed_.erase(map);
  std::string text = compiled(map, known);
  known.compiled = compiled_hash(text);
  return text;
}

void BodyMemory::remove(const std::string& object) {
  if (const auto map = maps_.find(object); map != maps_.end()) {
    kept_ -= map->second.unnamed;
    by_age_.erase(map->second.put);
    maps_.erase(map);
  }
  changed_.erase(object);
  wanted_.erase(object);
  const auto naming = named_by_.extract(object);
  if (naming.empty()) return;
  for (const Bodies& bodies : naming.mapped()) count(bodies, false);
  bound();
}

std::map<std::string, std::string> BodyMemory::take_changed() {
  std::map<std::string, std::string> changed;
  for (const std::string& name : std::exchange(changed_, {})) {
    Map& map = maps_.at(name);
    std::string text = compiled(name, map);
    const program::Hash hash = compiled_hash(text);
    if (hash == map.compiled) continue;
    map.compiled = hash;
    changed.emplace(name, std::move(text));
  }
  return changed;
}

}  // namespace edge::controller
