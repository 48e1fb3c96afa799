#include "edgectl/resources/describe.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/merge.h"
#include "edgectl/resources/table.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kValueColumn = 15;

std::string text_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& member(const Json& object, const char* name) {
  static const Json kNull;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}

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
    if (!status.is_object() || !member(status, list).is_array()) continue;
    for (Json& entry : status[list]) {
      std::string name = text_at(entry, "name");
      if (name.empty()) name = text_at(entry, "gateway");
      for (const char* ref : {"parentRef", "ancestorRef"}) {
        if (name.empty()) name = text_at(member(entry, ref), "name");
      }
      const std::string section_name = text_at(member(entry, "parentRef"), "sectionName");
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
    std::string last = text_at(member(event, "series"), "lastObservedTime");
    if (last.empty()) last = text_at(event, "lastTimestamp");
    if (last.empty()) last = text_at(event, "eventTime");
    if (last.empty()) last = text_at(member(event, "metadata"), "creationTimestamp");
    std::int64_t count = member(event, "count").is_number_integer() ? event["count"].get<std::int64_t>() : 1;
    if (member(member(event, "series"), "count").is_number_integer())
      count = event["series"]["count"].get<std::int64_t>();
    std::string from = text_at(member(event, "source"), "component");
    if (from.empty()) from = text_at(event, "reportingComponent");
    const std::string age = age_of(last, now) + (count > 1 ? " (x" + std::to_string(count) + ")" : "");
    rows.push_back(
        {last, {"  " + text_at(event, "type"), text_at(event, "reason"), age, from, text_at(event, "message")}});
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
    table.add({"  " + text_at(condition, "type"), text_at(condition, "status"), text_at(condition, "reason"),
               age_of(text_at(condition, "lastTransitionTime"), now), text_at(condition, "message")});
  }
  return title + ":\n" + table.take(/*with_heads=*/true);
}

std::string describe(const Json& object, const std::vector<Json>& events, std::int64_t now) {
  const Json& metadata = member(object, "metadata");
  std::string out;
  line(out, "Name", text_at(metadata, "name"));
  if (const std::string name_space = text_at(metadata, "namespace"); !name_space.empty()) {
    line(out, "Namespace", name_space);
  }
  map_lines(out, "Labels", member(metadata, "labels"), '=');
  map_lines(out, "Annotations", member(metadata, "annotations"), ':');
  line(out, "API Version", text_at(object, "apiVersion"));
  line(out, "Kind", text_at(object, "kind"));
  line(out, "Age", age_of(text_at(metadata, "creationTimestamp"), now));
  if (member(metadata, "generation").is_number()) line(out, "Generation", cell_text(metadata["generation"]));
  if (const std::string deleted = text_at(metadata, "deletionTimestamp"); !deleted.empty()) {
    line(out, "Terminating", "since " + age_of(deleted, now));
  }
  const bool secret = text_at(object, "kind") == "Secret" && text_at(object, "apiVersion") == "v1";
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
  Json status = member(object, "status");
  std::string conditions;
  take_conditions(status, "", conditions, now);
  if (!status.empty()) section(out, "Status", status);
  out += conditions.empty() ? "Conditions: <none>\n" : conditions;
  return out + events_table(events, now);
}

}  // namespace edge::edgectl
