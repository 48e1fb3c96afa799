// How the response of one request is changed on its way to the client.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/buffer.h"
#include "net/http1/head.h"
#include "net/http1/parse.h"
#include "program/filters.h"
#include "program/format/format.h"
#include "runtime/policy/added_fields.h"
#include "runtime/policy/error_pages.h"
#include "runtime/shape/spool.h"

namespace edge::runtime {

namespace cache {
class Transaction;
}

/// A response that is buffered until its upstream has ended (rule D7), or whose body a page replaces.
struct BufferedResponse {
  BufferedResponse(SpoolSpace& space, std::uint64_t limit) : space(space), limit(limit) {}

  /// Takes the page for a response of the backend with this status, where there is one. `text` is its head.
  /// \returns whether there is.
  bool replace(const net::http1::ResponseHead& response, std::string_view text);

  /// Starts over, for a retry.
  void begin(std::string_view text) {
    head.release();
    head.append(text);
    body = std::make_unique<Spool>(space, limit);
    trailers.clear();
    cut = false;
    page = nullptr;
  }

  SpoolSpace& space;
  std::uint64_t limit;
  net::Buffer head;
  std::unique_ptr<Spool> body;
  std::string trailers;
  /// The body exceeds the limit: the rest was not read.
  bool cut = false;
  /// Null: no page replaces bodies of backends.
  const ErrorPages* pages = nullptr;
  /// Whether a page is stated to be one (X-Edge-Reason).
  bool shows_reason = true;
  /// Whether responses are buffered that no page replaces.
  bool buffers = true;
  /// In the body's place; null: none.
  const ErrorPages::Page* page = nullptr;
};

struct ResponseRules {
  // From the request.
  net::http1::Method method = net::http1::Method::kOther;
  std::uint8_t minor = 1;
  bool keep_alive = false;
  /// Major version of HTTP of the backend's connection.
  std::uint8_t backend_http = 1;

  /// The host's section of the program, and the rule's filters in it.
  const program::SectionView* section = nullptr;
  std::span<const program::FilterRecord> filters;
  std::string_view request_id;
  /// Fields that policies add to the response.
  AddedFields added;

  /// The gateway's compression settings, null when it has none or the request forbids it; and the section that they are
  /// in.
  const program::CompressionRecord* compression = nullptr;
  const program::SectionView* compression_section = nullptr;
  /// The coding chosen for this client (rule D6).
  std::optional<program::ContentCoding> coding;
  /// Gets the response as received, and may answer in its place; null: no cache. Outlives the exchange.
  cache::Transaction* cache = nullptr;
  /// Set where the rule buffers responses, or pages replace errors.
  std::unique_ptr<BufferedResponse> buffered;
  /// The pages that would replace errors of the backend, did the client not accept `application/problem+json`.
  const ErrorPages* declined_pages = nullptr;

  /// Whether a response may be sent in another way than straight to the client.
  bool reshapes() const { return compression != nullptr || cache != nullptr || buffered != nullptr; }
  /// Returns whether the body of a response of the backend with this status is there because of the client's Accept.
  bool varies_by_accept(int status) const {
    return declined_pages != nullptr && declined_pages->find_for_backend(status) != nullptr;
  }
  /// Returns the filters' edits of the response's fields.
  program::FieldEdits edits() const { return {*section, filters, program::Side::kResponse, request_id}; }
  /// Returns the Connection field: `close`, `keep-alive` for a client of HTTP/1.0, or none.
  std::string_view connection_field(bool close) const { return close ? "close" : minor == 0 ? "keep-alive" : ""; }
};

}  // namespace edge::runtime
