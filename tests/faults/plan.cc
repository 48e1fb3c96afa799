#include "tests/faults/plan.h"

#include <sstream>
#include <utility>

namespace edge::test {
namespace {

constexpr const char* kClientFaults[] = {"none",          "reset in head", "stall in head", "reset in body",
                                         "stall in body", "half close",    "byte by byte",  "garbage",
                                         "leaves",        "stops reading"};
constexpr const char* kUpstreamFaults[] = {"none",          "reset at once", "close at once", "reset in head",
                                           "garbage head",  "stall in head", "reset in body", "close in body",
                                           "stall in body", "byte by byte",  "says more",     "half close",
                                           "answers early"};
constexpr std::uint32_t kSizes[] = {0, 1, 100, 4096, 70'000, 300'000};

/// Of requests, one in so many has a fault on a side.
constexpr std::uint64_t kFaultEvery = 3;

template <typename T>
T any(std::mt19937_64& random, T last) {
  return static_cast<T>(random() % (static_cast<std::uint64_t>(last) + 1));
}

RequestPlan random_request(std::mt19937_64& random, std::uint32_t id) {
  RequestPlan request{.id = id};
  request.post = random() % 2 == 0;
  request.pipelined = random() % 4 == 0;
  request.request_chunked = random() % 2 == 0;
  request.request_size = request.post ? kSizes[random() % 5] : 0;
  request.framing = any(random, Framing::kUntilClose);
  request.response_size = kSizes[random() % std::size(kSizes)];
  if (random() % kFaultEvery == 0) request.client = any(random, ClientFault::kStopsReading);
  if (random() % kFaultEvery == 0) request.upstream = any(random, UpstreamFault::kAnswersEarly);
  return request;
}

}  // namespace

Plan random_plan(std::mt19937_64& random, std::uint32_t& next_id) {
  Plan plan(1 + random() % 12);
  for (ClientPlan& client : plan) {
    const std::size_t requests = 1 + random() % 6;
    for (std::size_t i = 0; i < requests; ++i) client.push_back(random_request(random, next_id++));
  }
  return plan;
}

std::vector<Plan> smaller(const Plan& plan) {
  std::vector<Plan> out;
  for (std::size_t i = 0; i < plan.size() && plan.size() > 1; ++i) {
    out.push_back(plan);
    out.back().erase(out.back().begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < plan.size(); ++i) {
    for (std::size_t j = 0; j < plan[i].size(); ++j) {
      if (plan[i].size() > 1) {
        out.push_back(plan);
        out.back()[i].erase(out.back()[i].begin() + static_cast<std::ptrdiff_t>(j));
      }
      const auto with = [&](auto change) {
        Plan less = plan;
        if (change(less[i][j])) out.push_back(std::move(less));
      };
      with([](RequestPlan& r) { return std::exchange(r.client, ClientFault::kNone) != ClientFault::kNone; });
      with([](RequestPlan& r) { return std::exchange(r.upstream, UpstreamFault::kNone) != UpstreamFault::kNone; });
      with([](RequestPlan& r) { return std::exchange(r.pipelined, false); });
      with([](RequestPlan& r) { return std::exchange(r.request_size, r.request_size / 64) != r.request_size; });
      with([](RequestPlan& r) { return std::exchange(r.response_size, r.response_size / 64) != r.response_size; });
      with([](RequestPlan& r) { return std::exchange(r.framing, Framing::kLength) != Framing::kLength; });
    }
  }
  return out;
}

std::string to_string(const Plan& plan) {
  constexpr const char* kFramings[] = {"length", "chunked", "until close"};
  std::ostringstream out;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    out << "client " << i << "\n";
    for (const RequestPlan& r : plan[i]) {
      out << "  " << r.id << (r.pipelined ? " pipelined" : "") << (r.post ? " POST " : " GET ") << r.request_size
          << (r.request_chunked ? " chunked" : "") << ", client: " << kClientFaults[static_cast<int>(r.client)]
          << ", response: " << r.response_size << " " << kFramings[static_cast<int>(r.framing)]
          << ", upstream: " << kUpstreamFaults[static_cast<int>(r.upstream)] << "\n";
    }
  }
  return out.str();
}

std::string body_of(std::string_view side, std::uint32_t id, std::size_t size) {
  const std::string unit = std::string(side) + "-" + std::to_string(id) + ";";
  std::string body;
  body.reserve(size + unit.size());
  while (body.size() < size) body += unit;
  body.resize(size);
  return body;
}

std::string upstream_part(const RequestPlan& request) {
  return std::to_string(request.id) + " " + std::to_string(static_cast<int>(request.upstream)) + " " +
         std::to_string(static_cast<int>(request.framing)) + " " + std::to_string(request.response_size) + " " +
         std::to_string(request.request_size);
}

bool read_upstream_part(const std::string& text, RequestPlan& request) {
  std::istringstream words(text);
  int fault = 0;
  int framing = 0;
  if (!(words >> request.id >> fault >> framing >> request.response_size >> request.request_size)) return false;
  request.upstream = static_cast<UpstreamFault>(fault);
  request.framing = static_cast<Framing>(framing);
  return true;
}

}  // namespace edge::test
