// Answers of the proxy itself: a status, a short reason word, one line of text.
#pragma once

#include <cstdint>
#include <optional>
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
  /// In place of the text, as it is; its Content-Type stands in `fields`.
  std::string body{};
};

/// Puts the reply where the phases of a request leave the one that ends it. \returns false: the request does not go on.
bool end_with(std::optional<Reply>& ending, Reply reply);

/// As what an answer is understood.
enum class ReplyForm : std::uint8_t {
  kText,
  kProblem,  ///< application/problem+json (RFC 9457)
  kGrpc,     ///< status 200 and `grpc-status`: a call of gRPC looks at nothing else
};

struct ReplyContext {
  bool head_only = false;
  ReplyForm form = ReplyForm::kText;
  /// Value of the Connection field, empty for none.
  std::string_view connection;
  std::string_view date;
  /// Whether the answer tells its reason in X-Edge-Reason.
  bool shows_reason = true;
  /// What policies give to the response; null for none.
  const AddedFields* added = nullptr;
};

/// A call of gRPC by its Content-Type; a problem where an Accept field names it, and not with q=0.
ReplyForm reply_form(const net::http1::HeadFields& fields);

/// The whole response, body included.
void write_reply(const Reply& reply, const ReplyContext& context, net::http1::HeadWriter& out);

}  // namespace edge::runtime
