// Package crds holds the manifests of deploy/crds against the validator of a Kubernetes API server: each is a
// structural schema that a server would take, and of every sample (tests/schemas) the server and our decoder say the
// same. It runs where Go is installed; script/check-crds says so where it is not.
package crds

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// kind is one manifest as a server holds it.
type kind struct {
	columns    []apiextensionsv1.CustomResourceColumnDefinition
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

func manifests(t *testing.T) map[string]*kind {
	t.Helper()
	paths, err := filepath.Glob("../../deploy/crds/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	kinds := map[string]*kind{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var outer apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &outer); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(&outer)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&outer.Spec)
		var inner apiextensions.CustomResourceDefinition
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&outer, &inner, nil); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		// What the server itself does when the manifest is applied.
		inner.Status.StoredVersions = []string{outer.Spec.Versions[0].Name}
		if faults := crdvalidation.ValidateCustomResourceDefinition(context.Background(), &inner); len(faults) > 0 {
			t.Fatalf("%s: %v", path, faults.ToAggregate())
		}
		schema := inner.Spec.Versions[0].Schema
		if schema == nil {
			schema = inner.Spec.Validation
		}
		structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		validator, _, err := validation.NewSchemaValidator(schema.OpenAPIV3Schema)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
		kinds[outer.Spec.Names.Kind] = &kind{outer.Spec.Versions[0].AdditionalPrinterColumns, structural, validator, rules}
	}
	return kinds
}

// faultsOf is what a server answers to a resource sent with fieldValidation=Strict.
func (k *kind) faultsOf(resource map[string]interface{}) []string {
	var faults []string
	unknown := pruning.PruneWithOptions(resource, k.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		faults = append(faults, path+": unknown field")
	}
	defaulting.Default(resource, k.structural)
	all := validation.ValidateCustomResource(nil, resource, k.validator)
	all = append(all, listtype.ValidateListSetsAndMaps(field.NewPath(""), k.structural, resource)...)
	// As the server does: rules are asked of what its schema takes.
	if len(all) == 0 && k.rules != nil {
		between, _ := k.rules.Validate(context.Background(), nil, k.structural, resource, nil, celconfig.RuntimeCELCostBudget)
		all = append(all, between...)
	}
	for _, fault := range all {
		faults = append(faults, fault.Error())
	}
	return faults
}

type sample struct {
	Valid    bool
	What     string
	Resource map[string]interface{}
}

// samples reads the lines that print_samples wrote; the path comes from script/check-crds.
func samples(t *testing.T) []sample {
	t.Helper()
	path := os.Getenv("EDGE_SAMPLES")
	if path == "" {
		t.Skip("EDGE_SAMPLES names no file; run script/check-crds")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var one sample
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.UseNumber()
		if err := decoder.Decode(&one); err != nil {
			t.Fatal(err)
		}
		one.Resource = numbers(one.Resource).(map[string]interface{})
		all = append(all, one)
	}
	return all
}

// numbers turns json.Number into what a server's decoder makes of it.
func numbers(value interface{}) interface{} {
	switch value := value.(type) {
	case map[string]interface{}:
		for key := range value {
			value[key] = numbers(value[key])
		}
	case []interface{}:
		for i := range value {
			value[i] = numbers(value[i])
		}
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		fraction, _ := value.Float64()
		return fraction
	}
	return value
}

func TestServerTakesEveryManifest(t *testing.T) {
	if count := len(manifests(t)); count != 11 {
		t.Errorf("%d kinds", count)
	}
}

func TestServerAndDecoderAgree(t *testing.T) {
	kinds := manifests(t)
	valid, invalid := 0, 0
	for _, one := range samples(t) {
		faults := kinds[one.Resource["kind"].(string)].faultsOf(one.Resource)
		switch {
		case one.Valid && len(faults) > 0:
			t.Errorf("%s: the decoder takes it, the server says %s", one.What, strings.Join(faults, "; "))
		case !one.Valid && len(faults) == 0:
			t.Errorf("%s: the decoder refuses it, the server takes it", one.What)
		}
		if one.Valid {
			valid++
		} else {
			invalid++
		}
	}
	t.Logf("%d right and %d wrong resources", valid, invalid)
}

