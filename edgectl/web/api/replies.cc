#include "edgectl/web/api/replies.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
      return 400;
    case ErrorCode::kUnauthenticated:
    case ErrorCode::kPermissionDenied:
      return 403;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kAborted:
    case ErrorCode::kAlreadyExists:
      return 409;
    case ErrorCode::kUnimplemented:
      return 501;
    case ErrorCode::kUnavailable:
    case ErrorCode::kCancelled:
    case ErrorCode::kResourceExhausted:
      return 503;
    case ErrorCode::kDeadlineExceeded:
      return 504;
    case ErrorCode::kUnknown:
    case ErrorCode::kInternal:
    case ErrorCode::kDataLoss:
      break;
  }
  return 500;
}

}  // namespace

net::server::Reply json_reply(std::string json) {
  return {.content_type = "application/json", .body = std::move(json), .fields = {{"Cache-Control", "no-store"}}};
}

std::string error_text(std::string_view text) { return json_line(nlohmann::json{{"error", text}}); }

net::server::Reply error_reply(int status, std::string_view text) {
  net::server::Reply reply = json_reply(error_text(text));
  reply.status = status;
  return reply;
}

net::server::Reply error_reply(const Error& error) { return error_reply(status_of(error.code), error.text); }

}  // namespace edge::edgectl::web
