#include "runtime/shape/cache/transaction.h"

#include <utility>

#include "base/text/ascii.h"

namespace edge::runtime::cache {
namespace {

using net::http1::BodyKind;
using net::http1::HeadFields;
using net::http1::KnownField;
using net::http1::Method;
using net::http1::ParseState;
using net::http1::ResponseHead;

/// Twice: for the answer, and for the variant of it, once it is known what it varies by.
constexpr std::uint8_t kMaxWaits = 2;
constexpr std::string_view kCacheName = "edge";

bool is_condition(std::string_view name) {
  return equals_ignoring_case(name, "if-none-match") || equals_ignoring_case(name, "if-modified-since") ||
         equals_ignoring_case(name, "if-range") || equals_ignoring_case(name, "range");
}

}  // namespace

Transaction::Transaction(std::shared_ptr<Cache> cache, const TtlLimits& limits, const CacheContext& context,
                         std::function<Now()> clock, Key key, bool identified)
    : cache_(std::move(cache)),
      limits_(limits),
      context_(context),
      clock_(std::move(clock)),
      key_(std::move(key)),
      identified_(identified) {}

Transaction::~Transaction() {
  abandon();
  release_fill();
  if (reading_ != nullptr) reading_->end_reading();
  if (lent_ != 0) cache_->release(lent_);
}

void Transaction::keep() {
  parsed_ = false;
  if (head_.data() == kept_.data()) return;
  kept_ = head_;
  head_ = kept_;
}

// Parsed anew after each wait: a parsed head is large, and its place is the thread's.
Request Transaction::request() {
  if (!parsed_ && !parse()) {
    context_.request = {};
    Request none;
    none.fields = &context_.request.fields;
    return none;
  }
  Request request = read_request(context_.request.method, context_.request.fields);
  request.authorized = request.authorized || identified_;
  return request;
}

bool Transaction::parse() {
  net::http1::ParseHint hint;
  net::http1::HeadLimits limits = context_.limits;
  // Our own additions may have made it longer than what is taken from a client.
  limits.max_bytes = limits.max_target = head_.size();
  limits.max_fields = HeadFields::kMax;
  return parse_request(head_, limits, hint, context_.request).state == ParseState::kComplete;
}

Transaction::Plan Transaction::look_up(std::string_view head) {
  head_ = head;
  parsed_ = parse();
  const Request request = this->request();
  const Seconds now = clock_().seconds;
  times_.request = now;
  if (request.method != Method::kGet && request.method != Method::kHead) {
    forwarded_ = Forwarded::kMethod;
    return Plan::kForward;
  }
  // A body may mean anything; conditions on the state of the origin are its own to judge (RFC 9111 §4.3.2).
  if (request.guarded || request.overridden || context_.request.body.kind != BodyKind::kNone ||
      context_.request.upgrade) {
    forwarded_ = Forwarded::kBypass;
    return Plan::kForward;
  }
  Store::Found found = cache_->store().find(key_, *request.fields);
  found_ = std::move(found.entry);
  sibling_ = std::move(found.sibling);
  if (found_ != nullptr) {
    const Use use = choose_use(found_->freshness, request, now);
    if (use != Use::kValidate) {
      forwarded_ = Forwarded::kNot;
      stale_ = use != Use::kFresh;
      refreshable_ = use == Use::kStaleWhileRevalidate;
      (stale_ ? context_.counts.stale_hits : context_.counts.hits).add();
      return Plan::kReuse;
    }
    forwarded_ = found_->freshness.fresh(now) ? Forwarded::kRequest : Forwarded::kStale;
  } else {
    forwarded_ = sibling_ != nullptr ? Forwarded::kVaryMiss : Forwarded::kUriMiss;
  }
  if (request.directives.only_if_cached) {
    context_.counts.misses.add();
    return Plan::kRefuse;
  }
  // Nothing of what comes may be kept: it is nobody's but this client's.
  if (request.directives.no_store) {
    found_ = nullptr;
    return Plan::kForward;
  }
  // Only a whole answer to a GET fills. A part is fetched as it was asked for, unless the whole can be validated.
  if (request.method == Method::kHead) return Plan::kForward;
  if (request.range.here() && (found_ == nullptr || !found_->representation().validators.any())) return Plan::kForward;
  return Plan::kFetch;
}

// Variants are fetched side by side, as soon as it is known what the answer varies by.
std::string Transaction::fill_id(const Request& request, const Entry* sibling) const {
  std::string id = key_.target + '\n' + key_.way;
  if (sibling != nullptr) id += reselect(sibling->selection, *request.fields);
  return id;
}

Transaction::Plan Transaction::fetch(const std::function<void()>& wake) {
  const Request request = this->request();
  // Who wants what comes from the origin has no use for what others asked before.
  const bool joins = !request.directives.no_cache;
  const auto sibling = [&] { return found_ != nullptr ? found_.get() : sibling_.get(); };
  const auto join = [&](Fills::For what, bool waits) {
    return cache_->fills().join(fill_id(request, sibling()), key_.target, times_.request, what,
                                joins && waits ? wake : std::function<void()>());
  };
  const auto may_wait = [&] { return waits_ < kMaxWaits && (waits_ == 0 || sibling() != nullptr); };
  const Fills::For wanted = joins ? Fills::For::kBeginning : Fills::For::kEnd;
  Fills::Joined fill = join(wanted, may_wait());
  // Of another variant: that of ours has a fill of its own, now that it is known what the answer varies by.
  if (fill.role == Fills::Role::kReads && !selects(fill.growing->selection, *request.fields)) {
    sibling_ = fill.growing;
    found_ = nullptr;
    forwarded_ = Forwarded::kVaryMiss;
    fill = join(wanted, may_wait());
  }
  if (fill.role == Fills::Role::kReads) {
    if (reads(fill, request)) return Plan::kReuse;
    // It has begun, and is of use when it is stored: the same wait goes on.
    fill = join(Fills::For::kEnd, true);
    if (fill.role == Fills::Role::kWaits && waits_ != 0) return Plan::kWait;
  }
  if (fill.role == Fills::Role::kWaits) {
    collapse();
    return Plan::kWait;
  }
  if (fill.role == Fills::Role::kLeader) {
    fill_ = std::move(fill.fill);
    // The one before may have stored the answer after we had looked.
    if (const Plan again = look_up(); again != Plan::kFetch) {
      release_fill();
      return again;
    }
  }
  if (found_ != nullptr && found_->representation().validators.any()) make_conditional();
  return Plan::kForward;
}

void Transaction::collapse() {
  if (waits_++ != 0) return;
  missed_ = forwarded_;
  context_.counts.collapsed.add();
}

// Answers from what another request fetches, while it comes.
bool Transaction::reads(const Fills::Joined& fill, const Request& request) {
  const Seconds now = clock_().seconds;
  if (!selects(fill.growing->selection, *request.fields)) return false;
  if (choose_use(fill.growing->freshness, request, now) != Use::kFresh || !fill.fill->begin_reading()) return false;
  collapse();
  context_.counts.hits.add();
  reading_ = fill.fill;
  found_ = fill.growing;
  stale_ = refreshable_ = false;
  return true;
}

// The request with our validators in place of the client's conditions, which are answered from what comes of it
// (RFC 9111 §4.3.1).
void Transaction::make_conditional() {
  keep();
  const HeadFields& fields = *request().fields;
  validating_ = true;
  conditional_.reserve(head_.size() + 128);
  conditional_ = head_.substr(0, head_.find("\r\n") + 2);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!is_condition(fields[i].name)) conditional_ += fields.lines(i, i + 1);
  }
  if (!found_->etag.empty()) conditional_.append("If-None-Match: ").append(found_->etag).append("\r\n");
  if (!found_->last_modified.empty()) {
    conditional_.append("If-Modified-Since: ").append(found_->last_modified).append("\r\n");
  }
  conditional_ += "\r\n";
}

