package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// otherNodes says in what the nodes of a dump name another workload than the subject: the dump may be that of
// another sidecar, for which other policies are meant. A node that names none says nothing, and neither does
// a case, which may be about any workload.
func (s *subject) otherNodes(nodes []dump.Node) (out []string) {
	if !s.source.Generated {
		return nil
	}
	for _, node := range nodes {
		if reason := s.otherIstioNode(node); reason != "" {
			out = append(out, reason)
		}
		if reason := s.otherKumaNode(node.ID); reason != "" {
			out = append(out, reason)
		}
	}
	return out
}

// otherIstioNode reads a node as Istio's agent writes it, such as
// sidecar~10.244.0.12~web-7f.shop~shop.svc.cluster.local, with the labels of the pod in its metadata.
func (s *subject) otherIstioNode(node dump.Node) string {
	parts := strings.Split(node.ID, "~")
	switch {
	case len(parts) != 4:
		return ""
	case parts[0] == "host":
		return "the dump is that of the Envoy that Cilium runs on a node: it decides by what Cilium's agent gives it, which no dump of a sidecar has, and cannot be verified"
	}
	w := s.inbound.Workload
	domain, _, _ := strings.Cut(parts[3], ".svc.")
	_, ofPod, _ := strings.Cut(parts[2], ".")
	stated := domain
	if namespace, has := node.Metadata["NAMESPACE"]; has {
		stated = fmt.Sprint(namespace)
	}
	for _, namespace := range []string{domain, ofPod[strings.LastIndexByte(ofPod, '.')+1:], stated} {
		if namespace != w.Namespace {
			return fmt.Sprintf("the dump is that of a pod of namespace %q, and the policies are asked for namespace %q: state that of the pod, as in --namespace %[1]s", namespace, w.Namespace)
		}
	}
	labels, _ := node.Metadata["LABELS"].(map[string]any)
	_, has := node.Metadata["LABELS"]
	for _, key := range slices.Sorted(maps.Keys(w.Labels)) {
		if value, _ := labels[key].(string); has && value != w.Labels[key] {
			return fmt.Sprintf("the dump is that of a pod with the label %s=%q, and the policies are asked for %s=%q: state the labels of the pod by --label", key, value, key, w.Labels[key])
		}
	}
	return ""
}

// unstatedLabels says which labels of the pod flags do not state, where the policies decide otherwise for a workload that has
// them; "" where they decide alike.
func (s *subject) unstatedLabels(in cases.Inbound, enforced sidecar.Inbound, nodes []dump.Node) (string, error) {
	if !s.source.ofFlags {
		return "", nil
	}
	for _, node := range nodes {
		stated, _ := node.Metadata["LABELS"].(map[string]any)
		more := in
		more.Workload.Labels = maps.Clone(in.Workload.Labels)
		if more.Workload.Labels == nil {
			more.Workload.Labels = map[string]string{}
		}
		var added []string
		for _, key := range slices.Sorted(maps.Keys(stated)) {
			if value, isText := stated[key].(string); isText && in.Workload.Labels[key] != value {
				more.Workload.Labels[key] = value
				added = append(added, key+"="+value)
			}
		}
		if len(added) == 0 {
			continue
		}
		apart, err := s.source.decidesApart(in, more, enforced)
		if err != nil {
			return "", err
		}
		if apart {
			return fmt.Sprintf("the dump is that of a pod that has also the labels %s, and the policies decide otherwise for it: state each one that a policy selects by, by --label", strings.Join(added, ", ")), nil
		}
	}
	return "", nil
}

// decidesApart reports whether the policies decide otherwise for one description of an inbound than for another one.
func (s *source) decidesApart(in, other cases.Inbound, enforced sidecar.Inbound) (bool, error) {
	first, errFirst := s.readFor(in, enforced)
	second, errSecond := s.readFor(other, enforced)
	if err := errors.Join(errFirst, errSecond); err != nil {
		return false, err
	}
	a, b := first.Inbounds()[0].Program, second.Inbounds()[0].Program
	return !a.Equal(b.Program) || a.MTLS != b.MTLS || a.JudgesPlaintext != b.JudgesPlaintext || !a.Tokens.Equal(b.Tokens), nil
}

// otherKumaNode reads the ID of a node as Kuma writes it: the mesh, a dot, and the name of the Dataplane, which
// has its namespace behind another dot on Kubernetes.
func (s *subject) otherKumaNode(id string) string {
	mesh, name, ok := strings.Cut(id, ".")
	if !ok || s.dataplane == "" || strings.Contains(id, "~") {
		return ""
	}
	w := s.inbound.Workload
	if mesh == w.Mesh && slices.Contains([]string{s.dataplane, w.Name, w.Name + "." + w.Namespace}, name) {
		return ""
	}
	return fmt.Sprintf("the dump is that of Dataplane %q of mesh %q, and not of %q of mesh %q", name, mesh, s.dataplane, w.Mesh)
}

