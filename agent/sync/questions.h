// Answers administrators' requests from the controller with the pages of the admin port.
#pragma once

#include <functional>

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

/// Sends Hello, then answers one request after the other until the stream ends. Blocks.
void answer_questions(grpc::ClientReaderWriter<v1::AnswersUp, v1::QuestionsDown>& stream, const v1::Hello& hello,
                      const daemon::AdminHandler& answer);

}  // namespace edge::agent
