// Who sees a response as it came from its upstream: the cache, that fills an entry or answers in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "net/http1/head.h"

namespace edge::runtime {

class ResponseTee {
 public:
  enum class Take : std::uint8_t {
    kPass,     ///< nothing of it is of interest
    kCopy,     ///< `body` and `end` are wanted while it goes to the client
    kSwallow,  ///< it goes to nobody: somebody else answers the client when it has ended
  };

  virtual ~ResponseTee() = default;
  /// A final response's head, checked; `text` is the head as it came. Nothing of it was sent on.
  virtual Take head(const net::http1::ResponseHead& head, std::string_view text) = 0;
  /// A piece of the body, without its framing.
  virtual void body(std::string_view data) = 0;
  /// The body is complete. Not called for a response that broke off.
  virtual void end() = 0;
  /// `wake` is called when somebody begins to read along what is copied, from any thread, and perhaps late.
  virtual void tell_of_readers(std::function<void()> wake) = 0;
  /// Others read along: what comes is taken at once, not at the pace of this client. Asked when so many bytes are kept
  /// for it; false where there is no memory for them.
  virtual bool shared(std::size_t kept) = 0;
  /// The client has gone. True: others read along, and the rest is to come for them; else nobody will.
  virtual bool outlives_client() = 0;
  /// Further fields, as lines, for the head when it goes on to the client. Good until the next call.
  virtual std::string_view fields() = 0;
};

}  // namespace edge::runtime