// A key without a value (null) reaches the compiler where it would let more pass as left out; the decoder refuses it
// (tests/schemas). The server drops it from other fields.
func TestNullIsKeptInFieldsThatNarrow(t *testing.T) {
	kinds := manifests(t)
	kept := map[string]bool{}
	for _, one := range samples(t) {
		if !one.Valid || !strings.HasSuffix(one.What, "with every field") {
			continue
		}
		k := kinds[one.Resource["kind"].(string)]
		for _, path := range nullable(k.structural, nil) {
			resource := runtime.DeepCopyJSON(one.Resource)
			if !setNull(resource, path) {
				continue
			}
			defaulting.PruneNonNullableNullsWithoutDefaults(resource, k.structural)
			faults := k.faultsOf(resource)
			if name := strings.Join(path, "."); len(faults) > 0 || !isNull(resource, path) {
				t.Errorf("%s: %s: null is not kept: %v", one.What, name, faults)
			} else {
				kept[one.Resource["kind"].(string)+" "+name] = true
			}
		}
	}
	for _, name := range []string{"ProxyPolicy spec.clientCertificate.allow", "ProxyPolicy spec.ipAccess.allow",
		"ProxyPolicy spec.jwt.audience", "ProxyGateway spec.listeners.tls.clientValidation",
		"EdgeRemoteCluster spec.federation.reads.namespaces"} {
		if !kept[name] {
			t.Errorf("%s: null is not kept", name)
		}
	}
	t.Logf("null is kept in %d fields", len(kept))

	limit := map[string]interface{}{"spec": map[string]interface{}{"rateLimit": map[string]interface{}{"burst": nil}}}
	defaulting.PruneNonNullableNullsWithoutDefaults(limit, kinds["ProxyPolicy"].structural)
	if isNull(limit, []string{"spec", "rateLimit", "burst"}) {
		t.Error("null is kept in a field that does not narrow")
	}
}

// nullable gives the paths of the fields that keep null; lists are passed through.
func nullable(s *structuralschema.Structural, above []string) [][]string {
	var paths [][]string
	for s.Items != nil {
		s = s.Items
	}
	for name, field := range s.Properties {
		path := append(append([]string{}, above...), name)
		if field.Nullable {
			paths = append(paths, path)
		}
		paths = append(paths, nullable(&field, path)...)
	}
	return paths
}

// parent finds the object that has the last field of the path; of lists the first entry.
func parent(value interface{}, path []string) (map[string]interface{}, bool) {
	if list, ok := value.([]interface{}); ok && len(list) > 0 {
		return parent(list[0], path)
	}
	object, ok := value.(map[string]interface{})
	if !ok || len(path) == 1 {
		return object, ok
	}
	return parent(object[path[0]], path[1:])
}

func setNull(resource map[string]interface{}, path []string) bool {
	object, ok := parent(resource, path)
	if _, given := object[path[len(path)-1]]; !ok || !given {
		return false
	}
	object[path[len(path)-1]] = nil
	return true
}

func isNull(resource map[string]interface{}, path []string) bool {
	object, ok := parent(resource, path)
	value, given := object[path[len(path)-1]]
	return ok && given && value == nil
}