void Transaction::forget_conditions() {
  conditional_.clear();
  validating_ = false;
}

std::unique_ptr<Transaction> Transaction::refresh() {
  if (!refreshable_) return nullptr;
  const Request request = this->request();
  if (request.method != Method::kGet || request.directives.no_store) return nullptr;
  Fills::Joined joined =
      cache_->fills().join(fill_id(request, found_.get()), key_.target, times_.request, Fills::For::kEnd, nullptr);
  if (joined.role != Fills::Role::kLeader) return nullptr;
  // Its fetch begins at once, in the scratch that this one's head lies in.
  keep();
  return std::unique_ptr<Transaction>(new Transaction(*this, std::move(joined.fill)));
}

// What `refresh` makes: the same request, already looked up.
Transaction::Transaction(const Transaction& stale, std::shared_ptr<Fill> fill)
    : cache_(stale.cache_),
      limits_(stale.limits_),
      context_(stale.context_),
      clock_(stale.clock_),
      key_(stale.key_),
      head_(stale.head_),
      identified_(stale.identified_),
      client_gone_(true),
      found_(stale.found_),
      forwarded_(Forwarded::kStale),
      times_(stale.times_),
      fill_(std::move(fill)) {
  keep();
  make_conditional();
}

// ---- The response -------------------------------------------------------------------------------------------------

Transaction::Take Transaction::head(const ResponseHead& response, std::string_view) {
  // Of a try before, of which nothing was sent on.
  abandon();
  upstream_status_ = response.status;
  times_.response = clock_().seconds;
  const Request request = this->request();
  if (forwarded_ == Forwarded::kBypass || forwarded_ == Forwarded::kMethod) {
    if (invalidates(request.method, response.status)) invalidate(response);
    return Take::kPass;
  }
  if (found_ != nullptr) {
    const Take take = validated(response, request);
    if (take == Take::kSwallow) return take;
  }
  return fill(response, request);
}

