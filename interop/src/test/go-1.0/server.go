package main

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/grpc"
)

// application has an agent answer at the URL and over gRPC, and returns what its card calls each binding.
func application(url, authority string, mux *http.ServeMux, rpcServer *grpc.Server) map[string]string {
	card := &a2a.AgentCard{
		Name:        "handyman",
		Description: "Does what the text says",
		Version:     "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(url, a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(url+"/rest", a2a.TransportProtocolHTTPJSON),
			a2a.NewAgentInterface(authority, a2a.TransportProtocolGRPC),
		},
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:  []string{"text/plain", "text/csv"},
		DefaultOutputModes: []string{"text/plain", "text/csv"},
		Skills:             []a2a.AgentSkill{{ID: "do", Name: "Do", Description: "Does it", Tags: []string{"test"}}},
	}
	// Who has no name may not list tasks.
	anyone := func(context.Context) (string, error) { return "anyone", nil }
	handler := a2asrv.NewHandler(
		&executor{},
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: anyone})),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true})),
	)
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	mux.Handle("/", a2asrv.NewJSONRPCHandler(handler))
	a2agrpc.NewHandler(handler).RegisterWith(rpcServer)
	return map[string]string{"jsonrpc": "JSONRPC", "rest": "HTTP+JSON", "grpc": "GRPC"}
}

type executor struct{ handyman }

func (e *executor) Execute(ctx context.Context, request *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		e.work(ctx, &sayer{request: request, yield: yield})
	}
}

func (e *executor) Cancel(_ context.Context, request *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		(&sayer{request: request, yield: yield}).status("canceled", "")
	}
}

// sayer says nothing more once nobody listens.
type sayer struct {
	request *a2asrv.ExecutorContext
	yield   func(a2a.Event, error) bool
	unheard bool
}

func (s *sayer) say(event a2a.Event) {
	s.unheard = s.unheard || !s.yield(event, nil)
}

func (s *sayer) text() string {
	return s.request.Message.Parts[0].Text()
}

func (s *sayer) contextID() string {
	return s.request.ContextID
}

func (s *sayer) message(text string) {
	s.say(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(text)))
}

func (s *sayer) begun() {
	if s.request.StoredTask == nil {
		s.say(a2a.NewSubmittedTask(s.request, s.request.Message))
	}
}

func (s *sayer) status(state, text string) {
	var message *a2a.Message
	if text != "" {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, s.request, a2a.NewTextPart(text))
	}
	name := "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
	s.say(a2a.NewStatusUpdateEvent(s.request, a2a.TaskState(name), message))
}

func (s *sayer) artifact(text string, more bool) {
	event := a2a.NewArtifactUpdateEvent(s.request, "a", a2a.NewTextPart(text))
	event.Append, event.LastChunk = more, more
	s.say(event)
}

func (s *sayer) echo() {
	s.say(a2a.NewArtifactEvent(s.request, s.request.Message.Parts...))
}
