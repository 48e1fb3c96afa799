// The HTTP client of one thread for the proxy's own calls: an authorization service, an identity provider, an API.
// HTTP/1.1 over TCP or TLS, pooled connections, one deadline per call, everything bounded.
//
// Redirects are not followed: the caller gets the 3xx. A pooled connection that turns out to be dead is replaced once,
// silently, where the request may be sent twice (RFC 9110 §9.2.2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "net/buffer.h"
#include "net/client/resolver.h"
#include "net/client/url.h"
#include "net/counter.h"
#include "net/loop.h"
#include "net/socket.h"
#include "net/task.h"
#include "net/tls/client.h"
#include "net/tls/record_layer.h"

namespace edge::net::client {

struct ClientOptions {
  std::size_t max_connections = 64;  ///< to one origin, in use or idle
  std::size_t max_waiting = 1024;    ///< limit of queued calls; further ones fail at once
  std::size_t max_idle = 16;         ///< to one origin
  Duration idle_time = std::chrono::seconds(30);
  Duration connect_time = std::chrono::seconds(5);  ///< to one address, including TLS
  std::size_t max_head = std::size_t{32} << 10;     ///< of a response
  /// The time after which a vanished peer is detected, also on idle connections. 0: never.
  std::chrono::seconds notice_loss{};
  /// Replaces a connection to the URL's host: returns a connected stream socket. May be empty.
  std::function<Result<Fd>()> dial{};
  /// Addresses that calls may not go to, whatever name resolves to them; null: none.
  std::shared_ptr<const std::vector<Cidr>> denied{};
};

/// Views and references must stay valid until the call has ended.
struct Call {
  const Url& url;
  std::string_view method = "GET";
  /// Replaces the URL's target; empty: the URL's.
  std::string_view target{};
  /// Complete lines, each with its CRLF. Not Host, Content-Length, Connection, Transfer-Encoding, which the client
  /// sets.
  std::string_view fields{};
  std::string_view body{};
  /// Continues the body, so that a caller with two pieces need not join them.
  std::string_view body_rest{};
  /// For the whole call: resolution, connection, handshake, response.
  Time until;
  /// A larger response body is a fault.
  std::size_t max_body = std::size_t{1} << 20;
  /// The request is idempotent, whatever its method.
  bool repeatable = false;
  /// The connection that the call is made for: once it closes the call ends, as cancelled. Null: the call runs to its
  /// end.
  Channel* asker = nullptr;
  /// Trusted CAs; null: the client's own.
  std::shared_ptr<const tls::Authorities> authorities{};
  /// Replaces `authorities`: complete settings, with a client certificate. Without a server name: the URL's host. The
  /// protocol is HTTP/1.1 in any case. Calls with the same object share connections.
  std::shared_ptr<const tls::ClientSettings> security{};
};

enum class CallFault : std::uint8_t {
  kNone,
  kName,     ///< the host's name does not resolve
  kDenied,   ///< all of its addresses are denied
  kConnect,  ///< no address could be connected to
  kTls,      ///< the handshake failed, or the certificate is not trusted
  kTooMany,  ///< connections and queue are full
  kTimeout,
  kClosed,     ///< closed or reset before the complete response
  kMalformed,  ///< a response that is not HTTP, or has an invalid length
  kTooLarge,   ///< its head or body exceeds the limit
  kCancelled,  ///< the waiter was cancelled: end at once
};
/// A short word for logs and metrics, e.g. `connect-failed`.
std::string_view fault_word(CallFault fault);

struct Answer {
  struct Field {
    std::string name;  ///< lower case
    std::string value;
  };

  CallFault fault = CallFault::kClosed;
  /// Valid without a fault. Never 1xx.
  int status = 0;
  /// Without hop-by-hop fields.
  std::vector<Field> fields{};
  std::string body{};
  /// Describes a fault, without data of the call.
  std::string detail{};

  bool ok() const { return fault == CallFault::kNone; }
  /// Returns the value of the first field of the name (lower case); empty when there is none.
  std::string_view value(std::string_view name) const;
};

struct ClientCounts {
  Counter calls;
  Counter connects;
  Counter reused;
  Counter faults;
};

class AnswerReader;
class Connection;
class Origin;
struct Patience;
class Unsent;

/// A response whose body is read piece by piece, without an end in time. Unread data stays with the server: this is the
/// back-pressure. Must end before the client does.
class AnswerStream {
 public:
  struct Piece {
    /// Valid until the next read. Empty only at the end, or with a fault.
    std::string_view bytes{};
    /// The body is complete; these bytes were its last.
    bool end = false;
    /// kTimeout and kCancelled: no data arrived, and none is lost. After any other fault the stream is over.
    CallFault fault = CallFault::kNone;
    std::string detail{};
  };

  AnswerStream();
  AnswerStream(AnswerStream&&) noexcept;
  AnswerStream& operator=(AnswerStream&&) noexcept;
  /// Closes the connection when the body was not read to its end.
  ~AnswerStream();

  /// Returns the response's head; or the fault, and then nothing may be read.
  const Answer& answer() const { return answer_; }
  Task<Piece> read(Waiter& waiter, Time until);

 private:
  friend class HttpClient;
  struct State;
  static AnswerStream failed(Answer answer);
  static AnswerStream whole(Answer answer);
  static AnswerStream begun(std::shared_ptr<Origin> origin, std::unique_ptr<Connection> connection, AnswerReader reader,
                            Buffer received);
  /// Releases the connection, and returns the last of the body.
  Piece over();

  Answer answer_;
  /// Null: the body is over, except `rest_`.
  std::unique_ptr<State> state_;
  std::string rest_;
  /// The bytes returned last.
  std::string last_;
};

/// For the thread of `loop`.
class HttpClient {
 public:
  HttpClient(Loop& loop, Resolver& resolver, tls::RecordRoom& records, ClientOptions options = {});
  /// No call may be in progress.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sets the CAs for calls over https that name none. Without them those calls fail with kTls.
  void trust(std::shared_ptr<const tls::Authorities> authorities);
  /// Makes a call. Its views must stay valid until its end. Resumes no coroutine but the caller: others are woken at
  /// the end of the batch.
  Task<Answer> call(Waiter& waiter, Call call);
  /// The same until the response's head is received, which `until` limits; `max_body` does not apply. Without `asker`.
  Task<AnswerStream> open(Waiter& waiter, Call call);
  /// Closes every connection that is not in use.
  void close_idle();
  const ClientCounts& counts() const { return counts_; }

 private:
  struct State;
  enum class Extent : bool { kHead, kWhole };
  Task<bool> exchange(const Patience& patience, Channel& channel, Unsent unsent, AnswerReader& reader, Buffer& received,
                      Extent extent);

  std::unique_ptr<State> state_;
  ClientCounts counts_;
};

}  // namespace edge::net::client
