#include "edgectl/resources/describe.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/table.h"
#include "edgectl/resources/write/merge.h"
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

bool is_secret(const Json& object) {
  return text_in(object, "kind") == "Secret" && text_in(object, "apiVersion") == "v1";
}

std::string secret_size(const Json& value) {
  const auto bytes = value.is_string() ? from_base64(value.get<std::string>()) : std::nullopt;
  return bytes ? std::to_string(bytes->size()) + " bytes" : "<no base64>";
}

void secret_sizes(std::string& out, const Json& data) {
  out += "Data:\n";
  for (const auto& [key, value] : data.items()) out += "  " + shown(key) + ":  " + secret_size(value) + "\n";
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
    if (!status.is_object() || !member_in(status, list).is_array()) continue;
    for (Json& entry : status[list]) {
      std::string name = text_in(entry, "name");
      if (name.empty()) name = text_in(entry, "gateway");
      for (const char* ref : {"parentRef", "ancestorRef"}) {
        if (name.empty()) name = text_in(member_in(entry, ref), "name");
      }
      const std::string section_name = text_in(member_in(entry, "parentRef"), "sectionName");
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
    std::string last = text_in(member_in(event, "series"), "lastObservedTime");
    if (last.empty()) last = text_in(event, "lastTimestamp");
    if (last.empty()) last = text_in(event, "eventTime");
    if (last.empty()) last = text_in(member_in(event, "metadata"), "creationTimestamp");
    const std::int64_t count = std::max(integer_in(event, "count"), integer_in(member_in(event, "series"), "count"));
    std::string from = text_in(member_in(event, "source"), "component");
    if (from.empty()) from = text_in(event, "reportingComponent");
    const std::string age = age_of(last, now) + (count > 1 ? " (x" + std::to_string(count) + ")" : "");
    rows.push_back(
        {last, {"  " + text_in(event, "type"), text_in(event, "reason"), age, from, text_in(event, "message")}});
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
    table.add({"  " + text_in(condition, "type"), text_in(condition, "status"), text_in(condition, "reason"),
               age_of(text_in(condition, "lastTransitionTime"), now), text_in(condition, "message")});
  }
  return title + ":\n" + table.take(/*with_heads=*/true);
}

std::string describe(const Json& object, const std::vector<Json>& events, std::int64_t now) {
  const Json& metadata = member_in(object, "metadata");
  std::string out;
  line(out, "Name", text_in(metadata, "name"));
  if (const std::string name_space = text_in(metadata, "namespace"); !name_space.empty()) {
    line(out, "Namespace", name_space);
  }
  map_lines(out, "Labels", member_in(metadata, "labels"), '=');
  map_lines(out, "Annotations", member_in(metadata, "annotations"), ':');
  line(out, "API Version", text_in(object, "apiVersion"));
  line(out, "Kind", text_in(object, "kind"));
  line(out, "Age", age_of(text_in(metadata, "creationTimestamp"), now));
  if (member_in(metadata, "generation").is_number()) line(out, "Generation", cell_text(metadata["generation"]));
  if (const std::string deleted = text_in(metadata, "deletionTimestamp"); !deleted.empty()) {
    line(out, "Terminating", "since " + age_of(deleted, now));
  }
  const bool secret = is_secret(object);
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
  Json status = member_in(object, "status");
  std::string conditions;
  take_conditions(status, "", conditions, now);
  if (!status.empty()) section(out, "Status", status);
  out += conditions.empty() ? "Conditions: <none>\n" : conditions;
  return out + events_table(events, now);
}

Json description(Json object, const std::vector<Json>& events) {
  if (is_secret(object)) {
    if (const auto data = object.find("data"); data != object.end() && data->is_object()) {
      for (Json& value : *data) value = secret_size(value);
    }
  }
  // A copy of the object, values of secrets with it.
  const auto metadata = object.find("metadata");
  if (metadata != object.end() && member_in(*metadata, "annotations").is_object()) {
    (*metadata)["annotations"].erase(kLastApplied);
  }
  return {{"object", std::move(object)}, {"events", events}};
}

}  // namespace edge::edgectl
