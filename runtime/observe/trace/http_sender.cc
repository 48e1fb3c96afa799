#include "runtime/observe/trace/http_sender.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <boost/asio/io_context.hpp>

#include "net/client/http_client.h"
#include "net/loop.h"
#include "net/tls/record_layer.h"
#include "runtime/observe/trace/otlp.h"

namespace edge::runtime::trace {
namespace {

using net::client::Answer;

/// Of an answer that says what was not taken.
constexpr std::size_t kMaxAnswer = std::size_t{64} << 10;

std::string lines_of(const SenderFields& fields) {
  std::string lines =
      "Content-Type: application/x-protobuf\r\nAccept: application/x-protobuf\r\nUser-Agent: edge/" EDGE_VERSION "\r\n";
  for (const auto& [name, value] : fields) lines.append(name).append(": ").append(value).append("\r\n");
  return lines;
}

/// Seconds (RFC 9110 §10.2.3); a date counts as not said.
std::chrono::nanoseconds retry_after(const Answer& answer) {
  const std::string_view text = answer.value("retry-after");
  std::uint32_t seconds = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(fault == std::errc() && end == text.data() + text.size() ? seconds : 0);
}

Sent sent_of(const Answer& answer) {
  Sent sent;
  if (!answer.ok()) {
    sent.why = std::string(net::client::fault_word(answer.fault));
    return sent;
  }
  if (answer.status >= 200 && answer.status < 300) {
    PartialSuccess success = read_answer(answer.body);
    return {Sent::How::kTaken, success.rejected, {}, std::move(success.why)};
  }
  sent.why = "status " + std::to_string(answer.status);
  const bool later = answer.status == 429 || (answer.status >= 502 && answer.status <= 504);
  sent.how = later ? Sent::How::kLater : Sent::How::kRefused;
  sent.after = retry_after(answer);
  return sent;
}

/// Sends over HTTP, in an event loop that runs in the caller's thread during the call.
class HttpSender final : public SpanSender {
 public:
  HttpSender(net::client::Url url, const SenderFields& fields, std::shared_ptr<const net::tls::Authorities> authorities)
      : url_(std::move(url)), lines_(lines_of(fields)), client_(loop_, resolver_, records_) {
    if (authorities != nullptr) client_.trust(std::move(authorities));
  }
  ~HttpSender() override { client_.close_idle(); }
  HttpSender(const HttpSender&) = delete;
  HttpSender& operator=(const HttpSender&) = delete;

  Sent send(const Message& message, Time until) override {
    Answer answer;
    loop_.post([&] { call(message, until, answer); });
    loop_.context().restart();
    loop_.run();
    return sent_of(answer);
  }
  void cancel() override {
    loop_.post([this] {
      if (calling_ != nullptr) calling_->cancel();
    });
  }

 private:
  net::Detached call(const Message& message, Time until, Answer& answer) {
    net::Waiter waiter(loop_);
    calling_ = &waiter;
    const auto left = std::max(until - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration{});
    // What a lost answer leaves open the exporter would send again in any case.
    Answer got = co_await client_.call(waiter, {.url = url_,
                                                .method = "POST",
                                                .fields = lines_,
                                                .body = message.head,
                                                .body_rest = message.spans,
                                                .until = loop_.now() + left,
                                                .max_body = kMaxAnswer,
                                                .repeatable = true});
    calling_ = nullptr;
    answer = std::move(got);
    loop_.stop();
  }

  const net::client::Url url_;
  const std::string lines_;
  net::Loop loop_;
  net::tls::RecordRoom records_;
  net::client::Resolver resolver_;
  net::client::HttpClient client_;
  /// Of the call that is under way.
  net::Waiter* calling_ = nullptr;
};

}  // namespace

std::unique_ptr<SpanSender> make_http_sender(net::client::Url url, const SenderFields& fields,
                                             std::shared_ptr<const net::tls::Authorities> authorities) {
  if (url.target == "/") url.target = kTracesPath;
  return std::make_unique<HttpSender>(std::move(url), fields, std::move(authorities));
}

}  // namespace edge::runtime::trace
