// The verbs of the API, implemented by Client::send.
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/kube/client.h"

namespace edge::kube {
namespace {

ObjectReading reading_of(const Resource& resource, ObjectReading reading = {}) {
  if (reading.api_version.empty()) reading.api_version = resource.api_version();
  if (reading.kind.empty()) reading.kind = resource.kind;
  return reading;
}

std::string query_of(const WriteOptions& options) {
  return Query()
      .add_some("fieldManager", options.field_manager)
      .add_some("force", options.force ? "true" : "")
      .add_some("dryRun", options.dry_run ? "All" : "")
      .add_some("fieldValidation", options.field_validation)
      .text();
}

Failure malformed(const Error& error) {
  return {.kind = Failure::Kind::kMalformed, .message = "the answer cannot be taken: " + error.text};
}

ObjectReply object_of(Reply reply, const Resource& resource) {
  ObjectReply out{.failure = std::move(reply.failure), .warnings = std::move(reply.warnings)};
  if (!out.ok()) return out;
  ObjectReading reading = reading_of(resource);
  // Whoever asks for one object wants all of it.
  reading.managed_fields = true;
  Result<Object> object = read_object(reply.body, reading);
  if (object.ok()) {
    out.object = std::move(*object);
  } else {
    out.failure = malformed(object.error());
  }
  return out;
}

std::string delete_options(const DeleteOptions& options) {
  nlohmann::json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  if (options.grace_seconds >= 0) body["gracePeriodSeconds"] = options.grace_seconds;
  if (options.dry_run) body["dryRun"] = {"All"};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) body["preconditions"]["resourceVersion"] = options.resource_version;
  return json_line(body);
}

}  // namespace

std::string_view content_type_of(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategic:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      // JSON is YAML.
      return "application/apply-patch+yaml";
  }
  return {};
}

net::Task<ObjectReply> Client::get(net::Waiter& waiter, Resource resource, std::string name_space, std::string name) {
  Reply reply = co_await send(waiter, {.target = path_of(resource, name_space, name)});
  co_return object_of(std::move(reply), resource);
}

net::Task<ListReply> Client::list(net::Waiter& waiter, Resource resource, ListOptions options) {
  Query query;
  query.add_some("labelSelector", options.label_selector).add_some("fieldSelector", options.field_selector);
  if (options.limit > 0) query.add("limit", std::to_string(options.limit));
  query.add_some("continue", options.next);
  Reply reply = co_await send(waiter, {.target = path_of(resource, options.name_space) + query.text()});
  ListReply out{.failure = std::move(reply.failure)};
  if (!out.ok()) co_return out;
  Result<List> list = read_list(reply.body, reading_of(resource, options.reading));
  if (list.ok()) {
    out.list = std::move(*list);
  } else {
    out.failure = malformed(list.error());
  }
  co_return out;
}

net::Task<ListReply> Client::list_all(net::Waiter& waiter, Resource resource, ListOptions options) {
  ListReply all{.failure = {}};
  bool begun_anew = false;
  options.next.clear();
  for (;;) {
    ListReply page = co_await list(waiter, resource, options);
    if (page.failure.expired() && !options.next.empty() && !begun_anew) {
      begun_anew = true;
      options.next.clear();
      all.list = {};
      continue;
    }
    if (!page.ok()) co_return page;
    all.list.resource_version = std::move(page.list.resource_version);
    for (Object& object : page.list.items) all.list.items.push_back(std::move(object));
    if (page.list.next.empty()) co_return all;
    options.next = std::move(page.list.next);
  }
}

net::Task<ObjectReply> Client::create(net::Waiter& waiter, Resource resource, std::string name_space,
                                      std::string object, WriteOptions options) {
  const std::string target = path_of(resource, name_space, {}, options.subresource) + query_of(options);
  Reply reply = co_await send(waiter, {.method = "POST", .target = target, .body = std::move(object)});
  co_return object_of(std::move(reply), resource);
}

net::Task<ObjectReply> Client::update(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                                      std::string object, WriteOptions options) {
  const std::string target = path_of(resource, name_space, name, options.subresource) + query_of(options);
  Reply reply = co_await send(waiter, {.method = "PUT", .target = target, .body = std::move(object)});
  co_return object_of(std::move(reply), resource);
}

net::Task<ObjectReply> Client::patch(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                                     PatchType type, std::string patch, WriteOptions options) {
  const std::string target = path_of(resource, name_space, name, options.subresource) + query_of(options);
  Reply reply = co_await send(waiter, {.method = "PATCH",
                                       .target = target,
                                       .content_type = std::string(content_type_of(type)),
                                       .body = std::move(patch)});
  co_return object_of(std::move(reply), resource);
}

net::Task<Reply> Client::remove(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                                DeleteOptions options) {
  Reply reply = co_await send(
      waiter, {.method = "DELETE", .target = path_of(resource, name_space, name), .body = delete_options(options)});
  co_return reply;
}

net::Task<Reply> Client::remove_all(net::Waiter& waiter, Resource resource, ListOptions which, DeleteOptions options) {
  Query query;
  query.add_some("labelSelector", which.label_selector).add_some("fieldSelector", which.field_selector);
  const std::string target = path_of(resource, which.name_space) + query.text();
  Reply reply = co_await send(waiter, {.method = "DELETE", .target = target, .body = delete_options(options)});
  co_return reply;
}

}  // namespace edge::kube
