package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
)

// saying is how a release of the SDK says what happens to a task.
type saying interface {
	text() string
	contextID() string
	message(text string)
	begun()
	status(state, text string)
	artifact(text string, more bool)
	echo()
}

// serve serves one agent on free ports of this machine. It prints one line of JSON as soon as it can be called, {server,
// dialect, url, origins, bindings}, and stops when its input ends.
func serve() {
	listener, rpcListener := listen(), listen()
	url, authority := "http://"+listener.Addr().String(), rpcListener.Addr().String()
	mux, rpcServer := http.NewServeMux(), grpc.NewServer()
	bindings := application(url, authority, mux, rpcServer)
	go func() { panic(http.Serve(listener, mux)) }()
	go func() { panic(rpcServer.Serve(rpcListener)) }()
	line, _ := json.Marshal(map[string]any{
		"server":   "Go " + version(),
		"dialect":  dialect,
		"url":      url,
		"origins":  []string{"http://" + authority},
		"bindings": bindings,
	})
	fmt.Println(string(line))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return listener
}

// handyman does what the text of a message says, as its namesake in Python.
type handyman struct{ stopped sync.Map }

func (h *handyman) work(ctx context.Context, say saying) {
	if say.text() == "talk" {
		say.message("hello")
		return
	}
	say.begun()
	say.status("working", "")
	switch say.text() {
	case "count":
		for _, said := range []string{"1", "2", "3"} {
			say.status("working", said)
		}
		say.artifact("one", false)
		say.artifact("two", true)
	case "ask":
		say.status("input-required", "What?")
		return
	case "fail":
		say.status("failed", "No luck")
		return
	case "wait":
		for !h.isStopped(say.contextID()) {
			say.status("working", "...")
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	default:
		if say.text() == "stop" {
			h.stopped.Store(say.contextID(), true)
		}
		say.echo()
	}
	say.status("completed", "")
}

func (h *handyman) isStopped(contextID string) bool {
	_, stopped := h.stopped.Load(contextID)
	return stopped
}
