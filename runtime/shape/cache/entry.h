// One stored response: immutable, with ownership shared by the store and the requests that are answered from it.
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
  /// Status line and end-to-end fields, except those that each answer is given anew: Content-Length, Age.
  std::string head;
  std::string etag;
  std::string last_modified;
  Seconds date = 0;
  Freshness freshness;
  /// May still be growing where its size is known: everything but its bytes is then final.
  std::shared_ptr<const Body> body;

  Representation representation() const { return {{etag, last_modified}, date, body->size()}; }
  /// Returns the memory used by the entry and everything it owns.
  std::size_t bytes() const;
};

/// The line terminator of a stored head.
inline constexpr std::string_view kLineEnd = "\r\n";

/// Returns the next line of a stored head with its terminator, and removes it from `rest`.
std::string_view next_line(std::string_view& rest);

/// The request, its key and times, which determine selection and freshness.
struct CacheRequest {
  const Key& key;
  const Request& request;
  TtlLimits limits;
  Times times;
};

/// Makes an entry without its body from a received response; null when it may not be stored. `date` is the current time
/// as an IMF-fixdate, for a response without Date (RFC 9110 §6.6.1).
std::shared_ptr<Entry> make_entry(const CacheRequest& cache_request, const net::http1::ResponseHead& head,
                                  std::string_view date);

/// Returns whether a 304, or the response to a HEAD, refers to this entry (RFC 9111 §4.3.4, §4.3.5).
bool speaks_of(const Response& update, const net::http1::ResponseHead& head, const Entry& entry);
struct Renewal {
  /// What to do with the entry that was updated.
  enum class Fate : std::uint8_t {
    kReplaced,
    kStays,  ///< the update is for this request alone (no-store, Authorization, Cookie)
    kEnds,   ///< the update forbids storing, and is for this request alone
  };

  /// The updated entry, which shares the body and answers the request. Null when the merged fields make no valid head.
  std::shared_ptr<Entry> entry;
  Fate fate = Fate::kEnds;
};
/// Returns the entry with the fields of a 304 or of the response to a HEAD (RFC 9111 §3.2).
Renewal renew_entry(const Entry& entry, const CacheRequest& cache_request, const net::http1::ResponseHead& head,
                    std::string_view date);

}  // namespace edge::runtime::cache
