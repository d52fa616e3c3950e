package main

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2agrpc"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"
	"google.golang.org/grpc"
)

// application has an agent answer at the URL and over gRPC, and returns what its card calls each binding.
func application(url, authority string, mux *http.ServeMux, rpcServer *grpc.Server) map[string]string {
	card := &a2a.AgentCard{
		Name:               "handyman",
		Description:        "Does what the text says",
		Version:            "1.0.0",
		URL:                url,
		PreferredTransport: a2a.TransportProtocolJSONRPC,
		ProtocolVersion:    "0.3.0",
		AdditionalInterfaces: []a2a.AgentInterface{
			{URL: url, Transport: a2a.TransportProtocolJSONRPC},
			{URL: authority, Transport: a2a.TransportProtocolGRPC},
		},
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:  []string{"text/plain", "text/csv"},
		DefaultOutputModes: []string{"text/plain", "text/csv"},
		Skills:             []a2a.AgentSkill{{ID: "do", Name: "Do", Description: "Does it", Tags: []string{"test"}}},
	}
	sender := push.NewHTTPPushSender(&push.HTTPSenderConfig{})
	handler := a2asrv.NewHandler(&executor{}, a2asrv.WithPushNotifications(push.NewInMemoryStore(), sender))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/", a2asrv.NewJSONRPCHandler(handler))
	a2agrpc.NewHandler(handler).RegisterWith(rpcServer)
	return map[string]string{"jsonrpc": "JSONRPC", "grpc": "GRPC"}
}

type executor struct{ handyman }

func (e *executor) Execute(ctx context.Context, request *a2asrv.RequestContext, queue eventqueue.Queue) error {
	said := &sayer{ctx: ctx, request: request, queue: queue}
	e.work(ctx, said)
	return said.failure
}

func (e *executor) Cancel(ctx context.Context, request *a2asrv.RequestContext, queue eventqueue.Queue) error {
	said := &sayer{ctx: ctx, request: request, queue: queue}
	said.status("canceled", "")
	return said.failure
}

// sayer says nothing more after something could not be said.
type sayer struct {
	ctx     context.Context
	request *a2asrv.RequestContext
	queue   eventqueue.Queue
	failure error
}

func (s *sayer) say(event a2a.Event) {
	if s.failure == nil {
		s.failure = s.queue.Write(s.ctx, event)
	}
}

func (s *sayer) text() string {
	text, _ := s.request.Message.Parts[0].(a2a.TextPart)
	return text.Text
}

func (s *sayer) contextID() string {
	return s.request.ContextID
}

func (s *sayer) message(text string) {
	s.say(a2a.NewMessage(a2a.MessageRoleAgent, a2a.TextPart{Text: text}))
}

func (s *sayer) begun() {
	if s.request.StoredTask == nil {
		s.say(a2a.NewSubmittedTask(s.request, s.request.Message))
	}
}

func (s *sayer) status(state, text string) {
	var message *a2a.Message
	if text != "" {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, s.request, a2a.TextPart{Text: text})
	}
	event := a2a.NewStatusUpdateEvent(s.request, a2a.TaskState(state), message)
	event.Final = state != "working"
	s.say(event)
}

func (s *sayer) artifact(text string, more bool) {
	event := a2a.NewArtifactUpdateEvent(s.request, "a", a2a.TextPart{Text: text})
	event.Append, event.LastChunk = more, more
	s.say(event)
}

func (s *sayer) echo() {
	s.say(a2a.NewArtifactEvent(s.request, s.request.Message.Parts...))
}
