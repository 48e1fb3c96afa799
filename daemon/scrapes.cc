#include "daemon/scrapes.h"

#include <algorithm>
#include <utility>

#include "net/server/gzip.h"

namespace edge::daemon {
namespace {

constexpr auto kFresh = std::chrono::seconds(1);
/// Answers a second. Several servers that scrape every second are far below.
constexpr unsigned kMost = 20;
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

}  // namespace

bool Scrapes::too_many() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = clock_();
  if (now - counted_from_ >= kFresh) {
    counted_from_ = now;
    counted_ = 0;
  }
  return ++counted_ > kMost;
}

std::shared_ptr<const Scrapes::Text> Scrapes::text(metrics::Format format, bool gzip) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = clock_();
  if (now - made_at_ >= kFresh) {
    made_.clear();
    made_at_ = now;
  }
  const auto find = [&](bool coded) {
    const auto found =
        std::ranges::find_if(made_, [&](const Made& made) { return made.format == format && made.gzip == coded; });
    return found == made_.end() ? nullptr : found->text;
  };
  std::shared_ptr<const Text> known = find(gzip);
  if (known != nullptr) return known;
  known = find(false);
  if (known == nullptr) {
    metrics::Exposition out(format);
    write_(out);
    known = std::make_shared<const Text>(Text{out.finish(), false});
  }
  if (gzip) {
    AdminReply reply{.body = known->body};
    net::server::compress(reply);
    const bool coded = reply.body.size() != known->body.size();
    known = std::make_shared<const Text>(Text{std::move(reply.body), coded});
  }
  made_.push_back({format, gzip, known});
  return known;
}

AdminReply Scrapes::answer(const AdminRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") return text_reply(405, "only GET and HEAD\n");
  if (too_many()) {
    AdminReply refused = text_reply(429, "scraped too often\n");
    refused.fields.emplace_back("Retry-After", "1");
    return refused;
  }
  const metrics::Format format = metrics::format_for(request.field("accept"));
  const bool gzip = net::server::takes_gzip(request.field("accept-encoding"));
  AdminReply reply = head_of(format);
  const std::shared_ptr<const Text> made = text(format, gzip);
  if (made->coded) reply.fields.emplace_back("Content-Encoding", "gzip");
  reply.stream = std::make_unique<SharedText>(std::shared_ptr<const std::string>(made, &made->body));
  return reply;
}

AdminReply Scrapes::answer_whole(const AdminRequest& request) {
  const metrics::Format format = metrics::format_for(request.field("accept"));
  AdminReply reply = head_of(format);
  reply.body = text(format, false)->body;
  return reply;
}

}  // namespace edge::daemon
