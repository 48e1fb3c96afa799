// One request and its response on the main path. Each phase gets the parts that it works on.
#pragma once

#include <memory>
#include <optional>

#include "runtime/observe/request_end.h"
#include "runtime/phase/request_id.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/policies.h"
#include "runtime/policy/request_edits.h"
#include "runtime/session/reply.h"
#include "runtime/session/thread_program.h"
#include "runtime/shape/cache/transaction.h"
#include "runtime/upstream/forward_request.h"

namespace edge::runtime {

/// What policies have found out and done for the request.
struct PolicyState : RequestEdits {
  /// Its places in concurrency limits: given up with the exchange, when the request ends or has become another
  /// protocol's connection that ends.
  std::optional<ConcurrencyPermit> permit;
  /// Of the policy that verified the token before a rule was chosen: it is not verified again where the rule has it
  /// too.
  std::optional<auth::AuthResult> token_result{};
};

struct Exchange {
  /// Keeps the program alive, which the other members point into.
  ProgramPin program;
  /// When the first byte of the request's head arrived.
  net::Time began{};
  RequestId id;
  RouteTaken taken;
  ReplyForm reply_form = ReplyForm::kText;
  /// Mirrored copies go to other backends.
  bool mirrored = false;
  /// Null where no policy authenticates the client.
  const PolicyChain* authentication = nullptr;
  /// The changes that authentication makes to the request's fields, and what limits hold; null: nothing of both.
  std::unique_ptr<PolicyState> identity;
  /// Null where the gateway has no cache.
  std::unique_ptr<cache::Transaction> cache;
  /// What is sent to the backend, and its response.
  ForwardRequest forward;

  const program::TreatmentRecord& treatment() const { return *forward.treatment; }
};

}  // namespace edge::runtime
