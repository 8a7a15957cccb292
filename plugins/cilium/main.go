// Command cilium is Cilium's own compiler of CiliumNetworkPolicy and CiliumClusterwideNetworkPolicy,
// as a program that speaks meshproof's protocol for compilers (docs/compilers.md).
//
// It reads policies as a cluster with Cilium does: the schema of the CRDs, then the validation of
// the agent. Unlike a cluster, it refuses unknown fields. The agent's policy repository,
// github.com/cilium/cilium/pkg/policy, decides about connections, and what the agent sends to its
// proxy decides about requests. This module only writes both down as RBAC filters.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/cilium/cilium/pkg/labelsfilter"
	"github.com/cilium/cilium/pkg/option"
)

func main() {
	// What a library prints must not stand among the answers.
	answers := os.Stdout
	os.Stdout = os.Stderr
	if err := serve(os.Stdin, answers); err != nil {
		fmt.Fprintln(os.Stderr, "cilium:", err)
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
	Peers    []peer            `json:"peers"`
}

type inbound struct {
	Name     string   `json:"name"`
	Port     uint16   `json:"port"`
	Protocol string   `json:"protocol"`
	Workload workload `json:"workload"`
}

type workload struct {
	Name           string            `json:"name"`
	Namespace      string            `json:"namespace"`
	Labels         map[string]string `json:"labels"`
	ServiceAccount string            `json:"serviceAccount"`
}

// peer is a workload as a caller.
type peer struct {
	Identity string   `json:"identity"`
	Workload workload `json:"workload"`
}

// options has what the agent of a case is told.
type options struct {
	Cilium struct {
		PolicyEnforcement string                       `json:"policyEnforcement"`
		PolicyAuditMode   bool                         `json:"policyAuditMode"`
		ClusterName       string                       `json:"clusterName"`
		NamespaceLabels   map[string]map[string]string `json:"namespaceLabels"`
	} `json:"cilium"`
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
}

// serve answers each line of in. It fails on a line that is no message of the protocol, and on
// a failure of the compiler, which is no refusal of policies.
func serve(in io.Reader, out io.Writer) error {
	admission, err := newAdmission()
	if err != nil {
		return err
	}
	if err := labelsfilter.ParseLabelPrefixCfg(logger, nil, nil, ""); err != nil {
		return fmt.Errorf("read the labels of identities: %w", err)
	}
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
		a, err := r.answer(admission)
		if err != nil {
			return fmt.Errorf("answer request %d: %w", r.ID, err)
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func (r request) answer(admission *admission) (answer, error) {
	cluster := r.Options.Cilium.ClusterName
	if cluster == "" {
		return answer{}, errors.New("the options have no cilium.clusterName")
	}
	if modes := []string{option.DefaultEnforcement, option.AlwaysEnforce, option.NeverEnforce}; !slices.Contains(modes, r.Options.Cilium.PolicyEnforcement) {
		return answer{ID: r.ID, Error: fmt.Sprintf("the agent does not start with the enforcement mode %q", r.Options.Cilium.PolicyEnforcement)}, nil
	}
	rules, err := admission.admitAll(r.Policies, cluster)
	if err != nil {
		return answer{ID: r.ID, Error: err.Error()}, nil
	}
	compiled, err := r.compile(rules)
	if unresolved := new(unresolvedError); errors.As(err, unresolved) {
		return answer{ID: r.ID, Error: "the agent cannot apply the policies: " + unresolved.Error()}, nil
	}
	return answer{ID: r.ID, Filters: &compiled}, err
}

// greeting names Cilium and the version of its module.
func greeting() any {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/cilium/cilium" {
				version = module.Version
			}
		}
	}
	return map[string]any{"protocol": protocol, "name": "cilium", "version": version}
}
