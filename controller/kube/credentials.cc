#include "controller/kube/credentials.h"

#include <algorithm>

#include "base/os/file.h"
#include "base/text/base64.h"

namespace edge::kube {
namespace {

/// Files are looked at again after so long; Kubernetes renews tokens when a fifth of an hour is left of them.
constexpr net::Duration kReread = std::chrono::minutes(1);
/// A program has so long, or as long as a person needs for a login.
constexpr net::Duration kPatience = std::chrono::seconds(60);
constexpr net::Duration kHumanPatience = std::chrono::minutes(10);
/// What is as near to its end may end on the way.
constexpr std::chrono::seconds kMargin{10};
constexpr std::size_t kMaxToken = std::size_t{64} << 10;

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

/// A field's value (RFC 9110 §5.5): nothing that ends the line.
bool is_value(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

}  // namespace

Credentials::Credentials(net::Loop& loop, const Config& config, bool terminal, Wall wall)
    : loop_(loop),
      cluster_(config.cluster),
      identity_(config.identity),
      terminal_(terminal),
      wall_(wall ? std::move(wall) : Wall(std::chrono::system_clock::now)) {}

Result<std::unique_ptr<Credentials>> Credentials::make(net::Loop& loop, const Config& config, bool terminal,
                                                       Wall wall) {
  std::unique_ptr<Credentials> made(new Credentials(loop, config, terminal, std::move(wall)));
  if (config.cluster.server.secure && !config.cluster.unverified) {
    auto authorities = std::make_shared<net::tls::Authorities>();
    const std::string& pem = config.cluster.authorities;
    const Status added = pem.empty() ? authorities->add_system() : authorities->add(pem);
    if (!added.ok()) {
      return Error{ErrorCode::kInvalidArgument,
                   "certificate-authority of cluster " + config.cluster.name + ": " + added.error().text};
    }
    made->authorities_ = std::move(authorities);
  }
  bool plain = is_value(config.identity.impersonate);
  for (const std::string& group : config.identity.impersonate_groups) plain &= is_value(group);
  if (!plain) return Error{ErrorCode::kInvalidArgument, "as or as-groups has a character that no name has"};
  return made;
}

bool Credentials::refused(const Presented& presented) {
  const bool renewable = identity_.exec || !identity_.token_file.empty() || !identity_.certificate_file.empty();
  if (!renewable) return false;
  // Another call may have been quicker.
  if (current_ != nullptr && current_.get() == &presented) {
    fresh_until_ = net::Time::min();
    given_.reset();
  }
  return true;
}

net::Task<Credentials::Got> Credentials::present(net::Waiter& waiter) {
  if (is_fresh()) return Got{current_};
  return renew(waiter);
}

bool Credentials::is_fresh() const { return current_ != nullptr && loop_.now() < fresh_until_ && !exec_is_over(); }

bool Credentials::exec_is_over() const {
  if (!identity_.exec) return false;
  return !given_ || (given_->expires && wall_() + kMargin >= *given_->expires);
}

net::Task<Credentials::Got> Credentials::renew(net::Waiter& waiter) {
  while (asking_) {
    waiting_.push_back(&waiter);
    const net::Wake wake = co_await waiter.wait(net::kNever);
    std::erase(waiting_, &waiter);
    if (wake == net::Wake::kCancelled) co_return Got{.error = "cancelled", .cancelled = true};
    if (is_fresh()) co_return Got{current_};
  }
  if (exec_is_over()) {
    asking_ = true;
    const net::Time until = loop_.now() + (terminal_ ? kHumanPatience : kPatience);
    ExecOutcome outcome = co_await run_plugin(loop_, waiter, *identity_.exec,
                                              exec_info(*identity_.exec, cluster_, terminal_), terminal_, until);
    asking_ = false;
    for (net::Waiter* const other : waiting_) other->wake_later();
    if (!outcome.credential) co_return Got{.error = std::move(outcome.error), .cancelled = outcome.cancelled};
    given_ = std::move(outcome.credential);
  }
  const Status assembled = assemble();
  // What was good a minute ago is better than nothing: a file may be missing for a moment while it is replaced.
  if (!assembled.ok() && current_ == nullptr) co_return Got{.error = assembled.error().text};
  fresh_until_ = loop_.now() + kReread;
  co_return Got{current_};
}

Result<std::string> Credentials::token() {
  if (given_ && !given_->token.empty()) return given_->token;
  if (identity_.token_file.empty()) return identity_.token;
  Result<std::string> text = read_file(identity_.token_file, kMaxToken);
  if (text.ok()) {
    while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' ')) text->pop_back();
    if (text->empty() || !is_plain(*text)) {
      text = Error{ErrorCode::kInvalidArgument, identity_.token_file + " holds no token"};
    }
  }
  if (text.ok()) file_token_ = *text;
  if (!text.ok() && file_token_.empty() && !identity_.token.empty()) return identity_.token;
  if (!text.ok() && file_token_.empty()) return text.error();
  return file_token_;
}

Status Credentials::take_certificate() {
  std::string certificate = identity_.certificate;
  std::string key = identity_.key;
  if (!identity_.certificate_file.empty()) {
    Result<std::string> text = read_file(identity_.certificate_file, net::tls::kMaxPemBytes);
    if (!text.ok()) return text.error();
    certificate = std::move(*text);
  }
  if (!identity_.key_file.empty()) {
    Result<std::string> text = read_file(identity_.key_file, net::tls::kMaxPemBytes);
    if (!text.ok()) return text.error();
    key = std::move(*text);
  }
  if (given_ && !given_->certificate.empty()) {
    certificate = given_->certificate;
    key = given_->key;
  }
  if (security_ != nullptr && certificate == certificate_ && key == key_) return {};
  net::tls::ClientSettings settings{.server_name = cluster_.server_name,
                                    .names = {},
                                    .authorities = authorities_,
                                    .certificate = nullptr,
                                    .protocols = {},
                                    .unverified = cluster_.unverified};
  if (!certificate.empty()) {
    auto read = net::tls::Certificate::read(certificate, key);
    if (!read.ok()) return Error{read.error().code, "the client certificate: " + read.error().text};
    settings.certificate = std::move(*read);
  }
  security_ = std::make_shared<const net::tls::ClientSettings>(std::move(settings));
  certificate_ = std::move(certificate);
  key_ = std::move(key);
  return {};
}

Status Credentials::assemble() {
  if (cluster_.server.secure) {
    const Status taken = take_certificate();
    if (!taken.ok()) return taken;
  }
  Result<std::string> bearer = token();
  if (!bearer.ok()) return bearer.error();
  std::string fields;
  if (!bearer->empty()) {
    fields += "Authorization: Bearer " + *bearer + "\r\n";
  } else if (!identity_.username.empty()) {
    fields += "Authorization: Basic " + to_base64(identity_.username + ":" + identity_.password) + "\r\n";
  }
  if (!identity_.impersonate.empty()) fields += "Impersonate-User: " + identity_.impersonate + "\r\n";
  for (const std::string& group : identity_.impersonate_groups) fields += "Impersonate-Group: " + group + "\r\n";
  current_ = std::make_shared<const Presented>(Presented{.fields = std::move(fields), .security = security_});
  return {};
}

}  // namespace edge::kube
