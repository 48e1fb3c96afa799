// What a call shows of who we are: tokens that are read again from their files, certificates that are renewed on disk,
// programs that are asked when what they gave runs out.
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

/// Immutable; calls hold on to it while they last.
struct Presented {
  /// Whole lines: Authorization, Impersonate-User and -Group, where there are any.
  std::string fields;
  /// Whom to believe and our certificate; the same object for as long as neither changes. Null for plain HTTP.
  std::shared_ptr<const net::tls::ClientSettings> security;
};

/// Every function on the loop's thread. Files are read there: they are small, local, and read once a minute.
class Credentials {
 public:
  using Wall = std::function<std::chrono::system_clock::time_point()>;

  /// `terminal`: programs may ask the user. `wall`: what times of expiry are compared with; null: the system's.
  static Result<std::unique_ptr<Credentials>> make(net::Loop& loop, const Config& config, bool terminal,
                                                   Wall wall = {});

  struct Got {
    std::shared_ptr<const Presented> presented{};
    std::string error{};
    bool cancelled = false;
  };
  /// At once, but when a program has to be asked. Several callers ask it once.
  net::Task<Got> present(net::Waiter& waiter);
  /// The server did not accept it (401): everything is read or asked for anew before the next call.
  /// \returns whether something else may come of that.
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
  /// What `security_` was made of.
  std::string certificate_, key_;
  std::string file_token_;
  std::optional<ExecCredential> given_;

  std::shared_ptr<const Presented> current_;
  net::Time fresh_until_ = net::Time::min();
  bool asking_ = false;
  std::vector<net::Waiter*> waiting_;
};

}  // namespace edge::kube
