// Holds server-side apply and strategic merge patches against the code of Kubernetes itself: random objects and writes,
// of which our answer and theirs must be the same. EDGE_OBJECTS_PEER is the program that answers for us.
package objects

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"reflect"
	"sort"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const kind = `{"type":"object","properties":{
  "apiVersion":{"type":"string"},"kind":{"type":"string"},
  "metadata":{"type":"object","properties":{"name":{"type":"string"},"namespace":{"type":"string"},
    "labels":{"type":"object","additionalProperties":{"type":"string"}},
    "annotations":{"type":"object","additionalProperties":{"type":"string"}},
    "managedFields":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
    "finalizers":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set","x-kubernetes-patch-strategy":"merge"}}},
  "spec":{"type":"object","properties":{
    "replicas":{"type":"integer"},"image":{"type":"string"},
    "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],
      "x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"port",
      "items":{"type":"object","properties":{"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"},
        "name":{"type":"string"},"deep":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}}},
    "items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
      "x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name",
      "items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"},
        "tags":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set","x-kubernetes-patch-strategy":"merge"}}}},
    "tags":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set","x-kubernetes-patch-strategy":"merge"},
    "args":{"type":"array","items":{"type":"string"}},
    "map":{"type":"object","additionalProperties":{"type":"string"}},
    "whole":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},"b":{"type":"string"}}},
    "struct":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"string"}}}}},
    "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}`

var gvk = schema.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "K"}

type peer struct {
	in  io.Writer
	out *bufio.Reader
}

func start(t *testing.T) *peer {
	path := os.Getenv("EDGE_OBJECTS_PEER")
	if path == "" {
		t.Skip("EDGE_OBJECTS_PEER is not set: run script/check-objects")
	}
	command := exec.Command(path)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); command.Wait() })
	p := &peer{in, bufio.NewReaderSize(out, 1<<20)}
	fmt.Fprintf(in, "{\"schema\":%s}\n", strings.ReplaceAll(kind, "\n", ""))
	return p
}

func (p *peer) ask(t *testing.T, question map[string]any) map[string]any {
	text, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(p.in, "%s\n", text)
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("no answer to %s: %v", text, err)
	}
	answer := map[string]any{}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// Random values of the kind above.
type maker struct{ *rand.Rand }

func (r maker) letter() string { return string(rune('a' + r.Intn(3))) }

func (r maker) distinct(n int) []int {
	all := r.Perm(n)
	return all[:r.Intn(n+1)]
}

func (r maker) tags() []any {
	list := []any{}
	for _, i := range r.distinct(4) {
		list = append(list, fmt.Sprintf("t%d", i))
	}
	return list
}

func (r maker) spec() map[string]any {
	spec := map[string]any{}
	maybe := func(name string, value any) {
		if r.Intn(3) != 0 {
			spec[name] = value
		}
	}
	maybe("replicas", int64(r.Intn(3)))
	maybe("image", r.letter())
	ports := []any{}
	for _, i := range r.distinct(4) {
		port := map[string]any{"port": int64(80 + i)}
		if r.Intn(2) == 0 {
			port["name"] = r.letter()
		}
		if r.Intn(3) == 0 {
			port["protocol"] = []string{"TCP", "UDP"}[r.Intn(2)]
		}
		if r.Intn(3) == 0 {
			port["deep"] = map[string]any{[]string{"a", "b"}[r.Intn(2)]: r.letter()}
		}
		ports = append(ports, port)
	}
	maybe("ports", ports)
	items := []any{}
	for _, i := range r.distinct(4) {
		item := map[string]any{"name": fmt.Sprintf("n%d", i)}
		if r.Intn(2) == 0 {
			item["value"] = r.letter()
		}
		if r.Intn(2) == 0 {
			item["tags"] = r.tags()
		}
		items = append(items, item)
	}
	maybe("items", items)
	maybe("tags", r.tags())
	maybe("args", []any{r.letter()})
	values := map[string]any{}
	for _, i := range r.distinct(3) {
		values[fmt.Sprintf("k%d", i)] = r.letter()
	}
	maybe("map", values)
	maybe("whole", map[string]any{"a": r.letter()})
	maybe("struct", map[string]any{"a": r.letter(), "b": map[string]any{"c": r.letter()}})
	maybe("free", map[string]any{"x" + r.letter(): map[string]any{"y": int64(r.Intn(2))}, "l": []any{r.letter()}})
	return spec
}

