#include "edgectl/web/access/reply_filter.h"

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string text_of(const OrderedJson& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Removes the elements of a list for which `keep` is false. \returns how many.
template <typename Keep>
std::size_t keep_only(OrderedJson& object, const char* name, const Keep& keep) {
  if (!object.is_object() || !object.contains(name) || !object[name].is_array()) return 0;
  OrderedJson kept = OrderedJson::array();
  std::size_t removed = 0;
  for (OrderedJson& one : object[name]) {
    if (keep(one)) {
      kept.push_back(std::move(one));
    } else {
      ++removed;
    }
  }
  object[name] = std::move(kept);
  return removed;
}

bool names_backend(const StoreView& view, std::string_view name) {
  return view.names(backend_kinds(), name) || view.names(backend_kinds(), name.substr(0, name.rfind(':')));
}

std::string_view space_of(std::string_view key) { return key.substr(0, key.find('/')); }

/// Policies are named in sentences: told to who may list those of both namespaces that they may come from.
bool sees_policies(const StoreView& view, std::string_view route, std::string_view gateway) {
  const StoredKind* policies = view.find_kind("ProxyPolicy");
  return policies != nullptr && view.visible().may_list(policies->kind, space_of(route)) &&
         view.visible().may_list(policies->kind, space_of(gateway));
}

/// `ProxyRoute shop/api`.
bool names_resource(const StoreView& view, std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return false;
  const std::array<std::string_view, 1> kind = {text.substr(0, space)};
  return view.names(kind, text.substr(space + 1));
}

void hide_in_agent(OrderedJson& agent, const StoreView& view) {
  const auto key = [](const OrderedJson& one) { return text_of(one, "namespace") + "/" + text_of(one, "name"); };
  keep_only(agent, "backends", [&](const OrderedJson& one) { return view.names(backend_kinds(), key(one)); });
  constexpr std::array<std::string_view, 1> kVip = {"ProxyVIP"};
  keep_only(agent, "vips", [&](const OrderedJson& one) { return view.names(kVip, key(one)); });
  keep_only(agent, "unboundListeners", [&](const OrderedJson& one) {
    return view.names(gateway_kinds(), text_of(one, "namespace") + "/" + text_of(one, "gateway"));
  });
  // A sentence that may name anything.
  if (agent.contains("refused")) agent["refused"]["reason"] = "";
}

/// `shop/cart rules[0].matches[0]`; none is visible.
bool names_rule(const StoreView& view, std::string_view rule) {
  return rule.empty() || view.names(route_kinds(), rule.substr(0, rule.find(' ')));
}

/// `backend shop/stable, requestTimeout`
bool names_setting(const StoreView& view, std::string_view setting) {
  constexpr std::string_view kBackend = "backend ";
  if (!setting.starts_with(kBackend)) return false;
  setting.remove_prefix(kBackend.size());
  return view.names(backend_kinds(), setting.substr(0, setting.find(',')));
}

/// Treatments name backends and policies in sentences.
bool sees_treatments(const StoreView& view, const OrderedJson& changed) {
  for (const char* kind : {"ProxyPolicy", "ProxyBackend"}) {
    const StoredKind* stored = view.find_kind(kind);
    for (const char* side : {"before", "after"}) {
      const std::string rule = text_of(changed[side], "rule");
      const std::string space = rule.substr(0, rule.find('/'));
      if (rule.empty()) continue;
      if (stored == nullptr || !view.visible().may_list(stored->kind, space)) return false;
    }
  }
  return true;
}

/// The words of a diagnostic, where they name what may not be listed.
void hide_words(OrderedJson& diagnostic, const StoreView& view) {
  bool hidden = view.names_hidden(text_of(diagnostic, "message")) || view.names_hidden(text_of(diagnostic, "fix"));
  for (const OrderedJson& note : diagnostic["notes"]) {
    hidden = hidden || (note.is_string() && view.names_hidden(note.get_ref<const std::string&>()));
  }
  if (!hidden) return;
  diagnostic["message"] = "this has to do with an object that you may not list";
  diagnostic["notes"] = OrderedJson::array();
  diagnostic["fix"] = "";
}

void hide_example(OrderedJson& outcome) {
  for (const char* field : {"request", "backend", "reason"}) outcome[field] = "";
}

}  // namespace

std::string visible_explanation(std::string json, const StoreView& view) {
  if (view.visible().everything()) return json;
  OrderedJson explanation = parse_ordered_json(json);
  if (!explanation.is_object()) return "null";
  const auto visible_rule = [&](const OrderedJson& rule) { return view.names(route_kinds(), text_of(rule, "route")); };
  std::size_t hidden = 0;
  for (OrderedJson& host : explanation["hosts"]) hidden += keep_only(host, "rules", visible_rule);
  keep_only(explanation, "hosts", [](const OrderedJson& host) { return !host["rules"].empty(); });
  const std::string gateway = text_of(explanation, "gateway");
  const bool sees_gateway = view.names(gateway_kinds(), gateway);
  if (!sees_gateway) {
    explanation["gateway"] = "";
    explanation["listener"] = "";
    explanation.erase("clients");
  }
  const std::string winner =
      explanation["winner"].is_object() ? text_of(explanation["winner"], "route") : std::string();
  const bool sees_winner = !winner.empty() && visible_rule(explanation["winner"]);
  if (!sees_winner) {
    if (explanation["winner"].is_object()) {
      explanation["winner"] = {{"verdict", "won"}, {"where", ""},     {"route", ""},  {"rule", 0},
                               {"match", 0},       {"condition", ""}, {"failed", ""}, {"actual", ""}};
    }
    for (const char* list : {"limits", "filters", "backends"}) explanation[list] = OrderedJson::array();
    explanation["redirect"] = nullptr;
  }
  if (!sees_winner || !sees_policies(view, winner, gateway)) explanation["policies"] = OrderedJson::array();
  for (OrderedJson& backend : explanation["backends"]) {
    if (!names_backend(view, text_of(backend, "name"))) backend["name"] = "";
  }
  explanation["hidden"] = hidden;
  return json_line(explanation);
}

