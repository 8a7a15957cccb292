package compilation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Sidecar is what the outbound side of one workload compiles to.
type Sidecar struct {
	Sender    string     `json:"sender"`
	Outbounds []Outbound `json:"outbounds"`
	// Clusters are JSON with their types.
	Clusters []json.RawMessage `json:"clusters"`

	program routing.Proxy
}

// Outbound is what one destination compiles to.
type Outbound struct {
	Outbound string `json:"outbound"`
	Service  string `json:"service"`
	Protocol string `json:"protocol"`
	Port     uint16 `json:"port"`
	// Filter is the last network filter of the listener, and Routes is what it asks for over RDS;
	// empty on tcp. Both are JSON with their types.
	Filter json.RawMessage `json:"filter"`
	Routes json.RawMessage `json:"routes,omitempty"`
}

// Sidecars compiles the outbound sides of the workloads of files, or the one outbound of each that
// is named. It returns none where the files say nothing about outbounds, or where to is an
// inbound.
func Sidecars(files *lab.Files, s lab.Surroundings, to string) ([]Sidecar, error) {
	if to != "" && !lab.NamesOutbound(to) {
		return nil, nil
	}
	var senders []lab.Sender
	for _, mesh := range files.Meshes(s) {
		all, err := mesh.Senders(mesh.Surroundings)
		if err != nil {
			return nil, err
		}
		senders = append(senders, all...)
	}
	var out []Sidecar
	var none error
	for _, sender := range senders {
		program := sender.Proxy
		if to != "" {
			o, err := program.Find(to)
			if err != nil {
				none = fmt.Errorf("--to: %s: %w", sender.Workload.Workload.Name, err)
				continue
			}
			program = keepOutbound(program, o)
		}
		compiled, err := compileSidecar(sender.Workload.Workload.Name, program)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sender.Workload.Workload.Name, err)
		}
		out = append(out, compiled)
	}
	if out == nil {
		return nil, none
	}
	return out, nil
}

// keepOutbound leaves a proxy one outbound, and its backends.
func keepOutbound(p routing.Proxy, o *routing.Outbound) routing.Proxy {
	used := map[string]bool{}
	for _, r := range o.Routes {
		for _, b := range r.Backends {
			used[b.Cluster] = true
		}
	}
	out := routing.Proxy{Outbounds: []routing.Outbound{*o}}
	for _, c := range p.Clusters {
		if used[c.Name] {
			out.Clusters = append(out.Clusters, c)
		}
	}
	return out
}

func compileSidecar(name string, program routing.Proxy) (Sidecar, error) {
	out := Sidecar{Sender: name, Outbounds: []Outbound{}, Clusters: []json.RawMessage{}, program: program}
	config, err := routingconfig.Compile(program, "", nil)
	if err != nil {
		return out, err
	}
	for i, c := range config.Outbounds {
		o := program.Outbounds[i]
		printed := Outbound{Outbound: o.Name, Service: o.Service.String(), Protocol: o.Protocol.String(), Port: o.Port}
		var filter proto.Message = c.TCP
		if c.HTTP != nil {
			filter = c.HTTP
			if printed.Routes, err = typedJSON(c.Routes); err != nil {
				return out, err
			}
		}
		if printed.Filter, err = typedJSON(filter); err != nil {
			return out, err
		}
		out.Outbounds = append(out.Outbounds, printed)
	}
	for _, c := range config.Clusters {
		raw, err := typedJSON(c)
		if err != nil {
			return out, err
		}
		out.Clusters = append(out.Clusters, raw)
	}
	return out, nil
}

// Result is what files compile to, for the inbounds and for the sidecars of senders.
type Result struct {
	Inbounds Compilations
	Sidecars []Sidecar
}

// MarshalJSON implements [json.Marshaler]: a list, with the sidecars behind the inbounds.
func (all Result) MarshalJSON() ([]byte, error) {
	out := []any{}
	for _, c := range all.Inbounds {
		out = append(out, c)
	}
	for _, s := range all.Sidecars {
		out = append(out, s)
	}
	return terminal.MarshalJSON(out)
}

// WriteText prints each message as a document of YAML.
func (all Result) WriteText(w io.Writer, p terminal.Paint) {
	all.Inbounds.WriteText(w, p)
	for _, s := range all.Sidecars {
		for _, o := range s.Outbounds {
			title := fmt.Sprintf("%s → %s (%s on port %d)", s.Sender, o.Service, o.Protocol, o.Port)
			if o.Routes != nil {
				writeDocument(w, title+": routes", o.Routes)
			}
			writeDocument(w, title+": network filter", o.Filter)
		}
		for _, c := range s.Clusters {
			writeDocument(w, s.Sender+": cluster", c)
		}
	}
}

// WritePrograms prints the decision programs.
func (all Result) WritePrograms(w io.Writer) {
	all.Inbounds.WritePrograms(w)
	for _, s := range all.Sidecars {
		fmt.Fprintf(w, "# %s\n%s", s.Sender, s.program)
	}
}

// writeDocument prints a message as YAML, below a title.
func writeDocument(w io.Writer, title string, raw json.RawMessage) {
	text, err := yaml.JSONToYAML(raw)
	if err != nil {
		text = raw // JSON is YAML too
	}
	fmt.Fprintf(w, "---\n# %s\n%s\n", title, bytes.TrimSpace(text))
}