func (r maker) object() map[string]any {
	meta := map[string]any{"name": "n"}
	if r.Intn(2) == 0 {
		meta["labels"] = map[string]any{"l" + r.letter(): r.letter()}
	}
	if r.Intn(3) == 0 {
		meta["finalizers"] = []any{"e.com/" + r.letter()}
	}
	return map[string]any{"apiVersion": "e.com/v1", "kind": "K", "metadata": meta, "spec": r.spec()}
}

// Without nulls and what is empty: Kubernetes leaves nulls behind where we leave nothing, or an empty value that has an
// owner. Numbers as JSON has them.
func settled(value any) any {
	text, _ := json.Marshal(value)
	var plain any
	json.Unmarshal(text, &plain)
	return withoutNulls(plain)
}

func withoutNulls(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range typed {
			kept := withoutNulls(inner)
			// They leave this directive in objects that are new; ours has none (checked below).
			if kept == nil || name == "$retainKeys" {
				continue
			}
			out[name] = kept
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		out := []any{}
		for _, inner := range typed {
			if kept := withoutNulls(inner); kept != nil {
				out = append(out, kept)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return value
}

// Entries by who wrote them, without their times.
func owners(object map[string]any) map[string]any {
	out := map[string]any{}
	meta, _ := object["metadata"].(map[string]any)
	list, _ := meta["managedFields"].([]any)
	for _, entry := range list {
		one := entry.(map[string]any)
		out[fmt.Sprint(one["manager"], " ", one["operation"], " ", one["apiVersion"])] = one["fieldsV1"]
	}
	return out
}

func withoutOwners(object map[string]any) map[string]any {
	copied := settled(object).(map[string]any)
	delete(copied["metadata"].(map[string]any), "managedFields")
	return copied
}

func text(value any) string {
	out, _ := json.MarshalIndent(value, "", " ")
	return string(out)
}

func converter(t *testing.T) managedfields.TypeConverter {
	var s spec.Schema
	if err := json.Unmarshal([]byte(kind), &s); err != nil {
		t.Fatal(err)
	}
	s.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}})
	c, err := managedfields.NewTypeConverter(map[string]*spec.Schema{"com.e.v1.K": &s}, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func causes(err error) []string {
	status, ok := err.(errors.APIStatus)
	if !ok || status.Status().Details == nil {
		return nil
	}
	out := []string{}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			out = append(out, cause.Message+" "+cause.Field)
		}
	}
	sort.Strings(out)
	return out
}

