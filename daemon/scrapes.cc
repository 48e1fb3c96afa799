#include "daemon/scrapes.h"

#include <algorithm>
#include <utility>

#include "net/server/gzip.h"

namespace edge::daemon {
namespace {

constexpr auto kSecond = std::chrono::seconds(1);
/// Of each second, for making texts.
constexpr auto kShare = std::chrono::milliseconds(100);
/// Given out in a second. Of the largest texts some, of most as many as anybody could want.
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
/// Texts that somebody has still to take: each who reads slowly may hold one of megabytes.
constexpr std::size_t kMostHeld = std::size_t{24} << 20;
constexpr std::size_t kPiece = std::size_t{64} << 10;

/// A text shared by several responses.
class SharedText final : public net::server::BodySource {
 public:
  explicit SharedText(std::shared_ptr<const std::string> text) : text_(std::move(text)) {}
  Next next(std::string& out) override {
    const std::string_view piece = std::string_view(*text_).substr(at_, kPiece);
    out.append(piece);
    at_ += piece.size();
    return at_ == text_->size() ? Next::kEnd : Next::kMore;
  }
  void on_ready(std::function<void()> /*ready*/) override {}

 private:
  std::shared_ptr<const std::string> text_;
  std::size_t at_ = 0;
};

AdminReply head_of(metrics::Format format) {
  AdminReply reply{.content_type = std::string(metrics::content_type(format))};
  reply.fields = {{"Vary", "Accept, Accept-Encoding"}};
  return reply;
}

AdminReply too_much() {
  AdminReply refused = text_reply(429, "scraped too often\n");
  refused.fields.emplace_back("Retry-After", "1");
  return refused;
}

}  // namespace

// What was made serves for a second, and goes with the first question after it: of many series a text has megabytes.
void Scrapes::begin_second(Clock::time_point now) {
  if (now - second_ >= kSecond) {
    second_ = now;
    spent_ = {};
    bytes_ = 0;
    for (Made& made : made_) made.kept.reset();
  }
  std::erase_if(made_, [](const Made& made) { return made.text.expired(); });
}

std::shared_ptr<const Scrapes::Text> Scrapes::last_of_this_second(const Form& form) const {
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    if (made->form == form && made->at >= second_) return made->text.lock();
  }
  return nullptr;
}

/// So much that another text would be over the bound.
bool Scrapes::holds_much() const {
  std::size_t held = 0;
  for (const Made& made : made_) {
    if (const auto text = made.text.lock()) held += text->body.size();
  }
  return held != 0 && held + last_plain_size_ > kMostHeld;
}

std::shared_ptr<const Scrapes::Text> Scrapes::make(const Form& form, Clock::time_point now) {
  metrics::Exposition out(form.format);
  // What grows from nothing is copied at every step, and leaves holes of every size behind.
  out.reserve(last_plain_size_ + last_plain_size_ / 8);
  write_(out);
  AdminReply reply{.body = out.finish()};
  last_plain_size_ = reply.body.size();
  if (form.gzip) net::server::compress(reply);
  const bool coded = reply.body.size() != last_plain_size_;
  auto text = std::make_shared<const Text>(Text{std::move(reply.body), coded});
  spent_ += clock_() - now;
  for (Made& made : made_) {
    if (made.form == form) made.kept.reset();
  }
  // Before the share is used up nobody would be given it.
  made_.push_back({form, now, text, spent_ >= kShare ? text : nullptr});
  return text;
}

/// Null: too much was given out already.
std::shared_ptr<const Scrapes::Text> Scrapes::text(const Form& form) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = clock_();
  begin_second(now);
  if (bytes_ >= kMostBytes) return nullptr;
  const bool full = holds_much();
  std::shared_ptr<const Text> text = spent_ >= kShare || full ? last_of_this_second(form) : nullptr;
  if (text == nullptr && full) return nullptr;
  if (text == nullptr) text = make(form, now);
  bytes_ += text->body.size();
  return text;
}

AdminReply Scrapes::answer(const AdminRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") return text_reply(405, "only GET and HEAD\n");
  const metrics::Format format = metrics::format_for(request.field("accept"));
  const bool gzip = net::server::takes_gzip(request.field("accept-encoding"));
  const std::shared_ptr<const Text> made = text({format, gzip});
  if (made == nullptr) return too_much();
  AdminReply reply = head_of(format);
  if (made->coded) reply.fields.emplace_back("Content-Encoding", "gzip");
  reply.stream = std::make_unique<SharedText>(std::shared_ptr<const std::string>(made, &made->body));
  return reply;
}

AdminReply Scrapes::answer_whole(const AdminRequest& request) {
  const metrics::Format format = metrics::format_for(request.field("accept"));
  const std::shared_ptr<const Text> made = text({format, false});
  if (made == nullptr) return too_much();
  AdminReply reply = head_of(format);
  reply.body = made->body;
  return reply;
}

}  // namespace edge::daemon