// The rules between fields that the tables of schemas/ have in CEL: of each a resource that keeps it and one that does
// not. That the decoder says the same hold the golden cases `forms/...` and `fields/fields-that-exclude-each-other`.
func TestRulesBetweenFields(t *testing.T) {
	kinds := manifests(t)
	const listener = "listeners: [{name: a, port: 80, protocol: %}]"
	const service = "serviceRef: {name: a, port: 80}, "
	const rule = "parentRefs: [{name: g}], rules: [{%}]"
	const variables = "version: 0.1.0, image: {repository: r.example/edge}, agents: {env: [%]}"
	cases := []struct{ kind, form, spec, want string }{
		{"ProxyGateway", listener, "HTTPS, tls: {secretRef: {name: c}, certificateRefs: [{name: c}]}", ""},
		{"ProxyGateway", listener, "HTTPS, tls: {secretRef: {name: c}, certificateRefs: [{name: d}]}", "two forms"},
		{"ProxyGateway", listener, "HTTPS, tls: {secretRef: {name: c}, certificateRefs: [{name: c}, {name: d}]}", "two forms"},
		{"ProxyGateway", listener, "HTTPS, tls: {secretRef: {name: c, namespace: other}, certificateRefs: [{name: c}]}", "different namespaces"},
		{"ProxyGateway", listener, "HTTP, tls: {mode: Terminate}", "has no TLS settings"},
		{"ProxyGateway", listener, "TLS, tls: {mode: Passthrough}", ""},
		{"ProxyGateway", listener, "HTTPS, tls: {mode: Passthrough}", "not read as HTTP"},
		{"ProxyGateway", listener, "HTTPS, tls: {acme: {onDemand: {allow: [a.example], keepUnused: 1h0m}}}", ""},
		{"ProxyGateway", listener, "HTTPS, tls: {acme: {onDemand: {allow: [a.example], keepUnused: 3599s}}}", "1h at least"},
		{"ProxyGateway", listener, "TCP, hostnames: [a.example]", "name no host"},
		{"ProxyGateway", listener, "TLS, hostnames: [a.example]", ""},
		{"ProxyGateway", "%, listeners: [{name: a, port: 80, protocol: HTTP, redirectScheme: {enabled: true}}]",
			"redirectScheme: {enabled: true, port: 443}", ""},
		{"ProxyGateway", "%, listeners: [{name: a, port: 80, protocol: HTTP, redirectScheme: {enabled: true}}]",
			"redirectScheme: {enabled: true, port: 8443}", "say different things"},
		{"EdgeCluster", variables, "{name: A, value: b}, {name: B, secretKeyRef: {name: s, key: k}}", ""},
		{"EdgeCluster", variables, "{name: A, value: b, secretKeyRef: {name: s, key: k}}", "exactly one of"},
		{"EdgeCluster", variables, "{name: A}", "exactly one of"},
		{"EdgeCluster", variables, "{name: NODE_NAME, value: b}", "set by the operator"},
		{"ProxyBackend", service + "%", "connectTimeout: 5s, timeout: {connect: 5000ms}", ""},
		{"ProxyBackend", service + "%", "connectTimeout: 5s, timeout: {connect: 6s}", "two forms"},
		{"ProxyBackend", service + "%", "timeout: {idle: 60s}, connectionPool: {idleConnTimeout: 1m}", ""},
		{"ProxyBackend", service + "%", "timeout: {idle: 60s}, connectionPool: {idleConnTimeout: 2m}", "two forms"},
		{"ProxyBackend", service + "%", "healthCheck: {httpPath: /a, httpHealthCheck: {path: /a}}", ""},
		{"ProxyBackend", service + "%", "healthCheck: {httpPath: /a, httpHealthCheck: {path: /b}}", "two forms"},
		{"ProxyBackend", service + "%", "circuitBreaker: {consecutiveErrors: 3, consecutiveFailures: 3}", ""},
		{"ProxyBackend", service + "%", "circuitBreaker: {consecutiveErrors: 3, consecutiveFailures: 4}", "two forms"},
		{"ProxyRoute", rule, "backendRef: {name: a}, backendRefs: [{name: a, weight: 3}]", ""},
		{"ProxyRoute", rule, "backendRef: {name: a}, backendRefs: [{name: b}]", "two forms"},
		{"ProxyRoute", rule, "backendRef: {name: a}, backendRefs: [{name: a}, {name: b}]", "two forms"},
		{"ProxyRoute", rule, "backendRef: {name: a}, backendRefs: []", "two forms"},
		{"ProxyRoute", rule, "backendRef: {name: a, namespace: shop}, backendRefs: [{name: a, namespace: shop}]", ""},
		{"ProxyRoute", rule, "backendRef: {name: a, namespace: shop}, backendRefs: [{name: a}]", "different namespaces"},
		{"ProxyRoute", rule, "backendRef: {name: a}, backendRefs: [{name: a, namespace: shop}]", "different namespaces"},
		{"ProxyBackend", service + "%", "protocol: H2, tls: {hostname: a.example}", ""},
		{"ProxyBackend", service + "%", "protocol: H2", "tls is required"},
		{"ProxyBackend", service + "%", "protocol: H2C, tls: {hostname: a.example}", "exclude each other"},
	}
	for _, one := range cases {
		text := "apiVersion: edgeproxy.io/v1alpha1\nkind: " + one.kind + "\nmetadata: {name: a}\nspec: {" +
			strings.Replace(one.form, "%", one.spec, 1) + "}\n"
		asJSON, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var resource map[string]interface{}
		decoder := json.NewDecoder(bytes.NewReader(asJSON))
		decoder.UseNumber()
		if err := decoder.Decode(&resource); err != nil {
			t.Fatal(err)
		}
		faults := strings.Join(kinds[one.kind].faultsOf(numbers(resource).(map[string]interface{})), "; ")
		if one.want == "" && faults != "" {
			t.Errorf("%s: %s", one.spec, faults)
		}
		if one.want != "" && !strings.Contains(faults, one.want) {
			t.Errorf("%s: the server says `%s`, not `%s`", one.spec, faults, one.want)
		}
	}
}

