// Maps HTTP requests to the Api: authentication, authorization, conversion. Requests of one turn of the loop are passed
// to the Api together, so that their writes share one disk sync.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "controller/resource_api/api.h"
#include "controller/resource_api/http/access.h"
#include "controller/resource_api/http/credentials.h"
#include "controller/resource_api/http/documents.h"
#include "net/loop.h"
#include "net/server/http_server.h"
#include "net/server/target.h"

namespace edge::resource_api::http {

/// For the loop's thread. Must live until no request is in progress.
class Front final : net::Deferred, net::TimerNode {
 public:
  /// Limit in bytes of large responses (lists) that clients have not read yet, together. Beyond it reads get 429.
  static constexpr std::size_t kMaxHeld = std::size_t{512} << 20;

  Front(net::Loop& loop, Api& api, Credentials& credentials, Logger log, std::size_t max_held = kMaxHeld);

  Documents& documents() { return documents_; }
  /// Called before the body is read: 401 and 403 do not need it.
  std::optional<net::server::Reply> admit(const net::server::Request& head);
  net::Task<net::server::Reply> answer(const net::server::Request& request);
  /// Logs a rejected client, with a rate limit; suppressed ones are counted.
  void refused(LogLevel level, const std::string& what, const std::function<LogFields()>& fields);
  /// Logs a request that may have changed something, at level debug.
  void answered(const net::server::Request& request, int status) const;
  /// Returns a metav1.Status for a request that does not reach the Api.
  static net::server::Reply fault(int status, std::string_view text);

 private:
  /// A request that waits for the end of the turn.
  struct Pending {
    explicit Pending(net::Loop& loop) : waiter(loop) {}
    ApiRequest request;
    ApiReply reply;
    net::Waiter waiter;
    bool answered = false;
    std::shared_ptr<void> room{};  ///< of a response that counts against kMaxHeld
  };

  /// Runs `work` like the Api: an exception of the JSON library fails one request, with 500.
  template <typename Work>
  std::optional<net::server::Reply> guarded(const Work& work) const;
  /// Answers requests that do not need the Api; prepares others for it.
  static std::optional<net::server::Reply> answer_here(ApiRequest& request);
  void run_deferred() override;
  void answer_write(const std::vector<Pending*>& turn);
  void answer_read(Pending& pending);
  void expired() override { work(); }
  void work();
  std::optional<User> who_asks(const net::server::Request& head) const;
  std::function<bool()> still_known(const net::server::Request& head) const;
  void tell_refused(const net::server::Request& head, const Attributes& what, int status, std::string_view user);
  void count_refusals();

  net::Loop& loop_;
  Api& api_;
  Credentials& credentials_;
  Documents documents_;
  Logger log_;
  const std::size_t max_held_;
  std::vector<Pending*> pending_;
  std::shared_ptr<std::size_t> held_ = std::make_shared<std::size_t>(0);  ///< bytes of large responses being sent
  net::Time told_since_{};
  std::size_t told_ = 0;
  std::size_t untold_ = 0;
};

using net::server::decode_path;
using net::server::decode_query;

}  // namespace edge::resource_api::http
