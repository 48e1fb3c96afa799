#include "controller/resource_api/requests/render.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/table.h"

namespace edge::resource_api {
namespace {

using objects::Json;

// events.k8s.io/v1 has other names for what the core group's events hold.
constexpr std::pair<const char*, const char*> kEventFields[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

bool is_event_view(const ResourceType& type) { return type.group == "events.k8s.io" && type.kind == "Event"; }

void rename(Json& object, const char* from, const char* to) {
  const auto found = object.find(from);
  if (found == object.end()) return;
  Json value = std::move(*found);
  object.erase(found);
  object[to] = std::move(value);
}

}  // namespace

void to_stored_form(const ResourceType& type, Json& object) {
  if (!is_event_view(type)) return;
  for (const auto& [stored, view] : kEventFields) rename(object, view, stored);
}

void from_stored_form(const ResourceType& type, Json& object) {
  if (!is_event_view(type)) return;
  for (const auto& [stored, view] : kEventFields) rename(object, stored, view);
}

Json object_json(const Object& object, const ResourceType& type) {
  Json value = Json::parse(object.text, nullptr, false);
  from_stored_form(type, value);
  value["apiVersion"] = type.api_version();
  value["kind"] = type.kind;
  return value;
}

std::string object_text(const Object& object, const ResourceType& type) {
  if (is_event_view(type)) return json_line(object_json(object, type));
  // Names of groups, versions and kinds need no escapes.
  std::string text = R"({"apiVersion":")" + type.api_version() + R"(","kind":")" + type.kind + "\",";
  text.append(object.text, 1);
  return text;
}

std::string answer_text(const Object& object, const ResourceType& type, const Form& form, std::int64_t now,
                        bool with_columns) {
  if (form.as == Form::As::kObject) return object_text(object, type);
  const Json value = object_json(object, type);
  if (form.as == Form::As::kMetadata) return json_line(objects::partial_metadata(value, form.version));
  Json table = objects::table_head(*type.columns, form.version, {{"resourceVersion", std::to_string(object.version)}},
                                   with_columns);
  table["rows"].push_back(objects::table_row(*type.columns, value, form.include, form.version, now));
  return json_line(table);
}

void ListText::add(const Object& object) {
  if (!items_.empty()) items_ += ',';
  switch (form_.as) {
    case Form::As::kObject:
      items_ += object_text(object, type_);
      break;
    case Form::As::kMetadata:
      items_ += json_line(objects::partial_metadata(object_json(object, type_), form_.version));
      break;
    case Form::As::kTable:
      items_ +=
          json_line(objects::table_row(*type_.columns, object_json(object, type_), form_.include, form_.version, now_));
      break;
  }
}

std::string ListText::finish(std::int64_t version, std::string_view continued, std::int64_t remaining) const {
  Json metadata = {{"resourceVersion", std::to_string(version)}};
  if (!continued.empty()) metadata["continue"] = continued;
  if (!continued.empty() && remaining > 0) metadata["remainingItemCount"] = remaining;
  std::string_view items = "items";
  Json head;
  if (form_.as == Form::As::kTable) {
    head = objects::table_head(*type_.columns, form_.version, metadata);
    head.erase("rows");
    items = "rows";
  } else if (form_.as == Form::As::kMetadata) {
    head = {{"apiVersion", "meta.k8s.io/" + form_.version},
            {"kind", "PartialObjectMetadataList"},
            {"metadata", std::move(metadata)}};
  } else {
    head = {{"apiVersion", type_.api_version()}, {"kind", type_.list_kind}, {"metadata", std::move(metadata)}};
  }
  std::string text = json_line(head);
  text.pop_back();
  text.append(",\"").append(items).append("\":[").append(items_).append("]}");
  return text;
}

std::string bookmark_text(const ResourceType& type, const Form& form, std::int64_t version, bool initial_end) {
  Json metadata = {{"resourceVersion", std::to_string(version)}, {"creationTimestamp", nullptr}};
  if (initial_end) metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  Json object = {{"apiVersion", type.api_version()}, {"kind", type.kind}, {"metadata", std::move(metadata)}};
  if (form.as == Form::As::kMetadata) return json_line(objects::partial_metadata(object, form.version));
  if (form.as == Form::As::kTable) {
    Json table =
        objects::table_head(*type.columns, form.version, {{"resourceVersion", std::to_string(version)}}, false);
    // The object of a row is what a client reads the version and the annotation of.
    table["rows"].push_back({{"cells", Json::array()}, {"object", objects::partial_metadata(object, form.version)}});
    return json_line(table);
  }
  return json_line(object);
}

ApiReply reply_of(int status, std::string body) {
  ApiReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

ApiReply reply_of(const objects::StatusError& error) {
  ApiReply reply = reply_of(error.code, error.text());
  if (error.retry_after_seconds > 0) {
    reply.fields.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  }
  return reply;
}

}  // namespace edge::resource_api