// Something was stored, and this is what the origin says of it now (RFC 9111 §4.3.3).
Transaction::Take Transaction::validated(const ResponseHead& response, const Request& request) {
  const Response facts = read_response(response.status, response.fields, times_.response);
  const bool of_it = speaks_of(facts, response, *found_);
  if (request.method == Method::kHead) {
    // §4.3.5: what a GET would have got is what is stored, or that is of the past.
    if (response.status >= 500) return Take::kPass;
    if (of_it) {
      renew(response, request);
    } else if (response.status != 304) {
      outdated(request);
    }
    return Take::kPass;
  }
  if (response.status == 304 && validating_) {
    mismatched_ = !of_it;
    reuse_ = of_it;
    if (of_it) {
      renew(response, request);
    } else {
      cache_->store().erase(*found_);
    }
    release_fill();
    return Take::kSwallow;
  }
  if (is_error(response.status) && usable_on_error(found_->freshness, request, times_.response)) {
    reuse_ = stale_ = true;
    return Take::kSwallow;
  }
  // Another answer takes its place, or makes clear that it is of the past; an error of the origin does neither.
  if (response.status < 500 && response.status != 304) outdated(request);
  return Take::kPass;
}

void Transaction::renew(const ResponseHead& response, const Request& request) {
  const Renewal renewal = renew_entry(*found_, cache_request(request), response, clock_().date);
  if (renewal.entry == nullptr || !deliverable(*renewal.entry)) {
    cache_->store().erase(*found_);
    return;
  }
  // In the place of what is there: what was removed meanwhile does not come back.
  if (renewal.fate == Renewal::Fate::kReplaced) cache_->store().replace(*found_, renewal.entry);
  if (renewal.fate == Renewal::Fate::kEnds) cache_->store().erase(*found_);
  // The client whom the 304 is for gets its fields in any case: a cookie may be among them.
  found_ = renewal.entry;
}

// An answer that is one client's own says nothing of what others would get.
void Transaction::outdated(const Request& request) {
  if (!request.authorized && !request.directives.no_store) cache_->store().erase(*found_);
}

// Heads are delivered as if they came from an upstream, which is held to the same limits.
bool Transaction::deliverable(const Entry& entry) const {
  static constexpr std::size_t kAddedFields = 3;
  static constexpr std::size_t kAddedBytes = 256;
  std::size_t lines = 0;
  for (const char c : entry.head) lines += c == '\n' ? 1 : 0;
  return lines + kAddedFields <= context_.limits.max_fields &&
         entry.head.size() + kAddedBytes <= context_.limits.max_bytes;
}

Transaction::Take Transaction::fill(const ResponseHead& response, const Request& request) {
  if (fill_ == nullptr) return Take::kPass;
  incoming_ = make_entry(cache_request(request), response, clock_().date);
  if (incoming_ == nullptr || !deliverable(*incoming_) || !begin_filling(response)) {
    incoming_ = nullptr;
    // A 304 is for the conditions of this one client, and says nothing of what others would get.
    if (response.status != 304) fill_->pass(times_.response);
    release_fill();
    return Take::kPass;
  }
  is_storing_ = true;
  return Take::kCopy;
}

// Only what is sure to be kept may be read by others while it comes: its size is told, and there is room for it.
bool Transaction::begin_filling(const ResponseHead& response) {
  const bool reported = response.body.kind != BodyKind::kChunked && response.body.kind != BodyKind::kUntilClose;
  const std::uint64_t size = reported ? response.body.length : 0;
  if (size > cache_->sizes().max_entry_bytes || !cache_->reserve(static_cast<std::size_t>(size))) return false;
  reserved_ = static_cast<std::size_t>(size);
  incoming_body_ = reported ? std::make_shared<Body>(size) : std::make_shared<Body>();
  incoming_->body = incoming_body_;
  if (reported && may_share_) fill_->publish(incoming_);
  return true;
}

void Transaction::body(std::string_view data) {
  if (incoming_ == nullptr) return;
  const std::uint64_t size = incoming_body_->here() + data.size();
  const std::size_t more = size > reserved_ ? static_cast<std::size_t>(size) - reserved_ : 0;
  if (size > cache_->sizes().max_entry_bytes || (more != 0 && !cache_->reserve(more))) {
    abandon();
    fill_->pass(clock_().seconds);
    release_fill();
    return;
  }
  reserved_ += more;
  incoming_body_->append(data);
  if (fill_->is_read()) fill_->progress();
}

