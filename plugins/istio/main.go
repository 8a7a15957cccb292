// Command istio is Istio's own compiler of AuthorizationPolicy, as a program that speaks
// meshproof's protocol for compilers (docs/compilers.md).
//
// It reads policies as a cluster with Istio does: the schema of the CRDs with its CEL rules,
// then Istio's webhook. Unlike a cluster, it refuses unknown fields. The generator of listeners of
// istiod, istio.io/istio/pilot/pkg/networking/core, makes the filters. This module adds no rule of
// its own about policies.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/meshproof/meshproof/plugins/istio/internal/output"
)

func main() {
	if err := serve(os.Stdin, output.Answers); err != nil {
		fmt.Fprintln(os.Stderr, "istio:", err)
		os.Exit(1)
	}
}

// protocol is the version that this program speaks.
const protocol = 2

// request is what meshproof asks, in the words of its protocol.schema.json.
type request struct {
	ID       int64             `json:"id"`
	Inbound  inbound           `json:"inbound"`
	Policies []json.RawMessage `json:"policies"`
	Options  options           `json:"options"`
}

type inbound struct {
	Port     uint32   `json:"port"`
	Protocol string   `json:"protocol"`
	Workload workload `json:"workload"`
}

type workload struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

// options has the mesh config of a case.
type options struct {
	TrustDomain string `json:"trustDomain"`
	Istio       struct {
		RootNamespace      string   `json:"rootNamespace"`
		TrustDomain        string   `json:"trustDomain"`
		TrustDomainAliases []string `json:"trustDomainAliases"`
		Normalization      string   `json:"normalization"`
		// ExtensionProviders are entries of the mesh config. Fields that Istio has not are
		// meshproof's own.
		ExtensionProviders []json.RawMessage `json:"extensionProviders"`
	} `json:"istio"`
}

type answer struct {
	ID      int64    `json:"id"`
	Filters *filters `json:"filters,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// filters are what authorizes at an inbound, as JSON of protobuf.
type filters struct {
	Network []json.RawMessage `json:"network,omitempty"`
	HTTP    []json.RawMessage `json:"http,omitempty"`
	Tokens  json.RawMessage   `json:"tokens,omitempty"`
	// MTLS names the callers that the inbound takes, and Paths says what becomes of paths.
	MTLS  string          `json:"mtls,omitempty"`
	Paths json.RawMessage `json:"paths,omitempty"`
}

// serve answers each line of in. It fails on a line that is no message of the protocol, and on
// a failure of the compiler, which is no refusal of policies.
func serve(in io.Reader, out io.Writer) error {
	admission, err := newAdmission()
	if err != nil {
		return err
	}
	istio := newIstiod()
	lines, answers := bufio.NewReader(in), json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	if _, err := lines.ReadBytes('\n'); err != nil {
		return fmt.Errorf("read the greeting: %w", err)
	}
	if err := answers.Encode(greeting()); err != nil {
		return err
	}
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		a, err := r.answer(admission, istio)
		if err != nil {
			return fmt.Errorf("answer request %d: %w", r.ID, err)
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func (r request) answer(admission *admission, istio istiod) (answer, error) {
	policies, err := admission.admitAll(r.Policies)
	if err != nil {
		return answer{ID: r.ID, Error: err.Error()}, nil
	}
	compiled, err := istio.compile(r.Inbound, policies, r.Options)
	return answer{ID: r.ID, Filters: &compiled}, err
}

// greeting names Istio and the version of its module.
func greeting() any {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "istio.io/istio" {
				version = module.Version
			}
		}
	}
	return map[string]any{"protocol": protocol, "name": "istio", "version": version}
}
