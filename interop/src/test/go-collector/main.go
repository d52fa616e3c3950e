// A collector of OpenTelemetry, made of its own parts: takes spans by OTLP over HTTP and passes them on, as JSON.
//
// The only argument is the URL that gets the spans. It prints one line of JSON as soon as it takes some, {server, url},
// and stops when its input ends.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

const configuration = `yaml:
receivers: {otlp: {protocols: {http: {endpoint: %s}}}}
exporters: {otlp_http: {traces_endpoint: %s, encoding: json, compression: none}}
extensions: {announcement: {}}
service:
  extensions: [announcement]
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [otlp_http]}}
`

// announcement is told when everything has been started.
type announcement struct {
	component.StartFunc
	component.ShutdownFunc
	endpoint string
}

func (a announcement) Ready() error {
	line, _ := json.Marshal(map[string]string{"server": "OpenTelemetry Collector " + version(), "url": "http://" + a.endpoint})
	fmt.Println(string(line))
	return nil
}

func (a announcement) NotReady() error { return nil }

func main() {
	endpoint := freeEndpoint()
	announcing := extension.NewFactory(
		component.MustNewType("announcement"),
		func() component.Config { return &struct{}{} },
		func(context.Context, extension.Settings, component.Config) (extension.Extension, error) {
			return announcement{endpoint: endpoint}, nil
		},
		component.StabilityLevelStable)
	receiving, sending := otlpreceiver.NewFactory(), otlphttpexporter.NewFactory()
	collector, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(),
		Factories: func() (otelcol.Factories, error) {
			return otelcol.Factories{
				Receivers:  map[component.Type]receiver.Factory{receiving.Type(): receiving},
				Exporters:  map[component.Type]exporter.Factory{sending.Type(): sending},
				Extensions: map[component.Type]extension.Factory{announcing.Type(): announcing},
				Telemetry:  otelconftelemetry.NewFactory(),
			}, nil
		},
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				URIs:              []string{fmt.Sprintf(configuration, endpoint, os.Args[1])},
				ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
			},
		},
	})
	if err == nil {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			collector.Shutdown()
		}()
		err = collector.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// freeEndpoint is where nobody listens: the collector does not tell which port it has chosen itself.
func freeEndpoint() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// version of the collector, as the program was built with it.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "go.opentelemetry.io/collector/otelcol" {
			return module.Version
		}
	}
	return "?"
}
