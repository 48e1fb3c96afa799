package client_go

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "test.example/hold"

// reconciler holds each route by a finalizer, and says in its status how many rules it has.
type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "edgeproxy.io", Version: "v1alpha1", Kind: "ProxyRoute"})
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() != nil {
		controllerutil.RemoveFinalizer(object, finalizer)
		return ctrl.Result{}, r.Update(ctx, object)
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		return ctrl.Result{}, r.Update(ctx, object)
	}
	rules, _, _ := unstructured.NestedSlice(object.Object, "spec", "rules")
	if count, found, _ := unstructured.NestedInt64(object.Object, "status", "ruleCount"); found && count == int64(len(rules)) {
		return ctrl.Result{}, nil
	}
	_ = unstructured.SetNestedField(object.Object, int64(len(rules)), "status", "ruleCount")
	return ctrl.Result{}, r.Status().Update(ctx, object)
}

func TestManagerReconcilesRoutes(t *testing.T) {
	api := startServer(t)
	config := api.config(t)
	ctx, end := context.WithCancel(within(t))
	ctrl.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                       metrics.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "routes.test.example",
		LeaderElectionNamespace:       api.namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(schema.GroupVersionKind{Group: "edgeproxy.io", Version: "v1alpha1", Kind: "ProxyRoute"})
	if err := ctrl.NewControllerManagedBy(manager).Named("routes").For(kind).Complete(&reconciler{manager.GetClient()}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made := route(api.namespace, "managed")
	if err := direct.Create(ctx, made); err != nil {
		t.Fatal(err)
	}
	generation := made.GetGeneration()
	now := func() (*unstructured.Unstructured, error) {
		held := kind.DeepCopy()
		return held, direct.Get(ctx, client.ObjectKeyFromObject(made), held)
	}
	eventually(t, "the status", func() bool {
		held, err := now()
		count, found, _ := unstructured.NestedInt64(held.Object, "status", "ruleCount")
		return err == nil && found && count == 1
	})
	held, err := now()
	if err != nil || held.GetGeneration() != generation || len(held.GetFinalizers()) != 1 {
		t.Fatalf("generation %d, finalizers %v, %v", held.GetGeneration(), held.GetFinalizers(), err)
	}
	if err := direct.Delete(ctx, made, &client.DeleteOptions{Preconditions: &metav1.Preconditions{}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the route", func() bool {
		_, err := now()
		return apierrors.IsNotFound(err)
	})
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
