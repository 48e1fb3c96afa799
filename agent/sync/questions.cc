#include "agent/sync/questions.h"

#include <algorithm>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "schemas/agent.grpc.pb.h"

namespace edge::agent {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

/// One that waits for something belongs to the loop of the admin port.
daemon::AdminReply whole(daemon::AdminReply reply) {
  using Next = net::server::BodySource::Next;
  auto next = reply.stream_size ? Next::kMore : Next::kNothingYet;
  while (next == Next::kMore) next = reply.stream->next(reply.body);
  if (next != Next::kEnd) return daemon::text_reply(501, "is not answered whole; ask on the admin port\n");
  reply.stream.reset();
  return reply;
}

}  // namespace

daemon::AdminReply reply_to(const std::string& method, const std::string& target, const daemon::AdminHandler& answer) {
  daemon::AdminRequest request;
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.method = method;
  request.path = target.substr(0, mark);
  request.query = target.substr(std::min(mark + 1, target.size()));
  auto reply = answer ? answer(request) : std::nullopt;
  if (!reply) return daemon::text_reply(404, "not found\n");
  return reply->stream ? whole(std::move(*reply)) : std::move(*reply);
}

void answer_questions(grpc::ClientReaderWriter<v1::AnswersUp, v1::QuestionsDown>& stream, const v1::Hello& hello,
                      const daemon::AdminHandler& answer) {
  v1::AnswersUp up;
  *up.mutable_hello() = hello;
  if (!stream.Write(up)) return;
  v1::QuestionsDown question;
  while (stream.Read(&question)) {
    const daemon::AdminReply reply = reply_to(question.method(), question.target(), answer);
    std::size_t at = 0;
    do {
      const std::size_t size = std::min(kPiece, reply.body.size() - at);
      up.Clear();
      v1::AnswerPart& part = *up.mutable_part();
      part.set_question(question.question());
      if (at == 0) {
        part.set_status(static_cast<std::uint32_t>(reply.status));
        part.set_content_type(reply.content_type);
      }
      part.set_bytes(reply.body.data() + at, size);
      at += size;
      part.set_last(at == reply.body.size());
      if (!stream.Write(up)) return;
    } while (at < reply.body.size());
  }
}

}  // namespace edge::agent
