#include "edgectl/web/api/views/address_list.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

OrderedJson user_json(const StoredKind& kind, const StoredObject& object) {
  return {
      {"kind", kind.kind.kind}, {"plural", kind.kind.plural}, {"namespace", object.name_space}, {"name", object.name}};
}

/// Gateways by `namespace/name` of the ProxyVIP that they name.
std::map<std::string, OrderedJson> users_of(const StoreView& view) {
  std::map<std::string, OrderedJson> users;
  if (const StoredKind* kind = view.find_kind("ProxyGateway"); kind != nullptr) {
    view.each(*kind, [&](const std::string&, const StoredObject& object) {
      for (const Reference& reference : object.references) {
        if (reference.field != "vipRef") continue;
        users[reference.name_space + "/" + reference.name].push_back(user_json(*kind, object));
      }
    });
  }
  if (const StoredKind* kind = view.find_kind("Gateway"); kind != nullptr) {
    view.each(*kind, [&](const std::string&, const StoredObject& object) {
      const Json json = parse_json(object.text);
      for (const Json& address : list_in(member_in(json, "spec"), "addresses")) {
        if (text_in(address, "type") != "edgeproxy.io/vip") continue;
        std::string name = text_in(address, "value");
        if (name.find('/') == std::string::npos) name = object.name_space + "/" + name;
        users[name].push_back(user_json(*kind, object));
      }
    });
  }
  return users;
}

OrderedJson texts_of(const Json& list) {
  OrderedJson texts = OrderedJson::array();
  for (const Json& one : list) texts.push_back(text_value(one));
  return texts;
}

/// The listed members of each entry, as text.
OrderedJson entries_of(const Json& list, std::initializer_list<const char*> members) {
  OrderedJson entries = OrderedJson::array();
  for (const Json& one : list) {
    OrderedJson entry = OrderedJson::object();
    for (const char* member : members) entry[member] = text_in(one, member);
    entries.push_back(std::move(entry));
  }
  return entries;
}

OrderedJson address_json(const StoredObject& object, OrderedJson gateways) {
  const Json json = parse_json(object.text);
  const Json& spec = member_in(json, "spec");
  const Json& status = member_in(json, "status");
  const std::string& mode = text_in(spec, "mode");
  OrderedJson ports = OrderedJson::array();
  for (const Json& port : list_in(spec, "ports")) ports.push_back(port.is_number_integer() ? port.get<int>() : 0);
  return {{"namespace", object.name_space},
          {"name", object.name},
          {"health", word_of(object.verdict.health)},
          {"problem", object.verdict.problem},
          {"address", text_in(spec, "address")},
          {"pool", texts_of(list_in(spec, "pool"))},
          {"mode", mode.empty() ? "L2ARP" : mode},
          {"ports", std::move(ports)},
          {"currentNode", text_in(status, "currentNode")},
          {"announcingNodes", texts_of(list_in(status, "announcingNodes"))},
          {"epoch", integer_in(status, "epoch")},
          {"sessions", entries_of(list_in(status, "sessions"), {"node", "peer", "state", "since", "bfd", "lastError"})},
          {"allocations", entries_of(list_in(status, "allocations"), {"address", "kind", "namespace", "name", "node"})},
          {"gateways", std::move(gateways)}};
}

}  // namespace

OrderedJson addresses_json(const StoreView& view) {
  OrderedJson items = OrderedJson::array();
  std::size_t left_out = 0;
  if (const StoredKind* kind = view.find_kind("ProxyVIP"); kind != nullptr) {
    std::map<std::string, OrderedJson> users = users_of(view);
    view.each(*kind, [&](const std::string& key, const StoredObject& object) {
      if (items.size() >= kMostAddresses) {
        ++left_out;
        return;
      }
      const auto found = users.find(key);
      items.push_back(address_json(object, found == users.end() ? OrderedJson::array() : std::move(found->second)));
    });
  }
  return {{"items", std::move(items)}, {"leftOut", left_out}};
}

}  // namespace edge::edgectl::web
