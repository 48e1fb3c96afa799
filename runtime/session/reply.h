// The proxy's own answers: a status, a short reason word, one line of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http1/head.h"
#include "net/http1/write.h"
#include "runtime/policy/added_fields.h"
#include "runtime/policy/error_pages.h"

namespace edge::runtime {

struct Reply {
  int status = 500;
  /// For X-Edge-Reason and the access log.
  std::string_view reason;
  std::string_view text;
  /// Location, for redirects.
  std::string location;
  /// The connection is closed after it: the end of the request is uncertain, or its body is not wanted.
  bool close = false;
  /// Further field lines, each complete; those that a policy of the request adds itself are left out.
  std::string fields{};
  /// Replaces the text; its Content-Type is in `fields`.
  std::string body{};
  /// An empty body is sent as it is.
  bool own_body = false;
  /// Likewise, a body of the program.
  std::string_view program_body{};
};

/// Stores the reply that ends the request. \returns false: the request does not go on.
bool end_with(std::optional<Reply>& ending, Reply reply);

/// The format of an answer.
enum class ReplyForm : std::uint8_t {
  kText,
  kProblem,  ///< application/problem+json (RFC 9457)
  kGrpc,     ///< status 200 and `grpc-status`: gRPC clients look at nothing else
};

struct ReplyContext {
  bool head_only = false;
  ReplyForm form = ReplyForm::kText;
  /// Value of the Connection field, empty for none.
  std::string_view connection;
  std::string_view date;
  /// Whether X-Edge-Reason is sent.
  bool shows_reason = true;
  /// Fields that policies add to the response; null for none.
  const AddedFields* added = nullptr;
  /// The page in place of the reply's text; null for none.
  const ErrorPages::Page* page = nullptr;
};

/// Returns kGrpc for a gRPC call by its Content-Type; kProblem where Accept names that type, without q=0.
ReplyForm reply_form(const net::http1::HeadFields& fields);

/// Returns the body that the reply has of the program, its own or the context's page; empty: none.
std::string_view body_of_program(const Reply& reply, const ReplyContext& context);

/// Writes the head of the response. \returns the body that follows it, empty for none: in `reply`, the context's page
/// or `text`.
std::string_view write_reply(const Reply& reply, const ReplyContext& context, net::http1::HeadWriter& out,
                             std::string& text);

}  // namespace edge::runtime
