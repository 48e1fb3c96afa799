package client_go

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// relay leads from a port of this machine to the API server of a cluster, and can be taken away as a server that ends.
type relay struct {
	kubeconfig string
	to         string
	address    string

	mutex       sync.Mutex
	listener    net.Listener
	connections []net.Conn
}

func startRelay(t *testing.T, kubeconfig string) *server {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	host, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{cluster: &relay{kubeconfig: kubeconfig, to: host.Host, address: "127.0.0.1:0"}}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	made, err := kubernetes.NewForConfigOrDie(s.config(t)).CoreV1().Namespaces().Create(within(t),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "client-go-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.namespace = made.Name
	return s
}

func (r *relay) open() error {
	listener, err := net.Listen("tcp", r.address)
	if err != nil {
		return err
	}
	r.mutex.Lock()
	r.listener, r.address = listener, listener.Addr().String()
	r.mutex.Unlock()
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", r.to)
			if err != nil {
				_ = near.Close()
				continue
			}
			r.mutex.Lock()
			r.connections = append(r.connections, near, far)
			r.mutex.Unlock()
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				go func() {
					_, _ = io.Copy(way[1], way[0])
					_ = way[1].Close()
				}()
			}
		}
	}()
	return nil
}

// cut ends the relay and breaks its connections off.
func (r *relay) cut() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_ = r.listener.Close()
	for _, one := range r.connections {
		_ = one.Close()
	}
	r.connections = nil
}
