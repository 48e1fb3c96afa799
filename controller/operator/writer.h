// Writes what was rendered, where the API has something else: server-side apply by a field manager of its own, and no
// call where nothing differs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "controller/kube/client.h"
#include "controller/operator/followed.h"
#include "controller/operator/render/render.h"

namespace edge::cluster_operator {

/// Every function on the client's loop.
class Writer {
 public:
  Writer(kube::Client& client, const Followed& followed) : client_(client), followed_(followed) {}

  /// Applies it, which must outlive the call, where it is missing or differs. A kind that the API does not serve is
  /// passed over. The failure of the call, empty where there was none or it went well.
  net::Task<kube::Failure> apply(net::Waiter& waiter, const Rendered& rendered);
  /// What is not there is gone.
  net::Task<kube::Failure> remove(net::Waiter& waiter, std::string kind, std::string name_space, std::string name);
  /// Calls that change something, whether they went well or not.
  std::uint64_t writes() const { return writes_; }
  /// When to look again at what was passed over since the last call, because the informer has not shown the write to
  /// it; kNever: nothing was.
  net::Time take_unseen() { return std::exchange(unseen_until_, net::kNever); }

 private:
  /// What was applied last, until the informer has told of it.
  struct Applied {
    std::string hash;
    std::string before;  ///< version of the object that was there; empty: none
    net::Time until{};
    /// What the API made of it, by the fields that were applied: it may write them in another form.
    std::string form;
  };
  bool is_current(const Rendered& rendered, const nlohmann::json* live);

  kube::Client& client_;
  const Followed& followed_;
  std::map<std::string, Applied> applied_;  ///< by kind and key
  std::uint64_t writes_ = 0;
  net::Time unseen_until_ = net::kNever;
};

/// Of `live`, what `wanted` has fields for.
nlohmann::json projection(const nlohmann::json& live, const nlohmann::json& wanted);

}  // namespace edge::cluster_operator
