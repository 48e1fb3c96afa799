// Command bars measures the product in a cluster of the bed against the times that it promises; bars.sh starts it.
//
//	bars programmed COUNT     from the creation of a Gateway to its condition Programmed, at the median
//	bars routes COUNT URL     HTTPRoutes created as fast as the server takes them, until all are served at URL
//	bars services COUNT       Services with ten endpoints each
//
// Objects are made in the namespace `bars`, which is there, and stay.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	namespace = "bars"
	workers   = 16
	patience  = 5 * time.Minute
)

func gatewayAPI(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: resource}
}

func object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind,
		"metadata": map[string]any{"name": name}, "spec": spec}}
}

// gateway has an address of its own, which leads to the node that the agent runs on.
func gateway(i int) *unstructured.Unstructured {
	return object("Gateway", fmt.Sprintf("g%d", i), map[string]any{
		"gatewayClassName": "edge",
		"addresses":        []any{map[string]any{"type": "IPAddress", "value": fmt.Sprintf("10.244.9.%d", i)}},
		"listeners":        []any{map[string]any{"name": "http", "port": int64(80), "protocol": "HTTP"}},
	})
}

func host(i int) string { return fmt.Sprintf("r%d.example.com", i) }

func httpRoute(i int) *unstructured.Unstructured {
	return object("HTTPRoute", fmt.Sprintf("r%d", i), map[string]any{
		"parentRefs": []any{map[string]any{"name": "bars"}},
		"hostnames":  []any{host(i)},
		"rules":      []any{map[string]any{"backendRefs": []any{map[string]any{"name": "echo", "port": int64(3000)}}}},
	})
}

// inParallel calls `one` for each number below `count`, by several workers, and returns the first error.
func inParallel(count int, one func(i int) error) error {
	var next atomic.Int64
	var first atomic.Pointer[error]
	var group sync.WaitGroup
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := int(next.Add(1)) - 1; i < count && first.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := one(i); err != nil {
					first.CompareAndSwap(nil, &err)
				}
			}
		}()
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

func isProgrammed(object *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, one := range conditions {
		condition, is := one.(map[string]any)
		if is && condition["type"] == "Programmed" && condition["status"] == "True" {
			return true
		}
	}
	return false
}

// programmed makes Gateways one after another and watches each until it is programmed.
func programmed(ctx context.Context, client dynamic.Interface, count int) error {
	gateways := client.Resource(gatewayAPI("gateways")).Namespace(namespace)
	var took []time.Duration
	for i := 1; i <= count; i++ {
		watched, err := gateways.Watch(ctx, meta.ListOptions{FieldSelector: fmt.Sprintf("metadata.name=g%d", i)})
		if err != nil {
			return err
		}
		began := time.Now()
		if _, err := gateways.Create(ctx, gateway(i), meta.CreateOptions{}); err != nil {
			return err
		}
		for event := range watched.ResultChan() {
			if object, is := event.Object.(*unstructured.Unstructured); is && isProgrammed(object) {
				took = append(took, time.Since(began))
				break
			}
		}
		watched.Stop()
		if len(took) != i {
			return fmt.Errorf("gateway g%d is not programmed", i)
		}
	}
	slices.Sort(took)
	fmt.Printf("programmed: median %d ms, 90th percentile %d ms, longest %d ms, of %d Gateways\n",
		took[len(took)/2].Milliseconds(), took[len(took)*9/10].Milliseconds(), took[len(took)-1].Milliseconds(), count)
	return nil
}

// routes creates HTTPRoutes, and asks for each until all are served.
func routes(ctx context.Context, client dynamic.Interface, count int, url string) error {
	all := client.Resource(gatewayAPI("httproutes")).Namespace(namespace)
	began := time.Now()
	err := inParallel(count, func(i int) error {
		_, err := all.Create(ctx, httpRoute(i), meta.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	answered := time.Now()
	var last atomic.Int64
	web := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}, Timeout: 10 * time.Second}
	serves := func(i int) bool {
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		request.Host = host(i)
		reply, err := web.Do(request)
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, reply.Body)
		_ = reply.Body.Close()
		return reply.StatusCode == http.StatusOK
	}
	// The newest first: those are served last.
	err = inParallel(count, func(i int) error {
		number := count - 1 - i
		for !serves(number) {
			if time.Since(answered) > patience {
				return fmt.Errorf("%s is not served", host(number))
			}
			time.Sleep(5 * time.Millisecond)
		}
		if i < workers {
			last.Store(max(last.Load(), int64(time.Since(answered))))
		}
		return nil
	})
	fmt.Printf("routes: %d created within %.1f s (%.0f a second); the last %d of them served %d ms after the last answer, "+
		"all asked for once after %d ms\n", count, answered.Sub(began).Seconds(), float64(count)/answered.Sub(began).Seconds(),
		workers, time.Duration(last.Load()).Milliseconds(), time.Since(answered).Milliseconds())
	return err
}

// services makes Services with an EndpointSlice of ten endpoints each.
func services(ctx context.Context, client kubernetes.Interface, count int) error {
	began := time.Now()
	port, name, ready := int32(8080), "http", true
	err := inParallel(count, func(i int) error {
		service := &core.Service{ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("s%d", i)},
			Spec: core.ServiceSpec{ClusterIP: "None", Ports: []core.ServicePort{{Name: name, Port: 80}}}}
		if _, err := client.CoreV1().Services(namespace).Create(ctx, service, meta.CreateOptions{}); err != nil {
			return err
		}
		slice := &discovery.EndpointSlice{ObjectMeta: meta.ObjectMeta{Name: service.Name + "-1",
			Labels: map[string]string{discovery.LabelServiceName: service.Name}}, AddressType: discovery.AddressTypeIPv4,
			Ports: []discovery.EndpointPort{{Name: &name, Port: &port}}}
		for e := range 10 {
			var address [4]byte
			binary.BigEndian.PutUint32(address[:], 10<<24|128<<16|uint32(i*10+e))
			slice.Endpoints = append(slice.Endpoints, discovery.Endpoint{
				Addresses:  []string{fmt.Sprintf("%d.%d.%d.%d", address[0], address[1], address[2], address[3])},
				Conditions: discovery.EndpointConditions{Ready: &ready}})
		}
		_, err := client.DiscoveryV1().EndpointSlices(namespace).Create(ctx, slice, meta.CreateOptions{})
		return err
	})
	fmt.Printf("services: %d with %d endpoints created within %.1f s\n", count, 10*count, time.Since(began).Seconds())
	return err
}

func run() error {
	if len(os.Args) < 3 {
		return fmt.Errorf("usage: bars programmed|routes|services COUNT [URL]")
	}
	count, err := strconv.Atoi(os.Args[2])
	if err != nil || count < 1 {
		return fmt.Errorf("%s is no count", os.Args[2])
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, 0
	ctx, stop := context.WithTimeout(context.Background(), 2*patience)
	defer stop()
	if os.Args[1] == "services" {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		return services(ctx, client, count)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	switch {
	case os.Args[1] == "programmed":
		return programmed(ctx, client, count)
	case os.Args[1] == "routes" && len(os.Args) == 4:
		return routes(ctx, client, count, os.Args[3])
	}
	return fmt.Errorf("%s is not known", os.Args[1])
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bars:", err)
		os.Exit(1)
	}
}
