package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	discovery "k8s.io/api/discovery/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// serviceNames is the /etc/hosts of all containers: the name of a Service leads to an endpoint of it that is ready, by the
// port that the endpoint has. It stands for DNS and kube-proxy.
type serviceNames struct {
	path     string
	resolver string // /etc/resolv.conf: nobody answers, at once

	mutex  sync.Mutex
	slices map[string]*discovery.EndpointSlice
}

func newServiceNames(state string) (*serviceNames, error) {
	names := &serviceNames{path: filepath.Join(state, "hosts"), resolver: filepath.Join(state, "resolv.conf"),
		slices: map[string]*discovery.EndpointSlice{}}
	// The machine's name servers are out of reach: whoever also asks for an address of IPv6 would wait for them.
	if err := os.WriteFile(names.resolver, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		return nil, err
	}
	return names, names.write()
}

// follow keeps the file as the API server has the endpoints, until `done` is closed.
func (names *serviceNames) follow(client kubernetes.Interface, done <-chan struct{}) error {
	list := cache.NewListWatchFromClient(client.DiscoveryV1().RESTClient(), "endpointslices", meta.NamespaceAll, fields.Everything())
	informer := cache.NewSharedInformer(list, &discovery.EndpointSlice{}, 0)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { names.see(object, false) },
		UpdateFunc: func(_, object any) { names.see(object, false) },
		DeleteFunc: func(object any) { names.see(object, true) },
	})
	if err == nil {
		go informer.Run(done)
	}
	return err
}

func (names *serviceNames) see(object any, gone bool) {
	slice, is := object.(*discovery.EndpointSlice)
	if !is {
		return
	}
	key := slice.Namespace + "/" + slice.Name
	names.mutex.Lock()
	if gone {
		delete(names.slices, key)
	} else {
		names.slices[key] = slice
	}
	err := names.write()
	names.mutex.Unlock()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bed: names of Services:", err)
	}
}

// write keeps the file itself, as it is mounted in containers.
func (names *serviceNames) write() error {
	lines := []string{}
	for _, slice := range names.slices {
		service := slice.Labels[discovery.LabelServiceName]
		for _, endpoint := range slice.Endpoints {
			ready := endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready
			if service == "" || !ready || len(endpoint.Addresses) == 0 {
				continue
			}
			full := service + "." + slice.Namespace + ".svc"
			lines = append(lines, fmt.Sprintf("%s %s %s.cluster.local", endpoint.Addresses[0], full, full))
		}
	}
	slices.Sort(lines)
	return os.WriteFile(names.path, []byte("127.0.0.1 localhost\n"+strings.Join(lines, "\n")+"\n"), 0o644)
}
