package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const apiPort = "6443"

// ControlPlane is etcd, the API server and the controller manager.
type ControlPlane struct {
	config     *rest.Config
	kubeconfig string

	programs []*program
}

type program struct {
	name  string
	log   string
	child *exec.Cmd
	ended chan struct{}
}

func (plane *ControlPlane) start(logs, path string, arguments ...string) error {
	name := filepath.Base(path)
	logFile := filepath.Join(logs, name+".log")
	log, err := os.Create(logFile)
	if err != nil {
		return err
	}
	defer log.Close()
	child := exec.Command(path, arguments...)
	child.Stdout, child.Stderr = log, log
	// An interrupt from the terminal is for the command in the cluster, which may still need the API.
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		return err
	}
	started := &program{name, logFile, child, make(chan struct{})}
	go func() {
		_ = child.Wait()
		close(started.ended)
	}()
	plane.programs = append(plane.programs, started)
	return nil
}

func (plane *ControlPlane) stop() {
	for i := len(plane.programs) - 1; i >= 0; i-- {
		started := plane.programs[i]
		_ = started.child.Process.Signal(syscall.SIGTERM)
		select {
		case <-started.ended:
		case <-time.After(5 * time.Second):
			_ = started.child.Process.Kill()
		}
	}
}

// ended returns a program that is gone, or nil.
func (plane *ControlPlane) ended() *program {
	for _, started := range plane.programs {
		select {
		case <-started.ended:
			return started
		default:
		}
	}
	return nil
}

// lastLines returns the end of the program's log.
func (started *program) lastLines() string {
	text, err := os.ReadFile(started.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

func startControlPlane(ctx context.Context, bin, state, logs, audit string) (*ControlPlane, error) {
	pki := filepath.Join(state, "pki")
	if err := os.MkdirAll(pki, 0o700); err != nil {
		return nil, err
	}
	authority, err := writeServerCertificate(pki, "127.0.0.1", bridgeIP)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	token := hex.EncodeToString(secret)
	tokens := filepath.Join(pki, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+`,admin,admin,"system:masters"`+"\n"), 0o600); err != nil {
		return nil, err
	}
	plane := &ControlPlane{kubeconfig: filepath.Join(state, "kubeconfig")}
	if err := writeKubeconfig(plane.kubeconfig, token, authority); err != nil {
		return nil, err
	}
	if plane.config, err = clientcmd.BuildConfigFromFlags("", plane.kubeconfig); err != nil {
		return nil, err
	}
	// What the suites ask for is not to wait for this client's own limits.
	plane.config.QPS, plane.config.Burst = 1000, 2000

	key := filepath.Join(pki, "tls.key")
	err = plane.start(logs, filepath.Join(bin, "etcd"), "--data-dir", filepath.Join(state, "etcd"),
		"--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
		"--listen-peer-urls", "http://127.0.0.1:2380", "--initial-advertise-peer-urls", "http://127.0.0.1:2380",
		"--initial-cluster", "default=http://127.0.0.1:2380", "--unsafe-no-fsync")
	var auditing []string
	if err == nil && audit != "" {
		auditing, err = writeAuditPolicy(pki, filepath.Join(logs, "audit.log"), audit)
	}
	if err == nil {
		err = plane.start(logs, filepath.Join(bin, "kube-apiserver"), append(auditing, "--etcd-servers", "http://127.0.0.1:2379",
			"--secure-port", apiPort, "--bind-address", "0.0.0.0", "--advertise-address", bridgeIP,
			"--tls-cert-file", filepath.Join(pki, "tls.crt"), "--tls-private-key-file", key,
			"--service-cluster-ip-range", "10.96.0.0/16", "--token-auth-file", tokens,
			"--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount",
			"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", key,
			"--service-account-signing-key-file", key, "--endpoint-reconciler-type", "none", "--allow-privileged",
			"--kubelet-preferred-address-types", "InternalIP")...)
	}
	if err == nil {
		err = plane.wait(ctx)
	}
	if err == nil {
		err = plane.start(logs, filepath.Join(bin, "kube-controller-manager"), "--kubeconfig", plane.kubeconfig,
			"--leader-elect=false", "--service-account-private-key-file", key, "--root-ca-file", filepath.Join(pki, "tls.crt"),
			"--kube-api-qps", "500", "--kube-api-burst", "1000", "--bind-address", "127.0.0.1")
	}
	if err != nil {
		plane.stop()
		return nil, err
	}
	return plane, nil
}

// writeAuditPolicy returns the flags by which the API server logs what `user` asks, or the users of that group.
func writeAuditPolicy(folder, log, user string) ([]string, error) {
	policy := filepath.Join(folder, "audit.json")
	who := `"users":`
	if strings.HasPrefix(user, "system:serviceaccounts") {
		who = `"userGroups":`
	}
	text := fmt.Sprintf(`{"apiVersion":"audit.k8s.io/v1","kind":"Policy","omitStages":["RequestReceived"],
		"rules":[{"level":"Metadata",%s[%q]},{"level":"None"}]}`, who, user)
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return []string{"--audit-policy-file", policy, "--audit-log-path", log}, nil
}

// wait returns when the API server is ready, within two minutes.
func (plane *ControlPlane) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	client, err := kubernetes.NewForConfig(plane.config)
	if err != nil {
		return err
	}
	for {
		answer, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err == nil {
			return nil
		}
		if gone := plane.ended(); gone != nil {
			return fmt.Errorf("%s ended:\n%s", gone.name, gone.lastLines())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server is not ready: %w: %s", err, answer)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// writeServerCertificate writes tls.crt and tls.key into `folder`, a certificate that is its own authority, and returns it.
func writeServerCertificate(folder string, addresses ...string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "edge-bed"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true, IsCA: true, DNSNames: []string{"localhost", "kubernetes.default.svc"},
	}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(filepath.Join(folder, "tls.crt"), certificate, 0o644); err != nil {
		return nil, err
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	return certificate, os.WriteFile(filepath.Join(folder, "tls.key"), private, 0o600)
}

func writeKubeconfig(path, token string, authority []byte) error {
	config := api.NewConfig()
	config.Clusters["bed"] = &api.Cluster{Server: "https://" + bridgeIP + ":" + apiPort, CertificateAuthorityData: authority}
	config.AuthInfos["admin"] = &api.AuthInfo{Token: token}
	config.Contexts["bed"] = &api.Context{Cluster: "bed", AuthInfo: "admin"}
	config.CurrentContext = "bed"
	return clientcmd.WriteToFile(*config, path)
}
