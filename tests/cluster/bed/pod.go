package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// pod is one pod that runs here. Its goroutine (`run`) makes it, keeps its containers running and takes it away.
type pod struct {
	kubelet *Kubelet
	object  *core.Pod
	ending  chan struct{} // closed by the first call of `end`

	mutex   sync.Mutex
	once    sync.Once
	grace   time.Duration
	address netip.Addr
	states  []containerState
}

type containerState struct {
	child    *exec.Cmd
	running  bool
	ready    bool
	restarts int32
	started  meta.Time
	last     *core.ContainerStateTerminated
}

func newPod(kubelet *Kubelet, object *core.Pod) *pod {
	return &pod{kubelet: kubelet, object: object, ending: make(chan struct{}),
		states: make([]containerState, len(object.Spec.Containers))}
}

// netns names the network namespace of the pod: its node's, or its own.
func (pod *pod) netns() string {
	if pod.object.Spec.HostNetwork {
		return pod.object.Spec.NodeName
	}
	return string(pod.object.UID)
}

func (pod *pod) name() string { return pod.object.Namespace + "/" + pod.object.Name }

func (pod *pod) end(grace time.Duration) {
	pod.once.Do(func() {
		pod.grace = grace
		close(pod.ending)
	})
}

// kill ends the pod's processes at once.
func (pod *pod) kill() {
	pod.end(0)
	pod.signal(syscall.SIGKILL)
}

func (pod *pod) signal(number syscall.Signal) {
	pod.mutex.Lock()
	defer pod.mutex.Unlock()
	for i := range pod.states {
		if state := &pod.states[i]; state.running {
			_ = syscall.Kill(-state.child.Process.Pid, number)
		}
	}
}

func (pod *pod) run() {
	folder := filepath.Join(pod.kubelet.state, string(pod.object.UID))
	netns := pod.netns()
	node, known := pod.kubelet.node(pod.object.Spec.NodeName)
	err := fmt.Errorf("node %s is not known", pod.object.Spec.NodeName)
	if known {
		if pod.object.Spec.HostNetwork {
			pod.address, err = node.Address, nil
		} else {
			pod.address, err = pod.kubelet.network.Add(netns)
			defer pod.kubelet.network.Remove(netns, pod.address)
		}
	}
	pod.object.Status.PodIP, pod.object.Status.HostIP = pod.address.String(), node.Address.String()
	var containers sync.WaitGroup
	if err == nil {
		for i := range pod.object.Spec.Containers {
			containers.Add(1)
			go func() {
				defer containers.Done()
				pod.keep(i, netns, folder)
			}()
		}
	} else {
		pod.complain(err)
	}
	<-pod.ending
	pod.signal(syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		containers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(pod.grace):
		pod.signal(syscall.SIGKILL)
		<-ended
	}
	_ = os.RemoveAll(folder)
	pod.kubelet.mutex.Lock()
	delete(pod.kubelet.pods, pod.object.UID)
	pod.kubelet.mutex.Unlock()
	if pod.kubelet.ctx.Err() == nil {
		pod.kubelet.forget(pod.object)
	}
}

func (pod *pod) complain(err error) {
	if pod.kubelet.ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "bed: pod %s: %v\n", pod.name(), err)
	}
}

// keep runs container `i` until the pod ends, again with a growing pause where it ends by itself.
func (pod *pod) keep(i int, netns, folder string) {
	pause := 250 * time.Millisecond
	waits := false
	for {
		err := pod.runOnce(i, netns, folder)
		if errors.IsNotFound(err) {
			// What it refers to comes later, as may be; that is no end of the container.
			if !waits {
				pod.complain(fmt.Errorf("container %s waits: %w", pod.object.Spec.Containers[i].Name, err))
			}
			waits = true
			select {
			case <-pod.ending:
				return
			case <-time.After(250 * time.Millisecond):
			}
			continue
		}
		select {
		case <-pod.ending:
			return
		default:
		}
		pod.mutex.Lock()
		state := &pod.states[i]
		state.restarts++
		code := int32(exitCode(err))
		state.last = &core.ContainerStateTerminated{ExitCode: code, Reason: "Error", FinishedAt: meta.Now()}
		pod.mutex.Unlock()
		pod.tell()
		pod.complain(fmt.Errorf("container %s ended: %v", pod.object.Spec.Containers[i].Name, err))
		select {
		case <-pod.ending:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, 30*time.Second)
	}
}

