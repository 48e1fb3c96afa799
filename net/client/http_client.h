// The client of one thread for calls that the proxy makes for itself: an authorization service, an identity provider,
// an API. HTTP/1.1 over TCP or TLS, pooled connections, one deadline a call, everything bounded.
//
// Redirects are not followed: the caller sees a 3xx. A connection that was idle and turns out to be dead is replaced
// once, silently, where the request may be sent twice (RFC 9110 §9.2.2).
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
  std::size_t max_waiting = 1024;    ///< calls that wait for one of them; further ones fail at once
  std::size_t max_idle = 16;         ///< to one origin
  Duration idle_time = std::chrono::seconds(30);
  Duration connect_time = std::chrono::seconds(5);  ///< to one address, TLS included
  std::size_t max_head = std::size_t{32} << 10;     ///< of an answer
  /// A peer that is gone without a word is noticed after about so long, on connections that wait too. 0: never.
  std::chrono::seconds notice_loss{};
  /// In place of a connection to the URL's host: gives a stream socket that is connected. May be empty.
  std::function<Result<Fd>()> dial{};
  /// Where no call goes, whatever name leads there; null: anywhere.
  std::shared_ptr<const std::vector<Cidr>> denied{};
};

/// Views and references must live until the call has ended.
struct Call {
  const Url& url;
  std::string_view method = "GET";
  /// In place of the URL's own; empty: that.
  std::string_view target{};
  /// Whole lines, each with its CRLF. Not Host, Content-Length, Connection, Transfer-Encoding: those are the client's.
  std::string_view fields{};
  std::string_view body{};
  /// Follows on it, so that who has a body in two pieces need not join them.
  std::string_view body_rest{};
  /// Of the whole call: name, connection, handshake, answer.
  Time until;
  /// An answer with more is a fault.
  std::size_t max_body = std::size_t{1} << 20;
  /// The server takes it twice as it takes it once, whatever the method says.
  bool repeatable = false;
  /// Whom it is made for: once this connection is broken the call ends, as cancelled. Null: it runs to its end.
  Channel* asker = nullptr;
  /// Whom to believe; null: the client's own.
  std::shared_ptr<const tls::Authorities> authorities{};
  /// In place of `authorities`: all of it, with a certificate of our own. Without a server name: the URL's host. The
  /// protocol is HTTP/1.1 whatever it says. Calls with the same object share connections.
  std::shared_ptr<const tls::ClientSettings> security{};
};

enum class CallFault : std::uint8_t {
  kNone,
  kName,     ///< the host's name leads to no address
  kDenied,   ///< it leads only to addresses where no call may go
  kConnect,  ///< no address could be connected to
  kTls,      ///< no handshake, or a certificate that is not to be believed
  kTooMany,  ///< connections and queue are full
  kTimeout,
  kClosed,     ///< closed or reset before the whole answer
  kMalformed,  ///< an answer that is not HTTP, or says something of its length that cannot be
  kTooLarge,   ///< its head or body is larger than allowed
  kCancelled,  ///< the waiter was: end at once
};
/// A short word for logs and metrics, e.g. `connect-failed`.
std::string_view fault_word(CallFault fault);

struct Answer {
  struct Field {
    std::string name;  ///< lower case
    std::string value;
  };

  CallFault fault = CallFault::kClosed;
  /// Without a fault. Never 1xx.
  int status = 0;
  /// Without those that are hop by hop.
  std::vector<Field> fields{};
  std::string body{};
  /// Of a fault, in words, without anything of the call's own.
  std::string detail{};

  bool ok() const { return fault == CallFault::kNone; }
  /// Of the first field of the name (lower case); empty when there is none.
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

/// An answer whose body is taken piece by piece, for as long as it goes on. What is not asked for stays with the
/// server: that is the back-pressure. Must end before the client does.
class AnswerStream {
 public:
  struct Piece {
    /// Good until the next read. Empty only at the end, or with a fault.
    std::string_view bytes{};
    /// The body is whole; these bytes were its last.
    bool end = false;
    /// kTimeout and kCancelled: nothing has come, and nothing is lost. After any other the stream is over.
    CallFault fault = CallFault::kNone;
    std::string detail{};
  };

  AnswerStream();
  AnswerStream(AnswerStream&&) noexcept;
  AnswerStream& operator=(AnswerStream&&) noexcept;
  /// Breaks the connection off when the body was not read to its end.
  ~AnswerStream();

  /// Its head; or why there is none, and then nothing may be read.
  const Answer& answer() const { return answer_; }
  Task<Piece> read(Waiter& waiter, Time until);

 private:
  friend class HttpClient;
  struct State;
  static AnswerStream failed(Answer answer);
  static AnswerStream whole(Answer answer);
  static AnswerStream begun(std::shared_ptr<Origin> origin, std::unique_ptr<Connection> connection, AnswerReader reader,
                            Buffer received);
  /// Gives the connection back, and the last of the body out.
  Piece over();

  Answer answer_;
  /// Without it the body is over, but for `rest_`.
  std::unique_ptr<State> state_;
  std::string rest_;
  /// What was given out.
  std::string last_;
};

/// Every function on the thread of `loop`.
class HttpClient {
 public:
  HttpClient(Loop& loop, Resolver& resolver, tls::RecordRoom& records, ClientOptions options = {});
  /// No call may be under way.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Whom calls over https believe that name nobody. Without: those calls fail with kTls.
  void trust(std::shared_ptr<const tls::Authorities> authorities);
  /// Reads of `call` are over at its first wait only for what `Call` owns: its views must go on living. Resumes nobody
  /// but the caller: others are woken at the end of the batch.
  Task<Answer> call(Waiter& waiter, Call call);
  /// The same until the head of the answer is there; `until` bounds that alone, and `max_body` nothing. No `asker`.
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
