#include "runtime/session/accept/plain_http.h"

#include <string>

#include "net/byte_stream.h"
#include "runtime/session/worker.h"

namespace edge::runtime {

PlainHttp begins_as_http(std::string_view bytes) {
  constexpr std::size_t kLongest = 16;
  std::size_t size = 0;
  while (size < bytes.size() && size < kLongest && bytes[size] >= 'A' && bytes[size] <= 'Z') ++size;
  if (size == bytes.size()) return size < kLongest ? PlainHttp::kPerhaps : PlainHttp::kNo;
  return size > 0 && bytes[size] == ' ' ? PlainHttp::kYes : PlainHttp::kNo;
}

void refuse_plain_http(Worker& worker, int client, bool hides_reasons) {
  const std::string body = "This port speaks TLS: ask it by https.\n";
  const std::string answer =
      "HTTP/1.1 400 Bad Request\r\nDate: " + std::string(worker.date()) +
      "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
      (hides_reasons ? "" : "\r\nX-Edge-Reason: plain-http") + "\r\nConnection: close\r\n\r\n" + body;
  const iovec piece = net::piece(answer);
  (void)net::send(client, {&piece, 1});
  // What is still to be read would make the end a reset, which may take the answer with it.
  for (int rounds = 0; rounds < 4; ++rounds) {
    if (net::receive(client, worker.scratch().client()).kind != net::Transfer::Kind::kDone) break;
  }
}

}  // namespace edge::runtime
