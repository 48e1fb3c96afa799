#include "runtime/session/reply.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"
#include "runtime/session/grpc.h"

namespace edge::runtime {
namespace {

using net::http1::HeadFields;
using net::http1::KnownField;

constexpr std::string_view kProblemType = "application/problem+json";

// `q=0`, `q=0.0` and so on (RFC 9110 §12.4.2).
bool refused(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = next_part(parameters, ';');
    if (parameter.size() < 3 || !equals_ignoring_case(parameter.substr(0, 2), "q=")) continue;
    return parameter.find_first_not_of("0.", 2) == std::string_view::npos;
  }
  return false;
}

bool accepts_problem(const HeadFields& fields) {
  if (!fields.has(KnownField::kAccept)) return false;
  const auto first = static_cast<std::size_t>(fields.index(KnownField::kAccept));
  const std::size_t end = fields.repeated(KnownField::kAccept) ? fields.size() : first + 1;
  for (std::size_t i = first; i < end; ++i) {
    if (fields.known(i) != KnownField::kAccept) continue;
    std::string_view rest = fields[i].value;
    if (rest.find('+') == std::string_view::npos) continue;
    while (!rest.empty()) {
      std::string_view range = next_part(rest, ',');
      if (equals_ignoring_case(next_part(range, ';'), kProblemType)) return !refused(range);
    }
  }
  return false;
}

// A response of trailers alone: the status of HTTP says only that gRPC was spoken. Texts need no percent-encoding.
void write_grpc_reply(const Reply& reply, const ReplyContext& context, net::http1::HeadWriter& out) {
  const std::string_view phrase = net::http1::status_phrase(reply.status);
  out.status_line(200, net::http1::status_phrase(200));
  out.field("Date", context.date);
  out.field("Content-Type", "application/grpc");
  out.field("Content-Length", std::uint64_t{0});
  out.field("grpc-status", static_cast<std::uint64_t>(grpc_status(reply.status)));
  out.field("grpc-message", reply.text.empty() ? phrase : reply.text);
}

/// Without what a policy adds in place of them, as it does of a backend's: of two, browsers believe neither. In gRPC's
/// form without Content-Type, which its own has taken the place of: the body that it was of is not sent.
void write_fields(const Reply& reply, const ReplyContext& context, net::http1::HeadWriter& out) {
  const bool grpc = context.form == ReplyForm::kGrpc;
  const AddedFields* const added = context.added;
  std::string_view lines = reply.fields;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size() - 2) + 2;
    const std::string_view line = lines.substr(0, end);
    const std::string_view name = line.substr(0, line.find(':'));
    lines.remove_prefix(end);
    if (grpc && equals_ignoring_case(name, "content-type")) continue;
    if (added == nullptr || !added->replaces(name)) out.lines(line);
  }
}

// Texts are ours, of plain ASCII without quotes: nothing in them needs escaping.
std::string problem_text(const Reply& reply, std::string_view phrase, bool shows_reason) {
  std::string body = R"({"type":"about:blank","title":")" + std::string(phrase) + R"(","status":)" +
                     std::to_string(reply.status) + R"(,"detail":")" + std::string(reply.text) + '"';
  if (shows_reason) body += R"(,"reason":")" + std::string(reply.reason) + '"';
  return body + "}\n";
}

}  // namespace

bool end_with(std::optional<Reply>& ending, Reply reply) {
  ending = std::move(reply);
  return false;
}

ReplyForm reply_form(const HeadFields& fields) {
  if (is_grpc(fields)) return ReplyForm::kGrpc;
  return accepts_problem(fields) ? ReplyForm::kProblem : ReplyForm::kText;
}

std::string_view body_of_program(const Reply& reply, const ReplyContext& context) {
  if (context.form == ReplyForm::kGrpc || reply.status == 204 || reply.status == 304) return {};
  if (!reply.program_body.empty()) return reply.program_body;
  const bool page = context.page != nullptr && !reply.own_body && reply.body.empty();
  return page && context.form == ReplyForm::kText ? context.page->body : std::string_view();
}

std::string_view write_reply(const Reply& reply, const ReplyContext& context, net::http1::HeadWriter& out,
                             std::string& text) {
  const std::string_view phrase = net::http1::status_phrase(reply.status);
  const bool grpc = context.form == ReplyForm::kGrpc;
  const bool bodiless = reply.status == 204 || reply.status == 304 || grpc;
  const bool own = reply.own_body || !reply.body.empty() || !reply.program_body.empty();
  const bool problem = context.form == ReplyForm::kProblem && !own;
  const bool page = context.page != nullptr && !own && !problem;
  std::string_view body;
  if (own) {
    body = reply.program_body.empty() ? std::string_view(reply.body) : reply.program_body;
  } else if (page) {
    body = context.page->body;
  } else if (problem) {
    body = text = problem_text(reply, phrase, context.shows_reason);
  } else {
    body = text = std::string(reply.text.empty() ? phrase : reply.text) + "\n";
  }
  if (grpc) {
    write_grpc_reply(reply, context, out);
  } else {
    out.status_line(reply.status, phrase);
    out.field("Date", context.date);
  }
  if (!bodiless) {
    if (!own) {
      out.field("Content-Type", page      ? context.page->content_type
                                : problem ? kProblemType
                                          : "text/plain; charset=utf-8");
    }
    out.field("Content-Length", static_cast<std::uint64_t>(body.size()));
  }
  if (!reply.location.empty()) out.field("Location", std::string_view(reply.location));
  if (context.shows_reason) out.field("X-Edge-Reason", reply.reason);
  write_fields(reply, context, out);
  if (context.added != nullptr) context.added->write(out, nullptr);
  if (!context.connection.empty()) out.field("Connection", context.connection);
  out.finish();
  return context.head_only || bodiless ? std::string_view() : body;
}

}  // namespace edge::runtime