std::string visible_traffic(std::string json, const StoreView& view) {
  if (view.visible().everything()) return json;
  OrderedJson traffic = parse_ordered_json(json);
  if (!traffic.is_object() || traffic.contains("error")) return json;
  keep_only(traffic, "routes",
            [&](const OrderedJson& row) { return view.names(route_kinds(), text_of(row, "route")); });
  for (OrderedJson& row : traffic["routes"]) {
    if (!view.names(gateway_kinds(), text_of(row, "gateway"))) row["gateway"] = "";
  }
  keep_only(traffic, "backends", [&](const OrderedJson& row) { return names_backend(view, text_of(row, "backend")); });
  if (!view.visible().may_see_agents()) {
    for (const char* list : {"agents", "line", "faults"}) traffic[list] = OrderedJson::array();
  }
  return json_line(traffic);
}

std::string visible_agents(std::string json, const StoreView& view) {
  if (view.visible().everything()) return json;
  OrderedJson agents = parse_ordered_json(json);
  if (!agents.is_object() || agents.contains("error")) return json;
  if (!agents.contains("agents")) {
    hide_in_agent(agents, view);
    return json_line(agents);
  }
  for (OrderedJson& agent : agents["agents"]) hide_in_agent(agent, view);
  return json_line(agents);
}

std::string visible_history(std::string json, const StoreView& view) {
  if (view.visible().everything()) return json;
  OrderedJson history = parse_ordered_json(json);
  if (!history.is_array()) return json;
  for (OrderedJson& entry : history) {
    const std::size_t hidden = keep_only(entry, "resources", [&](const OrderedJson& one) {
      return one.is_string() && names_resource(view, one.get_ref<const std::string&>());
    });
    // The sentence names them too.
    if (hidden > 0) entry["cause"] = "";
    if (hidden > 0) entry["user"] = "";
  }
  return json_line(history);
}

std::string visible_endpoints(std::string json, const StoreView& view) {
  if (view.visible().everything()) return json;
  OrderedJson endpoints = parse_ordered_json(json);
  keep_only(endpoints, "items", [&](const OrderedJson& one) { return names_backend(view, text_of(one, "backend")); });
  return json_line(endpoints);
}

std::string visible_traces(std::string json, const StoreView& view) {
  if (view.visible().everything()) return json;
  return R"({"services":[],"traces":[]})";
}

std::string visible_trace(std::string json, const StoreView& view) {
  if (view.visible().everything()) return json;
  OrderedJson trace = parse_ordered_json(json);
  bool any = false;
  bool all = true;
  for (const OrderedJson& span : trace["spans"]) {
    for (const OrderedJson& tag : span["tags"]) {
      if (text_of(tag, "name") != "edge.route") continue;
      any = true;
      all = all && view.names(route_kinds(), text_of(tag, "value"));
    }
  }
  if (any && all) return json;
  trace["leftOut"] = trace["spans"].size();
  trace["incomplete"] = true;
  trace["spans"] = OrderedJson::array();
  return json_line(trace);
}

std::string visible_difference(std::string json, const StoreView& view) {
  if (view.visible().everything()) return json;
  OrderedJson reply = parse_ordered_json(json);
  keep_only(reply, "classes", [&](const OrderedJson& one) {
    return names_rule(view, text_of(one["before"], "rule")) && names_rule(view, text_of(one["after"], "rule"));
  });
  if (reply.contains("classes")) {
    for (OrderedJson& one : reply["classes"]) {
      if (sees_treatments(view, one)) continue;
      for (const char* side : {"before", "after"}) one[side]["treatment"] = OrderedJson::array();
    }
  }
  keep_only(reply, "settings", [&](const OrderedJson& one) { return names_setting(view, text_of(one, "setting")); });
  for (const char* list : {"diagnostics", "findings", "brought", "solved"}) {
    if (!reply.contains(list)) continue;
    for (OrderedJson& one : reply[list]) hide_words(one, view);
  }
  if (reply.contains("undecided")) reply["undecided"] = OrderedJson::array();
  for (const char* list : {"brought", "solved"}) {
    keep_only(reply, list, [&](const OrderedJson& one) { return names_resource(view, text_of(one, "resource")); });
  }
  if (reply.contains("claims")) {
    for (OrderedJson& claim : reply["claims"]) {
      for (const char* outcome : {"before", "after", "outcome"}) {
        if (claim.contains(outcome)) hide_example(claim[outcome]);
      }
    }
  }
  return json_line(reply);
}

}  // namespace edge::edgectl::web
