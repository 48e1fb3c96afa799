#include "edgectl/web/api/object_reply.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/agents/redact.h"
#include "edgectl/resources/output.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostProblems = 200;
constexpr std::array kHealths = {Health::kUnknown, Health::kGood, Health::kPending, Health::kWarning, Health::kBad};

OrderedJson relations_json(const StoreView& view, const std::vector<Reference>& references) {
  OrderedJson list = OrderedJson::array();
  for (const Reference& reference : references) {
    const StoredKind* kind = view.find_kind(reference.kind);
    OrderedJson known = nullptr;
    // Whether something exists is for those who may list it.
    if (kind != nullptr && kind->synced && view.visible().may_list(kind->kind, reference.name_space)) {
      const std::string key =
          reference.name_space.empty() ? reference.name : reference.name_space + "/" + reference.name;
      known = kind->objects.contains(key);
    }
    list.push_back({{"kind", reference.kind},
                    {"plural", kind == nullptr ? std::string_view() : kind->kind.plural},
                    {"namespace", reference.name_space},
                    {"name", reference.name},
                    {"field", reference.field},
                    {"known", std::move(known)}});
  }
  return list;
}

OrderedJson conditions_json(const Json& object) {
  OrderedJson list = OrderedJson::array();
  for (const Condition& condition : conditions_of(object)) {
    list.push_back({{"of", condition.of},
                    {"type", condition.type},
                    {"status", condition.status},
                    {"reason", condition.reason},
                    {"message", condition.message},
                    {"since", condition.since}});
  }
  return list;
}

/// events.k8s.io has a series, core/v1 a count.
std::string last_of(const Json& event) {
  for (const std::string& time : {text_in(member_in(event, "series"), "lastObservedTime"),
                                  text_in(event, "lastTimestamp"), text_in(event, "eventTime")}) {
    if (!time.empty()) return time;
  }
  return text_in(member_in(event, "metadata"), "creationTimestamp");
}

}  // namespace

OrderedJson kind_json(const StoreView& view, const StoredKind& kind) {
  std::array<std::size_t, kHealths.size()> counts{};
  std::size_t count = 0;
  view.each(kind, [&](const std::string&, const StoredObject& stored) {
    ++counts[static_cast<std::size_t>(stored.verdict.health)];
    ++count;
  });
  OrderedJson health;
  for (const Health one : kHealths) health[std::string(word_of(one))] = counts[static_cast<std::size_t>(one)];
  return {{"kind", kind.kind.kind},
          {"plural", kind.kind.plural},
          {"apiVersion", kind.served ? kind.resource.api_version() : std::string(kind.kind.api_version)},
          {"own", kind.kind.own},
          {"text", kind.kind.manifest == nullptr ? std::string_view() : kind.kind.manifest->text},
          {"served", kind.served},
          {"synced", kind.synced},
          {"fault", kind.fault},
          {"count", count},
          {"leftOut", view.left_out(kind)},
          {"health", std::move(health)}};
}

std::string objects_text(const StoreView& view, const StoredKind& kind) {
  std::string text = json_line(OrderedJson{{"kind", kind_json(view, kind)}, {"heads", kind.heads}});
  text.back() = ',';
  text += R"("rows":[)";
  bool first = true;
  view.each(kind, [&](const std::string&, const StoredObject& stored) {
    if (!std::exchange(first, false)) text += ',';
    text += json_line(OrderedJson{{"namespace", stored.name_space},
                                  {"name", stored.name},
                                  {"health", word_of(stored.verdict.health)},
                                  {"problem", stored.verdict.problem},
                                  {"cells", stored.cells}});
  });
  return text += "]}";
}

OrderedJson problems_json(const StoreView& view) {
  struct Found {
    const StoredKind* kind;
    const StoredObject* object;
  };
  std::vector<Found> found;
  for (const StoredKind* kind : view.kinds()) {
    view.each(*kind, [&](const std::string&, const StoredObject& stored) {
      if (stored.verdict.health >= Health::kPending) found.push_back({kind, &stored});
    });
  }
  std::ranges::stable_sort(
      found, [](const Found& a, const Found& b) { return a.object->verdict.health > b.object->verdict.health; });
  OrderedJson items = OrderedJson::array();
  for (const Found& one : found) {
    if (items.size() == kMostProblems) break;
    items.push_back({{"kind", one.kind->kind.kind},
                     {"plural", one.kind->kind.plural},
                     {"namespace", one.object->name_space},
                     {"name", one.object->name},
                     {"health", word_of(one.object->verdict.health)},
                     {"problem", one.object->verdict.problem}});
  }
  return {{"total", found.size()}, {"items", std::move(items)}};
}

OrderedJson object_json(const StoreView& view, const StoredKind& kind, const StoredObject& stored) {
  Json object = parsed_json(stored.text);
  OrderedJson conditions = conditions_json(object);
  redact(object);
  const Reference self{std::string(kind.kind.kind), stored.name_space, stored.name, {}};
  std::string yaml = schemas::yaml_text(object);
  return {{"kind", kind.kind.kind},
          {"plural", kind.kind.plural},
          {"namespace", stored.name_space},
          {"name", stored.name},
          {"created", stored.created},
          {"health", word_of(stored.verdict.health)},
          {"problem", stored.verdict.problem},
          {"object", std::move(object)},
          {"yaml", std::move(yaml)},
          {"conditions", std::move(conditions)},
          {"uses", relations_json(view, stored.references)},
          {"usedBy", relations_json(view, view.referring_to(self))}};
}

OrderedJson events_json(const std::vector<kube::Object>& events, const std::string& uid) {
  std::vector<OrderedJson> list;
  for (const kube::Object& one : events) {
    const Json event = parsed_json(one.text);
    const std::string& of = text_in(member_in(event, "involvedObject"), "uid");
    if (!of.empty() && of != uid) continue;
    std::string from = text_in(member_in(event, "source"), "component");
    if (from.empty()) from = text_in(event, "reportingComponent");
    std::string message = text_in(event, "message");
    redact_user_information(message);
    const std::int64_t count = std::max(integer_in(event, "count"), integer_in(member_in(event, "series"), "count"));
    list.push_back({{"type", text_in(event, "type")},
                    {"reason", text_in(event, "reason")},
                    {"message", std::move(message)},
                    {"count", std::max<std::int64_t>(count, 1)},
                    {"last", last_of(event)},
                    {"from", std::move(from)}});
  }
  std::ranges::stable_sort(list, [](const OrderedJson& a, const OrderedJson& b) { return a["last"] > b["last"]; });
  return list;
}

}  // namespace edge::edgectl::web
