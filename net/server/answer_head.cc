#include "net/server/answer_head.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "net/http1/char_tables.h"
#include "net/http1/chunked.h"
#include "net/http1/write.h"

namespace edge::net::server {
namespace {

bool frames_message(std::string_view name) {
  return equals_ignoring_case(name, "content-length") || equals_ignoring_case(name, "transfer-encoding") ||
         equals_ignoring_case(name, "connection");
}

void add(std::string& text, std::string_view name, std::string_view value) {
  if (name.empty() || !http1::all_of_class(name, http1::kTokenChar)) return;
  text.append(name).append(": ");
  const std::size_t begin = text.size();
  text.append(value);
  std::replace_if(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), http1::is_control, ' ');
  text.append("\r\n");
}

}  // namespace

std::string write_answer_head(const AnswerHead& head, const Reply& reply) {
  std::string text = "HTTP/1.1 " + std::to_string(head.status) + " ";
  text.append(http1::status_phrase(head.status)).append("\r\n");
  add(text, "Date", head.date);
  if (!reply.content_type.empty()) add(text, "Content-Type", reply.content_type);
  for (const auto& [name, value] : reply.fields) {
    if (!frames_message(name)) add(text, name, value);
  }
  if (head.body == AnswerHead::Body::kLength) add(text, "Content-Length", std::to_string(head.length));
  if (head.body == AnswerHead::Body::kChunked) add(text, "Transfer-Encoding", "chunked");
  if (!head.connection.empty()) add(text, "Connection", head.connection);
  return text.append("\r\n");
}

std::string write_chunked_body(const Reply& reply) {
  std::string text;
  if (!reply.body.empty()) {
    char line[http1::kMaxChunkHead];
    text.append(line, http1::write_chunk_head(reply.body.size(), line)).append(reply.body).append(http1::kChunkEnd);
  }
  text.append(http1::kLastChunkLine);
  for (const auto& [name, value] : reply.trailers) {
    if (!frames_message(name)) add(text, name, value);
  }
  return text.append("\r\n");
}

}  // namespace edge::net::server
