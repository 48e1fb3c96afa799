#include "controller/resource_api/objects/status.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

/// Long values would make a message that nobody reads.
constexpr std::size_t kMaxShown = 256;

std::string shown(const Json& value) {
  std::string text = value.is_discarded() ? "null" : json_line(value);
  if (text.size() <= kMaxShown) return text;
  std::size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

/// `pods`, `proxyroutes.edgeproxy.io`.
std::string qualified(const Subject& subject) {
  if (subject.group.empty()) return std::string(subject.resource);
  return words({subject.resource, ".", subject.group});
}

/// `Service`, `ProxyRoute.edgeproxy.io`.
std::string qualified_kind(const Subject& subject) {
  if (subject.group.empty()) return std::string(subject.kind);
  return words({subject.kind, ".", subject.group});
}

StatusError plain(int code, std::string_view reason, std::string message) {
  StatusError error;
  error.code = code;
  error.reason = reason;
  error.message = std::move(message);
  return error;
}

StatusError about(int code, std::string_view reason, const Subject& subject, std::string_view name,
                  std::string message) {
  StatusError error = plain(code, reason, std::move(message));
  error.group = subject.group;
  error.kind = subject.resource;
  error.name = name;
  return error;
}

std::string reported(const Cause& cause) {
  return cause.field.empty() ? cause.message : words({cause.field, ": ", cause.message});
}

/// `a: b` alone, `[a: b, c: d]` when there are several; the same fault is told once.
std::string reported(const Causes& causes) {
  std::vector<std::string> lines;
  for (const Cause& cause : causes) {
    std::string line = reported(cause);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  if (lines.size() == 1) return lines.front();
  std::string all = "[";
  for (const std::string& line : lines) {
    if (all.size() > 1) all += ", ";
    all += line;
  }
  return all + "]";
}

}  // namespace

Cause value_invalid(std::string field, const Json& value, std::string_view detail) {
  return {"FieldValueInvalid", words({"Invalid value: ", shown(value), ": ", detail}), std::move(field)};
}

Cause value_required(std::string field, std::string_view detail) {
  std::string message = "Required value";
  if (!detail.empty()) message += words({": ", detail});
  return {"FieldValueRequired", std::move(message), std::move(field)};
}

Cause value_not_supported(std::string field, const Json& value, const std::vector<std::string>& supported) {
  std::string message = words({"Unsupported value: ", shown(value)});
  for (std::size_t i = 0; i < supported.size(); ++i) {
    message += words({i == 0 ? ": supported values: " : ", ", Json(supported[i]).dump()});
  }
  return {"FieldValueNotSupported", std::move(message), std::move(field)};
}

Cause value_duplicate(std::string field, const Json& value) {
  return {"FieldValueDuplicate", words({"Duplicate value: ", shown(value)}), std::move(field)};
}

Cause value_forbidden(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", words({"Forbidden: ", detail}), std::move(field)};
}

Cause value_too_long(std::string field, std::size_t most_bytes) {
  return {"FieldValueTooLong", words({"Too long: may not be more than ", std::to_string(most_bytes), " bytes"}),
          std::move(field)};
}

Cause value_too_many(std::string field, std::size_t count, std::size_t most) {
  return {"FieldValueTooMany",
          words({"Too many: ", std::to_string(count), ": must have at most ", std::to_string(most), " items"}),
          std::move(field)};
}

Cause value_type_invalid(std::string field, const Json& value, std::string_view detail) {
  return {"FieldValueTypeInvalid", words({"Invalid value: ", shown(value), ": ", detail}), std::move(field)};
}

Json StatusError::to_json() const {
  Json status = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", message}, {"code", code}};
  if (!reason.empty()) status["reason"] = reason;
  Json details = Json::object();
  if (!name.empty()) details["name"] = name;
  if (!group.empty()) details["group"] = group;
  if (!kind.empty()) details["kind"] = kind;
  if (retry_after_seconds > 0) details["retryAfterSeconds"] = retry_after_seconds;
  for (const Cause& cause : causes) {
    Json one = Json::object();
    if (!cause.reason.empty()) one["reason"] = cause.reason;
    if (!cause.message.empty()) one["message"] = cause.message;
    if (!cause.field.empty()) one["field"] = cause.field;
    details["causes"].push_back(std::move(one));
  }
  if (!details.empty()) status["details"] = std::move(details);
  return status;
}

std::string StatusError::text() const { return json_line(to_json()); }

StatusError bad_request(std::string_view message) { return plain(400, "BadRequest", std::string(message)); }

StatusError unauthorized() { return plain(401, "Unauthorized", "Unauthorized"); }

StatusError forbidden(const Subject& subject, std::string_view name, std::string_view user, std::string_view verb,
                      std::string_view scope) {
  std::string message = qualified(subject);
  if (!name.empty()) message += words({" \"", name, "\""});
  message += words({" is forbidden: User \"", user, "\" cannot ", verb, " resource \"", subject.resource,
                    "\" in API group \"", subject.group, "\" "});
  message += scope.empty() ? "at the cluster scope" : words({"in the namespace \"", scope, "\""});
  return about(403, "Forbidden", subject, name, std::move(message));
}

StatusError forbidden_because(const Subject& subject, std::string_view name, std::string_view why) {
  return about(403, "Forbidden", subject, name, words({qualified(subject), " \"", name, "\" is forbidden: ", why}));
}

StatusError not_found(const Subject& subject, std::string_view name) {
  return about(404, "NotFound", subject, name, words({qualified(subject), " \"", name, "\" not found"}));
}

StatusError path_not_found() { return plain(404, "NotFound", "the server could not find the requested resource"); }

StatusError already_exists(const Subject& subject, std::string_view name) {
  return about(409, "AlreadyExists", subject, name, words({qualified(subject), " \"", name, "\" already exists"}));
}

StatusError generate_name_exhausted(const Subject& subject, std::string_view name) {
  StatusError error = already_exists(subject, name);
  error.message += ", the server was not able to generate a unique name for the object";
  return error;
}

StatusError conflict(const Subject& subject, std::string_view name, std::string_view why) {
  return about(409, "Conflict", subject, name,
               words({"Operation cannot be fulfilled on ", qualified(subject), " \"", name, "\": ", why}));
}

StatusError stale_object(const Subject& subject, std::string_view name) {
  return conflict(subject, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

StatusError apply_conflict(Causes causes) {
  const bool many = causes.size() != 1;
  std::string message =
      words({"Apply failed with ", std::to_string(causes.size()), " conflict", many ? "s" : "", ": "});
  if (!many) {
    message += words({causes.front().message, ": ", causes.front().field});
  } else {
    // Causes come grouped by manager.
    message += "conflicts";
    const std::string* before = nullptr;
    for (const Cause& cause : causes) {
      if (before == nullptr || *before != cause.message) {
        const std::string_view all = cause.message;
        constexpr std::string_view kWords = "conflict ";
        message += words(
            {before == nullptr ? " " : "\nconflicts ", all.starts_with(kWords) ? all.substr(kWords.size()) : all, ":"});
      }
      message += words({"\n- ", cause.field});
      before = &cause.message;
    }
  }
  StatusError error = plain(409, "Conflict", std::move(message));
  error.causes = std::move(causes);
  return error;
}

StatusError invalid(const Subject& subject, std::string_view name, Causes causes) {
  StatusError error = plain(422, "Invalid", words({qualified_kind(subject), " \"", name, "\" is invalid"}));
  if (causes.size() > kMaxCauses) causes.resize(kMaxCauses);
  if (!causes.empty()) error.message += words({": ", reported(causes)});
  error.group = subject.group;
  error.kind = subject.kind;
  error.name = name;
  error.causes = std::move(causes);
  return error;
}

StatusError method_not_allowed(const Subject& subject, std::string_view verb) {
  return about(405, "MethodNotAllowed", subject, {},
               words({verb, " is not supported on resources of kind \"", qualified(subject), "\""}));
}

StatusError not_acceptable(std::string_view accepted) {
  return plain(406, "NotAcceptable", words({"only the following media types are accepted: ", accepted}));
}

StatusError unsupported_media_type(std::string_view accepted) {
  return plain(415, "UnsupportedMediaType",
               words({"the body of the request was in an unknown format - accepted media types include: ", accepted}));
}

StatusError gone(std::string_view message) { return plain(410, "Gone", std::string(message)); }

StatusError expired(std::string_view message) {
  return plain(410, "Expired",
               std::string(message.empty() ? "The resourceVersion for the provided watch is too old." : message));
}

StatusError too_large(std::string_view message) { return plain(413, "RequestEntityTooLarge", std::string(message)); }

StatusError too_many_requests(std::string_view message, int retry_after_seconds) {
  StatusError error = plain(429, "TooManyRequests", std::string(message));
  error.retry_after_seconds = retry_after_seconds;
  return error;
}

StatusError internal_error(std::string_view message) {
  StatusError error = plain(500, "InternalError", words({"Internal error occurred: ", message}));
  error.causes.push_back({"", std::string(message), ""});
  return error;
}

StatusError unavailable(std::string_view message) { return plain(503, "ServiceUnavailable", std::string(message)); }

StatusError timed_out(const Subject& subject, std::string_view operation) {
  return about(504, "Timeout", subject, {},
               words({"Timeout: request did not complete within the allotted time: ", operation}));
}

Json success(const Subject& subject, std::string_view name, std::string_view uid) {
  Json details = Json::object();
  if (!name.empty()) details["name"] = name;
  if (!subject.group.empty()) details["group"] = subject.group;
  details["kind"] = subject.resource;
  if (!uid.empty()) details["uid"] = uid;
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", Json::object()},
          {"status", "Success"},
          {"details", std::move(details)}};
}

}  // namespace edge::resource_api::objects
