// One thread's place at a cache, and its exchanges with an origin that answers from a function: what a session does
// around a Transaction, without sockets.
#pragma once

#include <array>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/shape/cache/test_messages.h"
#include "runtime/shape/cache/transaction.h"

namespace edge::runtime::cache::testing {

/// What the origin says to a request that it got as text. `text` is cut off at `breaks_after`.
struct Said {
  int status = 200;
  std::string lines;  ///< `name: value`, each ended by a line feed
  std::string text;
  std::optional<std::size_t> breaks_after;
};
using Origin = std::function<Said(const std::string& request)>;

struct Got {
  std::string head;  ///< from the cache, or what the origin said
  std::string text;
  std::string cache_status;
  bool from_cache = false;
  bool refused = false;
  bool refreshes = false;
  bool asked_origin = false;
};

class TestCache {
 public:
  explicit TestCache(std::shared_ptr<Cache> cache, TtlLimits limits = {}) : cache_(std::move(cache)), limits_(limits) {}

  Counts counts;
  Seconds now = kNow;

  std::unique_ptr<Transaction> begin(const std::string& path = "/", const std::string& route = "web") {
    return std::make_unique<Transaction>(
        cache_, limits_, CacheContext{*request_, counts, head_limits_}, [this] { return Now{now, date()}; },
        make_key({"http", "example.com", path, "", false}, {"shop", route, 0, 1, "example.com", path}), false);
  }

  /// A whole exchange. A refresh that is called for is done at once, as if it took no time.
  Got exchange(const std::string& method, const std::string& lines, const Origin& origin,
               const std::string& path = "/") {
    std::string head = method + " " + path + " HTTP/1.1\r\nHost: example.com\r\n";
    for (const char c : lines) head += c == '\n' ? "\r\n" : std::string(1, c);
    head += "\r\n";
    const auto transaction = begin(path);
    Got got;
    Transaction::Plan plan = transaction->look_up(head);
    if (plan == Transaction::Plan::kFetch) plan = transaction->fetch(nullptr);
    switch (plan) {
      case Transaction::Plan::kRefuse:
        got.refused = true;
        return got;
      case Transaction::Plan::kReuse: {
        deliver(*transaction, got);
        if (const auto refresh = transaction->refresh()) {
          got.refreshes = true;
          Got thrown_away;
          forward(*refresh, method, origin, thrown_away);
        }
        return got;
      }
      default:
        forward(*transaction, method, origin, got);
        return got;
    }
  }

  void forward(Transaction& transaction, const std::string& method, const Origin& origin, Got& got) {
    for (;;) {
      got.asked_origin = true;
      const Said said = origin(std::string(transaction.upstream_head()));
      const bool failed = said.status == 0;
      if (!failed) receive(transaction, method, said, got);
      switch (transaction.forwarded(failed)) {
        case Transaction::Next::kDone:
          return;
        case Transaction::Next::kReuse:
          return deliver(transaction, got);
        case Transaction::Next::kForward:
          break;
      }
    }
  }

 private:
  std::string_view date() {
    const std::time_t seconds = now;
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    const std::size_t size = std::strftime(date_.data(), date_.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
    return {date_.data(), size};
  }

  void receive(Transaction& transaction, const std::string& method, const Said& said, Got& got) {
    const bool no_body = method == "HEAD" || said.status == 304 || said.status == 204;
    const std::string length =
        said.status == 304 || said.status == 204 ? "" : "Content-Length: " + std::to_string(said.text.size()) + "\n";
    const Answer answer(said.lines + length, said.status, now);
    const auto take = transaction.head(answer.head(), {});
    got.cache_status = transaction.status();
    if (take != Transaction::Take::kSwallow) {
      got.head = "HTTP/1.1 " + std::to_string(said.status) + "\r\n";
      got.text = no_body ? "" : said.text;
    }
    if (take != Transaction::Take::kCopy) return;
    transaction.body(said.text.substr(0, said.breaks_after.value_or(said.text.size())));
    if (!said.breaks_after) transaction.end();
  }

  void deliver(Transaction& transaction, Got& got) {
    char buffer[16384];
    net::http1::HeadWriter out(buffer, sizeof buffer);
    const AnswerBody body = transaction.write_head(out);
    got.head = out.text();
    got.text.clear();
    while (got.text.size() < body.size()) got.text += body.read(*transaction.entry()->body, got.text.size());
    got.cache_status = transaction.status();
    got.from_cache = true;
  }

  std::shared_ptr<Cache> cache_;
  TtlLimits limits_;
  net::http1::HeadLimits head_limits_;
  std::array<char, 64> date_{};
  std::unique_ptr<net::http1::RequestHead> request_ = std::make_unique<net::http1::RequestHead>();
};

}  // namespace edge::runtime::cache::testing
