// Pages in place of the bodies of backends' errors: the head that goes with one. docs/error-pages.md.
#include <algorithm>
#include <array>
#include <string>

#include "base/text/ascii.h"
#include "runtime/shape/heads.h"
#include "runtime/shape/response_rules.h"

namespace edge::runtime {
namespace {

/// What is said of the body that is not sent. Everything else is the backend's to say: WWW-Authenticate, Allow,
/// Retry-After, cookies.
constexpr std::array<std::string_view, 17> kOfBody = {
    "accept-ranges",     "content-digest",   "content-disposition",
    "content-encoding",  "content-language", "content-length",
    "content-location",  "content-md5",      "content-range",
    "content-type",      "digest",           "etag",
    "last-modified",     "repr-digest",      "trailer",
    "transfer-encoding", "x-edge-reason",
};

}  // namespace

bool BufferedResponse::replace(const net::http1::ResponseHead& response, std::string_view text) {
  page = pages == nullptr ? nullptr : pages->find_for_backend(response.status);
  if (page == nullptr) return false;
  std::string made(text.substr(0, text.find('\n') + 1));
  for (const Field& field : response.fields.all()) {
    const auto is_field = [&](std::string_view name) { return equals_ignoring_case(field.name, name); };
    // Of 416 it tells how long what was asked for is (RFC 9110 §15.5.17).
    const bool stays = response.status == 416 && is_field("content-range");
    if (!stays && std::ranges::any_of(kOfBody, is_field)) continue;
    made.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  made.append("Content-Type: ").append(page->content_type);
  made.append("\r\nContent-Length: ").append(std::to_string(page->body.size())).append("\r\n");
  // Who accepts application/problem+json gets what the backend says (RFC 9110 §12.5.5).
  made.append("Vary: Accept\r\n");
  if (shows_reason) made.append("X-Edge-Reason: ").append(kErrorPage).append("\r\n");
  made.append("\r\n");
  head.release();
  head.append(made);
  trailers.clear();
  cut = false;
  return true;
}

}  // namespace edge::runtime
