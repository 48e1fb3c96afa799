// One client connection, or one stream of it: reads heads, serves requests one after the other, ends. Has no buffer
// while it is idle.
#pragma once

#include <optional>
#include <span>

#include "net/client/http_client.h"
#include "net/http1/parse.h"
#include "net/loop.h"
#include "net/server/http1_conversation.h"
#include "net/task.h"
#include "runtime/observe/request_end.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/exchange_result.h"
#include "runtime/session/client_session.h"
#include "runtime/session/reply.h"
#include "runtime/shape/buffered_body.h"

namespace edge::runtime {

namespace auth {
struct ServiceCall;
}
struct Arrival;
struct Exchange;
struct ForwardFor;
class HeadOverWaits;
class Worker;

class Session final : public ClientSession, private net::server::Http1Conversation<Session> {
 public:
  using Kind = net::server::ConversationKind;

  Session(Worker& worker, ClientConnection connection, net::Transport transport, Kind kind);

  /// Runs until the connection ends, then has the worker free it.
  void start();
  /// Ends the session if it waits for a request, and has done so for a second; else its next response closes the
  /// connection.
  void drain() override;
  void cancel() override { waiter_.cancel(); }
  const ClientConnection* connection() const override { return &connection_; }

 private:
  friend class net::server::Http1Conversation<Session>;
  using Next = net::server::AfterRequest;

  // session.cc: hooks of the conversation
  static constexpr bool kDrainsAtOnce = false;
  net::Loop& loop();
  std::span<char> room();
  const net::http1::HeadLimits& head_limits() const;
  net::http1::RequestHead& head();
  bool draining() const;
  net::Duration head_time() const;
  net::Duration rest_time() const;
  net::Task<bool> flush();
  void become_http2();
  void forget();

  // serve.cc: the phases of a request
  net::Task<Next> serve();
  void begin(Exchange& exchange);
  net::Task<ExchangeResult> serve_cached(Exchange& exchange, const ForwardFor& on_behalf);

  // authenticate.cc
  /// Verifies the token on a listener whose rules match claims, and chooses the rule. Returns false as choose_rule
  /// does, or with a 503 where it cannot be told whether the token is valid.
  net::Task<bool> choose_rule_by_claims(Exchange& exchange, Arrival& arrival, std::optional<Reply>& ending);
  net::Task<bool> authenticate(Exchange& exchange, Arrival& arrival, std::optional<Reply>& ending);
  /// Copies the request's body for the policies that inspect it; the body is still forwarded.
  net::Task<bool> copy_body_for_policies(Exchange& exchange, HeadOverWaits& heads, std::string& body,
                                         std::optional<Reply>& ending);
  /// Copies the beginning of the body, and has the request filters look at it.
  net::Task<bool> inspect_body(Exchange& exchange, HeadOverWaits& heads, const Arrival& arrival,
                               std::optional<Reply>& ending);
  net::Task<bool> copy_body_into(Exchange& exchange, HeadOverWaits& heads, BodyPart part, std::uint64_t limit,
                                 std::string& body, std::optional<Reply>& ending);
  /// Calls the backend that a policy uses as a service.
  net::Task<net::client::Answer> call_service(const Exchange& exchange, std::uint64_t balance_key,
                                              auth::ServiceCall call);

  // answer.cc: the end of a request
  net::Task<Next> refuse_head();
  Next refuse(const Reply& reply, Exchange& exchange, const Arrival& arrival);
  Next conclude(const ExchangeResult& result, const Exchange& exchange);
  /// Sends a reply. `end`: the facts for log and metrics that are not in the reply.
  Next answer(const Reply& reply, const Exchange& exchange, BodyState body, RequestEnd end = {});
  void ended(const Exchange& exchange, const RequestEnd& end);

  Worker& worker_;
  ClientConnection connection_;
  /// How long the session waits between requests: as the last request's rule says, else the server's option.
  net::Duration rest_time_{};
};

}  // namespace edge::runtime
