package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
)

const agentsAtATime = 4

// What is done with the agent of serve behind each route of a gateway, one function for each operation.
var routedOperations = []struct {
	name string
	run  func(context.Context, agent)
}{
	{"card", routedCard},
	{"send", routedSend},
	{"send, answered by a message", routedMessage},
	{"send a file", routedFile},
	{"stream", routedStream},
	{"question", routedQuestion},
	{"question in a stream", routedQuestionInStream},
	{"get", routedGet},
	{"cancel", routedCancel},
	{"failure", routedFailure},
	{"webhook", routedWebhook},
	{"errors", routedErrors},
}

// callRoutes calls the agents behind the routes of a hub, several at a time.
func callRoutes(hub string, routes []string) {
	var all sync.WaitGroup
	places := make(chan struct{}, agentsAtATime)
	for _, binding := range bindings {
		for _, route := range routes {
			places <- struct{}{}
			all.Add(1)
			go func() {
				defer func() { <-places; all.Done() }()
				connected, err := connect(hub, "/agents/"+route, binding)
				if err != nil {
					fmt.Fprintln(os.Stderr, route, binding, err)
					os.Exit(1)
				}
				for _, one := range routedOperations {
					run := func(ctx context.Context, _ map[string]agent) string {
						one.run(ctx, connected)
						return ""
					}
					result, detail := outcome(nil, run)
					report(binding, route+" "+one.name, result, detail)
				}
			}()
		}
	}
	all.Wait()
}

func routedCard(ctx context.Context, agent agent) {
	_, _, streaming, push, err := agent.card(ctx)
	check(err)
	equal([]bool{streaming, push}, []bool{true, true})
}

func routedSend(ctx context.Context, agent agent) {
	task := must(agent.send(ctx, "Grüße, 世界 🌍", sending{}))
	equal([]any{task.state, task.texts}, []any{"completed", []string{"Grüße, 世界 🌍"}})
}

func routedMessage(ctx context.Context, agent agent) {
	answer := must(agent.send(ctx, "talk", sending{}))
	equal([]any{answer.kind, answer.texts}, []any{"message", []string{"hello"}})
}

func routedFile(ctx context.Context, agent agent) {
	task := must(agent.send(ctx, "look", sending{image: []byte("\x89PNG\r\n\x1a\n\x00\xff")}))
	equal([]any{task.state, task.images}, []any{"completed", 1})
}

func routedStream(ctx context.Context, agent agent) {
	events := collect(ctx, agent, "count")
	equal(texts(events, "status"), []string{"1", "2", "3"})
	equal(strings.Join(texts(events, "artifact"), ""), "onetwo")
	ends(events, "completed")
}

func routedQuestion(ctx context.Context, agent agent) {
	task := must(agent.send(ctx, "ask", sending{}))
	equal([]any{task.state, task.said}, []any{"input-required", []string{"What?"}})
	answered := must(agent.send(ctx, "blue", sending{taskID: task.taskID, contextID: task.contextID}))
	equal([]any{answered.taskID, answered.state, answered.texts}, []any{task.taskID, "completed", []string{"blue"}})
}

func routedQuestionInStream(ctx context.Context, agent agent) {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	var asked event
	err := agent.stream(asking, "ask", sending{}, func(one event) {
		if one.state == "input-required" {
			asked = one
			stop() // streams of 1.0 may go on
		}
	})
	if asking.Err() == nil {
		check(err)
	}
	equal(asked.state, "input-required")
	var events []event
	next := sending{taskID: asked.taskID, contextID: asked.contextID}
	check(agent.stream(ctx, "blue", next, func(one event) { events = append(events, one) }))
	equal(slices.Contains(texts(events, "artifact"), "blue"), true)
	ends(events, "completed")
}

func routedGet(ctx context.Context, agent agent) {
	sent := must(agent.send(ctx, "ask", sending{}))
	found := must(agent.get(ctx, sent.taskID, nil))
	equal([]string{found.taskID, found.contextID, found.state}, []string{sent.taskID, sent.contextID, sent.state})
}

func routedCancel(ctx context.Context, agent agent) {
	started := must(agent.send(ctx, "wait", sending{immediately: true}))
	canceled := must(agent.cancel(ctx, started.taskID))
	equal([]string{canceled.taskID, canceled.state}, []string{started.taskID, "canceled"})
	equal(must(agent.get(ctx, started.taskID, nil)).state, "canceled")
}

func routedFailure(ctx context.Context, agent agent) {
	task := must(agent.send(ctx, "fail", sending{}))
	equal([]any{task.state, task.said}, []any{"failed", []string{"No luck"}})
}

func routedWebhook(ctx context.Context, agent agent) {
	completed := make(chan string, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		answer.WriteHeader(http.StatusNoContent)
		if strings.Contains(strings.ToLower(string(body)), "completed\"") {
			completed <- request.Header.Get("Authorization")
		}
	}))
	defer hook.Close()
	must(agent.send(ctx, "count", sending{hook: hook.URL + "/webhook"}))
	select {
	case authorization := <-completed:
		equal(authorization, "Bearer s3cret")
	case <-ctx.Done():
		panic(ctx.Err())
	}
}

func routedErrors(ctx context.Context, agent agent) {
	ended := must(agent.send(ctx, "hello", sending{}))
	_, err := agent.get(ctx, "nobody-made-this", nil)
	refused(err, errTaskNotFound)
	_, err = agent.cancel(ctx, ended.taskID)
	refused(err, errNotCancelable)
}
