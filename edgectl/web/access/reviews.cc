#include "edgectl/web/access/reviews.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using nlohmann::json;

constexpr std::string_view kReviews = "/apis/authorization.k8s.io/v1/";
constexpr std::size_t kLanes = 8;
/// Of a namespace whose rules are not all listed, each kind is asked for. Beyond so many calls nothing is allowed.
constexpr std::size_t kMostReviews = 4000;

struct Answer {
  json status{};
  std::string fault{};
};

net::Task<Answer> ask(kube::Client& client, net::Waiter& waiter, std::string_view kind, std::string_view plural,
                      json spec) {
  const json body = {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", kind}, {"spec", std::move(spec)}};
  kube::Request request{.method = "POST", .target = std::string(kReviews) + std::string(plural)};
  request.body = json_line(body);
  const kube::Reply reply = co_await client.send(waiter, std::move(request));
  if (!reply.ok()) co_return Answer{.fault = reply.failure.text()};
  co_return Answer{.status = member_in(parse_json(reply.body), "status")};
}

/// One question of a round, and what is allowed with a yes.
struct Question {
  const schemas::Kind* kind = nullptr;  ///< null: the rules of the namespace
  std::string name_space{};
};

struct Round {
  std::shared_ptr<kube::Client> client;
  CallWaiters& waiters;
  std::vector<const schemas::Kind*> kinds;
  std::shared_ptr<Visible> visible = std::make_shared<Visible>();
  std::vector<Question> questions{};
  std::size_t next = 0;
  std::size_t lanes = 0;
  std::string fault{};
  net::Waiter* asker = nullptr;
};

net::Task<bool> put(Round& round, net::Waiter& waiter, Question question) {
  if (question.kind != nullptr) {
    const Reviewed reviewed = co_await review(*round.client, waiter,
                                              {.verb = "list",
                                               .group = std::string(group_of(*question.kind)),
                                               .resource = std::string(question.kind->plural),
                                               .name_space = question.name_space});
    if (!reviewed.fault.empty()) round.fault = reviewed.fault;
    if (reviewed.allowed && question.name_space.empty()) round.visible->allow(*question.kind);
    if (reviewed.allowed && !question.name_space.empty()) round.visible->allow(*question.kind, question.name_space);
    co_return true;
  }
  const Answer answer = co_await ask(*round.client, waiter, "SelfSubjectRulesReview", "selfsubjectrulesreviews",
                                     {{"namespace", question.name_space}});
  if (!answer.fault.empty()) {
    round.fault = answer.fault;
    co_return false;
  }
  if (add_rules(answer.status, round.kinds, question.name_space, *round.visible)) co_return true;
  for (const schemas::Kind* kind : round.kinds) {
    if (round.questions.size() == kMostReviews) break;
    if (!round.visible->may_list(*kind, question.name_space)) round.questions.push_back({kind, question.name_space});
  }
  co_return true;
}

net::Detached run_lane(std::shared_ptr<Round> round) {
  ++round->lanes;
  {
    CallWaiter waiter(round->waiters);
    while (round->next < round->questions.size() && round->fault.empty()) {
      Question question = round->questions[round->next++];
      co_await put(*round, *waiter, std::move(question));
    }
  }
  if (--round->lanes == 0 && round->asker != nullptr) round->asker->wake_later();
}

/// Lanes share the questions; returns when all are answered, or one cannot be.
net::Task<bool> run_round(std::shared_ptr<Round> round, std::vector<Question> questions) {
  round->questions = std::move(questions);
  round->next = 0;
  for (std::size_t i = 0; i < kLanes; ++i) run_lane(round);
  CallWaiter waiter(round->waiters);
  round->asker = &*waiter;
  while (round->lanes > 0) {
    const net::Wake wake = co_await (*waiter).wait(net::kNever);
    if (wake == net::Wake::kCancelled) round->fault = "the server is stopping";
    if (wake == net::Wake::kCancelled) break;
  }
  round->asker = nullptr;
  co_return round->fault.empty();
}

bool has(const json& list, std::string_view value) {
  return std::ranges::any_of(list, [&](const json& one) { return one == "*" || text_value(one) == value; });
}

}  // namespace

std::string_view group_of(const schemas::Kind& kind) {
  const std::size_t slash = kind.api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : kind.api_version.substr(0, slash);
}

net::Task<Reviewed> review(kube::Client& client, net::Waiter& waiter, ReviewedAction action) {
  json attributes = {{"verb", action.verb}, {"group", action.group}, {"resource", action.resource}};
  if (!action.name_space.empty()) attributes["namespace"] = action.name_space;
  if (!action.name.empty()) attributes["name"] = action.name;
  if (!action.subresource.empty()) attributes["subresource"] = action.subresource;
  json spec = {{"resourceAttributes", std::move(attributes)}};
  const Answer answer =
      co_await ask(client, waiter, "SelfSubjectAccessReview", "selfsubjectaccessreviews", std::move(spec));
  if (!answer.fault.empty()) co_return Reviewed{.fault = answer.fault};
  // A denial goes before an allowance.
  co_return Reviewed{.allowed =
                         member_in(answer.status, "allowed") == true && member_in(answer.status, "denied") != true};
}

bool add_rules(const json& status, const std::vector<const schemas::Kind*>& kinds, const std::string& name_space,
               Visible& visible) {
  for (const json& rule : list_in(status, "resourceRules")) {
    // Single names make no list.
    if (!list_in(rule, "resourceNames").empty() || !has(list_in(rule, "verbs"), "list")) continue;
    for (const schemas::Kind* kind : kinds) {
      if (has(list_in(rule, "apiGroups"), group_of(*kind)) && has(list_in(rule, "resources"), kind->plural)) {
        visible.allow(*kind, name_space);
      }
    }
  }
  return member_in(status, "incomplete") != true;
}

net::Task<FoundVisible> find_visible(std::shared_ptr<kube::Client> client, CallWaiters& waiters,
                                     std::vector<const schemas::Kind*> kinds, std::set<std::string> spaces) {
  const auto round = std::make_shared<Round>(Round{.client = client, .waiters = waiters, .kinds = kinds});
  CallWaiter waiter(waiters);
  const Reviewed whole = co_await review(*client, *waiter, {.verb = "list", .group = "*", .resource = "*"});
  if (!whole.fault.empty()) co_return FoundVisible{.fault = whole.fault};
  if (whole.allowed) round->visible->allow_everything();
  const Reviewed sees = co_await review(
      *client, *waiter, {.verb = "list", .group = std::string(kAgentsGroup), .resource = std::string(kAgentsResource)});
  const Reviewed changes =
      co_await review(*client, *waiter,
                      {.verb = "update", .group = std::string(kAgentsGroup), .resource = std::string(kAgentsResource)});
  if (!sees.fault.empty() || !changes.fault.empty()) co_return FoundVisible{.fault = sees.fault + changes.fault};
  round->visible->allow_agents(sees.allowed, changes.allowed);
  if (whole.allowed) co_return FoundVisible{.visible = round->visible};
  std::vector<Question> questions;
  for (const schemas::Kind* kind : kinds) questions.push_back({kind, {}});
  bool done = co_await run_round(round, std::move(questions));
  std::vector<Question> in_spaces;
  for (const std::string& space : spaces) in_spaces.push_back({nullptr, space});
  if (done) done = co_await run_round(round, std::move(in_spaces));
  if (!done) co_return FoundVisible{.fault = round->fault};
  co_return FoundVisible{.visible = round->visible};
}

}  // namespace edge::edgectl::web
