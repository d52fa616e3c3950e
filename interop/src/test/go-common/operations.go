package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
)

type operation struct {
	name string
	run  func(context.Context, map[string]agent) string
}

// What is done with each agent, one function for each row of the table of results. A function returns a few words about
// what it saw, and panics if that is not what the protocol promises.
var operations = []operation{
	{"card", card},
	{"send", send},
	{"send, answered by a message", sendForMessage},
	{"send files", sendFiles},
	{"send again when asked", sendAgain},
	{"stream", stream},
	{"stream of 2,000 events", longStream},
	{"get", get},
	{"list", list},
	{"cancel", cancel},
	{"subscribe", subscribe},
	{"push config: create", createPush},
	{"push config: get", getPush},
	{"push config: list", listPush},
	{"push config: delete", deletePush},
	{"webhook", webhook},
	{"errors", refusals},
}

func card(ctx context.Context, agents map[string]agent) string {
	name, skill, streaming, push, err := agents["counter"].card(ctx)
	check(err)
	equal([]any{name, skill, streaming, push}, []any{"counter", "count", true, true})
	return name
}

func send(ctx context.Context, agents map[string]agent) string {
	task := must(agents["echo"].send(ctx, "Grüße, 世界 🌍", sending{}))
	equal([]any{task.kind, task.state, task.texts}, []any{"task", "completed", []string{"Grüße, 世界 🌍"}})
	return task.texts[0]
}

func sendForMessage(ctx context.Context, agents map[string]agent) string {
	answer := must(agents["ping"].send(ctx, "hello", sending{}))
	equal([]any{answer.kind, answer.texts}, []any{"message", []string{"pong: hello"}})
	return answer.texts[0]
}

func sendFiles(ctx context.Context, agents map[string]agent) string {
	table := []byte("city,people\nOslo,709000\nBergen,291000\n")
	task := must(agents["analyst"].send(ctx, "Please describe this", sending{table: table}))
	equal([]any{task.state, task.images}, []any{"completed", 1})
	return fmt.Sprint(task.images, " chart")
}

func sendAgain(ctx context.Context, agents map[string]agent) string {
	task := must(agents["interview"].send(ctx, "hello", sending{}))
	for _, answer := range []string{"Ada", "tea"} {
		equal(task.state, "input-required")
		next := sending{taskID: task.taskID, contextID: task.contextID}
		task = must(agents["interview"].send(ctx, answer, next))
	}
	equal([]any{task.state, task.texts}, []any{"completed", []string{"Name: Ada\nWish: tea\n"}})
	return fmt.Sprint(task.history, " messages in the history")
}

func stream(ctx context.Context, agents map[string]agent) string {
	counted := collect(ctx, agents["counter"], "3")
	equal(counted[0].kind, "task")
	working := 0
	for _, one := range counted {
		if one.state == "working" {
			working++
		}
	}
	equal(working >= 3, true)
	equal(texts(counted, "artifact"), []string{"Counted to 3."})
	ends(counted, "completed")

	echoed := collect(ctx, agents["echo"], "hello")
	equal(texts(echoed, "artifact"), []string{"hello"})
	ends(echoed, "completed")
	return fmt.Sprint(len(counted), " + ", len(echoed), " events")
}

func longStream(ctx context.Context, agents map[string]agent) string {
	events := collect(ctx, agents["chatty"], "2000")
	var expected []string
	for i := 1; i <= 2000; i++ {
		expected = append(expected, fmt.Sprint(i, " of 2000"))
	}
	equal(texts(events, "status"), expected)
	return fmt.Sprint(len(events), " events")
}

func get(ctx context.Context, agents map[string]agent) string {
	sent := must(agents["interview"].send(ctx, "hello", sending{}))
	whole := must(agents["interview"].get(ctx, sent.taskID, nil))
	equal(whole, sent)
	one := 1
	last := must(agents["interview"].get(ctx, sent.taskID, &one))
	equal(last.history, 1)
	return fmt.Sprint(whole.history, " messages in the history, 1 when 1 is asked for")
}

func list(ctx context.Context, agents map[string]agent) string {
	first := must(agents["echo"].send(ctx, "first", sending{}))
	must(agents["echo"].send(ctx, "second", sending{contextID: first.contextID}))
	tasks := must(agents["echo"].list(ctx, first.contextID))
	equal(texts(tasks, "task"), []string{"second", "first"})
	return fmt.Sprint(len(tasks), " tasks")
}

func cancel(ctx context.Context, agents map[string]agent) string {
	started := start(ctx, agents)
	canceled := must(agents["counter"].cancel(ctx, started.taskID))
	equal([]any{canceled.taskID, canceled.state}, []any{started.taskID, "canceled"})
	return canceled.state
}

func subscribe(ctx context.Context, agents map[string]agent) string {
	started := start(ctx, agents)
	var events []event
	check(agents["counter"].subscribe(ctx, started.taskID, func(one event) {
		events = append(events, one)
		if len(events) == 3 {
			must(agents["counter"].cancel(ctx, started.taskID))
		}
	}))
	equal([]any{events[0].kind, events[0].taskID}, []any{"task", started.taskID})
	ends(events, "canceled")
	return fmt.Sprint(len(events), " events")
}

