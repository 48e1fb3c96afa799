#include "controller/resource_api/requests/watch.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "controller/resource_api/requests/read.h"
#include "controller/resource_api/requests/render.h"

namespace edge::resource_api {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
// A selector that matches nothing must not keep the loop over a whole history.
constexpr std::size_t kPieceEvents = 4096;
constexpr std::int64_t kBookmarkMilliseconds = 60'000;
// As API servers, so that clients do not all come back at once: half an hour, and up to another.
constexpr std::int64_t kTimeoutMilliseconds = 1'800'000;

void append_line(std::string& out, std::string_view type, std::string_view object) {
  out.append(R"({"type":")").append(type).append(R"(","object":)").append(object).append("}\n");
}

}  // namespace

class Watch final : public WatchStream {
 public:
  Watch(Watches& home, const Collection& collection, const Operation& op)
      : home_(&home), collection_(&collection), op_(op) {}
  ~Watch() override {
    if (home_ != nullptr) home_->leave(*this);
  }

  /// As requests are guarded (api.cc): what cannot be told costs this stream, and nobody else's.
  Next next(std::string& out) override;
  void on_ready(std::function<void()> ready) override { ready_ = std::move(ready); }

  void begin();
  void wake() {
    if (!std::exchange(waiting_, false) || !ready_) return;
    ready_();
  }
  /// The Api goes; what has been promised cannot be told any more.
  void orphan() {
    home_ = nullptr;
    wake();
  }
  void end() {
    ended_ = true;
    wake();
  }
  /// Bookmarks and the end, by the clock.
  void tick(std::int64_t now);
  const Collection* collection() const { return collection_; }

 private:
  bool in_scope(const Object& object) const {
    return op_.name_space.empty() || object.key.name_space == op_.name_space;
  }
  void append_object(std::string& out, std::string_view type, const Object& object);
  void append_event(std::string& out, const Event& event);
  bool append_history(std::string& out);
  Next tell(std::string& out);

  Watches* home_;
  const Collection* collection_;
  Operation op_;
  std::vector<ObjectPtr> initial_{};  ///< what was there at the beginning, as far as it was asked for
  std::size_t initial_at_ = 0;
  bool initial_mark_ = false;  ///< a bookmark follows the initial events
  std::int64_t position_ = 0;  ///< all up to this version has been told
  std::int64_t bookmarked_ = 0;
  std::int64_t bookmark_at_ = 0;
  std::int64_t end_at_ = 0;
  bool bookmark_due_ = false;
  bool columns_told_ = false;
  bool ended_ = false;
  bool waiting_ = false;
  std::function<void()> ready_{};
};

void Watch::begin() {
  const std::int64_t now = home_->now_();
  const std::int64_t version = op_.version.value_or(0);
  const bool initial = op_.initial_events.value_or(version == 0);
  if (initial) initial_ = select(*collection_, op_);
  initial_mark_ = op_.initial_events.value_or(false);
  position_ = initial || version == 0 ? home_->store_.version() : version;
  bookmarked_ = position_;
  bookmark_at_ = now + kBookmarkMilliseconds;
  // Spread by what differs between watches, and the same in every run of a test.
  const std::int64_t spread = static_cast<std::int64_t>(home_->count_) * 7919 % kTimeoutMilliseconds;
  end_at_ = now + (op_.timeout_seconds ? *op_.timeout_seconds * 1000 : kTimeoutMilliseconds + spread);
}

void Watch::append_object(std::string& out, std::string_view type, const Object& object) {
  append_line(out, type, answer_text(object, *op_.type, op_.form, home_->now_() / 1000, !columns_told_));
  columns_told_ = true;
}

void Watch::append_event(std::string& out, const Event& event) {
  if (!in_scope(*event.object)) return;
  const bool was = event.before && op_.selector.matches(*event.before);
  const bool is = event.type != Event::Type::kDeleted && op_.selector.matches(*event.object);
  if (is) return append_object(out, was ? "MODIFIED" : "ADDED", *event.object);
  if (!was) return;
  if (event.type == Event::Type::kDeleted) return append_object(out, "DELETED", *event.object);
  // It left the selection: to this client it is gone, as it last knew it.
  append_object(out, "DELETED", *with_version(*event.before, event.version));
}

/// False: the place is lost.
bool Watch::append_history(std::string& out) {
  if (position_ < collection_->floor) return false;
  const auto& history = collection_->history;
  auto event = std::upper_bound(history.begin(), history.end(), position_,
                                [](std::int64_t at, const Event& each) { return at < each.version; });
  const std::size_t begin = out.size();
  std::size_t seen = 0;
  for (; event != history.end() && out.size() - begin < kPieceBytes && seen < kPieceEvents; ++event, ++seen) {
    append_event(out, *event);
    position_ = event->version;
  }
  if (event == history.end()) position_ = std::max(position_, home_->store_.version());
  return true;
}

