#include "runtime/session/coded_reply.h"

#include <array>

#include "base/text/ascii.h"
#include "runtime/shape/compressible.h"
#include "runtime/shape/response_plan.h"

namespace edge::runtime {
namespace {

/// Empty: it failed.
std::string encoded(std::string_view body, Encoder& encoder) {
  std::string made;
  std::array<char, 4096> room;
  for (;;) {
    const Encoder::Step step = encoder.step(body, Encoder::Until::kEnd, room);
    if (step.failed) return {};
    made.append(room.data(), step.made);
    body.remove_prefix(step.taken);
    if (step.done) return made;
  }
}

/// The head with what the coding changes of it.
std::string head_of(std::string_view head, const net::http1::ResponseHead& parsed, const BodyChange& change,
                    std::string_view length) {
  std::string made(head.substr(0, head.find('\n') + 1));
  for (const Field& field : parsed.fields.all()) {
    if (!change.coding.empty() && equals_ignoring_case(field.name, "content-length")) continue;
    const bool strong = equals_ignoring_case(field.name, "etag") && field.value.starts_with('"');
    made.append(field.name).append(": ").append(strong && change.weak_validator ? "W/" : "");
    made.append(field.value).append("\r\n");
  }
  if (!change.coding.empty()) made.append("Content-Encoding: ").append(change.coding).append("\r\n");
  if (!length.empty()) made.append("Content-Length: ").append(length).append("\r\n");
  if (change.varies && !varies_by_encoding(parsed.fields)) made.append("Vary: Accept-Encoding\r\n");
  return made.append("\r\n");
}

}  // namespace

std::string_view CodedBodies::encode(std::string_view body, program::ContentCoding coding, Encoder& encoder,
                                     std::string& room) {
  const std::pair key(body.data(), coding);
  if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
  room = encoded(body, encoder);
  if (room.empty() || bytes_ + room.size() > kMostKept) return room;
  bytes_ += room.size();
  return kept_.emplace(key, std::move(room)).first->second;
}

bool code_reply(std::string_view head, std::string_view body, const ResponseRules& rules, const WorkerParts& worker,
                CodedBodies& bodies, CodedReply& coded) {
  net::http1::ResponseHead& parsed = worker.scratch.response;
  net::http1::ParseHint hint;
  const auto state = net::http1::parse_response(head, rules.method, worker.scratch.limits, hint, parsed).state;
  if (state != net::http1::ParseState::kComplete) return false;
  const ResponsePlan plan = plan_response(rules, parsed, declared_length(parsed), worker.encoders);
  if (!plan.change.varies) return false;
  if (plan.encoder != nullptr) {
    coded.body = bodies.encode(body, *rules.coding, *plan.encoder, coded.room);
    if (coded.body.empty()) return false;
  } else if (plan.change.coding.empty()) {
    coded.body = body;  // not for this client, or no encoder is free: it is told that others get another body
  }
  const std::string length = plan.encoder == nullptr ? std::string() : std::to_string(coded.body.size());
  coded.head = head_of(head, parsed, plan.change, length);
  return true;
}

}  // namespace edge::runtime
