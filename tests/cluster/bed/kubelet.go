package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Kubelet serves all nodes: it gives pods to nodes, runs them and tells their state.
type Kubelet struct {
	ctx     context.Context
	cancel  context.CancelFunc
	client  kubernetes.Interface
	network *Network
	bin     string
	state   string
	pki     string
	logs    string
	names   *serviceNames

	mutex sync.Mutex
	pods  map[types.UID]*pod
	turn  int
	work  sync.WaitGroup
}

func startKubelet(parent context.Context, config *rest.Config, network *Network, bin, state, logs string) (*Kubelet, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(parent)
	kubelet := &Kubelet{ctx: ctx, cancel: cancel, client: client, network: network, bin: bin,
		state: filepath.Join(state, "pods"), pki: filepath.Join(state, "pki"), logs: logs, pods: map[types.UID]*pod{}}
	if kubelet.names, err = newServiceNames(state); err != nil {
		return nil, err
	}
	if err := kubelet.names.follow(client, ctx.Done()); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(kubelet.state, 0o755); err != nil {
		return nil, err
	}
	for _, node := range network.Nodes {
		if err := kubelet.register(node); err != nil {
			return nil, err
		}
	}
	if err := kubelet.serveLogs(filepath.Join(state, "pki")); err != nil {
		return nil, err
	}
	// Every pod, as there is no scheduler that would give them to a node.
	list := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", meta.NamespaceAll, fields.Everything())
	informer := cache.NewSharedInformer(list, &core.Pod{}, 0)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { kubelet.see(object.(*core.Pod)) },
		UpdateFunc: func(_, object any) { kubelet.see(object.(*core.Pod)) },
		DeleteFunc: func(object any) {
			if gone, is := object.(*core.Pod); is {
				kubelet.end(gone.UID, 0)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	go informer.Run(ctx.Done())
	go kubelet.renewNodes()
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, fmt.Errorf("pods cannot be listed")
	}
	return kubelet, nil
}

// stop ends all pods.
func (kubelet *Kubelet) stop() {
	kubelet.cancel()
	kubelet.mutex.Lock()
	for _, running := range kubelet.pods {
		running.kill()
	}
	kubelet.mutex.Unlock()
	kubelet.work.Wait()
}

// register makes the Node object, ready.
func (kubelet *Kubelet) register(node Node) error {
	nodes := kubelet.client.CoreV1().Nodes()
	object := &core.Node{ObjectMeta: meta.ObjectMeta{Name: node.Name, Labels: map[string]string{
		"kubernetes.io/hostname": node.Name, "kubernetes.io/os": "linux", "topology.kubernetes.io/zone": "zone-" + node.Name}}}
	created, err := nodes.Create(kubelet.ctx, object, meta.CreateOptions{})
	if err != nil {
		return err
	}
	now := meta.Now()
	created.Status = core.NodeStatus{
		Addresses: []core.NodeAddress{{Type: core.NodeInternalIP, Address: node.Address.String()},
			{Type: core.NodeHostName, Address: node.Name}},
		Conditions: []core.NodeCondition{{Type: core.NodeReady, Status: core.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: now}},
		DaemonEndpoints: core.NodeDaemonEndpoints{KubeletEndpoint: core.DaemonEndpoint{Port: kubeletPort}},
	}
	created, err = nodes.UpdateStatus(kubelet.ctx, created, meta.UpdateOptions{})
	if err != nil {
		return err
	}
	// The node controller marks a node whose state it has not seen yet; it is ready from the start here.
	created.Spec.Taints = nil
	_, err = nodes.Update(kubelet.ctx, created, meta.UpdateOptions{})
	if errors.IsConflict(err) {
		err = nil
	}
	return err
}

// renewNodes says every ten seconds that the nodes live.
func (kubelet *Kubelet) renewNodes() {
	for {
		select {
		case <-kubelet.ctx.Done():
			return
		case <-time.After(10 * time.Second):
		}
		for _, node := range kubelet.network.Nodes {
			stamp := meta.Now().UTC().Format(time.RFC3339)
			patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":%q}]}}`, stamp)
			_, err := kubelet.client.CoreV1().Nodes().Patch(kubelet.ctx, node.Name, types.StrategicMergePatchType,
				[]byte(patch), meta.PatchOptions{}, "status")
			if err != nil && kubelet.ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "bed: node", node.Name, "cannot be renewed:", err)
			}
		}
	}
}

