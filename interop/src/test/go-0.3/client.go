package main

import (
	"context"
	"encoding/base64"
	"iter"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
)

const (
	sdk       = "github.com/a2aproject/a2a-go"
	dialect   = "0.3"
	saysFinal = true
)

var (
	bindings = []string{"jsonrpc"}

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
	calls, err := a2aclient.NewFromCard(ctx, known)
	return client{known, calls}, err
}

func (c client) card(ctx context.Context) (name, skill string, streaming, push bool, err error) {
	found, err := c.calls.GetAgentCard(ctx)
	if err != nil {
		return
	}
	return found.Name, found.Skills[0].ID, found.Capabilities.Streaming, found.Capabilities.PushNotifications, nil
}

func params(text string, how sending) *a2a.MessageSendParams {
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: text})
	message.TaskID = a2a.TaskID(how.taskID)
	message.ContextID = how.contextID
	if how.table != nil {
		bytes := base64.StdEncoding.EncodeToString(how.table)
		file := a2a.FileBytes{FileMeta: a2a.FileMeta{Name: "cities.csv", MimeType: "text/csv"}, Bytes: bytes}
		message.Parts = append(message.Parts, a2a.FilePart{File: file})
	}
	if how.image != nil {
		bytes := base64.StdEncoding.EncodeToString(how.image)
		file := a2a.FileBytes{FileMeta: a2a.FileMeta{Name: "a.png", MimeType: "image/png"}, Bytes: bytes}
		message.Parts = append(message.Parts, a2a.FilePart{File: file})
	}
	blocking := !how.immediately
	config := &a2a.MessageSendConfig{Blocking: &blocking}
	if how.hook != "" {
		push := outgoing(someConfig("", "")).Config
		push.URL = how.hook
		config.PushConfig = &push
	}
	return &a2a.MessageSendParams{Message: message, Config: config}
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
	return one(c.calls.GetTask(ctx, &a2a.TaskQueryParams{ID: a2a.TaskID(id), HistoryLength: historyLength}))
}

func (c client) list(context.Context, string) ([]event, error) {
	return nil, errNotOffered
}

func (c client) cancel(ctx context.Context, id string) (event, error) {
	return one(c.calls.CancelTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(id)}))
}

func (c client) subscribe(ctx context.Context, id string, each func(event)) error {
	return read(c.calls.ResubscribeToTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(id)}), each)
}

func (c client) setPush(ctx context.Context, config pushConfig) (pushConfig, error) {
	return incoming(c.calls.SetTaskPushConfig(ctx, outgoing(config)))
}

func (c client) getPush(ctx context.Context, taskID, id string) (pushConfig, error) {
	return incoming(c.calls.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigParams{TaskID: a2a.TaskID(taskID), ConfigID: id}))
}

func (c client) listPush(ctx context.Context, taskID string) ([]pushConfig, error) {
	configs, err := c.calls.ListTaskPushConfig(ctx, &a2a.ListTaskPushConfigParams{TaskID: a2a.TaskID(taskID)})
	var all []pushConfig
	for _, config := range configs {
		known, _ := incoming(config, nil)
		all = append(all, known)
	}
	return all, err
}

func (c client) deletePush(ctx context.Context, taskID, id string) error {
	return c.calls.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigParams{TaskID: a2a.TaskID(taskID), ConfigID: id})
}

func outgoing(config pushConfig) *a2a.TaskPushConfig {
	auth := &a2a.PushAuthInfo{Schemes: []string{config.scheme}, Credentials: config.credentials}
	return &a2a.TaskPushConfig{
		TaskID: a2a.TaskID(config.taskID),
		Config: a2a.PushConfig{ID: config.id, URL: config.url, Token: config.token, Auth: auth},
	}
}

func incoming(config *a2a.TaskPushConfig, err error) (pushConfig, error) {
	if err != nil {
		return pushConfig{}, err
	}
	inner := config.Config
	return pushConfig{string(config.TaskID), inner.ID, inner.URL, inner.Token, inner.Auth.Schemes[0], inner.Auth.Credentials}, nil
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
		found := event{kind: "status", taskID: string(one.TaskID), contextID: one.ContextID, final: one.Final}
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
		if text, ok := part.(a2a.TextPart); ok {
			e.said = append(e.said, text.Text)
		}
	}
}

func (e *event) add(parts a2a.ContentParts) {
	for _, part := range parts {
		switch one := part.(type) {
		case a2a.TextPart:
			e.texts = append(e.texts, one.Text)
		case a2a.FilePart:
			if file, ok := one.File.(a2a.FileBytes); ok && file.MimeType == "image/png" {
				e.images++
			}
		}
	}
}
