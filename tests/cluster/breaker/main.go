// Command breaker runs a program between which and the API server it stands, and kills it at each call that changes
// something: the API has done it, and the program never hears. It is started again at once, until SIGTERM; then the number of
// its lives is printed.
//
//	breaker --kubeconfig FILE --listen ADDRESS -- PROGRAM [ARGUMENT...]
//
// PROGRAM reaches the API at http://ADDRESS, with a token of its own.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var errKilled = errors.New("killed")

// life is one run of the program.
type life struct {
	mutex sync.Mutex
	child *exec.Cmd
	over  bool
}

// end kills it, once.
func (life *life) end() {
	life.mutex.Lock()
	defer life.mutex.Unlock()
	if life.child != nil && !life.over {
		life.over = true
		_ = life.child.Process.Kill()
	}
}

func (life *life) start(words []string) error {
	life.mutex.Lock()
	defer life.mutex.Unlock()
	child := exec.Command(words[0], words[1:]...)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		return err
	}
	life.child, life.over = child, false
	return nil
}

func (life *life) isOver() bool {
	life.mutex.Lock()
	defer life.mutex.Unlock()
	return life.over
}

func proxy(kubeconfig string, current *life) (http.Handler, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	// Who calls is said by the program's own token.
	transport, err := rest.TransportFor(&rest.Config{Host: config.Host, TLSClientConfig: rest.TLSClientConfig{
		CAData: config.CAData, CAFile: config.CAFile}})
	if err != nil {
		return nil, err
	}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(request *httputil.ProxyRequest) { request.SetURL(server) },
		Transport:     transport,
		FlushInterval: -1,
		ModifyResponse: func(answer *http.Response) error {
			if answer.Request.Method == http.MethodGet {
				return nil
			}
			current.end()
			return errKilled
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		// What was on its way when it was killed is not done any more.
		if request.Method != http.MethodGet && current.isOver() {
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(writer, request)
	}), nil
}

func run() error {
	kubeconfig := flag.String("kubeconfig", "", "`file` that says how the API server is reached")
	listen := flag.String("listen", "127.0.0.1:6543", "`address` at which the program reaches it")
	flag.Parse()
	if flag.NArg() == 0 || *kubeconfig == "" {
		flag.Usage()
		os.Exit(2)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	current := &life{}
	handler, err := proxy(*kubeconfig, current)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, handler) }()
	for lives := 1; ; lives++ {
		if err := current.start(flag.Args()); err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- current.child.Wait() }()
		select {
		case <-stop:
			current.end()
			<-ended
			fmt.Println(lives)
			return nil
		case err := <-ended:
			if !current.isOver() {
				return fmt.Errorf("the program ended by itself: %v", err)
			}
		}
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "breaker:", err)
		os.Exit(1)
	}
}
