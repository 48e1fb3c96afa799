// Requests of HTTP to answers of the Api: who asks, whether they may, and what of it the Api itself is asked. What
// comes in one turn of the loop is handed to the Api together, so that its writes wait for the disk once.
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

/// On the loop's thread. Lives until no request is under way.
class Front final : net::Deferred, net::TimerNode {
 public:
  /// Of large answers (lists) that clients have yet to take, together. Beyond it reading is refused with 429.
  static constexpr std::size_t kMaxHeld = std::size_t{512} << 20;

  Front(net::Loop& loop, Api& api, Credentials& credentials, Logger log, std::size_t max_held = kMaxHeld);

  Documents& documents() { return documents_; }
  /// Before the body is read: 401 and 403 need none.
  std::optional<net::server::Reply> admit(const net::server::Request& head);
  net::Task<net::server::Reply> answer(const net::server::Request& request);
  /// One of who was turned away: told to the log, unless there were many of late, which are told by their number.
  void refused(LogLevel level, const std::string& what, const std::function<LogFields()>& fields);
  /// A metav1.Status for what never reaches the Api.
  static net::server::Reply fault(int status, std::string_view text);

 private:
  /// A request that waits for the end of the turn.
  struct Pending {
    explicit Pending(net::Loop& loop) : waiter(loop) {}
    ApiRequest request;
    ApiReply reply;
    net::Waiter waiter;
    bool answered = false;
    std::shared_ptr<void> room{};  ///< of an answer that counts
  };

  /// As Api guards what it does: an exception of the JSON library is one request's fault, answered with 500.
  template <typename Work>
  std::optional<net::server::Reply> guarded(const Work& work) const;
  /// What the Api need not be asked; else its request is made ready for it.
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
  std::shared_ptr<std::size_t> held_ = std::make_shared<std::size_t>(0);  ///< bytes of large answers that are sent
  net::Time told_since_{};
  std::size_t told_ = 0;
  std::size_t untold_ = 0;
};

using net::server::decode_path;
using net::server::decode_query;

}  // namespace edge::resource_api::http
