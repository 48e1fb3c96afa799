#include "controller/admin_pages.h"

#include <algorithm>
#include <utility>

namespace edge::controller {

using daemon::AdminReply;
using daemon::AdminRequest;
using daemon::text_reply;

namespace {

bool is_get(const AdminRequest& request) { return request.method == "GET" || request.method == "HEAD"; }

}  // namespace

AdminPages::AdminPages(Log& log, daemon::AdminToken token, WriteMetrics metrics)
    : token_(std::move(token)), scrapes_([this, write = std::move(metrics)](metrics::Exposition& out) {
        if (const Controller* const controller = controller_) write(out, *controller);
      }) {
  daemon::add_log_pages(debug_pages_, log);
  debug_pages_.add({"/debug/stats", "GET", "the figures of /metrics, in text",
                    [this](const AdminRequest& request) { return scrapes_.answer_whole(request); }});
  debug_pages_.add(
      {"/debug/heap", "GET", "what the allocator says", [](const AdminRequest&) { return daemon::heap_figures(); }});
  debug_pages_.add({std::string(daemon::ProfilePage::kPath), "GET", "CPU profile for pprof: ?seconds=10, up to 60",
                    [](const AdminRequest&) { return text_reply(501, "takes time: ask the port itself\n"); }});
}

std::optional<AdminReply> AdminPages::answer(const AdminRequest& request) {
  if (daemon::is_debug_path(request.path)) return debug_pages_.answer(request);
  if (request.path == "/metrics") return scrapes_.answer_whole(request);
  if (request.path != "/healthz" && request.path != "/readyz") return std::nullopt;
  if (!is_get(request)) return text_reply(405, "only GET and HEAD\n");
  const Controller* const controller = controller_;
  const bool good = request.path == "/healthz" || (controller != nullptr && controller->ready());
  return good ? text_reply(200, "ok\n") : text_reply(503, "no program\n");
}

AgentAnswer AdminPages::answer(const AgentQuestion& question) {
  AdminRequest request;
  request.method = question.method;
  const std::size_t mark = std::min(question.target.find('?'), question.target.size());
  request.path = question.target.substr(0, mark);
  request.query = question.target.substr(std::min(mark + 1, question.target.size()));
  auto reply = answer(request);
  if (!reply || reply->stream) return {404, "text/plain", "not found\n"};
  return {reply->status, std::move(reply->content_type), std::move(reply->body)};
}

net::Task<AdminReply> AdminPages::attend(net::Loop& loop, const AdminRequest& request, bool local) {
  const bool debug = daemon::is_debug_path(request.path);
  const auto page = daemon::at_once([this, debug, local](const AdminRequest& asked) -> std::optional<AdminReply> {
    if (asked.path == "/metrics") return scrapes_.answer(asked);
    if (debug && !local) return text_reply(403, "only on a loopback address\n");
    auto refused = debug ? daemon::foreign(asked) : std::nullopt;
    if (debug && !refused) refused = token_.refuse(asked);
    return refused ? std::move(refused) : answer(asked);
  });
  const bool waits =
      local && request.path == daemon::ProfilePage::kPath && is_get(request) && !daemon::foreign(request);
  return waits ? profile_.answer(loop, request.query) : page(loop, request);
}

}  // namespace edge::controller
