package main

import (
	"context"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

const (
	sdk       = "github.com/a2aproject/a2a-go/v2"
	dialect   = "1.0"
	saysFinal = false
)

var (
	bindings  = []string{"jsonrpc", "rest"}
	protocols = map[string]a2a.TransportProtocol{
		"jsonrpc": a2a.TransportProtocolJSONRPC,
		"rest":    a2a.TransportProtocolHTTPJSON,
	}

	errTaskNotFound  = a2a.ErrTaskNotFound
	errNotCancelable = a2a.ErrTaskNotCancelable
	errUnsupported   = a2a.ErrUnsupportedOperation
)

type client struct {
	known *a2a.AgentCard
	calls *a2aclient.Client
}

func connect(hub, path, binding string) (agent, error) {
	ctx := context.Background()
	known, err := agentcard.DefaultResolver.Resolve(ctx, hub, agentcard.WithPath(path+"/.well-known/agent-card.json"))
	if err != nil {
		return nil, err
	}
	preferred := a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{protocols[binding]}}
	calls, err := a2aclient.NewFromCard(ctx, known, a2aclient.WithConfig(preferred))
	return client{known, calls}, err
}

func (c client) card(context.Context) (name, skill string, streaming, push bool, err error) {
	found := c.known
	return found.Name, found.Skills[0].ID, found.Capabilities.Streaming, found.Capabilities.PushNotifications, nil
}

func params(text string, how sending) *a2a.SendMessageRequest {
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	message.TaskID = a2a.TaskID(how.taskID)
	message.ContextID = how.contextID
	if how.table != nil {
		file := a2a.NewRawPart(how.table)
		file.Filename, file.MediaType = "cities.csv", "text/csv"
		message.Parts = append(message.Parts, file)
	}
	if how.image != nil {
		file := a2a.NewRawPart(how.image)
		file.Filename, file.MediaType = "a.png", "image/png"
		message.Parts = append(message.Parts, file)
	}
	config := &a2a.SendMessageConfig{ReturnImmediately: how.immediately}
	if how.hook != "" {
		config.PushConfig = outgoing(someConfig("", ""))
		config.PushConfig.URL = how.hook
	}
	return &a2a.SendMessageRequest{Message: message, Config: config}
}

func (c client) send(ctx context.Context, text string, how sending) (event, error) {
	answer, err := c.calls.SendMessage(ctx, params(text, how))
	if err != nil {
		return event{}, err
	}
	return seen(answer), nil
}

func (c client) stream(ctx context.Context, text string, how sending, each func(event)) error {
	return read(c.calls.SendStreamingMessage(ctx, params(text, how)), each)
}

func (c client) get(ctx context.Context, id string, historyLength *int) (event, error) {
	return one(c.calls.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(id), HistoryLength: historyLength}))
}

func (c client) list(ctx context.Context, contextID string) ([]event, error) {
	page, err := c.calls.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: contextID, IncludeArtifacts: true})
	if err != nil {
		return nil, err
	}
	var all []event
	for _, task := range page.Tasks {
		all = append(all, seen(task))
	}
	return all, nil
}

func (c client) cancel(ctx context.Context, id string) (event, error) {
	return one(c.calls.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(id)}))
}

func (c client) subscribe(ctx context.Context, id string, each func(event)) error {
	return read(c.calls.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(id)}), each)
}

func (c client) setPush(ctx context.Context, config pushConfig) (pushConfig, error) {
	return incoming(c.calls.CreateTaskPushConfig(ctx, outgoing(config)))
}

func (c client) getPush(ctx context.Context, taskID, id string) (pushConfig, error) {
	return incoming(c.calls.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: a2a.TaskID(taskID), ID: id}))
}

func (c client) listPush(ctx context.Context, taskID string) ([]pushConfig, error) {
	configs, err := c.calls.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: a2a.TaskID(taskID)})
	var all []pushConfig
	for _, config := range configs {
		known, _ := incoming(config, nil)
		all = append(all, known)
	}
	return all, err
}

func (c client) deletePush(ctx context.Context, taskID, id string) error {
	return c.calls.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: a2a.TaskID(taskID), ID: id})
}

func outgoing(config pushConfig) *a2a.PushConfig {
	auth := &a2a.PushAuthInfo{Scheme: config.scheme, Credentials: config.credentials}
	taskID := a2a.TaskID(config.taskID)
	return &a2a.PushConfig{TaskID: taskID, ID: config.id, URL: config.url, Token: config.token, Auth: auth}
}

func incoming(config *a2a.PushConfig, err error) (pushConfig, error) {
	if err != nil {
		return pushConfig{}, err
	}
	auth := config.Auth
	return pushConfig{string(config.TaskID), config.ID, config.URL, config.Token, auth.Scheme, auth.Credentials}, nil
}

func read(events iter.Seq2[a2a.Event, error], each func(event)) error {
	for one, err := range events {
		if err != nil {
			return err
		}
		each(seen(one))
	}
	return nil
}

func one(task *a2a.Task, err error) (event, error) {
	if err != nil {
		return event{}, err
	}
	return seen(task), nil
}

func seen(any a2a.Event) event {
	switch one := any.(type) {
	case *a2a.Message:
		found := event{kind: "message"}
		found.add(one.Parts)
		return found
	case *a2a.Task:
		found := event{kind: "task", taskID: string(one.ID), contextID: one.ContextID}
		found.state = word(string(one.Status.State))
		found.history = len(one.History)
		if one.Status.Message != nil {
			found.say(one.Status.Message.Parts)
		}
		for _, artifact := range one.Artifacts {
			found.add(artifact.Parts)
		}
		return found
	case *a2a.TaskStatusUpdateEvent:
		found := event{kind: "status", taskID: string(one.TaskID), contextID: one.ContextID}
		found.state = word(string(one.Status.State))
		if one.Status.Message != nil {
			found.add(one.Status.Message.Parts)
		}
		return found
	case *a2a.TaskArtifactUpdateEvent:
		found := event{kind: "artifact", taskID: string(one.TaskID), contextID: one.ContextID}
		found.add(one.Artifact.Parts)
		return found
	}
	return event{kind: "unknown"}
}

func (e *event) say(parts a2a.ContentParts) {
	for _, part := range parts {
		e.said = append(e.said, part.Text())
	}
}

func (e *event) add(parts a2a.ContentParts) {
	for _, part := range parts {
		if text := part.Text(); text != "" {
			e.texts = append(e.texts, text)
		}
		if part.MediaType == "image/png" && len(part.Raw()) > 0 {
			e.images++
		}
	}
}
