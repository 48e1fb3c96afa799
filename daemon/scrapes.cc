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
constexpr std::size_t kPiece = std::size_t{64} << 10;

/// A text that others send as well.
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

// What was made is kept for a second, no longer: of many series a text has megabytes.
void Scrapes::begin_second(Clock::time_point now) {
  if (now - second_ < kSecond) return;
  second_ = now;
  spent_ = {};
  bytes_ = 0;
  made_.clear();
}

std::shared_ptr<const Scrapes::Text> Scrapes::made_before(metrics::Format format, bool gzip) const {
  const auto found =
      std::ranges::find_if(made_, [&](const Made& made) { return made.format == format && made.gzip == gzip; });
  return found == made_.end() ? nullptr : found->text;
}

/// Null: too much was given out already.
std::shared_ptr<const Scrapes::Text> Scrapes::text(metrics::Format format, bool gzip) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point began = clock_();
  begin_second(began);
  if (bytes_ >= kMostBytes) return nullptr;
  std::shared_ptr<const Text> text = spent_ < kShare ? nullptr : made_before(format, gzip);
  if (text == nullptr) {
    metrics::Exposition out(format);
    write_(out);
    AdminReply reply{.body = out.finish()};
    const std::size_t plain = reply.body.size();
    if (gzip) net::server::compress(reply);
    const bool coded = reply.body.size() != plain;
    text = std::make_shared<const Text>(Text{std::move(reply.body), coded});
    std::erase_if(made_, [&](const Made& made) { return made.format == format && made.gzip == gzip; });
    spent_ += clock_() - began;
    // Of many series it has megabytes: before the share is used up nobody would be given it.
    if (spent_ >= kShare) made_.push_back({format, gzip, text});
  }
  bytes_ += text->body.size();
  return text;
}

AdminReply Scrapes::answer(const AdminRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") return text_reply(405, "only GET and HEAD\n");
  const metrics::Format format = metrics::format_for(request.field("accept"));
  const bool gzip = net::server::takes_gzip(request.field("accept-encoding"));
  const std::shared_ptr<const Text> made = text(format, gzip);
  if (made == nullptr) return too_much();
  AdminReply reply = head_of(format);
  if (made->coded) reply.fields.emplace_back("Content-Encoding", "gzip");
  reply.stream = std::make_unique<SharedText>(std::shared_ptr<const std::string>(made, &made->body));
  return reply;
}

AdminReply Scrapes::answer_whole(const AdminRequest& request) {
  const metrics::Format format = metrics::format_for(request.field("accept"));
  const std::shared_ptr<const Text> made = text(format, false);
  if (made == nullptr) return too_much();
  AdminReply reply = head_of(format);
  reply.body = made->body;
  return reply;
}

}  // namespace edge::daemon
