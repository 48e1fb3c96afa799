// Package conformance runs the official conformance tests of Gateway API as they are; script/check-conformance gives the flags.
package conformance

import (
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
)

func TestConformance(t *testing.T) {
	conformance.RunConformance(t)
}
