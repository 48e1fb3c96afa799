#include "edgectl/resources/describe.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "controller/kube/json.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/merge.h"
#include "edgectl/resources/table.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kValueColumn = 15;

void line(std::string& out, std::string name, std::string_view value) {
  name += ":";
  name.resize(std::max(kValueColumn, name.size() + 1), ' ');
  out += name + (value.empty() ? "<none>" : shown(value)) + "\n";
}

/// `a=b` a line, the first behind the name.
void map_lines(std::string& out, const std::string& name, const Json& map, char sign) {
  bool first = true;
  for (const auto& [key, value] : map.items()) {
    if (key == kLastApplied) continue;
    const std::string entry = key + (sign == ':' ? ": " : "=") + cell_text(value);
    if (first) {
      line(out, name, entry);
    } else {
      out += std::string(kValueColumn, ' ') + shown(entry) + "\n";
    }
    first = false;
  }
  if (first) line(out, name, "");
}

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += "  " + shown(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

void section(std::string& out, const std::string& title, const Json& value) {
  out += title + ":" + (value.empty() ? " <none>\n" : "\n" + indented(schemas::yaml_text(value)));
}

/// `spec` -> `Spec`, as kubectl heads them.
std::string heading(std::string key) {
  if (!key.empty() && key.front() >= 'a' && key.front() <= 'z')
    key.front() = static_cast<char>(key.front() - 'a' + 'A');
  return key;
}

void secret_sizes(std::string& out, const Json& data) {
  out += "Data:\n";
  for (const auto& [key, value] : data.items()) {
    const auto bytes = value.is_string() ? from_base64(value.get<std::string>()) : std::nullopt;
    out += "  " + shown(key) + ":  " + (bytes ? std::to_string(bytes->size()) + " bytes" : "<no base64>") + "\n";
  }
}

/// Conditions anywhere in a status, each list under the name of what it speaks of; what is left of the status stays.
void take_conditions(Json& status, const std::string& of, std::string& out, std::int64_t now) {
  if (status.is_object()) {
    if (const auto found = status.find("conditions"); found != status.end() && found->is_array()) {
      out += conditions_table("Conditions" + of, *found, now);
      status.erase(found);
    }
  }
  for (const char* list : {"parents", "ancestors", "listeners"}) {
    if (!status.is_object() || !kube::member_of(status, list).is_array()) continue;
    for (Json& entry : status[list]) {
      std::string name = kube::text_of(entry, "name");
      if (name.empty()) name = kube::text_of(entry, "gateway");
      for (const char* ref : {"parentRef", "ancestorRef"}) {
        if (name.empty()) name = kube::text_of(kube::member_of(entry, ref), "name");
      }
      const std::string section_name = kube::text_of(kube::member_of(entry, "parentRef"), "sectionName");
      if (!section_name.empty()) name += "/" + section_name;
      const std::string noun = std::string(list).substr(0, std::string_view(list).size() - 1);
      take_conditions(entry, " of " + noun + " " + name, out, now);
    }
  }
}

struct EventRow {
  std::string last;
  std::vector<std::string> cells;
};

std::string events_table(const std::vector<Json>& events, std::int64_t now) {
  if (events.empty()) return "Events: <none>\n";
  std::vector<EventRow> rows;
  for (const Json& event : events) {
    // events.k8s.io gives series, core/v1 a count.
    std::string last = kube::text_of(kube::member_of(event, "series"), "lastObservedTime");
    if (last.empty()) last = kube::text_of(event, "lastTimestamp");
    if (last.empty()) last = kube::text_of(event, "eventTime");
    if (last.empty()) last = kube::text_of(kube::member_of(event, "metadata"), "creationTimestamp");
    std::int64_t count = kube::member_of(event, "count").is_number_integer() ? event["count"].get<std::int64_t>() : 1;
    if (kube::member_of(kube::member_of(event, "series"), "count").is_number_integer())
      count = event["series"]["count"].get<std::int64_t>();
    std::string from = kube::text_of(kube::member_of(event, "source"), "component");
    if (from.empty()) from = kube::text_of(event, "reportingComponent");
    const std::string age = age_of(last, now) + (count > 1 ? " (x" + std::to_string(count) + ")" : "");
    rows.push_back({last,
                    {"  " + kube::text_of(event, "type"), kube::text_of(event, "reason"), age, from,
                     kube::text_of(event, "message")}});
  }
  std::ranges::stable_sort(rows, {}, &EventRow::last);
  TextTable table({"  TYPE", "REASON", "AGE", "FROM", "MESSAGE"});
  for (EventRow& row : rows) table.add(std::move(row.cells));
  return "Events:\n" + table.take(/*with_heads=*/true);
}

}  // namespace

std::string conditions_table(const std::string& title, const Json& conditions, std::int64_t now) {
  if (!conditions.is_array() || conditions.empty()) return title + ": <none>\n";
  TextTable table({"  TYPE", "STATUS", "REASON", "AGE", "MESSAGE"});
  for (const Json& condition : conditions) {
    if (!condition.is_object()) continue;
    table.add({"  " + kube::text_of(condition, "type"), kube::text_of(condition, "status"),
               kube::text_of(condition, "reason"), age_of(kube::text_of(condition, "lastTransitionTime"), now),
               kube::text_of(condition, "message")});
  }
  return title + ":\n" + table.take(/*with_heads=*/true);
}

std::string describe(const Json& object, const std::vector<Json>& events, std::int64_t now) {
  const Json& metadata = kube::member_of(object, "metadata");
  std::string out;
  line(out, "Name", kube::text_of(metadata, "name"));
  if (const std::string name_space = kube::text_of(metadata, "namespace"); !name_space.empty()) {
    line(out, "Namespace", name_space);
  }
  map_lines(out, "Labels", kube::member_of(metadata, "labels"), '=');
  map_lines(out, "Annotations", kube::member_of(metadata, "annotations"), ':');
  line(out, "API Version", kube::text_of(object, "apiVersion"));
  line(out, "Kind", kube::text_of(object, "kind"));
  line(out, "Age", age_of(kube::text_of(metadata, "creationTimestamp"), now));
  if (kube::member_of(metadata, "generation").is_number()) line(out, "Generation", cell_text(metadata["generation"]));
  if (const std::string deleted = kube::text_of(metadata, "deletionTimestamp"); !deleted.empty()) {
    line(out, "Terminating", "since " + age_of(deleted, now));
  }
  const bool secret = kube::text_of(object, "kind") == "Secret" && kube::text_of(object, "apiVersion") == "v1";
  for (const auto& [key, value] : object.items()) {
    if (key == "apiVersion" || key == "kind" || key == "metadata" || key == "status") continue;
    if (secret && key == "data") {
      secret_sizes(out, value);
    } else if (value.is_structured()) {
      section(out, heading(key), value);
    } else {
      line(out, heading(key), cell_text(value));
    }
  }
  Json status = kube::member_of(object, "status");
  std::string conditions;
  take_conditions(status, "", conditions, now);
  if (!status.empty()) section(out, "Status", status);
  out += conditions.empty() ? "Conditions: <none>\n" : conditions;
  return out + events_table(events, now);
}

}  // namespace edge::edgectl