// proxiesProbes is what the node of a Kuma sidecar says of a process beside it, to which the probes of the kubelet go. Kuma's injector starts it in
// each pod, unless it is told not to, and redirects no connection to it (app/kuma-dp/pkg/dataplane/probes).
const proxiesProbes = "dataplane.appProbeProxy.enabled"

// proxyOfKuma has the settings of Kuma's transparent proxy (DataplaneConfig in pkg/transparentproxy/config/dataplane), where the node states them.
const proxyOfKuma = "transparentProxy"

// passedByKuma says which connections to a workload do not pass its sidecar, as the node of a Kuma sidecar has it.
func passedByKuma(node dump.Node, found sidecar.Sidecar) (out []string) {
	if value, has := node.Metadata[proxiesProbes]; has && fmt.Sprint(value) != "false" {
		out = append(out, fmt.Sprintf("the node says that Kuma's proxy for probes runs beside the sidecar (%s=%v): without a certificate, and past all filters, it sends a GET of any path to any port of the workload "+
			"for whoever reaches its port, 9001 by default. The annotation kuma.io/application-probe-proxy-port: \"0\" leaves it out; then let the probes be of the kind exec, "+
			"for which no port is left out of the redirection", proxiesProbes, value))
	}
	if release := opensAdmin(node); release != "" {
		out = append(out, fmt.Sprintf("the node says that it is of Kuma %s, and has the admin interface on a socket: the process of Kuma that answers whether the sidecar is ready passes on to it, for whoever reaches its port, 9902 by default, "+
			"and its check of paths lets another spelling pass, such as /%%2e/runtime_modify. Run 2.14.2", release))
	}
	settings, has := node.Metadata[proxyOfKuma]
	if !has {
		return out
	}
	stated := func(path ...string) any {
		at := settings
		for _, key := range path {
			fields, _ := at.(map[string]any)
			at = fields[key]
		}
		return at
	}
	inbound := stated("redirect", "inbound", "enabled") == true
	// Where it redirects in neither direction, the inbounds bind their ports.
	if !inbound && stated("redirect", "outbound", "enabled") != false {
		out = append(out, fmt.Sprintf("the node says that Kuma's transparent proxy redirects no inbound connections (%s.redirect.inbound.enabled): callers reach the workload past the sidecar", proxyOfKuma))
	}
	if port := stated("redirect", "inbound", "port"); inbound && found.IsDump && !found.HandsOverOn(fmt.Sprint(port)) {
		out = append(out, fmt.Sprintf("the node says that Kuma's transparent proxy redirects inbound connections to port %v (%s.redirect.inbound.port), and no inbound listener has this port on every address and hands them over: something else gets them, such as the workload", port, proxyOfKuma))
	}
	if family := stated("ipFamilyMode"); inbound && family == "ipv4" && !lackIPv6([]dump.Node{node}) {
		out = append(out, fmt.Sprintf("the node says that Kuma's transparent proxy redirects connections of IPv4 alone (%s.ipFamilyMode), and not that its machine has no address of IPv6 (%s): callers reach the workload there past the sidecar", proxyOfKuma, ipv6Metadata))
	}
	return out
}

// opensAdmin returns the release of Kuma in whose pods the process for readiness has the admin interface open to all (2.14.0 and 2.14.1:
// app/kuma-dp/pkg/dataplane/readiness); "" for others. On universal, where the node states its Dataplane, it listens on loopback alone.
func opensAdmin(node dump.Node) string {
	_, isUniversal := node.Metadata[registered]
	versions, _ := node.Metadata["version"].(map[string]any)
	ofProcess, _ := versions["kumaDp"].(map[string]any)
	release, _ := ofProcess["version"].(string)
	number, _, _ := strings.Cut(strings.TrimPrefix(release, "v"), "-")
	if node.Metadata["dataplane.admin.socketPath"] == nil || isUniversal || number != "2.14.0" && number != "2.14.1" {
		return ""
	}
	return number
}

// unredirected says which connections to a workload do not pass its sidecar, as its Dataplane has it; "" for none.
func (s *subject) unredirected(found sidecar.Sidecar) string {
	switch {
	case s.redirectsOutAlone:
		return "its Dataplane states a transparent proxy that redirects no inbound connections (redirectPortInbound): callers reach the workload past the sidecar"
	case s.redirectsIPv4Alone && found.IsDump && !lackIPv6(found.Nodes):
		return fmt.Sprintf("its Dataplane states a transparent proxy that redirects connections of IPv4 alone (ipFamilyMode), and the node does not say that its machine has no address of IPv6 (%s): callers reach the workload there past the sidecar", ipv6Metadata)
	default:
		return ""
	}
}
