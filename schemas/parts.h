// Objects, fields and columns shared by the tables of several own kinds.
#pragma once

#include "schemas/schema.h"

namespace edge::schemas {

/// `name` and `namespace` of a Secret.
extern const Object kSecretRef;
/// A condition as defined by Kubernetes (metav1.Condition).
extern const Object kCondition;
/// `ready`, `total` and both as one text.
extern const Object kReadyCount;
/// The limits of delay, jitter and loss of a path.
extern const Object kQualityBounds;
/// Only `conditions` and `observedGeneration`.
extern const Object kConditionsStatus;

inline constexpr Field kConditionsField =
    objects("conditions", kCondition, "Conditions, one of a type.").at_most(64).keyed_by("type");
inline constexpr Field kObservedGenerationField =
    integer("observedGeneration", "The metadata.generation that this status speaks of.").within(0, kNoMaximum);

inline constexpr Column kReadyColumn = {"READY", R"(.status.conditions[?(@.type=="Ready")].status)"};
inline constexpr Column kAgeColumn = {"AGE", ".metadata.creationTimestamp", ColumnType::kDate};

}  // namespace edge::schemas
