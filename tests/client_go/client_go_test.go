package client_go

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

var routes = schema.GroupVersionResource{Group: "edgeproxy.io", Version: "v1alpha1", Resource: "proxyroutes"}

func route(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "edgeproxy.io/v1alpha1",
		"kind":       "ProxyRoute",
		"metadata":   map[string]any{"name": name, "namespace": namespace},
		"spec": map[string]any{
			"parentRefs": []any{map[string]any{"name": "public"}},
			"hostnames":  []any{name + ".example.com"},
			"rules":      []any{map[string]any{"backendRefs": []any{map[string]any{"name": "shop"}}}},
		},
	}}
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
}

// follower notes what an informer tells.
type follower struct {
	mutex sync.Mutex
	told  []string
}

func (f *follower) note(what string, object any) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.told = append(f.told, what+" "+accessor.GetName())
}

func (f *follower) has(what string) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, one := range f.told {
		if one == what {
			return true
		}
	}
	return false
}

func (f *follower) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { f.note("added", object) },
		UpdateFunc: func(_, object any) { f.note("changed", object) },
		DeleteFunc: func(object any) { f.note("gone", object) },
	}
}

func TestTypedInformerFollowsWhatIsWrittenInProtobuf(t *testing.T) {
	api := startServer(t)
	config := api.config(t)
	ctx := within(t)
	clients := kubernetes.NewForConfigOrDie(config)
	maps := clients.CoreV1().ConfigMaps(api.namespace)
	if _, err := maps.Create(ctx, configMap("before", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(api.namespace))
	informer := factory.Core().V1().ConfigMaps()
	var seen follower
	_, _ = informer.Informer().AddEventHandler(seen.handler())
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Fatal("never synced: ", kind)
		}
	}
	eventually(t, "what was there", func() bool { return seen.has("added before") })

	made, err := maps.Create(ctx, configMap("later", "1"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is new", func() bool { return seen.has("added later") })
	made.Data["value"] = "2"
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what has changed", func() bool { return seen.has("changed later") })
	held, err := informer.Lister().ConfigMaps(api.namespace).Get("later")
	if err != nil || held.Data["value"] != "2" {
		t.Fatalf("the cache has %v, %v", held, err)
	}
	if err := maps.Delete(ctx, "later", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("another")}); !apierrors.IsConflict(err) {
		t.Fatalf("deleted by a wrong uid: %v", err)
	}
	if err := maps.Delete(ctx, "later", *metav1.NewPreconditionDeleteOptions(string(made.UID))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is gone", func() bool { return seen.has("gone later") })
}

func TestDynamicInformerOutlivesTheServer(t *testing.T) {
	api := startServer(t)
	ctx := within(t)
	client := dynamic.NewForConfigOrDie(api.config(t))
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, api.namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = "followed" })
	var seen follower
	_, _ = factory.ForResource(routes).Informer().AddEventHandler(seen.handler())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	follow := func(name string, followed bool) {
		object := route(api.namespace, name)
		if followed {
			object.SetLabels(map[string]string{"followed": "yes"})
		}
		if _, err := client.Resource(routes).Namespace(api.namespace).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	follow("other", false)
	follow("one", true)
	eventually(t, "the first route", func() bool { return seen.has("added one") })
	// What leaves the selection is gone for who selects.
	patch := []byte(`{"metadata":{"labels":null}}`)
	if _, err := client.Resource(routes).Namespace(api.namespace).Patch(ctx, "one", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its leaving", func() bool { return seen.has("gone one") })

	api.kill()
	if err := api.start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a write after the crash", func() bool {
		object := route(api.namespace, "two")
		object.SetLabels(map[string]string{"followed": "yes"})
		_, err := client.Resource(routes).Namespace(api.namespace).Create(ctx, object, metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err)
	})
	eventually(t, "the route after the crash", func() bool { return seen.has("added two") })
	if seen.has("added other") {
		t.Fatal("was told of what it did not select")
	}
}

func TestConflictsAreTriedAgain(t *testing.T) {
	api := startServer(t)
	config := api.config(t)
	ctx := within(t)
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(api.namespace)
	if _, err := maps.Create(ctx, configMap("counter", "0"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const writers, times = 5, 10
	var all sync.WaitGroup
	faults := make(chan error, writers*times)
	backoff := retry.DefaultBackoff
	backoff.Steps = 50
	for range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			for range times {
				faults <- retry.RetryOnConflict(backoff, func() error {
					held, err := maps.Get(ctx, "counter", metav1.GetOptions{})
					if err != nil {
						return err
					}
					count, _ := strconv.Atoi(held.Data["value"])
					held.Data["value"] = strconv.Itoa(count + 1)
					_, err = maps.Update(ctx, held, metav1.UpdateOptions{})
					return err
				})
			}
		}()
	}
	all.Wait()
	close(faults)
	for err := range faults {
		if err != nil {
			t.Fatal(err)
		}
	}
	held, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	if err != nil || held.Data["value"] != strconv.Itoa(writers*times) {
		t.Fatalf("counted %v, %v", held.Data, err)
	}
}

