#include "controller/kube/failure.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::kube {
namespace {

constexpr std::size_t kMostCauses = 256;
constexpr std::size_t kMostLine = 256;

ErrorCode code_of(int http) {
  switch (http) {
    case 400:
    case 406:
    case 415:
    case 422:
      return ErrorCode::kInvalidArgument;
    case 401:
      return ErrorCode::kUnauthenticated;
    case 403:
      return ErrorCode::kPermissionDenied;
    case 404:
      return ErrorCode::kNotFound;
    case 405:
    case 501:
      return ErrorCode::kUnimplemented;
    case 409:
      return ErrorCode::kAborted;
    case 410:
      return ErrorCode::kOutOfRange;
    case 413:
    case 429:
      return ErrorCode::kResourceExhausted;
    case 504:
      return ErrorCode::kDeadlineExceeded;
    default:
      return http >= 500 ? ErrorCode::kUnavailable : ErrorCode::kUnknown;
  }
}

/// Text that goes to logs and terminals: one line, no control bytes.
std::string one_line(std::string_view text, std::size_t most) {
  std::string line(text.substr(0, std::min(text.size(), most)));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return line;
}

/// For servers and proxies on the way that answer something else.
std::string_view reason_of(int http) {
  switch (http) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 406:
      return "NotAcceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "RequestEntityTooLarge";
    case 415:
      return "UnsupportedMediaType";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return {};
  }
}

int number_of(const nlohmann::json& object, const char* key) {
  return static_cast<int>(std::clamp<std::int64_t>(integer_in(object, key), 0, 1'000'000));
}

void take_details(const nlohmann::json& details, Failure& failure) {
  failure.resource_kind = text_in(details, "kind");
  failure.resource_name = text_in(details, "name");
  failure.retry_after = number_of(details, "retryAfterSeconds");
  const nlohmann::json& causes = member_in(details, "causes");
  if (!causes.is_array()) return;
  for (const nlohmann::json& cause : causes) {
    if (failure.causes.size() == kMostCauses) return;
    failure.causes.push_back({text_in(cause, "reason"), text_in(cause, "message"), text_in(cause, "field")});
  }
}

}  // namespace

Failure read_failure(int http, std::string_view body) {
  Failure failure{.kind = Failure::Kind::kRefused, .http = http, .reason = std::string(reason_of(http))};
  const nlohmann::json status = parse_json(body);
  if (text_in(status, "kind") != "Status") {
    failure.message = one_line(body.substr(0, body.find('\n')), kMostLine);
    return failure;
  }
  if (const int code = number_of(status, "code"); code >= 400 && code < 600) failure.http = code;
  if (const std::string reason = text_in(status, "reason"); !reason.empty()) failure.reason = reason;
  failure.message = text_in(status, "message");
  take_details(member_in(status, "details"), failure);
  return failure;
}

bool Failure::temporary() const {
  switch (kind) {
    case Kind::kConnection:
    case Kind::kTimeout:
    case Kind::kMalformed:
    case Kind::kCredentials:
      return true;
    case Kind::kRefused:
      return http == 429 || http >= 500;
    case Kind::kNone:
    case Kind::kCancelled:
      return false;
  }
  return false;
}

std::string Failure::text() const {
  if (none()) return "ok";
  std::string line = reason;
  if (kind == Kind::kRefused && line.empty()) line = "status " + std::to_string(http);
  if (!message.empty() && message != line) line += (line.empty() ? "" : ": ") + message;
  if (line.empty()) line = kind == Kind::kCancelled ? "cancelled" : "no answer";
  return line;
}

Error Failure::as_error() const {
  switch (kind) {
    case Kind::kCredentials:
      return {ErrorCode::kUnauthenticated, text()};
    case Kind::kTimeout:
      return {ErrorCode::kDeadlineExceeded, text()};
    case Kind::kMalformed:
      return {ErrorCode::kDataLoss, text()};
    case Kind::kRefused:
      return {already_exists() ? ErrorCode::kAlreadyExists : code_of(http), text()};
    case Kind::kCancelled:
      return {ErrorCode::kCancelled, text()};
    case Kind::kNone:
    case Kind::kConnection:
      break;
  }
  return {ErrorCode::kUnavailable, text()};
}

}  // namespace edge::kube
