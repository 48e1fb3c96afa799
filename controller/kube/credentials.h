// The credentials of calls: tokens read again from their files, certificates renewed on disk, credential plugins called
// again at expiry.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/kube/config.h"
#include "controller/kube/exec_plugin.h"
#include "net/loop.h"
#include "net/task.h"
#include "net/tls/client.h"

namespace edge::kube {

/// Immutable; calls share ownership.
struct Presented {
  /// Complete lines: Authorization, Impersonate-User and -Group, as needed.
  std::string fields;
  /// Trusted CAs and the client certificate; the same object while neither changes. Null for plain HTTP.
  std::shared_ptr<const net::tls::ClientSettings> security;
};

/// For the loop's thread. Files are read on it: they are small, local, and read once a minute.
class Credentials {
 public:
  using Wall = std::function<std::chrono::system_clock::time_point()>;

  /// `terminal`: plugins may prompt the user. `wall`: the clock for expiry; null: the system clock.
  static Result<std::unique_ptr<Credentials>> make(net::Loop& loop, const Config& config, bool terminal,
                                                   Wall wall = {});

  struct Got {
    std::shared_ptr<const Presented> presented{};
    std::string error{};
    bool cancelled = false;
  };
  /// Completes at once, except when a plugin has to be run. Concurrent callers run it once.
  net::Task<Got> present(net::Waiter& waiter);
  /// Called when the server rejected the credentials (401): they are read or requested anew before the next call.
  /// \returns whether that may yield others.
  bool refused(const Presented& presented);

 private:
  Credentials(net::Loop& loop, const Config& config, bool terminal, Wall wall);
  net::Task<Got> renew(net::Waiter& waiter);
  bool is_fresh() const;
  bool exec_is_over() const;
  Status assemble();
  Result<std::string> token();
  Status take_certificate();

  net::Loop& loop_;
  const Cluster cluster_;
  const Identity identity_;
  const bool terminal_;
  const Wall wall_;

  std::shared_ptr<const net::tls::Authorities> authorities_;
  std::shared_ptr<const net::tls::ClientSettings> security_;
  /// What `security_` was made from.
  std::string certificate_, key_;
  std::string file_token_;
  std::optional<ExecCredential> given_;

  std::shared_ptr<const Presented> current_;
  net::Time fresh_until_ = net::Time::min();
  bool asking_ = false;
  std::vector<net::Waiter*> waiting_;
};

}  // namespace edge::kube
