// Answers administrators' requests from the controller with the pages of the admin port.
#pragma once

#include <functional>
#include <string>

#include "daemon/admin.h"

namespace grpc {
template <class Write, class Read>
class ClientReaderWriter;
}  // namespace grpc

namespace edge::agent {

namespace v1 {
class AnswersUp;
class Hello;
class QuestionsDown;
}  // namespace v1

/// What the page of `target`, a path and perhaps a query, says in whole: 404 where there is none, 501 where it would be
/// waited for.
daemon::AdminReply reply_to(const std::string& method, const std::string& target, const daemon::AdminHandler& answer);

/// Says hello, then answers one question after the other until the stream ends. Blocks.
void answer_questions(grpc::ClientReaderWriter<v1::AnswersUp, v1::QuestionsDown>& stream, const v1::Hello& hello,
                      const daemon::AdminHandler& answer);

}  // namespace edge::agent
