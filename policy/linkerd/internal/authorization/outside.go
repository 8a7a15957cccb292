package authorization

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/overlap"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
)

// outsidePort is the port of an inbound that stands for those of another folder.
const outsidePort = 8080

// Outsides returns the Servers of other folders that the set decides about, by their namespaces and labels, and the
// authentications that policies of other folders may require.
func Outsides(s Set) (out []capability.OutsideDocument) {
	add := func(of capability.OutsideDocument) {
		of.Inbound = policy.Inbound{Port: outsidePort, Protocol: policy.HTTP, Workload: policy.Workload{Name: "outside", Namespace: of.Namespace}}
		out = append(out, of)
	}
	server := func(namespace string, labels map[string]string) {
		text := "a Server of the namespace " + namespace
		if len(labels) > 0 {
			text += fmt.Sprintf(" with the labels %v", labels)
		}
		add(capability.OutsideDocument{Text: text, Namespace: namespace, Labels: labels})
	}
	named := func(namespace, name string) {
		present := slices.ContainsFunc(s.Servers, func(of Server) bool { return of.Metadata.Namespace == namespace && of.Metadata.Name == name })
		add(capability.OutsideDocument{Text: outsideServer(namespace, name), Kind: kindServer, Namespace: namespace, Name: name, Present: present})
	}
	for _, of := range s.Servers {
		named(of.Metadata.Namespace, of.Metadata.Name)
	}
	for _, p := range s.Policies {
		switch target := p.Spec.TargetRef; {
		case target.Is("", "Namespace"):
			server(p.Metadata.Namespace, nil)
		case target.Is(object.Group, kindServer):
			named(p.Metadata.Namespace, target.Name)
		}
	}
	var selecting []capability.Target
	for _, g := range s.Grants {
		if selector := g.Spec.Server.Selector; selector != nil {
			least := selector.Fit(nil)
			for _, labels := range append(selector.Vary(least), least) {
				server(g.Metadata.Namespace, labels)
			}
			selecting = append(selecting, asServers(g.Metadata.Namespace, *selector))
		} else {
			named(g.Metadata.Namespace, g.Spec.Server.Name)
		}
	}
	// A grant may let callers into a Server that no other grant selects.
	space := overlap.New(policy.Inbound{}, selecting)
	for i := range selecting {
		found, _ := space.Least(i)
		for _, in := range found {
			server(in.Workload.Namespace, in.Workload.Labels)
		}
	}
	authentication := func(kind string, of object.Head) {
		add(capability.OutsideDocument{Text: outsidePolicy(kind, of), Kind: kind, Named: true, Namespace: of.Metadata.Namespace, Name: of.Metadata.Name})
	}
	for _, m := range s.MeshTLS {
		authentication(kindMeshTLS, m.Head)
	}
	for _, n := range s.Networks {
		authentication(kindNetwork, n.Head)
	}
	return out
}

// asServers is a selector of Servers as the target of workloads that stand for them.
func asServers(namespace string, selector object.Selector) capability.Target {
	with := func(in policy.Inbound, labels map[string]string) policy.Inbound {
		in.Workload.Namespace, in.Workload.Labels = namespace, labels
		return in
	}
	return capability.Target{
		Miss: func(in policy.Inbound) capability.Reason {
			if in.Workload.Namespace != namespace || len(selector.Misses(in.Workload.Labels)) > 0 {
				return capability.ReasonOf("another namespace or other labels")
			}
			return nil
		},
		Fit: func(in policy.Inbound) policy.Inbound { return with(in, selector.Fit(in.Workload.Labels)) },
		Vary: func(in policy.Inbound) (out []policy.Inbound) {
			for _, labels := range selector.Vary(in.Workload.Labels) {
				out = append(out, with(in, labels))
			}
			return out
		},
	}
}

// outsideServer is a Server that another folder has.
func outsideServer(namespace, name string) string { return "the Server " + namespace + "/" + name }

// outsidePolicy is a policy of another folder that requires an authentication.
func outsidePolicy(kind string, of object.Head) string {
	return "a policy that requires the " + kind + " " + of.String() + " alone"
}

// WithOutside returns the set with one Server, which takes the inbound of the document. Its own policies are not known: it lets in whom
// the set lets in, or whom an authentication names.
func (s Set) WithOutside(of capability.OutsideDocument) Set {
	server := Server{Spec: ServerSpec{PodSelector: &object.Selector{}, AccessPolicy: denyAll}, port: outsidePort}
	server.Metadata.Namespace, server.Metadata.Labels = of.Namespace, of.Labels
	s.Servers, s.Routes = []Server{server}, nil
	if !of.Named {
		s.Servers[0].Metadata.Name = of.Name
		return s
	}
	p := Policy{}
	p.APIVersion, p.Kind = object.Group+"/v1alpha1", kindPolicy
	p.Metadata.Namespace, p.Metadata.Name = of.Namespace, "outside"
	p.Spec.TargetRef = object.Reference{Kind: "Namespace", Name: of.Namespace}
	p.Spec.RequiredAuthenticationRefs = &[]object.Reference{{Group: object.Group, Kind: of.Kind, Name: of.Name}}
	s.Policies, s.Grants = []Policy{p}, nil
	return s
}
