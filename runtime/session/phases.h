// The phases of a request that may answer it: admission (which rule matches, and the rule's policies that never wait)
// and preparing what the backend is sent.
#pragma once

#include <optional>
#include <span>

#include "base/field.h"
#include "runtime/policy/policy_request.h"
#include "runtime/session/arrival.h"
#include "runtime/session/reply.h"

namespace edge::runtime {

struct Exchange;
class Worker;

/// Returns what policies look at, valid as long as the head.
PolicyRequest policy_request_of(const Arrival& arrival, Worker& worker);
Reply reply_of(PolicyAnswer answer);

// A phase that returns a bool returns false when the request ends with the reply in `ending`.

/// Sets the request's id and begins its trace; both are taken from the head where a trusted proxy sent it.
void identify(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker);
/// Begins the request's access log entry, and answers the challenge of a CA (RFC 8555 §8.3) in plain HTTP, whatever the
/// listener's host names and redirects are: CAs follow no redirect to a name without a certificate. Not needed where
/// the program's `looks_first` is false.
bool look_first(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker,
                std::optional<Reply>& ending);
/// Finds the rule that matches the request (rules D1, D2, D5) with these fields: those of the head, and claims of a
/// token that was verified (program/claim_field.h). Replies 501 to TRACE, and 404 where there is no rule,
/// after the policies of the listener; with `exchange.authentication` some of them are left to the caller.
bool choose_rule(Exchange& exchange, const Arrival& arrival, std::span<const Field> fields, Worker& worker,
                 std::optional<Reply>& ending);
/// Runs the policies of the rule that never wait, in the order of rule D4; authentication, which may wait, is left to
/// the caller in `exchange.authentication`.
bool pass_policies(Exchange& exchange, const Arrival& arrival, Worker& worker, std::optional<Reply>& ending);

/// Adds to a reply from before a rule was looked for what the policies of `exchange.taken.listener` add to every one.
void decorate_without_route(Exchange& exchange, const Arrival& arrival, Worker& worker);

/// Adds what the handshake established of the client's certificate to what the backend and authorization services are
/// sent, where the request's listener requests certificates. Not needed where the program's `announces` is false.
void state_client_verification(Exchange& exchange, const ClientConnection& connection);

/// Chooses the backend and writes the head for it into the thread's scratch (rules D3, D11). A reply in `ending` is
/// sent instead.
bool prepare(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker,
             std::optional<Reply>& ending);

}  // namespace edge::runtime
