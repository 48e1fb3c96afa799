#include "controller/trace_page.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace edge::controller {
namespace {

constexpr std::string_view kPrefix = "/traces";
/// Of an answer: a fourth of what a message of that port may have.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

}  // namespace

std::optional<AgentAnswer> trace_page(traces::TraceServer* store, const AgentQuestion& question) {
  std::string_view target = question.target;
  if (!target.starts_with(kPrefix) || !target.substr(kPrefix.size()).starts_with("/api/")) return std::nullopt;
  if (store == nullptr) return AgentAnswer{404, "text/plain", "no traces are kept here\n"};
  target.remove_prefix(kPrefix.size());
  const std::size_t mark = std::min(target.find('?'), target.size());
  net::server::Request request;
  request.method = question.method;
  request.path = target.substr(0, mark);
  request.query = target.substr(std::min(mark + 1, target.size()));
  net::server::Reply reply = store->ask(request);
  if (reply.body.size() > kMostBytes) return AgentAnswer{413, "text/plain", "more than can be told at once\n"};
  return AgentAnswer{reply.status, std::move(reply.content_type), std::move(reply.body)};
}

}  // namespace edge::controller
