#include "controller/authority/succession.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "controller/authority/lifetimes.h"
#include "controller/authority/private_files.h"

namespace edge::controller {

Status Succession::make_current(WallTime now) {
  auto made = Issuer::create(lasting(now, kAuthorityLifetime));
  if (!made) return made.error();
  current_ = std::move(*made);
  return write_private(path("ca.pem"), current_->pem());
}

Status Succession::load(WallTime now, bool replace_early) {
  const auto ca = read_optional(path("ca.pem"));
  if (!ca) return ca.error();
  if (ca->empty()) {
    if (Status status = make_current(now); !status) return status;
  } else {
    auto read = Issuer::from_pem(*ca);
    if (!read) return Error{read.error().code, path("ca.pem") + ": " + read.error().text};
    current_ = std::move(*read);
    if (replace_early && now < current_->validity().from) {
      for (const char* file : {"ca-next.pem", "ca-previous.pem"}) {
        if (Status status = remove_private(path(file)); !status) return status;
      }
      if (Status status = make_current(now); !status) return status;
    }
  }
  const auto following = read_optional(path("ca-next.pem"));
  if (!following) return following.error();
  if (!following->empty()) {
    auto read = Issuer::from_pem(*following);
    if (!read) return Error{read.error().code, path("ca-next.pem") + ": " + read.error().text};
    next_ = std::move(*read);
  }
  const auto before = read_optional(path("ca-previous.pem"));
  if (!before) return before.error();
  previous_ = *before;
  return {};
}

Status Succession::write_roots() {
  roots_ = current_->certificate();
  if (next_) roots_ += next_->certificate();
  if (previous_ != current_->certificate()) roots_ += previous_;
  return keep_private(path("roots.pem"), roots_);
}

Status Succession::begin_next(WallTime now) {
  if (next_) return {};
  auto made = Issuer::create(lasting(now, kAuthorityLifetime));
  if (!made) return made.error();
  if (Status status = write_private(path("ca-next.pem"), made->pem()); !status) return status;
  next_ = std::move(*made);
  return write_roots();
}

Result<Succession::Step> Succession::follow(WallTime now) {
  const Validity own = current_->validity();
  Step step = Step::kTrust;
  Status status;
  if (!next_ && now >= own.from + (own.until - own.from) / 5 * 4) {
    status = begin_next(now);
  } else if (next_ && now >= next_->validity().from + kAgentLifetime) {
    step = Step::kIssuer;
    previous_ = current_->certificate();
    status = write_private(path("ca-previous.pem"), previous_);
    std::error_code error;
    if (status) std::filesystem::rename(path("ca-next.pem"), path("ca.pem"), error);
    if (error) status = Error{ErrorCode::kUnavailable, path("ca.pem") + ": " + error.message()};
    if (status) current_ = std::exchange(next_, std::nullopt);
    if (status) status = write_roots();
  } else if (!previous_.empty() && now >= own.from + 2 * kAgentLifetime) {
    // As far as it goes: it is read again by the next start, which removes it again.
    static_cast<void>(remove_private(path("ca-previous.pem")).ok());
    previous_.clear();
    status = write_roots();
  } else {
    return Step::kNone;
  }
  if (!status) return status.error();
  return step;
}

bool Succession::has_issued(std::string_view certificate) const {
  return current_->has_issued(certificate) || (next_ && next_->has_issued(certificate)) ||
         is_signed_by(certificate, previous_);
}

}  // namespace edge::controller