func createPush(ctx context.Context, agents map[string]agent) string {
	return whileCounting(ctx, agents, func(task event) string {
		wanted := someConfig(task.taskID, "mine")
		named := must(agents["counter"].setPush(ctx, wanted))
		wanted.token, wanted.credentials = "", ""
		equal(named, wanted)
		made := must(agents["counter"].setPush(ctx, someConfig(task.taskID, "")))
		equal(made.url, wanted.url)
		equal(made.id != "", true)
		return "an id is given, or kept"
	})
}

func getPush(ctx context.Context, agents map[string]agent) string {
	return whileCounting(ctx, agents, func(task event) string {
		made := must(agents["counter"].setPush(ctx, someConfig(task.taskID, "mine")))
		equal(must(agents["counter"].getPush(ctx, task.taskID, "mine")), made)
		return made.url
	})
}

func listPush(ctx context.Context, agents map[string]agent) string {
	return whileCounting(ctx, agents, func(task event) string {
		var made []pushConfig
		for _, id := range []string{"a", "b"} {
			made = append(made, must(agents["counter"].setPush(ctx, someConfig(task.taskID, id))))
		}
		equal(must(agents["counter"].listPush(ctx, task.taskID)), made)
		return fmt.Sprint(len(made), " configs")
	})
}

func deletePush(ctx context.Context, agents map[string]agent) string {
	return whileCounting(ctx, agents, func(task event) string {
		must(agents["counter"].setPush(ctx, someConfig(task.taskID, "mine")))
		check(agents["counter"].deletePush(ctx, task.taskID, "mine"))
		check(agents["counter"].deletePush(ctx, task.taskID, "mine"))
		_, err := agents["counter"].getPush(ctx, task.taskID, "mine")
		refused(err, errTaskNotFound)
		return "twice is as good as once"
	})
}

func webhook(ctx context.Context, agents map[string]agent) string {
	type notification struct {
		header http.Header
		body   string
	}
	received := make(chan notification, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		answer.WriteHeader(http.StatusNoContent)
		received <- notification{request.Header, string(body)}
	}))
	defer hook.Close()

	task := must(agents["counter"].send(ctx, "2", sending{hook: hook.URL + "/webhook"}))
	for count := 1; ; count++ {
		select {
		case one := <-received:
			equal(one.header.Get("Authorization"), "Bearer s3cret")
			equal(one.header.Get("X-A2A-Notification-Token"), "a token")
			equal(json.Valid([]byte(one.body)) && strings.Contains(one.body, task.taskID), true)
			if strings.Contains(strings.ToLower(one.body), "completed\"") {
				return fmt.Sprint(count, " notifications")
			}
		case <-ctx.Done():
			panic(ctx.Err())
		}
	}
}

func refusals(ctx context.Context, agents map[string]agent) string {
	echo := agents["echo"]
	ended := must(echo.send(ctx, "hello", sending{}))
	_, err := echo.get(ctx, "nobody-made-this", nil)
	refused(err, errTaskNotFound)
	_, err = echo.cancel(ctx, ended.taskID)
	refused(err, errNotCancelable)
	more := sending{taskID: ended.taskID}
	_, err = echo.send(ctx, "more", more)
	refused(err, errUnsupported)
	refused(echo.stream(ctx, "more", more, func(event) {}), errUnsupported)
	refused(echo.subscribe(ctx, ended.taskID, func(event) {}), errUnsupported)
	return "not found, not cancelable, unsupported"
}

func someConfig(taskID, id string) pushConfig {
	return pushConfig{taskID, id, "http://127.0.0.1:9/nobody-listens", "a token", "Bearer", "s3cret"}
}

// start counts, slowly and for long.
func start(ctx context.Context, agents map[string]agent) event {
	return must(agents["counter"].send(ctx, "1000", sending{immediately: true}))
}

func whileCounting(ctx context.Context, agents map[string]agent, body func(event) string) string {
	task := start(ctx, agents)
	defer func() { must(agents["counter"].cancel(ctx, task.taskID)) }()
	return body(task)
}

func collect(ctx context.Context, agent agent, text string) []event {
	var events []event
	check(agent.stream(ctx, text, sending{}, func(one event) { events = append(events, one) }))
	return events
}

func texts(events []event, kind string) []string {
	var all []string
	for _, one := range events {
		if one.kind == kind {
			all = append(all, one.texts...)
		}
	}
	return all
}

// ends checks the state at the end, and in which events the release has it, that the last one alone says it is the last.
func ends(events []event, state string) {
	last := events[len(events)-1]
	equal(last.state, state)
	if saysFinal {
		equal(slices.IndexFunc(events, func(one event) bool { return one.final }), len(events)-1)
	}
}

func refused(err, expected error) {
	if !errors.Is(err, expected) {
		panic(fmt.Errorf("%v (expected: %v)", err, expected))
	}
}

func equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		panic(fmt.Errorf("%+v (expected: %+v)", actual, expected))
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
