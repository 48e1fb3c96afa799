// Error responses of the API: metav1.Status, worded as by Kubernetes, because kubectl prints the text and clients
// decide by `reason`.
#pragma once

#include <cassert>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::resource_api::objects {

using Json = nlohmann::json;

/// The most causes in one response; further ones are omitted.
inline constexpr std::size_t kMaxCauses = 100;

/// An error of one field. `message` is complete as written by Kubernetes, without the field's path.
struct Cause {
  std::string reason;   ///< FieldValueInvalid, FieldValueRequired, ...
  std::string message;  ///< `Invalid value: "x": must be ...`
  std::string field;    ///< `spec.rules[0].name`

  bool operator==(const Cause&) const = default;
};
using Causes = std::vector<Cause>;

// The causes that validation uses. `value` is the invalid value as JSON text (cut if long).
Cause value_invalid(std::string field, const Json& value, std::string_view detail);
Cause value_required(std::string field, std::string_view detail = {});
Cause value_not_supported(std::string field, const Json& value, const std::vector<std::string>& supported);
Cause value_duplicate(std::string field, const Json& value);
Cause value_forbidden(std::string field, std::string_view detail);
Cause value_too_long(std::string field, std::size_t most_bytes);
Cause value_too_many(std::string field, std::size_t count, std::size_t most);
Cause value_type_invalid(std::string field, const Json& value, std::string_view detail);

/// The resource that an error is about: group (empty: core), plural and kind.
struct Subject {
  std::string_view group;
  std::string_view resource;
  std::string_view kind;
};

struct StatusError {
  int code = 500;
  std::string reason;
  std::string message;
  // details
  std::string group;
  std::string kind;  ///< as in Kubernetes: the plural, except the kind for Invalid
  std::string name;
  Causes causes;
  int retry_after_seconds = 0;

  /// {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",...}
  Json to_json() const;
  /// Returns the same as text, ready to send.
  std::string text() const;
};

StatusError bad_request(std::string_view message);
StatusError unauthorized();
/// `verb` such as `list`; `scope` is the namespace, empty for cluster scope.
StatusError forbidden(const Subject& subject, std::string_view name, std::string_view user, std::string_view verb,
                      std::string_view scope);
/// 403 with a specific reason: `pods "x" is forbidden: <why>`.
StatusError forbidden_because(const Subject& subject, std::string_view name, std::string_view why);
StatusError not_found(const Subject& subject, std::string_view name);
/// No such path: `the server could not find the requested resource`.
StatusError path_not_found();
StatusError already_exists(const Subject& subject, std::string_view name);
StatusError generate_name_exhausted(const Subject& subject, std::string_view name);
/// 409 Conflict: `Operation cannot be fulfilled on pods "x": <why>`.
StatusError conflict(const Subject& subject, std::string_view name, std::string_view why);
/// For an update from an older resourceVersion.
StatusError stale_object(const Subject& subject, std::string_view name);
/// 409 Conflict of server-side apply; `causes` are FieldManagerConflict.
StatusError apply_conflict(Causes causes);
StatusError invalid(const Subject& subject, std::string_view name, Causes causes);
StatusError method_not_allowed(const Subject& subject, std::string_view verb);
StatusError not_acceptable(std::string_view accepted);
StatusError unsupported_media_type(std::string_view accepted);
StatusError gone(std::string_view message);
/// 410 Expired: `The resourceVersion for the provided watch is too old.`, or `message`.
StatusError expired(std::string_view message = {});
StatusError too_large(std::string_view message);
StatusError too_many_requests(std::string_view message, int retry_after_seconds);
StatusError internal_error(std::string_view message);
StatusError unavailable(std::string_view message);
StatusError timed_out(const Subject& subject, std::string_view operation);

/// Returns the success response of a delete: {"kind":"Status",...,"status":"Success","details":{...}}.
Json success(const Subject& subject, std::string_view name, std::string_view uid);

/// A T, or the StatusError to send instead. `value()` and `error()` require a check of `ok()` before.
template <typename T>
class [[nodiscard]] Answer {
 public:
  Answer(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Answer(StatusError error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return assert(ok()), *std::get_if<0>(&state_); }
  const T& value() const& { return assert(ok()), *std::get_if<0>(&state_); }
  T&& value() && { return assert(ok()), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  StatusError& error() { return assert(!ok()), *std::get_if<1>(&state_); }
  const StatusError& error() const { return assert(!ok()), *std::get_if<1>(&state_); }

 private:
  std::variant<T, StatusError> state_;
};

}  // namespace edge::resource_api::objects
