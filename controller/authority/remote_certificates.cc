// Certificates of other clusters: of their controllers, and for traffic between clusters.
#include <algorithm>
#include <mutex>

#include "base/resource_id.h"
#include "controller/authority/authority_state.h"

namespace edge::controller {
namespace {

std::string remote_name(std::string_view name) { return std::string(kRemotePrefix) + std::string(name); }

/// \returns under what until when the certificates last that were issued to a cluster. `kept`: with kRemotePrefix.
std::string renewals_of(std::string_view kept) {
  return std::string(kRenewalsPrefix) + std::string(kept.substr(kRemotePrefix.size()));
}

Error no_cluster() {
  return {ErrorCode::kInvalidArgument, "a cluster's name is made of lower-case letters, digits and `-`, at most 63"};
}

}  // namespace

/// A first certificate is issued right after a revocation of its own; later ones are recorded when they are issued, and
/// by versions that did not do that, when they were shown.
Status Authority::Impl::revoke_cluster(std::string_view name) {
  const WallTime since =
      std::max(issued_so_far(name, name, kRemoteLifetime), issued_so_far(name, renewals_of(name), kRemoteLifetime));
  return revoke_until(name, std::chrono::ceil<std::chrono::seconds>(since));
}

/// The name becomes its key's when it is shown (take_remote_name).
Result<std::string> Authority::Impl::issue_for_cluster(Role role, std::string_view name, std::string_view request) {
  const std::string kept = remote_name(name);
  const WallTime time = now();
  const Validity validity = lasting(time, kRemoteLifetime);
  auto certificate = current().issue({role, std::string(name)}, validity, after_revocation(kept), request);
  if (!certificate) return certificate;
  if (Status status = note_until(renewals_of(kept), validity.until); !status) return status.error();
  return certificate;
}

/// A certificate gives the name to its key when it is shown, not when it is issued: one that was lost on its way leaves
/// the one before it in force. Whoever had a copy of a first certificate renewed, too, has one that lasts as long or
/// longer: it was issued before the rightful one was shown, and is of no use.
Status Authority::Impl::take_remote_name(const CertificateFacts& facts) {
  const std::string name = remote_name(facts.subject.name);
  const WallTime time = now();
  const auto taken = names.taken(name, facts.key, time);
  if (taken && (facts.validity.until <= *taken || facts.issued <= names.find(name)->shown)) {
    return Error{ErrorCode::kUnauthenticated,
                 "the certificate of " + facts.subject.name + " was replaced by a later one"};
  }
  if (!taken && names.has(name, time)) return {};
  // To a full second, as the status says it: what is issued next is later than what other controllers learn of this.
  const WallTime shown = std::chrono::ceil<std::chrono::seconds>(std::max(time, facts.issued));
  const Names::Owner owner{.key = facts.key, .until = facts.validity.until, .shown = shown};
  if (Status status = names.take(name, owner, time); !status) return status;
  names_changed = true;
  return write_names();
}

Result<KeyPair> Authority::invite_remote(std::string_view name, std::chrono::seconds lifetime) {
  if (!is_cluster_name(name)) return no_cluster();
  if (lifetime <= std::chrono::seconds(0) || lifetime > kMostInvitation) {
    return Error{ErrorCode::kInvalidArgument, "a first certificate lasts at least a second and at most 168h"};
  }
  const std::lock_guard lock(impl_->mutex);
  const std::string kept = remote_name(name);
  if (Status status = impl_->revoke_cluster(kept); !status) return status.error();
  return impl_->current().issue({Role::kRemote, std::string(name)}, lasting(impl_->now(), lifetime),
                                impl_->after_revocation(kept));
}

Result<std::string> Authority::sign_remote(std::string_view name, std::string_view request) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  return impl_->issue_for_cluster(Role::kRemote, name, request);
}

Result<std::string> Authority::sign_cluster(std::string_view name, std::string_view request) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  return impl_->issue_for_cluster(Role::kCluster, name, request);
}

Result<KeyPair> Authority::own_cluster(std::string_view name) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->current().issue({Role::kCluster, std::string(name)}, lasting(impl_->now(), kRemoteLifetime),
                                impl_->now());
}

WallTime Authority::remote_revoked_until(std::string_view name) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->revoked.since(remote_name(name)).value_or(WallTime());
}

std::optional<ShownCertificate> Authority::shown_remote(std::string_view name) const {
  const std::lock_guard lock(impl_->mutex);
  const Names::Owner* const owner = impl_->names.find(remote_name(name));
  if (owner == nullptr) return std::nullopt;
  return ShownCertificate{owner->key, owner->until, owner->shown};
}

Status Authority::learn_remote(std::string_view name, const ShownCertificate& shown) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  const std::string kept = remote_name(name);
  const auto since = impl_->revoked.since(kept);
  if (since && shown.shown <= *since) return {};
  const Names::Owner* const owner = impl_->names.find(kept);
  if (owner != nullptr && owner->until >= shown.until) return {};
  if (Status status = impl_->names.take(kept, {shown.key, shown.until, shown.shown}, impl_->now()); !status) {
    return status;
  }
  impl_->names_changed = true;
  return impl_->write_names();
}

Status Authority::revoke_remote(std::string_view name) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  return impl_->revoke_cluster(remote_name(name));
}

Status Authority::revoke_remote_until(std::string_view name, WallTime until) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  const std::string kept = remote_name(name);
  const auto since = impl_->revoked.since(kept);
  if (since && *since >= until) return {};
  return impl_->revoke_until(kept, until);
}

}  // namespace edge::controller
