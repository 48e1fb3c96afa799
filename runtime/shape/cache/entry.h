// One stored response: immutable, shared by those who answer from it and by the store, whoever lets go last.
#pragma once

#include <memory>
#include <string>

#include "net/http1/head.h"
#include "runtime/shape/cache/body.h"
#include "runtime/shape/cache/key.h"
#include "runtime/shape/cache/policy.h"
#include "runtime/shape/cache/precondition.h"

namespace edge::runtime::cache {

struct Entry {
  Key key;
  std::string selection;  ///< key.h
  std::uint16_t status = 0;
  /// Status line and end-to-end fields, less those that are made anew for each answer: Content-Length, Age.
  std::string head;
  std::string etag;
  std::string last_modified;
  Seconds date = 0;
  Freshness freshness;
  /// May still be growing, where its size was told: then all but its bytes is settled.
  std::shared_ptr<const Body> body;

  Representation representation() const { return {{etag, last_modified}, date, body->size()}; }
  /// Memory with all that belongs to it.
  std::size_t bytes() const;
};

/// What ends the lines of a stored head.
inline constexpr std::string_view kLineEnd = "\r\n";

/// The next line of a stored head, with its end; `rest` loses it.
std::string_view next_line(std::string_view& rest);

/// What was asked for: it settles selection and times.
struct CacheRequest {
  const Key& key;
  const Request& request;
  TtlLimits limits;
  Times times;
};

/// A stored response from one that has come, without its body; null when it may not be kept. `date` is the time as an
/// IMF-fixdate, for a response that has none (RFC 9110 §6.6.1).
std::shared_ptr<Entry> make_entry(const CacheRequest& cache_request, const net::http1::ResponseHead& head,
                                  std::string_view date);

/// Whether a 304, or the answer to a HEAD, speaks of this entry (RFC 9111 §4.3.4, §4.3.5).
bool speaks_of(const Response& update, const net::http1::ResponseHead& head, const Entry& entry);
struct Renewal {
  /// What becomes of the entry that was renewed.
  enum class Fate : std::uint8_t {
    kReplaced,
    kStays,  ///< this is for the one request, whose answers are its own (no-store, Authorization, Cookie)
    kEnds,   ///< what came forbids to keep it, and is for the one request
  };

  /// Shares the body: what the request is answered with. Null when the fields of both make no head.
  std::shared_ptr<Entry> entry;
  Fate fate = Fate::kEnds;
};
/// The entry with the fields of a 304 or a HEAD's answer (RFC 9111 §3.2).
Renewal renew_entry(const Entry& entry, const CacheRequest& cache_request, const net::http1::ResponseHead& head,
                    std::string_view date);

}  // namespace edge::runtime::cache