func TestLeadershipPassesOn(t *testing.T) {
	api := startServer(t)
	config := api.config(t)
	clients := kubernetes.NewForConfigOrDie(config)
	var mutex sync.Mutex
	leaders := []string{}
	run := func(ctx context.Context, name string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: api.namespace},
				Client:     clients.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			ReleaseOnCancel: true,
			LeaseDuration:   4 * time.Second,
			RenewDeadline:   3 * time.Second,
			RetryPeriod:     200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {
					mutex.Lock()
					defer mutex.Unlock()
					leaders = append(leaders, name)
				},
				OnStoppedLeading: func() {},
			},
		})
	}
	led := func(count int) func() bool {
		return func() bool {
			mutex.Lock()
			defer mutex.Unlock()
			return len(leaders) == count
		}
	}
	first, endFirst := context.WithCancel(within(t))
	second, endSecond := context.WithCancel(within(t))
	defer endSecond()
	go run(first, "one")
	eventually(t, "a leader", led(1))
	go run(second, "two")
	endFirst()
	eventually(t, "the next leader", led(2))
	if fmt.Sprint(leaders) != "[one two]" {
		t.Fatal(leaders)
	}
}

func TestListsComeInPages(t *testing.T) {
	api := startServer(t)
	config := api.config(t)
	ctx := within(t)
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(api.namespace)
	for i := range 25 {
		if _, err := maps.Create(ctx, configMap(fmt.Sprintf("m%02d", i), "x"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	pages := 0
	pager := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		pages++
		return maps.List(ctx, options)
	})
	pager.PageSize = 10
	names := 0
	if err := pager.EachListItem(ctx, metav1.ListOptions{}, func(runtime.Object) error { names++; return nil }); err != nil {
		t.Fatal(err)
	}
	// In a cluster each namespace has a ConfigMap of its own.
	if (names != 25 && names != 26) || pages != 3 {
		t.Fatalf("%d objects in %d pages", names, pages)
	}
}

func TestServerSideApplyKeepsWhoOwnsWhat(t *testing.T) {
	api := startServer(t)
	config := api.config(t)
	ctx := within(t)
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(api.namespace)
	apply := func(manager, key, value string, force bool) error {
		wanted := applycore.ConfigMap("shared", api.namespace).WithData(map[string]string{key: value})
		_, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: manager, Force: force})
		return err
	}
	if err := apply("ann", "a", "1", false); err != nil {
		t.Fatal(err)
	}
	if err := apply("joe", "b", "1", false); err != nil {
		t.Fatal(err)
	}
	err := apply("joe", "a", "2", false)
	if !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		t.Fatalf("took another's field: %v", err)
	}
	if err := apply("joe", "a", "2", true); err != nil {
		t.Fatal(err)
	}
	held, err := maps.Get(ctx, "shared", metav1.GetOptions{})
	// joe applied without `b` at the end, so it is gone.
	if err != nil || fmt.Sprint(held.Data) != "map[a:2]" {
		t.Fatalf("%v, %v", held.Data, err)
	}
}

func TestDiscoveryMapsKindsOldAndNew(t *testing.T) {
	config := startServer(t).config(t)
	client := discovery.NewDiscoveryClientForConfigOrDie(config)
	for _, legacy := range []bool{false, true} {
		client.UseLegacyDiscovery = legacy
		groups, err := restmapper.GetAPIGroupResources(client)
		if err != nil {
			t.Fatal(err)
		}
		mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(schema.GroupKind{Group: "edgeproxy.io", Kind: "ProxyRoute"})
		if err != nil || mapping.Resource != routes || mapping.Scope.Name() != meta.RESTScopeNameNamespace {
			t.Fatalf("legacy %v: %v, %v", legacy, mapping, err)
		}
	}
	if document, err := client.OpenAPISchema(); err != nil || len(document.GetDefinitions().GetAdditionalProperties()) < 20 {
		t.Fatalf("OpenAPI v2: %v", err)
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := paths["apis/edgeproxy.io/v1alpha1"].Schema("application/json"); err != nil || len(text) < 1000 {
		t.Fatalf("OpenAPI v3: %d bytes, %v", len(text), err)
	}
}
