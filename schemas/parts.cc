#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kStatuses[] = {"True", "False", "Unknown"};

constexpr Field kSecretFields[] = {
    string("name", "Name of the secret.").as(Format::kName).needed(),
    string("namespace", "Namespace of the secret.").as(Format::kNamespace),
};

constexpr Field kConditionFields[] = {
    string("type", "What the condition is about.").needed(),
    string("status", "Whether it holds.").one_of(kStatuses).needed(),
    string("reason", "One word that says why, for programs.").needed(),
    string("message", "A sentence that says why, for people.").needed(),
    string("lastTransitionTime", "When the status last changed.").as(Format::kTimestamp).needed(),
    kObservedGenerationField,
};

constexpr Field kReadyCountFields[] = {
    integer("ready", "Those that are ready.").within(0, kNoMaximum),
    integer("total", "All that there should be.").within(0, kNoMaximum),
    string("summary", "`ready/total`, for the table."),
};

constexpr Field kBoundFields[] = {
    string("maxLatency", "Longest round trip.").as(Format::kDuration),
    string("maxJitter", "Largest variation of the round trip.").as(Format::kDuration),
    string("maxLoss", "Largest share of packets that are lost, such as `0.5%`.").as(Format::kPercent),
};

constexpr Field kConditionsStatusFields[] = {kConditionsField, kObservedGenerationField};

}  // namespace

const Object kSecretRef{kSecretFields};
const Object kCondition{kConditionFields};
const Object kReadyCount{kReadyCountFields};
const Object kQualityBounds{kBoundFields};
const Object kConditionsStatus{kConditionsStatusFields};

}  // namespace edge::schemas
