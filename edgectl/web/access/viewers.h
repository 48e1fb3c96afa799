// Who looks: each viewer acts at the resource API with the rights that it gives to them. Without login there is one,
// with those of the kubeconfig; with it each is impersonated, and what they may list is kept for some seconds.
//
// For the loop's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/client.h"
#include "edgectl/web/access/reviews.h"
#include "edgectl/web/access/visible.h"
#include "edgectl/web/api/call_waiters.h"
#include "edgectl/web/login/identity.h"

namespace edge::edgectl::web {

class Viewer {
 public:
  Viewer(Identity identity, std::shared_ptr<kube::Client> client, bool login)
      : identity_(std::move(identity)), client_(std::move(client)), login_(login) {}

  const Identity& identity() const { return identity_; }
  /// Acts with the viewer's rights.
  kube::Client& client() const { return *client_; }
  /// Whether they have logged in; else they act as the kubeconfig's user.
  bool logged_in() const { return login_; }

 private:
  friend class Viewers;
  const Identity identity_;
  const std::shared_ptr<kube::Client> client_;
  const bool login_;
  std::shared_ptr<const Visible> visible_;
  net::Time visible_until_{};
  bool finding_ = false;
  std::vector<net::Waiter*> waiting_;
  net::Time seen_{};
};

/// What there is to list: kinds, and the namespaces with objects.
struct Listable {
  std::vector<const schemas::Kind*> kinds;
  std::set<std::string> spaces;
};

class Viewers {
 public:
  /// Viewers whose rights are kept; of more, those who have not looked for the longest time are forgotten.
  static constexpr std::size_t kMost = 64;

  /// `own`: the kubeconfig's client; outlives this. `listable` is called when a viewer's rights are looked for.
  Viewers(kube::Client& own, CallWaiters& waiters, std::function<Listable()> listable);

  /// Who looks without login.
  const std::shared_ptr<Viewer>& own() const { return own_; }
  /// kInvalidArgument: a name that cannot be sent.
  Result<std::shared_ptr<Viewer>> find(const Identity& identity);
  /// Returns what was found last; nothing is visible before. For streams, which cannot wait.
  static std::shared_ptr<const Visible> last_visible(const Viewer& viewer);
  /// Returns what a viewer may list, as of some seconds ago at most. One call for all who wait for it.
  net::Task<FoundVisible> visible(std::shared_ptr<Viewer> viewer);

 private:
  void forget_one();
  net::Task<FoundVisible> wait(std::shared_ptr<Viewer> viewer);

  kube::Client& own_client_;
  CallWaiters& waiters_;
  std::function<Listable()> listable_;
  std::shared_ptr<Viewer> own_;
  std::map<Identity, std::shared_ptr<Viewer>> all_;
};

}  // namespace edge::edgectl::web
