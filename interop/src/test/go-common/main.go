// Does everything that one release of the official Go SDK can do with the agents of a hub, once over each binding.
//
// Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}. The argument is the URL
// of the hub; without one it serves an agent. Further arguments are routes, as @NAME, with such an agent behind each.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

const timePerOperation = 20 * time.Second

var errNotOffered = errors.New("the client has no such method")

// event is what is looked at of a task, a message or an update, whatever the types of the release are.
type event struct {
	kind, taskID, contextID, state string
	texts                          []string // of a message, of the artifacts, or of what is said with a state
	said                           []string // with the state of a task
	images                         int
	history                        int
	final                          bool
}

type sending struct {
	taskID, contextID, hook string
	table, image            []byte
	immediately             bool
}

type pushConfig struct{ taskID, id, url, token, scheme, credentials string }

// agent is what a client of any release can do.
type agent interface {
	card(ctx context.Context) (name, skill string, streaming, push bool, err error)
	send(ctx context.Context, text string, how sending) (event, error)
	stream(ctx context.Context, text string, how sending, each func(event)) error
	get(ctx context.Context, id string, historyLength *int) (event, error)
	list(ctx context.Context, contextID string) ([]event, error)
	cancel(ctx context.Context, id string) (event, error)
	subscribe(ctx context.Context, id string, each func(event)) error
	setPush(ctx context.Context, config pushConfig) (pushConfig, error)
	getPush(ctx context.Context, taskID, id string) (pushConfig, error)
	listPush(ctx context.Context, taskID string) ([]pushConfig, error)
	deletePush(ctx context.Context, taskID, id string) error
}

func main() {
	if len(os.Args) == 1 {
		serve()
		return
	}
	if len(os.Args) > 2 && strings.HasPrefix(os.Args[2], "@") {
		routes := strings.Split(strings.TrimPrefix(strings.Join(os.Args[2:], ""), "@"), "@")
		callRoutes(os.Args[1], routes)
		return
	}
	for _, binding := range bindings {
		agents := map[string]agent{}
		for _, name := range []string{"analyst", "chatty", "counter", "echo", "interview", "ping"} {
			connected, err := connect(os.Args[1], "/agents/"+name, binding)
			if err != nil {
				fmt.Fprintln(os.Stderr, name, binding, err)
				os.Exit(1)
			}
			agents[name] = connected
		}
		for _, one := range operations {
			result, detail := outcome(agents, one.run)
			report(binding, one.name, result, detail)
		}
	}
}

func report(binding, operation, result, detail string) {
	line, _ := json.Marshal(map[string]string{
		"client":    "Go " + version(),
		"dialect":   dialect,
		"binding":   binding,
		"operation": operation,
		"result":    result,
		"detail":    detail,
	})
	fmt.Println(string(line))
}

func outcome(agents map[string]agent, run func(context.Context, map[string]agent) string) (result, detail string) {
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case error:
			if errors.Is(failure, errNotOffered) {
				result, detail = "not offered", failure.Error()
			} else {
				result, detail = "failed", failure.Error()+"\n"+string(debug.Stack())
			}
		default:
			result, detail = "failed", fmt.Sprint(failure)+"\n"+string(debug.Stack())
		}
	}()
	ctx, stop := context.WithTimeout(context.Background(), timePerOperation)
	defer stop()
	return "passed", run(ctx, agents)
}

// version of the SDK, as the program was built with it.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == sdk {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "?"
}

// word is the state as all releases call it in speech: input-required.
func word(state string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_")), "_", "-")
}