bool Transaction::shared(std::size_t kept) {
  static constexpr std::size_t kStep = std::size_t{256} * 1024;
  if (fill_ == nullptr || !fill_->is_read()) return false;
  if (kept <= lent_) return true;
  const std::size_t more = kept - lent_ + kStep;
  if (!cache_->reserve(more)) return false;
  lent_ += more;
  return true;
}

void Transaction::end() {
  if (incoming_ == nullptr) return;
  incoming_body_->close();
  incoming_body_ = nullptr;
  fill_->progress();
  const std::shared_ptr<const Entry> entry = std::exchange(incoming_, nullptr);
  cache_->release(std::exchange(reserved_, 0));
  const bool stored = cache_->store().insert(entry);
  // Asked after it was put in: who changes the target says so first, and then looks for what is stored.
  if (stored && fill_->doomed()) {
    cache_->store().erase(*entry);
    context_.counts.abandoned.add();
  } else if (stored) {
    context_.counts.stored.add();
  }
  release_fill();
}

void Transaction::abandon() {
  if (incoming_ == nullptr) return;
  incoming_ = nullptr;
  // What others read of it breaks off for them, too.
  fill_->withdraw();
  std::exchange(incoming_body_, nullptr)->break_off();
  fill_->progress();
  cache_->release(std::exchange(reserved_, 0));
  context_.counts.abandoned.add();
}

void Transaction::release_fill() {
  if (fill_ != nullptr) fill_->end();
  fill_ = nullptr;
}

// RFC 9111 §4.4: the target, and what Location and Content-Location name of the same origin.
void Transaction::invalidate(const ResponseHead& response) {
  std::size_t removed = cache_->invalidate(key_.target);
  const Target target = target_of(key_);
  for (std::size_t i = 0; i < response.fields.size(); ++i) {
    const bool names = response.fields.known(i) == KnownField::kLocation ||
                       equals_ignoring_case(response.fields[i].name, "content-location");
    if (!names) continue;
    const auto other = same_origin_target(target, response.fields[i].value);
    if (other && *other != key_.target) removed += cache_->invalidate(*other);
  }
  context_.counts.invalidated.add(removed);
}

Transaction::Next Transaction::forwarded(bool failed) {
  abandon();
  if (mismatched_) {
    mismatched_ = false;
    found_ = nullptr;
    forget_conditions();
    return Next::kForward;
  }
  if (failed && found_ != nullptr && usable_on_error(found_->freshness, request(), clock_().seconds)) {
    reuse_ = stale_ = true;
  }
  release_fill();
  Counts& counts = context_.counts;
  if (client_gone_) {
    counts.refreshed.add();
    return Next::kDone;
  }
  if (reuse_) {
    (stale_ ? counts.stale_hits : counts.revalidated).add();
    return Next::kReuse;
  }
  const bool asked_for = forwarded_ != Forwarded::kBypass && forwarded_ != Forwarded::kMethod;
  (asked_for ? counts.misses : counts.bypassed).add();
  return Next::kDone;
}

AnswerBody Transaction::write_head(net::http1::HeadWriter& out) {
  const Request request = this->request();
  return write_answer(*found_, request, clock_().seconds, out);
}

BodySource::More Transaction::await(std::uint64_t at, const std::function<void()>& wake) {
  return reading_ == nullptr ? BodySource::More::kNever : reading_->await(*found_->body, at, wake);
}

std::string Transaction::status() const {
  // Whether a request of our own went to the origin; one that shared another's would have gone for the reason that was
  // found first (RFC 9211 §2.6).
  const bool went = forwarded_ != Forwarded::kNot && reading_ == nullptr;
  std::string text(kCacheName);
  switch (went || waits_ == 0 ? forwarded_ : missed_) {
    case Forwarded::kNot:
      text += "; hit";
      break;
    case Forwarded::kBypass:
      text += "; fwd=bypass";
      break;
    case Forwarded::kMethod:
      text += "; fwd=method";
      break;
    case Forwarded::kUriMiss:
      text += "; fwd=uri-miss";
      break;
    case Forwarded::kVaryMiss:
      text += "; fwd=vary-miss";
      break;
    case Forwarded::kRequest:
      text += "; fwd=request";
      break;
    case Forwarded::kStale:
      text += "; fwd=stale";
      break;
  }
  if (upstream_status_ != 0 && reuse_) text += "; fwd-status=" + std::to_string(upstream_status_);
  if (!went || reuse_) text += "; ttl=" + std::to_string(found_->freshness.ttl(clock_().seconds));
  if (is_storing_) text += "; stored";
  if (waits_ != 0) text += went ? "; collapsed=?0" : "; collapsed";
  return text;
}

std::string_view Transaction::fields() {
  fields_ = "Cache-Status: " + status() + "\r\n";
  return fields_;
}

}  // namespace edge::runtime::cache