// runOnce runs container `i` once.
func (pod *pod) runOnce(i int, netns, folder string) error {
	container := &pod.object.Spec.Containers[i]
	values := valueSource{pod.kubelet.ctx, pod.kubelet.client}
	volumes, err := values.write(pod.object, filepath.Join(folder, "volumes"))
	if err != nil {
		return err
	}
	env, err := variables(pod.object, container, values)
	if err != nil {
		return err
	}
	spec := containerSpec{Netns: netns, Root: filepath.Join(folder, container.Name), Name: container.Name, Env: env,
		Dir: container.WorkingDir, Program: programPath(pod.kubelet.bin, container), Mounts: map[string]string{
			"/etc/hosts": pod.kubelet.names.path, "/etc/resolv.conf": pod.kubelet.names.resolver}}
	known := map[string]string{}
	for _, variable := range env[len(env)-len(container.Env):] {
		name, value, _ := strings.Cut(variable, "=")
		known[name] = value
	}
	for _, argument := range append(skipProgram(container.Command), container.Args...) {
		spec.Args = append(spec.Args, expand(argument, known))
	}
	for _, mount := range container.VolumeMounts {
		spec.Mounts[mount.MountPath] = filepath.Join(volumes[mount.Name], mount.SubPath)
	}
	account, err := pod.serviceAccount(values, filepath.Join(folder, "serviceaccount"))
	if err != nil {
		return err
	}
	if account != "" {
		spec.Mounts[serviceAccountPath] = account
	}
	child, err := containerProcess(spec)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(pod.kubelet.logFile(pod.object.Namespace, pod.object.Name, container.Name),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	lines := &lineLog{file: log}
	child.Stdout, child.Stderr = lines, lines
	// A process that a container leaves behind does not hold its end up.
	child.WaitDelay = time.Second
	pod.mutex.Lock()
	select {
	case <-pod.ending:
		pod.mutex.Unlock()
		return nil
	default:
	}
	if err = child.Start(); err == nil {
		pod.states[i].child, pod.states[i].running, pod.states[i].started = child, true, meta.Now()
	}
	pod.mutex.Unlock()
	if err != nil {
		return err
	}
	probing, stop := context.WithCancel(pod.kubelet.ctx)
	defer stop()
	go pod.probe(probing, i)
	err = child.Wait()
	pod.mutex.Lock()
	pod.states[i].running, pod.states[i].ready = false, false
	pod.mutex.Unlock()
	return err
}

// serviceAccountPath is where clients look for their token: /var/run is a link to /run.
const serviceAccountPath = "/run/secrets/kubernetes.io/serviceaccount"

// serviceAccount writes the token of the pod's account into `folder` and returns it, or "" where the pod wants none.
func (pod *pod) serviceAccount(values valueSource, folder string) (string, error) {
	spec := &pod.object.Spec
	if spec.ServiceAccountName == "" || (spec.AutomountServiceAccountToken != nil && !*spec.AutomountServiceAccountToken) {
		return "", nil
	}
	token, err := values.client.CoreV1().ServiceAccounts(pod.object.Namespace).CreateToken(values.ctx, spec.ServiceAccountName,
		&authentication.TokenRequest{}, meta.CreateOptions{})
	if err != nil {
		return "", err
	}
	authority, err := os.ReadFile(filepath.Join(pod.kubelet.pki, "tls.crt"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return folder, writeFiles(folder, map[string][]byte{"token": []byte(token.Status.Token), "ca.crt": authority,
		"namespace": []byte(pod.object.Namespace)}, nil)
}

// skipProgram leaves out the program's name of a command, which is that of the image.
func skipProgram(command []string) []string {
	if len(command) == 0 {
		return nil
	}
	return command[1:]
}

// probe follows the readiness of container `i`; without a probe it is ready as soon as it runs.
func (pod *pod) probe(ctx context.Context, i int) {
	probe := pod.object.Spec.Containers[i].ReadinessProbe
	period := time.Second
	if probe != nil && probe.PeriodSeconds > 0 {
		period = time.Duration(probe.PeriodSeconds) * time.Second
	}
	pod.setReady(i, probe == nil)
	if probe == nil {
		return
	}
	// Until it is ready for the first time it is asked often, so that tests do not wait for a period.
	wait := 100 * time.Millisecond
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		ready := pod.answers(i, probe)
		if ready {
			wait = period
		}
		if ctx.Err() == nil {
			pod.setReady(i, ready)
		}
	}
}

func (pod *pod) answers(i int, probe *core.Probe) bool {
	port := func(wanted intstr.IntOrString) string {
		if wanted.Type == intstr.Int {
			return strconv.Itoa(wanted.IntValue())
		}
		for _, named := range pod.object.Spec.Containers[i].Ports {
			if named.Name == wanted.StrVal {
				return strconv.Itoa(int(named.ContainerPort))
			}
		}
		return "0"
	}
	const timeout = time.Second
	switch {
	case probe.HTTPGet != nil:
		host := cmp.Or(probe.HTTPGet.Host, pod.address.String())
		dial := func(_ context.Context, network, address string) (net.Conn, error) {
			return dialIn(pod.netns(), network, address, timeout)
		}
		client := http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
		answer, err := client.Get("http://" + net.JoinHostPort(host, port(probe.HTTPGet.Port)) + probe.HTTPGet.Path)
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode >= 200 && answer.StatusCode < 400
	case probe.TCPSocket != nil:
		connection, err := net.DialTimeout("tcp", net.JoinHostPort(pod.address.String(), port(probe.TCPSocket.Port)), timeout)
		if err != nil {
			return false
		}
		_ = connection.Close()
		return true
	}
	return true
}

func (pod *pod) setReady(i int, ready bool) {
	pod.mutex.Lock()
	changed := pod.states[i].ready != ready || pod.object.Status.Phase == core.PodPending || pod.object.Status.Phase == ""
	pod.states[i].ready = ready
	pod.mutex.Unlock()
	if changed {
		pod.tell()
	}
}

// tell writes the pod's state to the API server.
func (pod *pod) tell() {
	pod.mutex.Lock()
	defer pod.mutex.Unlock()
	status := core.PodStatus{Phase: core.PodRunning, HostIP: pod.object.Status.HostIP, PodIP: pod.address.String(),
		PodIPs: []core.PodIP{{IP: pod.address.String()}}, StartTime: pod.object.Status.StartTime}
	status.HostIPs = []core.HostIP{{IP: status.HostIP}}
	if status.StartTime == nil {
		now := meta.Now()
		status.StartTime = &now
	}
	all := core.ConditionTrue
	for i, state := range pod.states {
		container := &pod.object.Spec.Containers[i]
		told := core.ContainerStatus{Name: container.Name, Image: container.Image, ImageID: container.Image, Ready: state.ready,
			Started: &pod.states[i].running, RestartCount: state.restarts, ContainerID: "bed://" + container.Name}
		if state.running {
			told.State.Running = &core.ContainerStateRunning{StartedAt: state.started}
		} else {
			told.State.Waiting = &core.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
			told.LastTerminationState.Terminated = state.last
		}
		if !state.ready {
			all = core.ConditionFalse
		}
		status.ContainerStatuses = append(status.ContainerStatuses, told)
	}
	now := meta.Now()
	for _, condition := range []core.PodConditionType{core.PodScheduled, core.PodInitialized, core.ContainersReady, core.PodReady} {
		value := core.ConditionTrue
		if condition == core.ContainersReady || condition == core.PodReady {
			value = all
		}
		status.Conditions = append(status.Conditions, core.PodCondition{Type: condition, Status: value, LastTransitionTime: now})
	}
	pod.object.Status = status
	pods := pod.kubelet.client.CoreV1().Pods(pod.object.Namespace)
	for range 10 {
		current, err := pods.Get(pod.kubelet.ctx, pod.object.Name, meta.GetOptions{})
		if err != nil || current.UID != pod.object.UID {
			return
		}
		current.Status = status
		if _, err = pods.UpdateStatus(pod.kubelet.ctx, current, meta.UpdateOptions{}); !errors.IsConflict(err) {
			if err != nil && !errors.IsNotFound(err) {
				pod.complain(err)
			}
			return
		}
	}
}