func TestWritesGiveWhatKubernetesGives(t *testing.T) {
	p := start(t)
	manager := managedfieldstest.NewFakeFieldManager(converter(t), gvk)
	writes, conflicts := 0, 0
	for seed := int64(0); seed < 200; seed++ {
		r := maker{rand.New(rand.NewSource(seed))}
		empty := func() *unstructured.Unstructured {
			u := &unstructured.Unstructured{Object: map[string]any{}}
			u.SetGroupVersionKind(gvk)
			return u
		}
		live := empty()
		for step := 0; step < 8; step++ {
			object := r.object()
			who := []string{"a", "b", "kubectl", "edit"}[r.Intn(4)]
			force := r.Intn(2) == 0
			question := map[string]any{"object": object, "manager": who, "force": force, "live": live.Object}
			if step == 0 {
				question["live"] = nil
			}
			given := &unstructured.Unstructured{Object: (&unstructured.Unstructured{Object: object}).DeepCopy().Object}
			var theirs any
			var err error
			if who == "edit" {
				question["op"] = "update"
				theirs, err = manager.Update(live.DeepCopy(), given, who)
			} else {
				question["op"] = "apply"
				theirs, err = manager.Apply(live.DeepCopy(), given, who, force)
			}
			answer := p.ask(t, question)
			writes++
			if err != nil {
				conflicts++
				ours := []string{}
				list, _ := answer["conflicts"].([]any)
				for _, one := range list {
					ours = append(ours, one.(string))
				}
				sort.Strings(ours)
				if !reflect.DeepEqual(ours, causes(err)) {
					t.Fatalf("seed %d step %d: they: %v\nwe: %s\nlive: %s\nobject: %s", seed, step, causes(err), text(answer), text(live.Object), text(object))
				}
				continue
			}
			next := theirs.(*unstructured.Unstructured)
			ours, ok := answer["object"].(map[string]any)
			if !ok {
				t.Fatalf("seed %d step %d: we refuse: %s\nquestion: %s", seed, step, text(answer), text(question))
			}
			if want := withoutOwners(next.Object); !reflect.DeepEqual(withoutOwners(ours), want) {
				t.Fatalf("seed %d step %d: objects differ\nthey: %s\nwe: %s\nquestion: %s", seed, step, text(want), text(withoutOwners(ours)), text(question))
			}
			if want := owners(next.Object); !reflect.DeepEqual(owners(ours), want) {
				t.Fatalf("seed %d step %d: owners differ\nthey: %s\nwe: %s\nquestion: %s", seed, step, text(want), text(owners(ours)), text(question))
			}
			live = &unstructured.Unstructured{}
			liveText, _ := json.Marshal(ours)
			if err := live.UnmarshalJSON(liveText); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d writes, %d of them conflicts", writes, conflicts)
}

// A patch at random: values of the kind, with directives.
func (r maker) patch() map[string]any {
	spec := r.spec()
	for _, name := range []string{"replicas", "image", "map", "struct"} {
		if r.Intn(6) == 0 {
			spec[name] = nil
		}
	}
	if items, ok := spec["items"].([]any); ok {
		if r.Intn(3) == 0 {
			items = append(items, map[string]any{"$patch": "delete", "name": fmt.Sprintf("n%d", 4+r.Intn(2))})
		}
		if r.Intn(6) == 0 {
			items = append(items, map[string]any{"$patch": "replace"})
		} else if r.Intn(3) == 0 {
			order := []any{}
			for _, item := range items {
				order = append(order, map[string]any{"name": item.(map[string]any)["name"]})
			}
			spec["$setElementOrder/items"] = order
		}
		spec["items"] = items
	}
	// Both at once have no order in Go.
	if _, also := spec["tags"]; !also && r.Intn(2) == 0 {
		spec["$deleteFromPrimitiveList/tags"] = r.tags()
	}
	if r.Intn(4) == 0 {
		spec["struct"] = map[string]any{"$retainKeys": []any{"a"}, "a": r.letter()}
	}
	if r.Intn(8) == 0 {
		spec["struct"] = map[string]any{"$patch": []string{"replace", "delete"}[r.Intn(2)], "a": r.letter()}
	}
	return map[string]any{"spec": spec}
}

func TestStrategicPatchesGiveWhatKubernetesGives(t *testing.T) {
	p := start(t)
	var s spec.Schema
	if err := json.Unmarshal([]byte(kind), &s); err != nil {
		t.Fatal(err)
	}
	meta := strategicpatch.PatchMetaFromOpenAPIV3{Schema: &s}
	refused := 0
	for seed := int64(0); seed < 3000; seed++ {
		r := maker{rand.New(rand.NewSource(seed))}
		object, patch := r.object(), r.patch()
		// Their tables of OpenAPI refuse fields that have no schema.
		delete(object["spec"].(map[string]any), "free")
		delete(patch["spec"].(map[string]any), "free")
		objectText, _ := json.Marshal(object)
		patchText, _ := json.Marshal(patch)
		theirs, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(objectText, patchText, meta)
		answer := p.ask(t, map[string]any{"op": "strategic", "live": object, "object": patch})
		ours, ok := answer["object"].(map[string]any)
		if err != nil {
			refused++
			// An order of nothing is a fault to them.
			if ok && !strings.Contains(err.Error(), "no elements in any of the given slices") {
				t.Fatalf("seed %d: they refuse: %v\nobject: %s\npatch: %s", seed, err, objectText, patchText)
			}
			continue
		}
		var want map[string]any
		json.Unmarshal(theirs, &want)
		if strings.Contains(text(ours), "\"$") {
			t.Fatalf("seed %d: a directive stayed\nwe: %s\npatch: %s", seed, text(ours), patchText)
		}
		if !ok || !reflect.DeepEqual(settled(ours), settled(want)) {
			t.Fatalf("seed %d:\nthey: %s\nwe: %s\nobject: %s\npatch: %s", seed, theirs, text(answer), objectText, patchText)
		}
	}
	t.Logf("3000 patches, %d refused by both", refused)
}
