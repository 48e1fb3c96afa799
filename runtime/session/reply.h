// Answers of the proxy itself: a status, a short reason word, one line of text.
#pragma once

#include <string>
#include <string_view>

#include "net/http1/head.h"
#include "net/http1/write.h"
#include "runtime/policy/added_fields.h"

namespace edge::runtime {

struct Reply {
  int status = 500;
  /// For X-Edge-Reason and the access log.
  std::string_view reason;
  std::string_view text;
  /// Redirects.
  std::string location;
  /// The message cannot be trusted to end where it seems to, or its body is not wanted.
  bool close = false;
  /// Further field lines, whole.
  std::string fields{};
};

struct ReplyContext {
  bool head_only = false;
  bool problem_json = false;
  /// Value of the Connection field, empty for none.
  std::string_view connection;
  std::string_view date;
  /// What policies give to the response; null for none.
  const AddedFields* added = nullptr;
};

/// Whether an Accept field takes application/problem+json (RFC 9457): named, and not with q=0.
bool accepts_problem(const net::http1::HeadFields& fields);

/// The whole response, body included.
void write_reply(const Reply& reply, const ReplyContext& context, net::http1::HeadWriter& out);

}  // namespace edge::runtime