// What a server fills in must be taken by the decoder as if it were not there: this prints the resources with it, for
// script/check-crds to hand to edgectl.
func TestPrintDefaulted(t *testing.T) {
	path := os.Getenv("EDGE_DEFAULTED")
	if path == "" {
		t.Skip("EDGE_DEFAULTED names no file")
	}
	kinds := manifests(t)
	var out bytes.Buffer
	for _, one := range samples(t) {
		if !one.Valid {
			continue
		}
		defaulting.Default(one.Resource, kinds[one.Resource["kind"].(string)].structural)
		text, err := json.Marshal(one.Resource)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
		out.WriteString("\n")
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The cells that kubectl prints, made by the server's own code.
func TestColumns(t *testing.T) {
	kinds := manifests(t)
	ready := map[string]interface{}{"type": "Ready", "status": "True"}
	healthy := map[string]interface{}{"type": "Healthy", "status": "True"}
	count := map[string]interface{}{"ready": int64(1), "total": int64(2), "summary": "1/2"}
	cases := []struct {
		kind, want   string
		spec, status map[string]interface{}
	}{
		{"EdgeCluster", "VERSION=0.1.0 PHASE=Running CONTROLLER=1/2 AGENTS=1/2",
			nil, map[string]interface{}{"version": "0.1.0", "phase": "Running", "controller": count, "agents": count}},
		{"ProxyGateway", "VIP=public LISTENERS=2 READY=True", map[string]interface{}{"vipRef": "public"},
			map[string]interface{}{"listenerCount": int64(2), "conditions": []interface{}{healthy, ready}}},
		{"ProxyRoute", `HOSTNAMES=["a.example","b.example"] RULES=3 READY=True`,
			map[string]interface{}{"hostnames": []interface{}{"a.example", "b.example"}},
			map[string]interface{}{"ruleCount": int64(3), "conditions": []interface{}{ready}}},
		{"ProxyBackend", "SERVICE=cart LB POLICY=P2C ENDPOINTS=1/2 READY=True",
			map[string]interface{}{"serviceRef": map[string]interface{}{"name": "cart"}, "lbPolicy": "P2C"},
			map[string]interface{}{"endpointSummary": "1/2", "conditions": []interface{}{healthy}}},
		{"ProxyVIP", "VIP=192.0.2.1/24 MODE=BGP READY=True NODE=edge-1", map[string]interface{}{"address": "192.0.2.1/24", "mode": "BGP"},
			map[string]interface{}{"currentNode": "edge-1", "conditions": []interface{}{ready}}},
		{"ProxyPolicy", "TYPE=JWT TARGET=ProxyRoute/cart", map[string]interface{}{"type": "JWT"},
			map[string]interface{}{"target": "ProxyRoute/cart"}},
		{"WANLink", "SITE=hamburg ROLE=primary PROVIDER=Nordnetz LATENCY=12ms LOSS=0.1% HEALTHY=True",
			map[string]interface{}{"siteRef": "hamburg", "role": "primary", "provider": "Nordnetz"},
			map[string]interface{}{"latency": "12ms", "loss": "0.1%", "conditions": []interface{}{healthy}}},
	}
	for _, one := range cases {
		convertor, err := tableconvertor.New(kinds[one.kind].columns)
		if err != nil {
			t.Fatalf("%s: %v", one.kind, err)
		}
		object := &unstructured.Unstructured{Object: map[string]interface{}{
			"apiVersion": "edgeproxy.io/v1alpha1", "kind": one.kind,
			"metadata": map[string]interface{}{"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}}}
		if one.spec != nil {
			object.Object["spec"] = one.spec
		}
		object.Object["status"] = one.status
		table, err := convertor.ConvertToTable(context.Background(), object, &metav1.TableOptions{})
		if err != nil {
			t.Fatalf("%s: %v", one.kind, err)
		}
		var got []string
		for i, column := range table.ColumnDefinitions {
			if column.Name == "Name" || column.Name == "AGE" {
				continue
			}
			got = append(got, column.Name+"="+strings.TrimSpace(cell(table.Rows[0].Cells[i])))
		}
		if text := strings.Join(got, " "); text != one.want {
			t.Errorf("%s: %s, want %s", one.kind, text, one.want)
		}
	}
}

func cell(value interface{}) string {
	if text, is := value.(string); is {
		return text
	}
	text, _ := json.Marshal(value)
	return string(text)
}
