#include "edgectl/agents/web_client.h"

#include <memory>
#include <utility>

#include "net/client/http_client.h"
#include "net/tls/certificate.h"

namespace edge::edgectl {
namespace {

using net::client::Answer;
using net::client::CallFault;

/// Resources of one call; created per call.
struct Caller {
  net::Loop loop;
  net::client::Resolver resolver;
  net::tls::RecordRoom records;
  net::client::HttpClient client{loop, resolver, records};
  Answer answer;

  net::Detached ask(const net::client::Call& call) {
    net::Waiter waiter(loop);
    answer = co_await client.call(waiter, call);
    loop.stop();
  }
};

std::string why(const Answer& answer) {
  switch (answer.fault) {
    case CallFault::kTooLarge:
      return "the answer is too large";
    case CallFault::kTimeout:
      return "no answer in time";
    case CallFault::kMalformed:
      return "the answer is no HTTP";
    default:
      return answer.detail.empty() ? std::string(net::client::fault_word(answer.fault)) : answer.detail;
  }
}

}  // namespace

Result<WebAnswer> web_get(const std::string& url, const WebOptions& options) {
  const auto parsed = net::client::parse_url(url);
  if (!parsed) return Error{ErrorCode::kInvalidArgument, "`" + url + "`: " + parsed.error().text};
  net::ignore_sigpipe();
  auto caller = std::make_unique<Caller>();
  if (parsed->secure) {
    auto authorities = std::make_shared<net::tls::Authorities>();
    if (Status status = authorities->add_system(); !status) return status.error();
    caller->client.trust(std::move(authorities));
  }
  std::string fields = "Accept: " + options.accept + "\r\nUser-Agent: edgectl\r\n";
  if (!options.token.empty()) fields += "Authorization: Bearer " + options.token + "\r\n";
  const net::client::Call call{.url = *parsed,
                               .fields = fields,
                               .until = std::chrono::steady_clock::now() + options.time,
                               .max_body = options.max_body};
  caller->loop.post([&] { caller->ask(call); });
  caller->loop.run();
  caller->client.close_idle();
  Answer& answer = caller->answer;
  if (!answer.ok()) return Error{ErrorCode::kUnavailable, parsed->origin() + ": " + why(answer)};
  return WebAnswer{answer.status, std::string(answer.value("content-type")), std::move(answer.body)};
}

}  // namespace edge::edgectl