// see takes the state of a pod as the API server has it.
func (kubelet *Kubelet) see(object *core.Pod) {
	switch {
	case object.Spec.NodeName == "":
		if object.DeletionTimestamp == nil {
			kubelet.bind(object)
		}
	case object.DeletionTimestamp != nil:
		grace := 30 * time.Second
		if object.DeletionGracePeriodSeconds != nil {
			grace = time.Duration(*object.DeletionGracePeriodSeconds) * time.Second
		}
		if !kubelet.end(object.UID, grace) {
			kubelet.forget(object)
		}
	case object.Status.Phase == core.PodSucceeded || object.Status.Phase == core.PodFailed:
	default:
		kubelet.mutex.Lock()
		if _, known := kubelet.pods[object.UID]; !known {
			started := newPod(kubelet, object.DeepCopy())
			kubelet.pods[object.UID] = started
			kubelet.work.Add(1)
			go func() {
				defer kubelet.work.Done()
				started.run()
			}()
		}
		kubelet.mutex.Unlock()
	}
}

// bind gives a pod to the next node that its selector and its required affinity by name allow.
func (kubelet *Kubelet) bind(object *core.Pod) {
	nodes := kubelet.network.Nodes
	wanted := ""
	if affinity := object.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil {
		if required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			// The daemon set controller names its node so.
			for _, term := range required.NodeSelectorTerms {
				for _, field := range term.MatchFields {
					if field.Key == "metadata.name" && len(field.Values) == 1 {
						wanted = field.Values[0]
					}
				}
			}
		}
	}
	if name := object.Spec.NodeSelector["kubernetes.io/hostname"]; name != "" {
		wanted = name
	}
	kubelet.mutex.Lock()
	if wanted == "" {
		wanted = nodes[kubelet.turn%len(nodes)].Name
		kubelet.turn++
	}
	kubelet.mutex.Unlock()
	binding := &core.Binding{ObjectMeta: meta.ObjectMeta{Name: object.Name, Namespace: object.Namespace, UID: object.UID},
		Target: core.ObjectReference{Kind: "Node", Name: wanted}}
	err := kubelet.client.CoreV1().Pods(object.Namespace).Bind(kubelet.ctx, binding, meta.CreateOptions{})
	if err != nil && !errors.IsConflict(err) && !errors.IsNotFound(err) && kubelet.ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "bed: pod %s/%s cannot be bound: %v\n", object.Namespace, object.Name, err)
	}
}

// end stops a pod within `grace` and returns whether it runs here; the pod's own goroutine does the rest.
func (kubelet *Kubelet) end(uid types.UID, grace time.Duration) bool {
	kubelet.mutex.Lock()
	running, known := kubelet.pods[uid]
	kubelet.mutex.Unlock()
	if known {
		running.end(grace)
	}
	return known
}

// forget tells the API server that nothing of a deleted pod runs any more.
func (kubelet *Kubelet) forget(object *core.Pod) {
	zero := int64(0)
	err := kubelet.client.CoreV1().Pods(object.Namespace).Delete(kubelet.ctx, object.Name,
		meta.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: &meta.Preconditions{UID: &object.UID}})
	if err != nil && !errors.IsNotFound(err) && !errors.IsConflict(err) && kubelet.ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "bed: pod %s/%s cannot be deleted: %v\n", object.Namespace, object.Name, err)
	}
}

func (kubelet *Kubelet) node(name string) (Node, bool) {
	for _, node := range kubelet.network.Nodes {
		if node.Name == name {
			return node, true
		}
	}
	return Node{}, false
}