WatchStream::Next Watch::next(std::string& out) {
  if (home_ == nullptr || ended_) return Next::kEnd;
  const std::size_t begin = out.size();
  try {
    return tell(out);
  } catch (const std::exception& fault) {
    home_->log_.error("resource api: a watch failed", {{"of", op_.type->plural}, {"reason", fault.what()}});
    out.resize(begin);
    append_line(out, "ERROR", objects::internal_error("the watch cannot go on").text());
    ended_ = true;
    return Next::kMore;
  }
}

WatchStream::Next Watch::tell(std::string& out) {
  const std::size_t begin = out.size();
  while (initial_at_ < initial_.size()) {
    append_object(out, "ADDED", *initial_[initial_at_]);
    initial_[initial_at_++] = nullptr;
    if (out.size() - begin >= kPieceBytes) return Next::kMore;
  }
  initial_ = {};
  initial_at_ = 0;
  if (std::exchange(initial_mark_, false)) {
    append_line(out, "BOOKMARK", bookmark_text(*op_.type, op_.form, position_, true));
    return Next::kMore;
  }
  const std::int64_t was = position_;
  if (!append_history(out)) {
    append_line(out, "ERROR",
                objects::expired("too old resource version: " + std::to_string(position_) + " (" +
                                 std::to_string(collection_->floor) + ")")
                    .text());
    ended_ = true;
    return Next::kMore;
  }
  if (out.size() != begin || (position_ != was && position_ < home_->store_.version())) return Next::kMore;
  if (std::exchange(bookmark_due_, false) && op_.bookmarks && position_ != bookmarked_) {
    bookmarked_ = position_;
    append_line(out, "BOOKMARK", bookmark_text(*op_.type, op_.form, position_, false));
    return Next::kMore;
  }
  if (home_->now_() >= end_at_) {
    ended_ = true;
    return Next::kEnd;
  }
  waiting_ = true;
  return Next::kNothingYet;
}

void Watch::tick(std::int64_t now) {
  if (now >= end_at_) {
    bookmark_due_ = true;  // the client goes on from the newest version that is known to concern it
    return wake();
  }
  if (now < bookmark_at_) return;
  bookmark_at_ = now + kBookmarkMilliseconds;
  bookmark_due_ = true;
  if (op_.bookmarks && bookmarked_ != home_->store_.version()) wake();
}

Watches::Watches(const Store& store, std::size_t most, std::function<std::int64_t()> now, Logger log)
    : store_(store), most_(most), now_(std::move(now)), log_(std::move(log)) {}

Watches::~Watches() {
  for (const auto& [collection, watches] : watches_) {
    for (Watch* watch : watches) watch->orphan();
  }
}

ApiReply Watches::open(const Operation& op, const Collection& collection) {
  if (count_ >= most_) return reply_of(objects::too_many_requests("too many watches are open", 10));
  auto watch = std::make_unique<Watch>(*this, collection, op);
  watches_[&collection].push_back(watch.get());
  ++count_;
  // A version that was never given out is of another database: the client has to begin anew, as with one too old.
  if (op.version.value_or(0) > store_.version()) {
    return reply_of(objects::expired("too large resource version: " + std::to_string(*op.version) +
                                     ", current: " + std::to_string(store_.version())));
  }
  watch->begin();
  ApiReply reply;
  reply.content_type =
      op.form.as == Form::As::kObject
          ? "application/json"
          : "application/json;as=" + std::string(op.form.as == Form::As::kTable ? "Table" : "PartialObjectMetadata") +
                ";v=" + op.form.version + ";g=meta.k8s.io";
  reply.watch = std::move(watch);
  return reply;
}

void Watches::leave(Watch& watch) {
  const auto found = watches_.find(watch.collection());
  std::erase(found->second, &watch);
  if (found->second.empty()) watches_.erase(found);
  --count_;
}

void Watches::wake(std::span<const Committed> committed) {
  const Collection* last = nullptr;
  for (const Committed& change : committed) {
    if (change.collection == last) continue;
    last = change.collection;
    const auto found = watches_.find(last);
    if (found == watches_.end()) continue;
    for (Watch* watch : found->second) watch->wake();
  }
}

void Watches::end(std::string_view collection) {
  for (const auto& [of, watches] : watches_) {
    if (of->name != collection) continue;
    for (Watch* watch : watches) watch->end();
  }
}

std::chrono::milliseconds Watches::work() {
  const std::int64_t now = now_();
  for (const auto& [collection, watches] : watches_) {
    for (Watch* watch : watches) watch->tick(now);
  }
  return count_ == 0 ? std::chrono::seconds(60) : std::chrono::seconds(1);
}

}  // namespace edge::resource_api
